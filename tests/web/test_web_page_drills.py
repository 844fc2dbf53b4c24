"""Drills on the page, in a browser."""

import re

import pytest
from board_server import BoardServer
from board_tab import PATIENCE
from held_requests import HeldRequests
from on_page import click_move, every_layout, expect_moves, expect_piece, expect_status, square
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.drills.box import Choice, DrillBox
from knightadder.drills.drill import Drill

MISTAKE = Drill(
    "mistake",
    "4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1",
    (("e4c5", "e8d8", "c5b7"),),
    "Did not take a loose piece",
    "Réti Opening",
    played="h2h3",
    about="Against Bert, 2026.03.01, move 1",
)
REPLY = Drill(
    "repertoire",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    (("c7c5",),),
    "Repertoire",
    "King's Pawn Game",
    before="1. e4",
    comment="fight",
)


@pytest.fixture
def box(tmp_path):
    box = DrillBox(tmp_path / "drills.sqlite")
    box.add([MISTAKE, REPLY])
    return box


@pytest.fixture
def page(browser, box, request):
    width, height = getattr(request, "param", (1280, 800))
    complaints = []
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    with BoardServer(drills=box).running() as server:
        server.make_engine = StandInEngine
        page.goto(server.address)
        expect_status(page, "White to move")
        yield page
        context.close()
    assert complaints == []


@every_layout
def test_a_mistake_is_played_again_until_it_is_right(page, box):
    expect(page.locator("#count")).to_have_text("0 due, 2 new")
    click_move(page, "h2", "h3")
    expect_status(page, "Wrongh3 was played in the game. Try another move")
    expect_piece(page, "h2", "P")
    click_move(page, "e4", "c5")
    expect_status(page, "Right1. Nxc5 Kd8 2. Nb7+. Again in 1 minute")
    expect(page.locator("#about")).to_have_text("Against Bert, 2026.03.01, move 1")
    expect(page.locator("#comment")).to_have_text("In the game: h3. Did not take a loose piece. Réti Opening")
    expect(page.locator("#count")).to_have_text("0 due, 1 new")
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0
    page.get_by_role("button", name="Analyse").click()
    expect_moves(page, "Nxc5", "h3", "Kd8", "Nb7+")  # with the move of the game as a variation
    page.get_by_role("link", name="Drills").click()
    expect_status(page, "Black to move")
    assert box.next(Choice(kind="mistake")).next_due is not None


