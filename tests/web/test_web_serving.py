"""The server under clients that mean no good."""

import contextlib
import socket

from board_tab import PATIENCE, get, open_tab
from waiting import eventually

from knightadder.web.site.serving import MAX_CONNECTIONS


def test_many_requests_that_are_never_finished_disturb_no_open_tab(server):
    place = server.host.split(":")
    with open_tab(server) as tab:
        with contextlib.ExitStack() as stack:
            for _ in range(MAX_CONNECTIONS):
                connection = stack.enter_context(socket.create_connection(place, timeout=PATIENCE))
                connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            assert get(server, "/")[0].status == 503
            assert tab.play("e4").sans == ["e4"]
        eventually(lambda: get(server, "/")[0].status == 200)  # the server has noticed that they are gone
