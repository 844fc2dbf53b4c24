"""How blocks are handed out: in what order, how many ahead, and what a worker of another version says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from knightadder import executor as pools
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.evaluator import BUILT_IN_FILE
from knightadder.library import blocks
from knightadder.library.blocks import blocks_of, call, results_of, submitter


class Hand(Executor):
    """Futures that the test fulfils."""

    def __init__(self) -> None:
        self.futures: dict[int, Future[str]] = {}

    def give(self, block: int) -> Future[str]:
        self.futures[block] = Future()
        return self.futures[block]


def numbers(taken: list[int]) -> Iterator[int]:
    number = 0
    while True:
        taken.append(number)
        yield number
        number += 1


def test_blocks_have_a_size_and_are_taken_when_needed() -> None:
    taken: list[int] = []
    found = blocks_of(numbers(taken), 3)
    assert taken == [] and next(found) == [0, 1, 2] and taken == [0, 1, 2]
    assert list(blocks_of(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(blocks_of([], 3)) == []


def test_results_come_in_order_and_no_more_is_taken_than_the_workers_need() -> None:
    hand, taken = Hand(), list[int]()
    found = results_of(numbers(taken), hand.give, 2)

    def fulfil(timed: Any, *arguments: object) -> None:
        """Be `wait`: all is handed out; end the blocks in the opposite order."""
        assert len(taken) == len(hand.futures)
        assert len([future for future in hand.futures.values() if not future.done()]) == 2 * blocks._AHEAD
        for number, future in reversed(hand.futures.items()):
            if not future.done():
                future.set_result(str(number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "wait", fulfil)
        assert [next(found) for _ in range(20)] == [(number, str(number)) for number in range(20)]
        assert len(taken) == 3 * 2 * blocks._AHEAD  # 24: none was taken while there was a result
        found.close()


def test_results_can_come_as_they_are_ready() -> None:
    hand, taken = Hand(), list[int]()
    found = results_of(numbers(taken), hand.give, 1, in_order=False)

    def fulfil(*arguments: object) -> None:
        hand.futures[max(hand.futures)].set_result("")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "wait", fulfil)
        assert [next(found)[0] for _ in range(3)] == [blocks._AHEAD - 1 + number for number in range(3)]
    found.close()
    assert hand.futures[0].cancelled()


def test_an_error_cancels_what_is_not_begun() -> None:
    hand = Hand()
    found = results_of(range(3), hand.give, 1)

    def fail(*arguments: object) -> None:
        hand.futures[0].set_exception(OptionError("no"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "wait", fail)
        with pytest.raises(OptionError, match=r"^no$"):
            next(found)
    assert hand.futures[1].cancelled() and hand.futures[2].cancelled()


def double(factor: int, block: list[int]) -> list[int]:
    return [factor * each for each in block]


def test_work_is_handed_out_with_its_arguments() -> None:
    with ThreadPoolExecutor(1) as executor:
        found = results_of(blocks_of(range(5), 2), submitter(executor, double, 2), 1)
        assert [outcome for _, outcome in found] == [[0, 2], [4, 6], [8]]


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(EngineError, match=r"^a worker of the executor has Knightadder .*, and needs 0\.0\.1$"):
        call("0.0.1", b"not even unpickled")


def test_a_version_that_is_sent_and_refused_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["0.0.1", "0.0.2"])  # of the caller, and of the worker, which is a thread here
    monkeypatch.setattr(blocks, "version", lambda: next(versions, "0.0.2"))
    with ThreadPoolExecutor(1) as executor:
        found = results_of([[1]], submitter(executor, double, 2), 1)
        with pytest.raises(EngineError, match=r"^a worker of the executor has Knightadder 0\.0\.2, and needs 0\.0\.1$"):
            next(found)


def test_a_version_is_also_that_of_the_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(pools, "source_digest", lambda **names: asked.update(names))
    pools.version.__wrapped__()
    assert asked["folders"] == ("",) and BUILT_IN_FILE.suffix in asked["suffixes"]


def test_a_worker_without_the_package_is_refused() -> None:
    def elsewhere(function: Any, text: str, names: dict[str, Any]) -> object:
        """Run what is sent in a Python that has nothing but itself."""
        program = f"names = {names!r}\ntry: eval({text!r}, names)\nexcept ImportError as error: print(error.name)"
        done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
        raise ImportError(name=done.stdout.strip())

    class Elsewhere(ThreadPoolExecutor):
        def submit(self, *arguments: Any) -> Future[Any]:
            return super().submit(elsewhere, *arguments)

    with Elsewhere(1) as executor:
        found = results_of([[1]], submitter(executor, double, 2), 1)
        with pytest.raises(EngineError, match=f"^a worker .* has no such Knightadder: it needs {pools.version()}$"):
            next(found)
