"""Solving puzzles on the page, in a browser."""

import re

import chess
import pytest
from board_server import BoardServer
from board_tab import PATIENCE
from held_requests import HeldRequests
from on_page import SIZES, click_move, drag_move, expect_moves, expect_piece, expect_shown, expect_status, square
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.puzzles.puzzle import Puzzle, Solution
from knightadder.puzzles.user_progress import PuzzleProgress

FORK = Solution("4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1", tuple(map(chess.Move.from_uci, ("e4c5", "e8d8", "c5b7"))))
MATE = Solution("3r2k1/5ppp/8/8/8/p7/5PPP/6K1 b - - 0 1", (chess.Move.from_uci("d8d1"),))
PROMOTION = Solution("6k1/P4ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", (chess.Move.from_uci("d1d8"),))

GAMES = '1. e4 *\n\n[FEN "4k3/8/2q5/8/4N3/8/6PP/7K b - - 0 1"]\n[White "Anna"]\n\n1... Qc5 2. g3 Qe5 *\n'


@pytest.fixture
def progress(tmp_path):
    return PuzzleProgress(tmp_path / "puzzles.sqlite")


@pytest.fixture
def page(browser, progress, request):
    width, height = getattr(request, "param", SIZES["laptop"])
    games = progress.file.with_name("games.pgn")
    games.write_text(GAMES)
    puzzles = [
        Puzzle(FORK, "one", ("hangingPiece",), 1300, f"{games}?game=2/black#2"),
        Puzzle(MATE, "two", ("backRankMate", "mateIn1"), 1450),
        Puzzle(PROMOTION, "three"),
    ]
    complaints = []
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(1000 * PATIENCE)
    context.clock.install(time=0)
    context.clock.pause_at(1)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    with BoardServer(puzzles, progress=progress).running() as server:
        server.make_engine = StandInEngine
        page.goto(server.address)
        expect_status(page, "White to move")
        yield page
        context.close()
    assert complaints == []


def test_a_puzzle_is_solved_with_a_wrong_move_between(page):
    expect(page.locator("#count")).to_have_text("1 of 3")
    expect(page.locator("#rating")).to_have_text("Rating 1300")
    expect(page.locator("#themes")).to_have_text("")
    drag_move(page, "e4", "d6")
    expect_status(page, "Wrong")
    expect_piece(page, "e4", "N")
    click_move(page, "e4", "c5")
    expect_status(page, "Right")
    expect_piece(page, "c5", "N")
    expect_piece(page, "e8", "k")
    page.clock.run_for(1000)
    expect_piece(page, "d8", "k")  # the reply
    click_move(page, "c5", "b7")
    expect_status(page, "Solved1. Nxc5 Kd8 2. Nb7+")
    expect(page.locator("#themes")).to_have_text("Hanging piece: A piece that is not guarded enough is captured")
    expect(page.locator("#solved")).to_have_text("0 of 10 %")  # the first answer counts
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#count")).to_have_text("2 of 3")


