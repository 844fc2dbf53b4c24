"""What a reload, a lost connection and the end of a game leave, in a browser."""

import re

import pytest
from on_page import (
    analyse_tab,
    choose_game,
    click_move,
    drag_move,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    lose_session,
    paste,
    resign,
    square,
    start_engine,
    start_game,
)
from playwright.sync_api import expect


def _expect_game_goes_on(engine, page):
    expect_moves(page, "e4", "e5")
    expect(page.locator("#player-top .name")).to_have_text("Knightadder (1600)")
    expect(page.locator(".player .clock").last).to_have_class(re.compile("running"))
    expect(page.locator("#game .status")).to_contain_text("Your move")
    click_move(page, "g1", "f3")
    expect_moves(page, "e4", "e5", "Nf3", "Nc6")
    assert engine.options == {"UCI_LimitStrength": True, "UCI_Elo": 1600}


def _start_game_with_clock(engine, page):
    engine.script = ["e5", "Nc6"]
    page.get_by_label("Clock").select_option("5 minutes + 3 s")
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")


def test_a_running_game_survives_a_reload(engine, page):
    _start_game_with_clock(engine, page)
    page.reload()
    _expect_game_goes_on(engine, page)


def test_a_running_game_survives_a_lost_connection(engine, page, link):
    _start_game_with_clock(engine, page)
    link.lose()
    expect(page.locator("#engine-state")).to_contain_text("No connection")
    page.clock.run_for(500)
    expect(page.locator("#engine-state")).to_be_empty()
    _expect_game_goes_on(engine, page)


