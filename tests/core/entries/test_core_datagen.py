"""One move of a game against itself: what is played, written and kept, by python-chess."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from core_helpers import TABLE, TABLES, is_noisy, random_positions, set_up

from knightadder.core.board import packed
from knightadder.core.entries import datagen
from knightadder.engine.game import Game

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAME = Game(TABLES)


def _play(board: chess.Board | str, nodes: int) -> tuple[int, np.record, str]:
    """Play a move; gives the outcome, the record, and the FEN after it."""
    record = set_up(GAME, board)
    records = np.zeros(3, packed.PACKED)
    outcome = datagen.play_move(TABLES, record, nodes, GAME.ply, records, 1)
    assert not records[0].tobytes().strip(b"\0") and not records[2].tobytes().strip(b"\0")
    return outcome, records[1], GAME.fen()


def test_quiet_moves_out_of_check_are_kept() -> None:
    seen = set()
    for board in random_positions(41, 40):
        outcome, record, after = _play(board, 15)
        if outcome == datagen.DRAWN:
            assert board.is_insufficient_material() or board.is_fifty_moves()
            continue
        assert packed.record_fen(record) == board.fen(en_passant="legal")
        followers = {}
        for move in board.legal_moves:
            board.push(move)
            followers[" ".join(board.fen(en_passant="legal").split()[:5])] = move
            board.pop()
        move = followers[" ".join(after.split()[:5])]
        decided = abs(int(record["score"])) >= datagen.MOST_SCORE
        expected = datagen.PASSED if board.is_check() or is_noisy(board, move) or decided else datagen.KEPT
        assert outcome == expected
        seen.add(outcome)
    assert seen == {datagen.KEPT, datagen.PASSED}


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", datagen.CHECKMATE),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 99", datagen.CHECKMATE),
        ("8/8/8/8/8/1k6/1p6/1K6 w - - 0 1", datagen.DRAWN),
        ("8/8/4k3/8/8/4K3/8/8 w - - 0 1", datagen.DRAWN),
        ("7k/R7/5K2/8/8/8/8/8 w - - 100 80", datagen.DRAWN),
    ],
)
def test_games_that_are_over(fen: str, expected: int) -> None:
    outcome, record, after = _play(fen, 15)
    assert outcome == expected
    assert not record.tobytes().strip(b"\0")
    assert after.split()[0] == fen.split()[0]


def test_a_third_repetition_ends_the_game() -> None:
    GAME.set_up(None, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2)
    assert datagen.play_move(TABLES, GAME.record, 15, GAME.ply, np.zeros(1, packed.PACKED), 0) == datagen.DRAWN


@pytest.mark.parametrize(
    ("fen", "sign"), [("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1), ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", -1)]
)
def test_scores_are_from_whites_view(fen: str, sign: int) -> None:
    outcome, record, after = _play(fen, 100)
    assert outcome == datagen.PASSED  # a mate decides the game
    assert record["score"] == sign * 31_999
    assert record["result"] == packed.DRAW
    assert chess.Board(after).is_checkmate()


def test_nodes_are_a_soft_limit() -> None:
    for nodes in (1, 20, 60):
        record = set_up(GAME, None)
        datagen.play_move(TABLES, record, nodes, 0, np.zeros(1, packed.PACKED), 0)
        assert nodes <= record.nodes <= 8 * nodes


def test_each_move_is_a_new_search_for_the_table() -> None:
    record = set_up(GAME, None)
    generations = []
    for ply in range(3):
        datagen.play_move(TABLES, record, 5, ply, np.zeros(1, packed.PACKED), 0)
        generations.append(int(record.tt_generation))
    assert np.diff(generations).tolist() == [1, 1]
    assert TABLE.address == record.tt_address
