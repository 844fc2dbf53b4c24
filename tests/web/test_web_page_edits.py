"""Edits on the page and their way back, texts that are no games, and the keyboard, in a browser."""

import re

import pytest
from on_page import (
    analyse_tab,
    choose_game,
    click_move,
    every_layout,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    paste,
    resign,
    set_up,
    square,
    start_game,
)
from playwright.sync_api import expect

FILE = "".join(f'[White "{name}"]\n[Black "B"]\n\n{moves} *\n\n' for name, moves in (("A", "1. e4"), ("C", "1. d4 d5")))


def _button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def test_analysis_does_not_overwrite_a_fen_that_is_being_typed(page):
    analyse_tab(page)
    field, analysis = page.locator("#fen"), page.locator("#analysis")
    field.fill("4k3/8")
    analysis.click()
    expect(analysis).to_have_attribute("aria-checked", "true")
    expect(page.locator("#lines li").first).to_be_visible()
    analysis.click()
    expect(analysis).to_have_attribute("aria-checked", "false")
    expect(field).to_have_value("4k3/8")
    click_move(page, "e2", "e4")
    expect(field).to_have_value(re.compile(r"^rnbqkbnr/pppppppp/8/8/4P3/"))


# --- undo and redo -------------------------------------------------------------------------------------------------


@every_layout
def test_what_a_new_board_a_position_and_delete_take_away_comes_back(page):
    analyse_tab(page)
    undo, redo = _button(page, "Undo"), _button(page, "Redo")
    expect(undo).to_be_disabled()
    click_move(page, "e2", "e4")
    click_move(page, "e7", "e5")
    expect_moves(page, "e4", "e5")
    expect_shown(page, "e5")
    _button(page, "Delete").click()
    expect_moves(page, "e4")
    expect(undo).to_have_attribute("title", "Undo deleting e5 (Ctrl+Z)")
    undo.click()
    expect_moves(page, "e4", "e5")
    _button(page, "New board").click()
    expect_moves(page)
    expect_piece(page, "e5", None)  # the position has come as well, which is written into the field of the FEN
    set_up(page, "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
    undo.click()
    expect(page.locator("#board .piece")).to_have_count(32)
    undo.click()
    expect_moves(page, "e4", "e5")
    expect_piece(page, "e5", "p")
    redo.click()
    expect_moves(page)
    redo.click()
    expect_piece(page, "a1", "R")
    expect(page.locator("#board .piece")).to_have_count(3)
    expect(redo).to_be_disabled()
    box = undo.bounding_box()
    assert box["x"] + box["width"] <= page.viewport_size["width"] and box["height"] >= 24


def test_undo_and_redo_have_keys_which_fields_keep_for_themselves(page):
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4")
    page.keyboard.press("Control+z")
    expect_moves(page)
    page.keyboard.press("Control+y")
    expect_moves(page, "e4")
    page.keyboard.press("Control+z")
    expect_moves(page)
    page.keyboard.press("Control+Shift+Z")
    expect_moves(page, "e4")
    page.get_by_label("FEN").focus()
    page.keyboard.press("Control+z")
    page.get_by_label("FEN").blur()
    click_move(page, "e7", "e5")
    expect_moves(page, "e4", "e5")


def test_edits_are_kept_by_game_also_when_the_page_is_loaded_anew(page):
    load_pgn(page, FILE)
    expect_moves(page, "e4")
    page.keyboard.press("End")
    expect_shown(page, "e4")
    click_move(page, "c7", "c5")
    expect_moves(page, "e4", "c5")
    choose_game(page, "2. C - B")
    expect_moves(page, "d4", "d5")
    page.reload()
    expect_moves(page, "d4", "d5")
    expect(page.locator("#games")).to_have_text("2. C - B")
    choose_game(page, "1. A - B")
    expect_moves(page, "e4", "c5")
    expect_shown(page, "c5")


# --- texts ---------------------------------------------------------------------------------------------------------


def test_a_text_that_is_no_game_stays_in_the_dialog_which_says_why(page):
    analyse_tab(page)
    _button(page, "Load PGN").click()
    text = page.get_by_label("PGN", exact=True)
    text.fill("some words")
    _button(page, "Load").click()
    expect(page.locator("#pgn-problem")).to_have_text("This is not PGN: no tags and no moves")
    expect(text).to_have_value("some words")
    expect(page.locator("#pgn-dialog")).to_be_visible()
    text.fill("1. e4 *")
    expect(page.locator("#pgn-problem")).to_be_empty()
    _button(page, "Load").click()
    expect_moves(page, "e4")
    expect(page.locator("#pgn-dialog")).to_be_hidden()
    expect(page.locator("button:focus")).to_have_count(0)  # the page has taken it away again
    page.keyboard.press(" ")  # for the engine: it opens no dialog
    expect(page.get_by_role("switch", name="Engine")).to_be_checked()
    expect(page.locator("#pgn-dialog")).to_be_hidden()


@pytest.mark.parametrize("name", ["Load PGN", "Engine settings"])
def test_a_dialog_that_is_closed_leaves_the_keyboard_to_the_board(page, name):
    analyse_tab(page)
    _button(page, name).click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("button:focus")).to_have_count(0)  # the page has taken it away again
    page.keyboard.press(" ")
    expect(page.get_by_role("switch", name="Engine")).to_be_checked()