def test_a_game_with_black_and_its_end_survive_a_reload(engine, page):
    engine.script = ["d4", "e4"]
    start_game(page, "Black")
    expect_moves(page, "d4")
    page.reload()
    expect(page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    expect_moves(page, "d4")
    click_move(page, "d7", "d5")
    expect_moves(page, "d4", "d5", "e4")
    resign(page)
    page.get_by_role("button", name="What decided the game").click()
    expect(page.locator("#moments .told")).to_contain_text(re.compile("decided the game|None of your moves"))
    page.reload()
    expect(page.locator("#game .status")).to_be_visible()
    expect(page.locator("#game .status")).to_contain_text("You lost")
    expect(page.locator("#moments .told")).to_be_visible()
    expect(page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")


def test_a_flipped_board_survives_a_reload(engine, page):
    first = page.locator("#board [data-square]").first
    analyse_tab(page)
    page.keyboard.press("f")
    page.reload()
    expect(first).to_have_attribute("data-square", "h1")
    page.get_by_role("tab", name="Play").click()
    start_game(page)
    expect(first).to_have_attribute("data-square", "a8")
    page.keyboard.press("f")
    page.reload()
    expect(page.locator("#game .running")).to_be_visible()
    expect(first).to_have_attribute("data-square", "h1")


def test_collapsed_variations_survive_a_reload_and_belong_to_their_game(page, link):
    load_pgn(page, "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) (1... e6 2. d4) *")
    expect_moves(page, "e4", "e5", "c5", "Nf3", "c3", "d5", "e6", "d4")
    page.locator("#moves").get_by_role("button", name="e6").click(button="right")
    page.get_by_role("menuitem", name="Collapse the variation").click()
    collapsed = ("e4", "e5", "c5", "Nf3", "c3", "d5", "e6")
    expect_moves(page, *collapsed)
    page.reload()
    expect_moves(page, *collapsed)
    load_pgn(page, "1. d4 d5 (1... Nf6 2. c4 (2. Nf3 g6)) (1... f5 2. g3) *")
    expect_moves(page, "d4", "d5", "Nf6", "c4", "Nf3", "g6", "f5", "g3")
    page.get_by_role("button", name="Undo").click()
    expect_moves(page, *collapsed)
    lose_session(page, link)
    expect_moves(page, *collapsed)


def _edit_second_game(page):
    """Begin a variation in the second game of a file, and put the first on the board again."""
    choose_game(page, "2. C - ?")
    expect_moves(page, "d4", "d5")
    click_move(page, "g1", "f3")
    expect_moves(page, "d4", "Nf3", "d5")
    choose_game(page, "1. A - ?")
    expect_moves(page, "e4")


def test_after_a_reload_and_a_restart_the_whole_file_comes_back(page, link):
    load_pgn(page, '[White "A"]\n\n1. e4 *\n\n[White "C"]\n\n1. d4 d5 *\n\n[White "E"]\n\n1. c4 *\n')
    expect_moves(page, "e4")
    _edit_second_game(page)
    page.reload()
    expect_moves(page, "e4")
    lose_session(page, link)
    choose_game(page, "3. E - ?")
    expect_moves(page, "c4")
    choose_game(page, "2. C - ?")
    expect_moves(page, "d4", "Nf3", "d5")


_FILE = '[White "A"]\n\n1. e4 *\n\n[White "C"]\n\n1. d4 d5 *\n'
_NEXT_FILE = '[White "E"]\n\n1. c4 *\n\n[White "G"]\n\n1. g3 *\n'


def _edit_both_games(page):
    """Load a file, and begin variations in both its games; the first is on the board."""
    load_pgn(page, _FILE)
    expect_moves(page, "e4")
    _edit_second_game(page)
    click_move(page, "b1", "c3")
    expect_moves(page, "e4", "Nc3")


@pytest.mark.parametrize("reloaded", [False, True], ids=["", "reloaded"])
def test_a_file_to_which_undoing_leads_back_is_kept_with_its_edits(page, link, reloaded):
    _edit_both_games(page)
    load_pgn(page, _NEXT_FILE)
    expect_moves(page, "c4")
    if reloaded:
        page.reload()
        expect_moves(page, "c4")
    page.get_by_role("button", name="Undo").click()
    expect_moves(page, "e4", "Nc3")
    lose_session(page, link)
    expect_moves(page, "e4", "Nc3")
    choose_game(page, "2. C - ?")
    expect_moves(page, "d4", "Nf3", "d5")


def test_a_file_that_is_sent_after_a_reload_is_not_taken_for_an_earlier_one(page, link):
    load_pgn(page, _FILE)
    expect_moves(page, "e4")
    page.get_by_role("button", name="New board").click()
    expect_moves(page)
    page.reload()
    analyse_tab(page)
    link.late = True
    page.get_by_role("button", name="Undo").click()
    paste(page, _NEXT_FILE)
    link.deliver()
    expect_moves(page, "c4")
    lose_session(page, link)
    choose_game(page, "2. G - ?")
    expect_moves(page, "g3")


def test_without_room_in_the_browser_the_game_on_the_board_comes_back_alone(page, link):
    load_pgn(page, _FILE.replace("d5 *", f"d5 {{{'x' * 2000}}} *"))
    expect_moves(page, "e4")
    page.evaluate("""() => {
        for (let size = 2 ** 22; size >= 1; size /= 2)
            try {
                while (true) sessionStorage.setItem(`junk ${sessionStorage.length}`, "x".repeat(size));
            } catch {}
    }""")
    load_pgn(page, _NEXT_FILE.replace("1. g3 *", f"1. g3 {{{'x' * 4000}}} *"))
    expect_moves(page, "c4")
    expect(page.locator("#toast")).to_contain_text("This browser cannot store such a large game")
    lose_session(page, link)
    expect_moves(page, "c4")
    expect(page.locator("#games-field")).to_be_hidden()


def test_the_analysis_goes_on_after_a_reload(page):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    start_engine(page)
    page.reload()
    expect(page.get_by_role("switch", name="Engine")).to_be_checked()
    expect(page.locator("#lines li")).to_have_count(3)
    expect_moves(page, "e4")


def test_a_tab_that_is_duplicated_gets_a_session_of_its_own(engine, page):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_shown(page, "e4")
    assert page.evaluate("sessionStorage.getItem('tab')") is None  # what the browser would copy
    with page.context.expect_page() as opened:
        # A window opened by a page gets a copy of its storage, as a duplicate does.
        page.evaluate("open('/index.html')")
    duplicate = opened.value
    expect_shown(duplicate, "e4")
    expect(duplicate.get_by_role("alert")).to_be_hidden()
    click_move(duplicate, "e7", "e5")
    expect_moves(duplicate, "e4", "e5")
    expect_moves(page, "e4")


def test_a_tab_that_the_server_has_forgotten_is_told_so(engine, page, link):
    """As after a long sleep of the machine: the server is the same, but the tab's session has expired."""
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4")
    link.lose(forgotten=True)
    expect(page.locator("#lost")).to_be_visible()
    page.clock.run_for(500)
    expect(page.locator("#toast")).to_have_text("The server no longer knew this tab; your moves are back")
    expect_moves(page, "e4")


def test_no_piece_moves_before_a_game_has_begun(page):
    drag_move(page, "e2", "e4")
    expect(page.get_by_role("alert")).to_contain_text("No game has begun")
    expect_piece(page, "e2", "P")
    expect_moves(page)


def test_no_piece_moves_after_the_end_of_a_game(engine, page):
    engine.script = ["e5"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    resign(page)
    expect(page.locator("#game .status")).to_contain_text("You lost")
    toast = page.get_by_role("alert")
    drag_move(page, "d2", "d4")
    expect(toast).to_contain_text("The game is over")
    expect_piece(page, "d2", "P")
    square(page, "g1").click()  # takes the message away
    expect(toast).to_be_hidden()
    page.get_by_label("Type a move").fill("Nf3")
    page.keyboard.press("Enter")
    expect(toast).to_contain_text("The game is over")
    expect_moves(page, "e4", "e5")
    page.get_by_role("button", name="Analyse the game").click()
    drag_move(page, "d2", "d4")
    expect_moves(page, "e4", "e5", "d4")


def _write_half_a_comment(page):
    load_pgn(page, "1. e4 e5 (1... c5 2. Nf3) *")
    expect_moves(page, "e4", "e5", "c5", "Nf3")
    page.locator("#moves").get_by_role("button", name="Nf3").click()
    expect_shown(page, "Nf3")
    page.keyboard.press("c")
    page.get_by_label("Comment", exact=True).fill("Half of")
    page.get_by_label("The move", exact=True).select_option("! good")


def test_a_half_written_comment_survives_a_reload(page):
    comment, dialog = page.get_by_label("Comment", exact=True), page.locator("#remark-dialog")
    _write_half_a_comment(page)
    page.reload()
    expect(dialog).to_contain_text("Comment on Nf3")
    expect(comment).to_have_value("Half of")
    expect(page.get_by_label("The move", exact=True)).to_have_value("1")
    comment.press("End")
    comment.press_sequentially(" it")
    comment.press("Control+Enter")
    expect(page.locator("#moves .comment")).to_have_text("Half of it")
    expect_moves(page, "e4", "e5", "c5", "Nf3!")
    page.reload()
    expect(page.locator("#moves .comment")).to_have_text("Half of it")
    expect_shown(page, "Nf3!")
    expect(dialog).to_be_hidden()
    page.keyboard.press("c")
    comment.fill("Another")
    comment.press("Escape")
    expect(dialog).to_be_hidden()  # the browser closes it a moment later
    page.reload()
    expect_shown(page, "Nf3!")
    expect(dialog).to_be_hidden()


def test_a_half_typed_game_survives_a_reload(page):
    text, button = page.get_by_label("PGN", exact=True), page.get_by_role("button", name="Load PGN")
    analyse_tab(page)
    button.click()
    text.fill("1. e4 { Half of it")
    page.reload()
    button.click()
    expect(text).to_have_value("1. e4 { Half of it")
    text.fill("1. e4 *")
    page.get_by_role("button", name="Load", exact=True).click()
    expect_moves(page, "e4")
    page.reload()
    button.click()
    expect(text).to_have_value("")


def test_a_comment_is_not_lost_with_the_connection(engine, page, link):
    _write_half_a_comment(page)
    link.lose(forgotten=True)  # the moves of the new session have other numbers
    expect(page.locator("#lost")).to_be_visible()
    dialog = page.locator("#remark-dialog")
    dialog.get_by_role("button", name="Write").click()
    expect(dialog.get_by_role("alert")).to_have_text("There is no connection to the server")
    page.clock.run_for(500)
    expect(dialog.get_by_role("alert")).to_be_empty()
    dialog.get_by_role("button", name="Write").click()
    expect(page.locator("#moves .comment")).to_have_text("Half of")
    expect_moves(page, "e4", "e5", "c5", "Nf3!")
