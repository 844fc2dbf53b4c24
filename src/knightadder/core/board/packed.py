"""Positions packed into 32 bytes with a score and a result, as data for tuning evaluations.

The layout is known as Marlinformat. bullet and other network trainers read it. All numbers are little-endian:

====== ======= =======================================================================================================
Offset Type    Meaning
====== ======= =======================================================================================================
0      u64     occupied squares; a1 is the lowest bit, h8 the highest
8      16 x u8 pieces in the order of their squares, four bits each, the lower half of a byte first: 0 pawn, 1 knight,
               2 bishop, 3 rook, 4 queen, 5 king, 6 a rook that may still castle; plus 8 for a black piece
24     u8      highest bit: 1 if Black is to move; other bits: en passant square, 64 for none
25     u8      plies since the last capture or pawn move
26     u16     move number, counted from 1
28     i16     score in centipawns, from White's view
30     u8      result: 0 Black won, 1 draw, 2 White won
31     u8      spare, 0
====== ======= =======================================================================================================

The en passant square is stored only if a capture on it is legal, so that equal positions have equal bytes.
"""

import numpy as np

from knightadder.native.jit import kernel, lsb, popcount
from knightadder.native.signatures import record_type

from ..layout import KING, MAX_MEN_ON_BOARD, NO_SQUARE, ROOK
from . import fen
from .attacks import can_take_king
from .bitboard import ZERO, bit, without_lsb
from .fen import check_material, find_piece, is_passed_over
from .position import add_piece, clear, complete

# Not aligned as by `record`, because in `viriformat` a record begins at any multiple of 4 bytes.
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

LOSS, DRAW, WIN = 0, 1, 2  # results, from White's view

_UNMOVED_ROOK = 6
_FAULTS = {
    1: "a packed position has impossible pieces",
    2: "a packed position with impossible castling rights",
    3: "a packed position with an impossible en passant square",
}

Packed = record_type(PACKED)


@kernel
def pack(pos, record, ply, score, result):
    """Write a position with at most 32 pieces into a record.

    `ply` counts from White's first move, ply 0. Move numbers above 65,535 become 65,535. `score` is in centipawns from
    White's view, with mates as the core encodes them. `result` is `LOSS`, `DRAW` or `WIN` for White.
    """
    squares = pos.by_type[0]
    record.occupied = squares
    record.pieces[:] = 0
    index = np.int64(0)
    while squares:
        square = lsb(squares)
        piece = np.int64(pos.board[square])
        code = (piece & 7) - 1
        if pos.castling & bit(square):
            code = np.int64(_UNMOVED_ROOK)
        code |= piece & 8
        place = index >> 1
        record.pieces[place] = np.int64(record.pieces[place]) | (code << ((index & 1) << 2))
        index += 1
        squares = without_lsb(squares)
    record.stm_ep = (np.int64(pos.stm) << 7) | np.int64(pos.ep)
    record.rule50 = min(np.int64(pos.rule50), np.int64(255))
    record.fullmove = min((ply >> 1) + 1, np.int64(65_535))
    record.score = score
    record.result = result
    record.spare = 0


@kernel
def find_fault(board, stm, castling, ep):
    """Return the number of the first fault found in a position, a key of `_FAULTS`; 0 if the position is possible.
    Compiled code must not use the content of damaged records as squares or piece counts.
    """
    if check_material(board)[0]:
        return 1
    if castling:
        given = 0
        for square in range(64):
            if castling & bit(square):
                color = int(board[square]) >> 3
                king = find_piece(board, (color << 3) | KING)
                side = 1 << (2 * color + (1 if square > king else 0))
                if square >> 3 != 7 * color or king >> 3 != 7 * color or given & side:
                    return 2
                given |= side
    if ep != NO_SQUARE and not is_passed_over(board, stm, ep):
        return 3
    return 0


@kernel
def unpack(tables, record, pos):
    """Set up the position of a record with its derived fields; return False, with `pos` undefined, if it is illegal."""
    squares = record.occupied
    if popcount(squares) > MAX_MEN_ON_BOARD:
        return False
    clear(pos)
    pos.board[:] = 0
    pos.castling = ZERO
    index = np.int64(0)
    while squares:
        square = lsb(squares)
        code = (np.int64(record.pieces[index >> 1]) >> ((index & 1) << 2)) & 15
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
    if find_fault(pos.board, np.int64(pos.stm), pos.castling, ep):
        return False
    complete(tables, pos)
    return not can_take_king(tables, pos)


def record_fen(record, chess960=False):
    """Return the FEN of a record; with `chess960`, castling rights are the files of the rooks. An impossible position
    raises a `FenError`, but a check to the side that is not to move is not noticed.
    """
    board, castling = [0] * 64, 0
    squares = [square for square in range(64) if (int(record["occupied"]) >> square) & 1]
    if len(squares) > MAX_MEN_ON_BOARD:
        raise fen.FenError(f"a packed position must have at most {MAX_MEN_ON_BOARD} pieces, not {len(squares)}")
    codes = [code for byte in record["pieces"].tolist() for code in (byte & 15, byte >> 4)]
    for square, code in zip(squares, codes, strict=False):
        piece_type = (code & 7) + 1
        if code & 7 == _UNMOVED_ROOK:
            piece_type = ROOK
            castling |= 1 << square
        if piece_type > KING:
            raise fen.FenError(f"{code} is not the code of a piece")
        board[square] = piece_type | code & 8
    stm, ep = divmod(int(record["stm_ep"]), 128)
    if fault := find_fault(board, stm, np.uint64(castling), ep):
        raise fen.FenError(_FAULTS[fault])
    return fen.write_fen(fen.Setup(board, stm, castling, ep, int(record["rule50"]), int(record["fullmove"])), chess960)
