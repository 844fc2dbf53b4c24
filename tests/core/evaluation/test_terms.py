"""The terms of the classical evaluation and the file of their values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from knightadder.core.evaluation.terms import START, TERM_VALUES, TERMS, read_values, write_values


def test_the_terms_stand_one_after_the_other() -> None:
    assert len({term.name for term in TERMS}) == len(TERMS)
    places = [place for term in TERMS for place in range(START[term.name], START[term.name] + term.size)]
    assert places == list(range(TERM_VALUES))


def test_values_survive_the_way_through_a_file(tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(-500, 500, (TERM_VALUES, 2))
    write_values(values, tmp_path / "values.json")
    assert (read_values(tmp_path / "values.json") == values).all()


def test_the_values_shipped_are_complete() -> None:
    values = read_values()
    queen = values[START["piece_value"] + 4]
    assert queen.min() > 700
    assert queen.max() < 2000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.pop("tempo"), "terms that are missing or unknown: tempo"),
        (lambda rows: rows.update(teapot=[[1, 2]]), "terms that are missing or unknown: teapot"),
        (lambda rows: rows.update(tempo=[[1, 2], [3, 4]]), "tempo: expected 1 pairs"),
        (lambda rows: rows.update(tempo=[[1.5, 2]]), "tempo: expected 1 pairs"),
        (lambda rows: rows.update(tempo=[["1", "2"]]), "tempo: expected 1 pairs"),
        (lambda rows: rows.update(tempo=[[1, 1 << 40]]), "tempo: expected numbers up to"),
        (lambda rows: rows.update(tempo=[[1, -(10**400)]]), "tempo: expected 1 pairs"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, change, message: str) -> None:
    file = tmp_path / "values.json"
    write_values(read_values(), file)
    rows = json.loads(file.read_text())
    change(rows)
    file.write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=rf"values\.json: {message}"):
        read_values(file)