def test_a_game_and_a_position_are_pasted(page):
    paste(page, "1. e4 e5 *")  # on the tab Play
    expect(page.get_by_role("tab", name="Analyse")).to_have_attribute("aria-selected", "true")
    expect_moves(page, "e4", "e5")
    paste(page, "  4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\n")
    expect_moves(page)
    expect_piece(page, "a1", "R")
    paste(page, "what is this?")
    expect(page.locator("#toast")).to_have_text("This is not PGN: no tags and no moves")
    expect_piece(page, "a1", "R")


def test_keys_paste_from_the_clipboard(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", "1. d4 d5 *")
    page.keyboard.press("Control+v")
    expect_moves(page, "d4", "d5")


# --- the keyboard --------------------------------------------------------------------------------------------------


def test_moves_are_typed_without_capitals(page):
    analyse_tab(page)
    field = page.get_by_label("Type a move")
    sans = []
    for text, san in (("e4", "e4"), ("e5", "e5"), ("nf3", "Nf3"), ("nc6", "Nc6"), ("bc4", "Bc4"), ("bc5", "Bc5")):
        field.fill(text)
        page.keyboard.press("Enter")
        sans.append(san)
        expect_moves(page, *sans)
        expect(field).to_have_value("")  # only then is the position the next one
    field.fill("o-o")
    page.keyboard.press("Enter")
    expect_moves(page, *sans, "O-O")
    set_up(page, "7k/4P3/8/8/8/8/8/4K3 w - - 0 1")
    field.fill("e8")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text("The move e8 is ambiguous: it can be e8=Q+, e8=R+, e8=B or e8=N")
    field.fill("e8=q")
    page.keyboard.press("Enter")
    expect_moves(page, "e8=Q+")


def test_a_pawn_is_promoted_by_the_keyboard(page):
    for keys, san in (
        (["Enter"], "e8=Q+"),
        (["ArrowDown", "ArrowDown", "ArrowUp", "Enter"], "e8=N"),
        (["ArrowUp", "Enter"], "e8=B"),
        (["Tab", "Tab", "Enter"], "e8=R+"),
        (["r"], "e8=R+"),
        (["N"], "e8=N"),
    ):
        set_up(page, "7k/4P3/8/8/8/8/8/4K3 w - - 0 1")
        square(page, "e7").focus()
        for key in ("Enter", "ArrowUp", "Enter"):
            page.keyboard.press(key)
        choice = page.get_by_role("dialog", name="Promote to")
        expect(choice.get_by_role("button", name="queen")).to_be_focused()
        for key in keys:
            page.keyboard.press(key)
        expect_moves(page, san)
        expect(choice).to_have_count(0)
        expect(square(page, "e8")).to_be_focused()  # and goes on there


def test_a_promotion_of_black_goes_upwards_and_can_be_given_up(page):
    set_up(page, "4k3/8/8/8/8/8/4p3/K7 b - - 0 1")
    square(page, "e2").focus()
    for key in ("Enter", "ArrowDown", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog", name="Promote to").get_by_role("button", name="knight")).to_be_focused()
    page.keyboard.press("Escape")
    expect_moves(page)
    expect_piece(page, "e2", "p")


# --- what is shown -------------------------------------------------------------------------------------------------


def test_no_evaluation_is_seen_during_ones_own_game(engine, page):
    engine.script = ["e5"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    page.get_by_role("tab", name="Analyse").click()
    expect(page.locator("#evaluation")).to_be_hidden()
    assert "0." not in page.locator("#moves [data-node]").last.get_attribute("title").replace("0.0 s", "")
    expect(_button(page, "New board")).to_be_disabled()
    page.get_by_role("tab", name="Play").click()
    resign(page)
    _button(page, "Analyse the game").click()
    expect(page.locator("#evaluation")).to_be_visible()
    expect(page.locator("#moves [data-node]").last).to_have_attribute("title", re.compile(r"^-?\+?0\.\d\d"))


CLOCKS = """[TimeControl "300+3"]

1. e4 {[%clk 0:04:58]} e5 {[%clk 0:04:50]} 2. Nf3 (2. f4 {[%clk 0:01:00]}) 2... Nc6 {[%clk 0:00:05.5]} *"""


def test_the_clocks_are_those_of_the_move_shown(page):
    load_pgn(page, CLOCKS)
    expect_moves(page, "e4", "e5", "Nf3", "f4", "Nc6")
    top, bottom = page.locator("#player-top .clock"), page.locator("#player-bottom .clock")
    expected = [("5:00", "5:00"), ("5:00", "4:58"), ("4:50", "4:58"), ("4:50", "4:58"), ("0:05.5", "4:58")]
    for black, white in expected:
        expect(top).to_have_text(black)
        expect(bottom).to_have_text(white)
        page.keyboard.press("ArrowRight")
    _button(page, "f4").click()
    expect(bottom).to_have_text("1:00")
    expect(top).to_have_text("4:50")
    _button(page, "New board").click()
    expect(top).to_be_hidden()


def test_a_stopped_evaluation_leaves_a_curve_from_the_beginning(engine, page):
    load_pgn(page, "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *")
    expect(page.locator("#moves")).to_contain_text("a6")
    stream = type(engine).stream

    def tire(board, limit=None, **more):
        engine.endless = len(engine.searches) >= 3
        return stream(engine, board, limit, **more)

    engine.stream = tire
    _button(page, "Evaluate the game").click()
    expect(page.locator("#progress-text")).to_have_text("3 of 7")
    _button(page, "Stop").click()
    curve = page.locator("#graph .curve")
    expect(curve).to_have_count(1)
    assert re.fullmatch(r"M0 [\d.]+ L1 [\d.]+ L2 [\d.]+", curve.get_attribute("d"))
    areas = page.locator("#graph .white, #graph .black").evaluate_all("all => all.map(each => each.getBBox().height)")
    assert max(areas) < 0.05  # no slab: what is filled lies between the curve and the middle
    boxes = page.locator("#graph .white, #graph .black").evaluate_all("all => all.map(e => e.getBBox().width)")
    assert max(boxes) <= 2


CONTRAST = """() => {
    const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (colour) => {
        const [r, g, b] = colour.map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4); // the formula of all but the darkest
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll("[data-arrow]")].reverse().map((group) => {
        const share = Number(group.getAttribute("opacity"));
        const arrow = rgb(getComputedStyle(group.querySelector("line")).stroke);
        return Math.min(...["light", "dark"].map((kind) => {
            const ground = rgb(getComputedStyle(document.querySelector(`#board .square.${kind}`)).backgroundColor);
            const seen = arrow.map((v, i) => share * v + (1 - share) * ground[i]);
            return (light(ground) + 0.05) / (light(seen) + 0.05);
        }));
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_arrows_stand_out_from_the_squares(open_page, scheme):
    page = open_page(color_scheme=scheme)
    analyse_tab(page)
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("[data-arrow]")).to_have_count(3)
    best, second, third = page.evaluate(CONTRAST)
    assert best >= 2.8 and second >= 1.9 and third >= 1.5, (best, second, third)
