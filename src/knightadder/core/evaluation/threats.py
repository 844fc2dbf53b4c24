"""Threats, space and the centre: the terms that compare the attacks of both sides."""

import numpy as np

from knightadder.native.jit import inlined, kernel, popcount

from ..board.attacks import pawn_attacks
from ..board.bitboard import RANK_3, RANK_6
from ..layout import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from .pieces import CENTRE
from .score import game_phase
from .side import forward, worth
from .terms import START

_BY_PAWN, _BY_MINOR, _BY_ROOK = START["threat_by_pawn"], START["threat_by_minor"], START["threat_by_rook"]
_BY_KING, _HANGING, _BY_PUSH = START["threat_by_king"], START["hanging"], START["threat_by_push"]
_RESTRICTED, _SPACE = START["restricted"], START["space"]
_CENTRE_CONTROL, _CENTRE_PAWN = START["centre_control"], START["centre_pawn"]

_SPACE_PHASE = 12  # minimum game phase at which space counts
_SPACE_WHITE, _SPACE_BLACK = np.uint64(0x000000003C3C3C00), np.uint64(0x003C3C3C00000000)


@inlined
def _count_victims(tables, pos, trace, us, place, victims):
    """Return the packed value of threats against the given pieces, by their types."""
    score = np.int64(0)
    if victims:
        for piece_type in range(PAWN, KING + 1):
            count = popcount(victims & pos.by_type[piece_type])
            score += worth(tables, trace, us, place + piece_type - 1, count)
    return score


@kernel
def threats(tables, worker, pos, trace, us):
    """Return the packed value of a side's threats, from its point of view, once the attacks of both sides are
    collected.
    """
    them = us ^ 1
    side, other = worker.sides[us], worker.sides[them]
    own, enemy = pos.by_color[us], pos.by_color[them]
    enemy_pieces = enemy & ~(pos.by_type[PAWN] | pos.by_type[KING])
    well_defended = other.attacks[PAWN] | other.attacked_twice & ~side.attacked_twice
    weak = enemy & ~pos.by_type[KING] & ~well_defended & side.attacks[0]
    safe = ~other.attacks[0] | side.attacks[0]

    score = np.int64(0)
    by_minor = (weak | enemy_pieces & well_defended) & (side.attacks[KNIGHT] | side.attacks[BISHOP])
    score += _count_victims(tables, pos, trace, us, _BY_MINOR, by_minor)
    by_rook = (weak | enemy_pieces & pos.by_type[QUEEN]) & side.attacks[ROOK]
    score += _count_victims(tables, pos, trace, us, _BY_ROOK, by_rook)
    pawns = own & pos.by_type[PAWN]
    by_pawn = pawn_attacks(us, pawns & safe) & enemy_pieces
    score += _count_victims(tables, pos, trace, us, _BY_PAWN, by_pawn)
    score += worth(tables, trace, us, _BY_KING, popcount(weak & side.attacks[KING]))
    hanging = weak & (~other.attacks[0] | enemy_pieces & side.attacked_twice)
    score += worth(tables, trace, us, _HANGING, popcount(hanging))

    empty = ~pos.by_type[0]
    pushes = forward(us, pawns) & empty
    pushes |= forward(us, pushes & (RANK_3 if us == WHITE else RANK_6)) & empty
    pushes &= ~other.attacks[PAWN] & safe
    score += worth(tables, trace, us, _BY_PUSH, popcount(pawn_attacks(us, pushes) & enemy_pieces))
    contested = other.attacks[0] & ~well_defended & side.attacks[0]
    score += worth(tables, trace, us, _RESTRICTED, popcount(contested))

    score += worth(tables, trace, us, _CENTRE_CONTROL, popcount(side.attacks[0] & CENTRE))
    score += worth(tables, trace, us, _CENTRE_PAWN, popcount(pawns & CENTRE))
    if game_phase(pos) >= _SPACE_PHASE:
        score += worth(tables, trace, us, _SPACE, _space(pos, side, other, own, pawns, us))
    return score


@inlined
def _space(pos, side, other, own, pawns, us):
    """Return the number of safe squares behind a side's pawns, weighted by its number of pieces (after Stockfish)."""
    safe = (_SPACE_WHITE if us == WHITE else _SPACE_BLACK) & ~pawns & ~other.attacks[PAWN]
    behind = forward(us ^ 1, pawns)
    behind |= forward(us ^ 1, behind)
    behind |= forward(us ^ 1, behind)
    squares = popcount(safe) + popcount(behind & safe & ~other.attacks[0])
    crowd = popcount(own) - 3
    return squares * crowd * crowd // 128
