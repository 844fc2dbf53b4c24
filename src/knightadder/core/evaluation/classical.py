"""The classical evaluation: material, piece squares, pawns, pieces, kings, threats and space, with tuned values.

Every term adds to one packed score of middle game and end game; `terms` lists all terms. The modules of this package
decide how often each value counts, and the tuner chooses the values. With a trace, the same code also records the
counts. Given the counts, the value of a position is a linear function of the terms' values, which the tuner fits.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, popcount

from ..layout import BLACK, KING, PAWN, WHITE
from .king import king_safety
from .pawns import passed_pawns, probe_pawns
from .pieces import pieces, start_sides
from .score import FULL_SCALE, blend, end_game, game_phase, pack
from .side import ONCE, worth
from .terms import PIECE_NAMES, START
from .threats import threats

_TEMPO, _PIECE_VALUE = START["tempo"], START["piece_value"]
_PIECE_SQUARE = START["pawn_square"]

_LAST_PAWN = 48  # 64ths of the end-game half that count with a single pawn; 40 and 64 predict results less well


@inlined
def _scale(pos, score):
    """Return how much of the end-game half counts, up to `FULL_SCALE`. Less counts if the side that is ahead has a
    single pawn, which is easily lost; `endings` judges positions without pawns.
    """
    strong = WHITE if end_game(score) > 0 else BLACK
    return _LAST_PAWN if popcount(pos.by_type[PAWN] & pos.by_color[strong]) == 1 else FULL_SCALE


@inlined
def _tempo(tables, pos, trace):
    us = np.int64(pos.stm)
    bonus = worth(tables, trace, us, _TEMPO, ONCE)
    return bonus if us == WHITE else -bonus


@inlined
def _trace_piece_squares(pos, trace):
    """Record the pieces and their squares. `make` keeps their values up to date in ``pos.psq``."""
    for square in range(64):
        piece = np.int64(pos.board[square])
        if piece:
            side, piece_type = piece >> 3, piece & 7
            from_a8 = square ^ 56 if side == WHITE else square
            trace.counts[side, _PIECE_SQUARE + 64 * (piece_type - 1) + from_a8] += 1
            if piece_type != KING:
                trace.counts[side, _PIECE_VALUE + piece_type - 1] += 1


@kernel
def evaluate(tables, worker, pos, trace):
    """Return the value of a position in centipawns, from the side to move's view. `trace` is None or a TRACE record
    with zero counts, which receives the counts that make up the value.
    """
    pawns = probe_pawns(tables, worker, pos, trace)
    score = pos.psq + pawns.score + _tempo(tables, pos, trace)
    start_sides(tables, worker, pos, pawns.spans)
    for us in range(2):
        own = pieces(tables, worker, pos, trace, us)
        score += own if us == WHITE else -own
    for us in range(2):
        own = king_safety(tables, worker, pos, trace, us) + threats(tables, worker, pos, trace, us)
        if pawns.passed & pos.by_color[us]:
            own += passed_pawns(tables, worker, pos, trace, us, pawns.passed)
        score += own if us == WHITE else -own
    phase, scale = game_phase(pos), _scale(pos, score)
    if trace is not None:
        _trace_piece_squares(pos, trace)
        trace.phase, trace.scale = phase, scale
    return blend(pos, score, phase, scale)


def fill_tables(tables, values):
    """Fill the terms of a TABLES record from `terms.read_values`, and its piece-square tables (negative for Black)."""
    packed = pack(values[:, 0], values[:, 1])
    tables.terms[:] = packed
    for number, name in enumerate(PIECE_NAMES):
        squares = packed[START[f"{name}_square"] :][:64].reshape(8, 8)[::-1].ravel()
        if name != "king":
            squares = squares + packed[_PIECE_VALUE + number]
        for square in range(64):
            tables.piece_square[number + 1][square].psq = squares[square]
            tables.piece_square[number + 9][square ^ 56].psq = -squares[square]
