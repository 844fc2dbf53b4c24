"""Syzygy tablebases: the values of positions with few men.

A value is a win, draw or loss (WDL), or a distance to zeroing (DTZ): the plies to the next capture or pawn move. The
value in a table may be wrong if a capture is best, and tables ignore en passant. A DTZ table may also be wrong if a
pawn move is best. So a probe includes a small search of these moves. The tables are by Ronald de Man
(https://github.com/syzygy1/tb); see https://www.chessprogramming.org/Syzygy_Bases.

WDL values are from the side to move's view: 2 is a win, 1 a win that the fifty-move rule makes a draw (*cursed*), 0 a
draw, -1 a loss that the rule makes a draw (*blessed*), and -2 a loss. They assume that the last move was a capture or a
pawn move.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb, popcount
from knightadder.native.records import record
from knightadder.native.signatures import record_type

from ..board.bitboard import ZERO
from ..board.movegen import ALL, NOISY, generate
from ..board.moves import EN_PASSANT, kind_of, moved_type, target_of
from ..board.position import make
from ..layout import KING, MAX_PLY, NO_SQUARE, PAWN
from .index import MAX_MEN, MAX_PAWNS, lead_pawns, pawn_index, piece_index
from .pairs import FAILED, SYZYGY_PAIRS, decompress, load16

MATERIALS = 1_511  # number of sets of 3 to 7 men with both kings; swapped colours count once
MATERIAL_PLACES = 8_192  # a power of 2, more than twice `MATERIALS`

SYZYGY_TABLE = record(  # one Syzygy file
    ("address", np.uint64),  # address of the first byte of the file
    ("file_size", np.int64),  # in bytes
    ("key", np.uint64),  # its pieces, with the table's White first; see `_material`
    ("symmetric", np.int64),  # 1 = both sides have the same pieces, and the table covers only White to move
    ("has_pawns", np.int64),
    ("pairs", SYZYGY_PAIRS, (2, 4)),  # by side to move and file of the leading pawn
)

MATERIAL = record(  # a slot of the hash table of materials
    ("key", np.uint64),  # 0 = free
    ("wdl", np.int32),  # index of the WDL table, -1 = none
    ("dtz", np.int32),
)

TABLEBASES = record(  # read-only during a search, shared by all threads; unused pages take no memory
    ("largest", np.int64),  # maximum number of men in the WDL tables; 0 = no tables
    ("binomials", np.int64, (MAX_MEN, 64)),  # [k, n] = number of ways to choose k of n
    ("kings", np.int16, (10, 64)),  # number of a placement of both kings, by the first king's number in the triangle
    ("lead_pawns", np.int64, (MAX_PAWNS, 24)),  # [other pawns, square of the leading pawn] = first number
    ("places", MATERIAL, MATERIAL_PLACES),
    ("tables", SYZYGY_TABLE, 2 * MATERIALS),
)
Tablebases = record_type(TABLEBASES)

# Outcomes of a probe. ZEROING: the best move is a capture or a pawn move, so the DTZ table has no value for it.
# OTHER_SIDE: the DTZ table has only positions with the other side to move.
NOT_FOUND, FOUND, ZEROING, OTHER_SIDE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)

_NO, _YES = np.int64(0), np.int64(1)
_ZERO = np.int64(0)
WIN, LOSS = np.int64(2), np.int64(-2)
_NO_DTZ = np.int64(1 << 16)

# Flags of a DTZ array.
BLACK_TO_MOVE, MAPPED, WIN_IN_PLIES, LOSS_IN_PLIES, WIDE_MAP = 1, 2, 4, 8, 16

_BITS_PER_KIND = np.uint64(4)  # of a material key
PLACE_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2 ** 64 divided by the golden ratio
PLACE_SHIFT = np.uint64(64 - (MATERIAL_PLACES - 1).bit_length())


@inlined
def _material(pos):
    """Return the material key: `_BITS_PER_KIND` bits per kind of piece, White's pawns highest, the kings left out."""
    key = ZERO
    for color in range(2):
        own = pos.by_color[color]
        for piece_type in range(PAWN, KING):
            key = (key << _BITS_PER_KIND) | np.uint64(popcount(pos.by_type[piece_type] & own))
    return key


@inlined
def _find_material(tablebases, key):
    place = np.int64((key * PLACE_FACTOR) >> PLACE_SHIFT)
    while tablebases.places[place].key != key:
        if tablebases.places[place].key == ZERO:
            return FAILED
        place = (place + 1) & (MATERIAL_PLACES - 1)
    return place


