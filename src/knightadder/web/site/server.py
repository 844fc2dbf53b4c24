"""The application of the web board: the page, the images of the pieces, and a WebSocket for each tab."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from knightadder.web.resources import Resources
from knightadder.web.session import Session
from knightadder.web.site.drilling import drill_routes
from knightadder.web.site.exploring import explorer_routes
from knightadder.web.site.guard import Guard
from knightadder.web.site.known import Known
from knightadder.web.site.piece_images import piece_routes
from knightadder.web.site.saving import saved_routes
from knightadder.web.site.serving import MAX_CONNECTIONS
from knightadder.web.site.tabs import Tabs
from knightadder.web.site.training import Training

if TYPE_CHECKING:
    from knightadder.drills.box import DrillBox
    from knightadder.library.board_engine import Engine
    from knightadder.library.explorer import Explorer
    from knightadder.web.other_engine import CompanionEngine
    from knightadder.web.saved_games import SavedGames

_SOCKET = "/socket"
_STATIC = resources.files("knightadder.web") / "static"
_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript"}  # of all files there


def make_app(
    make_engine: Callable[[], Engine],
    token: str,
    host: str = "127.0.0.1",
    training: Training | None = None,
    explorer: Explorer | None = None,
    known: Known | None = None,
    resources: Resources | None = None,
    drills: DrillBox | None = None,
    make_other: Callable[[], CompanionEngine] | None = None,
    saved: SavedGames | None = None,
    ticket: str | None = None,
) -> Starlette:
    """Return the application.

    `make_engine` is called for each tab, in a thread. Requests must contain the token, or once the ticket (see
    `Guard`). If there are drills or puzzles, their page is the start page. By default, only the tablebases that come
    with the engine are used.
    """
    # Starlette asks Python's table for types. On Windows, other programs may have changed it, often to plain text for
    # scripts, which a browser would not run.
    for suffix, kind in _TYPES.items():
        mimetypes.add_type(kind, suffix)
    pages = [name for name, there in (("drills", drills), ("puzzles", training)) if there]
    tabs = Tabs(lambda send: Session(make_engine, send, resources, make_other, saved))
    return Starlette(
        routes=[
            Route("/", partial(_page, f"{pages[0]}.html" if pages else "index.html")),
            Route("/pages", partial(_pages, pages)),
            *drill_routes(drills),
            *(training.routes() if training else []),
            *explorer_routes(explorer),
            *(known or Known()).routes(),
            *saved_routes(saved),
            *piece_routes(),
            WebSocketRoute(_SOCKET, tabs.serve),
            Mount("/", StaticFiles(directory=str(_STATIC))),
        ],
        middleware=[Middleware(Guard, host=host, token=token, socket=_SOCKET, ticket=ticket)],
        lifespan=partial(_lifespan, tabs),
    )


@contextlib.asynccontextmanager
async def _lifespan(tabs: Tabs, _: Starlette) -> AsyncIterator[None]:
    # More threads than clients: however many wait for a locked file, a tab gets a thread at once.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * MAX_CONNECTIONS, "board"))
    yield
    await tabs.close()


async def _pages(names: list[str], _: Request) -> Response:
    return JSONResponse({"pages": names})


async def _page(name: str, _: Request) -> Response:
    return FileResponse(str(_STATIC / name))
