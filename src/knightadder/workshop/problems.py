"""Problems in Extended Position Description (EPD): positions with their solutions.

An EPD line is the first four fields of a FEN, followed by operations such as ``bm Qg6; id "WAC.001";``. See
https://www.chessprogramming.org/Extended_Position_Description. Supported operations:

- ``bm`` and ``am``: best moves, and moves to avoid;
- ``dm 3`` or ``ce +M3``: a forced mate in three moves;
- points for moves, as in the Strategic Test Suite (STS): ``c9`` with the moves and ``c8`` with their points, or
  ``c0 "f5=10, Bf2=4"``;
- ``hmvc`` and ``fmvn``: the halfmove clock and the move number, unless they follow the position as in a FEN;
- ``id``: the name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import chess

from knightadder.core.board.fen import FenError, parse_fen
from knightadder.foreign import parse_whole, whole_or_none
from knightadder.pgn.epd import operations_of, split_epd
from knightadder.pgn.game_files import text_lines
from knightadder.rules import leave_out_impossible

# Composed problems may break every other rule of legal positions.
_UNPLAYABLE = (
    chess.STATUS_EMPTY
    | chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_OPPOSITE_CHECK
)
_MATE = re.compile(r"\+?[M#]?(\d+)")
_POINTS = re.compile(r"([^\s,]+)=(\d+)")
_POINTS_LIST = re.compile(rf"{_POINTS.pattern}(?:[\s,]+{_POINTS.pattern})*[\s,]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """A position and its solution: the moves of ``bm`` and ``am``, the moves to a forced mate, and points of moves."""

    name: str  # the operation id, or else the line number
    board: chess.Board
    best: frozenset[chess.Move] = frozenset()
    avoid: frozenset[chess.Move] = frozenset()
    mate: int | None = None
    points: Mapping[chess.Move, int] = field(default_factory=dict)  # 0 for all other moves
    notes: tuple[str, ...] = ()  # a line for each impossible castling right or en passant square that was left out

    @property
    def maximum(self) -> int:
        """Points of the best move."""
        return max(self.points.values(), default=0)

    @property
    def wanted(self) -> str:
        """The solution as text."""
        moves = sorted(self.board.san(move) for move in self.best)
        moves += sorted(f"not {self.board.san(move)}" for move in self.avoid)
        return " ".join(moves) or f"#{self.mate}"

    def solved_by(self, move: chess.Move | None, mate: int | None = None) -> bool:
        """Return whether a move, and the mate announced with it (negative if the opponent mates), solves the problem.

        The move must be one of any best moves, and not one of the moves to avoid. Any move counts if the announced mate
        is no longer than the known mate, since there may be several ways to mate.
        """
        if self.mate is not None and mate is not None and 0 < mate <= self.mate:
            return True
        if move is None or not (self.best or self.avoid):
            return False
        return (not self.best or move in self.best) and move not in self.avoid


def read_problems(
    file: Path, chess960: bool = False, own_engine: bool = False, name: str | None = None
) -> tuple[list[Problem], list[str]]:
    """Return the problems of an EPD file, and complaints; empty lines and lines that begin with ``#`` are ignored.

    A complaint is a message about an invalid line, or about a castling right or en passant square that was left out.
    `own_engine` says whether this engine will solve the problems: it refuses more positions than most engines. `name`
    is the file's name for the user. OptionError if the file cannot be read.
    """
    problems, complaints = [], []
    for number, line in enumerate(text_lines(file), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            problems.append(parse_problem(line, f"line {number}", chess960, own_engine))
            complaints += [f"{name or file}, line {number}: {note}" for note in problems[-1].notes]
        except ValueError as error:
            complaints.append(f"{name or file}, line {number}: {error}")
    return problems, complaints


def parse_problem(line: str, name: str, chess960: bool = False, own_engine: bool = False) -> Problem:
    """Return the problem in a line of EPD; ValueError, which names the fault, if it is not EPD or has no solution.
    `name` is used for a problem without ``id``. For the other arguments, see `read_problems`.
    """
    fen, rest = split_epd(line)
    board = chess.Board(fen, chess960=chess960)
    notes = leave_out_impossible(board)
    if board.status() & _UNPLAYABLE:
        raise ValueError("the position is not playable")
    try:
        notes = parse_fen(fen).notes  # because python-chess silently drops some impossible rights
    except FenError:  # a ValueError
        if own_engine:
            raise
    operations = operations_of(rest)
    best, avoid = (_moves(board, operations.get(code, "")) for code in ("bm", "am"))
    points = _points(board, operations)
    if points and not best:
        best = frozenset(move for move, value in points.items() if value == max(points.values()))
    mate = _mate(operations)
    if not (best or avoid or mate):
        raise ValueError("no solution: none of bm, am, dm and points")
    return Problem(operations.get("id") or name, board, best, avoid, mate, points, notes)


def _moves(board: chess.Board, text: str) -> frozenset[chess.Move]:
    words = [word.rstrip("!?") for word in re.split(r"[\s,]+", text) if word]
    if words[:1] in (["bm"], ["am"]):  # a widely used suite repeats the word by mistake
        del words[0]
    return frozenset(board.parse_san(word) for word in words)


def _mate(operations: Mapping[str, str]) -> int | None:
    """Return the distance to mate; None if there is none, or if ``ce`` is in centipawns."""
    for code, needed in (("dm", ""), ("ce", "M")):
        match = _MATE.fullmatch(operations.get(code, ""))
        if match and needed in match[0]:
            return whole_or_none(match[1]) or None
    return None


def _points(board: chess.Board, operations: Mapping[str, str]) -> dict[chess.Move, int]:
    if "c8" in operations and "c9" in operations:
        moves, values = operations["c9"].split(), operations["c8"].split()
        try:
            return {board.parse_uci(move): parse_whole(value) for move, value in zip(moves, values, strict=True)}
        except ValueError as error:
            raise ValueError(f"c8 and c9 do not assign points to moves: {error}") from None
    text = operations.get("c0", "")
    if not _POINTS_LIST.fullmatch(text):  # c0 contains a comment instead of points
        return {}
    return {board.parse_san(move): parse_whole(value) for move, value in _POINTS.findall(text)}
