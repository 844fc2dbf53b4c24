"""The api of a game, whose position is ``worker.stack[0]``: set it up, list and play moves, and judge it.
``worker.keys[:key_count]`` has the keys of the earlier positions that can still be repeated.
"""

import numpy as np

from knightadder.native.jit import copy_record, kernel, lsb
from knightadder.native.signatures import int64, uint64, void

from ..board.attacks import can_take_king
from ..board.bitboard import ONE, bit, without_lsb
from ..board.draw import is_dead_position, is_fifty_move_draw, is_repetition
from ..board.movegen import ALL, castling_king_target, generate
from ..board.moves import CASTLING, NO_MOVE, is_promotion, kind_of, source_of, target_of
from ..board.packed import Packed, find_fault, unpack
from ..board.position import make, set_up
from ..board.repetition import GAME_KEYS
from ..compilation import core
from ..search.see import see_at_least
from ..search.transposition import entry_move, probe
from ..tables import Tables
from ..worker import Worker


@core.exported(int64(Tables, Worker))
def set_up_position(tables, worker):
    """Complete ``worker.stack[0]``, whose board, side to move, castling rooks and en passant square are set; return 1
    if the position is illegal because the side that is not to move is in check, else 0.
    """
    pos = worker.stack[0]
    set_up(tables, pos)
    worker.key_count = 0
    worker.last_move = NO_MOVE
    return np.int64(can_take_king(tables, pos))


@core.exported(int64(Tables, Worker, uint64[::1]))
def set_up_bitboards(tables, worker, numbers):
    """Set up ``worker.stack[0]`` from bitboards; return 1, or 0 if the position is illegal and therefore undefined.

    `numbers` (uint64) are the squares of pawns, knights, bishops, rooks, queens, kings, White's pieces, Black's pieces,
    and the rooks that may castle; the en passant square or 64; 1 if Black is to move, else 0; and the plies since the
    last capture or pawn move.
    """
    pos = worker.stack[0]
    white, black = numbers[6], numbers[7]
    free = white | black
    if white & black or numbers[8] & ~numbers[3] or numbers[10] > ONE:
        return 0
    pos.board[:] = 0
    for piece_type in range(1, 7):
        squares = numbers[piece_type - 1]
        if squares & ~free:
            return 0
        free &= ~squares
        while squares:
            square = lsb(squares)
            pos.board[square] = piece_type | (8 if black & bit(square) else 0)
            squares = without_lsb(squares)
    pos.castling, pos.ep, pos.stm = numbers[8], np.int64(numbers[9]), np.int64(numbers[10])
    pos.rule50 = pos.plies_from_null = np.int64(numbers[11])
    if free or find_fault(pos.board, np.int64(pos.stm), pos.castling, np.int64(pos.ep)):
        return 0
    return 1 - set_up_position(tables, worker)


@core.exported(int64(Tables, Worker))
def list_moves(tables, worker):
    """Write the legal moves of ``worker.stack[0]`` into ``worker.frames[0].moves``, and return their number."""
    return generate(tables, worker.stack[0], worker.frames[0], np.int64(0), ALL)


@kernel
def _count_moves(tables, worker):
    # The count is 0 if the game is over by mate, stalemate or a draw.
    count = generate(tables, worker.stack[0], worker.frames[0], np.int64(0), ALL)
    return np.int64(0) if draw_reason(tables, worker) else count


@core.exported(int64(Tables, Worker, int64, int64, int64))
def find_move(tables, worker, source, target, promotion):
    """Return the legal move from `source` to `target`, or 0. For castling, `target` may be the rook's square or the
    king's new square. `promotion` is the type of the new piece, or 0.
    """
    pos, frame = worker.stack[0], worker.frames[0]
    count = generate(tables, pos, frame, np.int64(0), ALL)
    us = np.int64(pos.stm)
    castling = np.int64(0)
    for i in range(count):
        move = frame.moves[i]
        if source_of(move) != source:
            continue
        kind, to = kind_of(move), target_of(move)
        if to == target and promotion == (kind if is_promotion(move) else 0):
            return move
        if kind == CASTLING and promotion == 0 and castling_king_target(us, source, to) == target:
            castling = move
    return castling


@core.exported(void(Tables, Worker, int64))
def play(tables, worker, move):
    """Play a legal move in ``worker.stack[0]`` and keep the key of the old position for repetitions."""
    pos, after = worker.stack[0], worker.stack[1]
    if worker.key_count == GAME_KEYS:
        for i in range(GAME_KEYS - 1):
            worker.keys[i] = worker.keys[i + 1]
        worker.key_count -= 1
    worker.keys[worker.key_count] = pos.key
    worker.key_count += 1
    make(tables, pos, after, move)
    if after.rule50 == 0:
        worker.key_count = 0
    copy_record(pos, after)
    worker.last_move = move


@core.exported(int64(Tables, Worker, int64[::1]))
def play_all(tables, worker, wanted):
    """Play moves until one is illegal, and return the number of moves played.

    The `wanted` moves are encoded by `new_move` from the squares and the type of the new piece, or 0, that `find_move`
    takes. One call plays a whole game, because each call from Python costs the player a few microseconds.
    """
    for i in range(len(wanted)):
        squares = wanted[i]
        move = find_move(tables, worker, source_of(squares), target_of(squares), kind_of(squares))
        if move == NO_MOVE:
            return i
        play(tables, worker, move)
    return len(wanted)


@core.exported(int64(Tables, Worker, Packed[::1], int64, int64[::1]))
def set_up_packed(tables, worker, records, index, moves):
    """Set up ``worker.stack[0]`` from ``records[index]``, which must be legal, and play moves from it as `play_all`
    does. The function returns the number of moves played.
    """
    worker.key_count = 0
    worker.last_move = NO_MOVE
    unpack(tables, records[index], worker.stack[0])
    return play_all(tables, worker, moves)


@core.exported(int64(Tables, Worker, int64, int64))
def play_expected(tables, worker, best, reply):
    """Play the best move of a search and the expected reply, and return the reply if it is worth pondering.

    The function returns 0 if no reply is known, or if the game is over before or after it. `reply` is the second move
    of the principal variation; if that is 0, the reply is looked up in the transposition table.
    """
    play(tables, worker, best)
    count = _count_moves(tables, worker)
    if reply == NO_MOVE:
        reply = entry_move(probe(worker, worker.stack[0].key))
    for i in range(count):
        # The table's move may belong to a different position.
        if worker.frames[0].moves[i] == reply:
            play(tables, worker, reply)
            return reply if _count_moves(tables, worker) > 0 else 0
    return 0


@core.exported(int64(Tables, Worker))
def draw_reason(tables, worker):
    """Return why the game is drawn: 1 fifty-move rule, 2 threefold repetition, 3 dead position, 0 no draw."""
    pos = worker.stack[0]
    if is_fifty_move_draw(tables, pos, worker.frames[0]):
        return 1
    if is_repetition(worker, pos, np.int64(0)):
        return 2
    return 3 if is_dead_position(pos) else 0


@core.exported(int64(Tables, Worker, int64, int64))
def see(tables, worker, move, threshold):
    """Return 1 if the exchange that a legal move starts wins at least `threshold` centipawns, else 0."""
    return np.int64(see_at_least(tables, worker.stack[0], move, threshold))
