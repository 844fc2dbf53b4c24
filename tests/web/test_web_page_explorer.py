"""The opening explorer on the page, in a browser."""

import pytest
from board_server import BoardServer
from explorer_index import make_index
from held_requests import route_now
from on_page import (
    analyse_tab,
    click_move,
    expect_moves,
    expect_piece,
    expect_shown,
    load_pgn,
    press,
    set_up,
    start_game,
)
from playwright.sync_api import expect

from knightadder import Explorer


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    index = make_index(tmp_path_factory.mktemp("index"))
    with Explorer(index) as explorer, BoardServer(explorer=explorer).running() as server:
        yield server


def card(page):
    return page.get_by_role("region", name="Opening explorer")


def expect_rows(page, *rows):
    """Expect these moves with their numbers of games, and their sum below."""
    cells = card(page).locator("tr :is(td, th):nth-child(-n+2)")
    total = sum(games for _, games in rows)
    texts = [str(text) for row in (("Move", "Games"), *rows, ("All", total)) for text in row]
    expect(cells).to_have_text(texts)


def test_moves_results_and_games_of_the_position_on_the_board(page):
    expect(card(page)).to_be_hidden()  # as long as a game may be begun
    analyse_tab(page)
    expect_rows(page, ("e4", 2), ("Nf3", 1))
    first = card(page).locator("tbody tr").first
    expect(first.get_by_role("img")).to_have_attribute("aria-label", "White 50 %, draw 0 %, Black 50 %")
    expect(first.locator("td")).to_have_text(["e4", "2", "50 %50 %", "2400", "", "2001"])
    expect(first.locator(".white")).to_have_attribute("style", "width: 50%;")
    games = card(page).get_by_role("listitem")
    expect(games).to_have_text(
        ["Anna (2400) - Ben (2300)1-0 · 2001PGN", "Carla - ? (2501)½-½ · 1999PGN", "? - ?0-1PGN"]
    )
    expect(games.first).to_have_attribute("title", "Spring Open")


def test_filters_stay_and_count_the_games_anew(page):
    analyse_tab(page)
    expect_rows(page, ("e4", 2), ("Nf3", 1))
    card(page).get_by_text("Opening explorer: filters").click()
    card(page).get_by_label("Player").fill("anna")
    card(page).get_by_label("Player").press("Enter")
    card(page).get_by_label("Blitz", exact=True).check()
    expect_rows(page, ("e4", 1))
    expect(card(page).locator("summary")).to_contain_text("2 set")
    page.reload()
    expect_rows(page, ("e4", 1))
    card(page).get_by_text("Opening explorer: filters 2 set").click()
    expect(card(page).get_by_label("Player")).to_have_value("anna")
    expect(card(page).get_by_label("Blitz", exact=True)).to_be_checked()
    click_move(page, "e2", "e4")
    expect_rows(page, ("e5", 1))
    with page.expect_download() as download:
        card(page).get_by_role("link", name="PGN").click()
    assert '[White "Anna"]' in download.value.path().read_text()
    card(page).get_by_label("Since").fill("soon")
    card(page).get_by_label("Since").press("Enter")
    expect(card(page)).to_contain_text("Expected a date such as")
    card(page).get_by_role("button", name="Clear").click()
    expect_rows(page, ("e5", 2))


def test_a_click_plays_the_move_and_the_table_follows_the_board(page):
    analyse_tab(page)
    card(page).get_by_role("button", name="Nf3").click()
    expect_moves(page, "Nf3")
    expect_rows(page, ("e5", 1))
    card(page).locator("tbody td").last.click()  # anywhere in the row
    expect_moves(page, "Nf3", "e5")
    click_move(page, "e2", "e4")
    expect_rows(page, ("Nc6", 2))  # by both orders of moves
    page.keyboard.press("Home")
    expect_rows(page, ("e4", 2), ("Nf3", 1))
    press(card(page).get_by_role("button", name="e4"))
    expect_shown(page, "e4")
    expect_rows(page, ("e5", 2))
    expect(card(page).get_by_role("button", name="e5")).to_be_focused()
    page.keyboard.press("Enter")
    expect_rows(page, ("Bc4", 1), ("Nf3", 1))
    expect_moves(page, "Nf3", "e4", "e5", "e5", "e4")  # a variation after the first move


