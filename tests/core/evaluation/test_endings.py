"""Endings: draws and wins as tablebases and textbooks have them, and symmetry."""

from __future__ import annotations

import random

import chess
import chess.syzygy
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, random_placement, set_up

from knightadder.core.api.static_eval import evaluate_position
from knightadder.core.evaluation import endings
from knightadder.core.evaluation.endings import KNOWN_WIN
from knightadder.core.evaluation.evaluate import MAX_EVAL
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAME = new_game()
COLORS = (chess.BB_LIGHT_SQUARES, chess.BB_DARK_SQUARES)


@compiled
def judged(pos, value):
    return endings.judge(pos, value)


def judge(board: chess.Board | str, value: int = 640) -> int:
    """Judge an ending in which the side to move is better by 640, or some other value."""
    return int(judged(set_up(GAME, board).stack[0], np.int64(value)))


def evaluate(board: chess.Board | str) -> int:
    """Evaluate with the engine."""
    return evaluate_position(TABLES, set_up(GAME, board))


def test_symmetry() -> None:
    generator = random.Random(1)
    for _ in range(20 if INTERPRETED else 300):
        pieces = "".join(generator.choices("PPNBRQppnbrq", k=generator.randint(1, 5)))
        board = random_placement("Kk" + pieces, generator)
        assert evaluate(board.mirror()) == evaluate(board), board.fen()
        value = generator.randint(-1000, 1000)
        # Piece-square tables tell the left from the right, endings do not.
        judgement = judge(board, value)
        assert judge(board.transform(chess.flip_horizontal), value) == judgement, board.fen()
        assert judge(board.mirror(), value) == judgement, board.fen()


@pytest.mark.parametrize("pieces", ["", "N", "B", "NN", "Nn", "Nb", "Bn", "Bb", "nn", "NNn", "NNb"])
def test_mate_cannot_be_forced(pieces: str) -> None:
    generator = random.Random(pieces)
    for _ in range(5):
        board = random_placement("Kk" + pieces, generator)
        assert evaluate(board) == 0, board.fen()


@pytest.mark.parametrize("pieces", ["Bp", "Npp", "NNp", "Bnp"])
def test_pieces_that_cannot_mate_are_no_advantage_against_pawns(pieces: str) -> None:
    generator = random.Random(pieces)
    for _ in range(5):
        board = random_placement("Kk" + pieces, generator)
        ahead = 1 if board.turn == chess.WHITE else -1
        assert judge(board, 300 * ahead) == 0
        assert judge(board, -300 * ahead) == -300 * ahead  # the pawns may win


@pytest.mark.parametrize("pieces", ["R", "Q", "BN", "NNN", "RN", "QP", "NNB"])
def test_a_bare_king_is_lost_but_not_yet_mated(pieces: str) -> None:
    generator = random.Random(pieces)
    for _ in range(5):
        board = random_placement("Kk" + pieces, generator)
        value = evaluate(board) if board.turn == chess.WHITE else -evaluate(board)
        assert KNOWN_WIN < value <= MAX_EVAL, board.fen()


def test_no_material_reaches_a_mate_score() -> None:
    assert KNOWN_WIN < evaluate("7k/8/QQ6/QQ6/QQ6/QQ6/8/KB6 w - - 0 1") <= MAX_EVAL


def test_bishops_of_one_colour_do_not_mate() -> None:
    assert evaluate("8/8/4k3/8/8/2B5/8/B3K3 w - - 0 1") == 0
    assert evaluate("8/8/4k3/8/8/2B5/8/1B2K3 w - - 0 1") > KNOWN_WIN


@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KBvK", "KNvK"])
def test_three_men_as_the_tables_have_them(name: str) -> None:
    generator = random.Random(name)
    wins = 0
    with chess.syzygy.open_tablebase(str(SHIPPED)) as tables:
        for _ in range(3 if INTERPRETED else 200):
            board = random_placement(name.replace("vK", "k"), generator)
            value, wdl = evaluate(board), tables.probe_wdl(board)
            if wdl:
                assert (value > KNOWN_WIN) == (wdl == 2), board.fen()
                assert (value < -KNOWN_WIN) == (wdl == -2), board.fen()
                wins += 1
            else:
                # A capture or a stalemate, which is for search to find, or the material cannot mate.
                assert value == 0 or board.turn == chess.BLACK, board.fen()
    assert wins == 0 if name[1] in "BN" else wins > 0


