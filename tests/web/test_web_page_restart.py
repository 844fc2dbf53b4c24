"""What an open tab shows when the server ends or is restarted, and how it goes on, in a browser."""

import re

from board_server import BoardServer
from on_page import (
    LAYOUTS,
    analyse_tab,
    choose_game,
    click_move,
    drag_move,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    square,
    start_game,
)
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.web.saved_games import SavedGames


def _serve(engine=None, port=0, saved=None):
    server = BoardServer(port=port, saved=saved)
    server.make_engine = lambda: engine or StandInEngine()
    return server


def _expect_lost(page, text):
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#lost")).to_contain_text(text)


def test_a_lost_connection_is_told_once_not_at_each_attempt(open_page):
    with _serve().running() as server:
        page = open_page(at=server)
    _expect_lost(page, "The server does not answer")
    expect(page.locator("#toast")).to_be_hidden()
    page.evaluate(
        """window.told = 0;
        const changes = { childList: true, subtree: true, attributes: true };
        for (const place of document.querySelectorAll("[role=alert], [role=status]"))
            new MutationObserver(() => window.told++).observe(place, changes);"""
    )
    with page.expect_event("requestfailed"):
        page.clock.run_for(1000)  # tries again
    _expect_lost(page, "The server does not answer")
    assert page.evaluate("window.told") == 0


def test_a_restart_locks_the_board_stops_the_clock_and_has_a_way_back(open_page, tmp_path):
    saved = SavedGames(tmp_path / "games.sqlite")
    with _serve(StandInEngine(["e5"]), saved=saved).running() as first:
        page = open_page(*LAYOUTS["phone"], at=first)
        page.get_by_label("Clock").select_option("5 minutes")
        start_game(page)
        click_move(page, "e2", "e4")
        expect_moves(page, "e4", "e5")
        expect_shown(page, "e5")
        expect(page.locator(".player .clock.running")).to_have_count(1)
    _expect_lost(page, "The server does not answer")
    expect(page.locator(".player .clock.running")).to_have_count(0)
    clock = page.locator("#player-bottom .clock").text_content()
    square(page, "g1").click()
    expect(page.locator("#board .selected, #board .mine")).to_have_count(0)
    drag = page.locator("#board [data-square=g1]").bounding_box()
    page.mouse.move(drag["x"] + 5, drag["y"] + 5)
    page.mouse.down()
    square(page, "f3").hover()
    page.mouse.up()
    expect_piece(page, "g1", "N")
    page.get_by_label("Type a move").fill("Nf3")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text("There is no connection to the server")
    expect_moves(page, "e4", "e5")
    with _serve(StandInEngine(["Nc6"]), port=first.port, saved=saved).running() as second:
        page.get_by_role("button", name="Try now").click()
        _expect_lost(page, "The server was restarted")
        page.clock.run_for(5000)
        assert page.locator("#player-bottom .clock").text_content() == clock
        assert page.evaluate("document.documentElement.scrollWidth") <= LAYOUTS["phone"][0]
        with page.expect_download() as download:
            page.locator("#lost .save").click()
        with open(download.value.path(), encoding="utf-8") as file:
            assert "1. e4" in file.read()
        other = page.context.new_page()  # the browser gets the new address
        other.goto(second.address)
        page.get_by_role("button", name="Try now").click()
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("#toast")).to_contain_text("The server was restarted, which ended the game")
        expect_moves(page, "e4", "e5")
        expect_shown(page, "e5")
        expect(page.get_by_label("Start from")).to_have_value("here")
        start_game(page)
        click_move(page, "g1", "f3")
        expect_moves(page, "e4", "e5", "Nf3", "Nc6")
        page.context.close()
    assert saved.find("", 0, 10)[1] == 1  # it is still the same game


