"""Solving puzzles on the page, in a browser."""

import re

import chess
import pytest
from board_server import BoardServer
from board_tab import PATIENCE
from on_page import click_move, drag_move, expect_piece, square
from playwright.sync_api import expect

from knightadder.puzzles.puzzle import Puzzle, Solution

FORK = Solution("4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1", tuple(map(chess.Move.from_uci, ("e4c5", "e8d8", "c5b7"))))
MATE = Solution("3r2k1/5ppp/8/8/8/p7/5PPP/6K1 b - - 0 1", (chess.Move.from_uci("d8d1"),))
PROMOTION = Solution("6k1/P4ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", (chess.Move.from_uci("d1d8"),))


@pytest.fixture
def page(browser):
    puzzles = [
        Puzzle(FORK, "one", ("hangingPiece",), 1300, "games.pgn?game=7#0"),
        Puzzle(MATE, "two", ("backRankMate", "mateIn1"), 1450),
        Puzzle(PROMOTION, "three"),
    ]
    complaints = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(1000 * PATIENCE)
    context.clock.install(time=0)
    context.clock.pause_at(1)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    with BoardServer(puzzles).running() as server:
        page.goto(server.address)
        expect_status(page, "White to move")
        yield page
        context.close()
    assert complaints == []


def expect_status(page, text):
    expect(page.get_by_role("status")).to_contain_text(text)


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
    expect(page.locator("#themes")).to_have_text("hangingPiece")
    expect(page.locator("#game")).to_have_text("games.pgn?game=7#0")
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
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    click_move(page, "a7", "a8")
    page.get_by_role("button", name="queen").click()
    expect_status(page, "Solved")
    expect_piece(page, "a8", "Q")
    page.get_by_role("link", name="Board").click()
    expect(page.get_by_role("tab", name="Analyse")).to_be_visible()
