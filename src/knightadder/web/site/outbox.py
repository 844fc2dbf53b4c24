"""The queue of messages to a tab."""

from __future__ import annotations

import asyncio
import json
from collections import deque

from starlette.websockets import WebSocket, WebSocketDisconnect

from knightadder.web.views import View

_ENCODER = json.JSONEncoder(separators=(",", ":"))
_NEWEST = ("lines", "other_lines", "progress")  # types for which only the newest message counts


class Outbox:
    """The messages to a tab, in order.

    The engine's lines and progress are added without waiting, and replace unsent older messages of the same type.
    Answers to the tab's messages cannot pile up either: the next message is handled only when the queue is empty.
    """

    def __init__(self) -> None:
        self._views: deque[View] = deque()
        self._news = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._gone = False

    def put(self, view: View) -> None:
        """Add a message, without waiting."""
        if self._gone:
            return
        if view["type"] in _NEWEST:
            self._views = deque(waiting for waiting in self._views if waiting["type"] != view["type"])
        self._views.append(view)
        self._empty.clear()
        self._news.set()

    async def empty(self) -> None:
        """Wait until all messages have been sent or the tab is gone."""
        await self._empty.wait()

    async def send_all(self, websocket: WebSocket) -> None:
        """Send all messages, present and future, until the tab is gone."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._views:
                    view = self._views.popleft()
                    # A long message is encoded in a thread, so that other tabs do not wait for it.
                    await websocket.send_text(
                        await asyncio.to_thread(_text, view) if view["type"] == "tree" else _text(view)
                    )
                self._empty.set()
        except (WebSocketDisconnect, RuntimeError):
            pass  # the receiving task notices the loss too
        finally:
            self._gone = True
            self._views.clear()
            self._empty.set()


def _text(view: View) -> str:
    # In small steps: a single call of json.dumps would block all other threads.
    return "".join(_ENCODER.iterencode(view))
