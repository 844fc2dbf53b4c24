"""The small engine's move generator, written for Numba: a set is a 64-bit integer, a position an array of them."""

import numpy as np
from numba import njit
from small_engine import board
from small_engine.board import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE

# A position: six types of pieces, two colours, the rooks that may castle, the en passant square, the side to move.
COLORS, CASTLING, EN_PASSANT, TURN, LENGTH = 6, 8, 9, 10, 11
ZERO, ONE = np.uint64(0), np.uint64(1)
BIT = ONE << np.arange(64, dtype=np.uint64)
DEBRUIJN = np.uint64(0x03F79D71B4CB0A89)
INDEX = np.zeros(64, np.int64)  # the square of a set, by six bits of its product
INDEX[(BIT * DEBRUIJN) >> np.uint64(58)] = np.arange(64)

KNIGHTS, KINGS = np.array(board.KNIGHT_ATTACKS, np.uint64), np.array(board.KING_ATTACKS, np.uint64)
PAWNS = np.array(board.PAWN_ATTACKS, np.uint64)
# The next square in each direction, or -1; the first four directions are those of a rook.
WAYS = board.STRAIGHT + board.DIAGONAL
NEXT = np.array([[board.step(square, *way).bit_length() - 1 for square in range(64)] for way in WAYS])
LOST = np.array([board._ENDS.get(square, 0) for square in range(64)], np.uint64)


def from_fen(fen):
    """Read a position."""
    read = board.from_fen(fen)
    passed = 0 if read.en_passant is None else 1 << read.en_passant
    return np.array([*read.types, *read.colors, read.castling, passed, read.turn], np.uint64)


@njit
def lowest(bits):
    """Give the lowest square of a set."""
    return INDEX[((bits & (~bits + ONE)) * DEBRUIJN) >> np.uint64(58)]


@njit
def slide(square, occupied, first, last):
    """Give what a piece attacks in some directions, up to and including the first piece."""
    bits = ZERO
    for way in range(first, last):
        at = NEXT[way, square]
        while at >= 0:
            bits |= BIT[at]
            if occupied & BIT[at]:
                break
            at = NEXT[way, at]
    return bits


@njit
def attacks(piece, square, occupied):
    """Give the squares that a piece attacks; pawns have a table of their own."""
    if piece == KNIGHT:
        return KNIGHTS[square]
    if piece == KING:
        return KINGS[square]
    return slide(square, occupied, 4 if piece == BISHOP else 0, 4 if piece == ROOK else 8)


@njit
def attacked(position, square, by):
    """Tell whether a side attacks a square."""
    occupied = position[COLORS] | position[COLORS + 1]
    straight, diagonal = position[ROOK] | position[QUEEN], position[BISHOP] | position[QUEEN]
    bits = PAWNS[1 - by, square] & position[PAWN] | KNIGHTS[square] & position[KNIGHT] | KINGS[square] & position[KING]
    bits |= slide(square, occupied, 0, 4) & straight | slide(square, occupied, 4, 8) & diagonal
    return bits & position[COLORS + by] != ZERO


@njit
def piece_at(position, bit):
    """Give the type of the piece on a square, or -1."""
    for piece in range(6):
        if position[piece] & bit:
            return piece
    return -1


@njit
def make(position, child, start, target, promotion):
    """Make a move in a copy; it may leave the king in check."""
    child[:] = position
    us = np.int64(position[TURN])
    them = 1 - us
    piece, victim = piece_at(position, BIT[start]), piece_at(position, BIT[target])
    if victim >= 0:
        child[victim] ^= BIT[target]
        child[COLORS + them] ^= BIT[target]
    child[piece] ^= BIT[start]
    child[promotion if promotion else piece] ^= BIT[target]
    child[COLORS + us] ^= BIT[start] | BIT[target]
    child[EN_PASSANT] = ZERO
    if piece == PAWN:
        if BIT[target] == position[EN_PASSANT]:
            child[PAWN] ^= BIT[target ^ 8]
            child[COLORS + them] ^= BIT[target ^ 8]
        elif abs(target - start) == 16:
            child[EN_PASSANT] = BIT[(start + target) // 2]
    elif piece == KING and abs(target - start) == 2:
        corner, beside = (target + 1, target - 1) if target > start else (target - 2, target + 1)
        child[ROOK] ^= BIT[corner] | BIT[beside]
        child[COLORS + us] ^= BIT[corner] | BIT[beside]
    child[CASTLING] &= ~(LOST[start] | LOST[target])
    child[TURN] = np.uint64(them)


@njit
def generate(position, moves):
    """Write all moves as rows of start, target and promotion (0: none); return how many there are."""
    us = np.int64(position[TURN])
    own, enemy = position[COLORS + us], position[COLORS + 1 - us]
    occupied = own | enemy
    forward, first_rank, last_rank = (8, 1, 7) if us == WHITE else (-8, 6, 0)
    count = 0
    for piece in range(6):
        pieces = position[piece] & own
        while pieces:
            start = lowest(pieces)
            pieces &= pieces - ONE
            if piece == PAWN:
                targets = PAWNS[us, start] & (enemy | position[EN_PASSANT])
                if not BIT[start + forward] & occupied:
                    targets |= BIT[start + forward]
                    if start // 8 == first_rank:
                        targets |= BIT[start + 2 * forward] & ~occupied
            else:
                targets = attacks(piece, start, occupied) & ~own
            while targets:
                target = lowest(targets)
                targets &= targets - ONE
                promotes = piece == PAWN and target // 8 == last_rank
                for promotion in range(KNIGHT if promotes else 0, KING if promotes else 1):
                    moves[count, 0], moves[count, 1], moves[count, 2] = start, target, promotion
                    count += 1
    king = 4 if us == WHITE else 60
    rooks = position[CASTLING] & own
    if rooks and not attacked(position, king, 1 - us):
        while rooks:
            rook = lowest(rooks)
            rooks &= rooks - ONE
            way = 1 if rook > king else -1
            blocked = attacked(position, king + way, 1 - us)
            for square in range(min(rook, king) + 1, max(rook, king)):
                blocked |= occupied & BIT[square] != ZERO
            if not blocked:
                moves[count, 0], moves[count, 1], moves[count, 2] = king, king + 2 * way, 0
                count += 1
    return count


@njit
def _perft(stack, lists, ply, depth):
    us = np.int64(stack[ply, TURN])
    nodes = 0
    for number in range(generate(stack[ply], lists[ply])):
        start, target, promotion = lists[ply, number]
        child = stack[ply + 1]
        make(stack[ply], child, start, target, promotion)
        if not attacked(child, lowest(child[KING] & child[COLORS + us]), 1 - us):
            nodes += 1 if depth == 1 else _perft(stack, lists, ply + 1, depth - 1)
    return nodes


def perft(position, depth):
    """Count the sequences of so many legal moves; depth is at least 1."""
    stack = np.zeros((depth + 1, LENGTH), np.uint64)
    stack[0] = position
    return _perft(stack, np.zeros((depth, 256, 3), np.int64), 0, depth)
