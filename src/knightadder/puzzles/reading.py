"""Reads puzzles: files of ``knightadder puzzles``, Lichess's database of puzzles, and other PGN or EPD files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import chess

from knightadder.engine.errors import OptionError
from knightadder.foreign import whole_or_none
from knightadder.frozen import typed_command
from knightadder.pgn.epd import split_epd
from knightadder.pgn.game_files import lines_of, text_lines, without_compression
from knightadder.pgn.games import BrokenGame, read_games
from knightadder.puzzles.puzzle import Puzzle, Solution
from knightadder.rules import read_fen
from knightadder.text import counted


def read_puzzles(file: Path) -> tuple[list[Puzzle], list[str]]:
    """Return the puzzles of a file in order, and a line for the user, with its place, for each entry that is not a
    puzzle.

    A ``.csv`` file has Lichess's columns, in which the first move is the opponent's. An ``.epd`` file has the solution
    in ``pv``, or its first move in ``bm``. Every other file is PGN, with the solution as the moves of a game from a
    set-up position; whole games are left out.
    OptionError if the file cannot be read.
    """
    readers: dict[str, Callable[[Path], Iterable[tuple[int, Puzzle | str]]]] = {".csv": _read_csv, ".epd": _read_epd}
    entries = list(readers.get(without_compression(file).suffix.lower(), _read_pgn)(file))
    puzzles = [entry for _, entry in entries if isinstance(entry, Puzzle)]
    complaints = [f"{file}, line {line}: {entry}" for line, entry in entries if isinstance(entry, str)]
    return puzzles, complaints


def _read_csv(file: Path) -> Iterator[tuple[int, Puzzle | str]]:
    with lines_of(file) as lines:
        rows = csv.DictReader(lines)
        try:
            for row in rows:
                try:
                    yield rows.line_num, puzzle_of_row(row)
                except ValueError as error:
                    yield rows.line_num, str(error)
        except csv.Error as error:
            raise OptionError(f"cannot read {file}: {error}") from None


def puzzle_of_row(row: Mapping[str, str | None]) -> Puzzle:
    """Return the puzzle in a row with Lichess's columns; ValueError, with a text for the user, if it is broken."""
    board, _ = read_fen(_value(row, "FEN"))
    moves = [chess.Move.from_uci(name) for name in _value(row, "Moves").split()]
    if len(moves) < 2:
        raise ValueError("expected the opponent's move and a solution")
    before = Solution.of(board, moves[:1])
    solution = Solution.of(before.boards()[-1], moves[1:], before.fen, before.moves[0])
    themes = tuple((row.get("Themes") or "").split())
    return Puzzle(
        solution,
        row.get("PuzzleId") or solution.id,
        themes,
        whole_or_none(row.get("Rating") or ""),
        row.get("GameUrl") or "",
        tuple((row.get("OpeningTags") or "").split()),
        whole_or_none(row.get("RatingDeviation") or ""),
    )


def _value(row: Mapping[str, str | None], column: str) -> str:
    """Return a value of a row, empty if the row is too short; ValueError if there is no such column."""
    if column not in row:
        raise ValueError(f"there is no column '{column}'")
    return row[column] or ""


def _read_epd(file: Path) -> Iterator[tuple[int, Puzzle | str]]:
    for number, line in enumerate(text_lines(file), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            fen, rest = split_epd(line)
            board, _ = read_fen(fen)
            reader = _Chess960Board() if board.chess960 else chess.Board()
            place = board.epd(shredder=board.chess960, en_passant="fen")
            operations = reader.set_epd(f"{place} {rest.removeprefix(';')}")
            moves = operations.get("pv") or operations.get("bm")
            if not isinstance(moves, list):
                raise ValueError("there is no solution: neither pv nor bm")
            solution = Solution.of(board, moves if "pv" in operations else moves[:1])
        except (TypeError, ValueError) as error:
            yield number, str(error)
            continue
        elo = str(operations.get("c1", "")).removeprefix("Elo ")
        themes = tuple(str(operations.get("c0", "")).split())
        name = str(operations.get("id") or solution.id)
        yield number, Puzzle(solution, name, themes, whole_or_none(elo))


class _Chess960Board(chess.Board):
    """A board that is Chess960 by default, because `set_epd` reads moves on new boards of the same class."""

    def __init__(self, fen: str | None = chess.STARTING_FEN, *, chess960: bool = True) -> None:
        super().__init__(fen, chess960=chess960)


def _read_pgn(file: Path) -> Iterator[tuple[int, Puzzle | str]]:
    first, count = 0, 0  # the line of the first whole game, and the number of whole games
    for text, game in read_games(file):
        try:
            if isinstance(game, BrokenGame):
                raise game
            if "FEN" not in game.headers:
                first, count = first or text.line, count + 1
                continue
            solution = Solution.of(game.board(), list(game.mainline_moves()))
        except (BrokenGame, ValueError) as error:
            yield text.line, str(error)
            continue
        headers = game.headers
        yield (
            text.line,
            Puzzle(
                solution,
                headers.get("PuzzleId", solution.id),
                tuple(headers.get("Themes", "").split()),
                whole_or_none(headers.get("Rating", "")),
                headers.get("Site", "?").removeprefix("?"),
                tuple(headers.get("OpeningTags", "").split()),
            ),
        )
    if count:  # a file may contain thousands of whole games, so one line is enough
        finds = typed_command(["puzzles", str(file)])
        yield first, f"{counted(count, 'whole game')} left out: `{finds}` finds puzzles"
