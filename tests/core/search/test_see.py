"""Static exchange evaluation against the field's common list of exchanges."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import DATA, new_game

from knightadder.core.search.see import (
    MINOR_VALUE,
    PAWN_VALUE,
    QUEEN_VALUE,
    ROOK_VALUE,
    value_won,
)
from knightadder.engine.game import Game

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


@compiled
def won(worker, move):
    return value_won(worker.stack[0], move)


def read_suite() -> list[tuple[str, str, int]]:
    """Positions, moves in SAN and values in centipawns (pawn 100, minor pieces 300, rook 500, queen 900)."""
    rows = []
    for line in (DATA / "see.epd").read_text(encoding="utf-8").splitlines():
        fen, san, value = (field.strip() for field in line.split(";")[:3])
        rows.append((fen, san, int(value)))
    return rows


SUITE = read_suite()


def moves_of(fen: str, san: str) -> list[str]:
    """Give the moves that a SAN means, in UCI; more than one where it leaves open which knight."""
    board = chess.Board(fen)
    try:
        return [board.parse_san(san).uci()]
    except chess.AmbiguousMoveError:
        return [board.parse_san(san[0] + file + san[1:]).uci() for file in "ce"]


def wins(game: Game, fen: str, move: str, threshold: int) -> bool:
    """Say whether a move's exchange wins at least some centipawns."""
    game.set_up(fen)
    return game.exchange_wins(move, threshold)


def test_the_suite_is_complete_and_counts_like_the_engine() -> None:
    assert len(SUITE) == 74
    assert {row[:2] for row in SUITE} >= set(LATER_PROMOTIONS)
    assert (PAWN_VALUE, MINOR_VALUE, ROOK_VALUE, QUEEN_VALUE) == (100, 300, 500, 900)


# Exchanges that turn on a promotion by a later capture, which is left out as in most engines: a pawn captures as a
# pawn and remains one. In the last one both knights can capture, to the same effect.
LATER_PROMOTIONS = {
    ("2r5/1P4pk/p2p1b1p/5b1n/BB3p2/2R2p2/P1P2P2/4RK2 w - -", "Rxc8"): 300,
    ("3N4/2P5/2n5/1k6/8/8/8/4K3 b - -", "Nxd8"): 0,
    ("3n3r/2P5/8/1k6/8/8/3Q4/4K3 w - -", "Qxd8"): -100,
    ("8/8/1k6/8/8/2N1N3/2p1p1K1/3n4 w - -", "Nxd1"): 0,
}


@pytest.mark.parametrize(("fen", "san", "value"), SUITE, ids=[f"{number} {row[1]}" for number, row in enumerate(SUITE)])
def test_suite(fen: str, san: str, value: int) -> None:
    game = new_game()
    value = LATER_PROMOTIONS.get((fen, san), value)
    for move in moves_of(fen, san):
        assert wins(game, fen, move, value)
        assert not wins(game, fen, move, value + 1)


@pytest.mark.parametrize(
    ("fen", "move", "value"),
    [
        ("3rk3/2P5/8/3pP3/8/8/8/R3K3 w - d6 0 1", "c7d8q", 500 + 800),
        ("3rk3/2P5/8/3pP3/8/8/8/R3K3 w - d6 0 1", "c7d8n", 500),
        ("3rk3/2P5/8/3pP3/8/8/8/R3K3 w - d6 0 1", "c7c8q", 800),
        ("3rk3/2P5/8/3pP3/8/8/8/R3K3 w - d6 0 1", "e5d6", 100),
        ("3rk3/2P5/8/3pP3/8/8/8/R3K3 w - d6 0 1", "a1a8", 0),
    ],
)
def test_what_a_move_wins_at_once(fen: str, move: str, value: int) -> None:
    game = new_game(fen)
    assert won(game.record, np.int64(game.find(move))) == value
