"""Moves made in advance on the page, while the engine thinks."""

import re

import pytest
from board_server import BoardServer
from board_tab import PATIENCE
from on_page import click_move, drag_move, expect_moves, expect_piece, play_from, square, start_game, take_up
from playwright.sync_api import expect
from stand_in_engine import StandInEngine
from waiting import eventually

from knightadder.web.saved_games import SavedGames


@pytest.fixture
def thinking(engine, page):
    """Give the page while the engine thinks about its answer to 1. e4, e5, until it is released."""
    start_game(page)
    _let_engine_think(engine, page, "e2", "e4", "e5", "Nc6")
    return page


def _let_engine_think(engine, page, start, end, *script):
    """Make a move, and hold the engine's answers, which are those of `script`."""
    engine.script, engine.held = list(script), True
    click_move(page, start, end)
    expect(page.locator("#game .status")).to_contain_text("Knightadder is thinking")
    assert engine.began.wait(PATIENCE)  # only then can its search be released


def _expect_premove(page, *names):
    expect(page.locator("#board .premove")).to_have_count(len(names))
    for name in names:
        expect(square(page, name)).to_have_class(re.compile(r"\bpremove\b"))


def _expect_played(engine, page, *moves):
    """Let the engine answer, and expect the premove and the answer to it."""
    engine.held = False
    engine.release()
    expect_moves(page, *moves)
    _expect_premove(page)


def test_a_move_made_in_advance_is_played_once_the_engine_has_moved(engine, thinking):
    drag_move(thinking, "g1", "f3")
    _expect_premove(thinking, "g1", "f3")
    expect_piece(thinking, "g1", "N")
    _expect_played(engine, thinking, "e4", "e5", "Nf3", "Nc6")


def test_it_survives_a_reload(engine, thinking):
    drag_move(thinking, "g1", "f3")
    _expect_premove(thinking, "g1", "f3")
    thinking.reload()
    expect(thinking.locator("#game .status")).to_contain_text("Knightadder is thinking")
    _expect_premove(thinking, "g1", "f3")
    _expect_played(engine, thinking, "e4", "e5", "Nf3", "Nc6")


def test_it_survives_a_lost_connection(engine, thinking, link):
    drag_move(thinking, "g1", "f3")
    link.lose()
    expect(thinking.locator("#lost")).to_be_visible()
    _expect_premove(thinking, "g1", "f3")
    thinking.clock.run_for(500)
    expect(thinking.locator("#lost")).to_be_hidden()
    _expect_premove(thinking, "g1", "f3")
    _expect_played(engine, thinking, "e4", "e5", "Nf3", "Nc6")


def test_it_is_played_after_an_answer_during_a_lost_connection(engine, thinking, link):
    drag_move(thinking, "g1", "f3")
    link.lose()
    expect(thinking.locator("#lost")).to_be_visible()
    engine.held = False
    engine.release()
    thinking.clock.run_for(500)
    expect_moves(thinking, "e4", "e5", "Nf3", "Nc6")


def test_it_is_played_after_an_answer_during_a_reload(open_page, tmp_path):
    engine, saved = StandInEngine(), SavedGames(tmp_path / "games.sqlite")
    with BoardServer(saved=saved).running() as server:
        server.make_engine = lambda: engine
        page = open_page(at=server)
        start_game(page)
        _let_engine_think(engine, page, "e2", "e4", "e5", "Nc6")
        drag_move(page, "g1", "f3")
        _expect_premove(page, "g1", "f3")
        page.goto(f"http://{server.host}/pages")  # of the same site: else the browser may unload the board's page later
        engine.held = False
        engine.release()
        eventually(lambda: saved.get(1) and "e5" in saved.get(1)[0])
        page.goto(server.address)
        expect_moves(page, "e4", "e5", "Nf3", "Nc6")
        page.context.close()


def test_a_move_that_has_become_illegal_is_dropped(engine, thinking):
    click_move(thinking, "e4", "e5")
    _expect_premove(thinking, "e4", "e5")
    engine.release()
    expect_moves(thinking, "e4", "e5")
    _expect_premove(thinking)
    expect(thinking.locator("#game .status")).to_contain_text("Your move")
    expect(thinking.get_by_role("alert")).to_be_hidden()


@pytest.mark.parametrize("button", ["left", "right"])
def test_a_press_of_a_button_cancels_it(engine, thinking, button):
    drag_move(thinking, "g1", "f3")
    _expect_premove(thinking, "g1", "f3")
    square(thinking, "f3").click(button=button)
    _expect_premove(thinking)
    engine.release()
    expect_moves(thinking, "e4", "e5")


def test_it_is_forgotten_with_the_move_before_it(engine, thinking):
    drag_move(thinking, "g1", "f3")
    _expect_premove(thinking, "g1", "f3")
    engine.held = False
    thinking.get_by_role("button", name="Take back").click()
    _expect_premove(thinking)
    expect_moves(thinking)
    expect(thinking.locator("#game .status")).to_contain_text("Your move")


def test_it_is_not_played_after_a_draw(engine, page):
    play_from(page, "8/8/8/8/8/Pk6/8/4K1N1 w - - 0 1")
    _let_engine_think(engine, page, "e1", "e2", "Kxa3")
    click_move(page, "g1", "f3")
    _expect_premove(page, "g1", "f3")
    engine.release()
    expect(page.locator("#game .status")).to_contain_text("Draw")
    expect_moves(page, "Ke2", "Kxa3")
    _expect_premove(page)


def test_a_piece_that_is_selected_stays_so_when_the_engine_moves(engine, thinking):
    take_up(thinking, "g1")
    engine.held = False
    engine.release()
    expect(thinking.locator("#game .status")).to_contain_text("Your move")
    square(thinking, "f3").click()
    expect_moves(thinking, "e4", "e5", "Nf3", "Nc6")


def test_a_piece_that_the_engine_captures_is_no_longer_selected(engine, page):
    play_from(page, "8/8/8/8/8/Pk6/7R/4K3 w - - 0 1")
    _let_engine_think(engine, page, "e1", "e2", "Kxa3")
    take_up(page, "a3")
    engine.release()
    expect(page.locator("#game .status")).to_contain_text("Your move")
    expect(page.locator("#board [aria-selected=true]")).to_have_count(0)


def test_escape_cancels_it(engine, thinking):
    drag_move(thinking, "g1", "f3")
    _expect_premove(thinking, "g1", "f3")
    thinking.keyboard.press("Escape")
    _expect_premove(thinking)


def test_another_move_takes_its_place(engine, thinking):
    drag_move(thinking, "g1", "f3")
    drag_move(thinking, "b1", "c3")
    _expect_premove(thinking, "b1", "c3")
    _expect_played(engine, thinking, "e4", "e5", "Nc3", "Nc6")


def test_a_pawn_becomes_a_queen(engine, page):
    play_from(page, "7k/4P3/8/8/8/8/8/R3K3 w - - 0 1")
    _let_engine_think(engine, page, "a1", "a2", "Kg8", "Kh7")
    click_move(page, "e7", "e8")
    _expect_premove(page, "e7", "e8")
    _expect_played(engine, page, "Ra2", "Kg8", "e8=Q+", "Kh7")
