"""Numbers that all modules of the core share: squares, pieces, and the limits of searches and move lists.

Squares are numbered little-endian rank-file (LERF): a1 = 0, b1 = 1, … h8 = 63.
"""

MAX_PLY = 192
MAX_DEPTH = MAX_PLY - 64  # maximum depth of an iteration, in plies; extensions go deeper
MAX_MOVES = 256  # room for the legal moves of a position; the known maximum is 218

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = 1, 2, 3, 4, 5, 6  # piece = colour * 8 + type, 0 = empty square
NO_SQUARE = 64
MAX_MEN_ON_BOARD = 32
