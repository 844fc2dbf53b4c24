"""From python-chess's terms to the engine's: boards, moves and limits."""

from collections.abc import Iterable

import chess
import chess.engine

from knightadder.engine.errors import PositionError
from knightadder.engine.limits import Limits


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
        If it is the board of a variant other than chess and Chess960.
    """
    if board.uci_variant != "chess":
        raise PositionError(f"illegal position: {board.uci_variant} is not played here")
    root = board.copy(stack=board.halfmove_clock)  # to copy a long game takes long
    moves: list[str] = []
    # No position from before a null move can come again by the rules of chess.
    while len(moves) < board.halfmove_clock and root.move_stack and root.peek():
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
        If the limit sets none, or one that is not positive.
    """
    if limit is None:
        limits = Limits(infinite=True, searchmoves=_names(board, root_moves))
    else:
        check_positive(depth=limit.depth, nodes=limit.nodes, mate=limit.mate)
        limits = Limits(
            wtime=_milliseconds(limit.white_clock),
            btime=_milliseconds(limit.black_clock),
            winc=_milliseconds(limit.white_inc) or 0,
            binc=_milliseconds(limit.black_inc) or 0,
            movestogo=limit.remaining_moves,
            depth=limit.depth,
            nodes=limit.nodes,
            mate=limit.mate,
            movetime=_milliseconds(limit.time, at_least=1),
            searchmoves=_names(board, root_moves),
        )
        if limits.unlimited:
            raise ValueError("a limit has to set a time, a clock, a depth, nodes or a mate")
    return limits


def check_positive(**numbers: int | None) -> None:
    """Raise ValueError, with its name, if a number that was given is less than 1."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{name} is at least 1, not {number}")


def _milliseconds(seconds: float | None, at_least: int | None = None) -> int | None:
    if seconds is None:
        return None
    value = round(seconds * 1000)
    return value if at_least is None else max(value, at_least)


def _names(board: chess.Board, moves: Iterable[chess.Move] | None) -> tuple[str, ...]:
    if moves is None:
        return ()
    names = []
    for move in moves:
        if not board.is_legal(move):
            raise PositionError(f"illegal move: {move.uci()}")
        names.append(move.uci())
    if not names:
        raise PositionError("there is no root move to choose from")
    return tuple(names)
