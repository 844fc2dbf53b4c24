"""Analyses the position on the board or evaluates a whole line of moves, and sends the progress to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import chess.engine
import chess.pgn

from knightadder.engine.info import Bound
from knightadder.rules import outcome_of
from knightadder.web.gametree import GameTree
from knightadder.web.messages import FULL_NODES
from knightadder.web.reviews import Effort, Reviews
from knightadder.web.views import LINES_EVERY, View, lines_view, nodes_view

if TYPE_CHECKING:
    from knightadder.library.board_engine import Engine
    from knightadder.library.results import Analysis, Line
    from knightadder.review.game_evaluation import SearchedPosition


async def analyse_threat(engine: Engine, tree: GameTree, count: int, send: Callable[[View], None]) -> None:
    """Analyse the position at the tree's cursor as if the other side were to move, until the task is cancelled.
    The engine must be idle, and is idle again at the end. The side to move must not be in check.
    """
    number, board = tree.id(tree.cursor), tree.board(tree.cursor)
    board.push(chess.Move.null())
    board = board.copy(stack=False)
    lines: dict[int, Line] = {}
    async with engine.stream(board, None, multipv=count) as stream:
        async for line in stream:
            if line.pv:
                lines[line.rank] = line
                send({**lines_view(number, board, lines), "threat": True})


async def analyse(engine: Engine, reviews: Reviews, count: int, send: Callable[[View], None]) -> None:
    """Analyse the position at the tree's cursor until the task is cancelled; then note its evaluation.
    The engine must be idle, and is idle again at the end. `send` takes a message for the page, and must not block.
    """
    from knightadder.review.game_evaluation import evaluation_of

    tree = reviews.tree
    node, board = tree.cursor, tree.board(tree.cursor)
    number = tree.id(node)
    if node.parent is not None:  # judging the move to this position needs the position before it
        for each in reviews.missing([node.parent]):
            await _evaluate(engine, reviews, each, Effort())
            send(nodes_view(reviews, [each]))
        await _find_rival(engine, reviews, node, Effort())
    lines: dict[int, Line] = {}
    best: Line | None = None  # the latest line with an exact score
    news = asyncio.Event()

    async def tell() -> None:
        while True:
            await news.wait()
            news.clear()
            send(lines_view(number, board, lines))
            if reviews.missing([node]):
                note()
            await asyncio.sleep(LINES_EVERY)

    def note(least: int = FULL_NODES) -> None:
        """Keep the evaluation, and mark the moves to and from the position, if the search had enough nodes."""
        if lines and best is not None and best.nodes // count >= least:  # each line gets a share of the nodes
            ranked = [best, *(lines[rank] for rank in sorted(lines) if rank > 1)]
            reviews.note(node, reviews.with_rival(node, evaluation_of(board, ranked)), best.nodes // count)
            send(nodes_view(reviews, reviews.judge(node)))

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
        note(0)
        send(nodes_view(reviews, [node]))


async def evaluate(
    engine: Engine,
    reviews: Reviews,
    nodes: Sequence[chess.pgn.GameNode],
    send: Callable[[View], None],
    show_progress: Callable[[int, int], None],
    effort: Effort,
) -> None:
    """Evaluate all positions of a line that have not been searched with this effort yet.
    The engine must be idle, and is idle again at the end. `send` takes a message for the page, and must not block.
    `show_progress` takes the number of positions that are evaluated, and the number of all positions.
    """
    todo = reviews.missing(nodes, effort)
    for done, node in enumerate(todo):
        show_progress(done, len(todo))
        await _evaluate(engine, reviews, node, effort, ends=node is nodes[-1])
        send(nodes_view(reviews, [node]))
    for node in nodes[1:]:
        await _find_rival(engine, reviews, node, effort)


async def evaluate_position(engine: Engine, board: chess.Board) -> SearchedPosition:
    """Return the evaluation of a position by a search of `FULL_NODES`. The engine must be idle."""
    from knightadder.review.game_evaluation import at_the_end, evaluation_of

    if outcome_of(board) is not None:
        return at_the_end(board)
    return evaluation_of(board, (await _search(engine, board, Effort().limit())).lines)


async def _evaluate(
    engine: Engine, reviews: Reviews, node: chess.pgn.GameNode, effort: Effort, ends: bool = False
) -> None:
    """Evaluate the position of a node; `ends` says that the line ends there."""
    from knightadder.review.game_evaluation import at_the_end, evaluation_of

    board = reviews.tree.board(node)
    # Draws that need a claim count only at the end of the line, because many games continue after them.
    if not any(board.legal_moves) or (ends and outcome_of(board) is not None):
        reviews.note(node, at_the_end(board), effort.nodes, effort.seconds)
        return
    analysis = await _search(engine, board, effort.limit())
    nodes = effort.nodes if effort.seconds is None else analysis.best.nodes
    reviews.note(node, evaluation_of(board, analysis.lines), nodes, effort.seconds)


async def _find_rival(engine: Engine, reviews: Reviews, node: chess.pgn.GameNode, effort: Effort) -> None:
    """Search the alternatives to the move that led to a node, if that move is the best one and may deserve a mark."""
    from knightadder.review.game_evaluation import FIRST_LOOK, rivals, stands_out

    if not isinstance(node, chess.pgn.ChildNode) or (before := reviews.evaluation(node.parent)) is None:
        return
    board = reviews.tree.board(node.parent)
    others = rivals(board, node.move, before)
    if not others:
        return
    for limit in (chess.engine.Limit(depth=FIRST_LOOK), effort.limit()):
        rival = (await _search(engine, board, limit, others)).score
        if not stands_out(board, before, rival):
            return
    reviews.note_rival(node.parent, rival)


async def _search(
    engine: Engine, board: chess.Board, limit: chess.engine.Limit, moves: Iterable[chess.Move] | None = None
) -> Analysis:
    async with engine.stream(board, limit, root_moves=moves) as stream:
        return await stream.result_async()
