"""The tables: those that an image has are those that Python fills."""

import pytest

from knightadder.core import tables
from knightadder.core.compilation import core
from knightadder.core.evaluation.evaluate import CLASSICAL, PESTO
from knightadder.native import program


@pytest.mark.skipif(program.INTERPRETED, reason="no image is loaded")
@pytest.mark.boundscheck
@pytest.mark.parametrize("evaluation", [CLASSICAL, PESTO])
def test_an_image_has_the_tables_that_python_fills(monkeypatch: pytest.MonkeyPatch, evaluation: int) -> None:
    core.load()
    filled: list[object] = []
    fill = tables.constant_tables.function
    monkeypatch.setattr(tables.constant_tables, "function", lambda: filled.append(None) or fill())
    loaded = tables.new_tables(evaluation)
    assert not filled
    monkeypatch.delitem(core.places, tables.constant_tables.name)
    by_python = tables.new_tables(evaluation)
    assert by_python.network_address != loaded.network_address
    by_python.network_address = loaded.network_address
    assert by_python.tobytes() == loaded.tobytes()
    assert len(filled) == 1


@pytest.mark.nojit
def test_each_record_is_of_its_own() -> None:
    one, other = tables.new_tables(), tables.new_tables()
    one.knight[0] = 1
    one.parameters[tables.parameters.PARAMETERS[0].name] = -77
    assert other.knight[0] == 1 << 10 | 1 << 17
    assert other.parameters[0] != -77
