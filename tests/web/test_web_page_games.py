"""Games that are loaded and evaluated, on the page, in a browser, with a stand-in for the engine."""

import io

import chess.pgn
import pytest
from on_page import expect_shown, load_pgn
from playwright.sync_api import expect

SHAPES = "{ [%csl Ga1,Bh8] } 1. e4 { [%cal Rd2d4,Yg1f3] [%csl Be4] best } e5 *"


def _saved(page):
    """Save the game; give the text of the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PGN").click()
    with open(download.value.path(), encoding="utf-8") as file:
        return file.read()


def _read(pgn):
    game = chess.pgn.read_game(io.StringIO(pgn))
    assert game.errors == []
    return game


def _drawn(page):
    return page.locator("#board .shapes [data-shape]")


def _middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# --- arrows and circles --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (375, 700)])
def test_arrows_and_circles_of_comments_are_drawn(engine, open_page, width, height):
    page = open_page(width, height)
    load_pgn(page, SHAPES)
    drawn = _drawn(page)
    expect(drawn).to_have_count(2)
    for flipped in (False, True):
        for at, shape in enumerate(("Ga1", "Bh8")):
            expect(drawn.nth(at)).to_have_attribute("data-shape", shape)
            expect(drawn.nth(at).locator("circle")).to_have_count(1)
            place = page.locator(f"#board [data-square={shape[1:]}]").bounding_box()
            assert _middle(drawn.nth(at).bounding_box()) == pytest.approx(_middle(place), abs=1), (shape, flipped)
        page.get_by_role("button", name="Flip the board").click()
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e4")
    expect(drawn).to_have_count(3)
    colours = {"R": "rgb(136, 32, 32)", "Y": "rgb(230, 143, 0)", "B": "rgb(0, 48, 136)"}  # Lichess's
    for shape in ("Rd2d4", "Yg1f3"):
        arrow = page.locator(f"[data-shape={shape}]")
        expect(arrow.locator("line")).to_have_css("stroke", colours[shape[0]])
        expect(arrow.locator("polygon")).to_have_css("fill", colours[shape[0]])
        tip = arrow.locator("polygon").get_attribute("points").split()[0]
        assert tip == {"d4": "3.5,4.5", "f3": "5.5,5.5"}[shape[3:]]
    expect(page.locator("[data-shape=Be4] circle")).to_have_css("stroke", colours["B"])
    page.get_by_role("button", name="Edit board").click()
    expect(drawn).to_have_count(0)
    page.get_by_label("Board editor").get_by_role("button", name="Cancel").click()
    expect(drawn).to_have_count(3)
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e5")
    expect(drawn).to_have_count(0)


def test_arrows_and_circles_are_written_and_not_shown_as_words(page):
    load_pgn(page, SHAPES)
    expect(page.locator("#moves .comment")).to_have_text("best")
    saved = _read(_saved(page))
    wanted = _read(SHAPES)
    for node, same in zip((saved, *saved.mainline()), (wanted, *wanted.mainline()), strict=True):
        assert list(map(str, node.arrows())) == list(map(str, same.arrows()))
    page.reload()
    expect(_drawn(page)).to_have_count(2)
