"""What waits to be sent to a tab."""

from __future__ import annotations

import asyncio
import json
from collections import deque

from starlette.websockets import WebSocket, WebSocketDisconnect

from knightadder.web.views import View

_ENCODER = json.JSONEncoder(separators=(",", ":"))
_NEWEST = ("lines", "progress")  # messages of which only the last counts


class Outbox:
    """The messages to a tab, in order.

    What the engine finds goes in without waiting, and takes the place of what it found before and is not sent yet. What
    answers the tab's own messages cannot pile up either: the next is handled when the box is `empty`.
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
        """Wait until all messages are on their way, or the tab is gone."""
        await self._empty.wait()

    async def send_all(self, websocket: WebSocket) -> None:
        """Send what there is and what comes, until the tab is gone."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._views:
                    view = self._views.popleft()
                    # In a thread if it may be long, so that other tabs need not wait for it.
                    await websocket.send_text(
                        await asyncio.to_thread(_text, view) if view["type"] == "tree" else _text(view)
                    )
                self._empty.set()
        except (WebSocketDisconnect, RuntimeError):
            pass  # whoever receives will notice
        finally:
            self._gone = True
            self._views.clear()
            self._empty.set()


def _text(view: View) -> str:
    # Piece by piece: json.dumps lets no other thread run until it is done.
    return "".join(_ENCODER.iterencode(view))