def test_a_file_with_its_edits_and_the_place_come_back(open_page):
    pgn = '[White "A"]\n\n1. e4 *\n\n[White "C"]\n\n1. d4 d5 2. c4 *\n'
    with _serve().running() as first:
        page = open_page(at=first)
        load_pgn(page, pgn)
        expect_moves(page, "e4")
        page.keyboard.press("End")
        expect_shown(page, "e4")
        click_move(page, "c7", "c5")
        expect_moves(page, "e4", "c5")
        choose_game(page, "2. C - ?")
        expect_moves(page, "d4", "d5", "c4")
        page.keyboard.press("ArrowRight")
        expect_shown(page, "d4")
    _expect_lost(page, "The server does not answer")
    with _serve(port=first.port).running() as second:
        page.goto(second.address)  # as from the terminal, in the same tab
        expect_moves(page, "d4", "d5", "c4")
        expect_shown(page, "d4")
        choose_game(page, "1. A - ?")
        expect_moves(page, "e4", "c5")
        page.context.close()


def test_a_game_that_a_restart_has_ended_is_said_to_continue_from_its_position(open_page):
    with _serve(StandInEngine(["d4", "e4"])).running() as first:
        page = open_page(at=first)
        start_game(page, "Black")
        expect_moves(page, "d4")
        click_move(page, "d7", "d5")
        expect_moves(page, "d4", "d5", "e4")
        expect_shown(page, "e4")
    _expect_lost(page, "The server does not answer")
    with _serve(StandInEngine(["exd5"]), port=first.port).running() as second:
        page.goto(second.address)  # as from the terminal, in the same tab
        expect(page.locator("#toast")).to_contain_text("“Start the game” continues from this position")
        expect_moves(page, "d4", "d5", "e4")
        start_game(page, "Black")
        click_move(page, "g8", "f6")
        expect_moves(page, "d4", "d5", "e4", "Nf6", "exd5")
        page.context.close()


def test_a_game_that_was_not_saved_yet_is_among_the_games_at_once(open_page, tmp_path):
    with _serve(StandInEngine(["e5"])).running() as first:  # it keeps no games, as if it were killed before it saved
        page = open_page(at=first)
        start_game(page)
        click_move(page, "e2", "e4")
        expect_moves(page, "e4", "e5")
    _expect_lost(page, "The server does not answer")
    with _serve(port=first.port, saved=SavedGames(tmp_path / "games.sqlite")).running() as second:
        page.goto(second.address)  # as from the terminal, in the same tab
        expect_moves(page, "e4", "e5")
        analyse_tab(page)
        page.get_by_role("button", name="My games").click()
        expect(page.get_by_role("dialog", name="My games").get_by_role("listitem")).to_contain_text("You - Knightadder")
        page.context.close()


def test_a_game_that_has_grown_large_comes_back(open_page):
    """Two comments that fit each alone are more than a file may have."""
    with _serve().running() as first:
        page = open_page(at=first)
        load_pgn(page, f"1. e4 {{{'x ' * 200_000}}} *")
        expect(page.locator("#moves [data-node]")).to_have_count(1)
        page.evaluate("""async () => {
            const game = sessionStorage.getItem("edited");
            sessionStorage.setItem("edited", game.replace("x x", "y ".repeat(200000)));
        }""")
        kept = len(page.evaluate("sessionStorage.getItem('edited')"))
        assert kept > 600 * 1024
    with _serve(port=first.port).running() as second:
        page.goto(second.address)
        expect(page.locator("#moves [data-node]")).to_have_count(1)
        page.wait_for_function("size => sessionStorage.getItem('edited').length > size", arg=600 * 1024)
        page.context.close()


def test_a_drag_is_given_up_when_the_connection_breaks(engine, page, link):
    analyse_tab(page)
    drag_move(page, "e2", "e4")
    expect_moves(page, "e4")
    link.lose()
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#board")).to_have_class(re.compile("locked"))
    page.clock.run_for(500)
    expect(page.locator("#lost")).to_be_hidden()
    drag_move(page, "e7", "e5")
    expect_moves(page, "e4", "e5")
