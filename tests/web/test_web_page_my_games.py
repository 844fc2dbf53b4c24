"""Lists of games on the page: the user's own, and those of a file; files by the browser's pickers."""

import pytest
from board_server import BoardServer
from on_page import LAYOUTS, analyse_tab, click_move, expect_moves, load_pgn
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.web.saved_games import SavedGames

PGN = """[Event "Club"]
[White "Anna"]
[Black "Ben"]
[Date "2026.03.??"]
[Result "1/2-1/2"]

1. e4 1/2-1/2

[White "Carl, Jr"]
[Black "Dora"]

1. d4 d5 *
"""
FILE = {"name": "two.pgn", "mimeType": "text/plain", "buffer": PGN.encode()}


@pytest.fixture
def saving_server(tmp_path):
    with BoardServer(saved=SavedGames(tmp_path / "games.sqlite")).running() as server:
        server.make_engine = StandInEngine
        yield server


@pytest.mark.parametrize("size", LAYOUTS.values(), ids=LAYOUTS)
def test_games_are_kept_searched_opened_and_deleted(saving_server, open_page, size):
    page = open_page(*size, at=saving_server)
    load_pgn(
        page, '[White "Emma"]\n[Black "Fritz"]\n[Event "Home"]\n[Date "2026.04.05"]\n[Result "1-0"]\n\n1. c4 1-0\n'
    )
    expect(page.locator("#about-game")).to_have_text("1-0 · Home · 2026-04-05")
    page.get_by_role("button", name="My games").click()
    dialog = page.get_by_role("dialog", name="My games")
    dialog.get_by_role("button", name="Save the game on the board").click()
    expect(dialog.locator(".problem")).to_have_text("The game is saved")
    dialog.locator("input[type=file]").set_input_files(FILE)
    expect(dialog.locator(".problem")).to_have_text("Added 2 games")
    expect(dialog.locator(".count")).to_have_text("3 games")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    search = dialog.get_by_label("Search my games")
    search.fill("club ben")
    expect(dialog.get_by_role("listitem")).to_have_text(["Anna - Ben½-½ · Club · 2026-03Delete"])
    dialog.get_by_role("button", name="Delete Anna - Ben").click()
    dialog.get_by_role("button", name="Undo Anna - Ben").click()
    expect(dialog.get_by_role("button", name="Delete Anna - Ben")).to_be_visible()
    search.fill("")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    search.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect_moves(page, "e4")
    expect(page.locator("#about-game")).to_have_text("½-½ · Club · 2026-03")


def test_all_games_are_saved_as_a_file_unless_they_are_damaged(saving_server, open_page, tmp_path):
    page = open_page(at=saving_server)
    analyse_tab(page)
    page.get_by_role("button", name="My games").click()
    dialog = page.get_by_role("dialog", name="My games")
    dialog.locator("input[type=file]").set_input_files(FILE)
    expect(dialog.locator(".problem")).to_have_text("Added 2 games")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save all as a file").click()
    assert download.value.suggested_filename == "my-games.pgn"
    with open(download.value.path(), encoding="utf-8") as file:
        text = file.read()
    assert "1. e4 1/2-1/2" in text and "1. d4 d5 *" in text
    (tmp_path / "games.sqlite").write_text("damaged")
    dialog.get_by_role("button", name="Save all as a file").click()
    expect(dialog.locator(".problem")).to_contain_text("Cannot use the games in")


@pytest.mark.parametrize("page", [LAYOUTS["phone"]], ids=["phone"], indirect=True)
def test_a_file_is_opened_and_its_games_are_searched(page):
    analyse_tab(page)
    page.locator("#open-file").set_input_files(FILE)
    expect_moves(page, "e4")
    page.locator("#games").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Games of the file")
    expect(dialog.get_by_role("button", name="1. Anna - Ben")).to_have_attribute("aria-current", "true")
    page.keyboard.type("dora")
    expect(dialog.get_by_role("listitem")).to_have_text(["2. Carl, Jr - Dora"])
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect_moves(page, "d4", "d5")


def test_a_game_is_saved_by_the_browser_s_picker(page):
    load_pgn(page, PGN)
    page.evaluate(
        """() => {
          window.showSaveFilePicker = async ({ suggestedName }) => ({
            name: suggestedName,
            createWritable: async () => ({ write: async (text) => (window.written = text), close: async () => {} }),
          });
        }"""
    )
    click_move(page, "e2", "e4")
    page.get_by_role("button", name="Save PGN").click()
    expect(page.locator("#toast")).to_have_text("Saved as Anna - Ben.pgn")
    assert "1. e4" in page.evaluate("window.written")
    page.evaluate("() => { window.showSaveFilePicker = async () => { throw new DOMException('', 'AbortError'); }; }")
    page.get_by_role("button", name="Save PGN").click()
    expect(page.locator("#toast")).to_be_hidden()
