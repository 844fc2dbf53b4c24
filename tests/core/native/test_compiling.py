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

# Perft alone compiles in three seconds and goes the same way.
COMPILE_PERFT = """
import json
from knightadder.core.native import compiling
from knightadder.core import layout, tables
from knightadder.core.board import perft
lines = []
compiling.compile_entries(lines.append)
worker = layout.new_record(layout.WORKER)
print(json.dumps({"lines": lines, "leaves": int(perft.perft(tables.new_tables(), worker, 0, 0, 1))}))
"""

COMPILE_ONE = """
from knightadder.core.syzygy import city_hash
from knightadder.core.native import compiling
from knightadder.core.board import perft
compiling.compile_entry(city_hash.hash_short)
print(len(city_hash.hash_short.signatures), len(perft.perft.signatures), city_hash.hash_short.stats.cache_hits)
"""


# Two entries. What stands in place of START decides what becomes of the second process.
COMPILE_SHARED = """
import json, subprocess, sys
from pathlib import Path
from knightadder.core.native import cache, compiling, jit, second_compiler
from knightadder.core.syzygy import city_hash
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
from knightadder.core.syzygy import city_hash
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
        [sys.executable, *command], env=environment, check=True, capture_output=True, text=True, timeout=600
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


@only_compiled
def test_damaged_files_are_survived(tmp_path: Path) -> None:
    first = json.loads(run(tmp_path, "-c", COMPILE_PERFT))
    assert len(first["lines"]) == 1
    [code] = tmp_path.rglob("*.nbc")
    content = code.read_bytes()
    for damaged in (content[: len(content) // 2], bytes(len(content))):  # the second only shows when it is loaded
        code.write_bytes(damaged)
        assert json.loads(run(tmp_path, "-c", COMPILE_PERFT)) == first
        [code] = tmp_path.rglob("*.nbc")
    assert json.loads(run(tmp_path, "-c", COMPILE_PERFT)) == {"lines": [], "leaves": 1}


@only_compiled
def test_one_entry_is_compiled_alone(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", COMPILE_ONE) == "1 0 Counter()\n"
    assert len(list(tmp_path.rglob("*.nbc"))) == 1
    assert list(tmp_path.rglob("complete")) == []  # so an engine still reports what it compiles
    assert "1 0 Counter({" in run(tmp_path, "-c", COMPILE_ONE)
    [code] = tmp_path.rglob("*.nbc")
    code.write_bytes(bytes(code.stat().st_size))
    assert run(tmp_path, "-c", COMPILE_ONE).startswith("1 0 ")


def share(folder: Path, start: str) -> dict:
    """Fill a cache with a second process of which `start` decides what becomes of it, and give what the first said."""
    return json.loads(run(folder, "-c", COMPILE_SHARED.replace("START", start)))


@only_compiled
def test_two_processes_fill_the_cache_together(tmp_path: Path) -> None:
    names = {"hash_long", "hash_short"}
    first = share(tmp_path, "wait")
    assert len(first["lines"]) == 2
    assert first["complete"]
    assert len(first["compiled"]) == 1  # the other one comes from the second process, which does not touch the lock
    assert {*first["loaded"], *first["compiled"]} == names
    before = files(tmp_path)
    assert len(before) == 4
    second = share(tmp_path, "None")  # an error if it were called
    assert second["lines"] == second["compiled"] == []
    assert set(second["loaded"]) == names
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
