"""Annotates a game, for the Python library; the subcommand `annotate` does the same for files of games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import chess
import chess.engine
import chess.pgn
from chess.engine import PovScore

from knightadder.engine.errors import PositionError
from knightadder.engine.options import MAX_LINES
from knightadder.library.board_engine import Engine
from knightadder.library.boards import board_of, limits_without_clock, whole
from knightadder.library.frames import Cell, Tabular
from knightadder.opening_names import Opening
from knightadder.pgn.games import GameBuilder, PgnGame, text_of
from knightadder.review import notes
from knightadder.review.game_evaluation import evaluate
from knightadder.review.move_table import AnnotatedMove, moves_table
from knightadder.review.review import review
from knightadder.review.summary import Side, row


@dataclass(frozen=True, slots=True, repr=False)
class AnnotatedGame(Tabular):
    """A game with the engine's evaluations and the quality of each side's play. Its text is PGN.

    Attributes
    ----------
    game : chess.pgn.Game
        The game with evaluations (``[%eval ...]``) and explanations in comments, marks, and better lines
        as variations.
    scores : tuple of chess.engine.PovScore or None
        The scores of the first position and of the positions after each move; ``None`` for an impossible position.
    white, black : Side or None
        Accuracy, average centipawn loss, and numbers of marks.
    opening : Opening or None
        The opening; ``None`` if it is not known.
    moves : tuple of AnnotatedMove
        The moves, which are the rows of `to_frame`.
    """

    game: chess.pgn.Game
    scores: tuple[PovScore | None, ...]
    white: Side
    black: Side
    opening: Opening | None
    moves: tuple[AnnotatedMove, ...]

    def to_dict(self) -> dict[str, Cell]:
        """Return a summary of the game as plain values: players, result, opening, and each side's quality of play."""
        headers: Mapping[str, str] = self.game.headers
        sides = {"white": self.white, "black": self.black}
        return {
            **{name.lower(): headers.get(name, "?") for name in ("White", "Black", "Result")},
            "eco": self.opening.eco if self.opening else None,
            "opening": self.opening.name if self.opening else None,
            "plies": len(self.scores) - 1,
            **{f"{colour}_{name}": value for colour, side in sides.items() for name, value in asdict(side).items()},
        }

    def _rows(self) -> list[dict[str, Cell]]:
        return [move.to_dict() for move in self.moves]

    def __str__(self) -> str:
        return text_of(self.game)

    def __repr__(self) -> str:
        headers = self.game.headers
        players = " - ".join(headers.get(name, "?") for name in ("White", "Black"))
        return f"<AnnotatedGame: {players}, {headers.get('Result', '*')}, {len(self.scores) - 1} plies>"


def annotate_game(
    game: chess.pgn.Game,
    limit: chess.engine.Limit,
    *,
    multipv: int = 1,
    engine: Engine | None = None,
    explain: bool = True,
) -> AnnotatedGame:
    """Annotate a game with evaluations, marks, better lines, accuracy, and the name of the opening.

    Parameters
    ----------
    game : chess.pgn.Game
        The game, which is not changed. Its comments, marks and variations are kept; evaluations are replaced.
    limit : chess.engine.Limit
        The limit for each position: a depth, a number of nodes, or a time.
    multipv : int
        Number of best lines to show beside each marked move.
    engine : Engine, optional
        The engine to use, which is cleared first. The default is a new one with a hash table of 16 MiB.
    explain : bool
        Whether to explain in the comment of each marked move what is wrong with the move, see `knightadder.explain`.

    Raises
    ------
    PositionError
        If the game has an illegal move, or is not chess.
    EngineError
        If the engine is searching.
    ValueError, TypeError
        If the limit or the number of lines (1 to 256) is invalid, or the game or the engine has a wrong type.
    """
    if not isinstance(game, chess.pgn.Game):
        raise TypeError(f"game must be a chess.pgn.Game, not {game!r:.60}")
    if game.errors:
        raise PositionError(f"the game is broken: {game.errors[0]!s:.200}")
    board = _end_of(game)
    limits_without_clock(limit)
    whole("multipv", multipv, 1, MAX_LINES)
    if not isinstance(engine, Engine | None):
        raise TypeError(f"engine must be a knightadder.Engine, not {engine!r:.60}")
    if engine is None:
        with Engine() as own:
            return annotate_game(game, limit, multipv=multipv, engine=own, explain=explain)
    found = review(board, evaluate(board, engine, limit, multipv))
    copy = game.accept(GameBuilder())
    copy.marker = game.marker if isinstance(game, PgnGame) else None
    notes.annotate(copy, found, explain=explain)
    summary = row(1, 1, copy.headers, found)
    assert summary.white_side is not None and summary.black_side is not None  # set for every game with a review
    scores = tuple(each.score if each else None for each in found.evaluations)
    return AnnotatedGame(copy, scores, summary.white_side, summary.black_side, found.opening, moves_table(game, found))


def _end_of(game: chess.pgn.Game) -> chess.Board:
    """Return the board at the end of the game; PositionError if a move is illegal. A null move is allowed."""
    board = board_of(game.board(), "game")
    for move in game.mainline_moves():
        if move and not board.is_legal(move):
            raise PositionError(f"the game is broken: illegal move {move.uci()} in {board.fen()}")
        board.push(move)
    return board
