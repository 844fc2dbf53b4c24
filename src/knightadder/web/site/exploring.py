"""The opening explorer for the page: its route, and its answers as JSON."""

from __future__ import annotations

import asyncio

import chess
from starlette.routing import Route

from knightadder.engine.errors import EngineError
from knightadder.library.explorer import Explorer
from knightadder.web.site.asked import position_route
from knightadder.web.views import View


def explorer_routes(explorer: Explorer | None) -> list[Route]:
    """Return the explorer's route: ``/explorer?fen=...`` answers the moves of its games; null without an explorer."""

    async def answer(board: chess.Board) -> View | None:
        return None if explorer is None else await asyncio.to_thread(explorer_view, explorer, board)

    return [position_route("/explorer", answer)]


def explorer_view(explorer: Explorer, board: chess.Board) -> View:
    """Describe the moves that were played in a position, and the highest rated of the games."""
    try:
        return {
            "moves": [move.to_dict() for move in explorer.moves(board)],
            "games": [game.to_dict() for game in explorer.games(board)],
            "problem": None,
        }
    except EngineError as error:  # the file is damaged
        return {"moves": [], "games": [], "problem": str(error)}
