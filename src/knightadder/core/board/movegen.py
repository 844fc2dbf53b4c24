"""Legal move generation, by stage.

The generator needs the position's `checkers` and `pinned` sets (`attacks.set_checks`) and writes only legal moves. A
pinned piece stays on its line. In check, every move except a king move must capture the checking piece or block its
line. An en passant capture can uncover an attack without any piece being pinned, so each such capture is tested with
the occupied squares after it.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb, popcount

from ..layout import BISHOP, KNIGHT, NO_SQUARE, PAWN, QUEEN, ROOK, WHITE
from .attacks import (
    attacks_of,
    bishop_attacks,
    diagonal_sliders,
    is_attacked,
    king_square,
    rook_attacks,
    straight_sliders,
)
from .bitboard import (
    ALL_SQUARES,
    EIGHT,
    NINE,
    NOT_FILE_A,
    NOT_FILE_H,
    RANK_1_8,
    RANK_3,
    RANK_6,
    SEVEN,
    ZERO,
    bit,
    without_lsb,
)
from .moves import CASTLING, DOUBLE_PUSH, EN_PASSANT, NORMAL, kind_of, new_move, source_of, target_of

# Stages, as bits. Noisy moves are captures and promotions; quiet moves are all others.
NOISY, QUIET, ALL = np.int64(1), np.int64(2), np.int64(3)


# In the following functions, `moves` is an array, or None to count the moves without writing them.


@inlined
def _add(moves, n, move):
    if moves is not None:
        moves[n] = move
    return n + 1


@inlined
def _add_targets(moves, n, source, targets):
    if moves is None:
        return n + popcount(targets)
    while targets:
        n = _add(moves, n, new_move(source, lsb(targets), NORMAL))
        targets = without_lsb(targets)
    return n


@inlined
def _add_pawn_moves(moves, n, step, targets, kind):
    if moves is None:
        return n + popcount(targets)
    while targets:
        target = lsb(targets)
        n = _add(moves, n, new_move(target - step, target, kind))
        targets = without_lsb(targets)
    return n


@inlined
def _add_promotions(moves, n, step, targets):
    if moves is None:
        return n + 4 * popcount(targets)
    while targets:
        target = lsb(targets)
        source = target - step
        n = _add(moves, n, new_move(source, target, QUEEN))
        n = _add(moves, n, new_move(source, target, KNIGHT))
        n = _add(moves, n, new_move(source, target, ROOK))
        n = _add(moves, n, new_move(source, target, BISHOP))
        targets = without_lsb(targets)
    return n


@inlined
def _add_pawns(moves, n, pawns, captures, pushes, empty, us):
    """Add pawn moves; `captures` and `pushes` are the allowed target squares."""
    if us == WHITE:
        single = (pawns << EIGHT) & empty
        double = ((single & RANK_3) << EIGHT) & pushes
        west = ((pawns & NOT_FILE_A) << SEVEN) & captures
        east = ((pawns & NOT_FILE_H) << NINE) & captures
        forward, to_west, to_east = 8, 7, 9
    else:
        single = (pawns >> EIGHT) & empty
        double = ((single & RANK_6) >> EIGHT) & pushes
        west = ((pawns & NOT_FILE_A) >> NINE) & captures
        east = ((pawns & NOT_FILE_H) >> SEVEN) & captures
        forward, to_west, to_east = -8, -9, -7
    single &= pushes
    if (west | east | single) & RANK_1_8:
        n = _add_promotions(moves, n, to_west, west & RANK_1_8)
        n = _add_promotions(moves, n, to_east, east & RANK_1_8)
        n = _add_promotions(moves, n, forward, single & RANK_1_8)
        west, east, single = west & ~RANK_1_8, east & ~RANK_1_8, single & ~RANK_1_8
    n = _add_pawn_moves(moves, n, to_west, west, NORMAL)
    n = _add_pawn_moves(moves, n, to_east, east, NORMAL)
    n = _add_pawn_moves(moves, n, forward, single, NORMAL)
    return _add_pawn_moves(moves, n, 2 * forward, double, DOUBLE_PUSH)


@inlined
def en_passant_is_safe(tables, pos, source, target, us):
    """Return whether the king of `us` is safe once the pawn on `source` has captured en passant on `target`."""
    captured = bit(target ^ 8)
    occupied = (pos.by_type[0] ^ bit(source) ^ captured) | bit(target)
    enemies = pos.by_color[us ^ 1] & ~captured
    king = king_square(pos, us)
    hits = (
        (bishop_attacks(tables, king, occupied) & diagonal_sliders(pos))
        | (rook_attacks(tables, king, occupied) & straight_sliders(pos))
        | (tables.knight[king] & pos.by_type[KNIGHT])
        | (tables.pawn[us, king] & pos.by_type[PAWN])
    )
    return hits & enemies == ZERO


@inlined
def castling_king_target(us, king, rook):
    """Return the king's square after castling: the g- or c-file."""
    return us * 56 + (6 if rook > king else 2)


