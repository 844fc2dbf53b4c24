"""Games and positions from text."""

from __future__ import annotations

import io

import chess
import chess.pgn


def read_game(text: str, broken: bool = False) -> chess.pgn.Game:
    """Read a game; only one that is `broken` has errors."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and bool(game.errors) == broken
    return game


def after(line: str, board: chess.Board | None = None) -> chess.Board:
    """Play moves such as ``e4 e5`` on a board, and give it."""
    board = board or chess.Board()
    for san in line.split():
        board.push_san(san)
    return board
