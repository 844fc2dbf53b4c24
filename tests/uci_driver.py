"""Drives the engine as a chess program does: as a child process, line by line, with a time limit on every wait."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

# Seconds until a test gives up: for the end of a process, which may have to compile the core first, and for one line.
# A process that compiles says so every second to whoever waits for its `readyok`.
TIMEOUT = 180.0
LINE_TIMEOUT = 30.0

COMMAND = (sys.executable, "-m", "knightadder")


@dataclass(frozen=True)
class Analysis:
    """One `info` line with a score, as far as tests look into it."""

    depth: int
    multipv: int
    cp: int | None
    mate: int | None
    bound: str
    wdl: tuple[int, int, int] | None
    nodes: int
    pv: tuple[str, ...]


def parse_analysis(line: str) -> Analysis | None:
    """Read an `info` line with a score; any other line gives `None`."""
    words = line.split()
    if words[:1] != ["info"] or words[1:2] == ["string"] or "score" not in words:
        return None

    def number(name: str) -> int:
        return int(words[words.index(name) + 1])

    # Whole numbers that every interface reads; a missing or broken one fails here.
    for name in ("seldepth", "nps", "hashfull", "tbhits", "time"):
        number(name)
    wdl = None
    if "wdl" in words:
        wins, draws, losses = map(int, words[words.index("wdl") + 1 : words.index("wdl") + 4])
        wdl = (wins, draws, losses)
    return Analysis(
        depth=number("depth"),
        multipv=number("multipv"),
        cp=number("cp") if "cp" in words else None,
        mate=number("mate") if "mate" in words else None,
        bound=next((word for word in words if word in ("lowerbound", "upperbound")), "exact"),
        wdl=wdl,
        nodes=number("nodes"),
        pv=tuple(words[words.index("pv") + 1 :]) if "pv" in words else (),
    )


@dataclass(frozen=True)
class Search:
    """All that was answered to one `go`."""

    lines: list[str]

    @property
    def analysis(self) -> list[Analysis]:
        """The lines with a score."""
        return [analysis for analysis in map(parse_analysis, self.lines) if analysis is not None]

    @property
    def best_move(self) -> str:
        """The move behind `bestmove`, or `(none)`."""
        return self.lines[-1].split()[1]

    @property
    def ponder_move(self) -> str | None:
        """The move behind `ponder`."""
        words = self.lines[-1].split()
        return words[3] if len(words) > 2 else None


class UciProcess:
    """A running engine."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._errors = b""
        self._readers = [
            threading.Thread(target=target, daemon=True) for target in (self._read_lines, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.decode().rstrip("\r\n"))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors += line

    def send(self, *lines: str | bytes) -> None:
        """Send lines; bytes are sent as they are, without a line end of ours."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines))
        self._process.stdin.flush()

    def read(self) -> str:
        """Wait for one line.

        Raises
        ------
        EOFError
            If the process ended instead.
        """
        line = self._lines.get(timeout=LINE_TIMEOUT)
        if line is None:
            raise EOFError(f"the engine ended; on standard error: {self.errors()}")
        return line

    def read_until(self, *starts: str) -> list[str]:
        """Wait for a line that starts with one of these words, and give all lines up to it."""
        lines = [self.read()]
        while not lines[-1].startswith(starts):
            lines.append(self.read())
        return lines

    def ask(self, *lines: str | bytes) -> list[str]:
        """Send lines, and give what is answered before the answer to an `isready` after them."""
        self.send(*lines, "isready")
        return self.read_until("readyok")[:-1]

    def search(self, *lines: str) -> Search:
        """Send lines, the last of them a `go` that ends by itself or a `stop`, and wait for the best move."""
        self.send(*lines)
        return Search(self.read_until("bestmove"))

    def fen(self) -> str:
        """Give the position that `d` shows."""
        [fen] = [line.removeprefix("Fen: ") for line in self.ask("d") if line.startswith("Fen: ")]
        return fen

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def end_input(self) -> None:
        """Close the engine's standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def wait(self) -> tuple[int, list[str]]:
        """Wait for the process to end by itself; give its exit status and the lines not yet read."""
        status = self._process.wait(TIMEOUT)
        self._join_readers()
        lines = []
        while not self._lines.empty():
            line = self._lines.get()
            if line is not None:
                lines.append(line)
        return status, lines

    def errors(self) -> str:
        """Give what came on standard error so far; all of it, after :meth:`wait`."""
        return self._errors.decode(errors="replace")

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    def close(self) -> None:
        """Kill the process if it is still there, and close what belongs to it."""
        self._process.kill()
        self._process.wait(TIMEOUT)
        self._join_readers()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was still to be sent to a process that has gone
                    stream.close()

    def _join_readers(self) -> None:
        for reader in self._readers:
            reader.join(TIMEOUT)
