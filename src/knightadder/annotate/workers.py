"""Evaluates games on the workers of a pool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import chess
import chess.engine
import chess.pgn

from knightadder.engine.errors import EngineError, OptionError
from knightadder.foreign import parse_json
from knightadder.library.board_engine import Engine
from knightadder.review.game_evaluation import (
    Block,
    check_block,
    evaluate_block,
    to_json,
)
from knightadder.uci.analyst import UciAnalyst

# Function that runs a task on items and yields each item with its result, in any order, as `Pool.run` does.
Run: TypeAlias = Callable[[Iterable[Block]], Iterable[tuple[Block, bytes]]]


class BlockEvaluator:
    """The task that evaluates a block of positions, with an engine that each worker keeps.

    `limit` applies to the search of each position, and `multipv` is the number of best lines. `hash_mb` is the size of
    the hash table in MiB. `options` are additional UCI options. `other` is an external engine to use, whose options
    are already set.
    """

    def __init__(
        self,
        limit: chess.engine.Limit,
        multipv: int,
        hash_mb: int,
        options: Mapping[str, str] | None = None,
        other: UciAnalyst | None = None,
    ) -> None:
        self._limit, self._multipv, self._hash_mb, self._options = limit, multipv, hash_mb, options or {}
        self._other = other
        self._engine: Engine | None = None

    def __call__(self, block: Block) -> bytes:
        """Return the evaluations of a block, for `evaluate_games`."""
        said: list[str] = []
        if self._engine is None and self._other is None:
            self._engine = open_engine(self._hash_mb)
            if self._options:
                said = self._engine.configure(self._options)
        analyst = self._other or self._engine
        assert analyst is not None
        found: list[Any] | str
        try:
            found = to_json(evaluate_block(block, analyst, self._limit, self._multipv))
        except OptionError:
            raise
        except EngineError as error:
            if self._other and self._other.name is None:
                raise  # the engine could not be started
            found = str(error)
        return json.dumps([said, found, self._other and self._other.name]).encode()

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        if self._other is not None:
            self._other.close()


def open_engine(hash_mb: int) -> Engine:
    """Return an engine with a hash table of this size."""
    return Engine(hash_mb=hash_mb)


def evaluate_games(
    items: Iterable[Block],
    run: Run,
    on_block: Callable[[Block], None] = lambda block: None,
    tell: Callable[[str], None] = lambda line: None,
    on_name: Callable[[str], None] = lambda name: None,
) -> Iterator[tuple[int, list[Any] | str]]:
    """Evaluate games with `run`, which runs a `BlockEvaluator`; `blocks` contains all blocks of each game, in order.

    When a game is done, yields its number, and its evaluations as in `to_json` or the error of a search. `on_block` is
    called after each block, `tell` once with each message of an engine about its options, and `on_name` with the name
    of an external engine. EngineError if the engine cannot be loaded, or a worker fails or returns damaged data.
    """
    told: set[str] = set()
    named: str | None = None
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
        if name != named and name is not None:
            named = name
            on_name(name)
        parts = games.setdefault(block.game, {})
        parts[block] = found
        on_block(block)
        if sum(map(len, parts)) > block.plies:
            yield block.game, _joined(games.pop(block.game))


def _joined(parts: dict[Block, list[Any] | str]) -> list[Any] | str:
    """Return the evaluations of a game, or its first error."""
    whole: list[Any] = []
    for block in sorted(parts, key=lambda each: each.first):
        part = parts[block]
        if isinstance(part, str):
            return part
        whole += part
    return whole