@inlined
def castling_rook_target(us, king, rook):
    """Return the rook's square after castling: the f- or d-file."""
    return us * 56 + (5 if rook > king else 3)


@inlined
def _castling_is_legal(tables, pos, king, rook, us):
    """Return whether a side, which has the right and is not in check, may castle with the rook on `rook`."""
    king_target = castling_king_target(us, king, rook)
    rook_target = castling_rook_target(us, king, rook)
    both = bit(king) | bit(rook)
    king_path = tables.between[king, king_target] | bit(king_target)
    rook_path = tables.between[rook, rook_target] | bit(rook_target)
    if (king_path | rook_path) & pos.by_type[0] & ~both:
        return False
    # In Chess960 the castling rook may shield the king from an attack, so the target is tested with the rook moved.
    occupied = (pos.by_type[0] & ~both) | bit(rook_target)
    if is_attacked(tables, pos, king_target, occupied, us ^ 1):
        return False
    path = king_path & ~bit(king_target)
    while path:
        if is_attacked(tables, pos, lsb(path), pos.by_type[0], us ^ 1):
            return False
        path = without_lsb(path)
    return True


@kernel
def generate(tables, pos, frame, start, stage):
    """Write the legal moves of a stage into ``frame.moves[start:]`` and return the new end."""
    return _generate(tables, pos, frame.moves, start, stage)


@kernel
def count_moves(tables, pos):
    """Count the legal moves."""
    return _generate(tables, pos, None, np.int64(0), ALL)


@inlined
def _generate(tables, pos, moves, n, stage):
    us = np.int64(pos.stm)
    occupied = pos.by_type[0]
    empty = ~occupied
    own = pos.by_color[us]
    enemies = pos.by_color[us ^ 1]
    king = king_square(pos, us)
    captures = enemies if stage & NOISY else ZERO
    quiets = empty if stage & QUIET else ZERO

    targets = tables.king[king] & (captures | quiets)
    without_king = occupied ^ bit(king)
    while targets:
        target = lsb(targets)
        if not is_attacked(tables, pos, target, without_king, us ^ 1):
            n = _add(moves, n, new_move(king, target, NORMAL))
        targets = without_lsb(targets)

    answers = ALL_SQUARES
    checkers = pos.checkers
    if checkers:
        if without_lsb(checkers):
            return n  # only the king can answer a double check
        answers = tables.between[king, lsb(checkers)] | checkers
    elif stage & QUIET:
        rooks = pos.castling & own
        while rooks:
            rook = lsb(rooks)
            if _castling_is_legal(tables, pos, king, rook, us):
                n = _add(moves, n, new_move(king, rook, CASTLING))
            rooks = without_lsb(rooks)

    captures &= answers
    pushes = quiets & answers & ~RANK_1_8
    if stage & NOISY:
        pushes |= empty & answers & RANK_1_8
    targets = captures | (quiets & answers)

    pinned = pos.pinned
    knights = pos.by_type[KNIGHT]
    diagonal, straight = diagonal_sliders(pos), straight_sliders(pos)
    pieces = own & knights & ~pinned
    while pieces:
        source = lsb(pieces)
        n = _add_targets(moves, n, source, tables.knight[source] & targets)
        pieces = without_lsb(pieces)
    pieces = own & diagonal & ~pinned
    while pieces:
        source = lsb(pieces)
        n = _add_targets(moves, n, source, bishop_attacks(tables, source, occupied) & targets)
        pieces = without_lsb(pieces)
    pieces = own & straight & ~pinned
    while pieces:
        source = lsb(pieces)
        n = _add_targets(moves, n, source, rook_attacks(tables, source, occupied) & targets)
        pieces = without_lsb(pieces)
    pawns = pos.by_type[PAWN] & own
    n = _add_pawns(moves, n, pawns & ~pinned, captures, pushes, empty, us)

    pieces = pinned & ~knights  # a pinned knight never moves
    while pieces:
        source = lsb(pieces)
        piece = bit(source)
        line = tables.line[king, source]
        if piece & pawns:
            n = _add_pawns(moves, n, piece, captures & line, pushes & line, empty, us)
        else:
            reach = ZERO
            if piece & diagonal:
                reach |= bishop_attacks(tables, source, occupied)
            if piece & straight:
                reach |= rook_attacks(tables, source, occupied)
            n = _add_targets(moves, n, source, reach & targets & line)
        pieces = without_lsb(pieces)

    ep = np.int64(pos.ep)
    if ep != NO_SQUARE and stage & NOISY:
        pieces = tables.pawn[us ^ 1, ep] & pawns
        while pieces:
            source = lsb(pieces)
            if en_passant_is_safe(tables, pos, source, ep, us):
                n = _add(moves, n, new_move(source, ep, EN_PASSANT))
            pieces = without_lsb(pieces)
    return n


