"""Analysing on the page, in a browser, with a stand-in for the engine and once with the real one."""

import re

import chess
import chess.pgn
import pytest
from game_texts import read_game
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
    press,
    resign,
    resize,
    set_up,
    square,
    start_engine,
    start_game,
    take_up,
)
from playwright.sync_api import expect

from knightadder.library.positions import evaluate

PGN = "1. e4 e5 {open} 2. Nf3 (2. f4 exf4 (2... d5) 3. Nf3) 2... Nc6! 3. Bb5 a6 *"


def _analyse(page):
    analyse_tab(page)
    start_engine(page)


def test_lines_arrows_and_figures(page):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    _analyse(page)
    lines = page.locator("#lines li")
    expect(lines.first.locator(".score")).to_have_text("-0.10")
    expect(lines.first).to_contain_text("1…a5")
    expect(page.locator("#readouts")).to_have_text(re.compile(r"depth 12/20 · 123 k nodes · 1\.00 Mnps · hash 4 %"))
    expect(page.locator("#score")).to_have_text("-0.10")
    expect(page.locator("[data-arrow]")).to_have_count(3)
    expect(page.locator("[data-arrow=a7a5]")).to_have_count(1)
    bar = page.locator("#evaluation")
    expect(bar).to_have_attribute("aria-label", "Evaluation -0.10, from White's view")
    page.get_by_label("Lines", exact=True).select_option("5")
    expect(lines).to_have_count(5)
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("[data-arrow]")).to_have_count(0)


def test_a_line_is_previewed_and_played(page):
    _analyse(page)
    move = page.locator("#lines li").first.get_by_role("button").nth(1)
    move.hover()
    expect(page.locator("#preview")).to_be_visible()
    expect(page.locator("#preview .piece")).to_have_count(32)
    expect_moves(page)
    move.click()
    expect_moves(page, "a3", "a5")
    expect(page.locator("#preview")).to_be_hidden()


