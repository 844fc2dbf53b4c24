"""Compiling: one body a function, a cache that the next process can use, two processes that fill it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from core_helpers import INTERPRETED

import knightadder

COMPILE_ALL = """
import json
from knightadder.core.native import compiling, jit, second_compiler
from knightadder.engine import engine  # all that the engine uses
second_compiler.processors = lambda: 1
lines = []
compiling.compile_entries(lines.append)
entries = [function for function, _ in jit.ENTRIES]
bodies = {function.py_func.__qualname__: len(function.signatures) for function in jit.KERNELS + entries}
print(json.dumps({"lines": lines, "bodies": bodies}))
"""

# Two entries that compile in a second and go the same way. STEP stands for what happens at each step.
COMPILE_HASHES = """
import json, os, shutil, signal
import numpy as np
from knightadder.core.native import cache, compiling, jit, second_compiler
from knightadder.core.entries import checksum
second_compiler.processors = lambda: 1
lines = []

def report(line):
    lines.append(line)
    STEP

compiling.compile_entries(report)
compiled = [function.py_func.__name__ for function, _ in jit.ENTRIES if function.stats.cache_misses]
words = [int(word) for word in checksum.hash_128(np.zeros(32, np.uint8))]
checksum.hash_128(np.zeros(320, np.uint8)[::10])  # an argument of another type
print(json.dumps({"lines": lines, "compiled": compiled, "complete": cache.is_complete(jit.CACHE), "words": words}))
"""
HASHES = ["hash_long", "hash_short"]

COMPILE_ONE = """
from knightadder.core.entries import checksum
from knightadder.core.native import compiling
from knightadder.core.entries import perft
compiling.compile_entry(checksum.hash_short)
print(len(checksum.hash_short.signatures), len(perft.perft.signatures), checksum.hash_short.stats.cache_hits)
"""


# What stands in place of START decides what becomes of the second process.
COMPILE_SHARED = """
import json, subprocess, sys
from pathlib import Path
from knightadder.core.native import cache, compiling, jit, second_compiler
from knightadder.core.entries import checksum
second_compiler.processors = lambda: 2
start = second_compiler._start

def wait(functions, folder):
    process = start(functions, folder)
    print(process.wait(), file=sys.stderr)  # all this time the lock is ours
    return process

def die(functions, folder):
    process = start(functions, folder)
    process.kill()
    return process

def fail(functions, folder):
    return subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], stdin=subprocess.PIPE)

def miss(functions, folder):
    sys.executable = str(folder / "nothing")
    return start(functions, folder)

second_compiler._start = START
lines = []
compiling.compile_entries(lines.append)
loaded = [function.py_func.__name__ for function, _ in jit.ENTRIES if function.stats.cache_hits]
compiled = [function.py_func.__name__ for function, _ in jit.ENTRIES if function.stats.cache_misses]
print(json.dumps({"lines": lines, "loaded": loaded, "compiled": compiled, "complete": cache.is_complete(jit.CACHE)}))
"""

COMPILE_WITHOUT_FOLDER = """
from knightadder.core.native import cache
cache.configure = lambda: cache.CacheState("0" * 24, None)
from knightadder.core.entries import checksum
from knightadder.core.native import compiling, jit, second_compiler
second_compiler.processors = lambda: 2
second_compiler._start = None  # an error if it is called
lines = []
compiling.compile_entries(lines.append)
print(len(lines), [len(function.signatures) for function, _ in jit.ENTRIES])
"""


def run(folder: Path, *command: str) -> str:
    """Run Python with a cache folder of its own, and give what it prints."""
    environment = os.environ | {
        "KNIGHTADDER_CACHE": str(folder),
        "PYTHONPATH": str(Path(knightadder.__file__).parents[1]),
    }
    return subprocess.run(
        [sys.executable, *command], env=environment, check=True, capture_output=True, text=True, timeout=1100
    ).stdout


def files(folder: Path) -> dict[str, int]:
    """Give the compiled files below a folder with their times of modification."""
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in folder.rglob("*.nb[ic]")}


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """Compile everything into an empty folder, and give the folder and what the process said."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, json.loads(run(folder, "-c", COMPILE_ALL))


only_compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@only_compiled
def test_every_function_has_one_body(cold: tuple[Path, dict]) -> None:
    # A literal argument makes a second one; in a recursive call that breaks the cache. None would be dead code.
    bodies = cold[1]["bodies"]
    assert {"generate", "make", "quiesce", "search", "search_root", "perft"} <= set(bodies)
    assert {name: number for name, number in bodies.items() if number != 1} == {}


@only_compiled
def test_progress_is_reported_step_by_step(cold: tuple[Path, dict]) -> None:
    lines = cold[1]["lines"]
    steps, names = zip(*(line.split(": ") for line in lines), strict=True)
    assert list(steps) == [f"compiling {step}/{len(lines)}" for step in range(1, len(lines) + 1)]
    assert names[0] == "search_root"  # what takes longest


@only_compiled
def test_no_file_has_unresolved_symbols(cold: tuple[Path, dict]) -> None:
    code = list(cold[0].rglob("*.nbc"))
    assert len(code) >= len(cold[1]["lines"])
    assert [file.name for file in code if b"numba.unresolved" in file.read_bytes()] == []


