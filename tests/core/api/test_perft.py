"""Perft: published node counts of 127 standard positions, Stockfish's counts of Chess960 positions.

Stockfish's counts were made by ``benchmarks/make_chess960_perft.py``, those to depth 3 counted again by python-chess.
"""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from knightadder.engine.engine import Engine
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

DATA = Path(__file__).parents[2] / "data"

# The deepest count below this is checked at every position: 1.1 * 10**8 nodes in all. Where the tests run without the
# compiler, Python itself is a thousand times slower.
MAX_NODES = 1_000 if INTERPRETED else 7_500_000
CHESS960_DEPTH = 2 if INTERPRETED else 4

Row = tuple[str, dict[int, int]]


def read_suite(name: str) -> list[Row]:
    """Positions of a suite with their node counts by depth."""
    rows = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        fen, *fields = (field.strip() for field in line.split(";"))
        rows.append((fen, {int(field.split()[0][1:]): int(field.split()[1]) for field in fields}))
    return rows


def deepest(counts: dict[int, int]) -> int:
    """Give the largest depth whose count isn't above `MAX_NODES`."""
    return max(depth for depth, nodes in counts.items() if nodes <= MAX_NODES)


STANDARD = read_suite("perft-standard.epd")
CHESS960 = read_suite("chess960-perft.epd")


def test_suites_are_complete() -> None:
    assert len(STANDARD) == 127
    assert len(CHESS960) >= 200
    assert all(set(counts) == {1, 2, 3, 4} for _, counts in CHESS960)


@pytest.mark.skipif(INTERPRETED, reason="only the compiled core counts that many")
def test_standard_suite_reaches_a_hundred_million_nodes() -> None:
    assert sum(counts[deepest(counts)] for _, counts in STANDARD) >= 10**8


@pytest.mark.parametrize(("fen", "counts"), STANDARD, ids=[fen for fen, _ in STANDARD])
def test_standard(engine: Engine, fen: str, counts: dict[int, int]) -> None:
    engine.set_position(fen)
    depth = deepest(counts)
    assert sum(engine.perft(depth).values()) == counts[depth]


@pytest.mark.parametrize(("fen", "counts"), CHESS960, ids=[fen for fen, _ in CHESS960])
def test_chess960(chess960_engine: Engine, fen: str, counts: dict[int, int]) -> None:
    chess960_engine.set_position(fen)
    found = {depth: sum(chess960_engine.perft(depth).values()) for depth in range(1, CHESS960_DEPTH + 1)}
    assert found == {depth: counts[depth] for depth in found}


@pytest.mark.parametrize("depth", [1, 2] if INTERPRETED else [1, 2, 3, 4])
@pytest.mark.parametrize(("fen", "counts"), [*STANDARD[:6:2], *CHESS960[:240:48]])
def test_without_bulk_counting_equals_with(
    chess960_engine: Engine, fen: str, counts: dict[int, int], depth: int
) -> None:
    chess960_engine.set_position(fen)
    every_move_made = chess960_engine.perft(depth, bulk=False)
    assert every_move_made == chess960_engine.perft(depth, bulk=True)
    assert sum(every_move_made.values()) == counts[depth]


def test_divide_names_every_root_move_with_its_subtree(engine: Engine) -> None:
    fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    engine.set_position(fen)
    board = chess.Board(fen)
    expected = {}
    for move in list(board.legal_moves):
        board.push(move)
        expected[move.uci()] = board.legal_moves.count()
        board.pop()
    assert engine.perft(2) == expected


def test_perft_leaves_the_position_as_it_was(engine: Engine) -> None:
    engine.set_position(moves=["e2e4", "c7c5"])
    before = engine.fen()
    engine.perft(3)
    assert engine.fen() == before
    assert "g1f3" in engine.legal_moves()


@pytest.mark.parametrize("fen", ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"])
def test_a_finished_game_has_no_nodes(engine: Engine, fen: str) -> None:
    engine.set_position(fen)
    assert engine.perft(1) == {}
    assert engine.perft(3) == {}
