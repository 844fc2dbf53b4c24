"""Games that workers evaluate: all of them, in whatever order their blocks are done, with single games' errors."""

import itertools
import json
import pickle
import random

import chess
import chess.engine
import chess.pgn
import pytest
from fake_analyst import FakeAnalyst
from game_texts import read_game

from knightadder import worker_engine
from knightadder.annotate.workers import BlockEvaluator, evaluate_games
from knightadder.engine.errors import EngineError, OptionError
from knightadder.review.game_evaluation import blocks, evaluate_block, to_json
from knightadder.worker_engine import WorkerEngine

LIMIT = chess.engine.Limit(nodes=1)
LONG = " ".join(itertools.islice(itertools.cycle(["Nf3", "Nf6", "Ng1", "Ng8"]), 50))
GAMES = ["1. e4 *", "1. d4 d5 2. c4 dxc4 *", f"{LONG} *", "1. f3 e5 2. g4 Qh4# *", "1. c4 *", "1. Nf3 d5 *"]


def games():
    return [read_game(text) for text in GAMES]


def items():
    return [block for number, game in enumerate(games()) for block in blocks(number, game.end().board())]


def expected(multipv=2):
    found = {}
    for block in items():
        found.setdefault(block.game, []).extend(to_json(evaluate_block(block, FakeAnalyst(), LIMIT, multipv)))
    return json.loads(json.dumps(found), object_hook=lambda each: {int(key): value for key, value in each.items()})


def run_here(evaluator):
    """Evaluate blocks in this process, one after another."""
    return lambda items: ((block, evaluator(block)) for block in items)


@pytest.fixture
def analysts(monkeypatch):
    """Give the analysts that evaluators open, with the sizes of their hash tables."""
    opened = []

    def open_engine(hash_mb):
        opened.append((FakeAnalyst(), hash_mb))
        return opened[-1][0]

    monkeypatch.setattr(worker_engine, "open_engine", open_engine)
    return opened


@pytest.fixture
def evaluator(analysts):
    return BlockEvaluator(LIMIT, 2, WorkerEngine(None, {"Hash": "7"}))


def shuffled(evaluator, seed):
    """Run blocks in some order, as workers of different speed do."""

    def run(items):
        done = list(run_here(evaluator)(items))
        random.Random(seed).shuffle(done)
        return done

    return run


@pytest.mark.parametrize("seed", range(2))
def test_every_game_is_evaluated_in_whatever_order(evaluator, seed):
    seen = []
    assert dict(evaluate_games(items(), shuffled(evaluator, seed), seen.append)) == expected()
    assert sorted(seen, key=lambda block: (block.game, block.first)) == items()


def test_games_come_when_they_are_done(evaluator):
    assert [number for number, _ in evaluate_games(items(), run_here(evaluator))] == list(range(len(GAMES)))


def test_an_engine_is_kept(evaluator, analysts):
    copy = pickle.loads(pickle.dumps(evaluator))
    for block in items():
        assert copy(block) == evaluator(block)
    assert [size for _, size in analysts] == [7, 7]


def test_a_game_in_which_the_engine_fails_has_its_error(evaluator, analysts, monkeypatch):
    class Faulty(FakeAnalyst):
        def analyse(self, board, limit, **more):
            if board.ply() in (20, 45):
                raise EngineError(f"no score at {board.ply()}")
            return super().analyse(board, limit, **more)

    monkeypatch.setattr(worker_engine, "open_engine", lambda size: Faulty())
    assert dict(evaluate_games(items(), shuffled(evaluator, 1))) == expected() | {2: "no score at 20"}


def test_what_the_engine_says_of_its_options_is_told_once(monkeypatch):
    class Talkative(FakeAnalyst):
        def configure(self, given):
            assert given == options
            return ["two tables", "one is damaged"]

    monkeypatch.setattr(worker_engine, "open_engine", lambda size: Talkative())
    told, options = [], {"SyzygyPath": "here", "EvalType": "pesto"}

    def run(items):  # each block by another worker
        return (
            (block, BlockEvaluator(LIMIT, 1, WorkerEngine(None, {"Hash": "7", **options}))(block)) for block in items
        )

    assert len(list(evaluate_games(items(), run, tell=told.append))) == len(GAMES)
    assert told == ["two tables", "one is damaged"]


def test_an_engine_that_cannot_be_opened_ends_the_work(evaluator, monkeypatch):
    def fail(size):
        raise OptionError("not enough memory")

    monkeypatch.setattr(worker_engine, "open_engine", fail)
    with pytest.raises(OptionError, match="not enough memory"):
        list(evaluate_games(items(), run_here(evaluator)))


@pytest.mark.parametrize(
    "damage",
    [
        lambda said, found, name: [said, found[1:], name],
        lambda said, found, name: [said, found + found, name],
        lambda said, found, name: [said, [[30, 5, [[30, "e7e5"]]], *found[1:]], name],  # the other side's move
        lambda said, found, name: [said, found],
        lambda said, found, name: [said, found, 7],
        lambda said, found, name: {"said": said},
        lambda said, found, name: None,
    ],
)
def test_evaluations_that_came_damaged(evaluator, damage):
    first = items()[0]
    ((number, found),) = list(evaluate_games([first], run_here(evaluator)))
    assert (number, len(found)) == (0, 2)

    def run(blocks):
        return ((block, json.dumps(damage(*json.loads(evaluator(block)))).encode()) for block in blocks)

    with pytest.raises(EngineError, match=r"^a worker returned damaged evaluations of game 0: "):
        list(evaluate_games([first], run))
