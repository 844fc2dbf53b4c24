"""The log of a match: what is kept, going on from it, refusing what is another's."""

import json
from collections import Counter

import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.journal import Fixture, Journal, Record
from knightadder.workshop.match.referee import Fault, Game, PvWarning
from knightadder.workshop.openings import Opening

SETUP = {"engines": ["A", "B"], "rules": {"draw": None}}
RECORDS = [
    Record(Fixture(0, "A", "B"), 1.0, "White mates", 31, lowest={"A": 0.25}),
    Record(Fixture(0, "B", "A"), 0.0, "fault", 4, "crash", "B", {"A": {"x": 3}}, [{"engine": "A", "kind": "x"}]),
]


@pytest.fixture
def log(tmp_path):
    """Give a log with two games."""
    file = tmp_path / "match.jsonl"
    with Journal(file, SETUP) as journal:
        for record in RECORDS:
            journal.add(record)
    return file


def test_what_is_written_is_read_again(log):
    before = log.read_text()
    with Journal(log, SETUP) as journal:
        assert journal.records == RECORDS
    assert log.read_text() == before
    assert all(json.loads(line) for line in before.splitlines())


def test_it_goes_on_at_the_end(log):
    third = Record(Fixture(1, "A", "B"), 0.5, "draw", 7)
    with Journal(log, SETUP) as journal:
        journal.add(third)
    with Journal(log, SETUP) as journal:
        assert journal.records == [*RECORDS, third]


@pytest.mark.parametrize("cut", [1, 10])
def test_a_line_that_was_cut_off_is_dropped(log, cut):
    log.write_text(log.read_text()[:-cut])
    with Journal(log, SETUP) as journal:
        assert journal.records == RECORDS[:1]
        journal.add(RECORDS[1])
    with Journal(log, SETUP) as journal:
        assert journal.records == RECORDS


def test_another_match_is_refused_and_left_alone(log):
    before = log.read_text()
    with pytest.raises(OptionError, match="belongs to another match, with other rules: give another --log"):
        Journal(log, {**SETUP, "rules": {"draw": 1}})
    assert log.read_text() == before


@pytest.mark.parametrize("text", ["nonsense\n", "[1]\n", '{"x": 1}\n', '{"format": 1}\n{}\n'])
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(OptionError, match="file "):
        Journal(file, {} if "format" in text else SETUP)
    assert file.read_text() == text


def test_places_that_cannot_be_used(tmp_path):
    with pytest.raises(OptionError, match="cannot use"):
        Journal(tmp_path / "no" / "such" / "folder", SETUP)
    with pytest.raises(OptionError, match="cannot use"):
        Journal(tmp_path, SETUP)


def test_without_a_file_nothing_is_kept():
    with Journal(None, SETUP) as journal:
        journal.add(RECORDS[0])
        assert journal.records == RECORDS[:1]


def test_a_record_names_the_engines():
    game = Game(
        Opening(),
        0.0,
        "reason",
        Fault(True, "time", "late"),
        warnings=[PvWarning(False, "kind", "line", "position")],
        warning_counts=Counter({(False, "kind"): 2, (True, "other"): 1}),
        lowest={True: -0.123456},
    )
    assert Record.of(Fixture(3, "A", "B"), game) == Record(
        Fixture(3, "A", "B"),
        0.0,
        "reason",
        0,
        "time",
        "A",
        {"B": {"kind": 2}, "A": {"other": 1}},
        [{"engine": "B", "kind": "kind", "line": "line", "position": "position"}],
        {"A": -0.1235},
    )