def test_a_repertoire_by_the_keyboard(page):
    page.get_by_label("Drills", exact=True).select_option("My repertoire with Black")
    expect_status(page, "Black to moveFind the move of your repertoire")
    expect(page.locator("#before")).to_have_text("1. e4")
    expect(page.locator("#opening option")).to_have_text(["All openings", "King's Pawn Game"])
    expect(page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    page.keyboard.press("h")
    expect(square(page, "c7")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("s")
    expect_status(page, "The solution1...c5. Again in 1 minute")
    expect_piece(page, "c5", "p")
    expect(page.locator("#comment")).to_have_text("fight")
    page.keyboard.press("n")
    expect_status(page, "Black to move")  # there is no other one of this choice
    square(page, "c7").click()
    square(page, "c5").click()
    expect_status(page, "Right1...c5. Again in 10 minutes")


def test_the_choice_and_the_drill_survive_a_reload(page):
    page.get_by_label("Drills", exact=True).select_option("My repertoire with Black")
    expect_status(page, "Black to move")
    with page.expect_response("**/drills/next?*opening=King*"):
        page.get_by_label("Opening", exact=True).select_option("King's Pawn Game")
    page.reload()
    expect(page.get_by_label("Drills", exact=True)).to_have_value("3")
    expect(page.get_by_label("Opening", exact=True)).to_have_value("King's Pawn Game")
    expect(page.locator("#count")).to_have_text("0 due, 1 new")
    expect_status(page, "Black to move")
    page.get_by_label("Drills", exact=True).select_option("All")
    expect(page.get_by_label("Drills", exact=True).locator("option")).to_have_count(3)
    with page.expect_response("**/drills/next?*"):
        page.get_by_label("Opening", exact=True).select_option("All openings")
    expect_status(page, "White to move")
    page.keyboard.press("n")
    expect_status(page, "Black to move")
    page.reload()
    expect(page.locator("#count")).to_have_text("0 due, 2 new")
    expect_status(page, "Black to move")


def test_a_hint_counts_even_after_a_reload(page, box):
    page.keyboard.press("h")
    expect(square(page, "e4")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("n")
    expect_status(page, "Black to move")
    page.reload()
    expect_status(page, "Black to move")
    page.keyboard.press("n")
    expect_status(page, "White to move")
    click_move(page, "e4", "c5")
    expect_status(page, "Again in 5 minutes")  # without a hint, in 10 minutes


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_choices_only_the_newest_is_shown(page, order):
    requests = HeldRequests(page, "**/drills/next?*")
    kinds = page.get_by_label("Drills", exact=True)
    for count, kind in enumerate(("My mistakes", "My repertoire with Black"), start=1):
        kinds.select_option(kind)
        requests.wait_for(count)
    for number in order:
        requests.answer(number)
        expect_status(page, "Black to move" if 1 in order[: order.index(number) + 1] else "White to move")


def test_after_two_presses_the_page_goes_on_once(page):
    requests = HeldRequests(page, "**/drills")
    for count in (1, 2):
        page.keyboard.press("n")
        requests.wait_for(count)
    requests.answer(1)
    expect_status(page, "Black to move")
    page.keyboard.press("s")
    requests.wait_for(3)
    requests.answer(2)
    expect_status(page, "The solution1...c5. Again in 1 minute")
    with page.expect_response("**/drills/next?*"):
        requests.answer(0)
    page.evaluate("fetch('/pages').then((answer) => answer.text())")
    expect_status(page, "The solution")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_if_the_newest_request_fails_the_first_drill_is_shown(page, order):
    requests = HeldRequests(page, "**/drills/next?*")
    page.reload()
    requests.wait_for(1)
    page.keyboard.press("n")
    requests.wait_for(2)
    for number in order:
        requests.answer(0) if number == 0 else requests.fail(1)
    expect_status(page, "White to move")
    expect(page.get_by_role("alert")).to_have_text("The server is busy")
    click_move(page, "e4", "c5")
    expect_status(page, "Right")


def test_drills_that_are_added_while_the_page_is_open_can_be_chosen(page, box):
    box.file.unlink()
    page.keyboard.press("n")
    expect_status(page, "There are no drills yet")
    kinds = page.get_by_label("Drills", exact=True).locator("option")
    expect(kinds).to_have_text(["All"])
    square(page, "e4").click()
    square(page, "c5").click()
    expect_piece(page, "e4", "N")  # there is no drill to answer
    box.add([REPLY])
    page.keyboard.press("n")
    expect_status(page, "Black to move")
    expect(kinds).to_have_text(["All", "My repertoire with Black"])


def test_progress_that_cannot_be_kept_is_said(page, box):
    box.file.write_text("damaged")
    click_move(page, "e4", "c5")
    expect_status(page, "Right1. Nxc5")
    expect(page.get_by_role("alert")).to_contain_text("cannot use the drills in")


def test_an_answer_that_cannot_be_sent_is_sent_later(browser, box):
    page = browser.new_context().new_page()
    page.clock.install()
    kept = "Your answer is kept in this browser and sent later"
    with BoardServer(drills=box).running() as first:
        page.goto(first.address)
        expect_status(page, "White to move")
        page.context.set_offline(True)
        click_move(page, "e4", "c5")
        expect(page.get_by_role("alert")).to_contain_text(kept)
        page.keyboard.press("a")  # the browser would show an error page instead of the board
        expect(page.get_by_role("alert")).to_have_text(re.compile(r"^There is no answer from the server \(.*\)$"))
        expect_status(page, "Right")
        page.context.set_offline(False)
        page.clock.run_for(4000)
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(page.locator("#count")).to_have_text("0 due, 1 new")
        page.keyboard.press("n")
        expect_status(page, "Black to move")
    page.keyboard.press("s")
    expect(page.get_by_role("alert")).to_contain_text(kept)
    assert [(group.kind, group.new) for group in box.groups()] == [("mistake", 0), ("repertoire", 1)]
    with BoardServer(drills=box, port=first.port).running() as second:
        page.clock.run_for(4000)
        expect(page.get_by_role("alert")).to_contain_text("The server was restarted: in this browser, open the address")
        expect(page.get_by_role("alert")).to_contain_text(kept)
        other = page.context.new_page()
        other.goto(second.address)
        expect(other.locator("#count")).to_have_text("0 due, 0 new")
        page.clock.run_for(4000)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert sum(group.new for group in box.groups()) == 0
    with BoardServer(port=first.port).running() as third:
        other.goto(third.address)
        page.keyboard.press("n")
        expect(page.get_by_role("alert")).to_have_text("The server was started without this part")
        page.context.close()


def test_an_answer_is_kept_until_the_server_has_its_file(browser, box, tmp_path):
    other = DrillBox(tmp_path / "other.sqlite")
    other.add([MISTAKE, REPLY])  # with the same numbers
    page = browser.new_context().new_page()
    page.clock.install()
    with BoardServer(drills=box).running() as first:
        page.goto(first.address)
        expect_status(page, "White to move")
    click_move(page, "e4", "c5")
    expect(page.get_by_role("alert")).to_contain_text("Your answer is kept in this browser and sent later")
    with BoardServer(drills=other, port=first.port).running() as second:
        tab = page.context.new_page()
        tab.goto(second.address)
        expect(tab.locator("#count")).to_have_text("0 due, 2 new")
        page.clock.run_for(4000)
        expect(page.get_by_role("alert")).to_be_hidden()
        click_move(tab, "e4", "c5")
        expect_status(tab, "Again in 10 minutes")
        expect(tab.locator("#count")).to_have_text("0 due, 1 new")
    assert [sum(group.new for group in each.groups()) for each in (box, other)] == [2, 1]
    with BoardServer(drills=box, port=first.port).running() as third:
        tab.goto(third.address)
        expect(tab.locator("#count")).to_have_text("0 due, 1 new")
        page.context.close()


def test_a_drill_that_two_tabs_show_is_counted_once(page, box):
    other = page.context.new_page()
    other.goto(page.url)
    expect_status(other, "White to move")
    click_move(page, "e4", "c5")
    expect_status(page, "Again in 10 minutes")
    due = box.next(Choice(kind="mistake")).next_due
    click_move(other, "h2", "h3")
    click_move(other, "e4", "c5")
    expect_status(other, "Nb7+. This drill was answered already, or is no longer there, so this does not count")
    assert box.next(Choice(kind="mistake")).next_due == due
