"""The table of games: files and what is printed."""

import io

from rich.console import Console

from knightadder.opening_names import Opening
from knightadder.review.accuracy import SideAccuracy
from knightadder.review.judgement import Judgement
from knightadder.review.review import Review
from knightadder.review.summary import Side, players_table, row

HEADERS = {
    "Event": 'The "open",\nsecond part',
    "Date": "2026.??.??",
    "Round": "?",
    "White": "Polgár, J.",
    "Black": "?",
    "Result": "1/2-1/2",
    "ECO": "B90",
    "Opening": "Mine",
    "Other": "x",
}
REVIEW = Review(
    evaluations=(None,) * 5,
    judgements=(Judgement.BLUNDER, None, Judgement.BLUNDER, Judgement.MISTAKE),
    white_first=True,
    white=SideAccuracy(87.654, 30),
    black=None,
    opening=Opening("C20", "Theirs"),
)


def test_a_game():
    found = row(3, 17, HEADERS, REVIEW)
    assert (found.game, found.line, found.plies, found.fault) == (3, 17, 4, None)
    assert (found.white, found.black, found.round, found.date) == ("Polgár, J.", "", "", "2026.??.??")
    assert (found.eco, found.opening) == ("B90", "Mine")
    assert found.white_side == Side(87.7, 30, 0, 0, 0, 0, 2, 0)
    assert found.black_side == Side(None, None, 0, 0, 0, 1, 0, 1)


def test_a_game_where_black_begins():
    found = row(1, 1, {}, Review((None,) * 4, (Judgement.BLUNDER, None, Judgement.INACCURACY), False, None, None, None))
    assert (found.white_side.blunders, found.black_side.blunders, found.black_side.inaccuracies) == (0, 1, 1)
    assert (found.white, found.result) == ("", "")


def printed(rows, **more):
    console = Console(file=io.StringIO(), width=100)
    console.print(players_table(rows, **more))
    return console.file.getvalue()


def test_players_with_the_averages_of_their_games():
    other = Review((None,) * 3, (None, None), True, SideAccuracy(90.0, 20), SideAccuracy(50.0, 100), None)
    headers = {"White": "[b]Anna[/b]", "Black": "Bo"}
    turned = {"White": "Bo", "Black": "[b]Anna[/b]"}
    lines = printed([row(1, 1, headers, other), row(2, 1, turned, other), row(3, 1, headers, REVIEW)]).splitlines()
    [anna] = [line.split() for line in lines if "Anna" in line]
    assert anna == ["[b]Anna[/b]", "3", f"{(90 + 50 + 87.7) / 3:.1f}", "50.0", *"000020"]
    [bo] = [line.split() for line in lines if line.strip().startswith("Bo")]
    assert bo == ["Bo", "3", "70.0", "60.0", *"000101"]


def test_only_those_with_most_games_are_shown():
    rows = [row(n, 1, {"White": f"player{n}", "Black": "often"}, REVIEW) for n in range(5)]
    text = printed(rows, most=2)
    assert text.count("player") == 1 and "often" in text and "and 4 more" in text
