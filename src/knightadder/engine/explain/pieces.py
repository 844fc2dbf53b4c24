"""The worth of each piece: the static value of a position less its value without the piece."""

from collections.abc import Sequence

import numpy as np

from knightadder.core.evaluation.network import weights_of
from knightadder.core.layout import KING
from knightadder.engine.game import Game

_LETTERS = " PNBRQK  pnbrqk"  # by piece
_RULE = "+-------" * 8 + "+"


def piece_worths(game: Game, value: int) -> dict[int, int]:
    """Compute the worth of each piece on the board, pawns included and kings excluded.

    The worth counts all that changes with the piece: its value, its square, and what it does for or against other
    pieces. So a piece that only stands in the way of its own side can be worth less than nothing to it. The last piece
    that could mate a bare king is worth as much as the known win.

    Parameters
    ----------
    game : Game
    value : int
        The static value of its position, in centipawns from White's view.

    Returns
    -------
    dict
        Centipawns from White's view, by square, from a1 = 0 on.
    """
    sign = 1 - 2 * game.side_to_move
    squares = [square for square, piece in enumerate(game.board) if piece and piece & 7 != KING]
    return {square: value - sign * game.evaluate_without(square) for square in squares}


def worth_board(board: Sequence[int], worths: dict[int, int]) -> str:
    """Draw a board with the worth of each piece below its letter, White's pieces in capitals.

    Parameters
    ----------
    board : sequence of int
        64 pieces, as the core has them, by square.
    worths : dict
        Centipawns by square.

    Returns
    -------
    str
        The worths are in pawns; White's first rank is at the bottom.
    """
    lines = ["Worth of each piece: the value less the value without it, from White's view", _RULE]
    for rank in range(7, -1, -1):
        squares = range(8 * rank, 8 * rank + 8)
        letters = (f"{_LETTERS[board[square]]:^7}" for square in squares)
        values = (f"{worths[square] / 100:+.2f}" if square in worths else "" for square in squares)
        lines += [f"|{'|'.join(letters)}|", f"|{'|'.join(f'{value:^7}' for value in values)}|", _RULE]
    return "\n".join(lines)


def bucket_line(tables: np.record, men: int) -> str:
    """Say which of a network's sets of output weights counts for a number of men, kings included."""
    buckets = weights_of(tables).output_bucket
    number, count = int(buckets[men]) + 1, int(buckets.max()) + 1
    return f"Network: output bucket {number} of {count} ({men} men)"
