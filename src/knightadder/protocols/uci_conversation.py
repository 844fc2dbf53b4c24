"""The Universal Chess Interface (UCI): a conversation with a graphical interface.

Where the protocol leaves a choice, this engine behaves as follows:

- ``uci``, ``debug``, ``register`` and ``help`` are answered at once, even while the core is still loading. All
  other commands wait for the core, in order.
- While a changed core is being compiled, each step is reported to an interface that waits for ``readyok`` or a move.
- ``isready`` waits until the memory of the hash table is filled, unless only ``quit`` follows.
- During a search, ``go perft`` or ``bench``, the commands ``isready``, ``stop`` and ``ponderhit`` act at once, before
  all waiting commands. Commands that need an idle engine (``position``, ``go``, ``setoption``, ``ucinewgame``,
  ``eval``, ``bench``) wait in order until the search has ended and its ``bestmove`` has been sent, so that a script
  may be piped in. If only ``stop`` can end the search, an ``info string`` says so. ``d`` waits for ``go perft`` and
  ``bench``, but for a search only if such commands wait before it. If the running search ends by itself and another
  ``go`` waits, the first ``stop`` waits, too, and ends the search of this ``go``.
- ``xboard`` as the very first command switches to the other protocol (`xboard.py`).
- At ``quit``, as at the end of input, commands already received are carried out. Then the last search is stopped, and
  the engine exits after its ``bestmove``. ``go perft`` and ``bench`` run to their end, because a partial count is
  useless. If no command is waiting, or nobody reads the output, the engine exits at once, even while loading.
- A command that cannot be understood or carried out is answered with one ``info string`` line, and changes nothing.
  ``go`` is then also answered with a legal move.
"""

import re
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

from knightadder import __version__
from knightadder.engine.errors import EngineError
from knightadder.engine.info import Result
from knightadder.engine.limits import BENCH_DEPTH, MAX_PERFT_DEPTH, Limits
from knightadder.engine.loader import Loader
from knightadder.engine.options import Options
from knightadder.engine.threads import start_thread
from knightadder.protocols.conversation import PATIENCE, TICK, Command, Connection, Conversation, Handler, Needs, speak
from knightadder.protocols.uci_text import HELP, format_info, format_result, parse_go, parse_position, parse_setoption
from knightadder.text import one_line

_NO_POSITION = "there is no position: the last position was refused"


@dataclass(slots=True)
class _Activity:
    """The engine's current work: a search, or a job (``go perft``, ``bench``) in a separate thread."""

    limits: Limits | None = None
    job: threading.Event | None = None  # set when the job has ended
    pondering: bool = False
    stopping: bool = False

    @property
    def endless(self) -> bool:
        """Whether only the user can end the work."""
        return self.limits is not None and not self.stopping and (self.pondering or self.limits.unlimited)


@dataclass(frozen=True, slots=True)
class _JobDone:
    name: str
    output: str = ""
    error: Exception | None = None


class _JobStoppedError(Exception):
    """The user stopped a job."""


