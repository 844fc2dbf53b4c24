"""Legal moves and FEN against python-chess: random games, Chess960 too, and positions that single out one rule."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import core_helpers
import pytest

from knightadder.engine.engine import Engine
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


GAMES = 2 if INTERPRETED else 4  # a start position
STARTS = [*core_helpers.STARTS, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1"]


def uci_moves(board: chess.Board, chess960: bool) -> set[str]:
    """Legal moves as UCI strings, castling in the wanted notation."""
    return {board.uci(move, chess960=chess960) for move in board.legal_moves}


def assert_agrees(engine: Engine, board: chess.Board, chess960: bool) -> None:
    """Compare the engine's current position with a board: its legal moves, and the position that its FEN gives."""
    moves = engine.legal_moves()
    assert len(moves) == len(set(moves)), board.fen()
    assert set(moves) == uci_moves(board, chess960), board.fen()
    # The engine gives an en passant square only where a capture is legal, python-chess keeps it after each double step.
    expected = chess.Board(board.fen(en_passant="legal"), chess960=True)
    assert chess.Board(engine.fen(), chess960=True) == expected, board.fen()


def positions_of(board: chess.Board, generator: random.Random) -> Iterator[chess.Board]:
    """Play random moves on a board; yields it before each move, and at the end."""
    for _ in core_helpers.random_game(board, generator):
        yield board
    yield board


@pytest.mark.parametrize("start", STARTS)
def test_random_games(engine: Engine, start: str) -> None:
    generator = random.Random(start)
    for _ in range(GAMES):
        for board in positions_of(chess.Board(start), generator):
            engine.set_position(board.fen())
            assert_agrees(engine, board, chess960=False)


@pytest.mark.parametrize("seed", range(4))
def test_random_chess960_games(chess960_engine: Engine, seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(GAMES):
        start = chess.Board.from_chess960_pos(generator.randrange(960))
        for number, board in enumerate(positions_of(start, generator)):
            chess960_engine.set_position(board.shredder_fen() if number % 2 else board.fen())
            assert_agrees(chess960_engine, board, chess960=True)


@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 4))
def test_moves_from_the_start_reach_the_same_position(engine: Engine, seed: int) -> None:
    generator = random.Random(seed)
    for start in STARTS:
        *_, board = positions_of(chess.Board(start), generator)
        engine.set_position(start, [move.uci() for move in board.move_stack])
        assert_agrees(engine, board, chess960=False)


@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 4))
def test_moves_of_chess960_games_reach_the_same_position(chess960_engine: Engine, seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(4):
        start = chess.Board.from_chess960_pos(generator.randrange(960))
        fen = start.fen()
        *_, board = positions_of(start, generator)
        moves = [board.uci(move, chess960=True) for move in board.move_stack]
        chess960_engine.set_position(fen, moves)
        assert_agrees(chess960_engine, board, chess960=True)


# What one rule allows and forbids: FEN, moves that must be there, moves that mustn't.
RULES = {
    "en passant bares the rank": ("8/8/8/K2Pp2r/8/8/8/4k3 w - e6 0 2", "d5d6", "d5e6"),
    "en passant bares a shielded rank": ("4k3/8/8/r1NpPK2/8/8/8/8 w - d6 0 2", "e5d6 e5e6", ""),
    "en passant answers no discovered check": ("4b2k/8/8/3pP3/K7/8/8/8 w - d6 0 2", "a4b3", "e5d6 e5e6"),
    "en passant captures the checking pawn": ("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", "e4d3 c5d4", "e4e3"),
    "en passant along a pin": ("6bk/8/8/3Pp3/2K5/8/8/8 w - e6 0 2", "d5e6", "d5d6"),
    "en passant across a diagonal pin": ("4k3/1b6/8/3Pp3/8/5K2/8/8 w - e6 0 2", "f3e3", "d5e6 d5d6"),
    "en passant across a file pin": ("4k3/8/4r3/3pP3/8/8/8/4K3 w - d6 0 2", "e1d1", "e5d6"),
    "en passant from both sides": ("4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 2", "c5d6 e5d6", ""),
    "en passant is over after a move": ("4k3/8/8/2PpP3/8/8/8/4K3 w - - 1 2", "c5c6", "c5d6 e5d6"),
    "double check: only the king moves": ("4r2k/8/8/8/8/5n2/3P1PP1/3QK3 w - - 0 1", "e1f1", "g2f3 d1e2"),
    "check by a knight: capture, no block": ("3qk3/8/8/8/8/3n4/8/R2QK2R w K - 0 1", "e1d2 d1d3", "e1g1 h1f1"),
    "the king can't step back along a ray": ("4k3/8/8/8/4r3/4K3/8/8 w - - 0 1", "e3e4 e3d3", "e3e2"),
    "the king can't take a guarded piece": ("4k3/8/8/8/5p2/4q3/4K3/8 w - - 0 1", "", "e2e3"),
    "no castling out of check": ("4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1", "e1d2", "e1g1 e1c1"),
    "no castling through an attack": ("4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1", "e1c1", "e1g1"),
    "no castling into check": ("4k3/8/8/8/8/6r1/8/R3K2R w KQ - 0 1", "e1c1", "e1g1"),
    "b1 and the rooks may be attacked": ("4k3/8/8/8/4b3/r6r/8/R3K2R w KQ - 0 1", "e1c1 e1g1", ""),
    "no castling over a piece": ("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", "a1a2", "e1c1 e1g1"),
    "no castling without the right": ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "e1d1 e1f1", "e1c1 e1g1"),
    "black castles": ("r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "e8c8 e8g8", "e8b8"),
    "rook pinned on a diagonal": ("4k3/8/8/8/1b6/8/3R4/4K3 w - - 0 1", "e1d1", "d2d1 d2a2"),
    "bishop pinned on a diagonal": ("4k3/8/8/8/1b6/8/3B4/4K3 w - - 0 1", "d2c3 d2b4", "d2e3"),
    "rook pinned on a file": ("4k3/4r3/8/8/8/4R3/8/4K3 w - - 0 1", "e3e7 e3e2", "e3a3"),
    "pinned knight": ("4k3/4r3/8/8/8/4N3/8/4K3 w - - 0 1", "e1d1", "e3c4"),
    "pawn pinned on its file": ("4k3/8/4r3/8/8/3b4/4P3/4K3 w - - 0 1", "e2e4 e1d1", "e2d3"),
    "promotion by step and capture": ("1r1r3k/2P5/8/8/8/8/8/K7 w - - 0 1", "c7b8n c7d8q c7c8r c7c8b", "c7c8"),
    "promotion blocked": ("2n4k/2P5/8/8/8/8/8/K7 w - - 0 1", "a1b2", "c7c8q c7b8q"),
    "promotion blocks or captures a check": ("r1K4k/1P6/8/8/8/8/8/8 w - - 0 1", "b7a8q b7a8n b7b8r", ""),
    "promotion answers no other check": ("3K3r/1P6/8/8/8/8/8/7k w - - 0 1", "d8c7", "b7b8q b7b8n"),
    "black promotes": ("k7/8/8/8/8/8/3p4/2R1R2K b - - 0 1", "d2c1q d2c1n d2e1q d2d1b", "d2d1"),
    "mate": ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "", "g8f8 h7h6"),
    "stalemate": ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "", "h8g8 h8h7"),
}

