"""The worth of each piece: the static value of a position minus its value without the piece."""

from collections.abc import Sequence

import numpy as np

from knightadder.core.board.fen import LETTERS
from knightadder.core.evaluation.network import weights_of
from knightadder.core.layout import KING
from knightadder.engine.game import Game

_RULE = "+-------" * 8 + "+"


def piece_worths(game: Game, value: int) -> dict[int, int]:
    """Return the worth of each piece except the kings, by square, in centipawns from White's view, as is `value`, the
    static value of the position.

    The worth includes everything that changes without the piece: its value, its square, and its effects on other
    pieces. So a piece that is only in the way can have a negative worth. The last piece that could mate a bare king is
    worth as much as the known win.
    """
    sign = 1 - 2 * game.side_to_move
    squares = [square for square, piece in enumerate(game.board) if piece and piece & 7 != KING]
    return {square: value - sign * game.evaluate_without(square) for square in squares}


def worth_board(board: Sequence[int], worths: dict[int, int]) -> str:
    """Return a drawing of the board, from White's view, with the worth of each piece in pawns below its letter. White's
    pieces are capitals. `worths` are in centipawns by square.
    """
    lines = ["Worth of each piece: the value minus the value without the piece, from White's view", _RULE]
    for rank in range(7, -1, -1):
        squares = range(8 * rank, 8 * rank + 8)
        letters = (f"{LETTERS[board[square]]:^7}" for square in squares)
        values = (f"{worths[square] / 100:+.2f}" if square in worths else "" for square in squares)
        lines += [f"|{'|'.join(letters)}|", f"|{'|'.join(f'{value:^7}' for value in values)}|", _RULE]
    return "\n".join(lines)


def bucket_line(tables: np.record, men: int) -> str:
    """Return a line that names the network's output bucket for this number of men."""
    buckets = weights_of(tables).output_bucket
    number, count = int(buckets[men]) + 1, int(buckets.max()) + 1
    return f"Network: output bucket {number} of {count} ({men} men)"
