"""The second engine beside ours: its lines, and engines that break, die or hang."""

import asyncio
import os
import shlex
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import chess
import psutil
import pytest
from board_server import BoardServer
from board_tab import PATIENCE, open_tab
from chess.engine import Cp, PovScore
from on_page import LAYOUTS, analyse_tab, expect_moves
from playwright.sync_api import expect
from stand_in_engine import StandInEngine
from waiting import eventually

from knightadder.web import other_engine
from knightadder.web.other_engine import CompanionEngine, OtherEngine

MATERIAL = Path(__file__).parents[1] / "material_engine.py"


def command(*words):
    return shlex.join([sys.executable, *map(str, words)])


@pytest.fixture
def other_server(request):
    words = getattr(request, "param", (MATERIAL,))
    with BoardServer(make_other=lambda: CompanionEngine(command(*words), {})).running() as server:
        server.make_engine = StandInEngine
        yield server


def script(text):
    """Give the words of a broken engine, which knows `uci` and then does what the text says."""
    hello = "import sys, time\nfor line in sys.stdin:\n if line == 'uci\\n': print('uciok', flush=True)\n"
    return ("-c", f"{hello} if line == 'isready\\n': print('readyok', flush=True)\n if line[:2] == 'go': {text}\n")


def test_a_program_that_is_missing_by_now_does_not_stop_the_board(tmp_path):
    with BoardServer(make_other=lambda: CompanionEngine(str(tmp_path / "gone"), {})).running() as server:
        server.make_engine = StandInEngine
        with open_tab(server) as tab:
            tab.send("switch_other", on=True)
            tab.until("other_engine", lambda message: message["problem"])
            assert tab.other_engine["problem"] == f"no such program: {tmp_path / 'gone'}"
            assert tab.play("e4").sans == ["e4"] and not tab.other_engine["on"]


def test_it_analyses_the_shown_position_beside_ours(other_server):
    with open_tab(other_server) as tab:
        assert tab.other_engine["on"] is False
        assert tab.other_engine["name"].startswith("python")
        tab.send("switch_other", on=True, lines=2)
        first = tab.until("other_lines")
        assert tab.other_engine["name"] == "Material 2.1"
        assert first["lines"][0]["moves"]
        tab.send("analyse", on=True)
        tab.until("lines")
        tab.send("play", node=0, move="e4")
        tab.until("other_lines", lambda message: message["turn"] == "black")
        if tab.lines["turn"] == "white":
            tab.until("lines", lambda message: message["turn"] == "black")
        tab.ask("switch_other", on=False)
        tab.send("new_game", color="white")
        tab.until("game", lambda message: message["game"])
        tab.ask("switch_other", on=True)
        assert tab.error["text"].startswith("no analysis while the game is running")


@pytest.mark.parametrize(
    ("other_server", "problem"),
    [
        (script("sys.exit(3)"), "the engine failed on"),
        (script("print('info depth 1 score cp 1 pv e2e5', flush=True); sys.exit(1)"), "the engine failed on"),
        (("-c", "print('not a chess engine')"), "cannot start"),
    ],
    indirect=["other_server"],
    ids=["dies", "illegal line", "no engine"],
)
def test_an_engine_that_fails_is_switched_off_with_a_line(other_server, problem):
    with open_tab(other_server) as tab:
        tab.ask("analyse", on=True)
        tab.send("switch_other", on=True)
        # On a slow machine it is told before that the engine has said nothing yet.
        state = tab.until("other_engine", lambda message: message["problem"] and not message["on"])
        assert problem in state["problem"] and "\n" not in state["problem"]
        tab.send("play", node=0, move="e4")
        tab.until("lines", lambda message: message["turn"] == "black")  # ours goes on


@pytest.mark.parametrize("other_server", [script("time.sleep(1000)")], indirect=True, ids=["hangs"])
def test_an_engine_that_hangs_is_said_and_ended(other_server, monkeypatch):
    monkeypatch.setattr(other_engine, "_SILENT", 0.01)
    with open_tab(other_server) as tab:
        tab.send("switch_other", on=True)
        assert tab.until("other_engine", lambda message: message["problem"])["problem"].startswith("no line within")
        tab.ask("play", node=0, move="e4")
        tab.ask("switch_other", on=False)
        assert tab.other_engine["problem"] is None


@pytest.mark.parametrize(
    "other_server",
    [
        script(
            "print('info depth 1 multipv 2 score cp 1 pv' + 10000 * ' g1f3 g8f6 f3g1 f6g8'); "
            "print('info depth 2 score cp 7 pv e2e4', flush=True)"
        )
    ],
    indirect=True,
    ids=["long"],
)
def test_a_line_that_is_far_too_long_is_ignored(other_server):
    """Reading it would take a time that grows with the square of its length, and the server could not end meanwhile."""
    with open_tab(other_server) as tab:
        tab.send("switch_other", on=True, lines=2)
        [line] = tab.until("other_lines")["lines"]
        assert (line["depth"], len(line["moves"])) == (2, 1)


