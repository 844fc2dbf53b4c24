"""Routes for queries of the page: about a position, or about a file of the user's that may be damaged."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path

import chess
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from knightadder.engine.errors import EngineError
from knightadder.foreign import whole_or_none
from knightadder.web.messages import MessageError
from knightadder.web.typed import board_from_fen
from knightadder.web.views import View

_LONGEST_FEN = 200
_LONGEST_AGO = timedelta(days=365)


def position_route(path: str, answer: Callable[[chess.Board, Mapping[str, str]], Awaitable[object]]) -> Route:
    """Return a route that answers ``?fen=…`` with the JSON of `answer`, or with the error if the FEN is invalid."""

    async def respond(request: Request) -> Response:
        try:
            board, _ = board_from_fen(request.query_params.get("fen", "")[:_LONGEST_FEN])
        except MessageError as error:
            return PlainTextResponse(str(error), status_code=400)
        return JSONResponse(await answer(board, request.query_params))

    return Route(path, respond)


def answering(find: Callable[[Request], View]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers with a function's result as JSON, or with its error as ``problem``."""

    async def respond(request: Request) -> Response:
        try:
            return JSONResponse(await asyncio.to_thread(find, request))
        except EngineError as error:
            return JSONResponse({"problem": str(error)})

    return respond


def mark_of(*files: Path) -> str:
    """Return a short text that identifies files by their paths, in answers that the page sends."""
    paths = "\n".join(str(file.resolve()) for file in files)
    return hashlib.sha256(os.fsencode(paths)).hexdigest()[:16]


def is_elsewhere(request: Request, mark: str) -> bool:
    """Return whether the answer in a request is for other files than those with this mark. If the server has been
    restarted with other files, the page keeps such an answer for a server with the same files.
    """
    return request.query_params.get("files", mark) != mark


def time_since(request: Request) -> timedelta:
    """Return how long ago the user gave the answer in a request, at most a year: the page may send it later."""
    seconds = whole_or_none(request.query_params.get("ago", "")) or 0
    return timedelta(seconds=min(seconds, _LONGEST_AGO.total_seconds()))
