"""Upcoming repetitions: found exactly where python-chess finds a move back to a position of the line."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import STARTS, TABLES, encode, new_game, set_up

from knightadder.core.api import playing as core_game
from knightadder.core.board.repetition import can_repeat
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


@compiled
def ask(tables, worker, pos, ply):
    return can_repeat(tables, worker, pos, ply)


def test_the_table_holds_all_reversible_moves() -> None:
    assert (TABLES.cuckoo_keys != 0).sum() == 3668  # the number that van Kervinck's paper gives


def leads_to(board: chess.Board, target: str, legal: bool) -> bool:
    """Say whether a reversible move of a piece leads from a position to another."""
    moves = board.legal_moves if legal else board.pseudo_legal_moves
    for move in moves:
        if not board.is_irreversible(move):
            after = board.copy(stack=False)
            after.push(move)
            if after.epd() == target:
                return True
    return False


def has_cycle(line: list[chess.Board], legal: bool) -> bool:
    """Say whether one move joins the last position and an earlier one after the root, either way."""
    last = line[-1]
    for distance in range(3, len(line) - 1, 2):
        if distance > last.halfmove_clock:
            return False
        earlier = line[-1 - distance]
        if leads_to(last, earlier.epd(), legal) or leads_to(earlier, last.epd(), legal):
            return True
    return False


def test_against_python_chess() -> None:
    """Random games that often go back; the game's own keys serve as the line's."""
    generator = random.Random(5)
    seen = {False: 0, True: 0}
    for number in range(4 if INTERPRETED else 24):
        game = new_game()
        board = chess.Board(STARTS[number % len(STARTS)], chess960=True)
        record = set_up(game, board)
        line = [board.copy(stack=False)]
        moves: list[chess.Move] = []
        for ply in range(1, 20):
            legal = [move for move in board.legal_moves if not board.is_zeroing(move)]
            if not legal:
                break
            back = [
                m
                for m in legal
                if ply > 2 and (m.from_square, m.to_square) == (moves[-2].to_square, moves[-2].from_square)
            ]
            move = back[0] if back and generator.random() < 0.5 else generator.choice(legal)
            core_game.play(TABLES, record, encode(board, move))
            board.push(move)
            moves.append(move)
            line.append(board.copy(stack=False))
            record.key_count -= ply
            answer = bool(ask(TABLES, record, record.stack[0], np.int64(ply)))
            record.key_count += ply
            # Whether the move would be legal is not looked at.
            assert not answer or has_cycle(line, legal=False), (line[0].fen(), moves)
            assert answer or not has_cycle(line, legal=True), (line[0].fen(), moves)
            seen[answer] += 1
    assert min(seen.values()) > 3, seen
