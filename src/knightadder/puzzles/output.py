"""Writes puzzles: as PGN, EPD, or CSV with the columns of Lichess's database of puzzles."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any, TextIO

import chess.pgn

from knightadder.pgn.games import text_of as game_text
from knightadder.puzzles.puzzle import Puzzle

# Columns of https://database.lichess.org/#puzzles; the columns about solvers stay empty.
COLUMNS = (
    *("PuzzleId", "FEN", "Moves", "Rating", "RatingDeviation", "Popularity", "NbPlays", "Themes", "GameUrl"),
    "OpeningTags",
)


def _write_pgn(puzzles: Iterable[Puzzle], stream: TextIO) -> None:
    """Write puzzles as games that start from the puzzle's position and have the solution as their moves."""
    for puzzle in puzzles:
        game = chess.pgn.Game()
        board = puzzle.solution.board()
        headers = game.headers
        headers["Event"] = f"Puzzle {puzzle.id}"
        headers["Site"] = puzzle.game or "?"
        game.setup(board)
        headers["SetUp"], headers["FEN"] = "1", board.fen()  # even for the standard start position
        headers["PuzzleId"] = puzzle.id
        if puzzle.rating is not None:
            headers["Rating"] = str(puzzle.rating)
        headers["Themes"] = " ".join(puzzle.themes)
        if puzzle.openings:
            headers["OpeningTags"] = " ".join(puzzle.openings)
        game.add_line(puzzle.solution.moves)
        stream.write(f"{game_text(game, columns=None)}\n\n")


def _write_epd(puzzles: Iterable[Puzzle], stream: TextIO) -> None:
    """Write puzzles as lines of EPD: the first move (bm), the solution (pv), id, themes (c0) and rating (c1)."""
    for puzzle in puzzles:
        board = puzzle.solution.board()
        operations: dict[str, Any] = {
            "bm": [puzzle.solution.moves[0]],
            "id": puzzle.id,
            "c0": " ".join(puzzle.themes),
        }
        if puzzle.rating is not None:
            operations["c1"] = f"Elo {puzzle.rating}"
        operations["pv"] = list(puzzle.solution.moves)
        stream.write(f"{board.epd(**operations)}\n")


def write_csv(puzzles: Iterable[Puzzle], stream: TextIO) -> None:
    """Write puzzles in Lichess's form, which begins with the opponent's last move; ValueError if it is unknown."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for puzzle in puzzles:
        solution = puzzle.solution
        if solution.previous is None:
            raise ValueError(f"puzzle {puzzle.id}: the move before it is not known")
        moves = " ".join(move.uci() for move in (solution.previous, *solution.moves))
        rating = "" if puzzle.rating is None else puzzle.rating
        themes, openings = " ".join(puzzle.themes), " ".join(puzzle.openings)
        writer.writerow((puzzle.id, solution.previous_fen, moves, rating, "", "", "", themes, puzzle.game, openings))


WRITERS: dict[str, Callable[[Iterable[Puzzle], TextIO], None]] = {
    ".pgn": _write_pgn,
    ".epd": _write_epd,
    ".csv": write_csv,
}


def text_of(puzzles: Iterable[Puzzle], suffix: str) -> str:
    """Return puzzles as the text of a file with this suffix."""
    stream = io.StringIO()
    WRITERS[suffix](puzzles, stream)
    return stream.getvalue()