def test_black_is_below_in_his_puzzle_and_hints_lead_to_the_solution(page):
    page.get_by_role("button", name="Next").click()
    expect_status(page, "Black to move")
    expect(page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    hint = page.get_by_role("button", name="Hint")
    hint.click()
    expect(square(page, "d8")).to_have_attribute("aria-selected", "true")
    hint.click()
    expect(page.locator("[data-arrow=d8d1]")).to_be_attached()
    square(page, "d1").click()
    expect_status(page, "Solved1...Rd1#")
    expect(square(page, "g1")).to_have_class(re.compile(r"\bcheck\b"))
    expect(hint).to_be_disabled()
    page.reload()  # it is still the second one
    expect_status(page, "Black to move")
    expect(page.locator("#count")).to_have_text("2 of 3")


def test_another_mate_solves_it_too_and_the_solution_can_be_shown(page):
    page.get_by_role("button", name="Next").click()
    expect_status(page, "Black to move")
    page.get_by_role("button", name="Show the solution").click()
    expect_status(page, "The solution1...Rd1#")
    expect_piece(page, "d1", "r")
    page.get_by_role("button", name="Next").click()
    expect_status(page, "White to move")
    click_move(page, "a7", "a8")
    page.get_by_role("button", name="queen").click()
    expect_status(page, "Solved")
    expect_piece(page, "a8", "Q")
    page.get_by_role("link", name="Board").click()
    expect(page.get_by_role("tab", name="Analyse")).to_be_visible()


@pytest.mark.parametrize("page", [SIZES["phone"], (844, 390)], ids=["phone", "phone on its side"], indirect=True)
def test_progress_is_shown_and_kept(page, progress):
    expect(page.locator("#my-rating")).to_contain_text("1500")
    click_move(page, "e4", "c5")
    page.clock.run_for(1000)
    click_move(page, "c5", "b7")
    expect_status(page, "Solved")
    expect(page.locator("#my-rating")).to_contain_text("(+")
    expect(page.locator("#streak")).to_have_text("1best 1")
    assert progress.standing().solved == 1
    page.get_by_text("By theme").click()
    expect(page.get_by_role("table")).to_have_text("Hanging piece1 of 1")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.reload()
    expect_status(page, "You have answered this puzzle already, so it does not count")


def test_the_choice_is_by_theme_and_rating_and_the_keyboard_is_enough(page):
    page.get_by_label("Theme", exact=True).select_option("Back-rank mate (1)")
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.get_by_label("Theme", exact=True).select_option("All themes")
    expect(page.locator("#count")).to_have_text("3 of 3")
    page.get_by_label("Rating", exact=True).select_option("1250 to 1499")
    expect(page.locator("#count")).to_have_text("1 of 3")
    page.locator("body").press("s")
    expect_status(page, "The solution1. Nxc5 Kd8 2. Nb7+")
    page.keyboard.press("n")
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.keyboard.press("p")
    expect(page.locator("#count")).to_have_text("1 of 3")


def test_the_choice_and_the_way_back_survive_a_reload(page):
    page.get_by_label("Rating", exact=True).select_option("1250 to 1499")
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.get_by_label("Theme", exact=True).select_option("Hanging piece (1)")
    expect(page.locator("#count")).to_have_text("1 of 3")
    page.reload()
    expect(page.get_by_label("Theme", exact=True)).to_have_value("hangingPiece")
    expect(page.get_by_label("Rating", exact=True)).to_have_value("1250-1499")
    expect(page.locator("#count")).to_have_text("1 of 3")
    for count in ("2 of 3", "1 of 3"):
        page.keyboard.press("p")
        expect(page.locator("#count")).to_have_text(count)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()


@pytest.fixture
def twice(page):
    """At puzzle 3, choose the theme of puzzle 2 and then that of puzzle 1; give the two requests."""
    for count in ("2 of 3", "3 of 3"):
        page.keyboard.press("n")
        expect(page.locator("#count")).to_have_text(count)
    requests = HeldRequests(page, "**/puzzles/next?*")
    for count, theme in enumerate(("Back-rank mate (1)", "Hanging piece (1)"), start=1):
        page.get_by_label("Theme", exact=True).select_option(theme)
        requests.wait_for(count)
    return requests


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_choices_only_the_newest_is_shown(page, twice, order):
    for number in order:
        twice.answer(number)
        expect(page.locator("#count")).to_have_text("1 of 3" if 1 in order[: order.index(number) + 1] else "3 of 3")
    page.keyboard.press("p")
    expect(page.locator("#count")).to_have_text("3 of 3")
    page.reload()
    expect(page.get_by_label("Theme", exact=True)).to_have_value("hangingPiece")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_if_the_newest_choice_fails_the_one_before_is_shown(page, twice, order):
    for number in order:
        twice.answer(0) if number == 0 else twice.fail(1)
    expect(page.locator("#count")).to_have_text("2 of 3")
    expect(page.get_by_role("alert")).to_have_text("The server is busy")
    click_move(page, "d8", "d1")
    expect_status(page, "Solved")


def test_after_two_presses_the_page_goes_on_once(page):
    requests = HeldRequests(page, "**/puzzles/next?*")
    for count in (1, 2):
        page.keyboard.press("n")
        requests.wait_for(count)
    for number in (0, 1):
        requests.answer(number)
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.keyboard.press("p")
    expect(page.locator("#count")).to_have_text("1 of 3")
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    expect(page.locator("#solved")).to_contain_text("0 of 0")


def test_a_reply_belongs_to_its_puzzle(page):
    requests = HeldRequests(page, "**/puzzles/next?*")
    page.keyboard.press("n")
    requests.wait_for(1)
    click_move(page, "e4", "c5")
    expect_status(page, "Right")
    requests.answer(0)
    expect_status(page, "Black to move")
    page.clock.run_for(1000)
    expect_status(page, "Black to move")


def test_the_reply_comes_though_the_next_puzzle_does_not(page):
    requests = HeldRequests(page, "**/puzzles/next?*")
    click_move(page, "e4", "c5")
    page.keyboard.press("n")
    requests.wait_for(1)
    requests.fail(0)
    page.clock.run_for(1000)
    expect_piece(page, "d8", "k")
    click_move(page, "c5", "b7")
    expect_status(page, "Solved")


def test_next_before_the_choices_are_there_keeps_the_choice(page):
    page.get_by_label("Theme", exact=True).select_option("Back-rank mate (1)")
    expect(page.locator("#count")).to_have_text("2 of 3")
    requests = HeldRequests(page, "**/puzzles")
    page.reload()
    requests.wait_for(1)
    page.keyboard.press("n")
    requests.wait_for(2)
    requests.answer(1)
    expect(page.locator("#count")).to_have_text("2 of 3")
    requests.answer(0)
    expect(page.locator("#count")).to_have_text("2 of 3")
    expect(page.get_by_label("Theme", exact=True)).to_have_value("backRankMate")


def test_the_way_back_has_only_puzzles_of_this_file(page):
    page.evaluate("sessionStorage.setItem('puzzles before', '[2, 9]')")  # as with a larger file before
    page.reload()
    expect_status(page, "White to move")
    page.keyboard.press("p")
    expect(page.locator("#count")).to_have_text("2 of 3")


def test_the_solution_is_analysed_on_the_board_and_the_way_back_is_there(page):
    page.get_by_role("button", name="Show the solution").click()
    expect(page.locator("#solved")).to_contain_text("0 of 1")
    page.get_by_role("button", name="Analyse").click()
    expect(page.get_by_role("tab", name="Analyse")).to_have_attribute("aria-selected", "true")
    expect_moves(page, "Nxc5", "Kd8", "Nb7+")
    expect_piece(page, "e4", "N")
    page.get_by_role("link", name="Puzzles").press("Enter")
    expect(page.locator("#count")).to_have_text("1 of 3")


def test_the_game_of_a_puzzle_is_shown_at_its_position(page):
    page.get_by_role("button", name="Show the solution").click()
    expect(page.locator("#solved")).to_contain_text("0 of 1")
    page.get_by_role("button", name="Show the game").click()
    expect_moves(page, "Qc5", "g3", "Qe5")
    expect_shown(page, "Qc5")
    expect(page.locator("#player-bottom .name")).to_have_text("Anna")


def test_a_puzzle_that_is_being_solved_comes_back_as_it_was(page):
    host = page.url.partition("#")[0]
    click_move(page, "e4", "c5")
    page.clock.run_for(1000)
    expect_piece(page, "d8", "k")
    page.get_by_role("link", name="Board").click()
    expect(page.get_by_role("tab", name="Analyse")).to_be_visible()
    for tab in (page, page.context.new_page()):
        tab.goto(f"{host}puzzles.html")
        expect(tab.locator("#count")).to_have_text("1 of 3")
        expect_piece(tab, "c5", "N")
        expect_piece(tab, "d8", "k")
    page.reload()
    expect_piece(page, "d8", "k")
    click_move(page, "c5", "b7")
    expect_status(page, "Solved")
    expect(page.locator("#solved")).to_have_text("1 of 1100 %")
    page.goto(f"{host}puzzles.html")
    expect(page.locator("#count")).to_have_text("2 of 3")


def test_a_puzzle_with_a_wrong_move_cannot_be_tried_again_for_the_rating(browser, progress):
    page = browser.new_page()
    page.clock.install()
    with BoardServer([Puzzle(MATE, "one", (), 1450)], progress=progress).running() as server:
        page.goto(server.address)
        expect_status(page, "Black to move")
        page.context.set_offline(True)
        click_move(page, "d8", "d2")
        expect(page.get_by_role("alert")).to_contain_text("Your answer is kept in this browser and sent later")
        page.context.set_offline(False)
        page.reload()
        expect_status(page, "You have answered this puzzle already, so it does not count")
        click_move(page, "d8", "d1")
        expect_status(page, "Solved")
        expect(page.locator("#solved")).to_have_text("0 of 10 %")
        page.context.close()
    assert (progress.standing().tried, progress.standing().solved) == (1, 0)
