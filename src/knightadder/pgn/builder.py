"""Reads games in Portable Game Notation without logging their errors."""

import chess.pgn


class SilentBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game for `chess.pgn.read_game`, and keeps its errors in ``game.errors`` for the caller."""

    def __init__(self) -> None:
        super().__init__(Game=chess.pgn.Game)

    def handle_error(self, error: Exception) -> None:
        """Add an error to ``game.errors``."""
        self.game.errors.append(error)
