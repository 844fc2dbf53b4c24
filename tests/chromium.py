"""Finds a Chromium for the tests of the page; they never install one."""

import shutil

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """Give the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


MISSING = f"no browser on PATH ({', '.join(_NAMES)}): install one, on Debian by `apt-get install chromium`"
