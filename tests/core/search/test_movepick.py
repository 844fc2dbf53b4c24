"""The move picker: every legal move once. Their order is in the signature of `bench`."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, is_noisy, new_game, random_positions, set_up

from knightadder.core.api import playing as core_game
from knightadder.core.layout import MAX_MOVES
from knightadder.core.search import movepick
from knightadder.core.search.frame import PIECE_TO
from knightadder.core.search.history import LIMIT
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


def boards() -> list[chess.Board]:
    return random_positions(10 if INTERPRETED else 200) + random_positions(10 if INTERPRETED else 100, chess960=True)


@compiled
def pick_all(tables, worker, hash_move, with_quiets, picked):
    frame = worker.frames[0]
    movepick.start_picking(frame, hash_move, with_quiets)
    count = 0
    while True:
        move = movepick.next_move(tables, worker, worker.stack[0], frame)
        if move == 0:
            # It stays at the end.
            return count if movepick.next_move(tables, worker, worker.stack[0], frame) == 0 else -1
        picked[count] = move
        count += 1


GAME = new_game()


def fill_histories() -> None:
    """Fill the histories at random, in both of the records between which a game changes when it is set up."""
    for record in (GAME.record, GAME._spare):
        numbers = np.random.default_rng(12)
        for table in (record.history, record.captures, record.continuation):
            table[:] = numbers.integers(-LIMIT, LIMIT + 1, table.shape)


class Case:
    """A position with a hash move, killers and rows of the history, all at random; it is good until the next one."""

    def __init__(self, board: chess.Board, generator: random.Random) -> None:
        self.board = board
        self.record = set_up(GAME, board)
        self.legal = {encode(board, move): move for move in board.legal_moves}
        self.hash_move = generator.choice([0, *self.legal])
        others = [generator.getrandbits(16) or 1, 0]
        self.killers = generator.sample([*self.legal, *others], 2)
        self.record.frames[0].killers[:] = self.killers
        self.rows = [generator.randrange(PIECE_TO) * PIECE_TO for _ in range(3)]
        self.record.frames[0].continuations[:] = self.rows
        self.threats = generator.getrandbits(64)
        self.record.frames[0].threats = self.threats
        self.check_squares = [generator.getrandbits(64) for _ in range(8)]
        self.record.frames[0].check_squares[:] = self.check_squares

    def pick(self, with_quiets: int = 1) -> list[int]:
        picked = np.zeros(MAX_MOVES, np.int64)
        count = pick_all(TABLES, self.record, np.int64(self.hash_move), np.int64(with_quiets), picked)
        assert count >= 0
        return [int(move) for move in picked[:count]]

    def noisy(self, move: int) -> bool:
        return is_noisy(self.board, self.legal[move])

    def loses(self, move: int) -> bool:
        return not core_game.see(TABLES, self.record, move, 0)


def cases() -> Iterator[Case]:
    fill_histories()
    generator = random.Random(12)
    for board in boards():
        yield Case(board, generator)


def test_every_legal_move_comes_once() -> None:
    for case in cases():
        assert sorted(case.pick()) == sorted(case.legal), case.board.fen()


def test_without_quiet_moves_only_noisy_ones_that_do_not_lose_come() -> None:
    for case in cases():
        if not case.board.is_check():
            case.hash_move = 0
            expected = [move for move in case.legal if case.noisy(move) and not case.loses(move)]
            assert sorted(case.pick(with_quiets=0)) == sorted(expected), case.board.fen()