def test_positions_that_no_game_has(page):
    set_up(page, "4k3/8/8/8/8/8/8/K7 w - - 0 1")
    expect(card(page)).to_contain_text("No game has a move from this position")
    expect(card(page).get_by_role("table")).to_have_count(0)


def test_castling_of_chess960(page):
    set_up(page, "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1")
    card(page).get_by_role("button", name="O-O-O").click()
    expect_moves(page, "O-O-O")
    expect_piece(page, "c1", "K")
    expect_piece(page, "d1", "R")
    expect(card(page).get_by_role("button", name="O-O-O")).to_have_count(0)  # the answer for this position is there
    card(page).get_by_role("button", name="O-O").click()
    expect_piece(page, "g8", "k")


def test_castling_of_the_standard_position(page):
    load_pgn(page, "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 *")
    expect(page.locator("#moves [data-node]")).to_have_count(6)
    page.keyboard.press("End")
    card(page).get_by_role("button", name="O-O").click()
    expect_shown(page, "O-O")
    expect_piece(page, "g1", "K")


def test_it_is_hidden_in_a_game_and_in_the_editor(page):
    analyse_tab(page)
    expect(card(page)).to_be_visible()
    page.get_by_role("button", name="Edit board").click()
    expect(card(page)).to_be_hidden()
    page.get_by_role("button", name="Cancel").click()
    expect(card(page)).to_be_visible()
    page.get_by_role("tab", name="Play").click()
    expect(card(page)).to_be_hidden()
    start_game(page)
    page.get_by_role("tab", name="Analyse").click()
    click_move(page, "e2", "e4")
    expect(page.locator("#moves [data-node]")).to_have_count(2)
    expect(card(page)).to_be_hidden()


def test_an_answer_that_comes_late_is_not_shown(page):
    page.evaluate("""() => {
        window.answers = [];
        const others = window.fetch;
        const late = () => new Promise((resolve) => answers.push(resolve));
        window.fetch = (address) => (address.startsWith("/explorer?") ? late() : others(address));
        window.answer = async (number, san) => {
            const move = { move: "e2e4", san, games: 1, white: 1, draws: 0, black: 0, rating: null, last: null };
            answers[number]({ json: async () => ({ moves: [move], games: [], problem: null }) });
            for (let turn = 0; turn < 20; turn += 1) await null; // until the page has taken it
        };
    }""")
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_shown(page, "e4")
    page.evaluate("answer(1, 'second')")
    expect_rows(page, ("second", 1))
    page.evaluate("answer(0, 'first')")
    expect_rows(page, ("second", 1))


def test_a_server_without_an_index_is_asked_once_and_no_card_is_shown(page):
    asked = []
    route_now(page, "**/explorer?*", lambda route: asked.append(route.request.url) or route.fulfill(body="null"))
    with page.expect_response("**/explorer?*"):
        analyse_tab(page)
    click_move(page, "e2", "e4")
    expect_shown(page, "e4")
    page.get_by_role("tab", name="Play").click()
    analyse_tab(page)
    expect(page.locator("#explorer")).to_be_hidden()
    assert len(asked) == 1


@pytest.mark.parametrize("width", [1280, 375])
def test_nothing_is_wider_than_the_window(open_page, engine, width):
    page = open_page(width=width)
    analyse_tab(page)
    expect_rows(page, ("e4", 2), ("Nf3", 1))
    card(page).get_by_text("Opening explorer: filters").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("(card => card.scrollWidth <= card.clientWidth)(document.getElementById('explorer'))")
