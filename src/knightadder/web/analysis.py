"""Analyses the position on the board or evaluates a whole line of moves, and sends the progress to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import chess.engine
import chess.pgn

from knightadder.engine.info import Bound
from knightadder.rules import outcome_of
from knightadder.web.reviews import FULL_NODES, Reviews
from knightadder.web.views import View, lines_view, nodes_view

if TYPE_CHECKING:
    from knightadder.library.engine import Engine
    from knightadder.library.results import Line
    from knightadder.review.evaluation import SearchedPosition

_EVERY = 0.1  # seconds between two updates of the lines


async def analyse(engine: Engine, reviews: Reviews, count: int, send: Callable[[View], None]) -> None:
    """Analyse the position of the tree's cursor until the task is cancelled; then note its evaluation.

    The engine is idle before and afterwards; `send` takes a message for the page, and must not block.
    """
    from knightadder.review.evaluation import evaluation_of

    tree = reviews.tree
    node, board = tree.cursor, tree.board(tree.cursor)
    number = tree.id(node)
    lines: dict[int, Line] = {}
    best: Line | None = None  # the latest line with an exact score
    news = asyncio.Event()

    async def tell() -> None:
        while True:
            await news.wait()
            news.clear()
            send(lines_view(number, board, lines))
            await asyncio.sleep(_EVERY)

    telling = asyncio.create_task(tell())
    try:
        async with engine.stream(board, None, multipv=count) as stream:
            async for line in stream:
                if line.pv:
                    lines[line.rank] = line
                    if line.rank == 1 and line.bound is Bound.EXACT:
                        best = line
                    news.set()
        if news.is_set():
            send(lines_view(number, board, lines))
    finally:
        telling.cancel()
        if best is not None:
            reviews.note(node, evaluation_of(board, [best]), best.nodes // count)  # each line gets a share of the nodes
        send(nodes_view(tree, [node]))


async def evaluate(
    engine: Engine, reviews: Reviews, nodes: Sequence[chess.pgn.GameNode], send: Callable[[View], None]
) -> None:
    """Evaluate the positions of a line, from the root on, that have not been searched with full nodes yet.

    The engine is idle before and afterwards; `send` takes a message for the page, and must not block.
    """
    from knightadder.review.evaluation import at_the_end

    tree = reviews.tree
    todo = reviews.missing(nodes)
    for done, node in enumerate(todo):
        send({"type": "progress", "done": done, "all": len(todo)})
        board = tree.board(node)
        # Draws that need a claim count only at the end of the line, because many games continue after them.
        if not any(board.legal_moves) or (node is nodes[-1] and outcome_of(board) is not None):
            found = at_the_end(board)
        else:
            found = await _search(engine, board)
        reviews.note(node, found, FULL_NODES)
        send(nodes_view(tree, [node]))


async def evaluate_position(engine: Engine, board: chess.Board) -> SearchedPosition:
    """Return the evaluation of a position with full nodes; the engine is idle before and afterwards."""
    from knightadder.review.evaluation import at_the_end

    return at_the_end(board) if outcome_of(board) is not None else await _search(engine, board)


async def _search(engine: Engine, board: chess.Board) -> SearchedPosition:
    from knightadder.review.evaluation import evaluation_of

    async with engine.stream(board, chess.engine.Limit(nodes=FULL_NODES)) as stream:
        return evaluation_of(board, (await stream.result_async()).lines)
