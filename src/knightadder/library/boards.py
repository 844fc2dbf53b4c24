"""Conversion from python-chess to the engine, with all checks of callers' values: compiled code does not check them."""

import contextlib
import io
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import TypeAlias

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray

from knightadder import rules
from knightadder.core.board import fen
from knightadder.core.layout import NO_SQUARE
from knightadder.engine.errors import PositionError, PositionWarning
from knightadder.engine.limits import Limits

Position: TypeAlias = chess.Board | str
Move: TypeAlias = chess.Move | str  # text is in algebraic or UCI notation

STARTPOS = "startpos"  # stands for the FEN of the start position

# Bounds that no search reaches, and that fit into 64 bits. Greater limits have the same effect.
_MOST_NODES = 1 << 62
_MOST_PLIES = 10_000  # maximum of a depth, of moves to mate, and of moves to the time control
_MOST_SECONDS = 4_000_000.0  # 46 days, about the longest wait in 32-bit milliseconds

# Maximum number of earlier positions to keep. Positions before them cannot be repeated: after that many plies without a
# capture or pawn move, the next such ply ends the game by the fifty-move rule.
_MOST_HISTORY = 100
MOST_COUNTED = 9_999  # maximum of a FEN's counters

# The errors of a board or move whose attributes have impossible values. Any other exception may come from the handler
# of a signal, such as a TimeoutError after an alarm: it must reach the caller.
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def board_of(position: Position, what: str = "position", warn: bool = True) -> chess.Board:
    """Return the board of a position: a board, a FEN or ``"startpos"``.

    A FEN that needs the rules of Chess960 gives a Chess960 board. Impossible castling rights and en passant squares are
    left out; with `warn`, a `PositionWarning` says so. `what` names the position in error messages. TypeError if the
    position is none of these; PositionError if the FEN is invalid, or the board's variant is not supported.
    """
    if isinstance(position, str):
        try:
            board, notes = rules.read_fen(fen_text(position), what=what)
        except fen.FenError as error:
            raise PositionError(str(error)) from None
        if warn:
            _warn(what, notes)
        return board
    if not isinstance(position, chess.Board):
        raise TypeError(f"{what} must be a chess.Board, a FEN or 'startpos', not {position!r:.60}")
    if position.uci_variant != "chess":
        raise PositionError(f"illegal {what}: {position.uci_variant} is not supported")
    if warn:
        _warn(what, _impossible_in(position))
    return position


def legal_board_of(position: Position) -> chess.Board:
    """Return the board of a position, as `board_of` does; PositionError also if a board is illegal."""
    board = board_of(position)
    board_of(fen_of(board), warn=False)
    return board


def _impossible_in(board: chess.Board) -> tuple[str, ...]:
    with contextlib.suppress(*_FAULTS):  # the attributes may have any values, which are refused later
        return rules.impossible_in(board)
    return ()


def _warn(what: str, notes: tuple[str, ...]) -> None:
    if notes:
        warn(f"{what}: {'; '.join(notes)}")


def warn(message: str) -> None:
    """Issue a `PositionWarning` that names the line outside this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == __package__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PositionWarning, stacklevel=level)


def fen_text(text: str) -> str:
    """Return the FEN that a text stands for: the text itself, unless it is ``"startpos"``."""
    return fen.START if text == STARTPOS else text


def fen_of(board: chess.Board, what: str = "position") -> str:
    """Write the FEN of a board; PositionError if its attributes have impossible values."""
    with _intact(what):
        return board.fen()


@contextlib.contextmanager
def _intact(what: str) -> Iterator[None]:
    """Convert the errors of a board to a PositionError. A board's attributes may have any values."""
    try:
        yield
    except _FAULTS as error:
        raise PositionError(f"illegal {what}: {type(error).__name__}: {error!s:.80}") from None