@inlined
def _is_pseudo_legal_pawn(tables, pos, source, target, kind, us):
    enemies = pos.by_color[us ^ 1]
    attacked = tables.pawn[us, source] & bit(target)
    if kind == EN_PASSANT:
        return target == pos.ep and attacked != ZERO
    promotes = kind >= KNIGHT and kind <= QUEEN
    if promotes != (bit(target) & RANK_1_8 != ZERO):
        return False
    if not promotes and kind != NORMAL and kind != DOUBLE_PUSH:
        return False
    if attacked:
        return kind != DOUBLE_PUSH and attacked & enemies != ZERO
    step = 8 - 16 * us
    if pos.by_type[0] & bit(source + step):
        return False
    if kind == DOUBLE_PUSH:
        start = source >> 3 == 1 + 5 * us
        return start and target == source + 2 * step and pos.by_type[0] & bit(target) == ZERO
    return target == source + step


@kernel
def is_pseudo_legal(tables, pos, move):
    """Return whether a 16-bit move is pseudo-legal: it fits the position, but may expose the king to check. Castling is
    tested completely, because its rules concern attacked squares anyway.
    """
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    us = np.int64(pos.stm)
    own = pos.by_color[us]
    if own & bit(source) == ZERO:
        return False
    if kind == CASTLING:
        rights = pos.castling & own & bit(target)
        if source != king_square(pos, us) or rights == ZERO or pos.checkers != ZERO:
            return False
        return _castling_is_legal(tables, pos, source, target, us)
    if own & bit(target):
        return False
    piece_type = np.int64(pos.board[source]) & 7
    if piece_type == PAWN:
        return _is_pseudo_legal_pawn(tables, pos, source, target, kind, us)
    if kind != NORMAL:
        return False
    return attacks_of(tables, piece_type, source, pos.by_type[0]) & bit(target) != ZERO


@kernel
def is_legal(tables, pos, move):
    """Return whether a 16-bit move, such as the hash move of a different position, is legal here."""
    if not is_pseudo_legal(tables, pos, move):
        return False
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    us = np.int64(pos.stm)
    if kind == CASTLING:
        return True
    if kind == EN_PASSANT:
        return en_passant_is_safe(tables, pos, source, target, us)
    king = king_square(pos, us)
    if source == king:
        return not is_attacked(tables, pos, target, pos.by_type[0] ^ bit(king), us ^ 1)
    checkers = pos.checkers
    if checkers:
        if without_lsb(checkers):
            return False
        answers = tables.between[king, lsb(checkers)] | checkers
        if answers & bit(target) == ZERO:
            return False
    pin = pos.pinned & bit(source)
    return pin == ZERO or tables.line[king, source] & bit(target) != ZERO
