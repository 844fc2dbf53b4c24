"""Reads games in Portable Game Notation without writing what is wrong with them to the log."""

import chess.pgn


class SilentBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game for `chess.pgn.read_game`, and keeps errors with it, in ``errors``, for the caller to tell."""

    def __init__(self) -> None:
        super().__init__(Game=chess.pgn.Game)

    def handle_error(self, error: Exception) -> None:
        """Keep an error."""
        self.game.errors.append(error)
