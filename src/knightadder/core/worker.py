"""The worker: the whole state of a search thread in one record, so that compiled functions pass a single pointer."""

import numpy as np

from knightadder.native.records import record
from knightadder.native.signatures import record_type

from .board.position import POSITION
from .board.repetition import GAME_KEYS
from .evaluation.network import ACCUMULATOR, KEPT_ACCUMULATOR, VIEWS
from .evaluation.pawns import PAWN_ENTRIES, PAWN_ENTRY
from .evaluation.side import SIDE
from .layout import MAX_MOVES, MAX_PLY
from .search.correction import CORRECTIONS
from .search.frame import FRAME, NO_PLY, PIECE_TO
from .search.root import ROOT_MOVE

WORKER = record(  # one search thread
    ("accumulators", ACCUMULATOR, MAX_PLY + 2),  # one per ply; comes first, for alignment
    ("kept_accumulators", KEPT_ACCUMULATOR, 2 * VIEWS),  # by side and view
    ("stack", POSITION, MAX_PLY + 2),
    ("frames", FRAME, NO_PLY + 1),
    ("history", np.int16, (2, 4, 4096)),  # quiet moves by side, attacked squares, from and to; see history.py
    ("captures", np.int16, PIECE_TO * 8),  # captures by piece, target square and captured type
    ("continuation", np.int16, PIECE_TO * PIECE_TO),  # quiet moves by piece and target, also of an earlier move
    ("pawn_correction", np.int16, 2 * CORRECTIONS),  # corrections by side to move and pawns
    ("non_pawn_correction", np.int16, 4 * CORRECTIONS),  # corrections by side to move and each side's other pieces
    ("minor_correction", np.int16, 2 * CORRECTIONS),  # corrections by side to move, minor pieces and kings
    ("continuation_correction", np.int16, (2, PIECE_TO * PIECE_TO)),  # corrections by two earlier moves
    ("learnt_rows", np.uint8, 3 * PIECE_TO),  # one flag per row of the large tables: 1 = in use; see forgetting.py
    ("sides", SIDE, 2),
    ("pawns", PAWN_ENTRY, PAWN_ENTRIES),
    ("keys", np.uint64, GAME_KEYS + MAX_PLY + 2),  # keys of the game's positions up to the root, then of the line
    ("key_count", np.int64),  # number of keys of the game before the root
    ("last_move", np.int64),  # the game's last move before the root; `NO_MOVE` if unknown
    ("nodes", np.uint64),
    ("node_limit", np.uint64),
    ("spare_nodes_address", np.uint64),  # nodes that any thread may take at its `node_limit`; 0 = there are none
    ("seldepth", np.int64),
    ("stopped", np.int64),
    ("proving", np.int64),  # 1 = a mate is being proved: all moves are searched equally deeply
    ("oversight", np.int64),  # weaker play: chance of overlooking a plain quiet move, in 1024ths; 0 = none
    ("misjudgement", np.int64),  # weaker play: maximum error of evaluations in centipawns
    ("weak_seed", np.uint64),  # weaker play: random seed of these errors
    ("null_from_ply", np.int64),  # no null moves are tried before this ply (while a cutoff is being verified)
    ("stop_address", np.uint64),
    ("tt_address", np.uint64),
    ("tt_buckets", np.uint64),
    ("tt_generation", np.int64),
    ("tablebases_address", np.uint64),
    ("probe_men", np.int64),  # maximum number of men in a position to probe; 0 = never probe
    ("probe_depth", np.int64),  # minimum depth in plies for probing positions with `probe_men` men
    ("fifty_moves", np.int64),  # 1 = cursed wins and blessed losses count as draws
    ("tb_hits", np.uint64),  # positions found in tablebases
    ("root_moves", ROOT_MOVE, MAX_MOVES),
    ("root_count", np.int64),
    ("root_depth", np.int64),  # depth of this iteration, in plies
    ("root_alpha", np.int64),  # lower end of the aspiration window, in centipawns for the side to move
    ("root_beta", np.int64),  # upper end of the aspiration window
    ("window", np.int64),  # distance from the expected score to either end of the window
    ("root_index", np.int64),  # number of the root move being searched, in the order of this iteration
    ("widened", np.int64),  # 1 = the last score was outside the window, so the next window is wider
    ("pv_index", np.int64),  # index of the line being searched (MultiPV); earlier root moves are left out
)
Worker = record_type(WORKER)
