"""From python-chess's terms to the engine's: boards, moves and limits.

Whatever comes from a caller is checked here, since compiled code trusts what it is given.
"""

import contextlib
import math
from collections.abc import Iterable, Iterator
from numbers import Integral, Real

import chess
import chess.engine

from knightadder.engine.errors import PositionError
from knightadder.engine.limits import Limits

# More than any search gets to, and less than what 64 bits hold; a limit beyond it never comes.
_MOST_NODES = 1 << 62
_MOST_PLIES = 10_000  # of depth, moves to mate and moves to the time control
_MOST_SECONDS = 4_000_000.0  # 46 days; where threads wait by milliseconds of 32 bits, they can wait no longer

# With so many plies since the last capture or pawn move, the game is a draw by the fifty-move rule with any move of
# another kind, and what was on the board before cannot matter.
_MOST_HISTORY = 100


def checked_board(board: chess.Board) -> chess.Board:
    """Give a board back; TypeError if it is none, PositionError if it is that of a variant."""
    if not isinstance(board, chess.Board):
        raise TypeError(f"board is a chess.Board, not {board!r:.60}")
    if board.uci_variant != "chess":
        raise PositionError(f"illegal position: {board.uci_variant} is not played here")
    return board


def fen_of(board: chess.Board) -> str:
    """Write the FEN of a board; PositionError if its attributes have values that no board has."""
    with _intact():
        return board.fen()


@contextlib.contextmanager
def _intact() -> Iterator[None]:
    """Make a PositionError of whatever a board raises, to whose attributes anything can have been assigned."""
    try:
        yield
    except Exception as error:
        raise PositionError(f"illegal position: {type(error).__name__}: {error!s:.80}") from None


def position_of(board: chess.Board) -> tuple[str, tuple[str, ...]]:
    """Say how a board came about, as far as that matters to its future.

    Parameters
    ----------
    board : chess.Board
        With the moves that led to it; those since the last capture or pawn move count for repetitions.

    Returns
    -------
    tuple
        The FEN of a position and the moves from there, in UCI notation.

    Raises
    ------
    PositionError
        If it is the board of a variant other than chess and Chess960, or can be no board of a game.
    """
    checked_board(board)
    with _intact():
        board.fen()  # or the board is in no order, which the positions before it need not show
        history = min(board.halfmove_clock, _MOST_HISTORY)
        root = board.copy(stack=history)  # to copy a long game takes long
        moves: list[str] = []
        # No position from before a null move can come again by the rules of chess.
        while len(moves) < history and root.move_stack and root.peek():
            moves.append(root.pop().uci())
        return root.fen(), tuple(reversed(moves))


def limits_of(
    board: chess.Board, limit: chess.engine.Limit | None, root_moves: Iterable[chess.Move] | None = None
) -> Limits:
    """Translate a limit.

    Parameters
    ----------
    board : chess.Board
        The position to search.
    limit : chess.engine.Limit or None
        When to end; its clocks and times are in seconds. ``None`` is to go on until stopped.
    root_moves : iterable of chess.Move, optional
        The moves to choose from; all legal ones by default.

    Raises
    ------
    PositionError
        If a root move is not legal, or there is none.
    ValueError
        If the limit sets none, or one that is not possible; its text names it.
    TypeError
        If a limit is not the number that it should be.
    """
    if limit is None:
        return Limits(infinite=True, searchmoves=_names(board, root_moves))
    if not isinstance(limit, chess.engine.Limit):
        raise TypeError(f"limit is a chess.engine.Limit, not {limit!r:.60}")
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
        raise ValueError("a limit has to set a time, a clock, a depth, nodes or a mate")
    return limits


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Check a whole number.

    Parameters
    ----------
    name : str
        What the caller knows it by.
    value : int
        The number; also one of NumPy's.
    least, most : int
        Its bounds, both included.

    Raises
    ------
    TypeError
        If it is no whole number; ``True`` and ``2.0`` are none.
    ValueError
        If it is out of bounds.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} is at least {least}, not {_short(int(value))}")
    if most is not None and value > most:
        raise ValueError(f"{name} is at most {most}, not {_short(int(value))}")
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
        raise ValueError(f"time is at least 0, not {seconds}")
    return max(milliseconds, 1)


def _milliseconds(name: str, seconds: float | None) -> int | None:
    if seconds is None:
        return None
    if not isinstance(seconds, Real) or isinstance(seconds, bool):
        raise TypeError(f"{name} is a number of seconds, not {seconds!r:.60}")
    if seconds in (math.inf, -math.inf) or seconds != seconds:
        raise ValueError(f"{name} is a finite number of seconds, not {seconds}")
    return round(1000 * float(min(max(seconds, -_MOST_SECONDS), _MOST_SECONDS)))


def _names(board: chess.Board, moves: Iterable[chess.Move] | None) -> tuple[str, ...]:
    if moves is None:
        return ()
    names = tuple(name_of(checked_board(board), move, "a root move") for move in moves)
    if not names:
        raise PositionError("there is no root move to choose from")
    return names


def name_of(board: chess.Board, move: chess.Move, what: str = "move") -> str:
    """Write a legal move in UCI notation.

    Parameters
    ----------
    board : chess.Board
        The position.
    move : chess.Move
        The move.
    what : str
        What the caller knows it by.

    Raises
    ------
    TypeError
        If it is no move.
    PositionError
        If it is not legal.
    """
    if not isinstance(move, chess.Move):
        raise TypeError(f"{what} is a chess.Move, not {move!r:.60}")
    try:
        legal = board.is_legal(move)
    except Exception:  # of squares or pieces that there are not, or a board that can be none
        legal = False
    if not legal:
        raise PositionError(f"illegal move: {_text(move)}")
    return board.uci(move)


def _text(move: chess.Move) -> str:
    try:
        return move.uci()
    except IndexError:
        return f"{move.from_square} to {move.to_square}"