def position_of(board: chess.Board, what: str = "position") -> tuple[str, tuple[str, ...]]:
    """Return the FEN of a position, and the moves from it to a board, in UCI notation, that count for repetitions.
    There are no moves if they do not lead to the board. PositionError if the board cannot occur in a game.
    """
    text, root, moves = root_of(board, what)
    return root.fen() if moves else text, moves


def root_of(board: chess.Board, what: str = "position") -> tuple[str, chess.Board, tuple[str, ...]]:
    """Return the FEN of a board, the board from which `position_of` starts, and the moves from there."""
    with _intact(what):
        text = board.fen()  # raises an error if the board is invalid, even if earlier positions are valid
        history = min(board.halfmove_clock, _MOST_HISTORY)
        if not history or not board.move_stack:
            return text, board, ()
        root = board.copy(stack=history)  # copying a whole long game is slow
        moves: list[str] = []
        # By the rules, positions before a null move cannot be repeated.
        while len(moves) < history and root.move_stack and root.peek():
            moves.append(root.pop().uci())
        if moves and root.move_stack and not root.peek() and root.was_into_check():
            root.push_uci(moves.pop())  # the position after a null move in check is illegal
        names = tuple(reversed(moves))
        return (text, root, names) if _leads_to(root, names, board) else (text, board, ())


def _leads_to(root: chess.Board, moves: Iterable[str], board: chess.Board) -> bool:
    """Return whether moves lead to a board. They do not if a caller has changed an attribute, such as the side to move,
    because python-chess then keeps the earlier moves.
    """
    end = root.copy(stack=False)
    try:
        for move in moves:
            end.push(chess.Move.from_uci(move))
    except AssertionError:  # there is no piece to move
        return False
    return end == board


def bitboards_of(board: chess.Board) -> NDArray[np.uint64] | None:
    """Return a board's position in the form of `set_up_bitboards` in ``core/api/playing.py``; None if impossible."""
    try:
        if max(board.halfmove_clock, board.fullmove_number) > MOST_COUNTED or board.fullmove_number < 1:
            return None
        men = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
        sides = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
        if board.occupied != sides[0] | sides[1]:
            return None
        ep = board.ep_square if board.has_legal_en_passant() else NO_SQUARE
        turn = 0 if board.turn == chess.WHITE else 1
        return np.array([*men, *sides, board.clean_castling_rights(), ep, turn, board.halfmove_clock], np.uint64)
    except _FAULTS:  # a caller may have set the board's attributes to any values
        return None


def limits_of(board: chess.Board, limit: chess.engine.Limit | None, root_moves: Iterable[Move] | None = None) -> Limits:
    """Return the engine's limits for a limit (None: no end) and root moves (None: all legal moves).

    PositionError if there is no root move or one is illegal; ValueError or TypeError, which names the value, if a value
    is impossible; ValueError if the limit sets nothing.
    """
    if limit is None:
        return Limits(infinite=True, searchmoves=_names(board, root_moves))
    check_limit(limit)
    limits = Limits(
        wtime=_milliseconds("white_clock", limit.white_clock),
        btime=_milliseconds("black_clock", limit.black_clock),
        winc=_milliseconds("white_inc", limit.white_inc) or 0,
        binc=_milliseconds("black_inc", limit.black_inc) or 0,
        movestogo=_count("remaining_moves", limit.remaining_moves, _MOST_PLIES),
        depth=_count("depth", limit.depth, _MOST_PLIES),
        nodes=_count("nodes", limit.nodes, _MOST_NODES),
        mate=_count("mate", limit.mate, _MOST_PLIES),
        movetime=_movetime(limit.time),
        searchmoves=_names(board, root_moves),
    )
    if limits.unlimited:
        raise ValueError("a limit must set a time, a clock, a depth, nodes or a mate")
    clock = limits.wtime if board.turn else limits.btime
    if clock is None and not (limits.depth or limits.nodes or limits.mate or limits.movetime):
        raise ValueError(f"the limit has no {'white' if board.turn else 'black'}_clock, the clock of the side to move")
    return limits


