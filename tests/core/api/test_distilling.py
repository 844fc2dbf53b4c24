"""Distilled positions: legal ones, some random moves further, with their static values."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from core_helpers import TABLES, new_game, pack_game, random_positions

from knightadder.core.api.batch import evaluate_records
from knightadder.core.api.distilling import distil_positions
from knightadder.core.board.packed import PACKED, record_fen
from knightadder.core.worker import WORKER
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

WORK = new_record(WORKER)
COUNT = 20 if INTERPRETED else 500


def distil(source: np.ndarray, count: int, seed: int = 1, moves: int = 2, below: int = 3000) -> np.ndarray:
    records = np.zeros(count, PACKED)
    done = distil_positions(TABLES, WORK, source, seed, moves, below, records)
    return records[:done]


def packed(boards: list[chess.Board]) -> np.ndarray:
    return np.concatenate([pack_game(new_game(board)) for board in boards])


def key(board: chess.Board) -> str:
    return " ".join(board.fen().split()[:4])


def test_all_positions_up_to_two_moves_further_are_reached_and_no_others() -> None:
    start = chess.Board("8/8/8/3k4/8/3K4/8/8 w - - 30 60")
    reached = [{key(start)}, set(), set()]
    for first in start.legal_moves:
        start.push(first)
        reached[1].add(key(start))
        for second in start.legal_moves:
            start.push(second)
            reached[2].add(key(start))
            start.pop()
        start.pop()
    for most in range(2) if INTERPRETED else range(3):
        records = distil(packed([start]), 100 if INTERPRETED else 2000, moves=most)
        assert {" ".join(record_fen(record).split()[:4]) for record in records} == set().union(*reached[: most + 1])


def test_values_are_the_static_ones_without_checks_and_fifty_moves() -> None:
    source = packed(random_positions(COUNT))
    records = distil(source, COUNT, below=200)
    assert len(records) == COUNT
    values = np.zeros(COUNT, np.int16)
    assert evaluate_records(TABLES, WORK, records.copy(), values) == 0
    assert records["score"].tolist() == values.tolist()
    assert abs(records["score"]).max() < 200
    assert set(records["rule50"].tolist()) == {0}
    assert set(records["result"].tolist()) == {1}
    for record in records:
        board = chess.Board(record_fen(record))
        assert board.is_valid() and not board.is_check()


def test_a_seed_gives_the_same_again() -> None:
    source = packed(random_positions(COUNT))
    assert distil(source, COUNT).tobytes() == distil(source, COUNT).tobytes()
    assert distil(source, COUNT, seed=(1 << 64) - 1).tobytes() != distil(source, COUNT).tobytes()


def test_it_ends_where_nothing_is_suitable() -> None:
    mate = chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert len(distil(packed([mate]), 3)) == 0
    damaged = np.frombuffer(b"\xff" * 32, PACKED).copy()
    assert len(distil(damaged, 3)) == 0
