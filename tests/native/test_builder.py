"""The builder: what it makes of small functions, and of the whole core."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import knightadder
from knightadder.native.program import BOUNDSCHECK, INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED or BOUNDSCHECK, reason="the tests set these variables themselves")

# A program, which is built, loaded and tried in one process. TRY stands for what is done with it.
PROGRAM = """
from knightadder.native.program import Program
small = Program(__name__, "small", ["small.functions"])
"""
FUNCTIONS = """
import numpy as np
from knightadder.native import jit
from knightadder.native.signatures import float32, int16, int64, pair, record_type, uint64, void
from small import small

LARGE = np.dtype((np.record, np.dtype([("numbers", np.int64, 1000), ("sum", np.int64)])))
Large = record_type(LARGE)

@jit.kernel
def square(n):
    return n * n

@small.exported(int64(int64, int64))
def difference(a, b):
    return square(a) - square(b)

@small.exported(pair(int64)(Large, int64))
def largest(record, count):
    best, place = np.int64(-1), np.int64(-1)
    for i in range(count):
        if record.numbers[i] > best:
            best, place = record.numbers[i], i
    return best, place

@small.exported(void(float32[:, ::1], int16[::1]))
def sum_rows(table, rows):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            rows[i] += np.int16(table[i, j])

@small.exported(uint64(uint64))
def low_bit(bits):
    return np.uint64(1) << np.uint64(jit.lsb(bits))

@small.exported(void(Large, Large))
def copy(target, source):
    jit.copy_record(target, source)

@small.exported(void(Large, int64, int64, int64))
def move(record, to, start, count):
    if to < start:
        for i in range(count):
            record.numbers[to + i] = record.numbers[start + i]
    else:
        for i in range(count - 1, -1, -1):
            record.numbers[to + i] = record.numbers[start + i]

@small.exported(void(Large))
def wipe(record):
    for i in range(1000):
        record.numbers[i] = 0

@small.exported(int64(Large, int64))
def at(record, i):
    return record.numbers[i]

@small.constant(Large)
def numbers():
    record = np.zeros(1, LARGE)[0]
    record.numbers[:] = np.arange(1000) * 77 % 1000
    return record

EXTRA
"""
USE = """
import json
import numpy as np
from pathlib import Path
from knightadder.native import builder, jit
from knightadder.native.processors import host_target
from small import small

target = builder.TARGETS[host_target()]
steps = []
builder.build(small, [target], small.folder, lambda done, all: steps.append((done, all)))
from small.functions import *
computed = numbers()
small.load()
record = np.zeros(1, LARGE)[0]
jit.copy_record(record, computed)
TRY
"""

# Functions of which one is compiled without an argument, and one calls itself, also by way of what is inlined into it.
CALLS_ITSELF = """
@jit.inlined
def both(n, k):
    return again(n - 1, k - 1) + again(n - 1, k)

@jit.kernel
def binomial(n, k):
    if n == k:
        return RETURN
    return both(n, k) if k else again(n - 1, False)

again = jit.self_call(binomial, int64)

@small.exported(int64(int64, int64))
def choose(n, k):
    return binomial(n, TYPE(k))
"""
MORE = """
@jit.kernel
def plus(n, record):
    return n if record is None else n + record.sum

@small.exported(int64(Large, int64))
def plus_twice(record, n):
    return plus(n, record) + plus(n, None)
""" + CALLS_ITSELF.replace("RETURN", "np.int64(1)").replace("TYPE", "np.int64")

# Tries the functions, reads which functions the call frame information describes (in the form of `.eh_frame`: Linux
# Standard Base, Core, 10.6), and writes code that is tuned for a processor and code that is meant for it alone.
TRY_ALL = """
import struct
from dataclasses import replace
[file] = small.folder.glob("*.image")
image = small.read(file)
at_frame, described = image.places["frames"], set()
while length := struct.unpack_from("<I", image.code, at_frame)[0]:
    common, start = struct.unpack_from("<Ii", image.code, at_frame + 4)
    if common:  # else this is what several functions have in common
        described.add(at_frame + 8 + start)
    at_frame += 4 + length
framed = {image.places[export.name] for export in small.exports} <= described
for name, cpu, tune in (("level", "x86-64-v2", "znver4"), ("processor", "znver4", "znver4")):
    code, *_ = builder._emit(replace(builder.TARGETS["x86-64-v2"], cpu=cpu, tune=tune), small.exports)
    (small.folder / name).write_bytes(code)
