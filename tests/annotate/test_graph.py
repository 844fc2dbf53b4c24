"""Graphs: what is drawn, and names in any script."""

import xml.etree.ElementTree as ElementTree

import pytest
from chess.engine import Cp, Mate, PovScore
from matplotlib.figure import Figure

from knightadder.annotate.graph import draw
from knightadder.engine.errors import OptionError
from knightadder.review.game_evaluation import SearchedPosition
from knightadder.review.judgement import Judgement
from knightadder.review.review import Review


def review_of(scores, judgements=None):
    evaluations = tuple(score and SearchedPosition(PovScore(score, True), 5, ()) for score in scores)
    return Review(evaluations, tuple(judgements or [None] * (len(scores) - 1)), True, None, None, None)


@pytest.mark.parametrize(
    "review",
    [
        review_of([Cp(20), Cp(-500), Mate(3)], [Judgement.BLUNDER, Judgement.MISTAKE]),
        review_of([Cp(20), None, Mate(0)], [Judgement.BLUNDER, None]),
        review_of([Cp(20), Cp(0)]),
        review_of([None, None]),
    ],
)
def test_a_picture_is_drawn_the_same_each_time(review, tmp_path):
    headers = {"White": "x_1^2 $\\frac$", "Black": "棋士 < & >", "Result": "1-0"}
    pictures = []
    for name in ("one.svg", "two.svg"):
        draw(review, headers, 0, tmp_path / name)
        ElementTree.parse(tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]


def test_the_evaluations_and_the_marks_are_in_the_picture(tmp_path):
    plain, other, marked = (tmp_path / name for name in ("plain.png", "other.png", "marked.png"))
    draw(review_of([Cp(0), Cp(0), Cp(0)]), {}, 0, plain)
    draw(review_of([Cp(0), Cp(100), Cp(0)]), {}, 0, other)
    draw(review_of([Cp(0), Cp(0), Cp(0)], [None, Judgement.INACCURACY]), {}, 0, marked)
    assert len({picture.read_bytes() for picture in (plain, other, marked)}) == 3


def test_a_place_that_cannot_be_used(tmp_path):
    with pytest.raises(OptionError, match=r"cannot write .*: No such file"):
        draw(review_of([Cp(0), Cp(0)]), {}, 0, tmp_path / "nowhere" / "x.svg")


@pytest.mark.parametrize(("plies", "first_ply"), [(1, 0), (2, 0), (3, 17), (60, 0)])
def test_the_axis_has_whole_moves(tmp_path, monkeypatch, plies, first_ply):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    draw(review_of([Cp(0)] * (plies + 1)), {}, first_ply, tmp_path / "x.svg")
    [axes] = drawn[0].axes
    ticks = axes.get_xticks()
    assert len(ticks) > 0 and all(tick == int(tick) for tick in ticks)
