"""King safety: the enemy's attack on the king, measured in attack units. Each further unit is worth more."""

from knightadder.native.jit import kernel, popcount

from ..board.attacks import bishop_attacks, king_square, rook_attacks
from ..board.bitboard import ZERO
from ..layout import BISHOP, KING, KNIGHT, QUEEN, ROOK
from .side import ONCE, worth
from .terms import START

_DANGER, _CASTLING = START["king_danger"], START["castling_right"]
_MAX_UNITS = 63

# Attack units for a check that a piece of this type can give without being captured.
_KNIGHT_CHECK, _BISHOP_CHECK, _ROOK_CHECK, _QUEEN_CHECK = 5, 3, 6, 5


@kernel
def king_safety(tables, worker, pos, trace, us):
    """Return the packed value of a side's castling rights and of the attack against its king, from the side's view. The
    attacks of both sides must have been collected.
    """
    them = us ^ 1
    side, other = worker.sides[us], worker.sides[them]
    enemy = pos.by_color[them]
    king = king_square(pos, us)
    # Squares that the enemy attacks, and that nothing but the king or the queen defends.
    weak = other.attacks[0] & ~side.attacked_twice & (~side.attacks[0] | side.attacks[KING] | side.attacks[QUEEN])
    units = side.danger + 2 * popcount(weak & side.king_ring)
    safe = ~enemy & (~side.attacks[0] | weak & other.attacked_twice)
    through = pos.by_type[0] ^ (pos.by_type[QUEEN] & ~enemy)
    straight, diagonal = rook_attacks(tables, king, through) & safe, bishop_attacks(tables, king, through) & safe
    if straight & other.attacks[ROOK]:
        units += _ROOK_CHECK
    if diagonal & other.attacks[BISHOP]:
        units += _BISHOP_CHECK
    if (straight | diagonal) & other.attacks[QUEEN] & ~side.attacks[QUEEN]:
        units += _QUEEN_CHECK
    if tables.knight[king] & safe & other.attacks[KNIGHT]:
        units += _KNIGHT_CHECK
    if enemy & pos.by_type[QUEEN] == ZERO:
        units //= 2
    rights = popcount(pos.castling & pos.by_color[us])
    castling = worth(tables, trace, us, _CASTLING, rights)
    return castling + worth(tables, trace, us, _DANGER + min(units, _MAX_UNITS), ONCE)
