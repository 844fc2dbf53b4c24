"""What the protocols have in common: one loop, to which everything that happens comes through one queue.

A thread reads the commands into the queue, the loader and the engine put their news there, and the loop takes them out
one by one.
"""

import contextlib
import gc
import os
import queue
import signal
import sys
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, TextIO, TypeAlias

from knightadder.engine.errors import EngineError
from knightadder.engine.loader import Loader
from knightadder.engine.options import Options
from knightadder.protocols.lines import Output, standard_input

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

# Loading starts after the first command, or when none has come for this long (seconds): the answer to it need not
# compete with imports for the interpreter lock.
_LOADING_DELAY = 0.1
TICK = 1.0  # seconds after which the loop looks up though nothing has happened
PATIENCE = 2.0  # seconds that a search gets to end when the user quits


class Signal(Enum):
    """What happens besides commands and the engine's results."""

    END_OF_INPUT = "end of input"
    OUTPUT_CLOSED = "output closed"
    LOADER_NEWS = "loader news"


class Needs(IntEnum):
    """What a command needs before it can be carried out; each includes those before it."""

    NOTHING = 0
    ENGINE = 1
    ITS_TURN = 2
    IDLE_ENGINE = 3


#: What a command needs, and what carries it out, given the text behind its name.
Entry: TypeAlias = tuple[Needs, Callable[[str], None]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command that came in.

    Attributes
    ----------
    name : str
        Its first word.
    text : str
        What stands behind that.
    line : str
        The whole line, as it came in.
    needs : Needs
        What it needs before it can be carried out.
    run : callable
        Carries it out, given the text.
    """

    name: str
    text: str
    line: str
    needs: Needs
    run: Callable[[str], None]


class Session:
    """Lines in, lines out, and the engine, which is loaded meanwhile; one conversation may pass it on to another.

    Parameters
    ----------
    lines : iterable of bytes
        The commands as bytes, a line each, with or without line ends; read in a thread of its own. Its end is the end
        of input.
    output : text stream
        Where the answers go.
    loader : Loader
        Gives the engine.

    Attributes
    ----------
    events : queue.SimpleQueue
        All that happens: commands as str, `Signal`, and what a conversation puts there itself.
    output : Output
        Writes the answers.
    loader : Loader
        As given.
    engine : Engine or None
        None until it is loaded.
    loading_since : float or None
        When loading was started, by `time.monotonic`.
    """

    def __init__(self, lines: Iterable[bytes], output: TextIO, loader: Loader) -> None:
        self.events: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.output = Output(output, lambda: self.events.put(Signal.OUTPUT_CLOSED))
        self.loader = loader
        self.engine: Engine | None = None
        self.loading_since: float | None = None
        self._lines = lines
        self._reading = False

    def start_reading(self) -> None:
        """Start the thread that reads the commands; a second call does nothing."""
        if not self._reading:
            self._reading = True
            threading.Thread(target=self._read, name="input", daemon=True).start()

    def start_loading(self) -> None:
        """Start loading the engine; a second call does nothing."""
        if self.loading_since is None:
            self.loading_since = time.monotonic()
            self.loader.start(lambda: self.events.put(Signal.LOADER_NEWS))

    def take_engine(self) -> None:
        """Take the engine from the loader, which is ready; EngineError if loading has failed."""
        self.engine = self.loader.engine()
        # What the core and the compiler have left in memory stays. A full garbage collection would go through all of
        # it, for a tenth of a second on the player's clock.
        gc.freeze()

    def close(self) -> bool:
        """Stop what is still at work.

        Returns
        -------
        bool
            Whether all has stopped: ``False`` when something is so deep in its work that it did not do so in time.
        """
        if self.engine is None:
            return self.loading_since is None or self.loader.ready.is_set()
        self.engine.stop()
        if not self.engine.wait(PATIENCE):
            return False
        self.engine.close()
        return True

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # a standard input that is closed or was never there
            for line in self._lines:
                # Surrogates carry bytes that are not UTF-8, such as an old file name in a path, through unharmed.
                self.events.put(line.decode("utf-8", errors="surrogateescape"))
        self.events.put(Signal.END_OF_INPUT)


class Conversation(ABC):
    """One conversation, in a protocol that the subclass knows.

    Parameters
    ----------
    session : Session
        With whom.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._events = session.events
        self._output = session.output
        self._waiting: deque[Command] = deque()
        self._input_ended = self._leaving = False
        self._status: int | None = None

    @property
    def output_closed(self) -> bool:
        """Whether the other side has stopped reading."""
        return self._output.closed

    def run(self) -> int:
        """Talk until the user quits, the end of input or Ctrl-C, and give the exit status of the process."""
        self._session.start_reading()
        timeout = _LOADING_DELAY
        try:
            while self._status is None:
                # Never without a timeout: on Windows nothing else lets Ctrl-C through.
                with contextlib.suppress(queue.Empty):
                    self._handle(self._events.get(timeout=timeout))
                if self._status is None:
                    self._session.start_loading()
                self._tick()
                self._output.look()
                timeout = TICK
        except KeyboardInterrupt:
            self._status = 130
        return self._status

    def close(self) -> bool:
        """Stop what is still at work, and say whether all has stopped; see `Session.close`."""
        return self._session.close()

    # --- For the subclass -------------------------------------------------------------------------------------------

    @abstractmethod
    def _hear_line(self, line: str) -> None:
        """Deal with a line that came in."""

    @abstractmethod
    def _must_wait(self, command: Command, others_wait: bool) -> bool:
        """Say whether a command has to wait, though the engine is loaded.

        Parameters
        ----------
        command : Command
            One that needs the engine at least.
        others_wait : bool
            Whether others wait before it.
        """

    @abstractmethod
    def _complain(self, command: Command, error: Exception) -> None:
        """Say in one line that a command could not be carried out, and why."""

    @abstractmethod
    def _has_to_wait(self, command: Command) -> None:
        """Say what there is to say when a command has begun to wait for its turn."""

    @abstractmethod
    def _hear(self, event: object) -> None:
        """Deal with an event that the conversation itself has put into the queue."""

    @abstractmethod
    def _engine_loaded(self) -> None:
        """Begin with what needs the engine."""

    @abstractmethod
    def _loading_failed(self, error: EngineError) -> None:
        """Tell the user why the engine cannot be loaded; the conversation ends after that."""

    @abstractmethod
    def _tick(self) -> None:
        """Do what is due after every event, and once a second without one."""

    @property
    def _engine(self) -> "Engine":
        if self._session.engine is None:
            raise EngineError("the engine is not loaded yet")
        return self._session.engine

    # --- Commands: at once, or later --------------------------------------------------------------------------------

    def _receive(self, command: Command) -> None:
        """Carry a command out, or let it wait for the engine and for its turn."""
        if command.needs is Needs.NOTHING:
            self._carry_out(command)
        elif self._session.engine is None:
            self._waiting.append(command)
        elif self._must_wait(command, bool(self._waiting)):
            self._waiting.append(command)
            self._has_to_wait(command)
        else:
            self._carry_out(command)

    def _receive_waiting(self) -> None:
        """Receive all that has waited for the engine to be loaded."""
        waiting, self._waiting = self._waiting, deque()
        for command in waiting:
            self._receive(command)

    def _carry_out_waiting(self) -> None:
        """Carry out what waits, in order, until a command has to wait once more."""
        while self._waiting and not self._must_wait(self._waiting[0], False):
            self._carry_out(self._waiting.popleft())
        if self._waiting:
            self._has_to_wait(self._waiting[0])

    def _carry_out(self, command: Command) -> None:
        try:
            command.run(command.text)
        except Exception as error:  # whatever goes wrong, the game must go on
            self._complain(command, error)

    def _leave(self) -> None:
        """Leave when all that came before is done; what comes after is not heard any more."""
        self._input_ended = self._leaving = True

    # --- The loop ---------------------------------------------------------------------------------------------------

    def _handle(self, event: object) -> None:
        if isinstance(event, str):
            if not self._leaving:
                self._hear_line(event)
        elif event is Signal.END_OF_INPUT:
            self._input_ended = True
        elif event is Signal.OUTPUT_CLOSED:
            self._status = 0
        elif event is Signal.LOADER_NEWS:
            if self._session.loader.ready.is_set() and self._session.engine is None:
                self._take_engine()
        else:
            self._hear(event)

    def _take_engine(self) -> None:
        try:
            self._session.take_engine()
        except EngineError as error:
            # Nothing but leaving makes the interface show that something is wrong.
            self._loading_failed(error)
            traceback.print_exception(error)
            self._status = 1
            return
        self._engine_loaded()


def speak(converse: Callable[[Iterable[bytes], TextIO, Loader], Conversation]) -> int:
    """Hold a conversation on standard input and output.

    Parameters
    ----------
    converse : callable
        Makes it, of what a `Session` takes.

    Returns
    -------
    int
        Exit status of the process.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    conversation = converse(standard_input(), sys.stdout, Loader(Options()))
    status = conversation.run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # leaving is under way, and needs no second Ctrl-C
    if conversation.output_closed:
        # Python flushes standard output once more at exit; let it flush into nothing rather than complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not conversation.close():
        # A thread is still inside the compiler or compiled code. Nothing can interrupt it, and to end the interpreter
        # beneath it would crash; each line was flushed as it was written, so nothing is lost.
        os._exit(status)
    return status
