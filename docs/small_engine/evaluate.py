"""The evaluation of the small engine: piece values, and a value for each square."""

from .board import BLACK, KING, PAWN, WHITE, attacks, squares

VALUES = (100, 320, 330, 500, 900, 0)  # centipawns; the kings are always there
PHASES = (0, 1, 1, 2, 4, 0)  # they add up to 24 at the start of a game


def _value(piece, square, is_end):
    """Reason out the value of a white piece on a square: see the chapter about values."""
    file, rank = square % 8, square // 8
    from_centre = max(abs(2 * file - 7), abs(2 * rank - 7))  # 1 in the centre, 7 on the edge
    if piece == PAWN:
        return VALUES[PAWN] + (15 * (rank - 1) if is_end else 5 * (rank - 1) * (from_centre < 4))
    if piece == KING:
        return -6 * from_centre if is_end else 5 * abs(2 * file - 7) - 20 * rank
    return VALUES[piece] + 4 * attacks(piece, square, 0).bit_count()


MIDDLE, END = ([[_value(piece, square, end) for square in range(64)] for piece in range(6)] for end in (False, True))


def evaluate(position):
    """Give the value of a position for the side to move, without any search."""
    middle = end = phase = 0
    for color, sign, flip in ((WHITE, 1, 0), (BLACK, -1, 56)):
        for piece in range(6):
            for square in squares(position.types[piece] & position.colors[color]):
                middle += sign * MIDDLE[piece][square ^ flip]
                end += sign * END[piece][square ^ flip]
                phase += PHASES[piece]
    score = (middle * min(phase, 24) + end * (24 - min(phase, 24))) // 24
    return score if position.turn == WHITE else -score
