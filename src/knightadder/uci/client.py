"""A UCI engine as a child process: sends and reads lines, with a time limit for every wait. Each engine has a thread
that puts its lines into a queue, so that no wait depends on the pipe, which a process started by it may keep open.
"""

import contextlib
import math
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from knightadder.closing import Closing
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.options import Option, value_text
from knightadder.engine.threads import start_thread
from knightadder.foreign import whole_or_none
from knightadder.frozen import own_command
from knightadder.text import command_line
from knightadder.uci.short_lines import LONGEST_LINE, ShortLines
from knightadder.uci.trace import Trace

# Debian installs chess programs here, but root's PATH does not contain it.
_EXTRA_FOLDER = "/usr/games"

_WINDOWS_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_LONGEST_PAUSE = 0.05  # seconds between two checks of a condition that is polled
_LONGEST_WAIT = 1.0  # seconds; on Windows, Ctrl-C has no effect during a wait
_MOST_LINES = 10_000  # maximum number of unread lines in the queue; then an engine's pipe is no longer emptied
# Maximum size of the lines before an answer, and of what an engine has written on standard error before a game. What is
# beyond that is forgotten, beginning with the oldest.
_MOST_BYTES = 16_000_000
_QUIT_SECONDS = 2.0  # time for an engine to end by itself
_TO_USER = "info string "
_OPTION = re.compile(r"option name (.+?) type (\S+)(.*)")
_END_SECONDS = 10.0  # maximum wait for the exit status after the end of an engine's output


class UciError(EngineError):
    """An engine ended, or did not answer in time."""


class EngineEndedError(UciError):
    """The engine's process ended."""


class EngineSilentError(UciError):
    """The engine did not answer in time, and was killed."""


def split_words(command: str) -> list[str]:
    """Return the words of a command line, split as the system's shell does; OptionError if a quotation mark is missing.

    On Windows, only the double quotation mark quotes: a path may contain backslashes and apostrophes.
    """
    try:
        if sys.platform != "win32":
            return shlex.split(command)
        if command.count('"') % 2:
            raise ValueError("No closing quotation")
        return [word.replace('"', "") for word in _WINDOWS_WORD.findall(command)]
    except ValueError as error:
        raise OptionError(f"cannot read the command {command}: {error}") from None


def resolve_command(command: str | Sequence[str] | None, folder: Path | None = None) -> list[str]:
    """Return the words of a command line; the first word becomes the full path of the program. None means this program.

    Relative paths start from `folder` (default: the working directory). A name without a folder is looked for there
    first, and then in the search path. A path that contains spaces needs no quotation marks if no arguments follow it.
    OptionError if there is no such program.
    """
    if command is None:
        command = own_command()
    if isinstance(command, str):
        words = [command] if _find_program(command, folder) else split_words(command)
    else:
        words = list(command)
    if not words:
        raise OptionError("the command of an engine is empty")
    program = _find_program(words[0], folder)
    if program is None:
        path = (folder or Path()) / words[0]
        if path.exists():
            raise OptionError(f"cannot run {path}: it is {'a folder' if path.is_dir() else 'not executable'}")
        may_lack_quotes = isinstance(command, str) and len(words) > 1
        hint = "; put a path that contains spaces in quotation marks" if may_lack_quotes else ""
        raise OptionError(f"no such program: {words[0]}{hint}")
    return [str(Path(program).absolute()), *words[1:]]


def _find_program(name: str, folder: Path | None) -> str | None:
    program = shutil.which(folder.absolute() / name) if folder is not None else None
    if program is None and (folder is None or not os.path.dirname(name)):
        program = shutil.which(name) or shutil.which(name, path=_EXTRA_FOLDER)
    return program


