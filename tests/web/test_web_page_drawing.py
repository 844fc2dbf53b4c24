"""Arrows, circles and hints on the board in a browser."""

import pytest
from on_page import click_move, drag_move, expect_moves, expect_shown, load_pgn, press, square, start_game
from playwright.sync_api import expect


def _draw(page, start, end, *keys):
    square(page, start).hover()
    for key in keys:
        page.keyboard.down(key)
    page.mouse.down(button="right")
    square(page, end).hover()
    page.mouse.up(button="right")
    for key in keys:
        page.keyboard.up(key)


def _expect_shapes(page, *shapes):
    expect(page.locator("#board [data-shape]")).to_have_count(len(shapes))
    for shape in shapes:
        expect(page.locator(f"#board [data-shape={shape}]")).to_have_count(1)


def test_the_right_button_draws_in_the_colour_of_the_keys(page):
    colours, shapes = {(): "G", ("Shift",): "R", ("Control",): "R", ("Alt",): "B", ("Shift", "Alt"): "Y"}, []
    for file, (keys, colour) in zip("abcde", colours.items(), strict=True):
        _draw(page, f"{file}2", f"{file}4", *keys)
        _draw(page, f"{file}6", f"{file}6", *keys)
        shapes += [f"{colour}{file}2{file}4", f"{colour}{file}6"]
        _expect_shapes(page, *shapes)


def test_a_shape_is_taken_away_or_changes_its_colour(page):
    _draw(page, "d2", "d4")
    _expect_shapes(page, "Gd2d4")
    _draw(page, "d2", "d4", "Shift")
    _expect_shapes(page, "Rd2d4")
    _draw(page, "d2", "d4", "Shift")
    _expect_shapes(page)


def _expect_mode(page, on):
    expect(page.get_by_role("button", name="Draw arrows")).to_have_attribute("aria-pressed", str(on).lower())
    expect(page.get_by_label("Type a move")).to_be_visible(visible=not on)


def test_shapes_are_drawn_by_the_keyboard_alone(page):
    page.keyboard.press("d")
    _expect_mode(page, True)
    expect(square(page, "e2")).to_be_focused()
    for key in ("Enter", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    _expect_shapes(page, "Ge2e4")  # is seen while it is drawn
    page.keyboard.press("Enter")
    for key in ("3", "Space", "Space", "ArrowUp", "Shift+Enter", "Shift+Enter"):
        page.keyboard.press(key)
    _expect_shapes(page, "Ge2e4", "Be4", "Re5")
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, white pawn, green arrow to e4")
    expect(square(page, "e4")).to_have_attribute("aria-label", "e4, empty, blue circle")
    expect_moves(page)
    for key in ("Enter", "ArrowUp", "Escape"):
        page.keyboard.press(key)
    _expect_shapes(page, "Ge2e4", "Be4", "Re5")
    _expect_mode(page, True)
    page.keyboard.press("Escape")
    _expect_mode(page, False)
    page.keyboard.press("d")
    press(page.get_by_role("button", name="Remove the drawings"))
    _expect_shapes(page)
    page.keyboard.press("d")
    _expect_mode(page, False)


@pytest.mark.parametrize("size", [(390, 844), (844, 390)], ids=["portrait", "landscape"])
def test_shapes_are_drawn_by_a_finger(engine, open_page, size):
    page = open_page(*size, has_touch=True, is_mobile=True)
    finger = page.context.new_cdp_session(page)

    def touch(kind, *names):
        boxes = [square(page, name).bounding_box() for name in names]
        points = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2} for box in boxes]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    page.get_by_role("button", name="Draw arrows").tap()
    _expect_mode(page, True)
    page.get_by_role("group", name="Colour to draw in").locator("label").nth(1).tap()
    expect(page.get_by_label("Red", exact=True)).to_be_checked()
    square(page, "e4").tap()
    _expect_shapes(page, "Re4")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.get_by_role("button", name="Remove the drawings").tap()
    _expect_shapes(page)
    page.get_by_role("button", name="Draw arrows").tap()
    _expect_mode(page, False)
    page.get_by_role("button", name="Draw arrows").tap()
    # The drag comes last, because Chromium may drop a tap that follows it quickly.
    for kind, *names in (("Start", "g1"), ("Move", "f3"), ("End",)):
        touch(kind, *names)
    _expect_shapes(page, "Rg1f3")


