"""What the user does on the page before a slow server has answered, in a browser."""

import re

import pytest
from on_page import (
    analyse_tab,
    choose_game,
    click_move,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    lose_a_pawn,
    lose_session,
    paste,
    press,
    resign,
    square,
    start_game,
)
from playwright.sync_api import expect

MINE = re.compile(r"\bmine\b")
FILE = '[White "A"]\n\n1. e4 *\n\n[White "C"]\n\n1. d4 d5 *\n'


def _type(page, move):
    page.keyboard.type(move)
    page.keyboard.press("Enter")


def test_the_last_position_asked_for_is_shown(page, link):
    analyse_tab(page)
    page.get_by_role("button", name="Load PGN").click()
    page.get_by_label("PGN", exact=True).fill("1. e4 e5 2. Nf3 Nc6 *")
    link.slow = True
    button = page.get_by_role("button", name="Load", exact=True)
    button.click()
    expect(button).to_be_disabled()  # one press is enough
    link.deliver()
    expect(page.locator("#pgn-dialog")).to_be_hidden()
    expect_moves(page, "e4", "e5", "Nf3", "Nc6")
    link.slow = True
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    link.deliver()
    expect_shown(page, "Nf3")


def test_a_move_after_the_end_of_the_game_is_refused(page, link):
    start_game(page)
    link.slow = True
    resign(page)
    click_move(page, "e2", "e4")
    link.deliver()
    expect(page.get_by_role("alert")).to_have_text("Your move came after the end of the game")
    expect(page.locator("#game .status")).to_contain_text("You lost")
    expect_piece(page, "e2", "P")
    expect_moves(page)


def test_a_second_move_does_not_become_a_variation(page, link):
    analyse_tab(page)
    link.slow = True
    click_move(page, "e2", "e4")
    square(page, "d2").click()
    square(page, "d4").click()
    link.deliver()
    expect_moves(page, "e4")
    click_move(page, "e7", "e5")  # also waits for the answers to all that was sent
    expect_moves(page, "e4", "e5")


def test_moves_typed_in_advance_follow_each_other(page, link):
    load_pgn(page, "1. d4 d5 *")
    expect_moves(page, "d4", "d5")
    link.slow = True
    page.keyboard.press("ArrowRight")  # they follow the move that the user has gone to
    page.get_by_label("Type a move").focus()
    for move in ("Nf6", "c4", "e6"):
        _type(page, move)
    link.deliver()
    expect_moves(page, "d4", "d5", "Nf6", "c4", "e6")
    expect(page.get_by_label("Type a move")).to_have_value("")
    page.get_by_label("Type a move").focus()
    link.slow = True
    for move in ("e5", "Nc3"):
        _type(page, move)
    link.deliver()
    expect(page.locator("#toast")).to_have_text("The move e5 is not legal here")
    click_move(page, "b1", "c3")  # the board is free again, and the move after the illegal one was not played
    expect_moves(page, "d4", "d5", "Nf6", "c4", "e6", "Nc3")


def test_in_a_game_a_second_move_waits_for_the_answer(page, link, engine):
    engine.script, engine.held = ["e5"], True
    start_game(page)
    link.slow = True
    click_move(page, "e2", "e4")
    square(page, "d2").click()
    square(page, "d4").click()
    link.deliver()
    expect(page.locator("#game .status")).to_contain_text("Knightadder is thinking")
    expect(page.locator("#toast")).to_be_hidden()
    expect_piece(page, "d2", "P")
    expect_moves(page, "e4")


def test_no_piece_moves_after_a_position_from_before_the_move(page, link):
    analyse_tab(page)
    link.slow = True
    page.get_by_role("switch", name="Engine").click()
    click_move(page, "e2", "e4")
    link.deliver_first(page)  # the answer shows the start again, since the server does not have the move
    expect(page.locator("#lines li")).to_have_count(3)
    expect(square(page, "d2")).not_to_have_class(MINE)
    link.deliver()
    click_move(page, "e7", "e5")
    expect_moves(page, "e4", "e5")


def test_typed_moves_wait_for_the_move_before_them_whatever_the_server_says(page, link):
    analyse_tab(page)
    link.slow = True
    page.get_by_role("switch", name="Engine").click()
    page.get_by_label("Type a move").focus()
    for move in ("d4", "d5"):
        _type(page, move)
    link.deliver_first(page)
    expect(page.locator("#lines li")).to_have_count(3)
    link.deliver()
    expect_moves(page, "d4", "d5")
    expect(page.locator("#toast")).to_be_hidden()


def test_no_piece_moves_until_the_game_has_begun(page, link, engine):
    engine.script = ["e5"]
    link.slow = True
    page.get_by_role("button", name="Start the game").click()
    expect(square(page, "e2")).not_to_have_class(MINE)
    link.deliver()
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")


def test_choices_for_a_new_game_are_there_before_the_server_s_word(page, link):
    page.get_by_label("Strength").fill("3050")
    page.locator(".segments").get_by_text("Black", exact=True).click()
    link.late = True
    page.reload()
    expect(page.get_by_role("radio", name="Black")).to_be_checked()
    page.get_by_label("Clock").select_option("5 minutes")
    link.deliver()
    expect(page.locator("#setup output")).to_have_text("Full")
    expect(page.get_by_label("Clock")).to_have_value("300+0")


