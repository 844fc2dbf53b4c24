"""Search parameters: the numbers in the search that games must settle, each with the range worth trying.

They are kept in the tables that all threads share instead of being compiled in, so that the tuner can play one set
against another without compiling again. Most values are those of Weiss, where the term is the same, or near them.
"""

from typing import NamedTuple


class Parameter(NamedTuple):
    """A number to tune: its name, its value, the least and the greatest value worth trying, and what it means."""

    name: str
    value: int
    low: int
    high: int
    meaning: str


PARAMETERS = (
    Parameter("reverse_futility_margin", 80, 30, 150, "centipawns a ply"),
    Parameter("reverse_futility_depth", 7, 4, 12, "plies"),
    Parameter("razoring_margin", 250, 120, 450, "centipawns a ply"),
    Parameter("null_move_base", 3072, 2048, 6144, "1024ths of a ply"),
    Parameter("null_move_depth", 256, 128, 400, "1024ths of a ply more for each ply of depth"),
    Parameter("null_move_eval", 200, 100, 400, "centipawns above beta for a ply more"),
    Parameter("reduction_quiet_base", 2058, 1024, 3072, "1024ths of a ply of late move reduction for a quiet move"),
    Parameter("reduction_quiet", 441, 250, 700, "... more for each unit of log depth times log number"),
    Parameter("reduction_noisy_base", 389, 0, 1500, "1024ths of a ply of late move reduction for a noisy move"),
    Parameter("reduction_noisy", 272, 100, 500, "... more for each unit of log depth times log number"),
    Parameter("reduction_history", 7566, 4000, 16000, "2^-26 plies less for each unit of history"),
    Parameter("reduction_pv", 1024, 0, 2048, "1024ths of a ply less in a PV node"),
    Parameter("reduction_improving", 1024, 0, 2048, "1024ths of a ply less when improving"),
    Parameter("reduction_cut_node", 2048, 0, 3072, "1024ths of a ply more in a cut node"),
    Parameter("reduction_hash_capture", 1024, 0, 2048, "1024ths of a ply more when the hash move captures"),
    Parameter("reduction_check", 1024, 0, 2048, "1024ths of a ply less for a check"),
    Parameter("deeper_margin", 40, 10, 100, "centipawns above the best for a deeper second search"),
    Parameter(
        "late_moves", 3, 1, 6, "quiet moves before late move pruning, besides depth squared, halved if not improving"
    ),
    Parameter("futility_base", 100, 30, 250, "centipawns"),
    Parameter("futility_margin", 90, 40, 180, "centipawns a ply left after reduction"),
    Parameter("futility_depth", 7, 4, 12, "plies left after reduction"),
    Parameter("see_quiet_margin", 25, 10, 60, "centipawns times the square of the plies left after reduction"),
    Parameter("see_noisy_margin", 90, 40, 160, "centipawns a ply"),
    Parameter("history_margin", 2000, 500, 6000, "history below zero a ply"),
    Parameter("delta_margin", 165, 60, 300, "centipawns, in quiescence search"),
    Parameter("probcut_margin", 200, 100, 300, "centipawns above beta"),
    Parameter("singular_depth", 5, 4, 8, "plies"),
    Parameter("singular_margin", 16, 8, 40, "16ths of a centipawn a ply"),
    Parameter("double_margin", 18, 6, 50, "centipawns below the singular bound for a second ply"),
    Parameter("triple_margin", 80, 40, 200, "centipawns below the singular bound for a third ply"),
    Parameter("correction_pawn", 140, 0, 300, "2048ths of the pawn correction"),
    Parameter("correction_non_pawn", 140, 0, 300, "2048ths of the non-pawn corrections"),
    Parameter("correction_minor", 140, 0, 300, "2048ths of the minor piece correction"),
    Parameter("correction_continuation", 140, 0, 300, "2048ths of the continuation correction"),
    Parameter("bonus_slope", 251, 100, 500, "history a ply, for a move that fails high"),
    Parameter("bonus_most", 2418, 800, 4000, "history at most"),
    Parameter("malus_slope", 532, 100, 1000, "history a ply, for the moves before it"),
    Parameter("malus_most", 693, 300, 2500, "history at most"),
)


def fill_tables(tables):
    """Set the parameters of a TABLES record to their values."""
    for parameter in PARAMETERS:
        setattr(tables.parameters, parameter.name, parameter.value)