def test_shapes_drawn_before_the_server_answers_are_all_kept(engine, open_page):
    held = []

    def connect(socket):
        server = socket.connect_to_server()
        server.on_message(
            lambda message: held.append((socket, message)) if "nodes" in message else socket.send(message)
        )

    def answer(page):
        while not held:
            page.wait_for_timeout(5)
        socket, message = held.pop(0)
        socket.send(message)

    page = open_page(sockets=connect)
    answer(page)  # the tree, which has nodes as well
    for name in "ab":
        _draw(page, f"{name}2", f"{name}4")
    answer(page)  # knows the first arrow only
    page.wait_for_timeout(50)
    _draw(page, "c2", "c4")
    for _ in "bc":
        answer(page)
    _draw(page, "d4", "d4")
    answer(page)
    _expect_shapes(page, "Ga2a4", "Gb2b4", "Gc2c4", "Gd4")


def test_shapes_belong_to_a_position_and_go_into_the_pgn(page):
    load_pgn(page, "1. e4 e5 *")
    expect_moves(page, "e4", "e5")
    page.keyboard.press("ArrowRight")
    expect_shown(page, "e4")
    _expect_shapes(page)
    _draw(page, "g8", "f6")
    _expect_shapes(page, "Gg8f6")
    page.keyboard.press("f")
    _expect_shapes(page, "Gg8f6")
    page.keyboard.press("ArrowRight")
    _expect_shapes(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PGN").click()
    with open(download.value.path(), encoding="utf-8") as file:
        assert "[%cal Gg8f6]" in file.read()
    page.keyboard.press("ArrowLeft")
    _expect_shapes(page, "Gg8f6")


def test_the_right_button_cancels_a_move_made_in_advance_and_draws_nothing(engine, page):
    engine.held = True
    start_game(page)
    click_move(page, "e2", "e4")
    expect(page.locator("#game .status")).to_contain_text("Knightadder is thinking")
    drag_move(page, "g1", "f3")
    expect(page.locator("#board .premove")).to_have_count(2)
    _draw(page, "d2", "d4")
    expect(page.locator("#board .premove")).to_have_count(0)
    _draw(page, "d2", "d3")
    _expect_shapes(page, "Gd2d3")


def test_a_hint_shows_the_piece_and_then_the_move(engine, page):
    engine.script = ["e5", "Nf3", "Nc6"]
    start_game(page)
    click_move(page, "e2", "e4")
    expect_moves(page, "e4", "e5")
    page.get_by_role("button", name="Hint").click()
    _expect_shapes(page, "Bg1")
    page.get_by_role("button", name="Show move").click()
    _expect_shapes(page, "Bg1f3")
    click_move(page, "g1", "f3")
    expect_moves(page, "e4", "e5", "Nf3", "Nc6")
    _expect_shapes(page)
    expect(page.get_by_role("button", name="Hint")).to_be_enabled()


def test_a_hint_can_be_asked_for_again_after_the_engine_is_set(engine, page):
    engine.held = True
    start_game(page)
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_role("button", name="Searching…")).to_be_disabled()
    page.get_by_role("button", name="Engine settings").click()
    page.get_by_role("dialog", name="Engine settings").get_by_role("button", name="Use").click()
    expect(page.get_by_role("button", name="Hint")).to_be_enabled()


def test_there_is_no_hint_while_the_engine_thinks(engine, page):
    engine.held = True
    start_game(page)
    expect(page.get_by_role("button", name="Hint")).to_be_enabled()
    click_move(page, "e2", "e4")
    expect(page.get_by_role("button", name="Hint")).to_be_disabled()
