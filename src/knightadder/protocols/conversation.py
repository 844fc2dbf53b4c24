"""The common part of the protocols: a loop that handles the events of one queue, one by one. The queue gets its events
from a thread that reads commands, from the loader, and from the engine.
"""

import contextlib
import gc
import os
import queue
import signal
import sys
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
from knightadder.engine.threads import start_thread
from knightadder.protocols.lines import Output, standard_input

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

# Loading starts after the first command has been answered, or after this many seconds without a command. So the
# answer does not compete with imports for the GIL.
_LOADING_DELAY = 0.1
TICK = 1.0  # seconds after which the loop runs even without an event
_READY_TICK = 0.01  # seconds after which the loop runs while the engine is getting ready
PATIENCE = 2.0  # seconds to wait for the end of a search when the user quits


class Signal(Enum):
    """Events other than commands and the engine's results."""

    END_OF_INPUT = "end of input"
    OUTPUT_CLOSED = "output closed"
    LOADER_NEWS = "loader news"


class Needs(IntEnum):
    """The condition for carrying out a command; each level includes the earlier ones."""

    NOTHING = 0
    ENGINE = 1  # the engine is loaded
    ITS_TURN = 2  # all earlier commands are done
    IDLE_ENGINE = 3  # the engine is not searching


#: The condition for carrying out a command, and the function that carries it out, given the command's arguments.
Handler: TypeAlias = tuple[Needs, Callable[[str], None]]


@dataclass(frozen=True, slots=True)
class Command:
    """A received command: its first word, the rest of the line, and the whole line. `run` carries it out, given the
    rest of the line, once its requirement `needs` is met.
    """

    name: str
    text: str
    line: str
    needs: Needs
    run: Callable[[str], None]


class Connection:
    """Input lines, output lines, and the engine. One conversation may pass the connection on to the next.

    The lines are bytes, with or without line ends, and are read in a separate thread until the iterable ends. `events`
    receives all events: commands as str, each `Signal`, and the conversation's own events. The engine is None until it
    is loaded. `loading_since` is the time when loading started, by `time.monotonic`.
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
        """Start the thread that reads the commands. Further calls do nothing."""
        if not self._reading:
            self._reading = True
            start_thread(self._read, "input")

    def start_loading(self) -> None:
        """Start loading the engine. Further calls do nothing."""
        if self.loading_since is None:
            self.loading_since = time.monotonic()
            self.loader.start(lambda: self.events.put(Signal.LOADER_NEWS))

    def take_engine(self) -> None:
        """Take the engine from the loader, which must be ready, or raise its error."""
        self.engine = self.loader.engine()
        # The core's objects stay in memory. A full garbage collection would traverse all of them, which takes a tenth
        # of a second on the player's clock.
        gc.freeze()

    def close(self) -> bool:
        """Stop all running work; return whether all of it has stopped. Some work cannot be interrupted in time."""
        if self.engine is not None:
            self.engine.stop()
            if not self.engine.wait(PATIENCE):
                return False
            self.engine.close()
        return self.loading_since is None or self.loader.ready.is_set()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # standard input may be closed, or missing
            for line in self._lines:
                self.events.put(_text(line))
        self.events.put(Signal.END_OF_INPUT)


def _text(line: bytes) -> str:
    """Return the text of a line: UTF-8, or else in the system's encoding, in which many programs for Windows send
    paths. Surrogates preserve all other bytes, such as an old file name in a path.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        import locale  # imported late, because it is rarely needed

        return line.decode(locale.getencoding(), errors="surrogateescape")


