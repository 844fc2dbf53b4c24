"""The page for solving puzzles: its routes, and puzzles as JSON with the data for judging moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import chess
from starlette.requests import Request
from starlette.routing import Route

from knightadder.engine.errors import OptionError
from knightadder.foreign import whole_or_none
from knightadder.puzzles.puzzle import Puzzle
from knightadder.puzzles.source import read_source, source_of
from knightadder.puzzles.theme_words import words_of
from knightadder.text import tell
from knightadder.web.site.asked import answering, is_elsewhere, mark_of, time_since
from knightadder.web.views import View, board_view, lines_pgn, moves_view

if TYPE_CHECKING:
    from knightadder.puzzles.collection import PuzzleChoice, PuzzleCollection
    from knightadder.puzzles.user_progress import PuzzleProgress, Standing

# Ranges of puzzle ratings: the distance of the middle from the user's rating, and the half-widths to try in turn.
_LEVELS = {"mine": 0, "easier": -300, "harder": 300}
_WIDTHS = (100, 200, 400, 800)
_MOST_BROKEN = 100  # maximum number of broken puzzles to skip in the search for the next puzzle


class _MissingPuzzle(OptionError):
    """There is no such puzzle, or it is broken."""


class Training:
    """The puzzles of a file, and the user's progress; without `progress`, answers are not kept.
    Games that puzzles come from are also looked for in the folder of the file.
    """

    def __init__(self, puzzles: PuzzleCollection, progress: PuzzleProgress | None, file: Path) -> None:
        self._puzzles = puzzles
        self._progress = progress
        self._folder = file.parent
        self._mark = mark_of(file, *([progress.file] if progress else []))

    def routes(self) -> list[Route]:
        """Return the routes.

        ``/puzzles`` describes the puzzles and the user's progress. ``/puzzles/N`` gives puzzle N, from 1, and
        ``/puzzles/next`` the next one to solve. ``/puzzles/N/game`` gives the game that puzzle N comes from, as PGN,
        with the ply of the position. ``POST /puzzles/N?id=...&solved=yes&files=...`` records the first answer to puzzle
        N, if it has this ``id``, and does not belong to different files (``elsewhere``). Each may answer with a
        ``problem``, a message for the user, instead.
        """
        return [
            Route("/puzzles", answering(self._overview)),
            Route("/puzzles/next", answering(self._next)),
            Route("/puzzles/{number:int}", answering(self._numbered)),
            Route("/puzzles/{number:int}", answering(self._answer), methods=["POST"]),
            Route("/puzzles/{number:int}/game", answering(self._game)),
        ]

    def _overview(self, _: Request) -> View:
        progress = self._progress
        return {
            "count": len(self._puzzles),
            "themes": [_theme_view(name) | {"count": count} for name, count in self._puzzles.themes.items()],
            "ratings": self._puzzles.ratings,
            "standing": None if progress is None else _standing_view(progress.standing()),
            "progress": [] if progress is None else _progress_view(progress),
        }

    def _puzzle(self, request: Request) -> tuple[int, Puzzle]:
        """Return the puzzle that an address names, and its number. OptionError if there is none, or it is broken."""
        number, name = request.path_params["number"], request.query_params.get("id")
        try:
            puzzle = self._puzzles.puzzle(number) if 1 <= number <= len(self._puzzles) else None
        except ValueError as error:
            raise _MissingPuzzle(str(error)) from None
        if puzzle is None or name not in (None, puzzle.id):
            raise _MissingPuzzle("There is no such puzzle")
        return number, puzzle

    def _numbered(self, request: Request) -> View:
        return self._view(*self._puzzle(request), self._answered())

    def _game(self, request: Request) -> View:
        _, puzzle = self._puzzle(request)
        source = source_of(puzzle.game)
        if source is None:
            raise OptionError("The file of the game was not found")
        file, number, ply = source
        return {"pgn": read_source(file, number, self._folder), "ply": ply}

    def _next(self, request: Request) -> View:
        """Return the next of the chosen puzzles that is unanswered, or just the next one if all are answered."""
        asked = request.query_params
        after = whole_or_none(asked.get("after", "")) or 0
        answered = self._answered()
        again: View | None = None
        broken = 0
        for choice in self._choices(asked):
            for number in self._puzzles.numbers(choice, after):
                try:
                    puzzle = self._puzzles.puzzle(number)
                except ValueError as error:
                    tell(str(error))
                    broken += 1
                    if broken == _MOST_BROKEN:
                        return {"problem": f"{broken} puzzles are broken: the terminal says why"}
                    continue
                if puzzle.id not in answered:
                    return self._view(number, puzzle, answered)
                again = again or self._view(number, puzzle, answered)
        return again or {"problem": "There is no such puzzle in the file"}

    def _answered(self) -> set[str]:
        return set() if self._progress is None else self._progress.answered()

    def _choices(self, asked: Mapping[str, str]) -> Iterable[PuzzleChoice]:
        """Return the filters to try in turn, each wider than the one before it."""
        from knightadder.puzzles.collection import PuzzleChoice

        theme, level = asked.get("theme", ""), asked.get("level", "")
        if level in _LEVELS and self._progress is not None:
            middle = round(self._progress.standing().rating) + _LEVELS[level]
            return [PuzzleChoice(theme, max(middle - width, 1), max(middle + width, 1)) for width in _WIDTHS]
        low, _, high = level.partition("-")
        return [PuzzleChoice(theme, whole_or_none(low), whole_or_none(high))]

    def _answer(self, request: Request) -> View:
        progress = self._progress
        if is_elsewhere(request, self._mark):
            return {"elsewhere": True}
        if progress is None:
            return {"standing": None}
        before = progress.standing()
        try:
            _, puzzle = self._puzzle(request)
        except _MissingPuzzle:  # the file has been changed
            return {"standing": _standing_view(before), "change": None, "progress": _progress_view(progress)}
        solved = request.query_params.get("solved") == "yes"
        ago = time_since(request)
        after = progress.answer(puzzle.id, solved, puzzle.themes, puzzle.rating, puzzle.deviation, ago)
        counts = after.tried > before.tried and puzzle.rating is not None
        change = round(after.rating) - round(before.rating) if counts else None
        return {"standing": _standing_view(after), "change": change, "progress": _progress_view(progress)}

    def _view(self, number: int, puzzle: Puzzle, answered: set[str]) -> View:
        known = puzzle.id in answered
        about = {"number": number, "count": len(self._puzzles), "answered": known, "files": self._mark}
        return {**about, **puzzle_view(puzzle)}


def _theme_view(name: str) -> View:
    words, meaning = words_of(name)
    return {"name": name, "words": words, "meaning": meaning}


def _standing_view(standing: Standing) -> View:
    return {
        "rating": round(standing.rating),
        "deviation": round(standing.deviation),
        "tried": standing.tried,
        "solved": standing.solved,
        "streak": standing.streak,
        "best": standing.best_streak,
    }


def _progress_view(progress: PuzzleProgress) -> list[View]:
    return [_theme_view(each.theme) | {"tried": each.tried, "solved": each.solved} for each in progress.themes()]


def puzzle_view(puzzle: Puzzle) -> View:
    """Describe a puzzle: each position in which the solver moves, the right move, and the position after it.
    Other moves that mate immediately are also right. ``pgn`` is the solution as a game, for the board.
    """
    solution = puzzle.solution
    first = solution.board()
    steps = []
    for board, move in solution.steps():
        step = {"position": {**_shown(board), **moves_view(board)}, "move": board.uci(move), "mates": _mates(board)}
        board.push(move)
        steps.append({**step, "after": _shown(board)})
    return {
        "id": puzzle.id,
        "rating": puzzle.rating,
        "themes": [_theme_view(name) for name in puzzle.themes],
        "game": puzzle.game,
        "in_file": source_of(puzzle.game) is not None,
        "side": "white" if first.turn else "black",
        "solution": first.variation_san(solution.moves),
        "pgn": lines_pgn(f"Puzzle {puzzle.id}", first, [solution.moves]),
        "steps": steps,
    }


def _mates(board: chess.Board) -> dict[str, View]:
    """Return the moves that mate immediately, each with the position after it."""
    mates = {}
    for move in list(board.legal_moves):
        after = board.copy()
        after.push(move)
        if after.is_checkmate():
            mates[board.uci(move)] = _shown(after)
    return mates


def _shown(board: chess.Board) -> View:
    return {**board_view(board), "fen": board.fen()}
