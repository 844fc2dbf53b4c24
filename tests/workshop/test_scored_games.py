"""Scores in the comments of games, and games that were not played out."""

import pytest

from knightadder.engine.info import Score
from knightadder.workshop.scored_games import played_out, score_in


@pytest.mark.parametrize(
    ("comment", "score"),
    [
        ("+0.31/12 0.052s n=20011", Score(cp=31)),
        (" -1.5/3", Score(cp=-150)),
        ("0.00/1 0.1s, White mates", Score(cp=0)),
        ("+M3/20 0.1s", Score(mate=2)),
        ("M13/20", Score(mate=7)),
        ("-M4/20", Score(mate=-2)),
        ("book", None),
        ("0.052s", None),
        ("+0.31", None),
        ("+031/12", None),
        ("a move, +0.31/12", None),
        ("", None),
    ],
)
def test_scores_in_comments(comment, score):
    assert score_in(comment) == score


@pytest.mark.parametrize(
    ("headers", "played"),
    [
        ({}, True),
        ({"Termination": "normal"}, True),
        ({"Termination": "adjudication"}, True),
        ({"Termination": "Time forfeit"}, False),
        ({"Termination": "rules infraction"}, False),
        ({"Termination": "abandoned"}, False),
        ({"Termination": "unterminated"}, False),
    ],
)
def test_games_that_were_played_out(headers, played):
    assert played_out(headers) == played
