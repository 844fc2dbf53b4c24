"""The look of the board: colours, pieces, coordinates; and the colours of arrows."""

import itertools

from on_page import analyse_tab, click_move, every_layout, square
from playwright.sync_api import expect

OWN_COLOURS = "GRYB"


def style_of(locator, name):
    return locator.evaluate(f"element => getComputedStyle(element).{name}")


@every_layout
def test_the_look_is_chosen_by_the_keyboard_and_kept(page, server):
    usual = style_of(square(page, "e4"), "backgroundColor")
    button = page.get_by_role("button", name="Board and pieces")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Board and pieces")
    for group in ("Green", "Classic"):
        dialog.get_by_label(group, exact=True).focus()
        page.keyboard.press("ArrowRight")
    dialog.get_by_label("Coordinates on the board").focus()
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    for _ in range(2):
        assert style_of(square(page, "e4"), "backgroundColor") != usual
        assert "/pieces/plain/wK.svg" in style_of(page.locator("#board .piece.wK"), "backgroundImage")
        expect(page.locator("#board .coordinate").first).to_be_hidden()
        page.goto(server.address)  # all of it is kept
        expect(page.locator("#board .piece")).to_have_count(32)


def test_arrows_of_engines_and_of_the_user_differ_in_both_themes(page):
    page.evaluate(
        """shapes => {
          const add = (place, name) => {
            const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
            group.setAttribute("class", name);
            group.append(document.createElementNS("http://www.w3.org/2000/svg", "line"));
            document.querySelector(place).append(group);
          };
          for (const shape of shapes) add("#board .shapes", `shape ${shape}`);
          add("#board .arrows", "");
          add("#board .arrows", "other");
        }""",
        list(OWN_COLOURS),
    )
    for _ in range(2):
        lines = page.locator("#board :is(.arrows, .shapes) line").all()
        colours = {tuple(map(int, style_of(line, "stroke")[4:-1].split(","))) for line in lines}
        assert len(colours) == 2 + len(OWN_COLOURS)
        for first, second in itertools.combinations(colours, 2):
            assert sum(abs(a - b) for a, b in zip(first, second, strict=True)) > 100
        page.get_by_role("button", name="Dark mode").click()


def test_a_contrast_theme_of_the_system_leaves_the_colours_that_say_something(open_page):
    page = open_page(forced_colors="active")
    analyse_tab(page)
    click_move(page, "e2", "e4")
    expect(page.locator("#moves [aria-current]")).to_be_visible()
    plain = style_of(page.locator("body"), "backgroundColor")
    for coloured in ("#board .square.dark", "#analysis .knob", "#moves [aria-current]", "[role=tablist]"):
        assert style_of(page.locator(coloured).first, "backgroundColor") != plain, coloured
