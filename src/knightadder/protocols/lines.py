"""Input and output of lines of text, for all protocols."""

import contextlib
import os
import select
import threading
from collections.abc import Callable, Iterator
from typing import TextIO


class Output:
    """Writes whole lines from any thread. Once nobody reads them, it calls `on_closed` and writes nothing more."""

    def __init__(self, stream: TextIO, on_closed: Callable[[], None]) -> None:
        self.closed = False
        self._stream = stream
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write one line, or several lines that belong together, and flush."""
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(f"{text}\n")
                self._stream.flush()
            except (OSError, ValueError):  # a broken pipe, or a stream that this process has closed
                self.closed = True
                self._on_closed()

    def look(self) -> None:
        """Check whether the reader has closed the pipe; Windows does not report this."""
        if self.closed or not hasattr(select, "poll"):
            return
        with contextlib.suppress(OSError, ValueError):  # streams that are not files cannot be checked
            poll = select.poll()
            poll.register(self._stream.fileno(), 0)
            if poll.poll(0):
                self.closed = True
                self._on_closed()


def standard_input() -> Iterator[bytes]:
    """Yield the lines of standard input as bytes. Afterwards, other readers of descriptor 0 find no input.

    On Windows, a query about a pipe blocks while another thread reads from the pipe. NumPy's libraries query the
    standard descriptors when they are loaded, so without this they would wait for the next command.
    """
    # Not sys.stdin: Python cannot close it at exit while a thread waits inside it.
    with open(os.dup(0), "rb") as stream:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        yield from stream
