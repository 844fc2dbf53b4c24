"""The opening explorer for the page: its route, and its answers as JSON."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from knightadder.engine.errors import EngineError, PositionError
from knightadder.library.explorer import Explorer
from knightadder.web.views import View


def explorer_routes(explorer: Explorer | None) -> list[Route]:
    """Return the route of the explorer: ``/explorer?fen=...`` is what its games played there; null without one."""
    return [Route("/explorer", partial(_explore, explorer))]


async def _explore(explorer: Explorer | None, request: Request) -> Response:
    if explorer is None:
        return JSONResponse(None)
    try:
        return JSONResponse(await asyncio.to_thread(explorer_view, explorer, request.query_params.get("fen", "")))
    except PositionError as error:
        return PlainTextResponse(str(error), status_code=400)
    except EngineError as error:  # the file is damaged
        return JSONResponse({"moves": [], "games": [], "problem": str(error)})


def explorer_view(explorer: Explorer, fen: str) -> View:
    """Describe the moves that were played in a position, and the highest rated of the games."""
    return {
        "moves": [move.to_dict() for move in explorer.moves(fen)],
        "games": [game.to_dict() for game in explorer.games(fen)],
        "problem": None,
    }