@kernel
def _look_up(tablebases, pos, wdl, of_dtz):
    """Look up a position in its WDL table or, with `of_dtz` and the known WDL value `wdl`, in its DTZ table; return the
    value and the outcome. The value is WDL, or the number of plies to the next capture or pawn move.
    """
    key = _material(pos)
    place = _find_material(tablebases, key)
    if place < 0:
        return _ZERO, NOT_FOUND
    number = np.int64(tablebases.places[place].dtz if of_dtz else tablebases.places[place].wdl)
    if number < 0:
        return _ZERO, NOT_FOUND
    table = tablebases.tables[number]
    us = np.int64(pos.stm)
    colors = np.int64(8 * us) if table.symmetric else np.int64(0 if table.key == key else 8)
    side = us ^ (colors >> 3)
    file = np.int64(0)
    lead = ZERO
    if table.has_pawns:
        lead = lead_pawns(pos, np.int64(table.pairs[0, 0].pieces[0]) ^ colors, 7 * colors)
        file = lsb(lead) // 12
    if of_dtz:
        flags = table.pairs[0, file].dtz_flags
        if flags & BLACK_TO_MOVE != side and (table.has_pawns or not table.symmetric):
            return _ZERO, OTHER_SIDE
        side = np.int64(0)
    pairs = table.pairs[side, file]
    if table.has_pawns:
        index = pawn_index(tablebases, pairs, pos, colors, lead)
    else:
        index = piece_index(tablebases, pairs, pos, colors)
    value = decompress(table, pairs, index)
    if value == FAILED:
        return _ZERO, NOT_FOUND
    if of_dtz:
        return _plies(table, pairs, value, wdl)
    if (value & 0xFF) > 4:
        return _ZERO, NOT_FOUND
    return (value & 0xFF) - 2, FOUND


@inlined
def _plies(table, pairs, value, wdl):
    """Return the number of plies that a value in a DTZ array stands for, and the outcome."""
    flags = pairs.dtz_flags
    if flags & MAPPED:
        # The maps in the file are for wins, losses, cursed wins and blessed losses.
        if wdl > 0:
            which = np.int64(0 if wdl == 2 else 2)
        else:
            which = np.int64(1 if wdl == -2 else 3)
        if value >= pairs.map_lengths[which]:
            return _ZERO, NOT_FOUND
        if flags & WIDE_MAP:
            value = load16(table, pairs.map_offsets[which] + 2 * value)
        else:
            value = load16(table, pairs.map_offsets[which] + value) & 0xFF
    # Tables count moves instead of plies if the fifty-move rule allows it.
    in_plies = (wdl == 2 and flags & WIN_IN_PLIES) or (wdl == -2 and flags & LOSS_IN_PLIES)
    return value if in_plies else 2 * value, FOUND


@inlined
def _captures(pos, move):
    return pos.board[target_of(move)] != 0 or kind_of(move) == EN_PASSANT


@inlined
def _zeroes(pos, move):
    return _captures(pos, move) or moved_type(pos, move) == PAWN


@kernel
def _resolve(tables, tablebases, worker, ply, pawn_moves):
    """Find the WDL value by trying all captures, and with `pawn_moves` all pawn moves, before the table.

    The function returns the value and the outcome. Without `pawn_moves`, the outcome `ZEROING` may mean a capture that
    is only as good as other moves.
    """
    pos, frame = worker.stack[ply], worker.frames[ply]
    # The table ignores en passant captures. So if one is possible, the values of all other moves are needed.
    everything = pawn_moves == _YES or pos.ep != NO_SQUARE
    count = generate(tables, pos, frame, np.int64(0), ALL if everything else NOISY)
    best = LOSS
    tried = np.int64(0)
    for i in range(count):
        move = frame.moves[i]
        if not (_zeroes(pos, move) if pawn_moves == _YES else _captures(pos, move)):
            continue
        tried += 1
        make(tables, pos, worker.stack[ply + 1], move)
        value, outcome = _resolve(tables, tablebases, worker, ply + 1, _NO)
        if outcome == NOT_FOUND:
            return _ZERO, NOT_FOUND
        best = max(best, -value)
        if best == WIN:
            return best, ZEROING
    if everything and tried > 0 and tried == count:
        return best, ZEROING
    value, outcome = (_ZERO, FOUND) if popcount(pos.by_type[0]) == 2 else _look_up(tablebases, pos, _ZERO, _NO)
    if outcome == NOT_FOUND or best < value:
        return value, outcome
    return best, ZEROING if best > 0 else FOUND


