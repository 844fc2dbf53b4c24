"""Threads that are kept for the next piece of work: to start one takes longer than a short search."""

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

_MOST_KEPT = 4

_Work: TypeAlias = Callable[[], None]
_kept: list[SimpleQueue[_Work]] = []  # of the threads without work, where each waits for more


def run_in_thread(work: _Work, name: str) -> None:
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
        _kept.pop().put(work)
    except IndexError:
        Thread(target=_run, args=(SimpleQueue(), [work]), name=name, daemon=True).start()


def _run(more: SimpleQueue[_Work], first: list[_Work]) -> None:
    """Work, and then wait for more work, keeping nothing of it alive."""
    first.pop()()
    while len(_kept) < _MOST_KEPT:
        _kept.append(more)
        more.get()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.clear)  # a fork has only the thread that made it
