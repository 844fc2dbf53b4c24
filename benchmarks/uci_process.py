"""A UCI program as a child process: lines out and in, its CPU time, its peak memory.

Whole-process measurements need exactly what was sent and when it was answered, so this speaks plain lines and leaves
everything else to the caller. CPU time and memory are read from ``/proc`` and need Linux.
"""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

# Debian puts its chess programs here, which root's PATH leaves out.
EXTRA_FOLDER = "/usr/games"


class UciProcessError(RuntimeError):
    """The program ended or didn't answer in time."""


def resolve_command(command: str | Sequence[str]) -> list[str]:
    """Split a command line and find its program.

    Parameters
    ----------
    command : str or sequence of str
        A shell-like command line, or its words.

    Returns
    -------
    list of str
        The words, the first of them the full path of the program.

    Raises
    ------
    FileNotFoundError
        If there is no such program in ``PATH`` or Debian's folder of games.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    program = shutil.which(words[0]) or shutil.which(words[0], path=EXTRA_FOLDER)
    if program is None:
        raise FileNotFoundError(f"no such program: {words[0]}")
    return [program, *words[1:]]


class UciProcess:
    """A running UCI program.

    Parameters
    ----------
    command : str or sequence of str
        The command that starts it, see :func:`resolve_command`.
    environment : mapping of str to str, optional
        Variables set on top of the ones of this process.
    """

    def __init__(self, command: str | Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            resolve_command(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            env={**os.environ, **(environment or {})},
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\r\n"))
        self._lines.put(None)

    def send(self, *lines: str) -> None:
        """Write lines to the program.

        Parameters
        ----------
        *lines : str
            Commands without line ends.

        Raises
        ------
        UciProcessError
            If the program has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(line + "\n" for line in lines))
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise UciProcessError("the program has ended") from error

    def read_until(self, prefix: str, timeout: float) -> list[str]:
        """Read lines up to one that starts with a prefix.

        Parameters
        ----------
        prefix : str
            How the awaited line starts.
        timeout : float
            Seconds to wait for it at most.

        Returns
        -------
        list of str
            All lines read, the awaited one last.

        Raises
        ------
        UciProcessError
            If the program ends first or the time is over.
        """
        deadline = time.perf_counter() + timeout
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.perf_counter()))
            except queue.Empty:
                raise UciProcessError(f"no {prefix!r} within {timeout:g} s") from None
            if line is None:
                raise UciProcessError(f"the program ended before {prefix!r}")
            lines.append(line)
            if line.startswith(prefix):
                return lines

    def cpu_seconds(self) -> float:
        """CPU time used so far by all threads of the program, user and system, in steps of a clock tick (10 ms)."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_memory(self) -> float:
        """Highest resident memory so far, in megabytes (2**20 bytes)."""
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise UciProcessError("no VmHWM in /proc")

    def close(self, timeout: float = 5.0) -> None:
        """Send ``quit`` and wait; kill the program if it stays.

        Parameters
        ----------
        timeout : float
            Seconds it gets.
        """
        assert self._process.stdin is not None
        try:
            self.send("quit")
            self._process.stdin.close()
            self._process.wait(timeout)
        except (UciProcessError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> UciProcess:
        """Give the program itself to a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the program at the end of a ``with`` block."""
        self.close()
