"""Search parameters: each within its range, and set in the tables by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from core_helpers import TABLES

import knightadder.core
from knightadder.core.search.parameters import PARAMETERS

pytestmark = pytest.mark.nojit


def test_names_are_unique_and_values_within_range() -> None:
    assert len({parameter.name for parameter in PARAMETERS}) == len(PARAMETERS)
    for parameter in PARAMETERS:
        assert parameter.low <= parameter.value <= parameter.high, parameter
        assert parameter.low < parameter.high


def test_the_tables_hold_them() -> None:
    assert TABLES.parameters.dtype.names == tuple(parameter.name for parameter in PARAMETERS)
    for parameter in PARAMETERS:
        assert TABLES.parameters[parameter.name] == parameter.value


def test_nothing_of_them_but_their_names_is_compiled_in() -> None:
    core = Path(knightadder.core.__file__).parent
    users = set()
    for file in core.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names}
                if (node.module or "").endswith("parameters") or "parameters" in names:
                    users.add(file.relative_to(core).as_posix())
    # `tables` takes the record, which has their names, and fills in their values; it compiles neither.
    assert users == {"tables.py"}
