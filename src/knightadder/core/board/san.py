"""Moves in standard algebraic notation (SAN), read by compiled code. Only the plain form that programs write is read;
`knightadder.pgn.tokens` also reads what people write.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb

from ..layout import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK
from .attacks import attacks_of, king_square
from .bitboard import ZERO, without_lsb
from .letters import DASH, PLUS
from .movegen import is_legal
from .moves import CASTLING, DOUBLE_PUSH, EN_PASSANT, NO_MOVE, NORMAL, new_move

_A, _H, _O, _X = (ord(letter) for letter in "ahOx")
_1, _8, _EQUALS, _HASH = (ord(letter) for letter in "18=#")


@inlined
def _piece_type(letter):
    """Return the piece type of a capital letter; 0 if the letter stands for none."""
    if letter == 78:  # N
        return np.int64(KNIGHT)
    if letter == 66:  # B
        return np.int64(BISHOP)
    if letter == 82:  # R
        return np.int64(ROOK)
    if letter == 81:  # Q
        return np.int64(QUEEN)
    if letter == 75:  # K
        return np.int64(KING)
    return np.int64(0)


@kernel
def read_san(tables, pos, text, at):
    """Read a move from ASCII `text` at the place `at`; return the legal move or `NO_MOVE`, and the place after it. The
    text must have at least sixteen characters after `at`.
    """
    letter = np.int64(text[at])
    if letter == _O:
        return _read_castling(tables, pos, text, at)
    piece_type = np.int64(PAWN)
    if letter < _A:
        piece_type = _piece_type(letter)
        if piece_type == 0:
            return NO_MOVE, at
        at += 1
        letter = np.int64(text[at])
    file, rank = np.int64(-1), np.int64(-1)  # from-square; -1 if not given
    if letter >= _A and letter <= _H:
        file = letter - _A
        at += 1
        letter = np.int64(text[at])
    if letter >= _1 and letter <= _8:
        rank = letter - _1
        at += 1
        letter = np.int64(text[at])
    captures = letter == _X
    if captures:
        at += 1
        letter = np.int64(text[at])
    if letter >= _A and letter <= _H:
        target_rank = np.int64(text[at + 1]) - _1
        if target_rank < 0 or target_rank > 7:
            return NO_MOVE, at
        target = target_rank * 8 + letter - _A
        at += 2
    else:
        if captures or file < 0 or rank < 0:
            return NO_MOVE, at
        target = rank * 8 + file
        file, rank = np.int64(-1), np.int64(-1)
    if piece_type == PAWN:
        kind = NORMAL
        if target >> 3 == 0 or target >> 3 == 7:
            if np.int64(text[at]) == _EQUALS:
                at += 1
            kind = _piece_type(np.int64(text[at]))
            at += 1
            if kind == 0 or kind == KING:
                return NO_MOVE, at
        if rank >= 0 or (captures and file < 0):  # python-chess gives such a rank a different meaning
            return NO_MOVE, at
        move = _find_pawn_move(tables, pos, file, target, kind)
    else:
        move = _find_piece_move(tables, pos, piece_type, file, rank, target)
    return move, _after_check(text, at)


@inlined
def _after_check(text, at):
    letter = np.int64(text[at])
    return at + 1 if letter == PLUS or letter == _HASH else at


@kernel
def _read_castling(tables, pos, text, at):
    if np.int64(text[at + 1]) != DASH or np.int64(text[at + 2]) != _O:
        return NO_MOVE, at
    at += 3
    long = np.int64(text[at]) == DASH and np.int64(text[at + 1]) == _O
    if long:
        at += 2
    us = np.int64(pos.stm)
    king = king_square(pos, us)
    rooks = pos.castling & pos.by_color[us]
    while rooks:
        rook = lsb(rooks)
        if (rook < king) == long:
            move = new_move(king, rook, CASTLING)
            if is_legal(tables, pos, move):
                return move, _after_check(text, at)
        rooks = without_lsb(rooks)
    return NO_MOVE, at


@kernel
def _find_pawn_move(tables, pos, file, target, kind):
    """Find a pawn's move to a square: a push if `file` is -1, else a capture from that file."""
    us = np.int64(pos.stm)
    pawn = PAWN | (us << 3)
    step = np.int64(8 - 16 * us)
    source = target - step
    if source < 0 or source > 63:
        return NO_MOVE
    if file >= 0:
        if abs(file - (target & 7)) != 1:
            return NO_MOVE
        source = (source & 56) | file
        if target == pos.ep:
            kind = EN_PASSANT
    elif np.int64(pos.board[source]) == 0 and target >> 3 == (4 if us == BLACK else 3):
        source -= step
        kind = DOUBLE_PUSH
    if np.int64(pos.board[source]) != pawn:
        return NO_MOVE
    move = new_move(source, target, kind)
    return move if is_legal(tables, pos, move) else NO_MOVE


@kernel
def _find_piece_move(tables, pos, piece_type, file, rank, target):
    """Find the only legal move of a piece to a square, from the given file and rank (-1 for any)."""
    sources = attacks_of(tables, piece_type, target, pos.by_type[0]) & pos.by_type[piece_type] & pos.by_color[pos.stm]
    move = NO_MOVE
    while sources != ZERO:
        source = lsb(sources)
        sources = without_lsb(sources)
        if (file >= 0 and source & 7 != file) or (rank >= 0 and source >> 3 != rank):
            continue
        candidate = new_move(source, target, NORMAL)
        if is_legal(tables, pos, candidate):
            if move != NO_MOVE:
                return NO_MOVE
            move = candidate
    return move
