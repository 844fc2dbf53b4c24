"""The server of the web board: the page, its pieces, and a WebSocket for each tab.

The board is for the one who runs it. So requests are answered only if they name this server in ``Host``, which a page
that points its own name at this machine cannot do (DNS rebinding), and a WebSocket is opened only for a page that came
from here, by its ``Origin``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import chess
import chess.svg
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from knightadder.web.session import Session
from knightadder.web.views import View

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from knightadder.library.engine import Engine

MAX_TABS = 12  # each has an engine of its own

_SOCKET = "/socket"
_STATIC = resources.files("knightadder.web") / "static"
_PIECES = {f"{'w' if s.isupper() else 'b'}{s.upper()}": chess.Piece.from_symbol(s) for s in "KQRBNPkqrbnp"}
_POLICY_VIOLATION, _TRY_AGAIN_LATER = 1008, 1013  # WebSocket's close codes
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # after an upgrade no old half of the page is used
}


def make_app(make_engine: Callable[[], Engine], host: str = "127.0.0.1") -> Starlette:
    """Make the application.

    Parameters
    ----------
    make_engine : callable
        Loads an engine for a tab; called in a thread.
    host : str
        The name or address that the server listens on.
    """
    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/pieces/{name}.svg", _piece),
            WebSocketRoute(_SOCKET, partial(_serve_tab, make_engine=make_engine)),
            Mount("/", StaticFiles(directory=str(_STATIC))),
        ],
        middleware=[Middleware(_Guard, host=host)],
    )
    app.state.tabs = 0
    return app


async def _page(_: Request) -> Response:
    return FileResponse(str(_STATIC / "index.html"))


async def _piece(request: Request) -> Response:
    piece = _PIECES.get(request.path_params["name"])
    if piece is None:
        return PlainTextResponse("no such piece", status_code=404)
    return Response(chess.svg.piece(piece), media_type="image/svg+xml")


async def _serve_tab(websocket: WebSocket, make_engine: Callable[[], Engine]) -> None:
    """Serve a tab until it is closed and its engine, too: until then it counts as one of the tabs that there may be."""
    state = websocket.app.state
    if state.tabs >= MAX_TABS:
        await websocket.accept()
        await websocket.close(_TRY_AGAIN_LATER, f"there are {state.tabs} tabs already; close one")
        return
    state.tabs += 1
    try:
        await websocket.accept()
        await _serve_session(websocket, make_engine)
    finally:
        state.tabs -= 1


async def _serve_session(websocket: WebSocket, make_engine: Callable[[], Engine]) -> None:
    outbox = _Outbox()
    session = Session(make_engine, outbox.put)
    sending = asyncio.create_task(outbox.send_all(websocket))
    try:
        session.start()
        async for text in _texts(websocket):
            await session.handle(text)
    finally:
        sending.cancel()
        await session.close()


async def _texts(websocket: WebSocket) -> AsyncIterator[str]:
    """Give what a tab says until it is closed, or says what no page of ours does: something that is no text."""
    while True:
        message = await websocket.receive()
        text = message.get("text")
        if text is None:
            return
        yield text


class _Outbox:
    """What is to be sent to a tab, in order; of lines of analysis that wait, only the newest are kept."""

    def __init__(self) -> None:
        self._views: deque[View] = deque()
        self._news = asyncio.Event()

    def put(self, view: View) -> None:
        """Add a message, without waiting."""
        if view["type"] == "lines":
            self._views = deque(waiting for waiting in self._views if waiting["type"] != "lines")
        self._views.append(view)
        self._news.set()

    async def send_all(self, websocket: WebSocket) -> None:
        """Send what there is and what comes, until the tab is gone."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._views:
                try:
                    await websocket.send_text(json.dumps(self._views.popleft(), separators=(",", ":")))
                except (WebSocketDisconnect, RuntimeError):  # whoever receives will notice
                    return


# --- who may ask ---------------------------------------------------------------------------------------------------


class _Guard:
    """Refuses requests for other hosts and WebSockets of foreign pages, and adds the headers that browsers heed."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        own = is_own_host(host, self._host)
        if scope["type"] == "websocket":
            if own and scope["path"] == _SOCKET and headers.get("origin") in (f"http://{host}", f"https://{host}"):
                await self._app(scope, receive, send)
            else:  # before it is accepted, so the browser gets a plain 403
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": "foreign origin"})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        app = self._app if own else PlainTextResponse("this server has another name", status_code=421)
        await app(scope, receive, send_with_headers)


def is_own_host(header: str, listening: str) -> bool:
    """Say whether a request's ``Host`` names this server.

    Parameters
    ----------
    header : str
        The header, with or without a port.
    listening : str
        The name or address the server listens on. If that is no loopback, addresses in figures and this machine's name
        are its own, too: other names are what a DNS rebinding attack would use.
    """
    try:
        name = (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return False
    if name in ("localhost", listening.lower().strip("[]")):
        return True
    if is_loopback(listening):
        return is_loopback(name)
    return _is_address(name) or name == socket.gethostname().lower()


def is_loopback(host: str) -> bool:
    """Say whether this name or address is reached from this machine alone."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
