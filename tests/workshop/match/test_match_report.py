"""What is shown of a match."""

import datetime
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from knightadder.workshop.match import match_report
from knightadder.workshop.match.journal import Fixture, Record
from knightadder.workshop.match.standings import Standings
from knightadder.workshop.match.statistics.sprt import Sprt

DAY = datetime.date(2026, 3, 4)


def _standings(pairings, pairs):
    """Give standings with so many pairs of 0, 1/2, 1, 3/2 and 2 points in each pairing."""
    standings = Standings(pairings)
    for first, second in pairings:
        number = 0
        for count, (one, other) in zip(pairs, [(0, 0), (0.5, 0), (0.5, 0.5), (1, 0.5), (1, 1)], strict=True):
            for _ in range(count):
                standings.add(Record(Fixture(number, first, second), float(one), "", 9))
                standings.add(Record(Fixture(number, second, first), 1.0 - other, "", 9))
                number += 1
    return standings


@pytest.fixture
def two():
    return _standings([("new", "old")], (10, 40, 100, 60, 20))


@pytest.fixture
def three():
    return _standings([("A", "B"), ("A", "C"), ("B", "C")], (1, 2, 5, 4, 2))


def _shown(renderable):
    console = Console(width=120, file=io.StringIO())
    console.print(renderable)
    return console.file.getvalue()


def test_a_line_of_two_engines(two):
    assert match_report.progress_line(two, 1000, Sprt(0, 5)) == (
        "460/1000  new against old: 100-300-60  pairs [10, 40, 100, 60, 20]  Elo +30.3 ± 21.9  LOS 99.7%  "
        "LLR 0.78 (-2.94, 2.94) [0, 5] normalized"
    )


def test_a_line_of_three_engines(three):
    assert match_report.progress_line(three, None, None) == "84  A 32/56, B 28/56, C 24/56"


def test_tables_of_two_engines(two):
    two.add(Record(Fixture(900, "old", "new"), 1.0, "", 3, "time", "new", {"old": {"odd": 2}}, [], {"new": -0.25}))
    text = _shown(match_report.tables(two, Sprt(0, 5, model="logistic"), "to be continued"))
    assert re.sub(" +", " ", text).split("\n")[:9] == [
        "new against old",
        " ",
        " Games 461, 100-300-61 (W-D-L), 54.2% ",
        " Draws 65.1% ",
        " Colours 65.2% with White, 43.3% with Black; White 61.0% ",
        " Pairs [10, 40, 100, 60, 20] (LL, LD, DD or WL, WD, WW) ",
        " Elo +30.3 ± 21.9, normalized +44.4 ",
        " LOS 99.7% ",
        " LLR 1.10 (-2.94, 2.94) [0, 5] logistic ",
    ]
    assert "Rank" not in text
    assert [line.split() for line in text.splitlines() if " 1 time " in line] == [
        ["new", "1", "time", "0", "-0.250", "s"]
    ]
    assert [line.split() for line in text.splitlines() if " 2 odd " in line] == [["old", "0", "2", "odd", "-"]]
    assert "to be continued" in text


def test_the_legend_explains_what_the_tables_show(two, three):
    def names(*arguments):
        return [line.split()[0] for line in _shown(match_report.legend(*arguments)).splitlines() if line[:1].strip()]

    assert names(two, Sprt(0, 5)) == ["W-D-L", "Draws", "Colours", "Pairs", "Elo", "LOS", "LLR"]
    assert names(two) == ["W-D-L", "Draws", "Colours", "Pairs", "Elo", "LOS"]
    assert names(three) == ["W-D-L", "Pairs", "Elo", "LOS"]


def test_the_docs_show_the_legend(two):
    page = (Path(__file__).parents[3] / "docs/matches.md").read_text("utf-8")
    for name, meaning in match_report.LEGEND.items():
        assert f"{name} {meaning}" in " ".join(page.split())


def test_the_ratings_of_three_engines(three):
    lines = [line.split() for line in _shown(match_report.tables(three)).splitlines()]
    ranks = {words[1]: words for words in lines if words and words[0] in ("1", "2", "3")}
    assert [ranks[name][0] for name in "ABC"] == ["1", "2", "3"]
    assert ranks["B"][2] == "+0.0"
    assert float(ranks["A"][2]) == -float(ranks["C"][2]) > 0
    assert ranks["A"][5:] == ["56", "57.1%"]


def test_nothing_played_yet():
    for pairings in ([("A", "B")], [("A", "B"), ("A", "C")]):
        standings = Standings(pairings)
        assert match_report.progress_line(standings, 4, None).startswith("0/4")
        assert "0-0-0" in _shown(match_report.tables(standings))


def test_the_row_of_a_change(two):
    row = match_report.change_row(two, Sprt(0, 5), "N=20000", "book", DAY)
    assert row == (
        "| 2026-03-04 | new against old |  | N=20000 | book | 460 | 100-300-60 | +30.3 [+8.5, +52.3] "
        "| 0.78 [0, 5] normalized | not decided |"
    )
    assert match_report.change_row(two, None, "N=1", "b", DAY).endswith("| none stated before |  |")
    filled = match_report.change_row(two, None, "N=1", "b", DAY, change="an idea", bench="12", verdict="fault")
    assert filled.startswith("| 2026-03-04 | an idea | 12 | N=1 | b | ") and filled.endswith(" | fault |")
    assert len(row.split("|")) == len(match_report.heading(match_report.CHANGE_COLUMNS).splitlines()[0].split("|"))


@pytest.mark.parametrize(
    ("pairs", "end"),
    [((100, 400, 1000, 600, 200), "passed |"), ((200, 600, 1000, 400, 100), "failed |")],
)
def test_the_verdict_of_a_test(pairs, end):
    row = match_report.change_row(_standings([("new", "old")], pairs), Sprt(0, 5), "N=1", "b", DAY)
    assert row.endswith(end)


def test_the_rows_of_a_gauntlet():
    standings = _standings([("A", "B"), ("A", "C")], (0, 0, 2, 0, 0))
    standings.add(Record(Fixture(9, "C", "A"), 0.0, "", 3, "crash", "C"))
    rows = match_report.opponent_rows(standings, "2+0.02", "book", DAY)
    assert rows == [
        "| 2026-03-04 | A | 2+0.02 | book | B | 4 | 0-4-0 | 50.0% | +0 [unknown] | 0 | 0 |",
        "| 2026-03-04 | A | 2+0.02 | book | C | 5 | 1-4-0 | 60.0% | +0 [unknown] | 0 | 1 crash |",
    ]
    assert (
        match_report.heading(match_report.OPPONENT_COLUMNS).splitlines()[1]
        == "|---|---|---|---|---|---|---|---|---|---|---|"
    )
