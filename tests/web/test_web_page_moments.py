"""After a game, on the page: the moments that decided it are tried again."""

from on_page import click_move, every_layout, expect_moves, expect_piece, lose_a_pawn, press, resign, start_game
from playwright.sync_api import expect


def test_no_move_can_be_shown_before_the_moments_are_found(engine, page):
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "a5")
    resign(page)
    engine.held = True
    page.get_by_role("button", name="What decided the game").click()
    expect(told(page)).to_contain_text("Looking for the moves that decided the game")
    expect(page.get_by_role("button", name="Show the move")).to_be_hidden()


def told(page):
    return page.locator("#moments .told")


@every_layout
def test_the_better_move_is_found_after_a_wrong_one(engine, page):
    lose_a_pawn(engine, page).click()
    expect(told(page)).to_contain_text("Find a better move than 2. Nf3")
    expect_piece(page, "f3", None)
    click_move(page, "d2", "d3")
    expect(told(page)).to_contain_text("Try another moved3 costs too much as well")
    expect_piece(page, "d2", "P")
    click_move(page, "e4", "d5")
    expect(told(page)).to_contain_text("Rightexd5 is good. The engine's line: 2. exd5")
    expect_piece(page, "d5", "P")
    expect_moves(page, "e4", "d5", "Nf3", "dxe4")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_role("button", name="Last position").click()
    expect(told(page)).to_contain_text("One move decided the game")


def test_the_best_move_is_shown_and_typed_by_the_keyboard(engine, page):
    moment = lose_a_pawn(engine, page)
    moment.focus()
    page.keyboard.press("Enter")
    press(page.get_by_role("button", name="Show the move"))
    expect(told(page)).to_contain_text("The best move2. exd5")
    expect(page.locator("#board .shapes .shape")).to_have_count(1)
    moment.press("Enter")
    page.get_by_label("Type a move").fill("exd5")
    page.keyboard.press("Enter")
    expect(told(page)).to_contain_text("Rightexd5 is good")
    expect(page.get_by_label("Type a move")).to_have_value("")
