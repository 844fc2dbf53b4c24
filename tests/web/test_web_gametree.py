"""The tree of moves: arrows and circles, with python-chess as the oracle; moves as text; scores."""

import contextlib
import io
import re

import chess
import chess.pgn
import pytest
from chess.engine import Cp, PovScore

from knightadder.web.gametree import GameTree, parse_move, score_view
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


@pytest.mark.parametrize(
    ("fen", "texts", "san"),
    [
        (chess.STARTING_FEN, ["nf3", "Ng1-f3", "ng1f3", "N f3", "1. Nf3!", "G1F3", "g1-f3"], "Nf3"),
        (chess.STARTING_FEN, ["E4", "1.e4", "e2-e4"], "e4"),
        ("r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4", ["o-o", "0-0", "oo", "e1g1"], "O-O"),
        ("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", ["o-o-o", "0-0-0"], "O-O-O"),
        ("4k3/8/8/8/8/8/8/4KB2 w - - 0 1", ["bc4", "BC4", "bf1c4"], "Bc4"),
        ("4k3/8/8/8/2p5/1P3B2/8/4KB2 w - - 0 1", ["bc4", "bxc4", "b3c4"], "bxc4"),
        ("4k3/8/8/8/2p5/1P3B2/8/4KB2 w - - 0 1", ["Bc4", "Bxc4"], "Bxc4"),
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", ["e8=q", "e8q", "e8Q+", "E8=(Q)", "e7e8Q"], "e8=Q+"),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", ["dxe3 e.p.", "de3"], "dxe3"),
    ],
)
def test_moves_are_read_as_people_type_them(fen, texts, san):
    board = chess.Board(fen)
    assert {board.san(parse_move(board, text)) for text in texts} == {san}


@pytest.mark.parametrize(
    ("fen", "text", "complaint"),
    [
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e8", "the move e8 is ambiguous: it can be e8=Q+, e8=R+, e8=B or e8=N"),
        ("4k3/8/8/8/4R3/8/8/4R1K1 w - - 0 1", "re2", "the move re2 is ambiguous: it can be R4e2+ or R1e2+"),
        (chess.STARTING_FEN, "o-o", "the move o-o is not legal here"),
        (chess.STARTING_FEN, "0000", "the move 0000 is not legal here"),
    ],
)
def test_what_is_no_single_move_is_refused(fen, text, complaint):
    with pytest.raises(MessageError, match=f"^{re.escape(complaint)}$"):
        parse_move(chess.Board(fen), text)


def test_every_legal_move_is_read_back_from_its_san_without_capitals():
    board = chess.Board("r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    for move in board.legal_moves:
        assert parse_move(board, board.san(move)) == move
        with contextlib.suppress(MessageError):  # one that can be two
            assert board.san(parse_move(board, board.san(move).lower())).lower() == board.san(move).lower()


@pytest.mark.parametrize(("cp", "text"), [(20_000, "1-0"), (-19_950, "0-1"), (18_999, "+189.99")])
def test_a_win_that_tablebases_know_reads_as_the_result(cp, text):
    assert score_view(PovScore(Cp(cp), chess.WHITE))["text"] == text
    assert score_view(PovScore(Cp(-cp), chess.BLACK))["text"] == text
