"""The opening explorer for the page: its routes, and its answers as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import chess
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from knightadder.engine.errors import EngineError, OptionError
from knightadder.foreign import whole_or_none
from knightadder.library.explorer import Explorer
from knightadder.library.game_filter import GameFilter
from knightadder.web.site.asked import position_route
from knightadder.web.views import View

_LONGEST = 100  # maximum length of a query value in characters
_COLORS = {"white": chess.WHITE, "black": chess.BLACK}


def explorer_routes(explorer: Explorer | None) -> list[Route]:
    """Return the explorer's routes.

    ``/explorer?fen=...`` gives the moves that the explorer's games played in the position; null without an explorer.
    The query may contain the values of a `GameFilter`, with speeds separated by commas, and ``latest=1``.
    ``/explorer/game?number=...`` gives a game as PGN.
    """

    async def answer(board: chess.Board, query: Mapping[str, str]) -> View | None:
        return None if explorer is None else await asyncio.to_thread(explorer_view, explorer, board, query)

    async def game(request: Request) -> Response:
        number = whole_or_none(request.query_params.get("number", "")[:_LONGEST])
        if explorer is None or number is None:
            return PlainTextResponse("no such game", status_code=404)
        try:
            text = await asyncio.to_thread(explorer.pgn, number)
        except EngineError as error:
            return PlainTextResponse(str(error), status_code=404)
        return PlainTextResponse(f"{text}\n", media_type="application/x-chess-pgn")

    return [position_route("/explorer", answer), Route("/explorer/game", game)]


def explorer_view(explorer: Explorer, board: chess.Board, query: Mapping[str, str] | None = None) -> View:
    """Describe the moves played in a position, and the highest-rated games among those that pass a filter."""
    query = query or {}
    try:
        wanted = _filter(query)
        return {
            "moves": [move.to_dict() for move in explorer.moves(board, wanted)],
            "games": [game.to_dict() for game in explorer.games(board, wanted, latest=query.get("latest") == "1")],
            "problem": None,
        }
    except EngineError as error:  # the filter is wrong, or the file is damaged
        return {"moves": [], "games": [], "problem": str(error)}


def _filter(query: Mapping[str, str]) -> GameFilter:
    values = {name: text for name in query if (text := query[name].strip()[:_LONGEST])}
    ratings = {}
    for name in ("min_rating", "max_rating"):
        if name in values:
            ratings[name] = whole_or_none(values[name])
            if ratings[name] is None:
                raise OptionError(f"a rating must be a whole number, not {values[name]!r}")
    return GameFilter(
        **ratings,
        since=values.get("since"),
        until=values.get("until"),
        speeds=tuple(values["speeds"].split(",")) if "speeds" in values else (),
        player=values.get("player"),
        color=_COLORS.get(values.get("color", "")) if "player" in values else None,
        result=values.get("result"),
    )
