"""A tab without a browser: talks to the server over the WebSocket, and keeps the newest message of each type."""

import contextlib
import http.client
import json
import socket
import time
from urllib.parse import urlsplit

from tree_model import TreeModel
from websockets.sync.client import connect

PATIENCE = 120  # seconds to wait before a test fails; long, since machines are slow at times


class Tab:
    """A tab; `position`, `game` and so on are what the server said last, and `tree` is the tree of moves."""

    def __init__(self, connection):
        self._connection = connection
        self.newest = {}
        self.tree = TreeModel()

    def __getattr__(self, kind):
        return self.newest[kind]

    def send(self, kind, **fields):
        self.send_text(json.dumps({"type": kind, **fields}))

    def send_text(self, text):
        self._connection.send(text)

    def lose_connection(self):
        """Break the connection off, without a goodbye."""
        self._connection.socket.shutdown(socket.SHUT_RDWR)

    def until(self, kind, holds=lambda message: True):
        """Read until a message of this type comes that fulfils the condition, and give it."""
        end = time.monotonic() + PATIENCE
        while True:
            message = json.loads(self._connection.recv(max(0, end - time.monotonic())))
            self.newest[message["type"]] = message
            self.tree.take(message)
            if message["type"] == kind and holds(message):
                return message

    def ask(self, kind, **fields):
        """Send a message, and read until it is handled."""
        self.send(kind, **fields)
        return self.settle()

    def settle(self):
        """Read until all that was sent is handled."""
        self.send("check_fen", fen="settled")
        self.until("fen_checked")
        return self

    def play(self, move, answer=None):
        """Play a move from the position shown; wait for the engine's answer, if there is to be one."""
        ply = self.position["ply"] + 2
        self.ask("play", node=self.position["node"], move=move)
        if answer is not None:
            if self.position["ply"] < ply:
                self.until("position", lambda message: message["ply"] == ply)
            self.settle()
            assert self.position["san"] == answer
        return self

    def evaluate(self, **fields):
        """Evaluate the line on the board, or stop its evaluation, and read until that has ended."""
        self.send("evaluate", **fields)
        self.until("progress", lambda message: message["done"] == message["all"])
        return self.settle()

    @property
    def sans(self):
        """The moves of the tree, in the order of the tree."""
        return [node["san"] for node in self.tree.nodes() if node["san"]]


def connect_to(address, path="/socket", name="", **options):
    """Connect to the board of this address, with its token; options are those of websockets, such as another origin.

    A tab with a name can come back to its session after its connection is lost.
    """
    place = urlsplit(address)
    options = {"origin": f"http://{place.netloc}", "max_size": None} | options
    uri = f"ws://{place.netloc}{path}?{place.query}&tab={name}"
    return connect(uri, open_timeout=PATIENCE, ping_interval=None, **options)


@contextlib.contextmanager
def open_tab(server, wait=True, name=""):
    """Open a tab, and wait for its engine."""
    with connect_to(server.address, name=name) as connection:
        tab = Tab(connection)
        if wait:
            tab.until("engine", lambda message: message["state"] != "loading")
        yield tab.settle()


def get(server, path, **headers):
    """Ask for a page or a file, with the cookie that lets one in; give the answer and its text."""
    connection = http.client.HTTPConnection(server.host, timeout=PATIENCE)
    connection.request("GET", path, headers={"Cookie": server.cookie} | headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body
