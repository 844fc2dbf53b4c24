"""Values in the browser's storage that are damaged, or that a different version of the page has written."""

import chess
import pytest
from board_server import BoardServer
from on_page import click_move, expect_moves
from playwright.sync_api import expect

from knightadder.drills.box import DrillBox
from knightadder.drills.drill import Drill
from knightadder.puzzles.puzzle import Puzzle, Solution

ALL_TABS = [
    *(
        "drills",
        "drills answers",
        "drills with a hint",
        "effort",
        "line-count",
        "look",
        "new game",
        "puzzle being solved",
        "puzzles",
    ),
    *("puzzles answers", "resources", "scores", "sound", "theme"),
]
ONE_TAB = [
    *("began", "draft", "edited", "editor", "file", "filters", "handed over", "index", "mode", "path", "places"),
    *("premove", "puzzle being solved", "puzzles before", "tab"),
]
every_value = pytest.mark.parametrize(
    "value", ["{", "5", '"x"', "[5]", '[["x", "y"]]', '{"0": 5, "move": 5, "path": 5, "back": 5, "threads": "x"}']
)


def _damage(page, value):
    page.goto("about:blank")
    page.add_init_script(f"""
      if (!window.name && location.protocol === "http:") {{
        for (const key of {ALL_TABS}) localStorage.setItem(key, {value!r});
        for (const key of {ONE_TAB}) sessionStorage.setItem(key, {value!r});
        window.name = "damaged";
      }}
    """)


@every_value
def test_damaged_values_do_not_stop_the_board(open_page, server, value):
    page = open_page(locale="en")  # a window of its own, since its script stays
    _damage(page, value)
    page.goto(server.address)
    expect(page.locator("#board .piece")).to_have_count(32)
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#setup output")).to_contain_text("Elo")
    page.get_by_role("button", name="Board and pieces").click()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("tab", name="Analyse").click()
    if page.locator("#editor").is_visible():  # with the text that was stored for it
        page.get_by_role("button", name="Cancel").click()
    click_move(page, "e2", "e4")
    expect_moves(page, "e4")
    page.reload()
    expect_moves(page, "e4")


@every_value
def test_damaged_values_do_not_stop_drills_and_puzzles(browser, tmp_path, value):
    box = DrillBox(tmp_path / "drills.sqlite")
    box.add([Drill("mistake", "4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1", (("e4c5",),), "Loose piece", "Réti Opening")])
    puzzle = Puzzle(Solution("3r2k1/5ppp/8/8/8/p7/5PPP/6K1 b - - 0 1", (chess.Move.from_uci("d8d1"),)), "one")
    with BoardServer(puzzles=[puzzle], drills=box).running() as server:
        page = browser.new_page()
        _damage(page, value)
        page.goto(server.address)
        click_move(page, "e4", "c5")
        expect(page.locator("#status")).to_contain_text("Right")
        page.goto(f"http://{server.host}/puzzles.html")
        click_move(page, "d8", "d1")
        expect(page.locator("#status")).to_contain_text("Solved")
        page.context.close()
