"""What tests do on the page, and what they expect to see, in words of the board."""

import re

import chess
import pytest
from playwright.sync_api import expect
from stand_in_engine import material

expect.set_options(timeout=60_000)

SIZES = {"laptop": (1280, 800), "desktop": (1920, 1080), "phone": (390, 844)}
LAYOUTS = {"laptop": SIZES["laptop"], "phone": SIZES["phone"]}  # the two that the style sheet has
every_layout = pytest.mark.parametrize("page", LAYOUTS.values(), ids=LAYOUTS, indirect=True)

PIECES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}


def square(page, name):
    return page.locator(f"#board [data-square={name}]")


def take_up(page, name, gesture="click"):
    """Click (or tap) on a piece once the page knows its moves, and wait until it is selected."""
    expect(square(page, name)).to_have_class(re.compile(r"\bmine\b"))  # a click before the server's word would be lost
    getattr(square(page, name), gesture)()
    expect(square(page, name)).to_have_attribute("aria-selected", "true")


def press(button):
    """Press Enter on a button once it is enabled, for which ``click`` waits, but ``press`` of Playwright does not."""
    expect(button).to_be_enabled()
    button.press("Enter")


def click_move(page, start, end):
    take_up(page, start)
    square(page, end).click()


def drag_move(page, start, end):
    expect(square(page, start)).to_have_class(re.compile(r"\bmine\b"))
    square(page, start).hover()
    page.mouse.down()
    square(page, end).hover()
    page.mouse.up()


def expect_piece(page, name, piece):
    """Expect a piece, such as ``P`` for a white pawn and ``p`` for a black one, or None, on a square."""
    what = "empty" if piece is None else f"{'white' if piece.isupper() else 'black'} {PIECES[piece.upper()]}"
    expect(square(page, name)).to_have_attribute("aria-label", re.compile(f"^{name}, {what}"))


def expect_moves(page, *sans):
    expect(page.locator("#moves [data-node]")).to_have_text(list(sans))


def expect_shown(page, san):
    expect(page.locator("#moves [aria-current]")).to_have_text(san)


def expect_status(page, text):
    """Expect a text about the puzzle or drill."""
    expect(page.locator("#status")).to_contain_text(text)


def start_game(page, side="White"):
    pace = page.get_by_label("The engine takes its time, as people do")
    if pace.is_visible():
        pace.uncheck()  # no test waits longer than it must
    page.locator(".segments").get_by_text(side, exact=True).click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator("#game .running")).to_be_visible()


def resign(page):
    for name in ("Resign", "Really resign?"):
        page.get_by_role("button", name=name).click()


def lose_a_pawn(engine, page):
    """Lose a game in which one move of the user was bad; give the button of this moment."""
    engine.worth, engine.script = material, ["d5", "dxe4"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_piece(page, "d5", "p")
    drag_move(page, "g1", "f3")
    expect_piece(page, "e4", "p")
    resign(page)
    page.get_by_role("button", name="What decided the game").click()
    expect(page.locator("#moments .told")).to_contain_text("One move decided the game")
    return page.locator("#moments ol button")


def resize(page, width, height):
    """Change the size of the window, and wait until the page has it."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("([width, height]) => innerWidth === width && innerHeight === height", arg=[width, height])


def analyse_tab(page):
    page.get_by_role("tab", name="Analyse").click()
    expect(page.locator("#transfer")).to_be_visible()


def start_engine(page):
    """Turn the engine on, and wait for its lines."""
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("#lines li")).to_have_count(3)


def lose_session(page, link):
    """Let the server forget the session, so that the page brings its moves back, with other numbers."""
    link.lose(forgotten=True)
    expect(page.locator("#lost")).to_be_visible()
    page.clock.run_for(500)
    expect(page.locator("#toast")).to_contain_text("your moves are back")


def set_up(page, fen):
    analyse_tab(page)
    page.get_by_label("FEN").fill(fen)
    page.get_by_role("button", name="Set up").click()
    expect(page.locator("#moves")).to_contain_text("No moves yet")
    pieces = chess.BaseBoard(fen.split()[0]).piece_map()
    expect(page.locator("#board .piece")).to_have_count(len(pieces))
    for at, piece in pieces.items():
        expect_piece(page, chess.square_name(at), piece.symbol())


def play_from(page, fen):
    """Start a game as White from a position."""
    set_up(page, fen)
    page.get_by_role("button", name="Play from here").click()
    start_game(page)


def load_pgn(page, pgn):
    """Send a game to the server; its moves come later, so wait for them."""
    analyse_tab(page)
    page.get_by_role("button", name="Load PGN").click()
    page.get_by_label("PGN", exact=True).fill(pgn)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("#pgn-dialog")).to_be_hidden()


def choose_game(page, title):
    """Choose a game of the file from the list."""
    page.locator("#games").click()
    page.get_by_role("dialog", name="Games of the file").get_by_role("button", name=title).click()


def paste(page, text):
    """Paste a text into the page, not into one of its fields."""
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.body.dispatchEvent(paste);
        }""",
        text,
    )