@only_compiled
def test_a_second_process_runs_from_the_cache(cold: tuple[Path, dict]) -> None:
    folder, _ = cold
    before = files(folder)
    assert json.loads(run(folder, "-c", COMPILE_ALL))["lines"] == []
    assert "8902 nodes" in run(folder, "-m", "knightadder", "perft", "3")
    assert "nodes" in run(folder, "-m", "knightadder", "bench", "4").splitlines()[-1]
    assert files(folder) == before


def fill(folder: Path, step: str = "pass") -> dict:
    """Fill a cache with two entries, or load them from it, and give what the process said."""
    return json.loads(run(folder, "-c", COMPILE_HASHES.replace("STEP", step)))


def flip(file: Path, place: int) -> None:
    """Turn one bit of a file round; its size and its time stay as they are."""
    info, content = file.stat(), bytearray(file.read_bytes())
    content[place] ^= 0x10
    file.write_bytes(content)
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))


def of(folder: Path, name: str, suffix: str) -> Path:
    """Give the index or the machine code of an entry."""
    [file] = folder.rglob(f"checksum.{name}-*{suffix}")
    return file


@only_compiled
def test_damaged_files_are_compiled_again(tmp_path: Path) -> None:
    first = fill(tmp_path)
    assert sorted(first["compiled"]) == HASHES
    before = files(tmp_path)
    warm = first | {"lines": [], "compiled": []}
    assert fill(tmp_path) == warm
    assert files(tmp_path) == before
    code = of(tmp_path, "hash_short", ".nbc")
    flip(code, code.stat().st_size // 2)  # in the midst of the machine code
    repaired = fill(tmp_path)
    assert (len(repaired["lines"]), repaired["compiled"]) == (2, ["hash_short"])
    assert (repaired["complete"], repaired["words"]) == (True, first["words"])
    for name in HASHES:
        flip(of(tmp_path, name, ".nbi"), 0)
        code = of(tmp_path, name, ".nbc")
        code.write_bytes(code.read_bytes()[:1000])
    assert sorted(fill(tmp_path)["compiled"]) == HASHES
    assert fill(tmp_path) == warm


@only_compiled
def test_a_killed_process_leaves_what_it_has_compiled(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        fill(tmp_path, "if len(lines) == 2: os.kill(os.getpid(), signal.SIGTERM)")
    assert list(tmp_path.rglob("complete")) == []
    [noted] = tmp_path.rglob("checksums")
    assert len(json.loads(noted.read_bytes())) == 2
    second = fill(tmp_path)
    assert (len(second["lines"]), len(second["compiled"]), second["complete"]) == (2, 1, True)


@only_compiled
def test_a_folder_that_vanishes_meanwhile_is_survived(tmp_path: Path) -> None:
    first = fill(tmp_path, "shutil.rmtree(jit.CACHE.path)")  # before each of the two is compiled
    assert sorted(first["compiled"]) == HASHES
    second = fill(tmp_path)
    assert len(second["compiled"]) == 1
    assert second["words"] == first["words"]
    assert fill(tmp_path)["compiled"] == []


@only_compiled
def test_one_entry_is_compiled_alone(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", COMPILE_ONE) == "1 0 Counter()\n"
    assert len(list(tmp_path.rglob("*.nbc"))) == 1
    assert list(tmp_path.rglob("complete")) == []  # so an engine still reports what it compiles
    assert "1 0 Counter({" in run(tmp_path, "-c", COMPILE_ONE)
    [code] = tmp_path.rglob("*.nbc")
    flip(code, code.stat().st_size // 2)
    assert run(tmp_path, "-c", COMPILE_ONE) == "1 0 Counter()\n"
    assert "1 0 Counter({" in run(tmp_path, "-c", COMPILE_ONE)


def share(folder: Path, start: str) -> dict:
    """Fill a cache with a second process of which `start` decides what becomes of it, and give what the first said."""
    return json.loads(run(folder, "-c", COMPILE_SHARED.replace("START", start)))


@only_compiled
def test_two_processes_fill_the_cache_together(tmp_path: Path) -> None:
    first = share(tmp_path, "wait")
    assert len(first["lines"]) == 2
    assert first["complete"]
    assert len(first["compiled"]) == 1  # the other one comes from the second process, which does not touch the lock
    assert sorted(first["loaded"] + first["compiled"]) == HASHES
    before = files(tmp_path)
    assert len(before) == 4
    second = share(tmp_path, "None")  # an error if it were called
    assert second["lines"] == second["compiled"] == []
    assert sorted(second["loaded"]) == HASHES
    assert files(tmp_path) == before


@only_compiled
@pytest.mark.parametrize("start", ["die", "fail", "miss"])
def test_one_process_does_it_all_if_the_other_fails(tmp_path: Path, start: str) -> None:
    first = share(tmp_path, start)
    assert len(first["lines"]) == len(first["compiled"]) == 2
    assert first["complete"]
    assert len(files(tmp_path)) == 4


@only_compiled
def test_without_a_folder_one_process_compiles(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", COMPILE_WITHOUT_FOLDER) == "2 [1, 1]\n"
