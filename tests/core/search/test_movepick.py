"""The move picker: every legal move once, in the promised order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, is_noisy, new_game, random_positions, set_up

from knightadder.core.api import game as core_game
from knightadder.core.board.moves import EN_PASSANT
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

    def history(self, move: int) -> int:
        piece, target = self.record.stack[0].board[move & 63], move >> 6 & 63
        attacked = (self.threats >> (move & 63) & 1) + 2 * (self.threats >> target & 1)
        value = int(self.record.history[int(not self.board.turn)][attacked][move & 4095])
        return value + sum(int(self.record.continuation[row + int(piece) * 64 + target]) for row in self.rows)

    def quiet(self, move: int) -> int:
        """Give the history of a quiet move out of check, with the bonus for giving check."""
        piece, target = int(self.record.stack[0].board[move & 63]) & 7, move >> 6 & 63
        return self.history(move) + 8192 * (self.check_squares[piece] >> target & 1)

    def captured(self, move: int) -> int:
        """Give the value of the victim and of becoming a queen, with the capture history."""
        board = self.record.stack[0].board
        piece, target = int(board[move & 63]), move >> 6 & 63
        victim = int(board[target]) & 7
        value = 100 if move >> 12 == EN_PASSANT else (0, 100, 300, 300, 500, 900)[victim]
        value += 900 * (move >> 12 == chess.QUEEN)
        return value * 32 - (piece & 7) * 256 + int(self.record.captures[(piece * 64 + target) * 8 + victim])


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


def test_in_check_all_evasions_come_even_without_quiet_moves() -> None:
    checks = 0
    for case in cases():
        if case.board.is_check():
            checks += 1
            case.hash_move = 0
            picked = case.pick(with_quiets=0)
            assert sorted(picked) == sorted(case.legal)
            first_quiet = sum(case.noisy(move) for move in picked)
            assert all(case.noisy(move) for move in picked[:first_quiet])
            values = [case.history(move) for move in picked[first_quiet:]]
            assert values == sorted(values, reverse=True)
    assert checks


def test_order() -> None:
    seen = {"hash": 0, "good": 0, "killer": 0, "quiet": 0, "bad": 0}
    for case in cases():
        if case.board.is_check():
            continue
        picked = case.pick()
        sorts = [kind_of(case, move) for move in picked]
        assert sorts == sorted(sorts, key=list(seen).index), case.board.fen()
        for sort in seen:
            moves = [move for move, s in zip(picked, sorts, strict=True) if s == sort]
            seen[sort] += len(moves)
            if sort == "good":
                values = [case.captured(move) for move in moves]
                assert values == sorted(values, reverse=True)
            elif sort == "killer":
                assert moves == [killer for killer in case.killers if killer in moves]
            elif sort == "quiet":
                values = [case.quiet(move) for move in moves]
                assert values == sorted(values, reverse=True)
    assert all(seen.values()), seen


def test_a_capture_en_passant_is_one_of_a_pawn() -> None:
    board = chess.Board("k7/6p1/8/3pP3/8/8/8/K5Q1 w - d6 0 1")
    record = set_up(new_game(), board)
    picked = np.zeros(MAX_MOVES, np.int64)
    assert pick_all(TABLES, record, np.int64(0), np.int64(0), picked) == 2
    assert [int(move) for move in picked[:2]] == [encode(board, board.parse_uci(move)) for move in ("e5d6", "g1g7")]


def kind_of(case: Case, move: int) -> str:
    """Say in which group a move has to come."""
    if move == case.hash_move:
        return "hash"
    if case.noisy(move):
        return "bad" if case.loses(move) else "good"
    if move in case.killers:
        return "killer"
    return "quiet"
