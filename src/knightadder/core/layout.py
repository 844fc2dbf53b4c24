"""The memory layout of everything the core works on, as NumPy structured types.

A search thread's whole state is one record, passed as a pointer: Numba then handles no reference counts and no long
argument lists. The read-only tables are a second record that all threads share.

Squares are numbered little-endian rank-file (LERF): a1 = 0, b1 = 1, … h8 = 63.
"""

import numpy as np

from knightadder.native.memory import HUGE_PAGE, zeroed_bytes
from knightadder.native.signatures import record_type

from .evaluation.terms import TERM_VALUES
from .search.parameters import PARAMETERS

MAX_PLY = 192
MAX_DEPTH = MAX_PLY - 64  # of iterations, in plies; extensions go deeper
MAX_MOVES = 256  # the most legal moves known in a position is 218
NO_PLY = MAX_PLY + 2  # the frame that stands for plies before the root
PIECE_TO = 16 * 64
CORRECTIONS = 16_384  # entries of a correction history, a power of 2
GAME_KEYS = 256  # positions of the game kept to find repetitions; the fifty-move rule needs far fewer

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = 1, 2, 3, 4, 5, 6  # piece = colour * 8 + type, 0 = empty square
NO_SQUARE = 64
NO_EVAL = -32_767  # below any evaluation

PESTO, CLASSICAL, NETWORK = 0, 1, 2  # the evaluations to choose from
INPUTS = 768  # of a network: colour, type and square of a man
HIDDEN = 384  # neurons of its hidden layer for each side
MAX_BUCKETS = 8  # output layers, for different numbers of men
MAX_MEN_ON_BOARD = 32
PAWN_ENTRIES = 4096  # of the pawn hash table, a power of 2

CUCKOO_PLACES = 8192
SLIDER_ENTRIES = 102_400 + 5_248  # attack sets of all rook and bishop occupancies

MAX_MEN = 7  # in a tablebase, kings included
MAX_PAWNS = MAX_MEN - 2
MATERIALS = 1_511  # all sets of 3 to 7 men with a king each; swapped colours count once
MATERIAL_PLACES = 8_192  # a power of 2, more than twice `MATERIALS`
MAX_CODE_LENGTH = 32  # of a Huffman code in a tablebase, in bits


def _record(*fields):
    # A dtype based on np.record lets the same code reach fields by attribute when it runs as plain Python.
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


POSITION = _record(
    ("by_type", np.uint64, 8),  # bitboards by piece type; [0] = all occupied squares
    ("by_color", np.uint64, 2),
    ("key", np.uint64),  # Zobrist key
    ("castling", np.uint64),  # the rooks that may still castle
    ("checkers", np.uint64),  # enemy pieces that give check to the side to move
    ("pinned", np.uint64),  # own pieces of the side to move that are pinned to its king
    ("psq", np.int64),  # piece-square sum, middle game | end game << 32, white's view
    ("board", np.uint8, 64),
    ("stm", np.int32),  # side to move
    ("ep", np.int32),  # en passant target square if a capture there is legal, else NO_SQUARE
    ("rule50", np.int32),  # plies since the last capture or pawn move
    ("plies_from_null", np.int32),  # plies since a null move: repetitions don't reach across one
)

SIDE = _record(  # what the classical evaluation collects about one side of a position
    ("attacks", np.uint64, 7),  # squares attacked, by piece type; [0] = by any piece
    ("attacked_twice", np.uint64),
    ("pawn_span", np.uint64),  # squares that its pawns attack, or can attack after advancing
    ("mobility_area", np.uint64),  # squares that count for the mobility of its pieces
    ("king_ring", np.uint64),  # its king's square and those around it
    ("danger", np.int64),  # attack units against its king
)

PAWN_ENTRY = _record(  # an entry of the pawn hash table
    ("key", np.uint64),  # of the pawns and kings
    ("score", np.int64),  # packed, White's view
    ("passed", np.uint64),  # passed pawns of both sides
    ("spans", np.uint64, 2),  # `pawn_span` of both sides
)

ACCUMULATOR = _record(  # the first layer of a network; a multiple of a cache line
    ("sums", np.int16, (2, HIDDEN)),  # by the side that sees the board
    ("flips", np.int64, 2),  # by that side: 7 = the files are turned around, 0 = they are not
    ("key", np.uint64),  # of the position and the network
    ("padding", np.uint64, 5),
)

