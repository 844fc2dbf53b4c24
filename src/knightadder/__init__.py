"""Knightadder, a chess engine in plain Python compiled by Numba.

The names of the library are imported at their first use, so that the engine itself starts quickly.
"""

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from knightadder.engine.errors import EngineError as EngineError
    from knightadder.engine.errors import OptionError as OptionError
    from knightadder.engine.errors import PositionError as PositionError
    from knightadder.engine.errors import PositionWarning as PositionWarning
    from knightadder.engine.explain.breakdown import Breakdown as Breakdown
    from knightadder.engine.explain.breakdown import Tapered as Tapered
    from knightadder.engine.explain.breakdown import Term as Term
    from knightadder.engine.info import Bound as Bound
    from knightadder.library.arrays import PACKED as PACKED
    from knightadder.library.arrays import evaluate_iter as evaluate_iter
    from knightadder.library.arrays import evaluate_many as evaluate_many
    from knightadder.library.arrays import pack as pack
    from knightadder.library.arrays import unpack as unpack
    from knightadder.library.arrays import unpack_fens as unpack_fens
    from knightadder.library.board_engine import Engine as Engine
    from knightadder.library.engine_options import Option as Option
    from knightadder.library.engine_pool import EnginePool as EnginePool
    from knightadder.library.engine_pool import PoolBusyError as PoolBusyError
    from knightadder.library.explorer import Explorer as Explorer
    from knightadder.library.explorer_results import ExplorerGame as ExplorerGame
    from knightadder.library.explorer_results import ExplorerMove as ExplorerMove
    from knightadder.library.frames import to_frame as to_frame
    from knightadder.library.game_arrays import GameArrays as GameArrays
    from knightadder.library.game_arrays import Games as Games
    from knightadder.library.game_arrays import read_games as read_games
    from knightadder.library.game_filter import GameFilter as GameFilter
    from knightadder.library.many import analyse_iter as analyse_iter
    from knightadder.library.many import analyse_many as analyse_many
    from knightadder.library.positions import Evaluation as Evaluation
    from knightadder.library.positions import divide as divide
    from knightadder.library.positions import evaluate as evaluate
    from knightadder.library.positions import legal_moves as legal_moves
    from knightadder.library.positions import perft as perft
    from knightadder.library.positions import see as see
    from knightadder.library.protocol import UciProtocol as UciProtocol
    from knightadder.library.protocol import popen as popen
    from knightadder.library.results import Analysis as Analysis
    from knightadder.library.results import Line as Line
    from knightadder.library.results import PlayResult as PlayResult
    from knightadder.library.simple import SimpleAnalysisResult as SimpleAnalysisResult
    from knightadder.library.simple import SimpleEngine as SimpleEngine
    from knightadder.library.stream import Stream as Stream
    from knightadder.opening_names import Opening as Opening
    from knightadder.pgn.game_records import GameRecord as GameRecord
    from knightadder.review.annotation import AnnotatedGame as AnnotatedGame
    from knightadder.review.annotation import annotate_game as annotate_game
    from knightadder.review.coach import explain as explain
    from knightadder.review.move_table import AnnotatedMove as AnnotatedMove
    from knightadder.review.summary import Side as Side

_MODULES = {  # public name to its module
    "EngineError": "engine.errors",
    "OptionError": "engine.errors",
    "PositionError": "engine.errors",
    "PositionWarning": "engine.errors",
    "Bound": "engine.info",
    "Engine": "library.board_engine",
    "Option": "library.engine_options",
    "analyse_many": "library.many",
    "analyse_iter": "library.many",
    "annotate_game": "review.annotation",
    "AnnotatedGame": "review.annotation",
    "AnnotatedMove": "review.move_table",
    "explain": "review.coach",
    "Side": "review.summary",
    "Opening": "opening_names",
    "evaluate": "library.positions",
    "Evaluation": "library.positions",
    "Breakdown": "engine.explain.breakdown",
    "Term": "engine.explain.breakdown",
    "Tapered": "engine.explain.breakdown",
    "legal_moves": "library.positions",
    "see": "library.positions",
    "perft": "library.positions",
    "divide": "library.positions",
    "evaluate_many": "library.arrays",
    "evaluate_iter": "library.arrays",
    "pack": "library.arrays",
    "unpack": "library.arrays",
    "unpack_fens": "library.arrays",
    "PACKED": "library.arrays",
    "Analysis": "library.results",
    "Line": "library.results",
    "PlayResult": "library.results",
    "Explorer": "library.explorer",
    "ExplorerMove": "library.explorer_results",
    "ExplorerGame": "library.explorer_results",
    "GameFilter": "library.game_filter",
    "to_frame": "library.frames",
    "read_games": "library.game_arrays",
    "Games": "library.game_arrays",
    "GameArrays": "library.game_arrays",
    "GameRecord": "pgn.game_records",
    "Stream": "library.stream",
    "SimpleEngine": "library.simple",
    "SimpleAnalysisResult": "library.simple",
    "UciProtocol": "library.protocol",
    "popen": "library.protocol",
    "EnginePool": "library.engine_pool",
    "PoolBusyError": "library.engine_pool",
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from knightadder.engine import errors, loader

    try:
        loader.check_processor()
    except errors.EngineError as error:
        raise ImportError(str(error)) from None
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
