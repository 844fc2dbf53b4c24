"""Loading of the compiled core in a background thread, so that the protocol can answer meanwhile.

Importing the core takes half a second, and the very first start compiles it, which takes many more.
"""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from knightadder.engine.errors import EngineError
from knightadder.engine.options import Options

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

Report: TypeAlias = Callable[[str], None]

_POLL_SECONDS = 0.1  # on Windows, a wait without a timeout would block Ctrl-C
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as in shells


def load_engine(options: Options, report: Report) -> "Engine":
    """Import the core, compile what is not in the cache, build the engine, and run one short search.

    Parameters
    ----------
    options : Options
        The options that the engine starts with and keeps.
    report : callable
        Called for each step of compiling, such as ``compiling 3/8: search``; not called if everything is in the cache.
    """
    from knightadder.core.native.compiling import compile_entries
    from knightadder.engine.engine import Engine

    compile_entries(report)
    engine = Engine(options)
    engine.warm_up()
    return engine


def load_and_report(
    options: Options, report: Report, load: Callable[[Options, Report], "Engine"] = load_engine
) -> "Engine":
    """Load an engine for a command that only waits for it; Ctrl-C ends the process.

    Parameters
    ----------
    options : Options
        The options that the engine starts with and keeps.
    report : callable
        Called for each step of compiling, in this thread; not called if everything is in the cache.
    load : callable
        Loads the engine, in a thread of its own: :func:`load_engine`, or a function that also compiles other code.

    Raises
    ------
    EngineError
        If loading failed.
    """
    loader = Loader(options, load)
    loader.start()
    told = None
    try:
        while not loader.ready.wait(_POLL_SECONDS):
            step = loader.progress()
            if step is not None and step != told:
                told = step
                report(step)
    except KeyboardInterrupt:
        # The compiler cannot be interrupted, and ending the interpreter while it runs would crash.
        os._exit(_EXIT_INTERRUPTED)
    return loader.engine()


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
    error : exception or None
        Why loading failed; ``None`` until then.
    """

    def __init__(self, options: Options, load: Callable[[Options, Report], "Engine"] = load_engine) -> None:
        self.ready = threading.Event()
        self.error: BaseException | None = None
        self._options = options
        self._load = load
        self._engine: Engine | None = None
        self._progress: str | None = None
        self._thread: threading.Thread | None = None
        self._on_change: Callable[[], None] | None = None

    def start(self, on_change: Callable[[], None] | None = None) -> None:
        """Start loading; a second call does nothing.

        Parameters
        ----------
        on_change : callable, optional
            Called from the loading thread when :meth:`progress` has news and when loading has ended.
        """
        if self._thread is None:
            self._on_change = on_change
            # A daemon, because the compiler cannot be interrupted when the user wants to leave.
            self._thread = threading.Thread(target=self._run, name="loader", daemon=True)
            self._thread.start()

    def progress(self) -> str | None:
        """Give the current step of loading, such as ``compiling 3/8: search``; ``None`` before the first."""
        return self._progress

    def engine(self) -> "Engine":
        """Start loading if necessary, wait until it has ended, and give the engine.

        Raises
        ------
        EngineError
            If loading failed.
        """
        self.start()
        self.ready.wait()
        if self._engine is None:
            raise EngineError(f"the engine cannot be loaded: {type(self.error).__name__}: {self.error}") from self.error
        return self._engine

    def _run(self) -> None:
        try:
            self._engine = self._load(self._options, self._report)
        except BaseException as error:  # also SystemExit: the waiting thread must be told
            self.error = error
        self.ready.set()
        self._changed()

    def _report(self, step: str) -> None:
        self._progress = step
        self._changed()

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change()
