"""The frame: the working data of a search at one ply."""

import numpy as np

from knightadder.native.records import record

from ..layout import MAX_MOVES, MAX_PLY

NO_PLY = MAX_PLY + 2  # index of an empty frame, which stands for the plies before the root
PIECE_TO = 16 * 64  # number of pairs of piece and target square

FRAME = record(
    ("moves", np.int64, MAX_MOVES),
    ("scores", np.int32, MAX_MOVES),  # for the move picker: (score of the move << 8) | its index
    ("pv", np.uint16, MAX_PLY),
    ("pv_length", np.int64),
    ("killers", np.int64, 2),
    ("move", np.int64),  # the move being searched from this ply; 0 for a null move
    ("piece_to", np.int64),  # piece * 64 + target square of that move; 0 for a null move
    ("reduction", np.int64),  # reduction of that move's search, in plies
    ("threats", np.uint64),  # squares that the opponent attacks
    ("check_squares", np.uint64, 8),  # by type of piece: squares from which such a piece would give check
    ("continuations", np.int64, 3),  # index of the continuation history rows of the moves 1, 2 and 4 plies ago
    ("excluded", np.int64),  # the move left out to test whether it is singular; else 0
    ("static_eval", np.int64),  # centipawns for the side to move; `NO_EVAL` in check
    # State of the move picker:
    ("stage", np.int64),
    ("hash_move", np.int64),
    ("index", np.int64),
    ("end", np.int64),
    ("bad_end", np.int64),
    ("with_quiets", np.int64),  # 0 = skip the remaining quiet moves
    ("quiets", np.uint16, MAX_MOVES),  # searched quiet moves
    ("noisies", np.uint16, MAX_MOVES),  # searched captures and promotions
)
