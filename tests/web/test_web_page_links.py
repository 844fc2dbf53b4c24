"""The links between the board, the drills and the puzzles."""

import chess
import pytest
from board_server import BoardServer
from on_page import LAYOUTS, expect_piece
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.drills.box import DrillBox
from knightadder.drills.drill import Drill
from knightadder.puzzles.puzzle import Puzzle, Solution

DRILL = Drill("mistake", "4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1", (("e4c5",),), "Loose piece", "Réti Opening")
PUZZLE = Puzzle(Solution("3r2k1/5ppp/8/8/8/p7/5PPP/6K1 b - - 0 1", (chess.Move.from_uci("d8d1"),)), "one")


@pytest.fixture
def box(tmp_path):
    box = DrillBox(tmp_path / "drills.sqlite")
    box.add([DRILL])
    return box


@pytest.mark.parametrize("size", [*LAYOUTS.values(), (844, 390), (667, 375), (640, 400), (650, 470)])
def test_the_pages_are_linked_to_each_other(browser, box, size):
    with BoardServer(puzzles=[PUZZLE], drills=box).running() as server:
        server.make_engine = StandInEngine
        page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
        page.goto(server.address)
        links = page.get_by_role("banner").get_by_role("link")
        expect(links).to_have_text(["Board", "Puzzles"])
        links.filter(has_text="Puzzles").click()
        expect_piece(page, "d8", "r")
        expect(links).to_have_text(["Board", "Drills"])
        links.filter(has_text="Drills").click()
        expect_piece(page, "e4", "N")
        count = page.locator("#count")
        expect(count).to_have_text("0 due, 1 new")
        assert count.evaluate("(e) => e.scrollWidth <= e.clientWidth")
        links.filter(has_text="Board").click()
        expect_piece(page, "e2", "P")
        expect(links).to_have_text(["← Drills", "Puzzles"])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        side, lowest = page.locator(".side").bounding_box(), page.get_by_role("button", name="Dark mode").bounding_box()
        assert side["y"] >= lowest["y"] + lowest["height"] or side["x"] + side["width"] <= lowest["x"]
        assert len({link.bounding_box()["height"] for link in links.all()}) == 1  # no text is wrapped
        links.filter(has_text="Puzzles").click()
        expect_piece(page, "d8", "r")
        page.context.close()


def test_there_are_no_links_to_pages_that_the_server_does_not_have(browser, box):
    with BoardServer(drills=box).running() as server:
        server.make_engine = StandInEngine
        page = browser.new_page()
        page.goto(server.address)
        page.goto(f"http://{server.host}/index.html")
        links = page.get_by_role("banner").get_by_role("link")
        expect(links).to_have_text(["Drills"])
        links.click()
        expect_piece(page, "e4", "N")
        expect(links).to_have_text(["Board"])
        page.context.close()
