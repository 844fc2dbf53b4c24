"""Finds a Chromium for the tests of the page, or gets Debian's where that can be done without asking."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """Give the path of a Chromium and None, or None and why there is none."""
    found = _on_path()
    if found is not None:
        return found, None
    apt_get = shutil.which("apt-get")
    if apt_get is None:
        return None, f"no browser: none of {', '.join(_NAMES)} is on PATH, and there is no apt-get to install one"
    if os.geteuid() == 0:
        command = [apt_get]
    elif os.environ.get("CI") == "true" and shutil.which("sudo"):
        command = ["sudo", "-n", apt_get]
    else:
        return None, f"no browser: none of {', '.join(_NAMES)} is on PATH; apt-get install chromium gives one"
    with _alone():
        found = _on_path()
        if found is not None:  # another process of the test run has installed it meanwhile
            return found, None
        for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
            done = subprocess.run([*command, "-qq", *words], capture_output=True, text=True)
    found = _on_path()
    if found is None:
        return None, f"no browser: apt-get install chromium failed: {done.stderr.strip().splitlines()[-1:]}"
    return found, None


@contextlib.contextmanager
def _alone():
    """Let one process of the test run in at a time: two calls of apt-get would refuse each other."""
    import fcntl  # where there is apt-get, there is this

    with Path(tempfile.gettempdir(), f"knightadder-tests-{os.getuid()}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def _on_path():
    return next(filter(None, map(shutil.which, _NAMES)), None)
