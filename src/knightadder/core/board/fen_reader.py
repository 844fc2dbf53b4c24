"""Forsyth-Edwards Notation read by compiled code, a hundred times as fast as `fen`, for those who have many positions.

It takes and refuses the same texts, but does not say why; that is left to `fen`.
"""

import numpy as np

from ..layout import (
    BISHOP,
    BLACK,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)
from ..native.jit import inlined, kernel, popcount
from .attacks import is_attacked, king_square
from .bitboard import RANK_1_8, ZERO, bit
from .position import add_piece, clear, complete

_A, _B, _H, _K, _Q, _W = ord("a"), ord("b"), ord("h"), ord("k"), ord("q"), ord("w")
_0, _1, _8, _9, _DASH, _SLASH, _SPACE = ord("0"), ord("1"), ord("8"), ord("9"), ord("-"), ord("/"), ord(" ")
_LOWER = 32  # the bit that tells a small letter from its capital
_FIRST_SEPARATOR, _LAST_SEPARATOR = 28, 31  # control characters at which `str.split` splits
_TAB, _RETURN = 9, 13  # ... and with all between them

_MAX_COUNTER = 9_999
_MOST_PAWNS = 8


@inlined
def _is_space(letter):
    return (
        letter == _SPACE
        or (letter >= _TAB and letter <= _RETURN)
        or (letter >= _FIRST_SEPARATOR and letter <= _LAST_SEPARATOR)
    )


@inlined
def _next_field(text, at, end):
    """Return where the next field begins; `end` if there is none."""
    while at < end and _is_space(np.int64(text[np.uint64(at)])):
        at += 1
    return at


@inlined
def _end_of_field(text, at, end):
    """Return where the field that begins here ends."""
    while at < end and not _is_space(np.int64(text[np.uint64(at)])):
        at += 1
    return at


@inlined
def _piece_of(letter):
    """Return the piece that a letter stands for, 0 for none."""
    small = letter | _LOWER
    color = BLACK if letter & _LOWER else WHITE
    # Where the letters p, n, b, r, q and k stand after a.
    for piece_type, place in ((PAWN, 15), (KNIGHT, 13), (BISHOP, 1), (ROOK, 17), (QUEEN, 16), (KING, 10)):
        if small == _A + place:
            return color << 3 | piece_type
    return 0


@inlined
def _read_board(tables, text, at, end, pos):
    """Put the pieces on an empty board; says whether the field is sound."""
    rank, file = np.int64(7), np.int64(0)
    while at < end:
        letter = np.int64(text[np.uint64(at)])
        if letter == _SLASH:
            if file != 8 or rank == 0:
                return False
            rank, file = rank - 1, np.int64(0)
        elif letter >= _1 and letter <= _8:
            file += letter - _0
        else:
            piece = np.int64(_piece_of(letter))
            if piece == 0 or file > 7:
                return False
            add_piece(tables, pos, piece, rank * 8 + file)
            file += 1
        if file > 8:
            return False
        at += 1
    return rank == 0 and file == 8


@inlined
def _surplus(pos, own, piece_type, count):
    """Return how many pieces of a type must have been promoted."""
    return max(popcount(own & pos.by_type[np.uint64(piece_type)]) - count, 0)


@inlined
def _has_sound_material(pos):
    for color in range(2):
        own = pos.by_color[np.uint64(color)]
        if popcount(own & pos.by_type[KING]) != 1:
            return False
        promoted = _surplus(pos, own, KNIGHT, 2) + _surplus(pos, own, BISHOP, 2)
        promoted += _surplus(pos, own, ROOK, 2) + _surplus(pos, own, QUEEN, 1)
        if popcount(own & pos.by_type[PAWN]) + promoted > _MOST_PAWNS:
            return False
    return pos.by_type[PAWN] & RANK_1_8 == ZERO


@inlined
def _castling_rook(pos, letter, color, king):
    """Return the square of the rook that a letter gives the right to castle, or `NO_SQUARE`."""
    base = color * 56
    small = letter | _LOWER
    square, last, step = base + small - _A, base + small - _A, np.int64(1)
    if small == _K:
        square, last, step = base + 7, king + 1, np.int64(-1)
    elif small == _Q:
        square, last = base + 0, king - 1
    elif small < _A or small > _H:
        return np.int64(NO_SQUARE)
    rook = ROOK | color << 3
    while (last - square) * step >= 0:
        if np.int64(pos.board[np.uint64(square)]) == rook:
            return square
        square += step
    return np.int64(NO_SQUARE)


