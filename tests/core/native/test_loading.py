"""Loading: which image is used, and what happens when none fits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import filelock
import pytest

import knightadder
from knightadder.cli import main
from knightadder.core.native import images, jit, loading
from knightadder.core.native.building import CoreError

pytestmark = pytest.mark.skipif(jit.INTERPRETED or loading.BOUNDSCHECK, reason="the installed image is not used")

# A process that loads the core. Its builder is a stand-in that copies a ready image.
PROCESS = """
import json, shutil, sys
from pathlib import Path
from knightadder.core.native import images, loading
from knightadder.core.native.building import CoreError

installed, ready = map(Path, sys.argv[1:3])
loading.INSTALLED = installed
lines = []

def build(sources, folder, targets, report, *options):
    report("compiling 1/1")
    shutil.copy(ready, folder)

loading.build = build
CHANGE
try:
    loading.load(lines.append)
    from knightadder.cli import main
    main(["perft", "3"])
except CoreError as error:
    lines.append(str(error))
source = loading.loaded_from()
print(json.dumps({"lines": lines, "source": source and str(source.parent), "numba": "numba" in sys.modules}))
"""
TELL = "class Told(list):\n    append = lambda self, line: print(line, flush=True)\nlines = Told()"
NO_NUMBA = "loading.importlib.util.find_spec = lambda name: None"


class Place:
    """Folders for a process that loads the core: what is installed, the cache, and a ready image."""

    def __init__(self, folder: Path, ready: Path) -> None:
        self.installed, self.cache, self.ready = folder / "installed", folder / "cache", ready
        self.installed.mkdir()

    def start(self, change: str = "", *, ready: Path | None = None, **environment: str) -> subprocess.Popen:
        """Start a process; `change` is code that it runs before it loads the core."""
        command = [sys.executable, "-c", PROCESS.replace("CHANGE", change), self.installed, ready or self.ready]
        variables = {"KNIGHTADDER_CACHE": str(self.cache), "PYTHONPATH": str(Path(knightadder.__file__).parents[1])}
        return subprocess.Popen(
            command, env=os.environ | variables | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, change: str = "", **options) -> dict:
        """Run such a process, and give what it found."""
        return finish(self.start(change, **options))


def finish(process: subprocess.Popen) -> dict:
    """Wait for a process, see that it counted moves right, and give what it found."""
    out, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (0, "")
    *text, last = out.splitlines()
    found = json.loads(last)
    assert not found["numba"]
    if found["source"]:
        assert text[-1].startswith("8902 nodes")
    return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give folders in which nothing is installed or built."""
    loading.load()
    ready = loading.loaded_from()
    assert ready is not None
    return Place(tmp_path, ready)


def flip(file: Path) -> None:
    """Turn round one bit in the midst of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 8
    file.write_bytes(content)


def test_an_installed_image_is_used_and_nothing_is_written(place: Place) -> None:
    shutil.copy(place.ready, place.installed)
    assert place.run(NO_NUMBA) == {"lines": [], "source": str(place.installed), "numba": False}
    assert not place.cache.exists()


def test_without_one_it_is_built_once(place: Place) -> None:
    first = place.run()
    assert first["lines"] == ["compiling 1/1"]
    assert Path(first["source"]).parent == place.cache
    assert place.run(NO_NUMBA) == first | {"lines": []}


def test_a_damaged_image_is_not_used(place: Place) -> None:
    damaged = Path(shutil.copy(place.ready, place.installed))
    flip(damaged)
    built = place.run()
    assert built["lines"] == ["compiling 1/1"]
    [kept] = place.cache.glob("*/*.image")
    flip(kept)
    assert place.run() == built
    assert kept.read_bytes() == place.ready.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        "images.digest = lambda: '1' * 64",  # other sources
        "loading.BOUNDSCHECK = True",  # other options
        "images.host_targets = lambda: ['aarch64']",  # another processor
        "images.host_targets = lambda: []",
    ],
)
def test_an_image_that_does_not_fit_is_not_used(place: Place, change: str) -> None:
    for target in ("aarch64", "x86-64-v2", "x86-64-v3"):
        shutil.copy(place.ready, place.installed / images.file_name(target))
    found = place.run(f"{change}\n{NO_NUMBA}")
    assert found["source"] is None
    assert found["lines"][0].startswith(("the compiled core is missing", "there is no compiled core for"))


def test_without_numba_one_line_says_what_to_do(place: Place) -> None:
    found = place.run(NO_NUMBA)
    assert found["source"] is None
    [line] = found["lines"]
    assert "reinstall knightadder" in line


def test_a_command_shows_that_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def load(report: Callable[[str], None]) -> None:
        raise CoreError("reinstall knightadder")

    monkeypatch.setattr(loading, "load", load)
    assert main(["bench", "1"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == "knightadder: the engine cannot be loaded: reinstall knightadder"


def test_sources_that_change_while_they_are_compiled_are_told(place: Place, tmp_path: Path) -> None:
    other = tmp_path / place.ready.name
    images.write(tmp_path, replace(images.read(place.ready.read_bytes()), digest="1" * 64))
    found = place.run(ready=other)
    assert found["source"] is None
    assert found["lines"] == ["compiling 1/1", "the compiled core does not fit its sources: they changed meanwhile"]


def test_versions_that_share_a_cache_keep_their_images(place: Place, tmp_path: Path) -> None:
    images.write(tmp_path, replace(images.read(place.ready.read_bytes()), digest="1" * 64))
    version = {"change": "images.digest = lambda: '1' * 64", "ready": tmp_path / place.ready.name}
    first, second = place.run(), place.run(**version)
    assert first["lines"] == second["lines"] == ["compiling 1/1"]
    assert first["source"] != second["source"]
    for _ in range(2):
        assert place.run() == first | {"lines": []}
        assert place.run(**version) == second | {"lines": []}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(place: Place) -> None:
    place.cache.mkdir(mode=0o500)
    assert place.run()["lines"] == ["compiling 1/1"]


def test_a_cache_that_is_no_folder(place: Place) -> None:
    place.cache.write_text("a file")
    for _ in range(2):
        found = place.run()
        assert found["lines"] == ["compiling 1/1"]
        assert not Path(found["source"]).exists()


def test_processes_wait_for_the_one_that_builds(place: Place) -> None:
    folder = loading.cached_image(place.cache).parent
    folder.mkdir(parents=True)
    with filelock.FileLock(folder / "lock"):
        waiting = [place.start(TELL) for _ in range(3)]
        told = [process.stdout.readline() for process in waiting]
        shutil.copy(place.ready, folder)
    for process, line in zip(waiting, told, strict=True):
        assert line == "waiting for another engine that is compiling\n"
        assert finish(process)["source"] == str(folder)


def test_what_nobody_uses_is_removed(place: Place) -> None:
    old, new, other = (place.cache / name for name in ("core-" + "0" * 24, "core-" + "1" * 24, "core-notes"))
    for folder in (old, new, other):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    for folder in (old, other):
        os.utime(folder / "file", (0, 0))
    used = Path(place.run()["source"])
    assert sorted(place.cache.iterdir()) == sorted([used, new, other])


def test_an_entry_point_is_bound_once() -> None:
    loading.load()
    before = {entry.name: entry.run for entry in jit.ENTRIES}
    loading.load()
    assert {entry.name: entry.run for entry in jit.ENTRIES} == before


def test_threads_may_load_it_together() -> None:
    found = []
    threads = [threading.Thread(target=lambda: found.append(loading.load())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [None] * 8
