"""Loading of the compiled core in a background thread, so that the protocol can answer in the meantime. Loading takes
half a second, or many seconds if the sources of the core have changed and it must be compiled.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from knightadder.core.compilation import core
from knightadder.engine.errors import EngineError
from knightadder.engine.options import Options
from knightadder.engine.threads import start_thread
from knightadder.native.building import ImageError
from knightadder.native.processors import host_target
from knightadder.native.program import INTERPRETED
from knightadder.text import tell

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

OnStep: TypeAlias = Callable[[str], None]

_NO_ROOM = "failed to map segment"  # the loader of shared libraries on Linux says so if there is too little memory


def check_processor() -> None:
    """Raise an EngineError if the core cannot be compiled for this processor. Call this before NumPy is imported,
    because that import may crash on an old processor.
    """
    try:
        if not INTERPRETED:
            host_target()
    except ImageError as error:
        raise EngineError(f"the engine cannot be loaded: {error}") from None


def load_engine(options: Options, report: OnStep) -> "Engine":
    """Import the core, compile it if needed, build an engine with these options, and run a short search; report the
    steps of compiling. Every failure becomes an `EngineError`, which has a ``__cause__`` only if the program has a
    defect.
    """
    try:
        core.load(report)  # before NumPy is imported, see `check_processor`
        from knightadder.engine.engine import Engine

        engine = Engine(options)
        engine.warm_up()
        return engine
    except EngineError:
        raise
    except ImageError as error:
        raise EngineError(f"the engine cannot be loaded: {error}") from None
    except (Exception, SystemExit) as error:
        if isinstance(error, MemoryError) or _NO_ROOM in str(error):
            raise EngineError("the engine cannot be loaded: not enough memory") from None
        raise EngineError(f"the engine cannot be loaded: {type(error).__name__}: {error}") from error


def compile_core() -> None:
    """Compile the core if its sources have changed, and show the steps; EngineError if it cannot be loaded. If the
    built-in network cannot be used, a line on standard error says so.
    """
    from knightadder.progress import steps

    with steps() as show:
        engine = load_engine(Options(), show)
    if engine.problem:
        tell(engine.problem)
    engine.close()


class Loader:
    """Loads an engine once, in a daemon thread, with the given options.

    `ready` is set when loading has ended, successfully or not. `progress` is the present step of compiling, such as
    ``compiling 31/334``; None while nothing is being compiled. Tests may replace the function `load`.
    """

    def __init__(self, options: Options, load: Callable[[Options, OnStep], "Engine"] = load_engine) -> None:
        self.ready = threading.Event()
        self.progress: str | None = None
        self.options, self._load = options, load
        self._outcome: Engine | EngineError

    def start(self, on_change: Callable[[], None]) -> None:
        """Start loading, only once. The loading thread calls `on_change` when `progress` changes, and at the end."""

        def report(step: str) -> None:
            self.progress = step
            on_change()

        def end(outcome: "Engine | EngineError") -> None:
            self._outcome = outcome
            self.ready.set()
            on_change()

        def run() -> None:
            try:
                end(self._load(self.options, report))
            except EngineError as error:
                end(error)

        # A daemon thread, because imports and compiled code cannot be interrupted when the user quits.
        try:
            start_thread(run, "loader")
        except EngineError as error:
            end(error)

    def engine(self) -> "Engine":
        """Wait until loading has ended, and return the engine; EngineError if loading failed."""
        self.ready.wait()
        if isinstance(self._outcome, EngineError):
            raise self._outcome
        return self._outcome