def test_a_late_line_of_an_ended_analysis_is_not_shown(monkeypatch):
    monkeypatch.setattr(other_engine, "LINES_EVERY", 0)
    searches, sent = [], []

    class Engine:
        title = "Late"

        def begin(self, board, limit, on_info, **more):
            searches.append(on_info)
            return Future()

    async def analyse():
        other = OtherEngine(Engine, sent.append)
        other.follow(0, chess.Board())
        for count in (2, 1):
            other.switch(True, count)
            await asyncio.sleep(0)  # the search begins
        for on_info, rank, move in zip(searches, (2, 1), ("d2d4", "e2e4"), strict=True):
            on_info({"multipv": rank, "score": PovScore(Cp(0), chess.WHITE), "pv": [chess.Move.from_uci(move)]})
        await asyncio.sleep(0.01)
        other.pause()

    asyncio.run(analyse())
    lines = [message["lines"] for message in sent if message["type"] == "other_lines"]
    assert [[line["moves"] for line in each] for each in lines] == [[["e2e4"]]]


def test_without_a_page_no_position_starts_an_analysis():
    """An evaluation of the game that goes on without the page shows the position at its end."""
    searches = []

    class Engine:
        title = "Idle"

        def begin(self, board, limit, on_info, **more):
            searches.append(Future())
            return searches[-1]

    async def leave_and_return():
        other = OtherEngine(Engine, lambda view: None)
        other.switch(True, 1)
        other.pause()
        other.follow(0, chess.Board())
        await asyncio.sleep(0)
        assert searches == []
        other.resume()
        other.follow(0, chess.Board())
        await asyncio.sleep(0)
        assert len(searches) == 1
        other.pause()
        await asyncio.sleep(0)
        assert searches[0].cancelled()

    asyncio.run(leave_and_return())


def test_an_engine_that_never_starts_is_ended_with_its_tab(tmp_path):
    file = tmp_path / "pid"
    words = ("-c", f"import os, time; print(os.getpid(), file=open({str(file)!r}, 'w')); time.sleep(1000)")
    with BoardServer(make_other=lambda: CompanionEngine(command(*words), {})).running() as server:
        server.make_engine = StandInEngine
        with open_tab(server) as tab:
            tab.ask("switch_other", on=True)
            end = time.monotonic() + PATIENCE
            while not (file.exists() and file.read_text()) and time.monotonic() < end:
                time.sleep(0.01)
    assert not psutil.pid_exists(int(file.read_text()))


def has_ended(process: psutil.Process) -> bool:
    """Tell whether a process has ended, even if nobody has asked for its status yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:  # closing the pipes of a killed engine may ask for its status
        return True


@pytest.mark.skipif(os.name != "posix", reason="the end of a process is awaited in a different way")
def test_closing_waits_for_the_end_of_an_engine_whose_analysis_is_being_stopped(monkeypatch):
    others, seen, noticed, waitpid = psutil.Process().children(), threading.Event(), threading.Event(), os.waitpid
    monkeypatch.setattr(os, "waitpid", lambda *arguments: noticed.wait(PATIENCE) and waitpid(*arguments))
    engine = CompanionEngine(command(*script("print('info depth 1 score cp 1 pv e2e4', flush=True)")), {})
    search = engine.begin(chess.Board(), None, lambda info: seen.set(), place="here", multipv=1)
    assert seen.wait(PATIENCE)
    [process] = [child for child in psutil.Process().children() if child not in others]
    search.cancel()
    eventually(lambda: has_ended(process))
    closing = threading.Thread(target=engine.close, daemon=True)
    closing.start()
    closing.join(0.2)
    early = not closing.is_alive()
    noticed.set()
    closing.join(PATIENCE)
    assert not early and not closing.is_alive()


@pytest.mark.parametrize("size", LAYOUTS.values(), ids=LAYOUTS)
def test_both_engines_lines_and_arrows_are_on_the_page(other_server, open_page, size):
    page = open_page(*size, at=other_server)
    analyse_tab(page)
    own, other = page.get_by_role("switch", name="Engine"), page.get_by_role("switch", name="python")
    other.focus()
    page.keyboard.press("Enter")
    lines = page.get_by_label("Lines of the second engine")
    expect(lines.get_by_role("listitem")).to_have_count(3)
    expect(page.get_by_role("switch", name="Material 2.1")).to_be_checked()
    expect(page.locator("#board .arrows .other")).to_have_count(3)
    own.click()
    expect(page.locator("#lines li")).to_have_count(3)
    expect(page.locator("#board .arrows [data-arrow]")).to_have_count(6)
    page.get_by_label("Lines", exact=True).select_option("1")
    expect(lines.get_by_role("listitem")).to_have_count(1)
    san = lines.locator("[data-move]").first.inner_text()
    lines.locator("[data-move]").first.click()
    expect_moves(page, san)
    expect(page.locator("#board .arrows .other")).to_have_count(1)
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#board .arrows [data-arrow]")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("switch", name="Material 2.1", include_hidden=True)).not_to_be_checked()
