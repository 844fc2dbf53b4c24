"""Upcoming repetitions: detecting that one move connects the position with an earlier one of the searched line.

The method is Marcel van Kervinck's "Detecting repetitions with cuckoo hashing". If one reversible move connects two
positions, their keys differ by the key of that move. A cuckoo hash table contains the keys of all 3,668 reversible
moves; each key is in one of two places.
"""

import numpy as np

from knightadder.native.jit import kernel

from ..layout import BISHOP, KING, KNIGHT, QUEEN, ROOK
from .bitboard import ZERO
from .moves import NORMAL, new_move, source_of, target_of

GAME_KEYS = 256  # maximum number of earlier positions of the game to keep; the fifty-move rule needs far fewer
CUCKOO_PLACES = 8192

# The two places of a key are its lowest bits, and its bits from `_SECOND` on.
_MASK, _SECOND = np.uint64(CUCKOO_PLACES - 1), np.uint64(16)


@kernel
def can_repeat(tables, worker, pos, ply):
    """Return whether one reversible move connects this position with an earlier one of the line, in either direction.

    If so, the moves in between achieved nothing. The root and the positions before it do not count, because a single
    earlier occurrence there is not yet a draw. The connecting move may be illegal; this is not tested. ``worker.keys``
    must hold the keys up to this ply.
    """
    here = worker.key_count + ply
    furthest = min(np.int64(pos.rule50), np.int64(pos.plies_from_null), ply - 1)
    for distance in range(3, furthest + 1, 2):
        key = pos.key ^ worker.keys[here - distance]
        place = key & _MASK
        if tables.cuckoo_keys[place] != key:
            place = (key >> _SECOND) & _MASK
            if tables.cuckoo_keys[place] != key:
                continue
        move = np.int64(tables.cuckoo_moves[place])
        if tables.between[source_of(move), target_of(move)] & pos.by_type[0] == ZERO:
            return True
    return False


def fill_tables(tables):
    """Fill the keys of reversible moves in a TABLES record, after its attacks and Zobrist numbers."""
    # These are lists, because reading an item of a list is five times as fast as reading an item of an array.
    keys, moves = [0] * CUCKOO_PLACES, [0] * CUCKOO_PLACES
    numbers, stm = tables.piece_square["key"].tolist(), int(tables.zobrist_stm)
    for a in range(64):
        sets = (tables.knight, tables.bishop_rays, tables.rook_rays, tables.king)
        knight, bishop, rook, king = (int(squares[a]) for squares in sets)
        reached = {KNIGHT: knight, BISHOP: bishop, ROOK: rook, QUEEN: bishop | rook, KING: king}
        for piece_type, squares in reached.items():
            for b in range(a + 1, 64):
                if (squares >> b) & 1:
                    for piece in (piece_type, piece_type + 8):
                        _insert(keys, moves, numbers[piece][a] ^ numbers[piece][b] ^ stm, new_move(a, b, int(NORMAL)))
    tables.cuckoo_keys[:] = keys
    tables.cuckoo_moves[:] = moves


def _insert(keys, moves, key, move):
    """Put a key into its first place. The key that was there moves to its other place, and so on."""
    mask, shift = int(_MASK), int(_SECOND)
    place = key & mask
    while True:
        keys[place], key = key, keys[place]
        moves[place], move = move, moves[place]
        if not key:
            return
        first, second = key & mask, (key >> shift) & mask
        place = second if place == first else first
