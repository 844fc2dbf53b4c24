"""The page in a browser: on a desk and on a phone, without a network, with puzzles to solve."""

import pytest
from chromium import MISSING, find_chromium
from report_games import GAMES, NAME, use_pool

from knightadder import cli


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    (folder / "games.pgn").write_text(GAMES, "utf-8")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_pool(monkeypatch)
        arguments = ["report", folder / "games.pgn", "--player", NAME, "-o", folder / "anna.html", "--nodes", "7"]
        assert cli.main([*map(str, arguments)]) == 0
    return (folder / "anna.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, timeout=120_000)
        yield browser
        browser.close()


@pytest.fixture(params=[(1280, 800), (390, 844)])
def page(request, browser, address):
    width, height = request.param
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(60_000)
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    yield page
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert said == []
    page.close()


def play(page, uci):
    page.locator(f".solver [data-square={uci[:2]}]").click()
    page.locator(f".solver [data-square={uci[2:4]}]").click()


def said(page):
    return page.locator(".solver .said").inner_text()


def test_nothing_is_wider_than_the_window(page):
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    images = page.locator("img").all()
    assert images and all(image.evaluate("image => image.complete && image.naturalWidth > 0") for image in images)
    assert all(image.bounding_box()["x"] + image.bounding_box()["width"] <= width for image in images)


def test_a_puzzle_is_solved_on_the_board(page):
    puzzles = page.evaluate("puzzles.map((puzzle) => puzzle.played)")
    for _ in range(puzzles.index("Qf3")):
        page.locator(".solver .next").click()
    assert said(page) == "White to move: find a better move than in the game."
    play(page, "h5f3")
    assert said(page) == "Qf3 was played in the game. Look for a better move."
    play(page, "e1e2")
    assert said(page) == "Ke2 is not good enough. Try again."
    play(page, "h5h5")  # a piece that is put down again
    play(page, "h5f7")
    assert said(page) == "Qxf7# is right."
    assert page.locator(".solver .solved").inner_text() == "1 solved"
    assert (
        page.locator(".solver .line")
        .inner_text()
        .startswith("4. Qxf7#. In the game: Qf3. Misses mate in 1. The winning chances fell ")
    )
    assert "piece-wq" in page.locator(".solver [data-square=f7]").get_attribute("class")
    play(page, "e1e2")  # it is over
    assert said(page) == "Qxf7# is right."
    page.locator(".solver .again").click()
    page.locator(".solver .solution").click()
    assert said(page) == "Qxf7# was better."


def test_the_keyboard_solves_too(page):
    puzzles = page.evaluate("puzzles.map((puzzle) => puzzle.played)")
    for _ in range(puzzles.index("Qf3")):
        page.locator(".solver .next").press("Enter")
    page.locator(".solver [data-square=h5]").press("Enter")
    page.locator(".solver [data-square=f7]").press("Enter")
    assert said(page) == "Qxf7# is right."