class Conversation(ABC):
    """A conversation in the protocol of the subclass."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._events = connection.events
        self._output = connection.output
        self._waiting: deque[Command] = deque()
        self._input_ended = self._leaving = False
        self._status: int | None = None
        self._status_at_end = 0

    @property
    def output_closed(self) -> bool:
        """Whether nobody reads the output any longer."""
        return self._output.closed

    def run(self) -> int:
        """Handle events until ``quit``, the end of input or Ctrl-C, and return the exit status of the process."""
        try:
            self._connection.start_reading()
        except EngineError as error:
            self._loading_failed(error)
            return 1
        if self._connection.engine is not None:  # the engine was passed on by an earlier conversation
            self._engine_loaded(None)
        timeout = _LOADING_DELAY
        try:
            while self._status is None:
                # Always use a timeout, because on Windows a wait without one would block Ctrl-C.
                try:
                    event = self._events.get(timeout=timeout)
                except queue.Empty:
                    event = None
                if isinstance(event, str):
                    command = None if self._leaving else self._find_command(event)
                    if command is not None and not self._postpones(command):
                        self._carry_out(command)
                elif event is not None:
                    self._hear(event)
                if self._status is None:
                    self._connection.start_loading()
                    self._mind_loading()
                self._mind_waiting()
                self._tick()
                self._output.look()
                timeout = TICK if self._is_ready else _READY_TICK
        except KeyboardInterrupt:
            self._status = 130
        return self._status

    def close(self) -> bool:
        """Stop all running work; return whether all of it has stopped. See `Connection.close`."""
        return self._connection.close()

    # --- For the subclass -------------------------------------------------------------------------------------------

    @abstractmethod
    def _find_command(self, line: str) -> Command | None:
        """Return the command in a line of input; None if the line needs no more handling."""

    @abstractmethod
    def _must_wait(self, command: Command, others_wait: bool) -> bool:
        """Return whether a command must wait although the engine is loaded; others may be waiting before it."""

    @abstractmethod
    def _asks_whether_ready(self, command: Command) -> bool:
        """Return whether the answer to a command must wait until a search could begin without delay."""

    @abstractmethod
    def _complain(self, command: Command, error: Exception) -> None:
        """Write one line that says why a command could not be carried out."""

    @abstractmethod
    def _tell_of_wait(self, command: Command) -> None:
        """Tell the user that a command has begun to wait, if that is useful."""

    def _hear(self, event: object) -> None:
        """Handle an event other than a command."""
        if event is Signal.END_OF_INPUT:
            self._input_ended = True
        elif event is Signal.OUTPUT_CLOSED:
            self._status = 0

    @abstractmethod
    def _engine_loaded(self, problem: str | None) -> None:
        """Begin the work that needs the engine, and tell the user of its `Engine.problem`, if there is one."""

    @abstractmethod
    def _loading_failed(self, error: EngineError) -> None:
        """Tell the user why the engine cannot be loaded. The conversation then ends."""

    @abstractmethod
    def _tick(self) -> None:
        """Do the work that is due after every event, and once a second without one."""

    @property
    def _engine(self) -> "Engine":
        if self._connection.engine is None:
            raise EngineError("the engine is not loaded yet")
        return self._connection.engine

    def _awaits_readiness(self, command: Command) -> bool:
        return self._asks_whether_ready(command) and not self._is_ready

    @property
    def _is_ready(self) -> bool:
        """Whether the engine is ready, or not loaded yet."""
        return self._connection.engine is None or self._connection.engine.ready

    # --- Commands: at once, or later --------------------------------------------------------------------------------

    def _postpones(self, command: Command) -> bool:
        """Queue a command that must wait until the engine is loaded and idle; return whether it must wait."""
        if command.needs is Needs.NOTHING:
            return False
        loaded = self._connection.engine is not None
        if loaded and not self._must_wait(command, bool(self._waiting)):
            return False
        self._waiting.append(command)
        if loaded:
            self._tell_of_wait(command)
        return True

    def _carry_out_waiting(self) -> None:
        """Carry out the waiting commands in order, as if they were received now. Some may then wait again."""
        waiting, self._waiting = self._waiting, deque()
        for command in waiting:
            if not self._postpones(command):
                self._carry_out(command)

    def _mind_waiting(self) -> None:
        """Carry out the waiting commands if the first need not wait longer. No event says that the engine is ready."""
        if self._waiting and self._connection.engine is not None and not self._must_wait(self._waiting[0], False):
            self._carry_out_waiting()

    def _carry_out(self, command: Command) -> None:
        try:
            command.run(command.text)
        except Exception as error:  # the game must go on after any error
            self._complain(command, error)

    def _quit(self, text: str) -> None:
        """Exit when all earlier commands are done; later commands are ignored."""
        self._input_ended = self._leaving = True
        self._hurry()

    def _hurry(self) -> None:
        """Shorten the wait before the exit, if no search follows: the engine then need not be ready."""
        if self._waiting and all(map(self._asks_whether_ready, self._waiting)):
            if self._connection.engine is not None:
                self._connection.engine.hurry()
            elif self._connection.loader.progress is not None:
                self._waiting.clear()  # so that the exit does not wait for the compiler

    # --- The loop ---------------------------------------------------------------------------------------------------

    def _mind_loading(self) -> None:
        if (
            self._connection.engine is not None
            or self._status_at_end != 0
            or not self._connection.loader.ready.is_set()
        ):
            return
        try:
            self._connection.take_engine()
        except EngineError as error:
            self._loading_failed(error)
            if error.__cause__ is not None:  # a defect of the program
                traceback.print_exception(error)
            # The interface shows an error only if the process exits.
            self._status_at_end = 1
            self._waiting.clear()
            self._input_ended = True
        else:
            if self._leaving:
                self._hurry()
            self._engine_loaded(self._engine.problem)


def speak(converse: Callable[[Iterable[bytes], TextIO, Loader], Conversation], options: Options | None = None) -> int:
    """Hold a conversation on standard input and output, and return the exit status of the process. `converse` creates
    the conversation from the arguments of a `Connection`. The engine starts with the given options.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    conversation = converse(standard_input(), sys.stdout, Loader(options or Options()))
    status = conversation.run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is exiting and needs no second Ctrl-C
    if conversation.output_closed:
        # Python flushes standard output again at exit. It then flushes to the null device, so that there is no error
        # message.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not conversation.close():
        # A thread is still in the compiler or in compiled code. It cannot be interrupted, and ending the interpreter
        # while it runs would crash. Each line was flushed when it was written, so no output is lost.
        os._exit(status)
    return status