@inlined
def _read_castling(text, at, end, pos):
    """Set the rooks that may castle; says whether the field is sound."""
    if end - at == 1 and np.int64(text[np.uint64(at)]) == _DASH:
        return True
    while at < end:
        letter = np.int64(text[np.uint64(at)])
        color = np.int64(BLACK if letter & _LOWER else WHITE)
        king = king_square(pos, color)
        if king >> 3 != color * 7:
            return False
        square = _castling_rook(pos, letter, color, king)
        if square == NO_SQUARE:
            return False
        others = pos.castling & pos.by_color[np.uint64(color)]
        # One right on each side of the king.
        beyond = ~ZERO << np.uint64(king) if square > king else bit(king) - np.uint64(1)
        if others & beyond:
            return False
        pos.castling |= bit(square)
        at += 1
    return True


@inlined
def _read_en_passant(text, at, end, pos):
    """Return the square over which a pawn has just passed, `NO_SQUARE` for none; -1 if the field is not sound."""
    if end - at == 1 and np.int64(text[np.uint64(at)]) == _DASH:
        return np.int64(NO_SQUARE)
    if end - at != 2:
        return np.int64(-1)
    file, rank = np.int64(text[np.uint64(at)]) - _A, np.int64(text[np.uint64(at + 1)]) - _1
    us = np.int64(pos.stm)
    if file < 0 or file > 7 or rank != (5 if us == WHITE else 2):
        return np.int64(-1)
    square = rank * 8 + file
    forward = 8 if us == WHITE else -8
    pawn = PAWN | (us ^ 1) << 3
    if np.int64(pos.board[np.uint64(square - forward)]) != pawn:
        return np.int64(-1)
    # The pawn came from the square behind.
    if pos.board[np.uint64(square)] or pos.board[np.uint64(square + forward)]:
        return np.int64(-1)
    return square


@inlined
def _read_counter(text, at, end):
    """Return a number; -1 if it is none or too large."""
    number = np.int64(0)
    while at < end:
        digit = np.int64(text[np.uint64(at)]) - _0
        if digit < 0 or digit > 9:
            return np.int64(-1)
        number = min(number * 10 + digit, _MAX_COUNTER + 1)
        at += 1
    return number if number <= _MAX_COUNTER else np.int64(-1)


@kernel
def read_fen(tables, text, start, end, pos):
    """Set up the position of a FEN of four to six fields, complete with all that is derived from it.

    Parameters
    ----------
    tables : TABLES record
        The read-only tables.
    text : array of uint8
        ASCII; the FEN is ``text[start:end]``.
    start, end : int
        Where it begins and ends.
    pos : POSITION record
        What to write to.

    Returns
    -------
    int
        The number of the move, counted from 1; 0 if the text describes no legal position, and `pos` is then of no use.
    """
    clear(pos)
    pos.board[:] = 0
    pos.castling = ZERO
    pos.stm = WHITE

    at = _next_field(text, start, end)
    last = _end_of_field(text, at, end)
    if not _read_board(tables, text, at, last, pos) or not _has_sound_material(pos):
        return np.int64(0)

    at = _next_field(text, last, end)
    last = _end_of_field(text, at, end)
    if last - at != 1:
        return np.int64(0)
    letter = np.int64(text[np.uint64(at)])
    if letter == _B:
        pos.stm = BLACK
    elif letter != _W:
        return np.int64(0)

    at = _next_field(text, last, end)
    last = _end_of_field(text, at, end)
    if at == last or not _read_castling(text, at, last, pos):
        return np.int64(0)

    at = _next_field(text, last, end)
    last = _end_of_field(text, at, end)
    ep = _read_en_passant(text, at, last, pos)
    if ep < 0:
        return np.int64(0)
    pos.ep = ep

    # Either counter may be missing, and an empty one reads as 0.
    at = _next_field(text, last, end)
    last = _end_of_field(text, at, end)
    rule50 = _read_counter(text, at, last)
    at = _next_field(text, last, end)
    last = _end_of_field(text, at, end)
    number = _read_counter(text, at, last)
    if rule50 < 0 or number < 0 or _next_field(text, last, end) != end:
        return np.int64(0)
    pos.rule50 = rule50
    pos.plies_from_null = rule50

    complete(tables, pos)
    us = np.int64(pos.stm)
    if is_attacked(tables, pos, king_square(pos, us ^ 1), pos.by_type[0], us):
        return np.int64(0)
    return max(number, np.int64(1))
