"""`popen` gives coroutines what python-chess's `popen_uci` does."""

import asyncio
import math
from collections.abc import Awaitable, Callable

import chess
import chess.engine
import pytest
from chess.engine import EngineError, EngineTerminatedError, Limit

from knightadder import Engine, UciProtocol, popen
from knightadder.engine import search_clock

BOARD = chess.Board()
LONG, SHORT = Limit(nodes=10**15), Limit(nodes=100)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    Engine().close()  # so that no test waits for the compiler


def within_time(work: Callable[[UciProtocol], Awaitable[None]]) -> None:
    """Run a coroutine with an engine."""

    async def run() -> None:
        _, engine = await popen(options={"Hash": 1})
        await asyncio.wait_for(asyncio.ensure_future(work(engine)), 200)
        await engine.quit()

    asyncio.run(run())


def test_the_names_of_python_chess_are_there() -> None:
    async def work(engine: UciProtocol) -> None:
        assert isinstance(engine, chess.engine.UciProtocol)
        assert engine.id["name"].startswith("Knightadder ")
        assert (engine.options["hash"].type, engine.config["Hash"]) == ("spin", 1)
        await engine.initialize()
        await engine.ping()
        engine.debug()
        result = await engine.play(BOARD, SHORT, root_moves=["Nf3"], draw_offered=True, game=1)
        assert result.move == chess.Move.from_uci("g1f3")
        assert (await engine.analyse(BOARD, SHORT))["score"]
        assert len(await engine.analyse(BOARD, SHORT, multipv=2)) == 2
        await engine.send_game_result(BOARD)
        with pytest.raises(EngineError, match=r"^engine does not support option nothing "):
            await engine.configure({"nothing": 1})

    within_time(work)


def test_an_analysis_is_read_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", math.inf)  # on a slow machine bounds would be told, too

    async def work(engine: UciProtocol) -> None:
        with await engine.analysis(BOARD) as analysis:
            async for info in analysis:
                if info["depth"] >= 4:
                    break
        assert (await analysis.wait()).move == analysis.info["pv"][0]
        first = await engine.analysis(BOARD)
        second = await engine.analysis(BOARD, Limit(depth=3))
        assert (await first.wait()).move and (await second.wait()).move
        assert [info["depth"] async for info in second] == [1, 2, 3]
        with pytest.raises(ZeroDivisionError), await engine.analysis(BOARD) as analysis:
            raise ZeroDivisionError
        assert (await analysis.wait()).move

    within_time(work)


def test_to_cancel_a_task_ends_its_search() -> None:
    async def work(engine: UciProtocol) -> None:
        for call in (engine.play, engine.analyse):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(call(BOARD, LONG), 0.05)
        assert (await engine.play(BOARD, SHORT)).move

    within_time(work)


def test_a_wait_that_is_cancelled_leaves_the_end_of_the_analysis_to_others() -> None:
    async def work(engine: UciProtocol) -> None:
        analysis = await engine.analysis(BOARD)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(analysis.wait(), 0.05)
        analysis.stop()
        assert (await analysis.wait()).move in BOARD.legal_moves

    within_time(work)


def test_tasks_wait_their_turn_in_order() -> None:
    async def work(engine: UciProtocol) -> None:
        done: list[int] = []

        async def search(number: int) -> None:
            options = {"Hash": 1 + number % 2}
            assert (await engine.play(BOARD, SHORT, game=number, options=options)).move
            done.append(number)

        await asyncio.gather(*map(search, range(6)))
        assert done == list(range(6))

    within_time(work)


@pytest.mark.parametrize("closes", [False, True])
def test_quit_ends_searches_and_refuses_calls(closes: bool) -> None:
    async def work(engine: UciProtocol) -> None:
        searching = asyncio.ensure_future(engine.play(BOARD, LONG))
        waiting = asyncio.ensure_future(engine.analyse(BOARD, LONG, options={"Hash": 2}))
        await asyncio.sleep(0.05)
        assert engine.transport is not None and engine.transport.get_returncode() is None
        if closes:
            engine.transport.close()
        else:
            await engine.quit()
        assert await engine.returncode == engine.transport.get_returncode() == 0
        assert (await searching).move
        for call in (waiting, engine.ping(), engine.play(BOARD, SHORT), engine.analysis(BOARD)):
            with pytest.raises(EngineTerminatedError):
                await call

    within_time(work)


def test_a_transport_may_be_closed_at_the_very_end() -> None:
    async def run() -> None:
        transport, engine = await popen()
        await engine.analysis(BOARD)
        transport.close()
        transport.close()
        assert transport.is_closing()

    asyncio.run(run())


def test_quit_ends_an_analysis() -> None:
    async def work(engine: UciProtocol) -> None:
        analysis = await engine.analysis(BOARD)
        await engine.quit()
        assert (await analysis.wait()).move

    within_time(work)


def test_an_event_loop_may_end_without_a_quit() -> None:
    async def run() -> chess.engine.AnalysisResult:
        _, engine = await popen()
        analysis = await engine.analysis(BOARD)
        await analysis.get()
        return analysis

    assert asyncio.run(asyncio.wait_for(run(), 200)).info["pv"]
