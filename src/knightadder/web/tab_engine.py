"""The engine of a tab: loaded in a thread, configured for each search, with one piece of work at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from knightadder.engine.errors import EngineError
from knightadder.engine.strength import DEFAULT_ELO
from knightadder.web.resources import Resources
from knightadder.web.views import View

if TYPE_CHECKING:
    from knightadder.library.board_engine import Engine
    from knightadder.library.engine_options import Setting

LOADING_THREAD = "engine of a tab"  # the name of the threads


class TabEngine:
    """An engine and its work. Changed `resources` take effect at the next search.
    `make_engine` loads the engine, once, in a thread. `send` takes a message for the page, and must not block.
    """

    def __init__(self, make_engine: Callable[[], Engine], send: Callable[[View], None], resources: Resources) -> None:
        self.resources = resources
        self._used = resources  # the resources that the engine has
        self._make_engine = make_engine
        self._send = send
        self._engine: asyncio.Future[Engine] | None = None
        self._work: asyncio.Task[None] | None = None
        self._fresh = True  # whether the engine must still be told about a new game
        self._preparing: asyncio.Task[None] | None = None  # the newest preparation of the engine for its work
        self._progress: View | None = None  # the progress of an evaluation of several positions

    def load(self) -> None:
        """Begin to load the engine."""
        self._engine = load_in_thread(self._make_engine)
        self._engine.add_done_callback(lambda _: self.show())

    def show(self) -> None:
        """Tell the page whether the engine is loaded, and how far an evaluation has got."""
        if self._progress is not None:
            self._send(self._progress)
        if self._engine is None or not self._engine.done():
            self._send({"type": "engine", "state": "loading"})
        elif not self._engine.cancelled():
            error = self._engine.exception()
            if error is not None:
                self._send({"type": "engine", "state": "failed", "text": str(error)})
                return
            self._send({"type": "engine", "state": "ready"})
            if problem := self._engine.result().problem:
                self._send({"type": "notice", "text": problem})

    def show_progress(self, done: int, count: int) -> None:
        """Tell the page that `done` of `count` positions are evaluated."""
        progress: View = {"type": "progress", "done": done, "all": count}
        self._progress = progress if done < count else None
        self._send(progress)

    @property
    def loaded(self) -> bool:
        """Whether the engine has been loaded without an error."""
        engine = self._engine
        return engine is not None and engine.done() and not engine.cancelled() and engine.exception() is None

    @property
    def busy(self) -> bool:
        """Whether there is unfinished work."""
        return self._work is not None and not self._work.done()

    def new_game(self) -> None:
        """Make the engine forget earlier games before its next search."""
        self._fresh = True

    async def ready(self, elo: int | None = None) -> Engine:
        """Wait until the engine is loaded, and return it with its strength set; None is full strength."""
        assert self._engine is not None  # set by load(), which is called first
        engine = await asyncio.shield(self._engine)
        # If the work is cancelled, the preparation goes on, and the next work waits for it.
        self._preparing = asyncio.create_task(self._prepare(engine, self._preparing))
        await asyncio.shield(self._preparing)
        strength: dict[str, Setting] = {"UCI_LimitStrength": elo is not None, "UCI_Elo": elo or DEFAULT_ELO}
        engine.configure(strength)
        return engine

    async def _prepare(self, engine: Engine, before: asyncio.Task[None] | None) -> None:
        """Begin a new game and set the resources, if necessary, after the preparation `before`. This happens in a
        thread, because other tabs should not wait until a large hash table is cleared.
        """
        if before is not None:
            await asyncio.wait([before])
        if self._fresh:
            self._fresh = False
            await asyncio.to_thread(engine.new_game)
        if self.resources != self._used:
            await self._use_resources(engine, self.resources)

    async def _use_resources(self, engine: Engine, chosen: Resources) -> None:
        """Set the resources of an idle engine; if it refuses them, keep the old ones and tell the page."""
        try:
            await asyncio.to_thread(engine.configure, chosen.settings())
            self._used = chosen
        except EngineError as error:
            await asyncio.to_thread(engine.configure, self._used.settings())
            self._send({"type": "notice", "text": str(error)})
            if self.resources == chosen:  # the user may have chosen others in the meantime
                self.resources = self._used
                self._send(self.resources.view())

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Start a piece of work, whose errors are sent to the page; the engine must be idle."""
        self._work = asyncio.create_task(self._guarded(work))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except EngineError as error:
            self._send({"type": "error", "text": str(error)})

    def cancel(self) -> None:
        """Ask the work to finish early."""
        if self._work is not None:
            self._work.cancel()

    def leave(self) -> None:
        """Mark the work as finished. The work itself calls this last, so nobody needs to wait for it."""
        self._work = None

    async def stop(self) -> None:
        """Stop the work and wait for its end."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
            await asyncio.wait([work])

    async def close(self) -> None:
        """Stop the work and close the engine."""
        await self.stop()
        loaded = self.loaded
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if self._preparing is not None:
            await asyncio.wait([self._preparing])
        if loaded:
            await asyncio.to_thread(engine.result().close)
        else:  # a thread that is still loading sees this and closes the engine
            engine.cancel()


def load_in_thread(make: Callable[[], Engine]) -> asyncio.Future[Engine]:
    """Load an engine in a daemon thread, because nothing can interrupt the compiler; return its future.
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
        except RuntimeError:  # the event loop has ended in the meantime
            if engine is not None:
                engine.close()

    threading.Thread(target=load, name=LOADING_THREAD, daemon=True).start()
    return future
