"""Lines of text, in and out, as every protocol reads and writes them."""

import contextlib
import select
import threading
from collections.abc import Callable, Iterable
from typing import TextIO


class Output:
    """Writes whole lines from any thread; falls silent when nobody reads them any more.

    Parameters
    ----------
    stream : text stream
        Where the lines go.
    on_closed : callable
        Called once, when the other side has stopped reading.

    Attributes
    ----------
    closed : bool
        Whether it has.
    """

    def __init__(self, stream: TextIO, on_closed: Callable[[], None]) -> None:
        self.closed = False
        self._stream = stream
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write one line, or several that belong together, and flush."""
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(f"{text}\n")
                self._stream.flush()
            except (OSError, ValueError):  # a broken pipe, or a stream closed on our side
                self.closed = True
                self._on_closed()

    def look(self) -> None:
        """Find out whether the other side still reads, where the system tells that of a pipe; Windows does not."""
        if self.closed or not hasattr(select, "poll"):
            return
        with contextlib.suppress(OSError, ValueError):  # what is no file cannot be asked
            poll = select.poll()
            poll.register(self._stream.fileno(), 0)
            if poll.poll(0):
                self.closed = True
                self._on_closed()


def standard_input() -> Iterable[bytes]:
    """Give the lines of standard input as bytes."""
    # A reader of our own: at exit Python cannot close sys.stdin while a thread waits inside it.
    with open(0, "rb", closefd=False) as stream:
        yield from stream


def one_line(text: str) -> str:
    """Make text from outside fit for one line: no line breaks, no control characters, no kilobytes."""
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return line if len(line) <= 300 else f"{line[:300]}..."
