"""Pawn structure and the pawns around the kings, in a hash table, because most moves change neither pawns nor kings."""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb
from knightadder.native.records import record

from ..board.attacks import king_square, pawn_attacks
from ..board.bitboard import ZERO, bit, rank_around, without_lsb
from ..layout import BLACK, KING, PAWN, ROOK, WHITE
from .side import ONCE, beside, distance, file_of, fill_files, fill_forward, forward, hindmost, is_in, rank_of, worth
from .terms import START

PAWN_ENTRIES = 4096  # size of the pawn hash table, a power of 2

PAWN_ENTRY = record(  # an entry of the pawn hash table
    ("key", np.uint64),  # hash of the pawns and kings
    ("score", np.int64),  # packed score, from White's view
    ("passed", np.uint64),  # passed pawns of both sides
    ("spans", np.uint64, 2),  # `pawn_span` of both sides
)

_ISOLATED, _DOUBLED, _BACKWARD = START["isolated_pawn"], START["doubled_pawn"], START["backward_pawn"]
_PHALANX, _PROTECTED, _RAM = START["phalanx_pawn"], START["protected_pawn"], START["ram"]
_CANDIDATE, _PASSED, _PASSED_PROTECTED = START["candidate_pawn"], START["passed_pawn"], START["passed_protected"]
_KING_NEAR, _KING_FAR = START["passed_king_near"], START["passed_king_far"]
_PASSED_BLOCKED, _PASSED_FREE, _PASSED_ROOK = START["passed_blocked"], START["passed_free"], START["passed_rook"]
_PASSED_SAFE_STEP, _UNSTOPPABLE = START["passed_safe_step"], START["unstoppable_pawn"]
_SHELTER, _STORM, _STORM_BLOCKED = START["king_shelter"], START["king_storm"], START["king_storm_blocked"]
_OPEN_FILE, _KING_PAWN_DISTANCE = START["king_open_file"], START["king_pawn_distance"]

# Multipliers for hashing: odd numbers without a pattern, from the digits of pi and e.
_A, _B, _C = np.uint64(0xA4093822299F31D1), np.uint64(0x082EFA98EC4E6C89), np.uint64(0xBF7158809CF4F3C7)
_D, _HALF, _SHIFT = np.uint64(0x243F6A8885A308D3), np.uint64(32), np.uint64(64 - PAWN_ENTRIES.bit_length() + 1)


@inlined
def _key(pos):
    """Return a hash of all pawns and both kings."""
    white, black = pos.by_type[PAWN] & pos.by_color[WHITE], pos.by_type[PAWN] & pos.by_color[BLACK]
    kings = pos.by_type[KING]
    mixed = white * _A ^ black * _B ^ kings * _C ^ (kings & pos.by_color[WHITE]) * _D
    return (mixed ^ (mixed >> _HALF)) * _C


@inlined
def probe_pawns(tables, worker, pos, trace):
    """Return the hash table's entry of the pawns and kings, computed anew if it is missing or for a trace."""
    key = _key(pos)
    entry = worker.pawns[key >> _SHIFT]
    if trace is not None or entry.key != key:
        entry.key = key
        _fill(tables, pos, trace, entry)
    return entry


@kernel
def _fill(tables, pos, trace, entry):
    entry.score = 0
    entry.passed = ZERO
    for us in range(2):
        score = _structure(tables, pos, trace, us, entry) + _around_king(tables, pos, trace, us)
        entry.score += score if us == WHITE else -score


@inlined
def _structure(tables, pos, trace, us, entry):
    """Return the packed value of a side's pawn structure, and store its passed pawns and pawn span in the entry."""
    them = us ^ 1
    own, enemy = pos.by_type[PAWN] & pos.by_color[us], pos.by_type[PAWN] & pos.by_color[them]
    attacks, enemy_attacks = pawn_attacks(us, own), pawn_attacks(them, enemy)
    own_files, enemy_files = fill_files(own), fill_files(enemy)
    span = fill_forward(us, attacks)
    entry.spans[us] = span
    enemy_front = fill_forward(them, forward(them, enemy))
    behind_own = fill_forward(them, forward(them, own))
    stopped = enemy_front | fill_forward(them, enemy_attacks)
    isolated = own & ~beside(own_files)
    phalanx = own & beside(own)
    # A pawn is backward if an enemy pawn attacks the square ahead of it, which no other pawn of its side can defend.
    backward = own & ~isolated & ~attacks & forward(them, forward(us, own) & enemy_attacks & ~span)

    score = np.int64(0)
    pawns = own
    while pawns:
        square = lsb(pawns)
        here = bit(square)
        rank = rank_of(us, square)
        half_open = np.int64(enemy_files & here == ZERO)
        step = forward(us, here)
        if isolated & here:
            score += worth(tables, trace, us, _ISOLATED + half_open, ONCE)
        if backward & here:
            score += worth(tables, trace, us, _BACKWARD + half_open, ONCE)
        if behind_own & here:
            score += worth(tables, trace, us, _DOUBLED, ONCE)
        if phalanx & here:
            score += worth(tables, trace, us, _PHALANX + rank, ONCE)
        if attacks & here:
            score += worth(tables, trace, us, _PROTECTED + rank, ONCE)
        if enemy & step:
            score += worth(tables, trace, us, _RAM + rank, ONCE)
        if (stopped | behind_own) & here == ZERO:
            entry.passed |= here
            score += worth(tables, trace, us, _PASSED + rank, ONCE)
            if attacks & here:
                score += worth(tables, trace, us, _PASSED_PROTECTED + rank, ONCE)
            if rank >= 3:
                target = lsb(step)
                near, far = distance(king_square(pos, us), target), distance(king_square(pos, them), target)
                score += worth(tables, trace, us, _KING_NEAR + near, rank - 2)
                score += worth(tables, trace, us, _KING_FAR + far, rank - 2)
        elif (enemy_front | behind_own) & here == ZERO and enemy_attacks & step != ZERO and span & step != ZERO:
            # Enemy pawns attack the next square, but so can pawns of this side: exchanges may make the pawn passed.
            score += worth(tables, trace, us, _CANDIDATE + rank, ONCE)
        pawns = without_lsb(pawns)
    return score


