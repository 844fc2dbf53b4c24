"""Going through moves and lines on the page: by keys, by the wheel, by typing."""

import chess
import chess.pgn
from on_page import (
    LAYOUTS,
    analyse_tab,
    click_move,
    every_layout,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    square,
)
from playwright.sync_api import expect

PGN = "1. e4 e5 (1... c5 2. Nf3) (1... e6 2. d4) 2. Nf3 Nc6 *"


def _load(page):
    load_pgn(page, PGN)
    expect_moves(page, "e4", "e5", "c5", "Nf3", "e6", "d4", "Nf3", "Nc6")


@every_layout
def test_variations_in_variations_stay_in_sight(page):
    game = chess.pgn.Game()
    node = game
    for _ in range(30):
        for move in sorted(node.board().legal_moves, key=chess.Move.uci)[:2]:
            node.add_variation(move)
        node = node.variations[1]
    load_pgn(page, str(game))
    expect(page.locator("#moves [data-node]")).to_have_count(60)
    deepest = node.san()
    for _ in range(30):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
    expect_shown(page, deepest)
    expect(page.locator("#moves [aria-current]")).to_be_in_viewport(ratio=1)
    assert page.locator("#moves").evaluate("moves => moves.scrollWidth <= moves.clientWidth")


def test_up_and_down_go_to_the_ends_and_choose_at_a_fork(page):
    _load(page)
    page.keyboard.press("ArrowDown")
    expect_shown(page, "Nc6")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#moves [aria-current]")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e4")
    ahead = page.locator("#moves .ahead")
    expect(ahead).to_have_text("e5")
    for key, san in (("ArrowDown", "c5"), ("ArrowDown", "e6"), ("ArrowDown", "e6"), ("ArrowUp", "c5")):
        page.keyboard.press(key)
        expect(ahead).to_have_text(san)
    page.keyboard.press("ArrowRight")
    expect_shown(page, "c5")
    expect(ahead).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect_shown(page, "Nf3")
    expect_piece(page, "c5", "p")


def test_the_wheel_over_the_board_walks_and_leaves_the_page_where_it_is(open_page):
    page = open_page(600, 500)  # the page is higher than the window
    _load(page)
    page.evaluate("scrollTo(0, 0)")
    square(page, "d4").hover()
    for delta, san in ((100, "e4"), (30, None), (30, "e5"), (100, "Nf3"), (-100, "e5")):
        page.mouse.wheel(0, delta)
        if san is not None:
            expect_shown(page, san)
    assert page.evaluate("scrollY") == 0
    page.locator("#moves").hover()
    place = page.evaluate("scrollY")
    page.mouse.wheel(0, 50)
    page.wait_for_function("place => scrollY > place", arg=place)
    expect_shown(page, "e5")


def test_the_keyboard_is_free_after_a_typed_move(page):
    analyse_tab(page)
    field = page.get_by_label("Type a move")
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.type("e4")
    page.keyboard.press("Enter")
    expect_moves(page, "e4")
    expect(field).not_to_be_focused()
    expect(field).to_have_value("")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#moves [aria-current]")).to_have_count(0)


def test_a_text_that_is_no_move_stays_to_be_mended(page):
    analyse_tab(page)
    field = page.get_by_label("Type a move")
    field.fill("bxc3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("The move bxc3 is not legal here")  # not Bxc3, which is another move
    expect(field).to_be_focused()
    expect(field).to_have_value("bxc3")
    page.keyboard.type("d")  # in its place
    expect(page.get_by_role("alert")).to_be_hidden()
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    expect_moves(page, "d4")


def test_escape_leaves_the_field_for_moves(page):
    analyse_tab(page)
    field = page.get_by_label("Type a move")
    page.keyboard.press("Enter")
    page.keyboard.type("Ke4")
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    page.keyboard.press("f")
    expect(page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    expect(field).to_have_value("Ke4")


def test_a_line_is_unfolded(server, open_page):
    from stand_in_engine import StandInEngine

    class LongLines(StandInEngine):
        line_length = 24

    server.make_engine = LongLines
    page = open_page(*LAYOUTS["phone"])
    analyse_tab(page)
    page.get_by_role("switch", name="Engine").click()
    lines = page.locator("#lines li")
    expect(lines).to_have_count(3)
    last = lines.nth(1).locator("[data-move]").last
    high = lines.nth(1).bounding_box()["height"]
    lines.nth(1).get_by_role("button", name="The whole line").click()
    expect(lines.nth(1).get_by_role("button", name="The whole line")).to_have_attribute("aria-expanded", "true")
    row, move = lines.nth(1).bounding_box(), last.bounding_box()
    assert row["height"] > 1.5 * high
    assert move["x"] + move["width"] <= row["x"] + row["width"]
    assert move["y"] + move["height"] <= row["y"] + row["height"]
    assert lines.first.bounding_box()["height"] == high
    lines.nth(1).get_by_role("button", name="The whole line").click()
    assert lines.nth(1).bounding_box()["height"] == high
    expect_moves(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4")
