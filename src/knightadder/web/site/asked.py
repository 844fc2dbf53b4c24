"""Routes for the page's questions about a position."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import chess
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from knightadder.web.gametree import board_from_fen
from knightadder.web.messages import MessageError

_LONGEST_FEN = 200


def position_route(path: str, answer: Callable[[chess.Board], Awaitable[object]]) -> Route:
    """Return a route that answers ``?fen=…`` by a function, as JSON; a broken FEN is answered with what is wrong."""

    async def respond(request: Request) -> Response:
        try:
            board, _ = board_from_fen(request.query_params.get("fen", "")[:_LONGEST_FEN])
        except MessageError as error:
            return PlainTextResponse(str(error), status_code=400)
        return JSONResponse(await answer(board))

    return Route(path, respond)