@contextlib.contextmanager
def _pinned(processors: Collection[int]) -> Iterator[None]:
    """Restrict this thread, and the processes that it starts, to these processors in a ``with`` block."""
    if not processors or sys.platform == "win32" or sys.platform == "darwin":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def kill_tree(process: int) -> None:
    """Kill the leader of a process group, by its process id, and the processes that it has started."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process, signal.SIGKILL)
        else:
            # Windows does not end the children of a process, such as the engine that a .bat file starts.
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process)], capture_output=True)


def _declared(name: str, kind: str, rest: str) -> Option:
    """Return the option that an engine declares with this name, this type and these words. Every text is a value of an
    option without a type that UCI knows, or without what its type needs.
    """
    name = name.strip()
    limits = dict(re.findall(r" (min|max) (\S+)", rest))
    low, high = whole_or_none(limits.get("min", "")), whole_or_none(limits.get("max", ""))
    words = tuple(word.strip() for word in rest.split(" var ")[1:])
    if kind in ("check", "button") or (kind == "spin" and None not in (low, high)) or (kind == "combo" and words):
        return Option(name, kind, min=low, max=high, var=words)
    return Option(name, "string", "<empty>")


class UciClient(Closing):
    """A running engine, started by a command (see `resolve_command`) in a folder.

    The given environment variables are added to this process's environment. The engine runs only on the given
    processors, if the system can pin it (`os.sched_setaffinity`). OptionError if there is no such program, EngineError
    if it cannot be started.

    - `name` is the name that the engine reports; before `handshake`, the name of its program.
    - `options` maps the names of its options in lower case to their declarations.
    - `trace` records each line, and is closed together with the engine.
    - `remarks` are the engine's messages about its options, collected by the code that sets them (see `wait_ready`).
    """

    def __init__(
        self,
        command: str | Sequence[str],
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        processors: Collection[int] = (),
    ) -> None:
        words = resolve_command(command, folder)
        self.name = Path(words[0]).name
        self.options: dict[str, Option] = {}
        self.trace: Trace | None = None
        self.remarks: list[str] = []
        # A file, because a pipe would have to be read continuously.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with _pinned(processors):
                self.process = subprocess.Popen(
                    words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    cwd=folder,
                    env={**os.environ, **(environment or {})},
                    # A separate process group: Ctrl-C reaches only this program, and kill() also ends child processes.
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
        except OSError as error:
            self._errors.close()
            raise EngineError(f"cannot start {command_line(words)}: {error.strerror}") from None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin, self.process.stdout
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # an empty line is the end
        self._closed = threading.Event()
        # Held while the process is polled or killed, so that no signal goes to a process that has ended.
        self._reaping = threading.Lock()
        try:
            start_thread(self._read, "uci client")
        except BaseException:  # even Ctrl-C, which does not reach the engine's process
            self.kill()
            self.close()
            self._output.close()
            raise

    # --- lines ---------------------------------------------------------------------------------------------------

    def send(self, *lines: str) -> None:
        """Send lines, given without line ends; EngineEndedError if the engine has ended."""
        if self.trace is not None:
            for line in lines:
                self.trace.sent(line)
        try:
            self._input.write("".join(line + "\n" for line in lines).encode(errors="surrogateescape"))
            self._input.flush()
        except (OSError, ValueError):
            raise self._ended() from None

    def read_until(self, prefix: str, timeout: float) -> list[str]:
        """Return the lines up to one that starts with a prefix: the last ones if there are very many. EngineEndedError
        if the engine ends first. If no such line comes within `timeout` seconds, the engine is killed and
        EngineSilentError is raised.
        """
        start, end = prefix.encode(), time.monotonic() + timeout
        lines: deque[bytes] = deque()
        size = 0
        while (left := end - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=min(left, _LONGEST_WAIT))
            except queue.Empty:
                continue
            if not line:
                self._lines.put(line)  # whoever reads next also finds the end
                error: UciError = self._ended()
                break
            lines.append(line)
            size += len(line)
            while size > _MOST_BYTES:
                size -= len(lines.popleft())
            if self.trace is not None:
                self.trace.received(line)
            if line.startswith(start):
                return [text.decode(errors="replace").rstrip() for text in lines]
        else:
            self.kill()
            error = EngineSilentError(f"no {prefix} within {timeout:g} s")
        if self.trace is not None:
            self.trace.remark(str(error))
        raise error

    def _read(self) -> None:
        """Put the engine's lines into the queue, until they end or the engine is closed."""
        lines = ShortLines()
        with self._output, contextlib.suppress(OSError):
            while not self._closed.is_set() and (data := os.read(self._output.fileno(), LONGEST_LINE)):
                for line in lines.feed(data):
                    self._lines.put(line)
                while self._lines.qsize() > _MOST_LINES and not self._closed.wait(_LONGEST_PAUSE):
                    pass
        self._lines.put(b"")

    def _ended(self) -> EngineEndedError:
        """Return an error with the exit status and the engine's last output on standard error."""
        self._wait(_END_SECONDS)
        status = self.process.returncode
        text = "the engine closed its pipes" if status is None else f"the engine ended with status {status}"
        with contextlib.suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 2000))
            words = self._errors.read().decode(errors="replace").split("\n")
            last = next((line.strip() for line in reversed(words) if line.strip()), "")
            if last:
                text += f": {last}"
        return EngineEndedError(text)

    # --- commands ------------------------------------------------------------------------------------------------

    def handshake(self, timeout: float) -> None:
        """Send ``uci`` and read the engine's name and options. The errors are as for `read_until`."""
        self.send("uci")
        for line in self.read_until("uciok", timeout):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
            elif declaration := _OPTION.match(line):
                option = _declared(*declaration.groups())
                self.options[option.name.lower()] = option

    def set_options(self, options: Mapping[str, str]) -> None:
        """Set options; an empty value presses a button. OptionError if the engine did not declare an option in the
        `handshake`, or not with this value; EngineEndedError if the engine has ended.
        """
        for name, text in options.items():
            option = self.options.get(name.lower())
            if option is None:
                raise OptionError(f"{self.name} has no option {name}")
            value = option.parse(text)
            self.send(f"setoption name {option.name}" + ("" if value is None else f" value {value_text(value)}"))

    def wait_ready(self, timeout: float) -> list[str]:
        """Send ``isready`` and wait for the answer, with the errors of `read_until`. Return the text of each ``info
        string`` that the engine sends in the meantime, such as a note about an option.
        """
        self.send("isready")
        lines = self.read_until("readyok", timeout)
        return [line.removeprefix(_TO_USER).strip() for line in lines if line.startswith(_TO_USER)]

    def new_game(self, timeout: float) -> None:
        """Send ``ucinewgame`` and wait until the engine is ready. The errors are as for `read_until`."""
        if os.fstat(self._errors.fileno()).st_size > _MOST_BYTES:  # the engine then also writes from the beginning
            self._errors.seek(0)
            self._errors.truncate()
        self.send("ucinewgame")
        self.wait_ready(timeout)

    # --- the end -------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        with self._reaping:
            return self.process.poll() is None

    def _wait(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the process to end; return whether it has."""
        end, pause = time.monotonic() + timeout, 0.001
        while self.running:
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return True

    def kill(self) -> None:
        """Kill the engine. A thread that reads from it gets an EngineEndedError."""
        self._lines.put(b"")
        with self._reaping, contextlib.suppress(OSError):
            if self.process.returncode is not None:
                return  # its process id may already belong to another process
            kill_tree(self.process.pid)
            self.process.kill()

    def close(self) -> None:
        """Send ``quit`` and wait briefly; kill the engine if it has not ended by then."""
        with contextlib.suppress(UciError):
            if self.running:
                self.send("quit")
        with contextlib.suppress(OSError):
            self._input.close()
        if not self._wait(_QUIT_SECONDS):
            self.kill()
            self._wait(math.inf)
        self._closed.set()
        self._errors.close()
        if self.trace is not None:
            self.trace.close()
