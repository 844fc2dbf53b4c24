"""Fixtures of the tests of the web board."""

import contextlib
import re
import threading
from functools import cache

import pytest
from board_server import BoardServer
from board_tab import PATIENCE, open_tab
from chromium import MISSING, find_chromium
from page_link import Link
from stand_in_engine import StandInEngine, material

from knightadder.web import keeper

# What modules of tests share as long as they follow one another: to start it anew takes seconds.
_shared = contextlib.ExitStack()


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory):
    """Keep the board away from the user's own games."""
    with pytest.MonkeyPatch.context() as patch, _shared:  # which ends here if the run is broken off
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def no_hurry_to_save(monkeypatch):
    """However slow the disk is, no tab says that another program uses the games."""
    monkeypatch.setattr(keeper, "_PATIENCE", PATIENCE)


@cache
def _server():
    return _shared.enter_context(BoardServer().running())


@cache
def _browser():
    from playwright.sync_api import sync_playwright

    playwright = _shared.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=find_chromium(), timeout=1000 * PATIENCE)
    _shared.callback(browser.close)
    return browser


@cache
def _window():
    """Give a window that tests use one after another: a new one costs more than what most of them do in it."""
    return new_window(_browser())


def _empty_page(route):
    route.fulfill(content_type="text/html", body='<link rel="icon" href="data:,">')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """End what is shared before other tests: while Playwright runs, they could not run an event loop."""
    try:
        return (yield)
    finally:
        if nextitem is None or (nextitem.path != item.path and "browser" not in nextitem.fixturenames):
            _shared.close()
            for each in (_server, _browser, _window):
                each.cache_clear()


@pytest.fixture(scope="module")
def shared_server():
    return _server()


@pytest.fixture
def server(shared_server):
    """Give a server whose tabs get a stand-in for the engine each; a test may make others."""
    shared_server.make_engine = StandInEngine
    return shared_server


@pytest.fixture
def own_server():
    """Give a server without the tabs of tests before, which the shared one may still be ending."""
    with BoardServer().running() as server:
        server.make_engine = StandInEngine
        yield server


@pytest.fixture
def engine(server):
    """Give the engine of the tabs of this test."""
    engine = StandInEngine()
    server.make_engine = lambda: engine
    return engine


@pytest.fixture
def material_engine(engine):
    """Let the engine of the tabs of this test count material."""
    engine.worth = material


@pytest.fixture
def late_engine(server):
    """Give the engine of this test's tab, which is `wanted` at once, but is there only when `arrives` is set."""
    engine = StandInEngine()
    engine.wanted, engine.arrives = threading.Event(), threading.Event()

    def make():
        engine.wanted.set()
        engine.arrives.wait(PATIENCE)
        return engine

    server.make_engine = make
    yield engine
    engine.arrives.set()  # where the test has failed


@pytest.fixture
def tab(server, engine):
    with open_tab(server) as tab:
        yield tab


# --- the page in a browser -----------------------------------------------------------------------------------------


@pytest.fixture
def browser():
    if find_chromium() is None:
        pytest.skip(MISSING)
    return _browser()


def new_window(browser, **options):
    """Open a window whose time stands still until the test moves it, so that nothing goes away or comes back before."""
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    context.clock.install(time=0)
    context.clock.pause_at(1)
    context.add_init_script("delete window.showSaveFilePicker")  # no test can choose a file in a window of the browser
    return context.new_page()


@pytest.fixture
def open_page(browser, server):
    """Give the function that opens the board in a window; what its page complains of fails the test.

    `at` is a server that the test ends while the page is open.
    """
    usual, pages, complaints = None, [], []

    def on_error(error):
        complaints.append(str(error))

    def on_console(message):
        if message.type == "error":
            complaints.append(message.text)

    def open_page(width=1280, height=800, sockets=None, at=None, **options):
        nonlocal usual
        if pages or options or sockets is not None or at is not None:
            page = new_window(browser, **options)
        else:
            page = usual = _window()
        page.set_viewport_size({"width": width, "height": height})
        pages.append(page)
        page.on("pageerror", on_error)
        if at is None:  # else the server ends, which the browser complains of
            page.on("console", on_console)
        if sockets is not None:  # takes the page's connections
            page.route_web_socket(re.compile("/socket"), sockets)
        page.goto((at or server).address)
        page.wait_for_selector(
            "body[data-engine=ready] .piece", timeout=1000 * PATIENCE
        )  # a real engine may have to compile
        return page

    yield open_page
    for page in pages:
        if page is not usual:
            page.context.close()
    if usual is not None:
        usual.remove_listener("pageerror", on_error)
        usual.remove_listener("console", on_console)
        for other in usual.context.pages[1:]:
            other.close()
        usual.unroute_all()
        usual.mouse.move(0, 0)
        usual.route("**/left", _empty_page)
        usual.goto(f"http://{server.host}/left")  # where nothing is kept any more when the board has gone
        usual.evaluate("localStorage.clear(); sessionStorage.clear()")
        usual.unroute_all()  # while anything is routed, the browser has no cache and asks the test for each file
    assert complaints == []


@pytest.fixture
def link(engine):
    return Link(engine)


@pytest.fixture
def page(engine, open_page, request):
    """Give the board in a window, with `engine` behind it; `on_page.every_layout` chooses its size.

    The connection of a test that uses `link` is this link.
    """
    sockets = request.getfixturevalue("link").connect if "link" in request.fixturenames else None
    return open_page(*getattr(request, "param", ()), sockets=sockets)
