"""Threads. Starting a thread takes longer than a short search, so a few threads are kept for the next piece of work."""

import os
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

from knightadder.engine.errors import EngineError

_MAX_KEPT = 4

_Work: TypeAlias = Callable[[], None]
_kept: list[SimpleQueue[_Work]] = []  # the queues of the idle threads: each thread waits for work in its own queue


def start_thread(work: _Work, name: str) -> threading.Thread:
    """Start a daemon thread and return it; EngineError if the system allows no more threads."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise EngineError("the system allows no more threads") from None
    return thread


def run_in_thread(work: _Work, name: str) -> None:
    """Do some work, which must not raise an error, in a kept or new thread. `name` is the name of a new thread;
    EngineError if the system allows no more threads.
    """
    try:
        _kept.pop().put(work)
    except IndexError:
        start_thread(partial(_run, SimpleQueue(), [work]), name)


def _run(more: SimpleQueue[_Work], first: list[_Work]) -> None:
    """Do the first work, and then wait for more. No reference to finished work is kept."""
    first.pop()()
    while len(_kept) < _MAX_KEPT:
        _kept.append(more)
        more.get()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.clear)  # a forked process has only the thread that forked
