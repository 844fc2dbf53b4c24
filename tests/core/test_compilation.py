"""The core as a program: which image is used, and what happens when none fits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest

import knightadder
from knightadder.core.compilation import core
from knightadder.core.search.parameters import PARAMETERS
from knightadder.native import program
from knightadder.native.processors import host_target

pytestmark = pytest.mark.skipif(program.INTERPRETED or program.BOUNDSCHECK, reason="the installed image is not used")

# A process that loads the core. Its builder is a stand-in that copies a ready image, and notes that it was called.
PROCESS = """
import json, shutil, sys
from pathlib import Path
from knightadder.core.compilation import core
from knightadder.native import processors, program
from knightadder.native.building import ImageError

folder, ready, builds = map(Path, sys.argv[1:])
core.folder = folder
lines = []

def build(into, targets, report, *options):
    with builds.open("a") as file:
        print(*targets, *options, file=file)
    report("compiling 1/1")
    shutil.copy(ready, into / core.file_name(targets[0]))

core.build = build
CHANGE
try:
    core.load(lines.append)
    from knightadder.cli import main
    main(["perft", "3"])
except ImageError as error:
    lines.append(str(error))
print(json.dumps({"lines": lines, "loaded": bool(core.places), "numba": "numba" in sys.modules}))
"""
TELL = "class Told(list):\n    append = lambda self, line: print(line, flush=True)\nlines = Told()"
NO_NUMBA = "program.importlib.util.find_spec = lambda name: None"
OTHER_SOURCES = "core.digest = '1' * 64"

FITS = {"lines": [], "loaded": True, "numba": False}
IS_BUILT = FITS | {"lines": ["compiling 1/1"]}


class Place:
    """A folder for images in the place of the checkout's own, and a ready image."""

    def __init__(self, folder: Path, ready: Path) -> None:
        self.folder, self.ready, self._builds = folder / "core", ready, folder / "builds"
        self.image = self.folder / ready.name
        self.folder.mkdir()

    def start(self, change: str = "", ready: Path | None = None) -> subprocess.Popen:
        """Start a process; `change` is code that it runs before it loads the core."""
        code = PROCESS.replace("CHANGE", change)
        return subprocess.Popen(
            [sys.executable, "-c", code, self.folder, ready or self.ready, self._builds],
            env=os.environ | {"PYTHONPATH": str(Path(knightadder.__file__).parents[1])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, change: str = "", ready: Path | None = None) -> dict:
        """Run such a process, and give what it found."""
        return finish(self.start(change, ready))

    def builds(self) -> list[str]:
        """Give the arguments of each call of the builder."""
        return self._builds.read_text().splitlines() if self._builds.exists() else []


def finish(process: subprocess.Popen) -> dict:
    """Wait for a process, see that it counted moves right, and give what it found."""
    out, err = process.communicate(timeout=250)
    assert (process.returncode, err) == (0, "")
    *text, last = out.splitlines()
    found = json.loads(last)
    assert not found["numba"]
    if found["loaded"]:
        assert text[-1].startswith("8902 nodes")
    return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a place without an image."""
    core.load()
    return Place(tmp_path, core.image_file())


@pytest.fixture
def other(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an image of other sources."""
    image = core.read(place.ready)
    assert image is not None
    other = tmp_path / place.ready.name
    with monkeypatch.context() as sources:
        sources.setattr(core, "digest", "1" * 64)
        core.write(other, image)
    return other


def flip(file: Path) -> None:
    """Turn round one bit in the midst of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 8
    file.write_bytes(content)


def test_an_installed_image_is_used_and_nothing_is_written(place: Place) -> None:
    shutil.copy(place.ready, place.folder)
    assert place.run(NO_NUMBA) == FITS
    assert list(place.folder.iterdir()) == [place.image]


def test_without_one_it_is_built_once_for_this_machine(place: Place) -> None:
    assert place.run() == IS_BUILT
    assert place.run(NO_NUMBA) == FITS
    assert place.builds() == [f"{host_target()} --tune"]


@pytest.mark.parametrize("change", ["damaged", "other sources"])
def test_an_image_that_does_not_fit_is_replaced(place: Place, other: Path, change: str) -> None:
    shutil.copy(other if change == "other sources" else place.ready, place.image)
    if change == "damaged":
        flip(place.image)
    assert place.run() == IS_BUILT
    assert place.image.read_bytes() == place.ready.read_bytes()
    assert place.run(NO_NUMBA) == FITS


@pytest.mark.parametrize(
    "change",
    [
        OTHER_SOURCES,
        "program.BOUNDSCHECK = True",
        "program.host_target = lambda: 'aarch64'",
        "processors.platform.machine = lambda: 'riscv64'",
    ],
)
def test_an_image_that_does_not_fit_is_not_used(place: Place, change: str) -> None:
    for target in ("aarch64", "x86-64-v2", "x86-64-v3", "x86-64-v4"):
        for checks in ("", "-checked"):
            shutil.copy(place.ready, place.folder / f"core-{target}{checks}.image")
    found = place.run(f"{change}\n{NO_NUMBA}")
    assert not found["loaded"]
    [line] = found["lines"]
    assert line.startswith(("the compiled core is missing", "this kind of processor is not"))


def test_bounds_checks_have_an_image_of_their_own(place: Place, tmp_path: Path) -> None:
    shutil.copy(place.ready, place.folder)
    image = core.read(place.ready)
    assert image is not None
    checked = tmp_path / f"core-{host_target()}-checked.image"
    core.write(checked, image)
    for expected in (IS_BUILT, FITS):
        assert place.run("program.BOUNDSCHECK = True", checked) == expected
    assert place.builds() == [f"{host_target()} --tune"]
    assert place.run() == FITS


def test_without_numba_one_line_says_what_to_do(place: Place) -> None:
    found = place.run(NO_NUMBA)
    assert not found["loaded"]
    [line] = found["lines"]
    assert "reinstall knightadder" in line


def test_sources_that_change_while_they_are_compiled_are_told(place: Place, other: Path) -> None:
    found = place.run(ready=other)
    assert not found["loaded"]
    assert found["lines"] == [
        "compiling 1/1",
        "the compiled core does not match its sources: they changed during the compilation",
    ]
    assert not place.image.exists()


def test_a_folder_that_cannot_be_written(place: Place) -> None:
    place.folder.rmdir()
    place.folder.write_text("a file")  # nor can root write in it
    for _ in range(2):
        assert place.run() == IS_BUILT
    assert place.folder.read_text() == "a file"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(place: Place) -> None:
    place.folder.chmod(0o500)
    assert place.run() == IS_BUILT
    assert list(place.folder.iterdir()) == []


def test_of_several_that_are_started_at_once_one_builds(place: Place) -> None:
    processes = [place.start() for _ in range(4)]
    assert all(finish(process)["loaded"] for process in processes)
    assert len(place.builds()) == 1


def test_processes_wait_for_the_one_that_builds(place: Place) -> None:
    with filelock.FileLock(f"{place.image}.lock"):
        waiting = [place.start(TELL) for _ in range(2)]
        told = [process.stdout.readline() for process in waiting]
        shutil.copy(place.ready, place.folder)
    for process, line in zip(waiting, told, strict=True):
        assert line == "waiting for another process that is compiling\n"
        assert finish(process)["loaded"]
    assert place.builds() == []


def test_processes_do_not_wait_for_ever(place: Place) -> None:
    with filelock.FileLock(f"{place.image}.lock"):
        waited = place.run("program.PATIENCE = 0.2")
    assert waited == FITS | {"lines": ["waiting for another process that is compiling", "compiling 1/1"]}


# A search in a copy of the package, where nothing can be built; it prints the nodes.
BENCH = """
import sys
sys.modules["numba"] = None
from knightadder.cli import main
sys.exit(main(["bench", "8"]))
"""


def test_a_changed_margin_plays_at_once_by_the_image_that_is_there(place: Place, tmp_path: Path) -> None:
    source = Path(knightadder.__file__).parent
    package = shutil.copytree(
        source, tmp_path / "copy" / source.name, ignore=shutil.ignore_patterns("*.image*", "__pycache__")
    )
    image = package / "core" / place.ready.name
    shutil.copy(place.ready, image)
    sealed = image.read_bytes()

    def bench() -> tuple[int, str]:
        environment = os.environ | {"PYTHONPATH": str(package.parent)}
        done = subprocess.run(
            [sys.executable, "-P", "-c", BENCH], env=environment, capture_output=True, text=True, timeout=250
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()[-1].partition(" nodes")[0]

    def change(file: str, old: str, new: str) -> None:
        path = package / "core" / "search" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    before = bench()
    assert before[0] == 0
    name, value, low, *_ = next(each for each in PARAMETERS if each.name == "futility_margin")
    change("parameters.py", f'"{name}", {value},', f'"{name}", {low},')
    after = bench()
    assert after[0] == 0
    assert int(after[1]) != int(before[1])
    assert image.read_bytes() == sealed

    # What is compiled in makes the image unfit, and there is no builder here.
    change("see.py", "QUEEN_VALUE = 100,", "QUEEN_VALUE = 101,")
    status, line = bench()
    assert status == 1
    assert "reinstall knightadder" in line


def test_threads_may_load_it_together() -> None:
    found = []
    threads = [threading.Thread(target=lambda: found.append(core.load())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [None] * 8


# Python takes its modules apart, and `sys` last, while a daemon thread counts without end.
AT_THE_END = """
import sys, threading, time
from knightadder.core.compilation import core
from knightadder.core.tables import new_tables
from knightadder.engine.game import Game

class Last:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

sys.last = Last()
core.load()
threading.Thread(target=Game(new_tables()).perft, args=(15,), daemon=True).start()
time.sleep(0.1)
"""


def test_python_may_end_while_compiled_code_runs() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, timeout=250)
    assert (done.returncode, done.stderr) == (0, b"")