FRAME = _record(  # what search keeps for one ply
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

ROOT_MOVE = _record(
    ("move", np.int64),
    ("score", np.int64),
    ("previous_score", np.int64),
    ("nodes", np.uint64),
    ("seldepth", np.int64),
    ("bound", np.int64),
    ("rank", np.int64),  # from the endgame tablebases, higher is better; moves of equal rank stand together
    ("pv_length", np.int64),
    ("pv", np.uint16, MAX_PLY),
)

WORKER = _record(  # one search thread
    ("accumulators", ACCUMULATOR, MAX_PLY + 2),  # by ply, of the position last evaluated there; first, to be aligned
    ("stack", POSITION, MAX_PLY + 2),
    ("frames", FRAME, NO_PLY + 1),
    ("history", np.int16, (2, 4, 4096)),  # quiet moves by side, attacked squares (see history.py), from and to
    ("captures", np.int16, PIECE_TO * 8),  # captures by piece, target square and type of victim
    ("continuation", np.int16, PIECE_TO * PIECE_TO),  # quiet moves by an earlier move's piece and target, and their own
    ("pawn_correction", np.int16, 2 * CORRECTIONS),  # of the evaluation, by side to move and pawns
    ("non_pawn_correction", np.int16, 4 * CORRECTIONS),  # ... by side to move, side, and its other pieces
    ("minor_correction", np.int16, 2 * CORRECTIONS),  # ... by side to move, all minor pieces and kings
    ("continuation_correction", np.int16, (2, PIECE_TO * PIECE_TO)),  # ... by two earlier moves, see correction.py
    ("learnt_rows", np.uint8, 3 * PIECE_TO),  # 1 = that row of `continuation` or `continuation_correction` has values
    ("sides", SIDE, 2),
    ("pawns", PAWN_ENTRY, PAWN_ENTRIES),
    ("keys", np.uint64, GAME_KEYS + MAX_PLY + 2),  # of the game up to the root, then of the current line
    ("key_count", np.int64),  # keys of the game before the root
    ("nodes", np.uint64),
    ("node_limit", np.uint64),
    ("seldepth", np.int64),
    ("stopped", np.int64),
    ("proving", np.int64),  # 1 = a mate is to be proved: no move is searched less deeply than another
    ("null_from_ply", np.int64),  # no null moves at lower plies: a null move is being verified
    ("stop_address", np.uint64),
    ("tt_address", np.uint64),
    ("tt_buckets", np.uint64),
    ("tt_generation", np.int64),
    ("tablebases_address", np.uint64),
    ("probe_men", np.int64),  # most men of a position to probe in tablebases; 0 = never probe
    ("probe_depth", np.int64),  # least depth in plies at which positions with `probe_men` men are probed
    ("fifty_moves", np.int64),  # 1 = wins that the fifty-move rule makes draws count as draws
    ("tb_hits", np.uint64),  # positions found in tablebases
    ("root_moves", ROOT_MOVE, MAX_MOVES),
    ("root_count", np.int64),
    ("root_depth", np.int64),  # plies of this iteration
    ("root_alpha", np.int64),  # the aspiration window, in centipawns for the side to move
    ("root_beta", np.int64),
    ("window", np.int64),  # its size to either side of the score that it was made for
    ("root_index", np.int64),  # place of the root move being searched, in the order of this iteration
    ("pv_index", np.int64),  # the line being searched in MultiPV; root moves before it are excluded
)

MAGIC = _record(
    ("mask", np.uint64),
    ("factor", np.uint64),
    ("shift", np.uint64),
    ("offset", np.uint64),
)

PIECE_SQUARE = _record(  # what a piece on a square adds; adjacent, so that one cache line serves both
    ("key", np.uint64),
    ("psq", np.int64),
)

TRACE = _record(  # the counts that make up the classical value of a position
    ("counts", np.int16, (2, TERM_VALUES)),  # by side: how many times each value of the terms counts
    ("phase", np.int64),  # 24 = middle game only, 0 = end game only
    ("scale", np.int64),  # 64ths of the end-game half that count
)

SEARCH_PARAMETERS = _record(*((parameter.name, np.int64) for parameter in PARAMETERS))

NETWORK_WEIGHTS = _record(  # read-only, shared by all threads
    ("feature_weights", np.int16, (INPUTS, HIDDEN)),  # first, to be aligned
    ("feature_biases", np.int16, HIDDEN),
    ("output_weights", np.int16, (MAX_BUCKETS, 2, HIDDEN)),
    ("output_biases", np.int64, MAX_BUCKETS),
    ("output_bucket", np.int64, MAX_MEN_ON_BOARD + 1),  # by the number of men
    ("mirrored", np.int64),  # 1 = files are turned around where the own king is on files e to h
    ("scale", np.int64),  # centipawns of an output of 1
    ("key", np.uint64),  # tells the networks of a process apart
)

TABLES = _record(  # read-only, shared by all threads
    ("knight", np.uint64, 64),
    ("king", np.uint64, 64),
    ("pawn", np.uint64, (2, 64)),  # squares a pawn of that colour attacks
    ("rook", MAGIC, 64),
    ("bishop", MAGIC, 64),
    ("rook_rays", np.uint64, 64),  # attacks on an empty board
    ("bishop_rays", np.uint64, 64),
    ("between", np.uint64, (64, 64)),  # squares strictly between two squares of one line
    ("line", np.uint64, (64, 64)),  # the whole line through two squares
    ("slider", np.uint64, SLIDER_ENTRIES),
    ("piece_square", PIECE_SQUARE, (16, 64)),
    ("zobrist_castling", np.uint64, 64),  # by the rook's square
    ("zobrist_ep", np.uint64, 65),  # [NO_SQUARE] = 0
    ("zobrist_stm", np.uint64),
    ("cuckoo_keys", np.uint64, CUCKOO_PLACES),  # of all reversible moves, see repetition.py
    ("cuckoo_squares", np.uint16, CUCKOO_PLACES),  # from | to << 6
    ("logs", np.int32, 64),  # natural logarithms, in 1024ths
    ("parameters", SEARCH_PARAMETERS),
    ("evaluation", np.int64),  # `PESTO`, `CLASSICAL` or `NETWORK`
    ("network_address", np.uint64),  # of the NETWORK_WEIGHTS; see `new_tables`
    ("terms", np.int64, TERM_VALUES),  # of the classical evaluation, packed
)

SYZYGY_PAIRS = _record(  # one compressed array of a Syzygy file: the values for one side to move (and pawn file)
    ("pieces", np.uint8, MAX_MEN + 1),  # in the order in which their squares are numbered
    ("groups", np.uint8, MAX_MEN + 1),  # sizes of the groups that are numbered together, then 0
    ("factors", np.int64, MAX_MEN + 1),  # by group: the factor of its number
    ("positions", np.int64),  # length of the array
    ("constant", np.int64),  # the value of all positions; -1 if they are compressed
    ("index_bits", np.int64),  # each entry of the sparse index stands for 2 ** index_bits positions
    ("index_offset", np.int64),  # all offsets are bytes from the start of the file
    ("sizes_offset", np.int64),  # of the blocks' lengths in positions, less 1
    ("size_count", np.int64),
    ("data_offset", np.int64),
    ("block_bits", np.int64),  # binary logarithm of a block's bytes
    ("blocks", np.int64),
    ("min_length", np.int64),  # of a code, in bits
    ("bases", np.uint64, MAX_CODE_LENGTH + 1),  # by length: the lowest code, left-aligned; 0 from the longest on
    ("first_symbols", np.uint16, MAX_CODE_LENGTH + 1),  # by length: the symbol of the lowest code
    ("symbols", np.uint64),  # address of 32-bit words: left symbol or value | right symbol << 12 | (values - 1) << 24
    ("symbol_count", np.int64),
    ("dtz_flags", np.int64),
    ("map_offsets", np.int64, 4),  # of a DTZ file's maps of values: win, loss, cursed win, blessed loss
    ("map_lengths", np.int64, 4),
)

SYZYGY_TABLE = _record(  # one Syzygy file
    ("address", np.uint64),  # of its first byte in memory
    ("file_size", np.int64),  # in bytes
    ("key", np.uint64),  # its pieces, its own White first, see `syzygy._material`
    ("symmetric", np.int64),  # 1 = both sides have the same pieces, and White is to move
    ("has_pawns", np.int64),
    ("pairs", SYZYGY_PAIRS, (2, 4)),  # by side to move and file of the leading pawn
)

MATERIAL = _record(  # a place of the hash table of materials
    ("key", np.uint64),  # 0 = free
    ("wdl", np.int32),  # number of the table, -1 = none
    ("dtz", np.int32),
)

TABLEBASES = _record(  # read-only during a search, shared by all threads; pages without tables take no memory
    ("largest", np.int64),  # most men in a WDL table; 0 = no tables
    ("binomials", np.int64, (MAX_MEN, 64)),  # [k, n]: ways to choose k of n
    ("kings", np.int16, (10, 64)),  # number of both kings' placement, by the first's number in the triangle
    ("lead_pawns", np.int64, (MAX_PAWNS, 24)),  # [others, square]: first number of placements with this leading pawn
    ("places", MATERIAL, MATERIAL_PLACES),
    ("tables", SYZYGY_TABLE, 2 * MATERIALS),
)

Position = record_type(POSITION)
Frame = record_type(FRAME)
Worker = record_type(WORKER)
Tables = record_type(TABLES)
Tablebases = record_type(TABLEBASES)
Trace = record_type(TRACE)


def new_record(dtype):
    """Return one zeroed, writable record of a structured type; raise MemoryError if there is no room for it."""
    if dtype.itemsize < HUGE_PAGE // 4:
        return np.zeros(1, dtype)[0]
    return zeroed_bytes(dtype.itemsize).view(dtype)[0]