# Castling in Chess960 is written as king takes rook.
CHESS960_RULES = {
    "the rook shields the king": ("4k3/8/8/8/8/8/8/qRK5 w B - 0 1", "c1c2", "c1b1"),
    "nothing to shield": ("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", "c1b1 b1a1", ""),
    "king and rook change places": ("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1", ""),
    "the king goes towards the centre": ("4k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1 b1c1", ""),
    "a long way": ("4k3/8/8/8/8/8/8/1K5R w H - 0 1", "b1h1", ""),
    "an attack on a long way": ("3rk3/8/8/8/8/8/8/1K5R w H - 0 1", "b1c1", "b1h1"),
    "the inner rook has the right": ("4k3/8/8/8/8/8/8/4KR1R w F - 0 1", "e1f1", "e1h1"),
    "the outer rook has the right": ("4k3/8/8/8/8/8/8/4KR1R w K - 0 1", "h1h2", "e1h1 e1f1"),
    "a piece on the rook's way": ("4k3/8/8/8/8/8/8/RNK5 w A - 0 1", "b1a3", "c1a1"),
    "castling and the same king's step": ("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "f1g1 f1h1", ""),
    "black, files as letters": ("1r2k2r/8/8/8/8/8/8/4K3 b bh - 0 1", "e8b8 e8h8", "e8g8 e8c8"),
}


def assert_rule(engine: Engine, board: chess.Board, allowed: str, forbidden: str, chess960: bool) -> None:
    """Look for the allowed and the forbidden moves by name, then compare all with python-chess."""
    assert board.is_valid()
    moves = set(engine.legal_moves())
    assert set(allowed.split()) <= moves
    assert not set(forbidden.split()) & moves
    assert_agrees(engine, board, chess960)


@pytest.mark.parametrize(("fen", "allowed", "forbidden"), RULES.values(), ids=RULES.keys())
def test_rule(engine: Engine, fen: str, allowed: str, forbidden: str) -> None:
    engine.set_position(fen)
    assert_rule(engine, chess.Board(fen), allowed, forbidden, chess960=False)


@pytest.mark.parametrize(("fen", "allowed", "forbidden"), CHESS960_RULES.values(), ids=CHESS960_RULES.keys())
def test_chess960_rule(chess960_engine: Engine, fen: str, allowed: str, forbidden: str) -> None:
    chess960_engine.set_position(fen)
    assert_rule(chess960_engine, chess.Board(fen, chess960=True), allowed, forbidden, chess960=True)


def test_promotions_are_four_a_target(engine: Engine) -> None:
    engine.set_position("1r1r3k/2P5/8/8/8/8/8/K7 w - - 0 1")
    assert sum(move.startswith("c7") for move in engine.legal_moves()) == 12


def test_the_most_moves_of_a_position(engine: Engine) -> None:
    # Nenad Petrovic, 1964: 218 moves, the most that a position can have.
    engine.set_position("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(engine.legal_moves()) == 218
