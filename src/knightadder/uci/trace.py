"""The trace of an engine: a file with every line of UCI that was sent or received, and the time."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path

from knightadder.closing import Closing
from knightadder.files import make_folder, writing
from knightadder.text import utf8

_now: Callable[[], datetime.datetime] = datetime.datetime.now


class Trace(Closing):
    """A file with one line for each line of UCI, in cutechess's format.

    ``>`` marks lines to the engine, ``<`` lines from the engine, and ``#`` remarks. Each line is written immediately,
    so the file is complete even after a crash. If it cannot be written, for example because the disk is full, the trace
    ends with an `error` and the engine continues. The file's name contains the engine's name and its process id, so a
    restarted engine gets a new file. The folder is created if it is missing. OptionError if the file cannot be created.
    """

    def __init__(self, folder: Path, name: str, process: int) -> None:
        plain = re.sub(r"[^\w.+-]", "_", name)
        self.file = folder / f"{plain}-{process}.log"
        self.error = ""
        self._name = name
        make_folder(folder)
        with writing(self.file):
            self._stream = self.file.open("ab", buffering=0)

    def sent(self, line: str) -> None:
        """Record a line to the engine, given without its line end."""
        self._write(">", line)

    def received(self, line: bytes) -> None:
        """Record a line from the engine, as it was read."""
        self._write("<", line.decode(errors="replace").rstrip())

    def remark(self, text: str) -> None:
        """Record a remark."""
        self._write("#", text)

    def _write(self, direction: str, text: str) -> None:
        if self.error:
            return
        time = _now().isoformat(sep=" ", timespec="microseconds")
        try:
            self._stream.write(utf8(f"{time} {direction}{self._name}: {text}\n"))
        except (OSError, ValueError) as error:
            self.error = f"{self.file} ends here: {getattr(error, 'strerror', None) or error}"

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
