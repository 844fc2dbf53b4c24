"""The list of the user's games: its routes."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from knightadder.engine.errors import OptionError
from knightadder.foreign import whole_or_none
from knightadder.web.messages import MessageError
from knightadder.web.saved_games import MAX_FILE, SavedGames
from knightadder.web.site.asked import answering
from knightadder.web.views import View

_SHOWN = 100  # maximum number of games per answer
_LONGEST_SEARCH = 200  # maximum length of a search text in characters


def saved_routes(saved: SavedGames | None) -> list[Route]:
    """Return the routes of the user's games, if the board keeps any.

    ``GET /games?search=...&start=N`` gives a page of the games that contain all words, from the N-th on; ``POST
    /games`` adds the games of a PGN file; ``POST /games/N?deleted=1`` deletes a game, and ``deleted=0`` restores it;
    ``/games.pgn`` gives all games. The answer may be a ``problem``, a message for the user, instead.
    """
    if saved is None:
        return [Route("/games", answering(_nothing_kept), methods=["GET", "POST"])]

    def listed(request: Request) -> View:
        wanted = request.query_params.get("search", "")[:_LONGEST_SEARCH]
        start = whole_or_none(request.query_params.get("start", "")) or 0
        games, total = saved.find(wanted, start, _SHOWN)
        return {"games": [asdict(game) for game in games], "total": total}

    async def add(request: Request) -> Response:
        content = await _body(request)

        def added(_: Request) -> View:
            if content is None:
                raise MessageError(f"the file has more than {MAX_FILE // 2**20} MB")
            new, known = saved.add_file(content)
            return {"new": new, "known": known}

        return await answering(added)(request)

    def delete(request: Request) -> View:
        if not saved.delete(request.path_params["number"], request.query_params.get("deleted") != "0"):
            raise MessageError("there is no such game")
        return {}

    async def everything(_: Request) -> Response:
        try:
            text = await asyncio.to_thread(lambda: "\n".join(saved.all()))
        except OptionError as error:
            return PlainTextResponse(str(error), status_code=503)
        return Response(text, media_type="application/x-chess-pgn; charset=utf-8")

    return [
        Route("/games", answering(listed)),
        Route("/games", add, methods=["POST"]),
        Route("/games/{number:int}", answering(delete), methods=["POST"]),
        Route("/games.pgn", everything),
    ]


def _nothing_kept(_: Request) -> View:
    raise MessageError("this board keeps no games")


async def _body(request: Request) -> bytes | None:
    """Return the file in a request; None if it is too large."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MAX_FILE:
            return None
    return bytes(content)
