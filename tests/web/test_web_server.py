"""What the server sends, the page and its files, and the tabs that it serves."""

import contextlib
import mimetypes
import re
import threading
from xml.etree import ElementTree

import pytest
from board_server import BoardServer
from board_tab import PATIENCE, connect_to, get, open_tab
from stand_in_engine import StandInEngine
from websockets.exceptions import ConnectionClosed, InvalidStatus

from knightadder.web.messages import MAX_MESSAGE
from knightadder.web.site.tabs import MAX_TABS


def test_the_page_and_all_that_it_names_are_served(server):
    answer, page = get(server, "/")
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    names = re.findall(r'(?:src|href)="([^"#]+)"', page)
    modules = [name for name in names if name.endswith(".js")]
    while modules:  # also what the modules import
        name = modules.pop()
        answer, body = get(server, "/" + name.lstrip("/"))
        assert answer.status == 200 and "javascript" in answer.headers["Content-Type"], name
        for imported in re.findall(r'from "\./([^"]+)"', body):
            if imported not in names:
                names.append(imported)
                modules.append(imported)
    assert all(get(server, "/" + name.lstrip("/"))[0].status == 200 for name in names)
    assert not any(name.startswith(("http", "//")) for name in names)  # works offline


def test_no_other_program_changes_the_types_of_the_files():
    types = {"/": "text/html", "/main.js": "text/javascript", "/style.css": "text/css"}
    for suffix in (".html", ".js", ".css"):
        mimetypes.add_type("text/plain", suffix)  # as in the registry of Windows
    with BoardServer().running() as server:
        assert {name: get(server, name)[0].headers["Content-Type"].partition(";")[0] for name in types} == types


def test_pieces_are_drawings(server):
    for name in ("wK", "bP", "plain/bN", "letters/wQ"):
        answer, body = get(server, f"/pieces/{name}.svg")
        assert answer.headers["Content-Type"] == "image/svg+xml" and ElementTree.fromstring(body).tag.endswith("svg")
    assert get(server, "/pieces/xx.svg")[0].status == 404
    assert get(server, "/pieces/other/wK.svg")[0].status == 404


@pytest.mark.parametrize("path", ["/../server.py", "/%2e%2e/server.py", "/nothing", "/static"])
def test_nothing_else_is_served(server, path):
    assert get(server, path)[0].status == 404


def test_browsers_are_told_to_be_strict(server):
    headers = get(server, "/")[0].headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "'unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"


def test_there_is_one_socket(server):
    with pytest.raises(InvalidStatus) as caught, connect_to(server.address, "/style.css"):
        pass
    assert caught.value.response.status_code == 403


def test_messages_that_are_too_large_or_binary_end_the_tab(server, engine):
    # The server may close the connection before all has been sent.
    with open_tab(server) as tab, pytest.raises(ConnectionClosed):
        tab.send_text("x" * (MAX_MESSAGE + 1))
        tab.settle()
    assert engine.closed.wait(PATIENCE)
    with open_tab(server) as tab, pytest.raises(ConnectionClosed):
        tab.send_text(b"bytes")
        tab.settle()


def test_there_are_only_so_many_tabs(own_server):
    engines = [StandInEngine() for _ in range(MAX_TABS)]
    own_server.make_engine = iter(engines).__next__
    with contextlib.ExitStack() as tabs:
        for _ in engines:
            tabs.enter_context(open_tab(own_server))
        with (
            connect_to(own_server.address) as last,
            pytest.raises(ConnectionClosed) as end,
        ):
            last.recv(PATIENCE)
        assert end.value.rcvd.code == 1013 and "close one" in end.value.rcvd.reason
    assert all(engine.closed.wait(PATIENCE) for engine in engines)


def test_a_tab_counts_until_its_engine_is_closed(own_server, monkeypatch):
    monkeypatch.setattr("knightadder.web.site.tabs.MAX_TABS", 1)
    closing, may_close = threading.Event(), threading.Event()

    class SlowToClose(StandInEngine):
        def close(self):
            closing.set()
            may_close.wait(PATIENCE)

    own_server.make_engine = SlowToClose
    with open_tab(own_server):
        pass
    assert closing.wait(PATIENCE)
    assert not _opens(own_server)
    may_close.set()
    while not _opens(own_server):  # in a moment
        pass


def _opens(server):
    """Say whether a tab can be opened, and close it."""
    with connect_to(server.address) as socket:
        try:
            socket.recv(PATIENCE)
        except ConnectionClosed:
            return False
        return True
