"""Tabs that lose their connection, and come back to their session or stay away."""

import asyncio
from unittest.mock import AsyncMock, Mock

import pytest
from board_server import BoardServer
from board_tab import PATIENCE, open_tab
from stand_in_engine import StandInEngine
from starlette.websockets import WebSocket, WebSocketDisconnect
from waiting import eventually
from websockets.exceptions import ConnectionClosed

from knightadder.web.session import Session
from knightadder.web.site import tabs


@pytest.fixture
def engines(server):
    """Give the engines that the tabs get, in order; they are there once a tab asks for one."""
    made = []

    def make():
        made.append(StandInEngine(["e5", "Nc6"]))
        return made[-1]

    server.make_engine = make
    return made


def _lose(tab):
    """Break the connection off, and wait until this side has noticed."""
    tab.lose_connection()
    with pytest.raises(ConnectionClosed):
        while True:
            tab.until("error")


def test_a_running_game_goes_on_where_the_connection_was_lost(server, engines):
    with open_tab(server, name="one") as tab:
        assert tab.session["continued"] is False
        tab.ask("new_game", color="white", elo=1400, initial=3600, increment=7).play("e4", "e5")
        before = tab.game["game"]["clock"]
        _lose(tab)
    with open_tab(server, name="one") as tab:
        assert tab.session["continued"] is True
        assert tab.sans == ["e4", "e5"] and tab.position["san"] == "e5"
        game = tab.game["game"]
        assert game["running"] and game["opponent"] == "Knightadder (1400)"
        assert game["clock"]["running"] == "white" and game["clock"]["white"] <= before["white"]
        assert game["clock"]["black"] == before["black"]
        tab.play("Nf3", "Nc6")
        assert engines[0].options == {"UCI_LimitStrength": True, "UCI_Elo": 1400} and len(engines) == 1


def test_the_engine_moves_and_the_clock_runs_while_nobody_is_there(server, engine):
    engine.endless = True
    with open_tab(server, name="one") as tab:
        tab.ask("new_game", color="black", initial=1)
        _lose(tab)
    with open_tab(server, name="one") as tab:
        if tab.game["game"]["running"]:
            tab.until("game", lambda message: not message["game"]["running"])
        assert tab.game["game"]["reason"] == "White ran out of time"
    assert engine.closed.wait(PATIENCE)


def test_the_analysis_rests_while_nobody_is_there(server, engine):
    with open_tab(server, name="one") as tab:
        tab.send("analyse", on=True)
        tab.until("lines")
        _lose(tab)
    with open_tab(server, name="one") as tab:
        if "lines" not in tab.newest:
            tab.until("lines")
        assert tab.position["analysing"] and len(engine.searches) == 2


def test_a_newer_connection_takes_the_place_of_one_that_seems_alive(server, engines):
    with open_tab(server, name="one") as old:
        old.play("e4")
        with open_tab(server, name="one") as new:
            assert new.sans == ["e4"]
            with pytest.raises(ConnectionClosed) as end:
                old.until("error")
            assert end.value.rcvd.code == 4001
            assert new.play("e5").sans == ["e4", "e5"]
    assert len(engines) == 1 and engines[0].closed.wait(PATIENCE)


@pytest.mark.parametrize("error", [WebSocketDisconnect(1006), RuntimeError("Cannot call send once it is closed")])
def test_the_session_goes_on_if_the_older_connection_breaks_as_it_is_replaced(error):
    """The server may learn that a connection is lost only when it tells it of the newer one."""

    async def scenario():
        session = AsyncMock(spec=Session)
        sessions = tabs.Tabs(lambda put: session)
        served = []
        for _ in range(2):
            websocket = AsyncMock(spec=WebSocket, query_params={"tab": "one"})
            messages = asyncio.Queue()
            websocket.receive = messages.get
            websocket.close.side_effect = error
            served.append(asyncio.create_task(sessions.serve(websocket)))
            await asyncio.sleep(0)
        await asyncio.wait_for(served[0], PATIENCE)
        assert not session.close.called
        messages.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await asyncio.wait_for(served[1], PATIENCE)
        assert session.close.call_count == 1

    asyncio.run(scenario())