def check_limit(limit: chess.engine.Limit) -> None:
    """Raise a TypeError if the argument is not a limit. Only `Engine.stream` works without a limit."""
    if not isinstance(limit, chess.engine.Limit):
        raise TypeError(f"limit must be a chess.engine.Limit, not {limit!r:.60}")


def limits_without_clock(limit: chess.engine.Limit) -> Limits:
    """Convert a limit for the analysis of many positions; ValueError if it has the clocks of a game."""
    check_limit(limit)
    limits = limits_of(chess.Board(), limit)
    if limits.wtime is not None or limits.btime is not None:
        raise ValueError("an analysis has no clock: set the limit's time instead")
    return limits


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Return a whole number as int; TypeError if it is not one (``True`` is not), ValueError if it is out of bounds."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {_short(int(value))}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, not {_short(int(value))}")
    return int(value)


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**30 else "a number of many digits"


def _count(name: str, value: int | None, most: int) -> int | None:
    return None if value is None else min(whole(name, value, 1), most)


def _movetime(seconds: float | None) -> int | None:
    milliseconds = _milliseconds("time", seconds)
    if milliseconds is None:
        return None
    if milliseconds < 0:
        raise ValueError(f"time must be at least 0, not {seconds}")
    return max(milliseconds, 1)


def _milliseconds(name: str, seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds_of(name, seconds))


def seconds_of(name: str, seconds: float) -> float:
    """Return a finite number of seconds, at most 46 days; TypeError or ValueError if it is none."""
    if not isinstance(seconds, Real) or isinstance(seconds, bool):
        raise TypeError(f"{name} must be a number of seconds, not {seconds!r:.60}")
    if seconds in (math.inf, -math.inf) or seconds != seconds:
        raise ValueError(f"{name} must be a finite number of seconds, not {seconds}")
    return float(min(max(seconds, -_MOST_SECONDS), _MOST_SECONDS))


def paths_of(name: str, paths: object) -> list[str]:
    """Return the names of one path or several; TypeError if they are something else, such as an open file."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if isinstance(paths, bytes | io.IOBase) or not isinstance(paths, Iterable):
        raise TypeError(f"{name} must be one path or several, not {paths!r:.60}")
    found = []
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"{name} must be paths, not {path!r:.60}")
        found.append(os.fsdecode(path))
    return found


def _names(board: chess.Board, moves: Iterable[Move] | None) -> tuple[str, ...]:
    if moves is None:
        return ()
    if isinstance(moves, str) or not isinstance(moves, Iterable):
        raise TypeError(f"root_moves must be several moves, not {moves!r:.60}")
    names = tuple(name_of(board, move, "a root move") for move in moves)
    if not names:
        raise PositionError("root_moves is empty")
    return names


def name_of(board: chess.Board, move: Move, what: str = "move") -> str:
    """Return a legal move in UCI notation; TypeError if it is not a move, PositionError if it is illegal."""
    if isinstance(move, str):
        move = _parsed(board, move)
    if not isinstance(move, chess.Move):
        raise TypeError(f"{what} must be a chess.Move or text, not {move!r:.60}")
    try:
        legal = board.is_legal(move)
    except _FAULTS:  # the move has impossible squares or pieces, or the board is impossible
        legal = False
    if not legal:
        raise PositionError(f"illegal move: {_text(move)}")
    return board.uci(move)


def _parsed(board: chess.Board, text: str) -> chess.Move:
    """Parse a move in UCI or algebraic notation. If a text is legal in both notations, both mean the same move."""
    for parse in (board.parse_uci, board.parse_san):
        with contextlib.suppress(*_FAULTS):  # besides illegal text, the board may be impossible
            return parse(text)
    raise PositionError(f"illegal move: {text or 'nothing':.60}")


def _text(move: chess.Move) -> str:
    try:
        return move.uci()
    except IndexError:
        return f"{move.from_square} to {move.to_square}"
