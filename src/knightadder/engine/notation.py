"""Moves in UCI notation: from-square, to-square, promotion. Castling is the king's step; in Chess960, and wherever the
step would read as another move, the king takes the rook.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.fen import square_name
from knightadder.core.board.moves import CASTLING, kind_of, new_move, source_of, target_of
from knightadder.core.layout import BISHOP, KNIGHT, QUEEN, ROOK

_PROMOTIONS = {"n": KNIGHT, "b": BISHOP, "r": ROOK, "q": QUEEN}
_LETTERS = {piece_type: letter for letter, piece_type in _PROMOTIONS.items()}


def to_uci(move: int, chess960: bool = False) -> str:
    """Return the UCI text of a 16-bit move. With `chess960`, castling is written as king takes rook."""
    source, target, promotion = squares_of(move, chess960)
    return square_name(source) + square_name(target) + (_LETTERS[promotion] if promotion else "")


def squares_of(move: int, chess960: bool = False) -> tuple[int, int, int | None]:
    """Return the squares of a 16-bit move, as UCI writes them, and the type of a new piece or None."""
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    if kind == CASTLING and not chess960:
        file = 6 if target > source else 2
        if abs(file - (source & 7)) > 1:  # a shorter step is a move of its own
            target = (source & 56) + file
    return source, target, kind if kind in _LETTERS else None


@lru_cache(4096)  # an interface repeats all moves of the game with each new move
def parse_uci(text: str) -> tuple[int, int, int] | None:
    """Read UCI text as from-square, to-square and promotion type (0 for none); None if it is not a move."""
    if not 4 <= len(text) <= 5:
        return None
    squares = []
    for name in (text[:2], text[2:4]):
        file, rank = "abcdefgh".find(name[0]), "12345678".find(name[1])
        if file < 0 or rank < 0:
            return None
        squares.append(rank * 8 + file)
    promotion = _PROMOTIONS.get(text[4:].lower(), 0)
    if text[4:] and not promotion:
        return None
    return squares[0], squares[1], promotion


def encode_moves(names: Iterable[str]) -> NDArray[np.int64]:
    """Encode UCI texts as `play_all` in ``core/api/playing.py`` takes them. Other text becomes a1a1, which is never
    legal.
    """
    squares = [parse_uci(name) or (0, 0, 0) for name in names]
    return np.array([new_move(*each) for each in squares], np.int64)
