"""Evaluates games on the workers of a pool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import chess
import chess.engine
import chess.pgn

from knightadder.engine.errors import EngineError, OptionError
from knightadder.foreign import parse_json
from knightadder.review.accuracy import scale_of
from knightadder.review.game_evaluation import (
    Block,
    check_block,
    evaluate_block,
    to_json,
)
from knightadder.worker_engine import WorkerEngine

# A function that runs a task on items and yields each item with its result, in any order, as `Pool.run` does.
Run: TypeAlias = Callable[[Iterable[Block]], Iterable[tuple[Block, bytes]]]


class BlockEvaluator:
    """The task that evaluates a block of positions, with an engine that each worker keeps.
    `limit` applies to the search of each position, and `multipv` is the number of best lines.
    """

    def __init__(self, limit: chess.engine.Limit, multipv: int, engine: WorkerEngine) -> None:
        self._limit, self._multipv, self._engine = limit, multipv, engine

    def __call__(self, block: Block) -> bytes:
        """Return the evaluations of a block, for `evaluate_games`."""
        analyst, other = self._engine.get(), self._engine.other
        found: list[Any] | str
        try:
            found = to_json(evaluate_block(block, analyst, self._limit, self._multipv, scale_of(other is not None)))
        except OptionError:
            raise
        except EngineError as error:
            if other and other.name is None:
                raise  # the engine could not be started
            found = str(error)
        return json.dumps([self._engine.said, found, other and other.name]).encode()

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        self._engine.close()


def evaluate_games(
    items: Iterable[Block],
    run: Run,
    on_block: Callable[[Block], None] = lambda block: None,
    tell: Callable[[str], None] = lambda line: None,
    on_name: Callable[[str], None] = lambda name: None,
) -> Iterator[tuple[int, list[Any] | str]]:
    """Evaluate games with `run`, which runs a `BlockEvaluator` on the games' blocks, given in order.

    When a game is done, yield its number, and its evaluations as in `to_json` or the error of a search. `on_block` is
    called after each block, `tell` once with each message of an engine about its options, and `on_name` with the name
    of an external engine. EngineError if the engine cannot be loaded, or a worker fails or returns damaged data.
    """
    told: set[str] = set()
    games: dict[int, dict[Block, list[Any] | str]] = {}  # the finished blocks of each game
    for block, data in run(items):
        try:
            said, found, name = parse_json(data, tuple[list[str], list[Any] | str, str | None])
            if not isinstance(found, str):
                check_block(found, block)
        except ValueError as error:
            raise EngineError(f"a worker returned damaged evaluations of game {block.game}: {error}") from None
        for line in said:
            if line not in told:
                told.add(line)
                tell(line)
        if name is not None:
            on_name(name)
        parts = games.setdefault(block.game, {})
        parts[block] = found
        on_block(block)
        if sum(map(len, parts)) > block.plies:
            yield block.game, _joined(games.pop(block.game))


def _joined(parts: dict[Block, list[Any] | str]) -> list[Any] | str:
    whole: list[Any] = []
    for block in sorted(parts, key=lambda each: each.first):
        part = parts[block]
        if isinstance(part, str):
            return part
        whole += part
    return whole
