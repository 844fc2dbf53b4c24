"""Threads that are kept for the next piece of work: to start one takes longer than a short search."""

import os
import threading
from collections.abc import Callable

_MOST_KEPT = 4

_kept: list["_Thread"] = []  # those without work


class _Thread:
    """A thread that works, and then waits for more work."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._bell = threading.Lock()  # can be acquired when there is work
        self._bell.acquire()
        self._work: Callable[[], None] | None = work
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def hand(self, work: Callable[[], None]) -> None:
        self._work = work
        self._bell.release()

    def _run(self) -> None:
        while (work := self._work) is not None:
            work()
            work = self._work = None  # nothing of it is kept alive
            if len(_kept) >= _MOST_KEPT:
                return
            _kept.append(self)
            self._bell.acquire()


def run_in_thread(work: Callable[[], None], name: str) -> None:
    """Do some work in a thread of its own.

    Parameters
    ----------
    work : callable
        Raises nothing.
    name : str
        The thread's name, if it is a new one.

    Raises
    ------
    RuntimeError
        If the system allows no more threads.
    """
    try:
        thread = _kept.pop()
    except IndexError:
        _Thread(work, name)
    else:
        thread.hand(work)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.clear)  # a fork has only the thread that made it