@inlined
def dtz_before_zeroing(wdl):
    """Return the DTZ of a position with a known WDL value whose best move is a capture or a pawn move."""
    return np.sign(wdl) * (1 if abs(wdl) == 2 else 101)


@inlined
def dtz_of_move(tables, after, frame, dtz):
    """Return the DTZ of a move from the DTZ of the position after it; a mate has the DTZ 1. The move must not be a
    capture or a pawn move. The moves of the frame are overwritten.
    """
    mated = dtz == -1 and after.checkers != ZERO
    if mated and generate(tables, after, frame, np.int64(0), ALL) == 0:
        return -dtz
    return -dtz - np.sign(dtz)


@kernel
def _dtz_of_table(tables, tablebases, worker, ply):
    """Find the DTZ value by captures, pawn moves and the table. With the outcome `OTHER_SIDE`, the value is WDL."""
    wdl, outcome = _resolve(tables, tablebases, worker, ply, _YES)
    if outcome == NOT_FOUND or wdl == 0:
        return _ZERO, outcome
    if outcome == ZEROING:
        return dtz_before_zeroing(wdl), FOUND
    plies, outcome = _look_up(tablebases, worker.stack[ply], wdl, _YES)
    if outcome == OTHER_SIDE:
        return wdl, outcome
    return dtz_before_zeroing(wdl) + np.sign(wdl) * plies, outcome


@inlined
def _can_probe(tablebases, worker, ply):
    pos = worker.stack[ply]
    men = popcount(pos.by_type[0])
    return men <= tablebases.largest and pos.castling == ZERO and ply + men < MAX_PLY


@kernel
def probe_wdl(tables, tablebases, worker, ply):
    """Probe the WDL tables for the position at a place of the worker's stack; return its value, and 1 if it is known.

    The value is unknown if there are castling rights or too many men, or if a table is missing or damaged. The stack
    after `ply`, and the moves of the frames from `ply` on, are overwritten.
    """
    if not _can_probe(tablebases, worker, ply):
        return _ZERO, NOT_FOUND
    wdl, outcome = _resolve(tables, tablebases, worker, ply, _NO)
    return wdl, np.int64(outcome != NOT_FOUND)


@kernel
def probe_dtz(tables, tablebases, worker, ply):
    """Probe the DTZ and WDL tables like `probe_wdl`; return the DTZ, and 1 if it is known.

    The DTZ is the number of plies to the next capture or pawn move with best play, negative for a loss and 0 for a
    draw. Cursed wins and blessed losses add 100. Most tables count moves, so the true distance may be a ply longer,
    unless that would make the position a draw by the fifty-move rule.
    """
    if not _can_probe(tablebases, worker, ply):
        return _ZERO, NOT_FOUND
    value, outcome = _dtz_of_table(tables, tablebases, worker, ply)
    if outcome != OTHER_SIDE:
        return value, np.int64(outcome != NOT_FOUND)
    # The table covers the positions one ply later, so the best of all moves that keep the result is looked for.
    sign = np.sign(value)
    pos, frame = worker.stack[ply], worker.frames[ply]
    after = worker.stack[ply + 1]
    best = _NO_DTZ
    for i in range(generate(tables, pos, frame, np.int64(0), ALL)):
        move = frame.moves[i]
        make(tables, pos, after, move)
        if _zeroes(pos, move):
            wdl, outcome = _resolve(tables, tablebases, worker, ply + 1, _NO)
            dtz = dtz_before_zeroing(-wdl)
        else:
            dtz, outcome = _dtz_of_table(tables, tablebases, worker, ply + 1)
            dtz = dtz_of_move(tables, after, worker.frames[ply + 1], dtz)
        if outcome == NOT_FOUND or outcome == OTHER_SIDE:
            return _ZERO, NOT_FOUND
        if np.sign(dtz) == sign:
            best = min(best, dtz)
    if best != _NO_DTZ:
        return best, FOUND
    # If no move keeps a loss, there is no legal move: it is mate. If no move keeps a win, the tables are damaged.
    return np.int64(-1), FOUND if sign < 0 else NOT_FOUND
