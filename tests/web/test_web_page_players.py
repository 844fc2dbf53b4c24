"""What stands beside the players' names and the moves: captured pieces, and the time of each move."""

import re

import pytest
from on_page import LAYOUTS, analyse_tab, click_move, expect_moves, load_pgn, resign, set_up, start_game
from playwright.sync_api import expect


def _expect_captured(page, strip, pieces, text):
    """Expect small drawings of pieces, such as ``bP``, and a difference beside a name."""
    captured = page.locator(f"{strip} .captured")
    expect(captured).to_have_text(text)
    drawn = captured.locator("i")
    expect(drawn).to_have_count(len(pieces))
    for each, piece in zip(drawn.all(), pieces, strict=True):
        expect(each).to_have_class(re.compile(rf"\b{piece}\b"))


@pytest.mark.parametrize("size", LAYOUTS.values(), ids=LAYOUTS)
def test_captured_pieces_stand_beside_the_names(engine, open_page, size):
    page = open_page(*size)
    load_pgn(page, "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxg2 4. Bxg2 *")
    expect_moves(page, "e4", "d5", "exd5", "Qxd5", "Nc3", "Qxg2", "Bxg2")
    page.get_by_role("button", name="Last position").click()
    _expect_captured(page, "#player-bottom", ["bQ", "bP"], "+8")
    _expect_captured(page, "#player-top", ["wP", "wP"], "")
    expect(page.get_by_role("img", name="captured: queen, pawn; ahead by 8")).to_be_visible()
    for piece in page.locator(".captured i").all():
        assert piece.bounding_box()["width"] > 8
    page.keyboard.press("f")
    _expect_captured(page, "#player-top", ["bQ", "bP"], "+8")
    page.keyboard.press("Home")
    _expect_captured(page, "#player-top", [], "")


def test_ratings_stand_behind_the_names(page):
    load_pgn(page, '[White "Anna"]\n[Black "Ben"]\n[WhiteElo "2210"]\n[BlackElo "?"]\n\n1. e4 *')
    expect(page.locator("#player-bottom .name")).to_have_text("Anna (2210)")
    expect(page.locator("#player-top .name")).to_have_text("Ben")


def test_a_promoted_pawn_is_not_captured(page):
    set_up(page, "3n4/4P2k/8/8/8/8/8/4K3 w - - 0 1")
    click_move(page, "e7", "d8")
    page.get_by_role("button", name="queen").click()
    expect_moves(page, "exd8=Q")
    _expect_captured(page, "#player-bottom", ["bN"], "+9")
    _expect_captured(page, "#player-top", [], "")


def test_the_time_of_each_move_stands_beside_it(page):
    load_pgn(page, "1. e4 { [%clk 0:04:57.5] [%emt 0:00:02.54] } e5 { [%emt 0:01:05] } 2. Nf3 { [%emt 0:00:12] } Nc6 *")
    expect_moves(page, "e4", "e5", "Nf3", "Nc6")
    moves = page.locator("#moves [data-node]")
    times = [move.get_attribute("data-time") for move in moves.all()]
    assert times == ["2.5 s", "1:05", "12 s", None]
    expect(moves.first).to_have_attribute("title", "took 2.5 s, clock 4:58")


def test_a_game_with_clocks_tells_the_times_of_its_moves(engine, page):
    engine.script = ["e5"]
    page.get_by_label("Clock").select_option("5 minutes")
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    for move in page.locator("#moves [data-node]").all():
        expect(move).to_have_attribute("data-time", re.compile(r"^\d"))
    resign(page)
    analyse_tab(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PGN").click()
    with open(download.value.path(), encoding="utf-8") as file:
        text = file.read()
    assert text.count("[%emt 0:00:") == text.count("[%clk 0:0") == 2
