"""Games that are loaded and evaluated, on the page, in a browser, with a stand-in for the engine."""

import re

import pytest
from game_texts import read_game
from on_page import LAYOUTS, analyse_tab, expect_moves, expect_shown, load_pgn
from playwright.sync_api import expect
from stand_in_engine import annotated, material

SHAPES = "{ [%csl Ga1,Bh8] } 1. e4 { [%cal Rd2d4,Yg1f3] [%csl Be4] best } e5 *"


def _saved(page):
    """Save the game; give the text of the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PGN").click()
    with open(download.value.path(), encoding="utf-8") as file:
        return file.read()


def _drawn(page):
    return page.locator("#board .shapes [data-shape]")


HAVE_ONE_MIDDLE = """selectors => {
    const boxes = selectors.map(each => document.querySelector(`#board ${each}`).getBoundingClientRect());
    const [shape, square] = boxes.map(box => [box.x + box.width / 2, box.y + box.height / 2]);
    return Math.abs(shape[0] - square[0]) < 1 && Math.abs(shape[1] - square[1]) < 1;
}"""


# --- arrows and circles --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), LAYOUTS.values(), ids=LAYOUTS)
def test_arrows_and_circles_of_comments_are_drawn(engine, open_page, width, height):
    page = open_page(width, height)
    load_pgn(page, SHAPES)
    drawn = _drawn(page)
    expect(drawn).to_have_count(2)
    for _ in ("White below", "Black below"):
        for at, shape in enumerate(("Ga1", "Bh8")):
            expect(drawn.nth(at)).to_have_attribute("data-shape", shape)
            expect(drawn.nth(at).locator("circle")).to_have_count(1)
            page.wait_for_function(HAVE_ONE_MIDDLE, arg=[f"[data-shape={shape}]", f"[data-square={shape[1:]}]"])
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
    saved = read_game(_saved(page))
    wanted = read_game(SHAPES)
    for node, same in zip((saved, *saved.mainline()), (wanted, *wanted.mainline()), strict=True):
        assert list(map(str, node.arrows())) == list(map(str, same.arrows()))
    page.reload()
    expect(_drawn(page)).to_have_count(2)


# --- files ---------------------------------------------------------------------------------------------------------


def _open_file(page, content, name="game.pgn"):
    analyse_tab(page)
    page.get_by_role("button", name="Load PGN").click()
    page.locator("#pgn-file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


NAMES = '[White "Müller"]\n[Black "Núñez"]\n\n1. e4 {schön} e5 *\n'


def test_a_file_is_read_whatever_its_encoding(page):
    for encoding in ("utf-8", "latin-1", "utf-16"):
        _open_file(page, NAMES.replace("Müller", f"Müller {encoding}").encode(encoding))
        expect(page.locator("#player-bottom .name")).to_have_text(f"Müller {encoding}")
        expect(page.locator("#pgn-file")).to_have_value("")  # so that the same file can be chosen again
        expect(page.locator("#moves .comment")).to_have_text("schön")
        saved = read_game(_saved(page))
        assert saved.headers["Black"] == "Núñez" and saved.next().comment == "schön"


def test_a_file_that_cannot_be_read_is_named(page):
    page.evaluate("() => { File.prototype.arrayBuffer = () => Promise.reject(new Error('it is a folder')); }")
    _open_file(page, NAMES.encode(), "games.pgn")
    expect(page.locator("#pgn-problem")).to_have_text("The file games.pgn cannot be read: it is a folder")


DROP = """(element, [text, name]) => {
  const data = new DataTransfer();
  if (name) data.items.add(new File([text], name));
  else data.setData("text/plain", text);
  return !element.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_file_dropped_on_the_page_never_replaces_it(page):
    """The browser shows a dropped file instead of the page, unless the page takes the event."""
    assert page.locator("#board").evaluate(DROP, ["1. d4 *", "game.pgn"])
    expect_moves(page, "d4")
    page.get_by_role("button", name="My games").click()
    assert page.get_by_role("dialog", name="My games").evaluate(DROP, ["1. e4 *", "game.pgn"])
    page.keyboard.press("Escape")
    expect_moves(page, "d4")
    assert not page.get_by_label("FEN").evaluate(DROP, ["8/8", ""])  # a text is for the field
    assert page.get_by_label("FEN").evaluate(DROP, ["1. c4 *", "game.pgn"])
    expect_moves(page, "c4")


def test_names_written_from_right_to_left_stay_in_their_places(page):
    white, black = "محمد علي", "שלמה כהן"
    tags = f'[White "{white}"]\n[Black "{black}"]\n[WhiteElo "2300"]\n[Event "كأس"]\n[Date "2026.01.02"]\n'
    load_pgn(page, f"{tags}\n1. e4 *\n\n" * 2)
    page.locator("#games").click()
    row = page.get_by_role("dialog", name="Games of the file").locator(".open").first
    for place, parts in (
        (page.locator("#games"), (white, black)),
        (row.locator("b"), ("1.", white, black)),
        (row.locator("span"), ("كأس", "2026")),
        (page.locator("#about-game"), ("كأس", "2026")),
        (page.locator("#player-bottom .name"), (white, "(2300)")),
    ):
        lefts = place.evaluate(LEFTS, parts)
        assert lefts == sorted(lefts), parts


LEFTS = """(element, parts) => parts.map((part) => {
  const [text, range] = [element.firstChild, document.createRange()];
  const start = text.data.indexOf(part);
  range.setStart(text, start);
  range.setEnd(text, start + part.length);
  return range.getBoundingClientRect().left;
})"""


def test_a_text_with_an_error_can_be_mended(page):
    load_pgn(page, "1. e4 e5 2. Qh6 Nc6 *")
    expect(page.get_by_role("alert")).to_contain_text("Read up to an error in the PGN")
    page.get_by_role("button", name="Load PGN").click()
    expect(page.get_by_label("PGN", exact=True)).to_have_value("1. e4 e5 2. Qh6 Nc6 *")
    page.keyboard.type("1. d4 *")  # what was there is selected
    page.get_by_role("button", name="Load", exact=True).click()
    expect_moves(page, "d4")


def test_a_file_or_a_text_that_is_too_large_is_said(page):
    problem = page.locator("#pgn-problem")
    _open_file(page, b"1. e4 e5 *" + b" " * 512 * 1024, "large.pgn")
    told = "The file large.pgn has more than 512 KB; add it to “My games”, which takes large files"
    expect(problem).to_have_text(told)
    page.get_by_label("PGN", exact=True).fill("1. d4 *" + " " * 512 * 1024)
    expect(problem).to_be_empty()
    page.get_by_role("button", name="Load", exact=True).click()
    expect(problem).to_have_text("The PGN has more than 512 KB; load a part of it")
    page.get_by_label("PGN", exact=True).fill("1. d4 *")
    page.get_by_role("button", name="Load", exact=True).click()  # the connection is still there
    expect_moves(page, "d4")


# --- glyphs --------------------------------------------------------------------------------------------------------


def test_glyphs_are_shown_and_written(page):
    pgn = "1. e4 $1 $10 e5 $2 2. Nf3 $3 $13 (2. f4 {gambit} $44) 2... Nc6 $4 $14 3. Bb5 $5 a6 $6 4. Ba4 $18 Nf6 $239 *"
    load_pgn(page, pgn)
    shown = ["e4! =", "e5?", "Nf3!! ∞", "f4 =∞", "Nc6?? +=", "Bb5!?", "a6?!", "Ba4 +\u2212", "Nf6 $239"]
    shown = [san.replace(" ", "\u202f") for san in shown]
    expect(page.locator("#moves [data-node]")).to_have_count(len(shown))
    assert page.locator("#moves [data-node]").all_text_contents() == shown
    faults = page.locator("#moves .mistake, #moves .blunder, #moves .inaccuracy")
    expect(faults).to_have_text(["e5?", shown[4], "a6?!"])
    expect(page.get_by_role("button", name="a6?!")).to_have_attribute("title", "inaccuracy")
    expect(page.locator("#moves .blunder")).to_have_attribute("title", "blunder, White is slightly better")
    written, wanted = read_game(_saved(page)), read_game(pgn)
    assert [node.nags for node in written.mainline()] == [node.nags for node in wanted.mainline()]
    assert str(written) == str(wanted)


def test_quotation_marks_in_a_tag_are_shown_without_backslashes_and_written_with_them(page):
    tag = '[White "The \\"Beast\\""]'
    load_pgn(page, f"{tag}\n\n1. e4 *")
    expect(page.locator("#player-bottom .name")).to_have_text('The "Beast"')
    assert tag in _saved(page)


def test_what_is_said_before_a_variation_is_shown(page):
    load_pgn(page, "1. e4 e5 ({or [%csl Ge4]} 1... c5 {Sicilian} 2. Nf3) *")
    expect(page.locator("#moves .comment")).to_have_text(["or", "Sicilian"])
    assert "{ or [%csl Ge4] } 1... c5" in _saved(page)


# --- games that are evaluated --------------------------------------------------------------------------------------

BLUNDERS = '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 2. Qh5 Nc6 { x } 3. Bc4 Nf6 4. Qxf7# 1-0\n'


@pytest.fixture
def counting(engine):
    """Let the engine count material."""
    engine.worth = material
    return engine


def _evaluate(page):
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#summary")).to_be_visible()
    expect(page.get_by_role("button", name="Evaluate the game")).to_be_visible()


COUNTS = ("brilliant", "great", "inaccuracies", "mistakes", "blunders", "missed")


def test_an_evaluated_game_has_marks_and_a_summary_as_annotate_gives_them(counting, page):
    game, summary = annotated(BLUNDERS)
    load_pgn(page, BLUNDERS)
    expect_moves(page, "e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#")
    _evaluate(page)
    signs = {1: "!", 2: "?", 3: "!!", 4: "??", 6: "?!"}
    main = [(node.san(), "".join(map(signs.get, node.nags))) for node in game.mainline()]
    assert {mark for _, mark in main} >= {"", "??"}
    shown = page.locator("#moves > [data-node]")
    expect(shown).to_have_text([san + mark for san, mark in main])
    expect(page.locator("#moves .blunder")).to_have_text([san + mark for san, mark in main if mark == "??"])
    for side, name, played in (("white", "Anna", summary.white_side), ("black", "Ben", summary.black_side)):
        counts = [str(getattr(played, name)) for name in COUNTS]
        expect(page.locator(f"#summary [data-side={side}] > *")).to_have_text(
            [name, f"{played.accuracy:.1f} %", *counts, str(played.centipawn_loss)]
        )
    expect(page.locator("#summary .opening")).to_have_text(f"{summary.eco} {summary.opening}")
    saved = read_game(_saved(page))
    saved.set_eval(None)
    assert str(saved) == str(game)
    page.keyboard.press("End")
    expect_shown(page, "Qxf7#")
    expect(page.locator("#summary")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("#summary")).to_be_hidden()  # the line is another one
    assert "Accuracy" not in _saved(page)


def test_an_evaluation_shows_its_progress_even_after_a_reload_and_can_be_stopped(counting, page):
    load_pgn(page, BLUNDERS)
    expect_moves(page, "e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#")
    counting.endless = True
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#progress-text")).to_have_text("0 of 8")
    page.reload()
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#progress-text")).to_have_text("0 of 8")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#progress")).to_be_hidden()
    expect(page.locator("#progress-text")).to_be_empty()
    expect(page.locator("#summary")).to_be_hidden()
    assert len(counting.searches) == 1
    counting.endless = False
    _evaluate(page)
    expect(page.locator("#moves .blunder").first).to_be_visible()


@pytest.mark.parametrize(("width", "height"), LAYOUTS.values(), ids=LAYOUTS)
def test_the_summary_has_room(counting, open_page, width, height):
    page = open_page(width, height)
    name = "A player with a very long name, who hides nothing behind it"
    load_pgn(page, f'[White "{name}"]\n\n1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 *')
    expect_moves(page, "e4", "e5", "f4", "exf4", "Bc4", "Qh4+", "Kf1", "b5", "Bxb5")
    _evaluate(page)
    card, table, graph = (page.locator(name).bounding_box() for name in ("#graph-card", "#summary", "#graph"))
    assert graph["y"] + graph["height"] <= table["y"] and graph["width"] >= 128
    expect(page.locator("#summary .opening")).to_have_text(re.compile("^C33 King's Gambit Accepted: .{30}"))
    assert card["x"] <= table["x"] and table["x"] + table["width"] <= card["x"] + card["width"]
    assert table["y"] + table["height"] <= card["y"] + card["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#summary").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    cells = page.locator("#summary :is(td, th:not([title^='A player']))")
    assert cells.evaluate_all("(all) => all.every((e) => e.scrollWidth <= e.clientWidth)")
    moves = page.locator("#moves").bounding_box()
    assert moves["height"] >= 8 * 24 or width < 400
