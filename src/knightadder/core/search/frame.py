"""The frame: what search keeps for one ply."""

import numpy as np

from knightadder.native.records import record

from ..layout import MAX_MOVES, MAX_PLY

NO_PLY = MAX_PLY + 2  # the frame that stands for plies before the root
PIECE_TO = 16 * 64

FRAME = record(  # what search keeps for one ply
    ("moves", np.int64, MAX_MOVES),
    ("scores", np.int32, MAX_MOVES),  # of the moves, while they are picked: score << 8 | place
    ("pv", np.uint16, MAX_PLY),
    ("pv_length", np.int64),
    ("killers", np.int64, 2),
    ("move", np.int64),  # the move being searched from this ply; 0 = null move
    ("piece_to", np.int64),  # that move's piece * 64 + target square; 0 for a null move
    ("reduction", np.int64),  # plies by which that move's search is reduced
    ("threats", np.uint64),  # squares that the opponent attacks
    ("check_squares", np.uint64, 8),  # by type of piece: from where one of the side to move would give check
    ("continuations", np.int64, 3),  # rows of the continuation history for the moves 1, 2 and 4 plies ago
    ("excluded", np.int64),  # the move that is left out while it is tested for being singular
    ("static_eval", np.int64),  # centipawns for the side to move; `NO_EVAL` in check
    # the move picker
    ("stage", np.int64),
    ("hash_move", np.int64),
    ("index", np.int64),
    ("end", np.int64),
    ("bad_end", np.int64),
    ("with_quiets", np.int64),  # 0 = no (more) quiet moves are wanted
    ("quiets", np.uint16, MAX_MOVES),  # quiet moves that were searched
    ("noisies", np.uint16, MAX_MOVES),  # captures and promotions that were searched
)
