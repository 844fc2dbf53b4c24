"""Search parameters: the numbers that are tuned by playing games, each with a range of values worth trying.

The parameters are in the tables that all threads share, and are not compiled in. So the tuner can play one set of
values against another without compiling. Where Weiss has the same term, most values started near those of Weiss. Then
`knightadder tune spsa` changed the margins.
"""

from typing import NamedTuple

import numpy as np

from knightadder.native.records import record


class Parameter(NamedTuple):
    """A number to tune: its name, its value, the lowest and highest values worth trying, and its meaning."""

    name: str
    value: int
    low: int
    high: int
    meaning: str


PARAMETERS = (
    Parameter("reverse_futility_margin", 78, 30, 150, "centipawns per ply"),
    Parameter("reverse_futility_depth", 7, 4, 12, "plies"),
    Parameter("razoring_margin", 490, 120, 700, "centipawns per ply"),
    Parameter("null_move_base", 4300, 2048, 6144, "1024ths of a ply"),
    Parameter("null_move_depth", 341, 128, 400, "1024ths of a ply more for each ply of depth"),
    Parameter("null_move_margin", 80, 0, 200, "centipawns above beta that a null move needs, at depth 0"),
    Parameter("null_move_slope", 8, 0, 30, "centipawns less for each ply of depth"),
    Parameter("null_move_eval", 214, 100, 400, "centipawns above beta for a ply more"),
    Parameter("reduction_quiet_base", 1600, 1024, 3072, "late move reduction of a quiet move, in 1024ths of a ply"),
    Parameter("reduction_quiet", 400, 250, 700, "1024ths of a ply for each unit of log(depth) * log(move number)"),
    Parameter("reduction_noisy_base", 400, 0, 1500, "late move reduction of a noisy move, in 1024ths of a ply"),
    Parameter("reduction_noisy", 280, 100, 500, "1024ths of a ply for each unit of log(depth) * log(move number)"),
    Parameter("reduction_history", 6500, 4000, 16000, "2^-26 plies less for each unit of history"),
    Parameter("reduction_noisy_history", 9000, 0, 16000, "2^-26 plies less for each unit of a capture's history"),
    Parameter("reduction_pv", 1400, 0, 2048, "1024ths of a ply less in a PV node"),
    Parameter(
        "reduction_was_pv", 700, 0, 2048, "1024ths of a ply less in a non-PV node that the table knows as a PV node"
    ),
    Parameter("reduction_improving", 1150, 0, 2048, "1024ths of a ply less when improving"),
    Parameter("reduction_cut_node", 2400, 0, 3072, "1024ths of a ply more in a cut node"),
    Parameter("reduction_hash_capture", 1100, 0, 2048, "1024ths of a ply more when the hash move captures"),
    Parameter("reduction_check", 880, 0, 2048, "1024ths of a ply less for a check"),
    Parameter("deeper_margin", 34, 10, 100, "centipawns above the best score for a deeper second search"),
    Parameter(
        "late_moves", 3, 1, 6, "quiet moves searched in addition to depth squared, which is halved if not improving"
    ),
    Parameter("futility_base", 54, 30, 250, "centipawns"),
    Parameter("futility_margin", 81, 40, 180, "centipawns per ply left after reduction"),
    Parameter("futility_depth", 9, 4, 12, "plies left after reduction"),
    Parameter("capture_base", 120, 30, 300, "centipawns in addition to the captured piece"),
    Parameter("capture_margin", 110, 40, 250, "centipawns per ply left after reduction, for a capture"),
    Parameter("see_quiet_margin", 26, 10, 60, "centipawns times the square of the plies left after reduction"),
    Parameter("see_noisy_margin", 93, 40, 160, "centipawns per ply"),
    Parameter("history_margin", 4900, 500, 6000, "history points below zero per ply"),
    Parameter("delta_margin", 240, 60, 300, "centipawns, in quiescence search"),
    Parameter("quiescence_moves", 3, 1, 8, "captures searched in quiescence; later ones must recapture or promote"),
    Parameter("probcut_margin", 225, 100, 300, "centipawns above beta"),
    Parameter("singular_depth", 5, 4, 8, "plies"),
    Parameter("singular_margin", 22, 8, 40, "16ths of a centipawn per ply"),
    Parameter("double_margin", 18, 6, 50, "centipawns below the singular bound for a second ply"),
    Parameter("triple_margin", 80, 40, 200, "centipawns below the singular bound for a third ply"),
    Parameter("correction_pawn", 135, 0, 300, "2048ths of the pawn correction"),
    Parameter("correction_non_pawn", 122, 0, 300, "2048ths of the non-pawn corrections"),
    Parameter("correction_minor", 82, 0, 300, "2048ths of the minor piece correction"),
    Parameter("correction_continuation", 113, 0, 300, "2048ths of the correction by the moves 1 and 2 plies ago"),
    Parameter("correction_continuation_4", 90, 0, 300, "2048ths of the correction by the moves 1 and 4 plies ago"),
    Parameter("bonus_slope", 215, 100, 500, "history points per ply, for a move that fails high"),
    Parameter("bonus_max", 2250, 800, 4000, "maximum of the bonus, in history points"),
    Parameter("malus_slope", 610, 100, 1000, "history points per ply, for the moves before it"),
    Parameter("malus_max", 1550, 300, 2500, "maximum of the malus, in history points"),
    Parameter("eval_bonus_slope", 11, 0, 24, "history points per centipawn of change in evaluation"),
    Parameter("eval_bonus_max", 1200, 300, 3000, "maximum of that bonus, in history points"),
)

SEARCH_PARAMETERS = record(*((parameter.name, np.int64) for parameter in PARAMETERS))


def fill_tables(tables):
    """Set the parameters of a TABLES record to their values."""
    for parameter in PARAMETERS:
        setattr(tables.parameters, parameter.name, parameter.value)
