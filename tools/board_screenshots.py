"""Make the pictures of the web board in docs/images: light, dark and on a phone.

Needs Chromium, Playwright and Pillow. From the root of the repository: ``python tools/board_screenshots.py``.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SECONDS = 8  # duration of the shown analysis

# Anderssen against Kieseritzky, London 1851, with two variations.
GAME = """\
[Event "London"]
[Date "1851.06.21"]
[White "Adolf Anderssen"]
[Black "Lionel Kieseritzky"]
[Result "1-0"]

1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 (4... d6 5. Nc3 Be6 6. Qe2) 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5
9. Nf5 c6 10. g4 Nf6 11. Rg1 cxb5 12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2
18. Bd6 (18. d4 Qxa1+) 18... Bxg1 19. e5 Qxa1+ 20. Ke2 Na6 21. Nxg7+ Kd8 22. Qf6+ Nxf6 23. Be7# 1-0
"""


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    command = [sys.executable, "-m", "knightadder", "play", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        try:
            page = open_board(browser, found[0], 1200, 830, "light")
            analyse(page)
            save(page, "board-light")
            page = open_board(browser, found[0], 1200, 830, "dark")
            play(page)
            save(page, "board-dark")
            page = open_board(browser, found[0], 375, 780, "light")
            analyse(page)
            save(page, "board-phone")
        finally:
            browser.close()
            server.terminate()


def open_board(browser: Browser, address: str, width: int, height: int, scheme: Literal["light", "dark"]) -> Page:
    viewport: ViewportSize = {"width": width, "height": height}
    page = browser.new_context(viewport=viewport, color_scheme=scheme, device_scale_factor=1).new_page()
    page.set_default_timeout(120_000)
    expect.set_options(timeout=120_000)
    page.goto(address)
    page.wait_for_selector("body[data-engine=ready] .piece")
    return page


def analyse(page: Page) -> None:
    page.get_by_role("tab", name="Analyse").click()
    page.get_by_role("button", name="Load PGN").click()
    page.get_by_label("PGN", exact=True).fill(GAME)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("#moves")).to_contain_text("Be7#")
    page.get_by_role("button", name="Evaluate the game").click()
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()
    page.locator("#moves > button").filter(has_text=re.compile("^Bd6")).click()  # the move's text may end with a mark
    page.get_by_role("switch", name="Engine").click()
    expect(page.locator("#lines li")).to_have_count(3)
    page.wait_for_timeout(SECONDS * 1000)
    page.evaluate("scrollTo(0, 0)")


def play(page: Page) -> None:
    page.get_by_label("Clock").select_option("5 minutes + 3 s")
    page.get_by_role("button", name="Start the game").click()
    for count, move in enumerate(("e4", "Nf3", "d4"), 1):
        page.get_by_label("Type a move").fill(move)
        page.keyboard.press("Enter")
        expect(page.locator("#moves [data-node]")).to_have_count(2 * count)
    page.locator("#board [data-square=b1]").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)


def save(page: Page, name: str) -> None:
    """Save a screenshot with a palette, which is enough for flat colours."""
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(256)
    image.save(IMAGES / f"{name}.png", optimize=True)
    page.context.close()


if __name__ == "__main__":
    main()