@inlined
def _around_king(tables, pos, trace, us):
    """Return the packed value of the pawns near a king: shelter, enemy storm, open files, and distance to a pawn."""
    own = pos.by_type[PAWN] & pos.by_color[us]
    enemy = pos.by_type[PAWN] & pos.by_color[us ^ 1]
    king = king_square(pos, us)
    ahead = fill_forward(us, rank_around(king))
    centre = max(1, min(6, king & 7))
    score = np.int64(0)
    for file in range(centre - 1, centre + 2):
        column = file_of(file)
        edge = min(file, 7 - file) * 8
        shield, storm = own & column & ahead, enemy & column & ahead
        own_rank = rank_of(us, hindmost(us, shield)) if shield else np.int64(0)
        enemy_rank = rank_of(us, hindmost(us, storm)) if storm else np.int64(0)
        score += worth(tables, trace, us, _SHELTER + edge + own_rank, ONCE)
        if shield and enemy_rank == own_rank + 1:
            score += worth(tables, trace, us, _STORM_BLOCKED + enemy_rank, ONCE)
        else:
            score += worth(tables, trace, us, _STORM + edge + enemy_rank, ONCE)
        if own & column == ZERO:
            score += worth(tables, trace, us, _OPEN_FILE + (0 if enemy & column else 2), ONCE)
        elif enemy & column == ZERO:
            score += worth(tables, trace, us, _OPEN_FILE + 1, ONCE)
    pawns, nearest = pos.by_type[PAWN], np.int64(8)
    while pawns:
        nearest = min(nearest, distance(king, lsb(pawns)))
        pawns = without_lsb(pawns)
    if nearest < 8:
        score += worth(tables, trace, us, _KING_PAWN_DISTANCE + nearest, ONCE)
    return score


@kernel
def passed_pawns(tables, worker, pos, trace, us, passed):
    """Return the packed value that the pieces of both sides add to a side's passed pawns, from the side's view. The
    attacks of both sides must have been collected.
    """
    them = us ^ 1
    occupied = pos.by_type[0]
    own, enemy = pos.by_color[us], pos.by_color[them]
    attacked = worker.sides[them].attacks[0]
    bare = enemy & ~(pos.by_type[PAWN] | pos.by_type[KING]) == ZERO
    enemy_king = king_square(pos, them)
    unstoppable = False
    score = np.int64(0)
    pawns = passed & own
    while pawns:
        square = lsb(pawns)
        rank = rank_of(us, square)
        step = forward(us, bit(square))
        path = fill_forward(us, step)
        if occupied & step:
            score += worth(tables, trace, us, _PASSED_BLOCKED + rank, ONCE)
        elif attacked & step == ZERO:
            score += worth(tables, trace, us, _PASSED_SAFE_STEP + rank, ONCE)
            if (occupied | attacked) & path == ZERO:
                score += worth(tables, trace, us, _PASSED_FREE + rank, ONCE)
        rooks = tables.rook_rays[square] & fill_forward(them, bit(square)) & pos.by_type[ROOK]
        while rooks:
            rook = lsb(rooks)
            if tables.between[square, rook] & occupied == ZERO:
                score += worth(tables, trace, us, _PASSED_ROOK + (0 if is_in(own, rook) else 1), ONCE)
            rooks = without_lsb(rooks)
        if bare and occupied & path == ZERO:
            # Rule of the square: a double step counts as one move, and the side to move is a step ahead.
            steps = min(5, 7 - rank) + (1 if pos.stm == them else 0)
            goal = (square & 7) | (56 if us == WHITE else 0)
            unstoppable = unstoppable or distance(enemy_king, goal) > steps
        pawns = without_lsb(pawns)
    if unstoppable:
        score += worth(tables, trace, us, _UNSTOPPABLE, ONCE)
    return score
