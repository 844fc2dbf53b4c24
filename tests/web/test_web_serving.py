"""The server under clients that mean no good."""

import contextlib
import socket

from board_tab import PATIENCE, get, open_tab

from knightadder.web.serving import MAX_IDLE


def test_requests_that_are_never_finished_leave_room_for_others(server):
    place = server.host.split(":")
    with open_tab(server) as tab, contextlib.ExitStack() as stack:
        silent = []
        for _ in range(2 * MAX_IDLE):
            connection = stack.enter_context(socket.create_connection(place, timeout=PATIENCE))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            silent.append(connection)
        for connection in silent[:MAX_IDLE]:
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        assert get(server, "/")[0].status == 200
        assert tab.play("e4").sans == ["e4"]  # tabs do not count among them
