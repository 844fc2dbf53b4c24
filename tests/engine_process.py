"""An engine as a chess program runs it: as a child process, line by line, with a time limit on every wait."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from waiting import TIMEOUT

from knightadder.closing import Closing

COMMAND = (sys.executable, "-m", "knightadder")


def run_without_reader(command: Sequence[str], text: bytes) -> tuple[int, bytes]:
    """Send an engine text whose answers nobody reads; returns its exit status and what it wrote to standard error."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):  # it has already noticed, and ended
        process.stdin.write(text)
        process.stdin.flush()
    status = process.wait(TIMEOUT)
    errors = process.stderr.read()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stderr.close()
    return status, errors


class EngineProcess(Closing):
    """A running engine."""

    def __init__(self, *arguments: str) -> None:
        command = (*COMMAND, *arguments)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._errors = b""
        self._readers = [
            threading.Thread(target=target, daemon=True) for target in (self._read_lines, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

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
        line = self._lines.get(timeout=TIMEOUT)
        if line is None:
            raise EOFError(f"the engine ended; on standard error: {self.errors()}")
        return line

    def read_until(self, *starts: str) -> list[str]:
        """Wait for a line that starts with one of these words, and give all lines up to it."""
        lines = [self.read()]
        while not lines[-1].startswith(starts):
            lines.append(self.read())
        return lines

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
