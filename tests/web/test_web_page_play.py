"""Playing on the page, in a browser, against a stand-in for the engine and once against the real one."""

import re

import pytest
from on_page import (
    analyse_tab,
    click_move,
    drag_move,
    expect_moves,
    expect_piece,
    expect_shown,
    play_from,
    resign,
    set_up,
    square,
    start_game,
    take_up,
)
from playwright.sync_api import expect

from knightadder.engine.strength import MIN_ELO


def test_a_game_to_mate_by_clicks_and_drags(engine, page):
    engine.script = ["e5", "Nc6", "Nf6"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_piece(page, "e5", "p")
    drag_move(page, "f1", "c4")
    expect_piece(page, "c6", "n")
    drag_move(page, "d1", "h5")
    expect_piece(page, "f6", "n")
    click_move(page, "h5", "f7")
    expect(page.locator("#game .status")).to_contain_text("You won")
    expect(page.locator("#game .status")).to_contain_text("Checkmate, 1-0")
    expect(square(page, "e8")).to_have_class(re.compile(r"\bcheck\b"))
    expect_moves(page, "e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#")
    page.get_by_role("button", name="Analyse the game").click()
    expect(page.get_by_role("switch", name="Engine")).to_be_visible()
    page.get_by_role("tab", name="Play").click()
    page.get_by_role("button", name="New game").click()
    expect(page.get_by_role("button", name="Start the game")).to_be_visible()


def test_a_new_game_does_not_begin_where_a_game_has_ended(engine, page):
    start, play_here = page.get_by_label("Start from"), page.get_by_role("button", name="Play from here")
    play_from(page, "7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    click_move(page, "a1", "a8")
    expect(page.locator("#game .status")).to_contain_text("You won")
    page.get_by_role("button", name="New game").click()
    expect(start).to_have_value("standard")
    expect(start.get_by_role("option", name="The board as it is")).to_be_disabled()
    analyse_tab(page)
    expect(play_here).to_be_disabled()
    page.keyboard.press("Home")
    expect(play_here).to_be_enabled()
    play_here.click()
    expect(start).to_have_value("here")


def test_a_new_game_after_resigning_does_not_begin_where_the_last_one_ended(engine, page):
    page.get_by_label("Start from").select_option("Chess960")
    play_from(page, "7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    resign(page)
    page.get_by_role("button", name="New game").click()
    expect(page.get_by_label("Start from")).to_have_value("chess960")


@pytest.mark.parametrize("page", [(1280, 800), (780, 600), (390, 844), (844, 390)], indirect=True)
def test_the_buttons_of_a_game_stay_in_place(engine, page):
    start_game(page)
    buttons = page.locator("#game .running button")
    before = [button.bounding_box() for button in buttons.all()]
    for words in ("Show move", "Move shown"):
        buttons.first.click()
        expect(buttons.first).to_have_text(words)
        page.get_by_role("button", name="Resign").click()
        expect(buttons.last).to_have_text("Really resign?")
        assert [button.bounding_box() for button in buttons.all()] == before
        assert all(button.evaluate("button => button.scrollWidth <= button.clientWidth") for button in buttons.all())


def test_marks_of_moves(engine, page):
    engine.script = ["e5"]
    start_game(page)
    take_up(page, "g1")
    targets = page.locator("#board .target")
    expect(targets).to_have_count(2)
    assert {target.get_attribute("data-square") for target in targets.all()} == {"f3", "h3"}
    square(page, "g1").click()
    expect(targets).to_have_count(0)
    drag_move(page, "g1", "e4")  # no legal move: the piece goes back
    expect_piece(page, "g1", "N")
    click_move(page, "e2", "e4")
    expect_piece(page, "e5", "p")
    marked = page.locator("#board .last")
    expect(marked).to_have_count(2)
    assert {mark.get_attribute("data-square") for mark in marked.all()} == {"e5", "e7"}
    square(page, "e5").click()  # a piece of the engine is not taken up
    expect(page.locator("#board .selected")).to_have_count(0)


def test_whose_move_it_is_is_told_once(engine, page):
    engine.script = ["e5"]
    start_game(page)
    expect(page.locator("#game .status")).to_contain_text("Your move")
    page.evaluate(
        """window.told = [];
        const status = document.querySelector("#game .status");
        new MutationObserver(() => told.push(status.firstChild.textContent)).observe(status, { childList: true });"""
    )
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    expect(page.locator("#game .status")).to_contain_text("Your move")
    assert page.evaluate("told") == ["Knightadder is thinking…", "Your move"]


def test_taking_back_and_resigning(engine, page):
    engine.script = ["e5"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    page.get_by_role("button", name="Take back").click()
    expect_moves(page)
    expect_piece(page, "e2", "P")
    page.get_by_role("button", name="Offer draw").click()
    expect(page.get_by_role("alert")).to_have_text("Knightadder declines the draw")
    page.get_by_role("button", name="Resign").click()
    expect(page.locator("#game .running")).to_be_visible()  # it is asked again
    page.get_by_role("button", name="Really resign?").click()
    expect(page.locator("#game .status")).to_contain_text("You lost")


def test_black_sees_the_board_from_his_side_and_the_clocks_run(engine, page):
    engine.script = ["d4"]
    page.get_by_label("Clock").select_option("5 minutes")
    start_game(page, "Black")
    expect_piece(page, "d4", "P")
    first = page.locator("#board [data-square]").first
    expect(first).to_have_attribute("data-square", "h1")
    clocks = page.locator(".player .clock")
    expect(clocks).to_have_count(2)
    expect(clocks.last).to_have_class(re.compile("running"))
    expect(clocks.first).to_have_text(re.compile(r"^\d:\d\d$"))
    expect(page.locator("#player-top .name")).to_have_text("Knightadder (1600)")
    expect(page.locator("#player-bottom .name")).to_have_text("You")


def test_a_wrong_number_that_is_hidden_does_not_matter(engine, page):
    clock = page.get_by_label("Clock")
    clock.select_option("Other…")
    page.get_by_label("Minutes").fill("1000")
    clock.select_option("5 minutes")
    start_game(page)
    expect(page.locator(".player .clock")).to_have_count(2)


def test_the_strength_is_chosen(engine, page):
    strength = page.get_by_label("Strength")
    strength.press("End")
    expect(page.locator("output")).to_have_text("Full")
    strength.press("Home")
    expect(page.locator("output")).to_have_text(f"{MIN_ELO} Elo: beginner")
    strength.fill("2000")
    expect(page.locator("output")).to_have_text("2000 Elo: expert")
    start_game(page)
    click_move(page, "e2", "e4")
    expect(page.locator("#moves [data-node]")).to_have_count(2)
    assert engine.options == {"UCI_LimitStrength": True, "UCI_Elo": 2000}


def test_promotion_is_asked_for(page):
    set_up(page, "3n4/4P2k/8/8/8/8/8/4K3 w - - 0 1")
    click_move(page, "e7", "e8")
    choices = page.get_by_role("dialog", name="Promote to").get_by_role("button")
    expect(choices).to_have_count(4)
    page.keyboard.press("Escape")
    expect(choices).to_have_count(0)
    expect_moves(page)
    drag_move(page, "e7", "d8")
    page.get_by_role("button", name="knight").click()
    expect_moves(page, "exd8=N")
    expect_piece(page, "d8", "N")


def test_chess960_castles_by_the_rook(page):
    page.get_by_label("Start from").select_option("Chess960")
    page.get_by_label("Number").fill("0")
    start_game(page)
    expect(page.locator("#board .piece")).to_have_count(32)
    expect_piece(page, "a1", "B")  # position 0: BBQNNRKR
    expect_piece(page, "g1", "K")
    resign(page)
    set_up(page, "4k3/8/8/8/8/8/8/5K1R w H - 0 1")
    drag_move(page, "f1", "h1")
    expect_moves(page, "O-O")
    expect_piece(page, "g1", "K")
    expect_piece(page, "f1", "R")


def test_the_board_is_played_from_the_keyboard(page):
    analyse_tab(page)
    square(page, "e2").focus()
    page.keyboard.press("Enter")
    expect(square(page, "e4")).to_have_attribute("aria-label", "e4, empty, can be moved to")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect_moves(page, "e4")
    expect(page.locator("#announcer")).to_have_text("e4")


def test_earlier_positions_are_looked_at_during_a_game(engine, page):
    engine.script = ["e5"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    expect_shown(page, "e5")  # the key goes from there
    page.keyboard.press("Home")
    expect_piece(page, "e2", "P")
    expect(page.locator("#game .status")).to_contain_text("An earlier position")
    expect(page.locator("#board .mine")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator("#game .status")).to_contain_text("Your move")


def test_sounds_are_off_until_they_are_wanted(page):
    sounds = page.get_by_role("button", name="Sounds")
    expect(sounds).to_have_attribute("aria-pressed", "false")
    sounds.click()
    expect(sounds).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(sounds).to_have_attribute("aria-pressed", "true")


def test_a_game_against_the_real_engine(server, open_page):
    from knightadder.library.board_engine import Engine

    server.make_engine = lambda: Engine(hash_mb=1)
    page = open_page()
    play_from(page, "7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    click_move(page, "a1", "b1")
    expect_moves(page, "Rb1", "Kg8")  # its only move
    click_move(page, "b1", "b8")
    expect_moves(page, "Rb1", "Kg8", "Rb8#")
    expect(page.locator("#game .status")).to_contain_text("You won")
