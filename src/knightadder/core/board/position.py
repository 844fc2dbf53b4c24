"""Positions: setting up, making moves on a copy, and the null move.

Making a move copies the position to the next place of the search stack and changes the copy. To take the move back, the
search returns to the previous place. A record has 200 bytes; copying it takes less time than undoing a move.
"""

import numpy as np

from knightadder.native.jit import copy_record, inlined, kernel, lsb
from knightadder.native.records import record

from ..layout import KING, NO_SQUARE, PAWN, ROOK
from .attacks import set_checks
from .bitboard import ZERO, bit, without_lsb
from .movegen import castling_king_target, castling_rook_target, en_passant_is_safe
from .moves import CASTLING, DOUBLE_PUSH, EN_PASSANT, kind_of, source_of, target_of

POSITION = record(
    ("by_type", np.uint64, 8),  # bitboards by piece type; [0] = all occupied squares
    ("by_color", np.uint64, 2),
    ("key", np.uint64),  # Zobrist key
    ("castling", np.uint64),  # the rooks that may still castle
    ("checkers", np.uint64),  # enemy pieces that give check to the side to move
    ("pinned", np.uint64),  # pieces of the side to move that are pinned to its king
    ("psq", np.int64),  # piece-square sum from White's view, packed as in evaluation/score.py
    ("board", np.uint8, 64),
    ("stm", np.int32),  # side to move
    ("ep", np.int32),  # en passant target square if a capture there is legal, else NO_SQUARE
    ("rule50", np.int32),  # plies since the last capture or pawn move
    ("plies_from_null", np.int32),  # plies since the last null move; repetitions don't reach across it
)

PIECE_SQUARE = record(  # what a piece on a square adds to the key and to the piece-square sum
    ("key", np.uint64),
    ("psq", np.int64),
)


@inlined
def add_piece(tables, pos, piece, square):
    """Put a piece on an empty square, and update the key and the piece-square sum."""
    bitboard = bit(square)
    pos.by_type[piece & 7] |= bitboard
    pos.by_color[piece >> 3] |= bitboard
    pos.by_type[0] |= bitboard
    pos.board[square] = piece
    delta = tables.piece_square[piece, square]
    pos.key ^= delta.key
    pos.psq += delta.psq


@inlined
def remove_piece(tables, pos, piece, square):
    """Take a piece off a square, and update the key and the piece-square sum."""
    rest = ~bit(square)
    pos.by_type[piece & 7] &= rest
    pos.by_color[piece >> 3] &= rest
    pos.by_type[0] &= rest
    pos.board[square] = 0
    delta = tables.piece_square[piece, square]
    pos.key ^= delta.key
    pos.psq -= delta.psq


@inlined
def _flip(pos, piece, squares):
    """Toggle a piece on a set of squares, in the bitboards only."""
    pos.by_type[piece & 7] ^= squares
    pos.by_color[piece >> 3] ^= squares
    pos.by_type[0] ^= squares


@inlined
def _can_capture_en_passant(tables, pos, target):
    """Return whether the side to move has a legal en passant capture on `target`."""
    us = np.int64(pos.stm)
    pawns = tables.pawn[us ^ 1, target] & pos.by_type[PAWN] & pos.by_color[us]
    while pawns:
        if en_passant_is_safe(tables, pos, lsb(pawns), target, us):
            return True
        pawns = without_lsb(pawns)
    return False


@inlined
def _castling_key(tables, rooks):
    """Return the change of the key when rooks lose their right to castle."""
    key = ZERO
    while rooks:
        key ^= tables.zobrist_castling[lsb(rooks)]
        rooks = without_lsb(rooks)
    return key


@kernel
def make(tables, old, new, move):
    """Write the position after a legal move in `old` into `new`."""
    copy_record(new, old)
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    us = np.int64(old.stm)
    piece = np.int64(old.board[source])
    new.stm = us ^ 1
    new.ep = NO_SQUARE
    new.rule50 += 1
    new.plies_from_null += 1
    # The key and the sum stay in registers for most moves, because the memory of `new` has only just been written.
    key = old.key ^ tables.zobrist_stm ^ tables.zobrist_ep[old.ep]
    psq = old.psq
    if old.castling:
        gone = old.castling & (bit(source) | bit(target))
        if piece & 7 == KING:
            gone |= old.castling & old.by_color[us]
        if gone:
            new.castling = old.castling & ~gone
            key ^= _castling_key(tables, gone)

    if kind == CASTLING:
        rook = ROOK | (us << 3)
        new.key = key
        remove_piece(tables, new, piece, source)
        remove_piece(tables, new, rook, target)
        add_piece(tables, new, piece, castling_king_target(us, source, target))
        add_piece(tables, new, rook, castling_rook_target(us, source, target))
    else:
        victim = np.int64(old.board[target])
        if victim:
            _flip(new, victim, bit(target))
            captured = tables.piece_square[victim, target]
            key ^= captured.key
            psq -= captured.psq
            new.rule50 = 0
        _flip(new, piece, bit(source) | bit(target))
        new.board[source] = 0
        new.board[target] = piece
        before = tables.piece_square[piece, source]
        after = tables.piece_square[piece, target]
        new.key = key ^ before.key ^ after.key
        new.psq = psq + after.psq - before.psq
        if piece & 7 == PAWN:
            new.rule50 = 0
            if kind == DOUBLE_PUSH:
                behind = (source + target) >> 1
                if _can_capture_en_passant(tables, new, behind):
                    new.ep = behind
                    new.key ^= tables.zobrist_ep[behind]
            elif kind == EN_PASSANT:
                remove_piece(tables, new, PAWN | ((us ^ 1) << 3), target ^ 8)
            elif kind:
                remove_piece(tables, new, piece, target)
                add_piece(tables, new, kind | (us << 3), target)
    set_checks(tables, new)


@kernel
def make_null(tables, old, new):
    """Write the position after a null move in `old` into `new`. The side to move must not be in check."""
    copy_record(new, old)
    new.stm = np.int64(old.stm) ^ 1
    new.key ^= tables.zobrist_stm ^ tables.zobrist_ep[old.ep]
    new.ep = NO_SQUARE
    new.rule50 += 1
    new.plies_from_null = 0
    set_checks(tables, new)


@inlined
def clear(pos):
    """Clear all fields about pieces except `board`, before `add_piece` and `complete` set them."""
    pos.by_type[:] = ZERO
    pos.by_color[:] = ZERO
    pos.key = ZERO
    pos.psq = 0


@kernel
def complete(tables, pos):
    """Derive the remaining fields of a position from its pieces, `stm`, `castling` and `ep`. The en passant square
    becomes `NO_SQUARE` if no capture on it is legal.
    """
    if pos.stm:
        pos.key ^= tables.zobrist_stm
    pos.key ^= _castling_key(tables, pos.castling)
    ep = np.int64(pos.ep)
    if ep != NO_SQUARE:
        if _can_capture_en_passant(tables, pos, ep):
            pos.key ^= tables.zobrist_ep[ep]
        else:
            pos.ep = NO_SQUARE
    set_checks(tables, pos)


@kernel
def set_up(tables, pos):
    """Derive all other fields of a position from `board`, `stm`, `castling` and `ep`; see `complete`."""
    clear(pos)
    for square in range(64):
        piece = np.int64(pos.board[square])
        if piece:
            add_piece(tables, pos, piece, square)
    complete(tables, pos)