class Uci(Conversation):
    """One conversation in UCI."""

    def __init__(self, lines: Iterable[bytes], output: TextIO, loader: Loader) -> None:
        super().__init__(Connection(lines, output, loader))
        self._activity: _Activity | None = None
        self._debug = False
        self._setup: tuple[str | None, list[str]] | None = None, []  # the last position; None if it was refused
        self._spoken_to = False
        self._shown_step = "loading"
        self._shown_at = time.monotonic()

        # The commands of the protocol. The additional commands below must be at the start of a line: no interface
        # sends them, and a line of prose must not start a benchmark.
        self._standard: dict[str, Handler] = {
            "uci": (Needs.NOTHING, self._uci),
            "debug": (Needs.NOTHING, self._set_debug),
            "register": (Needs.NOTHING, self._register),
            "quit": (Needs.NOTHING, self._quit),
            "isready": (Needs.ENGINE, self._isready),
            "stop": (Needs.ENGINE, self._stop),
            "ponderhit": (Needs.ENGINE, self._ponderhit),
            "setoption": (Needs.IDLE_ENGINE, self._setoption),
            "ucinewgame": (Needs.IDLE_ENGINE, self._ucinewgame),
            "position": (Needs.IDLE_ENGINE, self._position),
            "go": (Needs.IDLE_ENGINE, self._go),
        }
        self._known: dict[str, Handler] = {
            **self._standard,
            "help": (Needs.NOTHING, self._help),
            "d": (Needs.ITS_TURN, self._print),
            "print": (Needs.ITS_TURN, self._print),
            "eval": (Needs.IDLE_ENGINE, self._eval),
            "bench": (Needs.IDLE_ENGINE, self._bench),
        }

    def close(self) -> bool:
        """Stop a running job, and then as `Connection.close` does."""
        activity = self._activity
        if activity is not None and activity.job is not None:
            activity.stopping = True
            self._engine.stop()
            if not activity.job.wait(PATIENCE):
                return False
        return super().close()

    # --- The loop ---------------------------------------------------------------------------------------------------

    def _hear(self, event: object) -> None:
        if isinstance(event, Result):
            self._output.write(format_result(event))
            self._engine.wait()
            self._become_idle()
        elif isinstance(event, _JobDone):
            self._finish_job(event)
            self._become_idle()
        else:
            super()._hear(event)

    def _find_command(self, line: str) -> Command | None:
        """Find the command in a line. As the protocol demands, unknown words before it are skipped."""
        words = list(re.finditer(r"\S+", line.removeprefix("\ufeff")))
        if [word[0] for word in words] == ["xboard"] and not self._spoken_to:
            from knightadder.protocols.xboard import XBoard  # here, because it is rarely needed

            self._status = XBoard(self._connection).run()
            return None
        self._spoken_to = self._spoken_to or bool(words)
        for place, word in enumerate(words):
            name, known = word[0], self._standard if place else self._known
            if name in known:
                needs, run = known[name]
                text = word.string[word.end() :].strip()
                return Command(name, text, line, needs, run)
        if words:
            self._say(f"unknown command: {line}")
        return None

    def _must_wait(self, command: Command, others_wait: bool) -> bool:
        if self._activity is None and self._awaits_readiness(command):
            return True
        if others_wait:
            return command.needs >= Needs.ITS_TURN or self._is_meant_for_waiting_go(command)
        if self._activity is None:
            return False
        # The benchmark sets up positions of its own, which no other command may show.
        return command.needs >= (Needs.IDLE_ENGINE if self._activity.job is None else Needs.ITS_TURN)

    def _asks_whether_ready(self, command: Command) -> bool:
        return command.name == "isready"

    def _is_meant_for_waiting_go(self, command: Command) -> bool:
        """Return whether a command belongs to a search that waits for the engine, or for another search to end."""
        if command.name not in ("stop", "ponderhit") or all(waiting.name != "go" for waiting in self._waiting):
            return False
        running = self._activity
        if running is None or running.stopping:
            return True
        if command.name == "ponderhit":
            return not running.pondering
        # A search that ends by itself need not be stopped, so the stop belongs to the last search, unless this search
        # has its own stop already.
        searches_and_stops = [waiting.name for waiting in self._waiting if waiting.name in ("go", "stop")]
        return not running.endless and searches_and_stops[-1] == "go"

    def _tell_of_wait(self, command: Command) -> None:
        running = self._activity
        if running is not None and running.endless:
            self._say(f"{command.name} waits for the end of the search: send stop to end the search now")
        elif running is not None and not running.stopping and command.name == "stop":
            self._say("stop waits for the next search: send stop again to end the running search now")

    def _become_idle(self) -> None:
        self._activity = None
        self._carry_out_waiting()

    def _tick(self) -> None:
        self._show_progress()
        activity = self._activity
        if activity is None:
            if self._input_ended and not self._waiting and self._status is None:
                self._status = self._status_at_end
        elif activity.job is not None:
            # Stop repeatedly, because a job does not notice a stop that comes between two of its steps.
            if activity.stopping:
                self._engine.stop()
        elif self._input_ended and (activity.endless or not self._waiting):
            self._stop_activity(activity)

    # --- Loading ----------------------------------------------------------------------------------------------------

    def _engine_loaded(self, problem: str | None) -> None:
        if problem:
            self._say(problem)
        self._carry_out_waiting()

    def _loading_failed(self, error: EngineError) -> None:
        self._say(str(error))

    def _show_progress(self) -> None:
        """Report loading to an interface that waits for ``readyok`` or a move, at each new step and every second."""
        connection, since = self._connection, self._connection.loading_since
        asked = any(command.name in ("isready", "go") for command in self._waiting)
        if connection.engine is not None or since is None or not asked:
            return
        step = connection.loader.progress or "loading"
        now = time.monotonic()
        if step != self._shown_step or now - self._shown_at >= TICK:
            self._shown_step, self._shown_at = step, now
            self._say(f"{step} ({now - since:.0f} s)")

    # --- Answers ----------------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._output.write(f"info string {one_line(text)}")

    def _complain(self, command: Command, error: Exception) -> None:
        self._report(command.name, error)

    def _report(self, name: str, error: Exception) -> None:
        """Report an error in one line. In debug mode, an unexpected error also has a traceback."""
        if isinstance(error, EngineError):
            self._say(str(error))
            return
        self._say(f"{name} failed: {type(error).__name__}: {error}")
        if self._debug:
            traceback.print_exception(error)

    # --- Commands that need no engine -------------------------------------------------------------------------------

    def _uci(self, text: str) -> None:
        options = "\n".join(option.uci() for option in self._connection.loader.options.declarations)
        self._output.write(f"id name Knightadder {__version__}\nid author the Knightadder authors\n{options}\nuciok")

    def _set_debug(self, text: str) -> None:
        if text not in ("on", "off"):
            raise EngineError("debug: expected on or off")
        self._debug = text == "on"

    def _register(self, text: str) -> None:
        self._say("Knightadder is free software and needs no registration")

    def _help(self, text: str) -> None:
        self._output.write(HELP)

    # --- Commands for the engine ------------------------------------------------------------------------------------

    def _isready(self, text: str) -> None:
        self._output.write("readyok")

    def _setoption(self, text: str) -> None:
        name, value = parse_setoption(text)
        for line in self._engine.set_option(name, value):
            self._say(line)

    def _ucinewgame(self, text: str) -> None:
        self._engine.new_game()

    def _position(self, text: str) -> None:
        # Otherwise the interface would mistake a search of the previous position for a search of the refused one.
        self._setup = None
        setup = parse_position(text)
        notes = self._engine.set_position(*setup)
        self._setup = setup
        for note in notes:
            self._say(note)

    def _must_have_position(self) -> None:
        if self._setup is None:
            raise EngineError(_NO_POSITION)

    def _print(self, text: str) -> None:
        self._must_have_position()
        self._output.write(self._engine.diagram())

    def _eval(self, text: str) -> None:
        self._must_have_position()
        self._output.write(self._engine.evaluation())

    def _go(self, text: str) -> None:
        go = parse_go(text)
        if "perft" in text.split():
            self._must_have_position()
            self._perft(go.perft)
            return
        if self._setup is None:
            self._say(_NO_POSITION)
            self._output.write(format_result(Result(None, None, None)))
            return
        if go.complaint:
            self._say(f"go: {go.complaint}")
        # The engine's thread writes the analysis. The result comes through the queue, so the loop knows that the
        # engine is idle before the interface can react to bestmove.
        try:
            self._engine.go(go.limits, lambda info: self._output.write(format_info(info)), self._events.put)
        except Exception as error:  # the interface waits for a move, and any move is better than none
            self._report("go", error)
            moves = self._engine.legal_moves()
            self._output.write(format_result(Result(moves[0] if moves else None, None, None)))
            return
        self._activity = _Activity(limits=go.limits, pondering=go.limits.ponder)

    def _stop(self, text: str) -> None:
        if self._activity is not None:
            self._stop_activity(self._activity)

    def _stop_activity(self, activity: _Activity) -> None:
        if not activity.stopping:
            activity.stopping = True
            self._engine.stop()

    def _ponderhit(self, text: str) -> None:
        if self._activity is not None and self._activity.pondering:
            self._activity.pondering = False
            self._engine.ponderhit()

    # --- Jobs, in a separate thread, so that stop, isready and quit are still answered ------------------------------

    def _perft(self, depth: int | None) -> None:
        if depth is None or depth > MAX_PERFT_DEPTH:
            raise EngineError(f"go perft: expected a depth from 1 to {MAX_PERFT_DEPTH}")

        def count(activity: _Activity) -> str:
            counts = self._engine.perft(depth)
            if activity.stopping:
                raise _JobStoppedError
            lines = [f"{move}: {nodes}" for move, nodes in counts.items()]
            return "\n".join([*lines, "", f"Nodes searched: {sum(counts.values())}"])

        self._start_job("perft", count)

    def _bench(self, text: str) -> None:
        try:
            arguments = [int(word) for word in text.split()]
        except ValueError:
            arguments = [0]
        if len(arguments) > 1 or any(depth < 1 for depth in arguments):
            raise EngineError("bench: expected a depth of 1 or more, or nothing")

        def bench(activity: _Activity) -> str:
            from knightadder.engine.bench import run_bench

            def on_line(line: str) -> None:
                if activity.stopping:
                    raise _JobStoppedError
                self._output.write(line)

            depth = arguments[0] if arguments else BENCH_DEPTH
            try:
                nodes, seconds = run_bench(self._engine, depth, on_line)
            finally:
                if self._setup is not None:
                    self._engine.set_position(*self._setup)
            return f"{nodes} nodes\n{round(nodes / max(seconds, 1e-9))} nps"

        self._start_job("bench", bench)

    def _start_job(self, name: str, work: Callable[[_Activity], str]) -> None:
        ended = threading.Event()
        activity = _Activity(job=ended)

        def run() -> None:
            try:
                done = _JobDone(name, output=work(activity))
            except Exception as error:
                # An aborted job may raise an error because its result is incomplete. That error is not reported.
                done = _JobDone(name, error=_JobStoppedError() if activity.stopping else error)
            ended.set()
            self._events.put(done)

        start_thread(run, name)
        self._activity = activity

    def _finish_job(self, done: _JobDone) -> None:
        if isinstance(done.error, _JobStoppedError):
            self._say(f"{done.name} was stopped before its end")
        elif done.error is not None:
            self._report(done.name, done.error)
        else:
            self._output.write(done.output)


def main(options: Options | None = None) -> int:
    """Speak UCI on standard input and output with an engine that has these options; return the exit status."""
    return speak(Uci, options)
