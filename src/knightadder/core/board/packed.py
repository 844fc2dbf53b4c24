"""Positions packed into 32 bytes, with a score and a result: what evaluations are fitted to.

The layout is known as Marlinformat, which bullet and other trainers of networks read. All numbers are little-endian:

====== ======= =======================================================================================================
Offset Type    Meaning
====== ======= =======================================================================================================
0      u64     occupied squares, a1 the lowest bit, h8 the highest
8      16 x u8 pieces in the order of these squares, four bits each, the lower half of a byte first: 0 to 5 pawn,
               knight, bishop, rook, queen and king, 6 a rook that may still castle; 8 more for Black's
24     u8      highest bit: Black is to move; the others: en passant square, 64 for none
25     u8      plies since the last capture or pawn move
26     u16     number of the move, counted from 1
28     i16     score in centipawns, from White's view
30     u8      result: 0 Black won, 1 draw, 2 White won
31     u8      spare, 0
====== ======= =======================================================================================================

The en passant square is there only if a capture on it is legal, so that equal positions have equal bytes.
"""

import numpy as np
from numba import from_dtype

from ..layout import (
    BLACK,
    KING,
    NO_SQUARE,
    PAWN,
    ROOK,
    WHITE,
)
from ..native.jit import (
    kernel,
    lsb,
    popcount,
)
from . import fen
from .attacks import is_attacked, king_square
from .bitboard import ZERO, bit, without_lsb
from .position import add_piece, clear, complete

PACKED = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("occupied", np.uint64),
                ("pieces", np.uint8, 16),
                ("stm_ep", np.uint8),
                ("rule50", np.uint8),
                ("fullmove", np.uint16),
                ("score", np.int16),
                ("result", np.uint8),
                ("spare", np.uint8),
            ]
        ),
    )
)

#: The first bytes of a record, which say what the position is but for its counters.
POSITION_BYTES = 25

MOST_MEN = 32
LOSS, DRAW, WIN = 0, 1, 2  # results, for White

_UNMOVED_ROOK = 6
_FIRST_RANKS = (np.uint64(0xFF), np.uint64(0xFF << 56))  # by colour

Packed = from_dtype(PACKED)


@kernel
def pack(pos, record, ply, score, result):
    """Write a position with at most 32 men into a record.

    Parameters
    ----------
    pos : POSITION record
        The position.
    record : PACKED record
        Where to write it.
    ply : int
        Plies since the beginning of the game; White's first move is ply 0. As many as fit are kept.
    score : int
        Centipawns from White's view, or a mate as the core encodes it.
    result : int
        `LOSS`, `DRAW` or `WIN`, for White.
    """
    squares = pos.by_type[0]
    record.occupied = squares
    record.pieces[:] = 0
    index = np.int64(0)
    while squares:
        square = lsb(squares)
        piece = np.int64(pos.board[np.uint64(square)])
        code = (piece & 7) - 1
        if pos.castling & bit(square):
            code = np.int64(_UNMOVED_ROOK)
        code |= piece & 8
        place = np.uint64(index >> 1)
        record.pieces[place] = np.int64(record.pieces[place]) | code << ((index & 1) << 2)
        index += 1
        squares = without_lsb(squares)
    record.stm_ep = np.int64(pos.stm) << 7 | np.int64(pos.ep)
    record.rule50 = min(np.int64(pos.rule50), np.int64(255))
    record.fullmove = min((ply >> 1) + 1, np.int64(65_535))
    record.score = score
    record.result = result
    record.spare = 0


@kernel
def _is_sound(pos):
    # What else the position's other parts, or move generation, would stumble over.
    for color in range(2):
        own = pos.by_color[np.uint64(color)]
        if popcount(own & pos.by_type[KING]) != 1:
            return False
        rooks = pos.castling & own
        if rooks and (rooks | (own & pos.by_type[KING])) & ~_FIRST_RANKS[color]:
            return False
    return (_FIRST_RANKS[WHITE] | _FIRST_RANKS[BLACK]) & pos.by_type[PAWN] == ZERO


@kernel
def _is_passed_over(pos, ep):
    # Whether the opponent's last move can have been a double push over the square.
    us = np.int64(pos.stm)
    if ep >> 3 != (5 if us == WHITE else 2):
        return False
    return np.int64(pos.board[np.uint64(ep ^ 8)]) == (PAWN | (us ^ 1) << 3) and pos.board[np.uint64(ep)] == 0


@kernel
def unpack(tables, record, pos):
    """Set up the position of a record, complete with all that is derived from it.

    Returns
    -------
    bool
        False if the record describes no legal position; `pos` is then of no use.
    """
    squares = record.occupied
    if popcount(squares) > MOST_MEN:
        return False
    clear(pos)
    pos.board[:] = 0
    pos.castling = ZERO
    index = np.int64(0)
    while squares:
        square = lsb(squares)
        code = (np.int64(record.pieces[np.uint64(index >> 1)]) >> ((index & 1) << 2)) & 15
        piece_type = (code & 7) + 1
        if code & 7 == _UNMOVED_ROOK:
            piece_type = np.int64(ROOK)
            pos.castling |= bit(square)
        if piece_type > KING:
            return False
        add_piece(tables, pos, piece_type | code & 8, square)
        index += 1
        squares = without_lsb(squares)
    pos.stm = np.int64(record.stm_ep) >> 7
    pos.rule50 = record.rule50
    pos.plies_from_null = record.rule50
    ep = np.int64(record.stm_ep) & 127
    pos.ep = ep
    if not _is_sound(pos) or (ep != NO_SQUARE and not _is_passed_over(pos, ep)):
        return False
    complete(tables, pos)
    us = np.int64(pos.stm)
    return not is_attacked(tables, pos, king_square(pos, us ^ 1), pos.by_type[0], us)


def record_fen(record, chess960=False):
    """Return the FEN of a record, with castling rights as the rooks' files if `chess960`.

    Raises
    ------
    FenError
        If the record has more than 32 men, an unknown piece, or not the two kings. No more is checked.
    """
    board, castling = [0] * 64, 0
    squares = [square for square in range(64) if int(record["occupied"]) >> square & 1]
    if len(squares) > MOST_MEN:
        raise fen.FenError(f"a packed position with {len(squares)} men")
    codes = [code for byte in record["pieces"].tolist() for code in (byte & 15, byte >> 4)]
    for square, code in zip(squares, codes, strict=False):
        piece_type = (code & 7) + 1
        if code & 7 == _UNMOVED_ROOK:
            piece_type = ROOK
            castling |= 1 << square
        if piece_type > KING:
            raise fen.FenError(f"{code} is no packed piece")
        board[square] = piece_type | code & 8
    if [board.count(color << 3 | KING) for color in (WHITE, BLACK)] != [1, 1]:
        raise fen.FenError("a packed position without a king for each side")
    stm_ep = int(record["stm_ep"])
    setup = fen.Setup(
        board, stm_ep >> 7, castling, min(stm_ep & 127, NO_SQUARE), int(record["rule50"]), int(record["fullmove"])
    )
    return fen.write_fen(setup, chess960)