@pytest.mark.parametrize(
    ("fen", "drawn"),
    [
        pytest.param("k7/8/8/P7/8/8/3B4/4K3 w - - 0 1", True, id="the bishop does not see the corner"),
        pytest.param("k7/8/8/P7/8/8/4B3/4K3 w - - 0 1", False, id="it does"),
        pytest.param("8/1k6/8/P7/8/8/3B4/4K3 w - - 0 1", True, id="king beside the corner"),
        pytest.param("8/2k5/8/P7/8/8/3B4/4K3 w - - 0 1", False, id="king too far away"),
        pytest.param("7k/8/8/7P/8/8/4B3/4K3 w - - 0 1", True, id="the other side of the board"),
        pytest.param("7k/8/8/7P/8/8/3B4/4K3 w - - 0 1", False, id="... with the right bishop"),
        pytest.param("k7/8/8/PP6/8/8/3B4/4K3 w - - 0 1", False, id="a second file"),
        pytest.param("k7/8/P7/P7/8/8/3B4/4K3 w - - 0 1", True, id="doubled pawns"),
        pytest.param("k7/8/P7/P7/8/8/8/4K3 w - - 0 1", True, id="no bishop at all"),
        pytest.param("k7/8/8/P7/8/8/3BB3/4K3 w - - 0 1", False, id="both bishops"),
        pytest.param("k7/8/8/P7/8/8/3BN3/4K3 w - - 0 1", False, id="another piece"),
        pytest.param("k7/8/8/P7/8/8/3B2p1/4K3 w - - 0 1", True, id="a pawn against it"),
    ],
)
def test_rook_pawn_and_wrong_bishop(fen: str, drawn: bool) -> None:
    for board in (chess.Board(fen), chess.Board(fen).mirror()):
        assert judge(board) == 0 if drawn else judge(board) >= 640
        if board.occupied_co[not board.turn] & board.pawns:
            assert judge(board, -640) == -640  # what the other side has is not lessened


@pytest.mark.parametrize(
    ("pieces", "low", "high"),
    [
        ("Rb", 1, 60),
        ("Rn", 1, 60),
        ("RBr", 1, 200),
        ("RNr", 1, 200),
        ("Qrb", 1, 200),
        ("BNb", 1, 60),
        ("Qr", 640, 640),  # a win
        ("BBn", 640, 640),  # a win, though a long one
        ("Rp", 640, 640),
        ("RPb", 640, 640),
        ("RPr", 640, 640),
    ],
)
def test_without_pawns_a_bishop_more_is_little(pieces: str, low: int, high: int) -> None:
    generator = random.Random(pieces)
    seen = 0
    while seen < 3:
        board = random_placement("Kk" + pieces, generator)
        bishops = [bool(board.pieces_mask(chess.BISHOP, chess.WHITE) & color) for color in COLORS]
        if board.turn == chess.WHITE and ("BB" not in pieces or all(bishops)):
            assert low <= judge(board) <= high, board.fen()
            seen += 1


def test_bishops_of_opposite_colours() -> None:
    one_more = judge("4k3/pp3b2/8/8/8/8/PPP2B2/4K3 w - - 0 1")
    two_more = judge("4k3/p4b2/8/8/8/8/PPP2B2/4K3 w - - 0 1")
    with_rooks = judge("r3k3/pp3b2/8/8/8/8/PPP2B2/R3K3 w - - 0 1")
    same_colour = judge("4k3/pp2b3/8/8/8/8/PPP2B2/4K3 w - - 0 1")
    two_against_one = judge("4k3/pp3b2/8/8/8/8/PPP1BB2/4K3 w - - 0 1")
    assert 0 < one_more < two_more < with_rooks < same_colour == two_against_one == 640
    four_more = judge("4k3/5b2/8/8/8/8/PPPP1B2/4K3 w - - 0 1")
    assert judge("4k3/5b2/8/8/8/8/PPPPPB2/4K3 w - - 0 1") == four_more == 640


@pytest.mark.parametrize(
    ("pieces", "right", "wrong"),
    [
        pytest.param("3B3N", ("a1", "h8"), ("a8", "h1"), id="dark bishop"),
        pytest.param("4B2N", ("a8", "h1"), ("a1", "h8"), id="light bishop"),
    ],
)
def test_bishop_and_knight_drive_to_the_bishops_corners(
    pieces: str, right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    def lost(strong: str, bare: str) -> int:
        board = chess.Board(f"8/8/8/8/8/8/{pieces}/8 b - - 0 1")
        board.set_piece_at(chess.parse_square(strong), chess.Piece.from_symbol("K"))
        board.set_piece_at(chess.parse_square(bare), chess.Piece.from_symbol("k"))
        return judge(board, -500)

    for good in right:
        for bad in wrong:
            assert max(lost("e4", good), lost("d5", good)) < min(lost("e4", bad), lost("d5", bad)) < -KNOWN_WIN
    path = [lost("d4", square) for square in ("h8", "g8", "f8", "e8", "d8", "c8", "b8", "a8")]
    assert path == sorted(path, reverse="a8" in right)
    assert len(set(path)) == len(path)


def test_a_bare_king_is_worse_off_at_the_edge_and_near_the_other_king() -> None:
    board = chess.Board("8/8/8/8/8/8/8/R7 b - - 0 1")

    def lost(strong: str, bare: str) -> int:
        placed = board.copy()
        placed.set_piece_at(chess.parse_square(strong), chess.Piece.from_symbol("K"))
        placed.set_piece_at(chess.parse_square(bare), chess.Piece.from_symbol("k"))
        return judge(placed, -500)

    assert lost("e4", "h8") < lost("e4", "e8") < lost("e4", "e6")  # all at like distances
    assert lost("e6", "e8") < lost("e5", "e8") < lost("e1", "e8")
