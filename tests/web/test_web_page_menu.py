"""Marks, verdicts, and the menu of a move on the page: by mouse, touch and keyboard."""

import re

import pytest
from on_page import analyse_tab, expect_moves, expect_shown, load_pgn, press, set_up, start_game
from playwright.sync_api import expect
from stand_in_engine import StandInEngine, material


@pytest.fixture
def counting(server):
    server.make_engine = lambda: StandInEngine(worth=material)


def hold(page, button):
    """Touch a button for 0.6 seconds of the page's clock; the browser then also makes the events of a real finger."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger = page.context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    page.clock.run_for(600)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_marked_moves_say_what_was_best(counting, open_page):
    page = open_page()
    load_pgn(page, "1. e4 Nf6 2. Qg4 h6 3. Qf3 d6 *")
    page.get_by_label("Effort for each position").select_option("0.5 s")
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#graph .blunder")).to_have_count(4)
    page.locator("#moves > .missed").first.click()
    expect(page.locator("#verdict")).to_have_text(
        re.compile(r"^h6: blunder, a missed chance\. .*Best was Nxg4: -9\.00, not \+1\.00 \(.\d\d % to win\)\.$")
    )
    page.keyboard.press("e")
    expect(page.locator("#moves.scored > .missed").first).to_have_attribute("data-score", "+1.00")
    page.keyboard.press("x")
    expect(page.get_by_role("switch", name="Threat")).to_be_checked()
    expect(page.locator("#readouts")).to_have_text(re.compile("^Threat"))
    expect(page.locator("#lines li").first).to_contain_text("12 · 123 k")
    page.mouse.move(0, 0)  # lines do not change under the pointer
    page.get_by_label("Lines", exact=True).select_option("10")
    expect(page.locator("#lines li")).to_have_count(10)


def test_in_check_no_arrow_looks_like_a_threat(page):
    set_up(page, "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1")
    page.keyboard.press("x")
    arrow, threat = page.locator("#board .arrows line").first, page.get_by_role("switch", name="Threat")
    expect(threat).to_be_checked()
    expect(arrow).to_be_attached()
    colour = arrow.evaluate("(e) => getComputedStyle(e).stroke")
    page.keyboard.press("x")
    expect(threat).not_to_be_checked()
    expect(arrow).to_have_css("stroke", colour)


def test_the_menu_of_a_move_changes_the_game(page):
    load_pgn(page, "1. e4 e5 (1... c5 2. Nf3) (1... e6) *")
    expect_moves(page, "e4", "e5", "c5", "Nf3", "e6")
    menu = page.get_by_role("menu")
    page.get_by_role("button", name="e6", exact=True).click(button="right")
    menu.get_by_role("menuitem", name="Move the variation up").click()
    expect_moves(page, "e4", "e5", "e6", "c5", "Nf3")
    page.get_by_role("button", name="Nf3", exact=True).click()
    expect_shown(page, "Nf3")
    page.keyboard.press("m")
    expect(menu).to_have_attribute("aria-label", "Nf3")
    page.keyboard.press("ArrowUp")  # the last, to delete
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    hold(page, page.get_by_role("button", name="c5", exact=True))
    menu.get_by_role("menuitem", name="Collapse the variation").click()
    expect_moves(page, "e4", "e5", "e6", "c5")
    page.get_by_role("button", name="Show the whole variation").click()
    expect_moves(page, "e4", "e5", "e6", "c5", "Nf3")
    page.keyboard.press("c")
    page.get_by_label("Comment", exact=True).fill("Why not?")
    page.get_by_label("The move", exact=True).select_option("!? interesting")
    page.keyboard.press("Tab")
    press(page.get_by_role("button", name="Write"))
    expect_moves(page, "e4", "e5", "e6", "c5", "Nf3!?")
    expect(page.locator("#moves .comment")).to_have_text("Why not?")
    page.get_by_role("button", name="Menu of the move").click()
    press(menu.get_by_role("menuitem", name="Delete from here"))
    expect_moves(page, "e4", "e5", "e6", "c5")


@pytest.mark.parametrize(("width", "height"), [(844, 390), (390, 844)], ids=["landscape", "portrait"])
def test_a_game_begins_on_a_phone_without_scrolling(engine, open_page, width, height):
    page = open_page(width, height)
    start_game(page)
    assert page.evaluate("scrollY") == 0
    board = page.locator("#board").bounding_box()
    assert board["y"] >= 0 and board["y"] + board["height"] <= height
    if width > height:
        assert page.evaluate("document.documentElement.scrollHeight") <= height
        assert board["height"] > 0.7 * height
        analyse_tab(page)
        expect(page.get_by_role("button", name="Last position")).to_be_in_viewport(ratio=1)


def test_a_scrolled_page_stays_where_it_is_when_a_game_begins(engine, open_page):
    page = open_page(390, 844)
    page.evaluate("scrollTo(0, 1000)")
    page.wait_for_function("() => scrollY > 100 && document.body.style.minHeight !== ''")
    place = page.evaluate("scrollY")
    start_game(page)
    assert page.evaluate("scrollY") == place
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("() => document.body.style.minHeight === ''")
