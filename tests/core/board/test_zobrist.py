"""Zobrist keys: equal exactly where python-chess says that two positions repeat each other."""

from __future__ import annotations

import chess
import pytest
from core_helpers import TABLES, new_game, set_up

from knightadder.core.board import zobrist
from knightadder.core.layout import NO_SQUARE
from knightadder.core.tables import TABLES as LAYOUT
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record


def all_numbers() -> list[int]:
    """Give every number that can enter a key."""
    pieces = [TABLES.piece_square["key"][color * 8 + kind] for color in (0, 1) for kind in range(1, 7)]
    others = [TABLES.zobrist_castling, TABLES.zobrist_ep[:NO_SQUARE]]
    return [int(number) for row in [*pieces, *others] for number in row] + [int(TABLES.zobrist_stm)]


def test_all_numbers_differ() -> None:
    numbers = all_numbers()
    assert len(numbers) == 12 * 64 + 64 + 64 + 1
    assert len({0, *numbers}) == len(numbers) + 1
    assert TABLES.zobrist_ep[NO_SQUARE] == 0


def test_numbers_are_the_same_in_every_run() -> None:
    again = new_record(LAYOUT)
    zobrist.fill_tables(again)
    assert again.piece_square["key"].tobytes() == TABLES.piece_square["key"].tobytes()
    assert again.zobrist_stm == TABLES.zobrist_stm


def positions(board: chess.Board, depth: int) -> list[chess.Board]:
    """All positions up to some plies away, with those that differ only in counters or unusable en passant squares."""
    found = [board.copy(stack=False)]
    if depth:
        for move in list(board.legal_moves):
            board.push(move)
            found += positions(board, depth - 1)
            board.pop()
    return found


@pytest.mark.boundscheck
@pytest.mark.nojit
@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", 3),  # rights are lost in different ways
        ("r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", 3),
        ("k7/4p3/8/3P4/3p4/8/2P5/7K w - - 0 1", 4),  # en passant, possible or not
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3),  # ... and pinned
    ],
)
def test_equal_keys_mean_equal_positions(fen: str, depth: int) -> None:
    game = new_game()
    ours, theirs = [], []
    for board in positions(chess.Board(fen), 1 if INTERPRETED else depth):
        ours.append(int(set_up(game, board.fen()).stack[0].key))
        theirs.append(board._transposition_key())
    assert len(set(ours)) == len(set(theirs)) == len(set(zip(ours, theirs, strict=True)))
    assert len(set(theirs)) < len(theirs) or INTERPRETED
