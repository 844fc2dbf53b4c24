"""Correction history: what a search found out is added to later evaluations of like positions, within limits."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, random_positions, set_up

from knightadder.core.api.static_eval import static_value
from knightadder.core.evaluation.evaluate import MAX_EVAL
from knightadder.core.search import correction
from knightadder.core.search.frame import PIECE_TO
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


PLY = np.int64(5)
HISTORIES = ("pawn_correction", "non_pawn_correction", "minor_correction", "continuation_correction")


@compiled
def learn(worker, difference, depth):
    correction.update_corrections(worker, worker.stack[0], PLY, difference, depth)


@compiled
def corrected(tables, worker):
    return correction.corrected_eval(tables, worker, worker.stack[0], PLY)


@pytest.fixture
def record() -> np.record:
    return new_game(chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")).record


def static(record: np.record) -> int:
    return static_value(TABLES, record)


def value(record: np.record) -> int:
    return int(corrected(TABLES, record))


def test_at_first_nothing_is_corrected(record: np.record) -> None:
    assert value(record) == static(record)


@pytest.mark.parametrize("difference", [60, -60])
def test_the_correction_goes_where_searches_came_out(record: np.record, difference: int) -> None:
    values = [value(record)]
    for _ in range(3):
        learn(record, np.int64(difference), np.int64(8))
        values.append(value(record))
    assert values == sorted(set(values), reverse=difference < 0)


def test_deeper_searches_teach_more(record: np.record) -> None:
    learn(record, np.int64(40), np.int64(2))
    little = value(record) - static(record)
    for name in HISTORIES:
        record[name] = 0
    learn(record, np.int64(40), np.int64(12))
    assert 0 <= little < value(record) - static(record)


def test_positions_that_share_pawns_share_a_correction_and_others_do_not(record: np.record) -> None:
    for _ in range(20):
        learn(record, np.int64(200), np.int64(10))
    game = new_game()
    kept = {name: record[name].copy() for name in HISTORIES if name != "continuation_correction"}

    def difference(fen: str) -> int:
        other = set_up(game, fen)
        for name, table in kept.items():
            other[name] = table
        return value(other) - static(other)

    assert difference("4kb1r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/4KB1R w - - 0 1") > 0  # the same pawns
    assert difference("4kb1r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/4KB1R b - - 0 1") == 0  # ... the other side to move
    assert difference("4kb1r/pppp2pp/5p2/4p3/4P3/8/PPPP1PPP/4KB1R w - - 0 1") == 0
    # Only White's pieces are the same, then only the minor pieces and kings of both sides.
    assert difference("4k3/8/8/8/8/5N2/8/RNBQKB1R w - - 0 1") > 0
    assert difference("2b1kbn1/8/2n5/8/8/5N2/8/1NB1KB2 w - - 0 1") > 0


@pytest.mark.parametrize("color", chess.COLORS)
def test_pieces_on_the_first_rank_and_on_the_last_are_told_apart(color: bool) -> None:
    game = new_game()
    for number in range(0, 960, 8):
        board = chess.Board.empty()
        for square, piece in chess.Board.from_chess960_pos(number).piece_map().items():
            if piece.piece_type not in (chess.PAWN, chess.KING) and piece.color == color:
                board.set_piece_at(square, piece)
        board.set_piece_at(chess.E4, chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(chess.A5, chess.Piece(chess.KING, chess.BLACK))
        board.turn = not color
        learn(set_up(game, board), np.int64(1000), np.int64(10))
    learnt = sum(np.count_nonzero(record.non_pawn_correction) for record in (game.record, game._spare))
    assert learnt > 110  # of 120 arrangements, and one of the other side's king alone


def test_the_last_move_and_an_earlier_one_have_a_correction_of_their_own(record: np.record) -> None:
    record.frames[1].piece_to, record.frames[3].piece_to, record.frames[4].piece_to = 80, 70, 600
    for _ in range(5):
        learn(record, np.int64(200), np.int64(10))
    which, index = np.nonzero(record.continuation_correction)
    assert list(zip(which, index, strict=True)) == [(0, 70 * PIECE_TO + 600), (1, 80 * PIECE_TO + 600)]
    with_moves = value(record)
    for ply in (1, 3, 4):
        kept = int(record.frames[ply].piece_to)
        record.frames[ply].piece_to += 1
        assert value(record) < with_moves
        record.frames[ply].piece_to = kept
    assert value(record) == with_moves


def test_no_correction_reaches_a_mate_score() -> None:
    game = new_game()
    for board in random_positions(3 if INTERPRETED else 20):
        record = set_up(game, board)
        for _ in range(200):
            learn(record, np.int64(32_000), np.int64(100))
        assert static(record) < value(record) <= MAX_EVAL
        for _ in range(400):
            learn(record, np.int64(-32_000), np.int64(100))
        assert -MAX_EVAL <= value(record) < static(record)
