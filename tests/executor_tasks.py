"""Tasks for the tests of pools; they stand here so that workers can import them."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from knightadder.engine.errors import OptionError


class Square:
    """Squares; says where and which of its calls it was."""

    def __init__(self):
        self.calls = 0

    def __call__(self, item):
        self.calls += 1
        return f"{item * item} {os.getpid()} {self.calls}".encode()


class Slow:
    """Takes a while."""

    def __call__(self, item):
        time.sleep(0.05)
        return b""


class Faulty:
    """Fails in the ways that a task can."""

    def __call__(self, item):
        if item == 3:
            raise OptionError("there is no such item")
        if item == 5:
            raise FileNotFoundError("no such file")
        return bytes(1 // (item - 4))


class Endless:
    """Says that it has begun, and does not end."""

    def __init__(self, begun):
        self.begun = begun

    def __call__(self, item):
        Path(f"{self.begun}.new").write_text(str(os.getpid()))
        Path(f"{self.begun}.new").replace(self.begun)
        while True:
            time.sleep(1000)


class Deadly:
    """Kills its process when it is first run for an item below a number; for a negative one each time."""

    def __init__(self, folder, below=1):
        self.folder, self.below = folder, below

    def __call__(self, item):
        mark = self.folder / str(item)
        if item < self.below and (item < 0 or not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return str(item).encode()


class Large:
    """Gives answers that a pipe does not take at once."""

    def __call__(self, item):
        return bytes(1 << 25)


class Closable:
    """Makes a file in a folder for each process that works, and another one when it is closed."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, item):
        (self.folder / f"{os.getpid()} works").touch()
        if item == "endless":
            while True:
                time.sleep(1000)
        return b""

    def close(self):
        time.sleep(0.2)  # so that a process that does not wait for this has ended before
        with (self.folder / f"{os.getpid()} closed").open("a") as file:
            file.write("once\n")


class Keeper:
    """Keeps something that has to be closed: a file in a folder, named after the process, until then.

    Item 0 does not end before the task is closed.
    """

    def __init__(self, folder):
        self.folder, self.closed, self.changing = folder, threading.Event(), threading.Lock()
        self.file = folder / f"{os.getpid()}-{threading.get_ident()}"

    def __reduce__(self):
        return Keeper, (self.folder,)

    def __call__(self, item):
        with self.changing:  # `close` may come in the middle
            assert not self.closed.is_set()
            self.file.touch()
        if item == 0:
            self.closed.wait()
        return str(item).encode()

    def close(self):
        with self.changing:
            self.closed.set()
            self.file.unlink(missing_ok=True)
