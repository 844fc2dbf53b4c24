"""The application of the web board: the page, the images of the pieces, and a WebSocket for each tab."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

import chess
import chess.svg
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from knightadder.web.exploring import explorer_routes
from knightadder.web.guard import Guard
from knightadder.web.outbox import Outbox
from knightadder.web.session import Session
from knightadder.web.training import training_routes

if TYPE_CHECKING:
    from knightadder.library.engine import Engine
    from knightadder.library.explorer import Explorer
    from knightadder.puzzles.puzzle import Puzzle

MAX_TABS = 12  # each has an engine of its own

_SOCKET = "/socket"
_STATIC = resources.files("knightadder.web") / "static"
_PIECES = {f"{'w' if s.isupper() else 'b'}{s.upper()}": chess.Piece.from_symbol(s) for s in "KQRBNPkqrbnp"}
_TRY_AGAIN_LATER = 1013  # WebSocket's close code


def make_app(
    make_engine: Callable[[], Engine],
    token: str,
    host: str = "127.0.0.1",
    puzzles: Sequence[Puzzle] = (),
    explorer: Explorer | None = None,
) -> Starlette:
    """Return the application.

    Parameters
    ----------
    make_engine : callable
        Loads an engine for a tab; called in a thread.
    token : str
        The secret that requests must contain, see `Guard`.
    host : str
        The name or address that the server listens on.
    puzzles : sequence of Puzzle
        Puzzles to solve: if there are any, their page is the first one.
    explorer : Explorer, optional
        The index of games of the opening explorer.
    """
    app = Starlette(
        routes=[
            Route("/", partial(_page, "puzzles.html" if puzzles else "index.html")),
            *training_routes(puzzles),
            *explorer_routes(explorer),
            Route("/pieces/{name}.svg", _piece),
            WebSocketRoute(_SOCKET, partial(_serve_tab, make_engine=make_engine)),
            Mount("/", StaticFiles(directory=str(_STATIC))),
        ],
        middleware=[Middleware(Guard, host=host, token=token, socket=_SOCKET)],
    )
    app.state.tabs = 0
    return app


async def _page(name: str, _: Request) -> Response:
    return FileResponse(str(_STATIC / name))


async def _piece(request: Request) -> Response:
    piece = _PIECES.get(request.path_params["name"])
    if piece is None:
        return PlainTextResponse("no such piece", status_code=404)
    return Response(chess.svg.piece(piece), media_type="image/svg+xml")


async def _serve_tab(websocket: WebSocket, make_engine: Callable[[], Engine]) -> None:
    """Serve a tab, which counts as open until its engine is closed; refuse it if `MAX_TABS` tabs are open."""
    state = websocket.app.state
    if state.tabs >= MAX_TABS:
        await websocket.accept()
        await websocket.close(_TRY_AGAIN_LATER, f"there are {state.tabs} tabs already; close one")
        return
    state.tabs += 1
    try:
        await websocket.accept()
        await serve_session(websocket, make_engine)
    finally:
        state.tabs -= 1


async def serve_session(websocket: WebSocket, make_engine: Callable[[], Engine]) -> None:
    """Answer the messages of a tab, one after the other, until it is closed; then close its engine.

    Parameters
    ----------
    websocket : WebSocket
        The connection to the tab, accepted.
    make_engine : callable
        Loads an engine for the tab; called in a thread.
    """
    outbox = Outbox()
    session = Session(make_engine, outbox.put)
    sending = asyncio.create_task(outbox.send_all(websocket))
    try:
        session.start()
        async for text in _texts(websocket):
            await session.handle(text)
            await outbox.empty()  # handles no further message of a tab that does not read
    finally:
        sending.cancel()
        await session.close()


async def _texts(websocket: WebSocket) -> AsyncIterator[str]:
    """Yield the messages of a tab until it is closed or sends binary data, which our page never does."""
    while True:
        message = await websocket.receive()
        text = message.get("text")
        if text is None:
            return
        yield text
