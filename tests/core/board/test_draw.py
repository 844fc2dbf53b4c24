"""Draws: the fifty-move rule, repetition in a game and in a search, insufficient material."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, random_placement, set_up

from knightadder.core.api import playing as core_game
from knightadder.core.board import draw
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

FIFTY_MOVES, DEAD_POSITION = 1, 3


@compiled
def repeats(worker, ply):
    return draw.is_repetition(worker, worker.stack[ply], ply)


def reason(fen: str | None, *moves: str) -> int:
    """Say why a game is drawn after some moves."""
    game = new_game()
    game.set_up(fen, moves)
    return int(core_game.draw_reason(TABLES, game.record))


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("7k/8/8/8/8/8/8/R6K w - - 99 100", 0),
        ("7k/8/8/8/8/8/8/R6K w - - 100 100", FIFTY_MOVES),
        ("R6k/8/8/8/8/8/8/7K b - - 100 100", FIFTY_MOVES),  # in check, but there is an answer
        ("R6k/8/7K/8/8/8/8/8 b - - 100 100", 0),  # a mate on the hundredth ply comes first
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 100 100", FIFTY_MOVES),
    ],
)
def test_fifty_moves(fen: str, expected: int) -> None:
    assert reason(fen) == expected


@pytest.mark.parametrize(
    ("earlier", "ply", "expected"),
    [
        ([], 4, False),
        ([4], 4, False),  # the root itself: of the game, so it takes two
        ([4], 5, True),  # after the root
        ([4], 8, True),
        ([6], 4, False),  # once in the game
        ([6, 8], 4, True),  # twice in the game
        ([4, 8], 4, True),  # root and game
        ([2], 4, False),  # two plies apart nothing can repeat
        ([5], 8, False),  # the other side was to move
    ],
)
def test_search_needs_one_occurrence_in_the_line_and_two_in_the_game(
    earlier: list[int], ply: int, expected: bool
) -> None:
    record = new_game().record
    position = record.stack[ply]
    position.key = 12345
    position.rule50 = position.plies_from_null = 30
    record.key_count = 20
    record.keys[:] = np.arange(1_000_000, 1_000_000 + len(record.keys))
    here = 20 + ply
    record.keys[here] = position.key
    for distance in earlier:
        record.keys[here - distance] = position.key
    assert repeats(record, np.int64(ply)) == expected
    position.plies_from_null = 3  # nothing before a null move counts
    assert not repeats(record, np.int64(ply))
    position.plies_from_null, position.rule50 = 30, 3  # nor before a capture
    assert not repeats(record, np.int64(ply))


def materials(most: int) -> list[str]:
    """Give all sets of pieces beside the kings up to some number, pawns left out on most of them."""
    sets = [""]
    for _ in range(most):
        sets += [one + piece for one in sets for piece in "NBRQPnbrqp" if not one or piece >= one[-1]]
    return sorted(set(sets))


def test_dead_positions() -> None:
    generator = random.Random(1)
    game = new_game()
    dead = 0
    for pieces in [*materials(1 if INTERPRETED else 3), "BBBb", "BBbb", "BBBB", "NNNN"]:
        for _ in range(1 if INTERPRETED else 6):
            board = random_placement("Kk" + pieces, generator)
            record = set_up(game, board)
            expected = DEAD_POSITION if board.is_insufficient_material() else 0
            assert core_game.draw_reason(TABLES, record) == expected, board.fen()
            dead += expected == DEAD_POSITION
    assert dead >= 5
