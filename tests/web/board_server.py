"""The server of the web board in a thread, with the engines that a test wants."""

import contextlib
import secrets
import socket
import threading
from pathlib import Path

from knightadder.puzzles.collection import PuzzleCollection
from knightadder.web.site.server import make_app
from knightadder.web.site.serving import make_server
from knightadder.web.site.training import Training


class BoardServer:
    """A server, by default on a free port; `make_engine` is called for each tab."""

    def __init__(
        self,
        puzzles=(),
        explorer=None,
        known=None,
        port=0,
        drills=None,
        make_other=None,
        progress=None,
        saved=None,
        puzzle_file=Path("puzzles.csv"),
    ):
        self.make_engine = None
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each answer waits for 40 ms
        self.host = f"127.0.0.1:{self.port}"
        self.token, self.ticket = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.address = f"http://{self.host}/?token={self.token}"
        self.cookie = f"knightadder-{self.port}={self.token}"
        training = Training(PuzzleCollection.of(puzzles), progress, puzzle_file) if puzzles else None
        app = make_app(
            lambda: self.make_engine(),
            self.token,
            training=training,
            explorer=explorer,
            known=known,
            drills=drills,
            make_other=make_other,
            saved=saved,
            ticket=self.ticket,
        )
        self._server = make_server(app)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    @contextlib.contextmanager
    def running(self):
        self._thread.start()
        try:
            yield self
        finally:
            self._server.should_exit = True
            self._thread.join()
            self._socket.close()
