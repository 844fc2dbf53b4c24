"""Win, draw and loss probabilities."""

import math

import chess
import pytest

from knightadder.engine.wdl import FULL_MATERIAL, LEAST_MATERIAL, material_of_sets, parameters, win_draw_loss, win_rate

SCORES = range(-32_000, 32_001, 7)


@pytest.mark.parametrize("on_board", range(0, 104, 6))
def test_they_sum_to_a_thousand_and_are_symmetric_and_monotonic(on_board: int) -> None:
    before = (0, 0, 1000)
    for cp in SCORES:
        wins, draws, losses = win_draw_loss(cp, on_board)
        assert min(wins, draws, losses) >= 0
        assert wins + draws + losses == 1000
        assert win_draw_loss(-cp, on_board) == (losses, draws, wins)
        assert wins >= before[0]
        assert losses <= before[2]
        before = (wins, draws, losses)
    assert win_draw_loss(32_000, on_board) == (1000, 0, 0)


@pytest.mark.parametrize("on_board", range(LEAST_MATERIAL, FULL_MATERIAL + 1, 6))
def test_a_level_position_is_most_likely_drawn_and_a_rook_nearly_wins(on_board: int) -> None:
    wins, draws, losses = win_draw_loss(0, on_board)
    assert wins == losses < draws
    assert win_draw_loss(500, on_board)[0] > 900


def test_the_same_small_lead_wins_less_often_when_little_is_left() -> None:
    wins = [win_draw_loss(60, on_board)[0] for on_board in (58, 44, 30, LEAST_MATERIAL)]
    assert wins == sorted(wins, reverse=True)
    assert wins[0] > 3 * wins[-1]


def test_half_the_games_are_won_at_a() -> None:
    half_won, spread = parameters(FULL_MATERIAL)
    assert win_rate(half_won, half_won, spread) == 0.5
    assert win_rate(half_won + spread, half_won, spread) == pytest.approx(math.e / (1 + math.e))
    assert win_draw_loss(round(half_won))[0] == pytest.approx(500, abs=2)


def test_the_parameters_are_polynomials_of_the_share_of_the_material() -> None:
    a, b = parameters(39, (8.0, 4.0, 2.0, 1.0), (0.0, 0.0, -2.0, 300.0))
    assert a == pytest.approx(8 / 8 + 4 / 4 + 2 / 2 + 1)
    assert b == pytest.approx(299)


@pytest.mark.parametrize(
    "fen", [chess.STARTING_FEN, "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "r3k3/1p6/8/8/3QN3/8/8/2B1K3 w q - 0 1"]
)
def test_the_material_is_counted_on_bitboards(fen: str) -> None:
    board = chess.Board(fen)
    values = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
    expected = sum(values[piece.piece_type] for piece in board.piece_map().values())
    men = [board.occupied, board.pawns, board.knights, board.bishops, board.rooks, board.queens]
    assert material_of_sets(men) == expected
    assert fen != chess.STARTING_FEN or expected == FULL_MATERIAL