def test_the_engine_is_turned_on_before_the_page_has_a_position(page, link):
    analyse_tab(page)
    link.late = True
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-engine", "loading")
    page.get_by_role("switch", name="Engine").click()
    expect(page.get_by_role("button", name="Edit board")).to_be_disabled()  # there is no position to edit
    link.deliver()
    expect(page.get_by_role("switch", name="Engine")).to_be_checked()
    expect(page.get_by_role("button", name="Edit board")).to_be_enabled()


def test_the_engine_does_not_run_on_the_tab_play(page, link):
    analyse_tab(page)
    link.slow = True
    page.get_by_role("switch", name="Engine").click()
    page.get_by_role("tab", name="Play").click()
    link.deliver()
    click_move(page, "e2", "e4")  # says that no game has begun
    analyse_tab(page)
    expect(page.get_by_role("switch", name="Engine")).not_to_be_checked()
    expect(page.locator("[data-arrow]")).to_have_count(0)


def test_buttons_and_keys_are_for_the_move_that_the_user_has_gone_to(page, link):
    load_pgn(page, "1. e4 e5 2. Nf3 *")
    expect_moves(page, "e4", "e5", "Nf3")
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e4")
    link.slow = True
    page.keyboard.press("ArrowRight")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Comment on e5")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()  # the browser closes it a moment later
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Delete").click()
    link.deliver()
    expect_moves(page, "e4", "e5")


def test_a_key_right_after_a_dialog_reaches_the_page(page):
    load_pgn(page, "1. e4 e5 *")
    expect_moves(page, "e4", "e5")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Comment on the start")).to_be_visible()
    page.evaluate(  # at once: the field loses the focus only in the browser's next frame
        """() => {
            document.querySelector("dialog[open]").close();
            const options = { key: "ArrowRight", bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
        }"""
    )
    expect_shown(page, "e4")


def test_a_dialog_that_is_opened_meanwhile_stays_open(page, link):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_shown(page, "e4")
    link.slow = True
    page.get_by_role("button", name="New board").click()
    page.get_by_role("button", name="My games").click()
    link.deliver()
    expect_moves(page)
    expect(page.locator("#undo")).to_have_attribute("title", re.compile("new board"))
    expect(page.get_by_role("dialog", name="My games")).to_be_visible()


def test_a_file_that_is_loaded_right_after_a_new_board_comes_back_with_all_its_games(page, link):
    analyse_tab(page)
    link.slow = True
    page.get_by_role("button", name="New board").click()
    paste(page, FILE)
    link.deliver()
    expect_moves(page, "e4")
    expect(page.locator("#games")).to_have_text("1. A - ?")
    lose_session(page, link)
    choose_game(page, "2. C - ?")
    expect_moves(page, "d4", "d5")


@pytest.mark.parametrize(
    ("steps_back", "first", "second", "moves"),
    [(0, "1. E - ?", "2. F - ?", ["Nf3"]), (1, "1. A - ?", "2. C - ?", ["d4", "d5"])],
)
def test_of_two_files_loaded_at_once_each_comes_back_with_its_own_games(page, link, steps_back, first, second, moves):
    analyse_tab(page)
    link.slow = True
    paste(page, FILE)
    paste(page, '[White "E"]\n\n1. c4 *\n\n[White "F"]\n\n1. Nf3 *\n')
    link.deliver()
    expect(page.locator("#games")).to_have_text("1. E - ?")
    for _ in range(steps_back):
        page.locator("#undo").click()
    expect(page.locator("#games")).to_have_text(first)
    lose_session(page, link)
    choose_game(page, second)
    expect_moves(page, *moves)


def test_moves_wait_until_the_page_has_those_of_a_new_server(page, link):
    load_pgn(page, "1. e4 e5 *")
    expect_moves(page, "e4", "e5")
    link.lose(forgotten=True)
    expect(page.locator("#lost")).to_be_visible()
    link.late = True
    page.clock.run_for(500)
    expect(page.locator("#lost")).to_be_hidden()
    expect(square(page, "e2")).not_to_have_class(MINE)
    page.get_by_label("Type a move").focus()
    _type(page, "d4")
    expect(page.locator("#toast")).to_have_text("The page still waits for the server: try again in a moment")
    link.deliver()
    expect(page.locator("#toast")).to_contain_text("your moves are back")
    expect(square(page, "e2")).to_have_class(MINE)
    page.keyboard.press("Enter")  # what was typed is still there
    expect_shown(page, "d4")


def test_a_moment_is_open_until_the_user_leaves_it(page, link, engine):
    moment, told = lose_a_pawn(engine, page), page.locator("#moments .told")
    link.slow = True
    moment.click()
    press(page.get_by_role("button", name="Show the move"))
    link.deliver()
    expect_piece(page, "f3", None)
    expect(page.locator("#board [data-shape]")).to_have_count(1)
    link.slow = True
    page.get_by_role("button", name="Last position").click()
    moment.click()
    link.deliver_first(page)
    expect_piece(page, "f3", "N")
    expect(told).to_contain_text("Find a better move")
    link.deliver()
    expect_piece(page, "f3", None)
    engine.held = True
    click_move(page, "d2", "d3")
    expect(told).to_contain_text("Looking at this move")
    link.lose()
    expect(told).to_contain_text("Find a better move")
