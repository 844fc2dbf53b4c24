"""Results are added up for the right engine."""

from collections import Counter

from knightadder.workshop.match.journal import Fixture, Record
from knightadder.workshop.match.standings import HeadToHead, Standings


def _record(number, white, black, points, **more):
    return Record(Fixture(number, white, black), points, "", 1, **more)


def test_scores_are_from_the_view_of_the_first():
    standings = Standings([("A", "B")])
    for number, (as_white, as_black) in enumerate([(1.0, 0.0), (0.5, 0.5), (0.0, 0.5), (1.0, 1.0)]):
        standings.add(_record(number, "A", "B", as_white))
        standings.add(_record(number, "B", "A", as_black))
    [score] = standings.scores.values()
    assert (score.wins, score.draws, score.losses, score.games) == (3, 3, 2, 8)
    assert str(score) == "3-3-2"
    assert score.share == 4.5 / 8
    assert (score.share_with(True), score.share_with(False)) == (2.5 / 4, 2.0 / 4)
    assert score.white_share == 4.5 / 8
    assert score.draw_ratio == 3 / 8
    assert score.counts == (0, 1, 2, 0, 1)
    assert standings.games == 8


def test_only_complete_pairs_count_as_pairs():
    score = HeadToHead()
    score.add(0, 1.0, True)
    score.add(1, 0.5, True)
    assert score.counts == (0, 0, 0, 0, 0)
    score.add(0, 0.5, False)
    assert score.counts == (0, 0, 0, 1, 0)


def test_without_games():
    score = HeadToHead()
    assert (score.games, score.share, score.counts) == (0, 0.5, (0,) * 5)
    assert (score.draw_ratio, score.white_share, score.share_with(True)) == (0.0, 0.5, 0.5)


def test_points_of_several_engines():
    pairings = [("A", "B"), ("A", "C"), ("B", "C")]
    standings = Standings(pairings, [_record(0, "A", "B", 1.0), _record(0, "C", "A", 1.0), _record(0, "C", "B", 0.5)])
    assert standings.totals() == {"A": (1.0, 2), "B": (0.5, 2), "C": (1.5, 2)}


def test_faults_warnings_and_clocks_are_the_engines_own():
    standings = Standings(
        [("A", "B")],
        [
            _record(0, "A", "B", 0.0, fault="time", culprit="A", lowest={"A": -0.1, "B": 2.0}),
            _record(0, "B", "A", 1.0, fault="crash", culprit="A", lowest={"A": 0.1}, warnings={"B": {"x": 2}}),
            _record(1, "B", "A", 1.0, warnings={"B": {"x": 1, "y": 1}}),
        ],
    )
    assert standings.faults == {"A": Counter(time=1, crash=1), "B": Counter()}
    assert standings.warnings == {"A": Counter(), "B": Counter(x=3, y=1)}
    assert standings.lowest == {"A": -0.1, "B": 2.0}
