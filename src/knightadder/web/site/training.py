"""The page for solving puzzles: its routes, and puzzles as JSON with the data for judging moves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import chess
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from knightadder.puzzles.puzzle import Puzzle
from knightadder.web.views import View, board_view, moves_view


def training_routes(puzzles: Sequence[Puzzle]) -> list[Route]:
    """Return the route of the puzzles: ``/puzzles/N`` is puzzle N, from 1."""
    return [Route("/puzzles/{number:int}", partial(_puzzle, puzzles))]


async def _puzzle(puzzles: Sequence[Puzzle], request: Request) -> Response:
    number = request.path_params["number"]
    if not 1 <= number <= len(puzzles):
        return PlainTextResponse("no such puzzle", status_code=404)
    return JSONResponse({"number": number, "count": len(puzzles), **puzzle_view(puzzles[number - 1])})


def puzzle_view(puzzle: Puzzle) -> View:
    """Describe a puzzle: each position in which the solver moves, the right move, and the position after it.

    Other moves that mate at once are also right.
    """
    solution = puzzle.solution
    first = solution.board()
    steps = []
    for board, move in solution.steps():
        step = {"position": {**_shown(board), **moves_view(board)}, "move": board.uci(move), "mates": _mates(board)}
        board.push(move)
        steps.append({**step, "after": _shown(board)})
    return {
        "id": puzzle.id,
        "rating": puzzle.rating,
        "themes": list(puzzle.themes),
        "game": puzzle.game,
        "side": "white" if first.turn else "black",
        "solution": first.variation_san(solution.moves),
        "steps": steps,
    }


def _mates(board: chess.Board) -> dict[str, View]:
    """Return the moves that mate at once, each with the position after it."""
    mates = {}
    for move in list(board.legal_moves):
        after = board.copy()
        after.push(move)
        if after.is_checkmate():
            mates[board.uci(move)] = _shown(after)
    return mates


def _shown(board: chess.Board) -> View:
    return {**board_view(board), "fen": board.fen()}
