"""Knightadder, a chess engine in plain Python compiled by Numba.

What the library offers is imported when it is first asked for, so that the engine itself starts at once.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from knightadder.engine.errors import EngineError as EngineError
    from knightadder.engine.errors import OptionError as OptionError
    from knightadder.engine.errors import PositionError as PositionError
    from knightadder.engine.info import Bound as Bound
    from knightadder.library.engine import Engine as Engine
    from knightadder.library.results import Analysis as Analysis
    from knightadder.library.results import Line as Line
    from knightadder.library.results import PlayResult as PlayResult
    from knightadder.library.stream import Stream as Stream

_MODULES = {  # by the names that they give
    "EngineError": "engine.errors",
    "OptionError": "engine.errors",
    "PositionError": "engine.errors",
    "Bound": "engine.info",
    "Engine": "library.engine",
    "Analysis": "library.results",
    "Line": "library.results",
    "PlayResult": "library.results",
    "Stream": "library.stream",
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
