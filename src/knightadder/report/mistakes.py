"""Kinds of mistakes: what a bad move allowed the opponent, or what it missed.

The kind is found in the engine's lines, by the code that names the themes of puzzles. So every reported kind is real; a
mistake whose lines show no kind is of the kind ``other``.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from knightadder.motifs.line import PlayedLine, boards_along
from knightadder.motifs.mates import named_mates
from knightadder.motifs.tactics import TACTICS, VALUES, balance, has_hanging_piece
from knightadder.review.evaluation import SearchedPosition

#: The kinds with their names for the user, in the order in which they are tried.
KINDS = {
    "missedMate": "Missed a forced mate",
    "backRank": "Allowed a mate on the back rank",
    "allowedMate": "Allowed a forced mate",
    "hangs": "Left a piece to be taken",
    "fork": "Allowed a fork",
    "pin": "Allowed a pin",
    "skewer": "Allowed a skewer",
    "discovered": "Allowed a discovered attack",
    "promotion": "Let a pawn promote",
    "missedCapture": "Did not take a loose piece",
    "missedFork": "Missed a fork",
    "missedTactic": "Missed another tactic",
    "material": "Lost material in another way",
    "pawn": "Lost a pawn",
    "missedMaterial": "Missed a win of material in another way",
    "other": "Spoiled the position without losing material",
}

_ALLOWED = {
    "fork": ("fork",),
    "pin": ("pin",),
    "skewer": ("skewer",),
    "discovered": ("discoveredAttack", "discoveredCheck", "doubleCheck"),
    "promotion": ("promotion",),
}
_TACTICS = ("pin", "skewer", "discoveredAttack", "discoveredCheck", "doubleCheck", "attraction", "deflection")
_PIECE = 2  # points of material that are more than a pawn


def kind_of(board: chess.Board, move: chess.Move, before: SearchedPosition, after: SearchedPosition) -> str:
    """Return the kind of a mistake: a key of `KINDS`.

    Parameters
    ----------
    board : chess.Board
        The position before it.
    move : chess.Move
        The mistake.
    before, after : SearchedPosition
        The engine's results for the positions before and after the move.
    """
    mover = board.turn
    could, can = before.score.pov(mover).mate() or 0, after.score.pov(mover).mate()
    if could > 0 and (can is None or can < 0):
        return "missedMate"
    end = board.copy(stack=False)
    end.push(move)
    reply = _line(end, after)
    if can is not None and can < 0 <= could:
        return "backRank" if reply and "backRankMate" in named_mates(reply) else "allowedMate"
    if reply and _takes_a_piece(board, end, reply):
        return "hangs"
    if reply:
        for kind, tactics in _ALLOWED.items():
            if any(TACTICS[name](reply) for name in tactics):
                return kind
    missed = _line(board, before)
    if missed:
        if has_hanging_piece(missed):
            return "missedCapture"
        if TACTICS["fork"](missed):
            return "missedFork"
        if any(TACTICS[name](missed) for name in _TACTICS):
            return "missedTactic"
    lost, missed_gain = -_gain(end, after, mover, board), _gain(board, before, mover, board)
    if lost >= 1:
        return "material" if lost >= _PIECE else "pawn"
    return "missedMaterial" if missed_gain >= _PIECE else "other"


def _line(board: chess.Board, position: SearchedPosition) -> PlayedLine | None:
    """Return the best line of a position, without a reply at its end; None if there is none."""
    moves: Sequence[chess.Move] = position.variations[0].moves if position.variations else ()
    moves = moves[: len(moves) - (len(moves) + 1) % 2]
    return PlayedLine(boards_along(board.copy(stack=False), moves), moves) if moves else None


def _takes_a_piece(board: chess.Board, after: chess.Board, reply: PlayedLine) -> bool:
    """Return whether the first reply takes a piece, and the mover has less material in the end than before the mistake.

    A piece that is guarded counts if the one that takes it is worth less.
    """
    mover, taking = board.turn, reply.moves[0]
    victim, taker = after.piece_type_at(taking.to_square), after.piece_type_at(taking.from_square)
    if victim in (None, chess.PAWN) or taker is None or not after.is_capture(taking):
        return False
    assert victim is not None
    loose = not reply.boards[1].attackers(mover, taking.to_square)
    if not loose and VALUES[victim] <= VALUES[taker]:
        return False
    return all(balance(each, mover) <= balance(board, mover) - _PIECE for each in (reply.boards[1], reply.boards[-1]))


def _gain(start: chess.Board, position: SearchedPosition, side: chess.Color, before: chess.Board) -> int:
    """Return how much material the best line of a position gains for a side, compared with an earlier position.

    The line may end within an exchange. So the smaller gain counts: the one before the last move or the one after it.
    """
    moves = position.variations[0].moves if position.variations else ()
    gains = [balance(board, side) - balance(before, side) for board in boards_along(start, moves)[-2:]]
    return min(gains, key=abs)
