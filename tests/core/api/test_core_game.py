"""What Python asks of the core about a game: setting up, finding and playing moves, repetitions of long games."""

from __future__ import annotations

import numpy as np
import pytest
from core_helpers import TABLES, new_game, pack_game

from knightadder.core.api import playing as core_game
from knightadder.engine.notation import parse_uci, to_uci

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("fen", "name", "expected"),
    [
        (CASTLING, "e1g1", "e1h1"),
        (CASTLING, "e1h1", "e1h1"),
        (CASTLING, "e1c1", "e1a1"),
        (CASTLING, "e1a1", "e1a1"),
        (CASTLING, "e1f1", "e1f1"),
        ("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "f1g1", "f1g1"),  # a king's step goes before castling
        ("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "f1h1", "f1h1"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "a7a8q"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8N", "a7a8n"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8", None),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "e1e2q", None),
        (CASTLING, "e1g1q", None),
        (CASTLING, "e1e3", None),
        (CASTLING, "a1a1", None),
        (CASTLING, "0000", None),
    ],
)
def test_finding_moves(fen: str, name: str, expected: str | None) -> None:
    move = new_game(fen).find(name)
    assert (to_uci(move, chess960=True) if move else None) == expected


@pytest.mark.parametrize(("names", "legal"), [("e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f6e4", 8), ("d2d4 g8f6 d2d4", 2)])
def test_a_packed_position_and_its_moves_are_set_up_like_a_fen(names: str, legal: int) -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 7"
    moves = names.split()
    squares = [parse_uci(name) or (0, 0, 0) for name in moves]
    encoded = np.array([source | target << 6 | promotion << 12 for source, target, promotion in squares], np.int64)
    records = np.concatenate([pack_game(new_game(CASTLING)), pack_game(new_game(fen))])
    game, expected = new_game(CASTLING), new_game()
    assert game.set_up_packed(records, 1, encoded) == legal
    expected.set_up(fen, moves[:legal])
    assert game.fen() == expected.fen()
    assert game.record.stack[0].tobytes() == expected.record.stack[0].tobytes()
    count = int(game.record.key_count)
    assert count == expected.record.key_count
    assert game.record.keys[:count].tolist() == expected.record.keys[:count].tolist()


def test_the_greatest_counters() -> None:
    game = new_game("7k/8/8/8/8/8/8/R6K w - - 9999 9999")
    core_game.play(TABLES, game.record, game.find("a1a2"))
    assert game.record.stack[0].rule50 == 10_000
    assert core_game.draw_reason(TABLES, game.record) == 1