def test_the_keyboard_goes_along_a_line_and_keeps_its_place(page):
    _analyse(page)
    page.locator("#lines [data-move]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#lines li:first-child [data-move='1']")).to_be_focused()
    expect(page.locator("#preview")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#moves [data-node]")).to_have_count(2)
    expect(page.locator(".engine").first).to_be_focused()  # the line has gone
    press(page.get_by_role("button", name="Undo"))
    expect(page.locator("#moves [data-node]")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.locator("#moves-card")).to_be_focused()
    press(page.get_by_role("button", name="Redo"))
    expect(page.locator("#moves [data-node]")).to_have_count(2)
    press(page.get_by_role("button", name="Load PGN"))
    page.keyboard.insert_text("1. e4 e5 *")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_moves(page, "e4", "e5")
    expect(page.get_by_role("button", name="Load PGN")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e4")
    page.locator("#moves [aria-current]").focus()
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e5")
    expect(page.locator("#moves [aria-current]")).to_be_focused()  # Tab stops once in the list
    assert page.locator("#moves [tabindex='0']").all_text_contents() == ["e5"]


def test_a_move_begun_is_not_lost_when_the_engine_is_turned_on(page):
    set_up(page, "7k/4P3/8/8/8/8/8/4K3 w - - 0 1")
    take_up(page, "e1")
    page.get_by_role("switch", name="Engine").click()
    expect(page.get_by_role("switch", name="Engine")).to_be_checked()
    expect(square(page, "e1")).to_have_attribute("aria-selected", "true")
    click_move(page, "e7", "e8")
    promotion = page.get_by_role("dialog", name="Promote to")
    page.get_by_role("switch", name="Engine").click()
    expect(page.get_by_role("switch", name="Engine")).not_to_be_checked()
    expect(promotion).to_be_visible()
    promotion.get_by_role("button", name="rook").click()
    expect_moves(page, "e8=R+")


def test_a_game_is_loaded_and_gone_through(page):
    load_pgn(page, PGN)
    expect_moves(page, "e4", "e5", "Nf3", "f4", "exf4", "d5", "Nf3", "Nc6!", "Bb5", "a6")
    expect(page.locator("#moves .comment")).to_have_text("open")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect_shown(page, "Nc6!")
    expect(page.locator("#opening")).to_contain_text("C44")
    page.keyboard.press("ArrowLeft")
    expect_shown(page, "Nf3")
    page.get_by_role("button", name="Last position").click()
    expect_shown(page, "a6")
    page.keyboard.press("Home")
    expect_piece(page, "e2", "P")
    page.get_by_role("button", name="d5", exact=True).click()
    expect_piece(page, "f4", "P")
    expect_piece(page, "d5", "p")


def test_variations_are_made_promoted_and_deleted(page):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    click_move(page, "e7", "e5")
    expect_moves(page, "e4", "e5")
    expect_shown(page, "e5")  # the arrow goes from there
    page.keyboard.press("ArrowLeft")
    expect_shown(page, "e4")
    click_move(page, "c7", "c5")
    expect_moves(page, "e4", "e5", "c5")
    expect(page.locator("#moves .variation")).to_have_text("1…c5")
    page.get_by_role("button", name="Main line").click()
    expect_moves(page, "e4", "c5", "e5")
    page.get_by_role("button", name="Delete").click()
    expect_moves(page, "e4", "e5")
    expect_shown(page, "e4")


def test_the_graph_is_drawn_and_seeks(engine, page):
    load_pgn(page, "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *")
    expect(page.locator("#moves")).to_contain_text("Ba4")
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#graph .curve")).to_have_count(1)
    expect(page.locator("#progress")).to_be_hidden()
    assert len(engine.searches) == 9
    graph = page.locator("#graph")
    box = graph.bounding_box()
    graph.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect_shown(page, "Nc6")  # ply 4 of 8
    expect(graph).to_have_attribute("aria-valuetext", re.compile(r"^Nc6, [+-]0\.\d\d$"))
    box = graph.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 3)
    page.mouse.up()
    expect_shown(page, "Nf6")


def test_a_game_is_chosen_from_a_file_of_several(page):
    pgn = '[White "Anna"]\n[Black "Ben"]\n\n1. e4 *\n\n[White "Carl"]\n[Black "Dora"]\n\n1. d4 d5 *\n'
    analyse_tab(page)
    page.get_by_role("button", name="Load PGN").click()
    page.locator("#pgn-file").set_input_files({"name": "two.pgn", "mimeType": "text/plain", "buffer": pgn.encode()})
    expect_moves(page, "e4")
    choose_game(page, "2. Carl - Dora")
    expect_moves(page, "d4", "d5")
    expect(page.locator("#player-top .name")).to_have_text("Dora")
    page.get_by_role("button", name="New board").click()
    expect(page.locator("#games")).to_be_hidden()


RICH_PGN = """\
[Event "A \\"rich\\" game"]
[White "Ägir"]
[Black "Ben"]
[Result "1/2-1/2"]
[FEN "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]
[SetUp "1"]

{ Black begins [%csl Ge4] } 1... e5 { [%eval 0.31,20] [%clk 0:05:00] open
games } ( { or } 1... c5 $5 2. Nf3 ( 2. c3 d5 ( 2... Nf6 ) ( 2... e6 { French } 3. d4 ) ) 2... d6 ) ( 1... e6 ) 2. Nf3
Nc6 $1 $14 ( 2... d6 ) 3. Bb5 a6 1/2-1/2
"""


@pytest.mark.parametrize("pgn", [RICH_PGN, '[White "Nobody"]\n\n*'], ids=["rich", "empty"])
def test_the_game_goes_out_as_pgn(page, pgn):
    load_pgn(page, pgn)
    expect(page.locator("#moves")).to_contain_text("a6" if "a6" in pgn else "No moves yet")
    expect(page.locator("#player-bottom .name")).to_have_text(read_game(pgn).headers["White"].replace("?", "White"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PGN").click()
    assert download.value.suggested_filename == ("Nobody.pgn" if "Nobody" in pgn else "Ägir - Ben.pgn")
    with open(download.value.path(), encoding="utf-8") as file:
        text = file.read()
    assert all(len(line) <= 80 or "{" in line for line in text.splitlines())
    assert str(read_game(text)) == str(read_game(pgn))


def test_positions_in_and_out(page):
    fen = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"
    set_up(page, fen)
    expect_piece(page, "e5", "k")
    expect(page.get_by_label("FEN")).to_have_value(fen)
    page.get_by_label("FEN").fill("no position")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Illegal position: the board must have 8 ranks")
    expect_piece(page, "e5", "k")
    page.get_by_role("button", name="New board").click()
    expect(page.get_by_label("FEN")).to_have_value(chess.STARTING_FEN)


def test_a_fen_of_only_the_board_is_set_up(page):
    set_up(page, "r3k2r/8/8/8/8/8/8/R3K2R")
    toast = "The FEN is short, so White is to move and neither side may castle"
    expect(page.locator("#toast")).to_have_text(toast)
    expect(page.get_by_label("FEN")).to_have_value("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1")
    click_move(page, "e1", "e2")
    expect_moves(page, "Ke2")


def test_the_board_is_flipped(page):
    first = page.locator("#board [data-square]").first
    expect(first).to_have_attribute("data-square", "a8")
    page.keyboard.press("f")
    expect(first).to_have_attribute("data-square", "h1")
    analyse_tab(page)
    drag_move(page, "e2", "e4")
    expect_moves(page, "e4")
    page.get_by_role("button", name="Flip the board").click()
    expect(first).to_have_attribute("data-square", "a8")


def test_dark_mode_is_what_the_system_prefers_until_it_is_chosen(open_page):
    page = open_page(color_scheme="dark")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark mode").click()
    expect(root).to_have_attribute("data-theme", "light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")


def test_everything_is_in_reach_on_a_phone(open_page):
    page = open_page(375, 700, has_touch=True, is_mobile=True)
    analyse_tab(page)
    take_up(page, "e2", "tap")
    square(page, "e4").tap()
    expect_moves(page, "e4")
    _analyse(page)
    page.get_by_role("button", name="Evaluate the game").tap()
    for name in ("Load PGN", "Edit board", "Play from here", "Next move", "Flip the board"):
        button = page.get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375, name
    page.get_by_role("button", name="Edit board").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator("#board").bounding_box()["width"] >= 320
    page.get_by_role("button", name="Cancel", exact=True).tap()
    for tab in ("Play", "Analyse"):
        page.get_by_role("tab", name=tab).tap()
        low = page.locator("button:visible, select:visible, .segments label:visible, #setup input[type=range]:visible")
        heights = low.evaluate_all("(all) => all.map((e) => [e.getBoundingClientRect().height, e.outerHTML])")
        assert [html for height, html in heights if height < 34] == []


def test_enough_moves_are_in_sight_on_a_phone_in_landscape(open_page):
    page = open_page(844, 390, has_touch=True, is_mobile=True)
    load_pgn(page, LONG_PGN)
    expect(page.locator("#moves [data-node]")).to_have_count(40)
    page.locator("#moves-card").evaluate("(e) => e.scrollIntoView()")
    assert _rows_in_sight(page, 390) >= 4


def test_nothing_overlaps_whatever_the_size(page):
    analyse_tab(page)
    for width, height in ((1600, 900), (1024, 1366), (900, 700), (740, 375)):
        resize(page, width, height)
        board, side = page.locator("#board").bounding_box(), page.locator(".side").bounding_box()
        assert board["x"] + board["width"] <= side["x"], width
        assert side["x"] + side["width"] <= width
        assert abs(board["width"] - board["height"]) < 1


SICILIAN = "1. e4 e5 (1... c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Bg5 e6 7. f4 Qb6 8. Qd2 Qxb2) 2. Nf3 Nc6 *"
# The last two are a laptop's window at 200 % and at 400 %.
EVERY_SIZE = ((1920, 1080), (1280, 800), (390, 844), (844, 390), (640, 400), (320, 640))


def test_nothing_is_cut_in_a_variation_whatever_the_size(page):
    load_pgn(page, SICILIAN)
    page.locator("#moves").get_by_text("Qxb2", exact=True).click()
    expect(page.locator("#opening")).to_contain_text("Poisoned Pawn Variation")
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("#score")).not_to_be_empty()
    for width, height in EVERY_SIZE:
        resize(page, width, height)
        for place in ("html", ".side", "#moves-card", "#opening"):
            wide, seen = page.locator(place).evaluate("(e) => [e.scrollWidth, e.clientWidth]")
            assert wide <= seen, (place, width)


def test_text_has_the_size_that_the_user_has_set_in_the_browser(open_page):
    page = open_page(device_scale_factor=1)  # a window of its own
    page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32}})
    heading = page.get_by_role("tab", name="Play")
    expect(heading).to_have_css("font-size", "30px")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_on_a_phone_with_text_of_twice_the_size_nothing_is_cut_or_beside_the_page(open_page):
    page = open_page(*LAYOUTS["phone"], device_scale_factor=1)  # a window of its own
    page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32}})
    expect(page.get_by_role("tab", name="Play")).to_have_css("font-size", "30px")
    page.get_by_label("Clock").select_option("3 minutes + 2 s")
    expect_nothing_cut(page)
    start_game(page)
    expect_nothing_cut(page)
    resign(page)
    expect_nothing_cut(page)
    load_pgn(page, f'[White "Alexandra Konstantinopolskaya"]\n[Black "?"]\n[WhiteElo "2300"]\n\n{SICILIAN}')
    start_engine(page)
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#summary")).to_be_visible()
    expect_nothing_cut(page)
    page.keyboard.press("m")
    expect_nothing_cut(page)
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect_nothing_cut(page)
    resize(page, 844, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 844
    assert 300 < page.locator("#board").bounding_box()["width"] < 390
    resize(page, *LAYOUTS["phone"])
    page.get_by_role("button", name="Edit board").click()
    expect_nothing_cut(page)


CUT = """() => {
  const visible = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const cut = visible("html, button, label, select, .name").filter((each) => each.scrollWidth > each.clientWidth + 1);
  const tiny = visible(".steps svg").filter((each) => each.clientWidth < 20);
  return [...cut, ...tiny].map((each) => each.outerHTML.slice(0, 200));
}"""


def expect_nothing_cut(page):
    """Expect that nothing is beside the page, that each control is as wide as its text, and that icons have a size."""
    assert page.evaluate(CUT) == []


LONG_PGN = """\
1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. Nbd2 Bb7
12. Bc2 Re8 13. Nf1 Bf8 14. Ng3 g6 15. a4 c5 16. d5 c4 17. Bg5 h6 18. Be3 Nc5 19. Qd2 h5 20. Ra3 Bg7 *
"""


def test_enough_moves_are_in_sight_below_the_analysis(page):
    load_pgn(page, LONG_PGN)
    expect(page.locator("#moves [data-node]")).to_have_count(40)
    start_engine(page)
    page.get_by_role("switch", name="Worth of each piece").click()
    expect(page.locator("#static-value")).to_have_text(re.compile("^Static value"))
    for width, height in ((1280, 800), (1200, 830), (1366, 768)):
        resize(page, width, height)
        assert _rows_in_sight(page, height) >= 8, (width, height)
        graph = page.locator("#graph").bounding_box()
        page.mouse.click(graph["x"] + graph["width"] / 2, graph["y"] + graph["height"] / 2)
        expect_shown(page, "Nbd7")  # ply 20 of 40
        assert _rows_in_sight(page, height) >= 8, (width, height)
        page.get_by_role("button", name="Last position").click()
        expect_shown(page, "Bg7")
        assert _rows_in_sight(page, height) >= 8, (width, height)
        page.get_by_role("button", name="First position").click()
        expect(page.locator("#moves [aria-current]")).to_have_count(0)


def _rows_in_sight(page, height):
    """Count the rows of moves of which nothing, or less than a pixel, is hidden in a window of this height."""
    places = [page.locator(name).bounding_box() for name in (".side", "#moves")]
    top, bottom = max(box["y"] for box in places) - 1, min(box["y"] + box["height"] for box in places) + 1
    moves = page.locator("#moves [data-node]").evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"
    )
    return len({place for place in map(tuple, moves) if top <= place[0] and place[1] <= min(bottom, height)})