record.sum = 5
chosen = [plus_twice(record, 1), [choose(9, k) for k in range(10)], [int(binomial(5, k)) for k in range(3)]]
record.sum = 0
shuffled = np.arange(1000) * 77 % 1000
loaded = numbers()
other = np.zeros(1, LARGE)[0]
copy(other, record)
same = other.tobytes() == record.tobytes()
moved = []
for to, start in ((0, 3), (3, 0), (500, 2), (2, 500)):
    move(other, to, start, 490)
    wanted = shuffled.copy()
    wanted[to:to + 490] = shuffled[start:start + 490]
    moved.append(bool((other.numbers == wanted).all()))
    copy(other, record)
wipe(other)
rows = np.zeros(3, np.int16)
sum_rows(np.arange(12, dtype=np.float32).reshape(3, 4), rows)
kept = loaded.tobytes() == computed.tobytes() and computed.flags.writeable and not loaded.flags.writeable
print(json.dumps([kept, difference(7, np.int64(-3)), largest(record, 1000), largest(record, 0), rows.tolist(),
                  low_bit(np.uint64(1 << 63)), at(record, 5), same, moved, bool(other.numbers.any()),
                  chosen, framed, steps]))
"""


def run(folder: Path, attempt: str, extra: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Build a program in a folder, by a process of its own, and try it there."""
    package = folder / "small"
    package.mkdir()
    (package / "__init__.py").write_text(PROGRAM)
    (package / "functions.py").write_text(FUNCTIONS.replace("EXTRA", extra))
    paths = [str(folder), str(Path(knightadder.__file__).parents[1])]
    return subprocess.run(
        [sys.executable, "-c", USE.replace("TRY", attempt)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment,
        capture_output=True,
        text=True,
        timeout=250,
    )


def built(folder: Path) -> list[Path]:
    """Give the images that there are."""
    return list(folder.rglob("*.image"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Build the program with all its functions and try them; give its folder, and what it prints."""
    folder = tmp_path_factory.mktemp("whole")
    done = run(folder, TRY_ALL, MORE, PYTHONHASHSEED="1")
    assert done.stderr == ""
    return folder, done.stdout


def test_values_pass_between_python_and_compiled_code(whole: tuple[Path, str]) -> None:
    *values, chosen, framed, steps = json.loads(whole[1])
    assert values == [True, 40, [999, 987], [-1, -1], [6, 22, 38], 1 << 63, 385, True, [True] * 4, False]
    assert chosen == [7, [math.comb(9, k) for k in range(10)], [1, 5, 10]]
    assert framed
    done = [number for number, _ in steps]
    assert done == sorted(set(done))
    assert {total for _, total in steps} == {done[-1]}  # the last step is the total that every step names


def test_an_image_is_built_alike_each_time(whole: tuple[Path, str], tmp_path: Path) -> None:
    assert run(tmp_path, "", MORE, PYTHONHASHSEED="2").stderr == ""
    [first], [second] = built(whole[0]), built(tmp_path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no disassembler")
def test_tuning_uses_no_instructions_beyond_the_level(whole: tuple[Path, str]) -> None:
    disassemble = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64"]
    level, processor = (
        subprocess.run([*disassemble, whole[0] / "small" / name], capture_output=True, text=True, check=True).stdout
        for name in ("level", "processor")
    )
    assert re.search("[yz]mm", processor)  # registers that came with AVX and AVX-512
    assert not re.search("[yz]mm", level)


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (
            "@small.exported(int64(int64))\ndef fail(n):\n    if n > 3:\n        raise ValueError(n)\n    return n\n",
            "LinkError: raise_exception is not defined",
        ),
        ("@small.exported(int64(int64))\ndef allocate(n):\n    return np.zeros(n, np.int64)[0]\n", " is not defined"),
        (
            "@small.exported(int64(int64))\ndef twice(n):\n    return square(n) + np.int64(square(np.uint64(3)))\n",
            "TypeError: square is called with arguments of several types",
        ),
        (
            CALLS_ITSELF.replace("RETURN", "np.int64(1)").replace("TYPE", "np.uint64"),
            "the self_call of binomial does not fit its types",
        ),
    ],
    ids=["raises", "allocates", "compiled twice", "calls itself otherwise than declared"],
)
def test_a_program_that_cannot_be_built_is_refused(tmp_path: Path, extra: str, complaint: str) -> None:
    done = run(tmp_path, "", extra)
    assert done.returncode == 1
    assert complaint in done.stderr.splitlines()[-1]
    assert built(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_an_index_out_of_range_ends_a_process_that_checks_bounds(tmp_path: Path) -> None:
    done = run(tmp_path, "print(at(record, 999), flush=True); at(record, 1000)", KNIGHTADDER_BOUNDSCHECK="1")
    assert done.stdout == "923\n"
    assert -done.returncode in (signal.SIGILL, signal.SIGTRAP)
