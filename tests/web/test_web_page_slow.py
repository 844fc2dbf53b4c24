"""What the user does on the page before a slow server has answered, in a browser."""

from on_page import analyse_tab, click_move, expect_moves, expect_piece, expect_shown, load_pgn, square, start_game
from playwright.sync_api import expect


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
    expect(page.locator("#toast")).to_have_text("E5 is not a legal move here")
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