def test_a_connection_that_waits_for_a_session_which_fails_is_told_to_try_again():
    async def scenario():
        goes_wrong = asyncio.Event()

        async def fail(text):
            await goes_wrong.wait()
            raise ArithmeticError

        made = []

        def make_session(put):
            made.append(AsyncMock(spec=Session))
            made[-1].handle.side_effect = fail
            return made[-1]

        sessions = tabs.Tabs(make_session)
        websockets = [AsyncMock(spec=WebSocket, query_params={"tab": "one"}) for _ in range(3)]
        for websocket in websockets:
            websocket.receive = asyncio.Queue().get
        websockets[0].receive = AsyncMock(return_value={"type": "websocket.receive", "text": "{}"})
        first = asyncio.create_task(sessions.serve(websockets[0]))
        while not (made and made[0].handle.called):
            await asyncio.sleep(0)
        second = asyncio.create_task(sessions.serve(websockets[1]))
        while not websockets[1].accept.called:
            await asyncio.sleep(0)
        goes_wrong.set()
        await asyncio.wait_for(second, PATIENCE)
        with pytest.raises(ArithmeticError):
            await first
        assert websockets[1].close.call_args.args == (1013, "the tab's session has failed")
        assert made[0].close.call_count == 1 and not made[0].resume.called
        third = asyncio.create_task(sessions.serve(websockets[2]))  # the page tries again, and gets a new session
        while len(made) < 2:
            await asyncio.sleep(0)
        third.cancel()

    asyncio.run(scenario())


def test_a_session_that_cannot_be_made_takes_no_place(monkeypatch):
    monkeypatch.setattr(tabs, "MAX_TABS", 1)

    async def scenario():
        session = AsyncMock(spec=Session)
        sessions = tabs.Tabs(Mock(side_effect=[ArithmeticError, session]))
        websocket = AsyncMock(spec=WebSocket, query_params={"tab": "one"})
        websocket.receive.return_value = {"type": "websocket.disconnect", "code": 1000}
        with pytest.raises(ArithmeticError):
            await sessions.serve(websocket)
        await sessions.serve(websocket)
        assert session.start.called

    asyncio.run(scenario())


def test_a_tab_that_says_goodbye_or_has_no_name_is_not_kept(server, engines):
    with open_tab(server, name="one") as tab:
        tab.play("e4")
    assert engines[0].closed.wait(PATIENCE)
    with open_tab(server) as tab:
        tab.play("e4")
        _lose(tab)
    assert engines[1].closed.wait(PATIENCE)
    for name in ("one", ""):
        with open_tab(server, name=name) as tab:
            assert tab.session["continued"] is False and tab.sans == []


def test_a_tab_that_stays_away_is_ended(server, engine, monkeypatch):
    monkeypatch.setattr(tabs, "KEPT_SECONDS", 0.0)
    with open_tab(server, name="one") as tab:
        _lose(tab)
    assert engine.closed.wait(PATIENCE)
    with open_tab(server, name="one") as tab:
        assert tab.session["continued"] is False


def test_only_so_many_tabs_are_kept(server, engines, monkeypatch):
    monkeypatch.setattr(tabs, "MAX_KEPT", 2)
    for name in "abc":
        with open_tab(server, name=name) as tab:
            _lose(tab)
    assert engines[0].closed.wait(PATIENCE)
    for name in "bc":
        with open_tab(server, name=name) as tab:
            assert tab.session["continued"] is True


def test_tabs_that_are_kept_make_room_for_new_ones(own_server, monkeypatch):
    engine = StandInEngine()
    own_server.make_engine = iter([engine, StandInEngine()]).__next__
    monkeypatch.setattr(tabs, "MAX_TABS", 1)
    with open_tab(own_server, name="gone") as tab:
        _lose(tab)
    eventually(lambda: _is_let_in(own_server))  # once the server has noticed the loss
    assert engine.closed.is_set()


def _is_let_in(server):
    """Open a tab; say whether the server had room for it."""
    try:
        with open_tab(server, name="new") as tab:
            return tab.session["continued"] is False
    except ConnectionClosed:
        return False


def test_the_end_of_the_server_ends_what_is_kept():
    engine = StandInEngine()
    with BoardServer().running() as server:
        server.make_engine = lambda: engine
        with open_tab(server, name="one") as tab:
            _lose(tab)
    assert engine.closed.is_set()
