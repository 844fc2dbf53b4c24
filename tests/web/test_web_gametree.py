"""The tree of moves: arrows and circles, with python-chess as the oracle; scores."""

import io

import chess
import chess.pgn
import pytest
from chess.engine import Cp, PovScore

from knightadder.web.gametree import GameTree, score_view
from knightadder.web.loaded_pgn import load_pgn
from knightadder.web.messages import MessageError


def _read_again(tree):
    return chess.pgn.read_game(io.StringIO(str(tree.game)))


def test_arrows_and_circles_of_comments_are_told():
    pgn = "{ [%csl Ga1] [%cal Rb1c3,Yd2d4] start } 1. e4 { [%csl Be4,Rd5] [%eval 0.3] best } e5 { [%cal Xe2e4] } *"
    tree = load_pgn(pgn.encode()).tree
    game = _read_again(tree)
    expected = [[arrow.pgn() for arrow in node.arrows()] for node in (game, *game.mainline())]
    assert [tree.shapes(node) for node in tree.nodes()] == expected
    assert expected == [["Ga1", "Rb1c3", "Yd2d4"], ["Be4", "Rd5"], []]


def test_arrows_and_circles_are_set_and_written():
    tree = load_pgn(b"1. e4 { [%csl Ga1] [%eval 0.3] best } *").tree
    node = tree.game.next()
    tree.set_shapes(node, ["Gd2d4", "Rd4", "Yh1a8"])
    assert tree.shapes(node) == ["Rd4", "Gd2d4", "Yh1a8"]  # circles come first in PGN
    read = _read_again(tree).next()
    assert [(arrow.color, arrow.tail, arrow.head) for arrow in read.arrows()] == [
        ("red", chess.D4, chess.D4),
        ("green", chess.D2, chess.D4),
        ("yellow", chess.H1, chess.A8),
    ]
    assert read.eval().white() == chess.engine.Cp(30) and read.comment.endswith("best")
    tree.set_shapes(node, [])
    assert tree.shapes(node) == [] and _read_again(tree).next().comment.split() == ["[%eval", "0.3]", "best"]


@pytest.mark.parametrize("shape", ["", "G", "Gd9", "Gd2d", "Gd2d4d5", "Pd2d4", "Gd2 d4"])
def test_what_is_no_shape_is_refused(shape):
    tree = GameTree()
    with pytest.raises(MessageError):
        tree.set_shapes(tree.game, ["Rd4", shape])
    assert tree.shapes(tree.game) == []


@pytest.mark.parametrize(("cp", "text"), [(20_000, "1-0"), (-15_200, "0-1"), (14_999, "+149.99"), (-20_001, "-200.01")])
def test_a_win_that_tablebases_know_reads_as_the_result(cp, text):
    assert score_view(PovScore(Cp(cp), chess.WHITE))["text"] == text
    assert score_view(PovScore(Cp(-cp), chess.BLACK))["text"] == text
