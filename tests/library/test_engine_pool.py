"""`EnginePool` lends engines to threads and tasks: fairly, within its limits, and it loses none."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
import pytest
from chess.engine import Limit
from waiting import TIMEOUT, eventually

from knightadder import Engine, EngineError, EnginePool, OptionError, PoolBusyError
from knightadder.library import engine_pool

LONG, SHORT = Limit(nodes=10**15), Limit(nodes=100)
MOVES = list(chess.Board().legal_moves)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    Engine().close()  # so that no test waits for the compiler


def within_time(work: Callable[[EnginePool], Awaitable[None]], pool: EnginePool) -> None:
    async def run() -> None:
        async with pool:
            await asyncio.wait_for(asyncio.ensure_future(work(pool)), 200)

    asyncio.run(run())


def test_threads_share_the_engines() -> None:
    used: set[Engine] = set()

    def search(number: int) -> bool:
        with pool.lend() as engine:
            used.add(engine)
        second = pool.analyse("startpos", SHORT, multipv=2).lines[1].move
        return second in MOVES and pool.play("startpos", SHORT, root_moves=["e4"]).move == chess.Move.from_uci("e2e4")

    with EnginePool(2, hash_mb=1) as pool, ThreadPoolExecutor(6) as threads:
        assert all(threads.map(search, range(24), timeout=200))
    assert 1 <= len(used) <= 2


def test_an_engine_is_used_by_one_at_a_time() -> None:
    with EnginePool(2, hash_mb=1) as pool, pool.lend() as one, pool.lend() as two:
        assert one is not two
        one.stream("startpos")
        assert two.play("startpos", SHORT).move in MOVES


def test_its_text_says_what_its_engines_do() -> None:
    with EnginePool(2, hash_mb=1) as pool:
        with pool.lend() as engine:
            stream = engine.stream("startpos")
            assert [repr(each) for each in (pool, engine, stream)] == [
                "<EnginePool: 1 of 2 engines in use, 0 callers waiting>",
                "<Engine: searching>",
                "<Stream: searching>",
            ]
        assert [repr(each) for each in (engine, stream)] == ["<Engine: idle>", "<Stream: done>"]
    assert [repr(each) for each in (pool, engine)] == ["<EnginePool: closed>", "<Engine: closed>"]


def test_callers_come_in_their_order() -> None:
    async def work(pool: EnginePool) -> None:
        order: list[int] = []

        async def search(number: int) -> None:
            if number % 2:
                await pool.play_async("startpos", SHORT)
            else:
                assert (await pool.analyse_async("startpos", SHORT, multipv=2, root_moves=["e4", "d4"])).lines[1]
            order.append(number)

        await asyncio.gather(*map(search, range(8)))
        assert order == list(range(8))

    within_time(work, EnginePool(1, hash_mb=1))


def test_too_many_callers_are_refused() -> None:
    async def work(pool: EnginePool) -> None:
        async with pool.lend_async():
            waiting = asyncio.ensure_future(pool.play_async("startpos", SHORT))
            await asyncio.sleep(0)
            with pytest.raises(PoolBusyError):
                await pool.play_async("startpos", SHORT)
            with pytest.raises(PoolBusyError):
                pool.play("startpos", SHORT)
            waiting.cancel()
            await asyncio.wait([waiting])
            waiting = asyncio.ensure_future(pool.play_async("startpos", SHORT))  # the place is free again
            await asyncio.sleep(0)
        assert (await waiting).move in MOVES

    within_time(work, EnginePool(1, hash_mb=1, waiting=1))


def test_a_pool_without_waiting_serves_as_many_as_it_has_engines() -> None:
    with EnginePool(1, hash_mb=1, waiting=0) as pool:
        with pool.lend(), pytest.raises(PoolBusyError), pool.lend():
            pass
        assert pool.play("startpos", SHORT).move in MOVES


def test_an_interrupted_return_closes_the_engine_and_the_pool_makes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(options: object) -> None:
        raise KeyboardInterrupt

    with EnginePool(1, hash_mb=1, timeout=200) as pool:
        with pytest.raises(KeyboardInterrupt), pool.lend() as engine:
            monkeypatch.setattr(engine, "configure", interrupt)
        assert repr(engine) == "<Engine: closed>"
        assert pool.play("startpos", SHORT).move in MOVES


def test_a_caller_that_waits_too_long_is_refused_and_no_engine_is_lost() -> None:
    async def work(pool: EnginePool) -> None:
        async with pool.lend_async():
            with pytest.raises(PoolBusyError):
                await pool.play_async("startpos", SHORT)
            with pytest.raises(PoolBusyError):
                await asyncio.to_thread(pool.play, "startpos", SHORT)
        assert (await pool.play_async("startpos", SHORT)).move in MOVES

    pool = EnginePool(1, hash_mb=1, timeout=200)
    pool.play("startpos", SHORT)  # makes the engine
    pool.timeout = 0
    within_time(work, pool)


def test_to_cancel_a_task_ends_its_search_and_frees_the_engine() -> None:
    async def work(pool: EnginePool) -> None:
        for _ in range(3):
            searching = [asyncio.ensure_future(pool.play_async("startpos", LONG)) for _ in range(3)]
            await asyncio.sleep(0.01)
            for task in searching:
                task.cancel()
            await asyncio.wait(searching)
        assert (await pool.play_async("startpos", SHORT)).move in MOVES

    within_time(work, EnginePool(1, hash_mb=1))


def test_the_next_caller_finds_the_engine_as_it_was() -> None:
    with EnginePool(1, hash_mb=1, options={"Skill Level": 7}) as pool:
        with pool.lend() as engine:
            engine.configure({"Skill Level": 3, "Hash": 2})
            engine.stream("startpos")
        with pool.lend() as engine:
            assert (engine.options["Skill Level"].value, engine.options["Hash"].value) == (7, 1)
            assert engine.play("startpos", SHORT).move in MOVES
            engine.close()
        with pytest.raises(KeyError), pool.lend():
            raise KeyError
        assert pool.play("startpos", SHORT).move in MOVES


def test_a_task_that_is_cancelled_as_it_gets_an_engine_does_not_search() -> None:
    async def work(pool: EnginePool) -> None:
        for steps in range(8):
            async with pool.lend_async():
                waiting = asyncio.ensure_future(pool.play_async("startpos", LONG))
                await asyncio.sleep(0)
            for _ in range(steps):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            assert waiting.cancelled()

    within_time(work, EnginePool(1, hash_mb=1, timeout=200))


def test_closing_ends_searches_and_refuses_callers() -> None:
    async def work(pool: EnginePool) -> None:
        searching = asyncio.ensure_future(pool.play_async("startpos", LONG))
        waiting = [asyncio.ensure_future(pool.play_async("startpos", LONG)) for _ in range(2)]
        in_thread = asyncio.ensure_future(asyncio.to_thread(pool.play, "startpos", LONG))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(pool.close)
        assert (await searching).move in MOVES
        for task in (*waiting, in_thread, pool.play_async("startpos", SHORT)):
            with pytest.raises(EngineError, match=r"^the pool of engines has been closed$"):
                await task

    pool = EnginePool(1, hash_mb=1)
    pool.play("startpos", SHORT)
    within_time(work, pool)


def test_closing_while_an_engine_is_made_closes_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    made: list[Engine] = []

    def make(**settings: Any) -> Engine:
        begun.set()
        assert go_on.wait(TIMEOUT)
        made.append(Engine(**settings))
        return made[0]

    monkeypatch.setattr(engine_pool, "Engine", make)
    pool = EnginePool(1, hash_mb=1)
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(pool.play, "startpos", SHORT)
        assert begun.wait(TIMEOUT)
        pool.close()
        with pytest.raises(EngineError, match=r"^the pool of engines has been closed$"):
            call.result(TIMEOUT)
    go_on.set()
    eventually(lambda: [repr(engine) for engine in made] == ["<Engine: closed>"])


def test_wrong_settings_are_errors_of_each_call() -> None:
    with EnginePool(1, options={"Skill Level": 70}) as pool, ThreadPoolExecutor(3) as threads:
        for call in [threads.submit(pool.play, "startpos", SHORT) for _ in range(3)]:
            with pytest.raises(OptionError):
                call.result(200)
    for number in (0, -1):
        with pytest.raises(ValueError, match="engines"):
            EnginePool(number)
    with pytest.raises(ValueError, match="waiting"):
        EnginePool(1, waiting=-1)
    with pytest.raises(ValueError, match=r"^timeout must be at least 0, not -1$"):
        EnginePool(1, timeout=-1)
    with pytest.raises(TypeError, match=r"^timeout must be a number of seconds, not '1'$"):
        EnginePool(1, timeout="1")  # type: ignore[arg-type]


def test_without_more_threads_a_caller_gets_one_clear_error_or_waits_for_another_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = threading.Thread.start

    def start_others(thread: threading.Thread) -> None:
        if thread.name == "engine of a pool":
            raise RuntimeError("can't start new thread")
        start(thread)

    async def work(pool: EnginePool) -> None:
        async with pool.lend_async() as engine:
            monkeypatch.setattr(threading.Thread, "start", start_others)
            waiting = asyncio.ensure_future(pool.play_async("startpos", SHORT))
            await asyncio.sleep(0)
            assert not waiting.done()
        assert (await waiting).move in MOVES
        async with pool.lend_async() as engine:
            waiting = asyncio.ensure_future(pool.play_async("startpos", SHORT))
            await asyncio.sleep(0)
            engine.close()  # so that the pool needs another one
        for call in (waiting, asyncio.to_thread(pool.play, "startpos", SHORT)):
            with pytest.raises(EngineError, match=r"^the system allows no more threads$"):
                await call
        monkeypatch.undo()
        assert (await pool.play_async("startpos", SHORT)).move in MOVES

    within_time(work, EnginePool(2, hash_mb=1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_all_engines() -> None:
    program = """
import os
from chess.engine import Limit
from knightadder import EnginePool

pool = EnginePool(2, hash_mb=1)
with pool.lend() as engine, pool.lend():
    stream = engine.stream("startpos")
    next(stream)
    child = os.fork()
    if not child:
        with pool.lend() as one, pool.lend() as two:
            print(one.play("startpos", Limit(nodes=100)).move is not None, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print(pool.play("startpos", Limit(nodes=100)).move is not None)
"""
    # Since Python 3.12 a fork warns if there are threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\nTrue\n", "")
