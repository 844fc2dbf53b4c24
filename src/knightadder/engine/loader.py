"""Loading of the compiled core in a background thread, so that the protocol can answer meanwhile.

Importing the core takes half a second. Where its sources have changed since it was compiled, it is compiled again,
which takes many more.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from knightadder.core.program import core
from knightadder.engine.errors import EngineError
from knightadder.engine.options import Options
from knightadder.native.building import ImageError
from knightadder.native.processors import host_target
from knightadder.native.program import INTERPRETED
from knightadder.text import tell

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

OnStep: TypeAlias = Callable[[str], None]


def check_processor() -> None:
    """Raise an EngineError if the core cannot be compiled for this processor.

    Whatever imports NumPy asks this first: NumPy's own import may not survive on an old processor.
    """
    try:
        if not INTERPRETED:
            host_target()
    except ImageError as error:
        raise EngineError(f"the engine cannot be loaded: {error}") from None


def load_engine(options: Options, report: OnStep) -> "Engine":
    """Import the core, compile it if need be, build the engine, and run one short search.

    Parameters
    ----------
    options : Options
        The options that the engine starts with and keeps.
    report : callable
        Called for each step of compiling, such as ``compiling 31/334``; not called if nothing has to be compiled.

    Raises
    ------
    EngineError
        If there is no compiled core and none can be built, or an option cannot be fulfilled. Any other error has
        become the cause of an EngineError, too: only a defect has a cause.
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
        raise EngineError(f"the engine cannot be loaded: {type(error).__name__}: {error}") from error


def compile_core() -> None:
    """Compile the core if its sources have changed, and show the steps; EngineError if it cannot be loaded.

    If the built-in network cannot be used, a line on standard error says so.
    """
    from knightadder.progress import steps

    with steps() as show:
        engine = load_engine(Options(), show)
    if engine.problem:
        tell(engine.problem)
    engine.close()


class Loader:
    """Loads an engine once, in a daemon thread.

    Parameters
    ----------
    options : Options
        The options that the engine starts with.
    load : callable
        The function that loads it; tests may replace :func:`load_engine`.

    Attributes
    ----------
    options : Options
        As given.
    ready : threading.Event
        Set when loading has ended, with or without success.
    progress : str or None
        The current step of compiling, such as ``compiling 31/334``; ``None`` if nothing had to be compiled so far.
    """

    def __init__(self, options: Options, load: Callable[[Options, OnStep], "Engine"] = load_engine) -> None:
        self.ready = threading.Event()
        self.progress: str | None = None
        self.options, self._load = options, load
        self._outcome: Engine | EngineError

    def start(self, on_change: Callable[[], None]) -> None:
        """Start loading; to be called once.

        Parameters
        ----------
        on_change : callable
            Called from the loading thread when `progress` has news and when loading has ended.
        """

        def report(step: str) -> None:
            self.progress = step
            on_change()

        def run() -> None:
            try:
                self._outcome = self._load(self.options, report)
            except EngineError as error:
                self._outcome = error
            self.ready.set()
            on_change()

        # A daemon, because neither imports nor compiled code can be interrupted when the user wants to leave.
        threading.Thread(target=run, name="loader", daemon=True).start()

    def engine(self) -> "Engine":
        """Wait until loading has ended, and give the engine; EngineError if loading failed."""
        self.ready.wait()
        if isinstance(self._outcome, EngineError):
            raise self._outcome
        return self._outcome
