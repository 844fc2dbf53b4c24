"""Analyses the position on the board or evaluates a whole line of moves, and sends the progress to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import chess
import chess.engine
import chess.pgn

from knightadder.rules import outcome_of
from knightadder.web.gametree import GameTree
from knightadder.web.views import View, lines_view, nodes_view

if TYPE_CHECKING:
    from knightadder.library.engine import Engine
    from knightadder.library.results import Line

_EVERY = 0.1  # seconds between two updates of the lines
_NODES = 200_000  # for each evaluated position


async def analyse(engine: Engine, tree: GameTree, count: int, send: Callable[[View], None]) -> None:
    """Analyse the position of the tree's cursor until the task is cancelled; keep its evaluation in the tree.

    Parameters
    ----------
    engine : Engine
        An idle engine; it is idle again afterwards.
    tree : GameTree
        The tree.
    count : int
        Number of lines.
    send : callable
        Takes what the page is to be told; must not block.
    """
    node, board = tree.cursor, tree.board(tree.cursor)
    number = tree.id(node)
    lines: dict[int, Line] = {}
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
                    if line.rank == 1:
                        node.set_eval(line.score, line.depth)
                    news.set()
        if news.is_set():
            send(lines_view(number, board, lines))
    finally:
        telling.cancel()
        send(nodes_view(tree, [node]))


async def evaluate(
    engine: Engine, tree: GameTree, nodes: Sequence[chess.pgn.GameNode], send: Callable[[View], None]
) -> None:
    """Evaluate the positions of a line that have no evaluation yet, and keep the evaluations in the tree.

    It starts at the line's end, because the hash table then helps with the earlier positions.

    Parameters
    ----------
    engine : Engine
        An idle engine; it is idle again afterwards.
    tree : GameTree
        The tree.
    nodes : sequence of chess.pgn.GameNode
        Nodes of the tree, in the order of the line.
    send : callable
        Takes what the page is to be told; must not block.
    """
    todo = [node for node in nodes if tree.score(node) is None]
    for done, node in enumerate(reversed(todo)):
        send({"type": "progress", "done": done, "all": len(todo)})
        board = tree.board(node)
        if outcome_of(board) is not None:  # a draw, since mates already have a score
            node.set_eval(chess.engine.PovScore(chess.engine.Cp(0), chess.WHITE))
        else:
            async with engine.stream(board, chess.engine.Limit(nodes=_NODES)) as stream:
                analysis = await stream.result_async()
            node.set_eval(analysis.score, analysis.best.depth)
        send(nodes_view(tree, [node]))
