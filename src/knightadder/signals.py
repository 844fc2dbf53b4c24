"""Handles signals in a ``with`` block."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def handling(number: int, handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> Iterator[None]:
    """Handle a signal with a handler in a ``with`` block; does so only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def terminating_interrupts() -> contextlib.AbstractContextManager[None]:
    """Give SIGTERM the effect of Ctrl-C in a ``with`` block, unless the program already handles it in its own way."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return contextlib.nullcontext()
    return handling(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
