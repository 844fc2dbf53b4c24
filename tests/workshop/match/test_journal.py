"""The log of a match: what is kept, going on from it, refusing what is no record of this match."""

import json
import re
from collections import Counter

import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.journal import Fixture, MatchLog, Record
from knightadder.workshop.match.referee import Forfeit, MatchGame, PvWarning
from knightadder.workshop.opening_book import BookLine

SETUP = {"engines": ["A", "B"], "rules": {"draw": None}}
PAIRINGS = [("A", "B")]
DETAIL = {"engine": "A", "kind": "x", "line": "info", "position": "startpos"}
VERSIONS = {"A": "Fake 1.0", "B": "Fake 2.0"}
RECORDS = [
    Record(Fixture(0, "A", "B"), 1.0, "White mates", 31, lowest={"A": 0.25}),
    Record(Fixture(0, "B", "A"), 0.0, "fault", 4, "crash", "B", {"A": {"x": 3}}, [DETAIL], versions=VERSIONS),
]


@pytest.fixture
def log(tmp_path):
    """Give a log with two games."""
    file = tmp_path / "match.jsonl"
    with MatchLog(file, SETUP, PAIRINGS) as journal:
        for record in RECORDS:
            journal.add_game(record)
    return file


def _records(file):
    with MatchLog(file, SETUP, PAIRINGS) as journal:
        return journal.records


def test_what_is_written_is_read_again(log):
    assert _records(log) == RECORDS


def test_a_log_of_an_older_version_is_read(log):
    """It does not say by how much clocks were scaled, since none was."""
    header, *lines = log.read_text().splitlines()
    older = [json.dumps({key: value for key, value in json.loads(line).items() if key != "scale"}) for line in lines]
    assert older != lines
    log.write_text("\n".join([header, *older, ""]))
    assert _records(log) == RECORDS
    with MatchLog(log, {**SETUP, "scale": None}, PAIRINGS) as journal:
        assert journal.records == RECORDS
    with pytest.raises(OptionError, match=r"with other settings \(scale\)"):
        MatchLog(log, {**SETUP, "scale": 1000}, PAIRINGS)


def test_games_are_numbered_in_the_order_of_their_rounds(tmp_path):
    file = tmp_path / "match.jsonl"
    pairings = [("A", "B"), ("A", "C")]
    fixtures = [Fixture(number, *players) for number in range(3) for pair in pairings for players in (pair, pair[::-1])]
    with MatchLog(file, SETUP, pairings) as journal:
        for fixture in reversed(fixtures):
            journal.add_game(Record(fixture, 0.5, "draw", 7))
    assert [json.loads(line)["number"] for line in file.read_text().splitlines()[1:]] == list(range(12))[::-1]
    with MatchLog(file, SETUP, pairings) as journal:
        assert [record.fixture for record in journal.records] == fixtures


def test_another_match_is_refused(log):
    with pytest.raises(
        OptionError, match=r"belongs to a run with other settings \(rules\): .* give --restart to forget it"
    ):
        MatchLog(log, {**SETUP, "rules": {"draw": 1}}, PAIRINGS)


@pytest.mark.parametrize(
    "change",
    [
        {"number": 2},
        {"number": -1},
        {"fixture": None},
        {"fixture": {"round": 0, "white": "A", "black": "C"}},
        {"white_points": 0.7},
        {"white_points": "x"},
        {"white_points": None},
        {"plies": "many"},
        {"fault": "bad luck"},
        {"fault": None},
        {"culprit": "C"},
        {"culprit": []},
        {"warnings": {"C": {"x": 1}}},
        {"warnings": {"A": {"x": "y"}}},
        {"warnings": 7},
        {"details": [7]},
        {"details": [{"engine": "A"}]},
        {"lowest": {"C": 1.0}},
        {"lowest": {"A": None}},
        {"versions": ["A"]},
        {"versions": {"C": "Fake"}},
        *({"without": key} for key in ("fixture", "white_points", "reason", "plies", "warnings", "details", "lowest")),
    ],
)
def test_what_is_no_record_of_this_match_is_named(log, change):
    lines = log.read_text().splitlines()
    values = {**json.loads(lines[2]), **change}
    values.pop(change.get("without"), None)
    log.write_text("\n".join([*lines[:2], json.dumps(values), ""]))
    with pytest.raises(OptionError, match=f"^{re.escape(str(log))}, line 3 is damaged: "):
        MatchLog(log, SETUP, PAIRINGS)
    log.write_text("\n".join([*lines, ""]))
    assert _records(log) == RECORDS  # the lock is not kept


def test_other_versions_of_the_engines_are_refused(log):
    with MatchLog(log, SETUP, PAIRINGS) as journal:
        journal.check_versions(VERSIONS)
        with pytest.raises(OptionError, match=r"^B was Fake 2\.0 and is now Fake 3\.0: use the same version, or give"):
            journal.check_versions({**VERSIONS, "B": "Fake 3.0"})
    with MatchLog(None, SETUP, PAIRINGS) as journal:
        journal.check_versions(VERSIONS)


def test_without_a_file_nothing_is_kept():
    with MatchLog(None, SETUP, PAIRINGS) as journal:
        journal.add_game(RECORDS[0])
        assert journal.records == RECORDS[:1]


def test_a_record_names_the_engines():
    game = MatchGame(
        BookLine(),
        0.0,
        "reason",
        Forfeit(True, "time", "late"),
        warnings=[PvWarning(False, "kind", "line", "position")],
        warning_counts=Counter({(False, "kind"): 2, (True, "other"): 1}),
        lowest={True: -0.123456},
    )
    assert Record.of(Fixture(3, "A", "B"), game, {**VERSIONS, "C": "other"}) == Record(
        Fixture(3, "A", "B"),
        0.0,
        "reason",
        0,
        "time",
        "A",
        {"B": {"kind": 2}, "A": {"other": 1}},
        [{"engine": "B", "kind": "kind", "line": "line", "position": "position"}],
        {"A": -0.1235},
        VERSIONS,
    )
