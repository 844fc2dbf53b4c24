"""The structure of the package: imports point downwards, and no two files import each other."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"

# From the top down, by the first parts of a module's name. A module may import from its own layer and from those below.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("annotate", "web", "lichess", "workshop", "tablebases", "books", "protocols", "puzzles", "report"),
    ("drills",),
    ("",),  # the package itself, which gives the library's names
    ("review", "worker_engine"),
    ("library",),
    (
        "arguments",
        "command_parser",
        "digests",
        "extras",
        "files",
        "motifs",
        "parallel",
        "pgn",
        "rules",
        "runs",
        "uci",
        "user_file",
    ),
    ("engine",),
    ("core.api",),
    ("core.tables", "core.worker"),
    ("core.search",),
    ("core.evaluation", "core.syzygy"),
    ("core.board",),
    ("core.layout", "core.split_mix"),
    ("core.compilation",),
    ("native",),
    (  # small modules that anybody may import
        "closing",
        "elo_formula",
        "foreign",
        "frozen",
        "opening_names",
        "progress",
        "signals",
        "text",
        "text_table",
    ),
)


def modules() -> dict[str, Path]:
    """Give all modules of the package by their dotted names."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def tree_of(name: str) -> ast.Module:
    """Parse a module."""
    return ast.parse(MODULES[name].read_text("utf-8"))


def imports_of(name: str) -> set[str]:
    """Give the modules of the package that a module imports anywhere in it, for type checkers too."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: -node.level + 1 or None] if node.level else []
            base += [node.module] if node.module else []
            # The package's version is there before anything else of the package.
            wanted = [".".join([*base, alias.name]) for alias in node.names if alias.name != "__version__"]
        else:
            continue
        for module in wanted:
            while module and module not in MODULES:
                module = module.rpartition(".")[0]
            found.add(module)
    return found - {"", name}


@cache
def import_graph() -> dict[str, set[str]]:
    """Give what each module imports."""
    return {name: imports_of(name) for name in MODULES}


def layer_of(name: str) -> int:
    """Give the number of a module's layer, from the top: that of the longest prefix of its name."""
    inner = name.partition(".")[2]
    prefixes = [inner] + [inner[:at] for at in range(len(inner), 0, -1) if inner[at : at + 1] == "."]
    found = [number for prefix in prefixes for number, layer in enumerate(LAYERS) if prefix in layer]
    assert found, f"{name} is in no layer"
    return found[0]


def test_all_modules_are_found_with_what_they_import() -> None:
    assert "knightadder.core.search.quiescence" in import_graph()["knightadder.core.search.search"]
    assert "knightadder.engine.engine" in import_graph()["knightadder.engine.loader"]


def test_the_compiler_can_be_copied_into_a_package_of_another_name() -> None:
    for name in MODULES:
        if name.startswith("knightadder.native"):
            nodes = [node for node in ast.walk(tree_of(name)) if isinstance(node, ast.ImportFrom) and not node.level]
            assert all(not (node.module or "").startswith("knightadder") for node in nodes), name


def test_there_is_no_circle_of_files() -> None:
    list(TopologicalSorter(import_graph()).static_order())  # raises CycleError with the circle


def test_the_compiler_knows_nothing_of_what_it_compiles() -> None:
    inside = {name for name in MODULES if name.startswith("knightadder.native")}
    assert "knightadder.native.builder" in inside
    assert {other for name in inside for other in import_graph()[name]} <= inside


def test_there_is_no_circle_of_modules_of_the_page() -> None:
    page = SOURCE / "knightadder" / "web" / "static"
    graph = {file.name: re.findall(r'from "\./([\w-]+\.js)"', file.read_text("utf-8")) for file in page.glob("*.js")}
    assert "promotion.js" in graph["board.js"]
    list(TopologicalSorter(graph).static_order())


def test_folders_of_the_package_do_not_import_each_other() -> None:
    folders: dict[str, set[str]] = {}
    for name in import_graph():
        for other in import_graph()[name]:
            if name.count(".") > 1 and other.count(".") > 1:
                here, there = name.split(".")[1], other.split(".")[1]
                if here != there:
                    folders.setdefault(here, set()).add(there)
    list(TopologicalSorter(folders).static_order())


def test_exported_functions_of_the_core_are_in_one_place() -> None:
    outside, inside = set(), set()
    for name in MODULES:
        for node in ast.walk(tree_of(name)):
            for decorator in getattr(node, "decorator_list", ()):
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("exported"):
                    (inside if name.startswith("knightadder.core.api.") else outside).add(name)
    assert "knightadder.core.api.deepening" in inside
    assert not outside


def test_each_class_has_a_name_of_its_own() -> None:
    names = Counter(node.name for name in MODULES for node in ast.walk(tree_of(name)) if isinstance(node, ast.ClassDef))
    twice = {name for name, count in names.items() if count > 1 and not name.startswith("_")}
    # The library's names are those of python-chess. Each of its classes stands for the engine's class of this name.
    assert twice == {"Engine", "Option"}


def test_each_module_has_a_name_of_its_own() -> None:
    # The main module of a folder may have the folder's name.
    parts = [name.split(".") for name in MODULES]
    names = Counter(name[-1] for name in parts if name[-1] != name[-2 % len(name)])
    twice = {name for name, count in names.items() if count > 1}
    # Each command has a folder with a module `command`. `tablebases` is a command, and the engine's part behind it.
    assert twice == {"command", "tablebases"}


def test_imports_point_downwards() -> None:
    upwards = {
        (name, other)
        for name in import_graph()
        for other in import_graph()[name] - {"knightadder"}
        if layer_of(other) < layer_of(name)
    }
    assert not upwards
