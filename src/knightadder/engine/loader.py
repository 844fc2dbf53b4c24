"""Loading of the compiled core in a background thread, so that the protocol can answer meanwhile.

Importing the core takes half a second. Where its sources have changed since it was compiled, it is compiled again,
which takes many more.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from knightadder.engine.errors import EngineError
from knightadder.engine.options import Options

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

Report: TypeAlias = Callable[[str], None]


def load_engine(options: Options, report: Report) -> "Engine":
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
        If there is no compiled core, and none can be built.
    """
    from knightadder.core.native.building import CoreError
    from knightadder.core.native.loading import load
    from knightadder.engine.engine import Engine

    try:
        load(report)
    except CoreError as error:
        raise EngineError(str(error)) from None
    engine = Engine(options)
    engine.warm_up()
    return engine


def load_and_report(options: Options, report: Report) -> "Engine":
    """Load an engine for a command that only waits for it; parameters as of `load_engine`.

    Raises
    ------
    EngineError
        If loading failed.
    """
    try:
        return load_engine(options, report)
    except Exception as error:
        raise _failure(error) from error


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
    ready : threading.Event
        Set when loading has ended, with or without success.
    progress : str or None
        The current step of compiling, such as ``compiling 31/334``; ``None`` if nothing had to be compiled so far.
    """

    def __init__(self, options: Options, load: Callable[[Options, Report], "Engine"] = load_engine) -> None:
        self.ready = threading.Event()
        self.progress: str | None = None
        self._options, self._load = options, load
        self._engine: Engine | None = None
        self._error: BaseException | None = None
        self._on_change: Callable[[], None] = lambda: None
        # A daemon, because neither imports nor compiled code can be interrupted when the user wants to leave.
        self._thread = threading.Thread(target=self._run, name="loader", daemon=True)

    def start(self, on_change: Callable[[], None]) -> None:
        """Start loading; to be called once.

        Parameters
        ----------
        on_change : callable
            Called from the loading thread when `progress` has news and when loading has ended.
        """
        self._on_change = on_change
        self._thread.start()

    def engine(self) -> "Engine":
        """Wait until loading has ended, and give the engine; EngineError if loading failed."""
        self.ready.wait()
        if self._engine is None:
            raise _failure(self._error) from self._error
        return self._engine

    def _run(self) -> None:
        try:
            self._engine = self._load(self._options, self._report)
        except BaseException as error:  # also SystemExit: the waiting thread must be told
            self._error = error
        self.ready.set()
        self._on_change()

    def _report(self, step: str) -> None:
        self.progress = step
        self._on_change()


def _failure(error: BaseException | None) -> EngineError:
    what = str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
    return EngineError(f"the engine cannot be loaded: {what}")
