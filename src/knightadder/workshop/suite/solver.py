"""Solves problems with a UCI engine, as a task for the workers of a pool."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import chess.engine

from knightadder.engine.errors import EngineError
from knightadder.foreign import MOST, parse_json
from knightadder.library.scores import MOST_DEPTH, limited
from knightadder.uci.uci_engine import UciEngine
from knightadder.workshop.problems import Problem

_SCORE = re.compile(r"(#)?([+-]?\d{1,9})")  # a score as python-chess writes it


@dataclass(frozen=True, slots=True)
class SearchMoment:
    """A moment of a search: depth in plies, and seconds and nodes since the search began."""

    depth: int = 0
    seconds: float = 0.0
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An engine's answer to a problem."""

    name: str
    fen: str
    wanted: str  # the solution, in algebraic notation
    played: str  # the engine's move, in algebraic notation
    score: str  # for the side to move: in centipawns, or #n for a mate
    end: SearchMoment  # end of the search
    solved: bool
    found: SearchMoment | None  # end of the first iteration after which the best move remained right
    points: int  # points of the engine's move; 0 in suites without points
    maximum: int  # points of the best move


@dataclass(frozen=True, slots=True)
class _Told:
    """The engine's name and its search, as a `Solver` returns them in JSON."""

    engine: str
    played: str | None
    score: str
    end: SearchMoment
    found: SearchMoment | None


class Solver:
    """The task that solves a problem by a UCI engine, by default this program, which each worker starts once."""

    def __init__(
        self, command: str | None, options: dict[str, str], limit: chess.engine.Limit, problems: Sequence[Problem]
    ) -> None:
        self._engine, self._limit, self._problems = UciEngine(command, options), limit, problems

    def __call__(self, index: int) -> bytes:
        """Return the engine's answer to the problem with this index, for `read_answer`."""
        return json.dumps(asdict(self._solve(self._problems[index]))).encode()

    def close(self) -> None:
        """Terminate the engine, even in the middle of a search; may be called from any thread."""
        self._engine.close()

    def _solve(self, problem: Problem) -> _Told:
        """Search the problem as a new game; return the engine's name, its move, and the moments of its search."""
        board = problem.board
        found: SearchMoment | None = None
        end, score, mate = SearchMoment(), "-", None

        def note(info: chess.engine.InfoDict) -> None:
            nonlocal found, end, score, mate
            line = info.get("pv")
            if not line or info.get("multipv", 1) > 1:
                return
            depth, nodes = min(info.get("depth", 0), MOST_DEPTH), min(info.get("nodes", 0), MOST)
            end = SearchMoment(depth, info.get("time", 0.0), nodes)
            if "score" in info:
                own = limited(info["score"]).pov(board.turn)
                mate, score = own.mate(), str(own)
            found = (found or end) if problem.solved_by(line[0], mate) else None

        place = f"{problem.name}, {board.fen()}"
        played = self._engine.search(board, self._limit, note, place=place, game=object())
        return _Told(self._engine.name or "", played.uci() if played else None, score, end, found)


def read_answer(data: bytes, problem: Problem) -> tuple[str, Answer]:
    """Return the engine's name and its answer to a problem from the data of a `Solver`."""
    try:
        told: _Told = parse_json(data, _Told)
        mate = _mate(told.score)
        played = None if told.played is None else _move(told.played, problem)
    except ValueError:
        raise EngineError(f"a worker returned a damaged answer to {problem.name}") from None
    solved = problem.solved_by(played, mate)
    return told.engine, Answer(
        name=problem.name,
        fen=problem.board.fen(),
        wanted=problem.wanted,
        played=problem.board.san(played) if played else "(none)",
        score=told.score,
        end=told.end,
        solved=solved,
        found=(told.found or told.end) if solved else None,
        points=problem.points.get(played, 0) if played else 0,
        maximum=problem.maximum,
    )


def _move(name: str, problem: Problem) -> chess.Move:
    move = problem.board.parse_uci(name)
    if not move:  # a null move
        raise ValueError
    return move


def _mate(score: str) -> int | None:
    """Return the moves to mate from the text of a score; None if it is not a mate, ValueError if it is not a score."""
    if score == "-":
        return None
    match = _SCORE.fullmatch(score)
    if match is None:
        raise ValueError
    return int(match[2]) if match[1] else None
