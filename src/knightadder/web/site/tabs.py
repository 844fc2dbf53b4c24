"""The open tabs. Each has a session, which is kept for a while without a connection, so that the tab can return."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias

from starlette.websockets import WebSocket, WebSocketDisconnect

from knightadder.web.session import Session
from knightadder.web.site.outbox import Outbox
from knightadder.web.views import View

MAX_TABS = 12  # maximum number of tabs, each of which has its own engine
MAX_KEPT = 4  # maximum number of kept tabs without a connection: a closed tab looks like a lost connection
KEPT_SECONDS = 600.0

_LONGEST_ID = 64  # maximum length of a tab's name, in characters
# WebSocket's close codes
_NORMAL = 1000
_TRY_AGAIN_LATER = 1013
_TAKEN_OVER = 4001


_MakeSession: TypeAlias = Callable[[Callable[[View], None]], Session]


class End(Enum):
    """How a connection ended."""

    LOST = auto()  # the tab may return
    GOODBYE = auto()  # the tab will not return
    REPLACED = auto()  # the tab has already returned with a newer connection, or its session has ended


class Tab:
    """A session and its newest connection."""

    def __init__(self, make_session: _MakeSession, server: str) -> None:
        self.expiry: asyncio.TimerHandle | None = None  # set while there is no connection
        self._server = server  # the name of this run of the server: the page sees by it that the server was restarted
        self._outbox = Outbox()
        self._session = make_session(self._put)
        self._started = False
        self._newest: WebSocket | None = None
        self._sending: asyncio.Task[None] | None = None
        self._replaced = asyncio.Event()
        self._serving = asyncio.Lock()
        self._closed = False

    def _put(self, view: View) -> None:
        self._outbox.put(view)

    async def serve(self, websocket: WebSocket) -> End:
        """Answer the messages of a connection, one after the other, until it ends or a newer connection replaces it."""
        self._newest = websocket
        self._replaced.set()
        if self._sending is not None:
            self._sending.cancel()  # an older connection may be waiting for a client that does not read
        async with self._serving:
            if self._closed:  # after an unexpected error, while this connection was waiting
                await _close(websocket, _TRY_AGAIN_LATER, "the tab's session has failed")
                return End.REPLACED
            end = End.REPLACED
            if self._newest is websocket:
                self._replaced.clear()
                end = await self._converse(websocket)
        if self._newest is websocket:
            return end
        await _close(websocket, _TAKEN_OVER, "the tab has a newer connection")
        return End.REPLACED

    async def _converse(self, websocket: WebSocket) -> End:
        self._outbox = Outbox()
        self._sending = asyncio.create_task(self._outbox.send_all(websocket))
        try:
            self._put({"type": "session", "continued": self._started, "server": self._server})
            if self._started:
                self._session.resume()
            else:
                self._started = True
                self._session.start()
            return await self._answer(websocket)
        finally:
            self._sending.cancel()
            await self._session.pause()

    async def _answer(self, websocket: WebSocket) -> End:
        replaced = asyncio.create_task(self._replaced.wait())
        receiving = None
        try:
            while True:
                receiving = asyncio.create_task(websocket.receive())
                await asyncio.wait((receiving, replaced), return_when=asyncio.FIRST_COMPLETED)
                if replaced.done():
                    return End.REPLACED
                message = receiving.result()
                text = message.get("text")
                if text is None:
                    lost = message["type"] == "websocket.disconnect" and message.get("code") != _NORMAL
                    return End.LOST if lost else End.GOODBYE  # a goodbye, or binary data
                await self._session.handle(text)
                await self._outbox.empty()  # wait, so that a tab that does not read cannot send more work
        finally:
            replaced.cancel()
            if receiving is not None:
                receiving.cancel()

    async def close(self) -> None:
        """End the session and its engine."""
        self._closed = True
        await self._session.close()


class Tabs:
    """All tabs of a server. `make_session` makes a tab's session, given a function that sends messages to its page."""

    def __init__(self, make_session: _MakeSession) -> None:
        self._make_session = make_session
        self._server = secrets.token_hex(8)
        self._named: dict[str, Tab] = {}  # tabs that can return; the last disconnected comes last
        self._open = 0  # number of tabs whose engine is not closed yet
        # Tasks that end tabs which did not return; the event loop itself does not keep tasks alive.
        self._ending: set[asyncio.Task[None]] = set()

    async def serve(self, websocket: WebSocket) -> None:
        """Serve a connection until it ends, by the session that its ``tab`` names; refuse it if there are too many."""
        await websocket.accept()
        name = websocket.query_params.get("tab", "")[:_LONGEST_ID]
        while name not in self._named and self._open >= MAX_TABS and (kept := self._kept()):
            await self._end(kept[0])
        tab = self._named.get(name)
        if tab is None:
            if self._open >= MAX_TABS:
                await _close(websocket, _TRY_AGAIN_LATER, f"{self._open} tabs are already open; close one of them")
                return
            tab = Tab(self._make_session, self._server)
            self._open += 1
            if name:
                self._named[name] = tab
        elif tab.expiry is not None:
            tab.expiry.cancel()
            tab.expiry = None
        end = End.GOODBYE
        try:
            end = await tab.serve(websocket)
        finally:
            if end is End.GOODBYE or (end is End.LOST and not name):
                await self._end(tab)
            elif end is End.LOST:
                await self._keep(name, tab)

    async def close(self) -> None:
        """End the tabs that have no connection. Call this after the server has ended all connections."""
        for tab in self._kept():
            await self._end(tab)

    def _kept(self) -> list[Tab]:
        """Return the tabs without a connection, in the order in which they lost it."""
        return [tab for tab in self._named.values() if tab.expiry is not None]

    async def _keep(self, name: str, tab: Tab) -> None:
        self._named[name] = self._named.pop(name)
        loop = asyncio.get_running_loop()
        tab.expiry = loop.call_later(KEPT_SECONDS, self._expire, tab)
        for tab in self._kept()[:-MAX_KEPT]:
            await self._end(tab)

    def _expire(self, tab: Tab) -> None:
        self._forget(tab)  # immediately, because the task begins later
        self._ending.add(task := asyncio.create_task(self._end(tab)))
        task.add_done_callback(self._ending.discard)

    def _forget(self, tab: Tab) -> None:
        """Prevent a tab from returning to its session."""
        if tab.expiry is not None:
            tab.expiry.cancel()
        self._named = {name: each for name, each in self._named.items() if each is not tab}

    async def _end(self, tab: Tab) -> None:
        self._forget(tab)
        try:
            await tab.close()
        finally:
            self._open -= 1


async def _close(websocket: WebSocket, code: int, reason: str) -> None:
    """Tell a connection the reason for its end, unless it is already lost."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # RuntimeError: after `receive` has reported the loss
        await websocket.close(code, reason)
