"""Loading an engine beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knightadder.library.engine import Engine

LOADING_THREAD = "engine of a tab"  # the name of the threads


def load_in_thread(make: Callable[[], Engine]) -> asyncio.Future[Engine]:
    """Load an engine in a daemon thread, since nothing can interrupt the compiler; return its future.

    If the future is cancelled or the event loop ends first, the engine is closed as soon as it is loaded.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Engine] = loop.create_future()

    def deliver(engine: Engine | None, error: BaseException | None) -> None:
        if not future.done():
            if error is not None:
                future.set_exception(error)
            elif engine is not None:
                future.set_result(engine)
        elif engine is not None:
            engine.close()

    def load() -> None:
        engine = error = None
        try:
            engine = make()
        except BaseException as caught:  # the page must be told of any error
            error = caught
        try:
            loop.call_soon_threadsafe(deliver, engine, error)
        except RuntimeError:  # the event loop has ended meanwhile
            if engine is not None:
                engine.close()

    threading.Thread(target=load, name=LOADING_THREAD, daemon=True).start()
    return future