def test_all_controls_have_names(page):
    analyse_tab(page)
    nameless = """() => [...document.querySelectorAll('button, input, select, textarea, [role=slider], [role=grid]')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
        .map((e) => e.outerHTML)"""
    assert page.evaluate(nameless) == []
    labels = page.locator("#board [role=gridcell]").evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    assert len(labels) == 64 and "e1, white king" in labels and "e4, empty" in labels


def _worths_of(page):
    """Give the numbers that the page draws on pieces, by what it calls the squares."""
    labels = page.locator("#board [role=gridcell]").evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    drawn = page.locator("#board .piece").evaluate_all(
        "(all) => all.map((e) => getComputedStyle(e, '::after').content).filter((text) => text !== 'none')"
    )
    named = {label.split(", ")[0]: label.split("worth ")[1] for label in labels if "worth" in label}
    assert sorted(text.strip('"') for text in drawn) == sorted(named.values())
    return named


def _expected_worths(fen):
    return {chess.square_name(at): f"{cp / 100:+.2f}" for at, cp in evaluate(chess.Board(fen)).pieces.items()}


def test_the_board_shows_what_each_piece_is_worth(page):
    worths, value = page.get_by_role("switch", name="Worth of each piece"), page.locator("#static-value")
    set_up(page, "r3k3/1pp5/8/8/8/8/4PPPP/4K2R w Kq - 0 1")
    assert _worths_of(page) == {}
    worths.click()
    expect(value).to_have_text(re.compile(r"^Static value [+-]\d"))
    assert _worths_of(page) == _expected_worths("r3k3/1pp5/8/8/8/8/4PPPP/4K2R w Kq - 0 1")
    click_move(page, "e2", "e4")  # the numbers follow
    expect(square(page, "e4")).to_have_attribute("aria-label", re.compile("worth"))
    assert _worths_of(page) == _expected_worths("r3k3/1pp5/8/8/4P3/8/5PPP/4K2R b Kq - 0 1")
    start_engine(page)
    page.keyboard.press("f")
    assert len(_worths_of(page)) == 8
    click_move(page, "a8", "a1")
    expect(value).to_have_text("No static value in check")
    assert _worths_of(page) == {}
    page.keyboard.press("ArrowLeft")
    expect(value).to_have_text(re.compile("^Static value"))
    worths.click()
    expect(value).to_have_text("")
    assert _worths_of(page) == {}


def test_the_worths_are_not_in_the_way_of_the_editor_and_of_a_game(page):
    analyse_tab(page)
    worths, value = page.get_by_role("switch", name="Worth of each piece"), page.locator("#static-value")
    worths.click()
    expect(value).to_have_text(re.compile("^Static value"))
    page.get_by_role("button", name="Edit board").click()
    assert _worths_of(page) == {}
    page.get_by_label("Board editor").get_by_role("button", name="Cancel").click()
    expect(value).to_have_text(re.compile("^Static value"))
    assert len(_worths_of(page)) == 30
    page.get_by_role("tab", name="Play").click()
    assert _worths_of(page) == {}
    start_game(page)
    analyse_tab(page)
    expect(worths).to_be_disabled()
    assert _worths_of(page) == {}


def test_the_real_engine_analyses(server, open_page):
    from knightadder.library.board_engine import Engine

    server.make_engine = lambda: Engine(hash_mb=1)
    page = open_page()
    set_up(page, "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("#lines li").first.locator(".score")).to_have_text("#1")
    expect(page.locator("#lines li").first).to_contain_text("Ra8#")
    expect(page.locator("[data-arrow=a1a8]")).to_have_count(1)
