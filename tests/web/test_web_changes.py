"""What is told of the tree: whole once, then only what changes, however large it is."""

import asyncio
import importlib
import json
import random
import threading

import pytest
from board_tab import PATIENCE, open_tab
from random_messages import random_message
from stand_in_engine import StandInEngine
from tree_model import TreeModel

from knightadder.web.session import Session


class Page:
    """A page without a connection: keeps what the session sends."""

    def __init__(self):
        self.tree = TreeModel()
        self.position = None
        self.sent = []

    def take(self, view):
        view = json.loads(json.dumps(view))
        self.sent.append(view)
        self.tree.take(view)
        if view["type"] == "position":
            self.position = view


def test_the_page_has_the_tree_of_the_server():
    chance = random.Random(1)

    async def play():
        page = Page()
        session = Session(StandInEngine, page.take)
        session.start()
        for number in range(600):
            moves = [move for targets in page.position["legal"].values() for move in targets.values()] or ["e2e4"]
            node = chance.choice([page.position["node"], chance.randrange(30)])
            await session.handle(random_message(chance, moves, node))
            for _ in range(chance.randrange(4)):  # the engine moves, or finds something
                await asyncio.sleep(0)
            if number % 10 == 0:
                known, headers = page.tree.nodes(), page.tree.headers
                session.resume()  # tells the page all anew
                assert page.tree.headers == headers
                assert list(map(_move, page.tree.nodes())) == list(map(_move, known))
        for kind in ("resign", "analyse"):  # what is found is told when the search ends
            await session.handle(json.dumps({"type": kind} | ({"on": False} if kind == "analyse" else {})))
        known = page.tree.nodes()
        session.resume()
        assert page.tree.nodes() == known
        await session.close()

    asyncio.run(play())


def _move(row):
    return row["id"], row["parent"], row["san"], row["ply"], row["nags"]


@pytest.mark.parametrize(
    ("function", "concerns_it"),
    [
        ("game_loading.load_pgn", lambda pgn, index: True),
        ("session.tree_view", lambda reviews: len(reviews.tree) > 1),
        ("site.outbox._text", lambda view: view["type"] == "tree" and len(view["nodes"]) > 1),
    ],
)
def test_other_tabs_do_not_wait_for_a_game_that_is_loaded(server, monkeypatch, function, concerns_it):
    begun, may_go_on = threading.Event(), threading.Event()
    module, _, name = function.rpartition(".")
    original = getattr(importlib.import_module(f"knightadder.web.{module}"), name)

    def slow(*arguments):
        if concerns_it(*arguments):
            begun.set()
            assert may_go_on.wait(PATIENCE)
        return original(*arguments)

    monkeypatch.setattr(f"knightadder.web.{module}.{name}", slow)
    with open_tab(server) as one, open_tab(server) as other:
        one.send("load_pgn", pgn="1. d4 d5 *")
        assert begun.wait(PATIENCE)
        assert other.play("e4").sans == ["e4"]
        may_go_on.set()
        assert one.settle().sans == ["d4", "d5"]
