"""Break the sources at random, one place at a time, and report which of the changes (mutants) the tests notice.

    python tools/mutants.py src/knightadder/engine src/knightadder/protocols --count 30 --seed 1

draws thirty places in the two folders. For each place, it changes a copy of the checkout, and runs the tests that
concern the file there: tests that name its module, and the tests of its folder; for the core, first those of
``bench``. Arguments after ``--`` go to pytest. With ``--output``, the same command continues an interrupted run.

The draw depends on the seed and the text of each function, not on the order of functions or files. So different commits
have nearly the same mutants, and their tests can be compared.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "tools", "docs", "benchmarks", "*.toml", "*.py", "*.md", "Makefile", "LICENSE")

OTHER_OPERATOR: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file."""

    file: Path  # relative to the root of the checkout
    line: int
    change: str  # the name of the function, and the changed text before and after
    source: str  # the whole changed file


def changes(node: ast.AST) -> Iterator[Callable[[ast.AST], ast.AST]]:
    """Yield functions that each turn a copy of a node into a mutant."""

    def with_operator(name: str, place: int | None = None) -> Callable[[ast.AST], ast.AST]:
        def change(node: ast.AST) -> ast.AST:
            if place is None:
                setattr(node, name, OTHER_OPERATOR[type(getattr(node, name))]())
            else:
                getattr(node, name)[place] = OTHER_OPERATOR[type(getattr(node, name)[place])]()
            return node

        return change

    def negated(node: ast.AST) -> ast.AST:
        node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]
        return node

    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                if type(operator) in OTHER_OPERATOR:
                    yield with_operator("ops", place)
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER_OPERATOR:
            yield with_operator("op")
        case ast.Constant(value=bool(value)):
            yield lambda node: ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield lambda node: ast.Constant(value + 1)
        case ast.If() | ast.While() | ast.IfExp():
            yield negated
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Raise, ast.Delete)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))
    ):
        yield lambda node: ast.Pass()


def mutants(file: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file's functions."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for parent, field, place, node in places(function.body):
                for change in changes(node):
                    other = change(copy.deepcopy(node))
                    put(parent, field, place, other)
                    text = f"{function.name}: {_first_line(node)} -> {_first_line(other)}"
                    yield Mutant(file, node.lineno, text, ast.unparse(ast.fix_missing_locations(tree)))
                    put(parent, field, place, node)


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def places(body: object) -> Iterator[tuple[object, str, int | None, ast.expr | ast.stmt]]:
    """Yield the nodes inside a function's body with their places, except types and inner functions."""
    waiting: list[object] = [body]
    while waiting:
        parent = waiting.pop()
        children: list[tuple[str, int | None, object]] = []
        if isinstance(parent, list):
            children = [("", place, child) for place, child in enumerate(parent)]
        elif isinstance(parent, ast.AST):
            children = [(name, None, child) for name, child in ast.iter_fields(parent)]
        for name, place, child in children:
            if name in ("annotation", "returns") or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if isinstance(child, (ast.expr, ast.stmt)):
                yield parent, name, place, child
            waiting.append(child)


def put(parent: object, field: str, place: int | None, node: ast.AST) -> None:
    """Put a node into its parent: at a place if the parent is a list, else into a field."""
    if isinstance(parent, list):
        parent[place] = node  # type: ignore[index]
    else:
        setattr(parent, field, node)


def draw(folders: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of the files in some folders, or of some files."""
    files = {file for path in folders for file in ([path] if path.is_file() else path.rglob("*.py"))}
    found = {
        hashlib.sha256(f"{seed} {mutant.file.name} {mutant.change}".encode()).digest(): mutant
        for file in sorted(files)
        for mutant in mutants(file.resolve().relative_to(ROOT))
    }
    return [found[key] for key in sorted(found)[:count]]


def concerned_tests(file: Path) -> list[str]:
    """Return the tests that name a module, followed by the nearest folder of tests; for the core, ``bench`` first."""
    parts = file.with_suffix("").parts[1:]  # without src
    names = (".".join(parts), f"from {'.'.join(parts[:-1])} import {parts[-1]}")
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    own = [test for test in tests if any(name in test.read_text("utf-8") for name in names)]
    folder = ROOT / "tests" / Path(*parts[1:-1])
    while not folder.is_dir():
        folder = folder.parent
    near = [] if folder == ROOT / "tests" else sorted(folder.rglob("test_*.py"))
    quick = [ROOT / "tests" / "engine" / "test_bench.py"] if parts[1:2] == ("core",) else []  # it notices most changes
    return [str(test.relative_to(ROOT)) for test in dict.fromkeys(quick + own + near)]


def outcome(mutant: Mutant, folder: Path, seconds: float, options: Sequence[str]) -> str:
    """Run the tests on a mutant in a copy of the checkout, and return the outcome as text."""
    tests = concerned_tests(mutant.file)
    if not tests:
        return "NO TESTS"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *tests]
    before = (folder / mutant.file).read_text("utf-8")
    (folder / mutant.file).write_text(mutant.source, "utf-8")
    try:
        environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return "caught (by the time limit)"
    finally:
        (folder / mutant.file).write_text(before, "utf-8")
    failed = [line.partition(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "NOT CAUGHT" if process.returncode == 0 else f"caught ({failed[0] if failed else 'no test could run'})"


def finished(file: Path) -> dict[tuple[str, str], str]:
    """Return the outcomes in a file of results, by source file and change."""
    text = file.read_text("utf-8") if file.exists() else ""
    return {(path, change): result for path, change, result in re.findall(r"^(\S+):\d+ (.*)\n {4}(.*)\n", text, re.M)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants, run the tests on each, and count the caught mutants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="folders and files of the sources")
    parser.add_argument("--count", type=int, default=30, help="number of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=300, help="time limit for a mutant's tests (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="file for the results; none in it is repeated")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    split = list(sys.argv[1:] if arguments is None else arguments)
    at = split.index("--") if "--" in split else len(split)
    options = parser.parse_args(split[:at])
    drawn = draw(options.paths, options.count, options.seed)
    known = finished(options.output) if options.output else {}
    caught = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        if not options.list:
            for path in {path for pattern in COPIED for path in ROOT.glob(pattern)}:
                if path.is_dir():
                    shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(path, folder)
        for mutant in drawn:
            result = known.get((str(mutant.file), mutant.change), "")
            new = not result and not options.list
            if new:
                result = outcome(mutant, folder, options.seconds, split[at + 1 :])
            caught += result.startswith("caught")
            text = f"{mutant.file}:{mutant.line} {mutant.change}\n    {result}"
            print(text, flush=True)
            if new and options.output:
                with options.output.open("a", encoding="utf-8") as output:
                    output.write(f"{text}\n")
    if not options.list:
        print(f"{caught} of {len(drawn)} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
