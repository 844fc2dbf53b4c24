"""The board editor on the page, and what becomes of a half-built position, in a browser."""

import re

import pytest
from on_page import (
    analyse_tab,
    drag_move,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    paste,
    square,
)
from playwright.sync_api import expect


def _open_editor(page):
    analyse_tab(page)
    page.get_by_role("button", name="Edit board").click()
    return page.get_by_label("Board editor")


def _build_half(page):
    """Put two kings on an empty board."""
    editor = _open_editor(page)
    editor.get_by_role("button", name="Clear").click()
    for label, name in (("white king", "g1"), ("black king", "g8")):
        editor.locator(f"[title='{label}']").click()
        square(page, name).click()
    page.get_by_label("To move").select_option("Black")
    return editor


def _expect_half(page):
    expect(page.get_by_label("Board editor")).to_be_visible()
    expect(page.locator("#board .piece")).to_have_count(2)
    expect_piece(page, "g1", "K")
    expect_piece(page, "g8", "k")
    expect(page.get_by_label("To move")).to_have_value("b")


def test_after_the_editor_the_engine_is_seen_to_be_off(page):
    analyse_tab(page)
    engine = page.get_by_role("switch", name="Engine")
    engine.click()
    expect(engine).to_have_attribute("aria-checked", "true")
    page.get_by_role("button", name="Edit board").click()
    page.get_by_label("Board editor").get_by_role("button", name="Cancel").click()
    expect(engine).to_have_attribute("aria-checked", "false")
    engine.click()
    expect(engine).to_have_attribute("aria-checked", "true")


def test_the_board_is_edited(page):
    analyse_tab(page)
    page.get_by_role("button", name="Edit board").click()
    editor = page.get_by_label("Board editor")
    use = editor.get_by_role("button", name="Use this position")
    editor.get_by_role("button", name="Clear").click()
    expect(use).to_be_disabled()
    expect(page.locator("#editor-problem")).to_contain_text("White has 0 kings")
    for label, places in (("white king", ["g1"]), ("black king", ["g8"]), ("white rook", ["a1", "b2"])):
        editor.locator(f"[title='{label}']").click()
        for place in places:
            square(page, place).click()
    editor.locator("[title='Remove pieces']").click()
    square(page, "b2").click()
    expect_piece(page, "b2", None)
    editor.locator("[title='Move pieces']").click()
    drag_move(page, "a1", "a8")
    expect(page.locator("#editor-problem")).to_contain_text("the side that is not to move is in check")
    page.get_by_label("To move").select_option("Black")
    expect(use).to_be_enabled()
    use.click()
    expect(page.get_by_label("FEN")).to_have_value("R5k1/8/8/8/8/8/8/6K1 b - - 0 1")
    expect(square(page, "g8")).to_have_class(re.compile(r"\bcheck\b"))


def test_a_half_built_position_survives_a_reload(page):
    editor = _build_half(page)
    page.reload()
    _expect_half(page)
    editor.locator("[title='white rook']").click()
    square(page, "a8").click()
    editor.get_by_role("button", name="Use this position").click()
    expect(page.get_by_label("FEN")).to_have_value("R5k1/8/8/8/8/8/8/6K1 b - - 0 1")
    page.reload()
    expect(page.get_by_label("FEN")).to_have_value("R5k1/8/8/8/8/8/8/6K1 b - - 0 1")
    expect(editor).to_be_hidden()
    _build_half(page)
    editor.get_by_role("button", name="Cancel").click()
    page.reload()
    expect_piece(page, "a8", "R")
    expect(editor).to_be_hidden()


def test_it_survives_a_look_at_the_other_tab(page):
    _build_half(page)
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#board .piece")).to_have_count(32)
    page.get_by_role("tab", name="Analyse").click()
    _expect_half(page)


@pytest.mark.parametrize("forgotten", [False, True])
def test_it_survives_a_lost_connection(page, link, forgotten):
    editor = _build_half(page)
    link.lose(forgotten)
    expect(page.locator("#lost")).to_be_visible()
    page.get_by_label("To move").select_option("White")
    expect(editor.get_by_role("button", name="Use this position")).to_be_disabled()
    page.clock.run_for(500)
    editor.get_by_role("button", name="Use this position").click()
    expect(page.get_by_label("FEN")).to_have_value("6k1/8/8/8/8/8/8/6K1 w - - 0 1")


def test_no_key_changes_the_game_behind_it_or_closes_it(page):
    load_pgn(page, "1. e4 e5 2. Nf3 *")
    expect_moves(page, "e4", "e5", "Nf3")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    drag_move(page, "f1", "c4")
    expect_moves(page, "e4", "e5", "Nf3", "Bc4")
    expect_shown(page, "Bc4")
    editor = _build_half(page)
    square(page, "e4").hover()
    page.mouse.wheel(0, -100)
    for key in ("ArrowLeft", "Home", "Control+z", " ", "x", "c", "m"):
        page.keyboard.press(key)
    _expect_half(page)
    expect(page.locator("#move-menu")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Previous move")).to_be_disabled()
    expect(page.get_by_label("Type a move")).to_be_disabled()
    editor.get_by_role("button", name="Cancel").click()
    expect_moves(page, "e4", "e5", "Nf3", "Bc4")
    expect_shown(page, "Bc4")
    expect(page.get_by_role("switch", name="Engine")).not_to_be_checked()


def test_a_loaded_game_takes_its_place(page):
    editor = _build_half(page)
    paste(page, "1. d4 d5 *")
    expect_moves(page, "d4", "d5")
    expect(editor).to_be_hidden()
    expect(page.locator("#board .piece")).to_have_count(32)
    page.reload()
    expect_moves(page, "d4", "d5")
    expect(editor).to_be_hidden()
