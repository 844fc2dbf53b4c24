"""The engine's threads and hash table: chosen on the page, and kept in the browser."""

import asyncio
import threading

import pytest
from board_tab import PATIENCE, open_tab
from on_page import LAYOUTS, analyse_tab, start_engine
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder.engine.errors import OptionError
from knightadder.web import session
from knightadder.web.messages import Configure
from knightadder.web.resources import Resources


@pytest.fixture(autouse=True)
def three_threads(monkeypatch):
    """Let three threads be the most, whatever the machine."""
    monkeypatch.setattr(Resources.__init__, "__defaults__", (1, 64, 3, 1024))


def test_a_tab_chooses_within_the_limits(engine, tab):
    limits = {"max_threads": 3, "max_hash": 1024}
    assert tab.resources == {"type": "resources", "threads": 1, "hash": 64, **limits}
    tab.ask("configure", threads=3, hash=256).send("analyse", on=True)
    tab.until("lines")
    assert (engine.options["Threads"], engine.options["Hash"]) == (3, 256)
    assert tab.resources == {"type": "resources", "threads": 3, "hash": 256, **limits}
    for threads, size in ((4, 256), (3, 1025)):
        tab.ask("configure", threads=threads, hash=size)
        assert tab.error["text"] == "expected at most 3 threads and 1024 MB of hash"
    assert engine.running == 1


def test_the_command_line_may_go_beyond_the_limits():
    resources = Resources(8, 4096)
    assert (resources.max_threads, resources.max_hash_mb) == (8, 4096)


def test_a_search_goes_on_with_what_is_chosen(server, engine):
    with open_tab(server) as tab:
        tab.send("analyse", on=True)
        tab.until("lines")
        tab.send("configure", threads=2, hash=64)
        tab.until("lines")
        assert engine.options["Threads"] == 2 and len(engine.searches) == 2


def test_what_the_engine_refuses_is_taken_back(engine, tab):
    accept = engine.configure

    def configure(options):
        if options.get("Hash") == 256:
            raise OptionError("not enough memory")
        return accept(options)

    engine.configure = configure
    tab.ask("configure", threads=2, hash=128).send("analyse", on=True)
    tab.until("lines")
    tab.send("configure", threads=3, hash=256)
    assert tab.until("notice")["text"] == "not enough memory"
    tab.until("lines")  # the analysis goes on
    assert (tab.resources["threads"], tab.resources["hash"]) == (2, 128)
    assert (engine.options["Threads"], engine.options["Hash"]) == (2, 128)


def test_a_choice_that_follows_a_refused_one_counts(engine, tab):
    begun, refused = threading.Event(), threading.Event()
    accept = engine.configure

    def configure(options):
        if options.get("Hash") == 256:
            begun.set()
            assert refused.wait(PATIENCE)
            raise OptionError("not enough memory")
        return accept(options)

    engine.configure = configure
    tab.ask("configure", threads=2, hash=256).ask("analyse", on=True)
    assert begun.wait(PATIENCE)
    tab.ask("configure", threads=3, hash=128)
    refused.set()
    tab.until("lines")
    assert (tab.resources["threads"], tab.resources["hash"]) == (3, 128)
    assert (engine.options["Threads"], engine.options["Hash"]) == (3, 128)


def test_other_tabs_do_not_wait_while_a_hash_table_is_cleared(server):
    cleared, engine = threading.Event(), StandInEngine()
    accept = engine.configure

    def configure(options):
        assert "Hash" not in options or cleared.wait(PATIENCE)
        return accept(options)

    engine.configure = configure
    server.make_engine = iter([engine, StandInEngine()]).__next__
    with open_tab(server) as tab, open_tab(server) as other:
        tab.ask("configure", threads=1, hash=256).ask("analyse", on=True)
        assert other.play("e4").sans == ["e4"]
        cleared.set()
        tab.until("lines")


def test_chosen_settings_are_shown_before_the_answer(open_page, monkeypatch):
    answered = threading.Event()

    async def wait(chosen, message):
        while not answered.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setitem(session._HANDLERS, Configure, wait)
    page = open_page(1280, 800)
    settings = page.get_by_role("button", name="Engine settings")
    settings.click()
    page.get_by_label("Search threads").fill("2")
    page.get_by_role("button", name="Use").click()
    settings.click()
    try:
        expect(page.get_by_label("Search threads")).to_have_value("2")
    finally:
        answered.set()


def test_settings_are_used_and_kept(server, open_page):
    engines = [StandInEngine(), StandInEngine()]
    server.make_engine = iter(engines).__next__
    page = open_page(*LAYOUTS["phone"])
    settings = page.get_by_role("button", name="Engine settings")
    dialog = page.get_by_role("dialog", name="Engine settings")
    settings.click()
    expect(dialog.get_by_text("At most 3 threads and 1024 MB")).to_be_visible()
    box = dialog.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= LAYOUTS["phone"][0]
    threads, hash_table = page.get_by_label("Search threads"), page.get_by_label("Hash table, MB")
    expect(threads).to_have_value("1")
    threads.fill("4")
    dialog.get_by_role("button", name="Use").click()
    expect(dialog).to_be_visible()  # the browser says that it is too much
    threads.fill("2")
    hash_table.fill("128")
    dialog.get_by_role("button", name="Use").click()
    expect(dialog).to_be_hidden()
    settings.click()
    expect(threads).to_have_value("2")
    dialog.get_by_role("button", name="Cancel").click()
    later = page.context.new_page()
    later.goto(server.address)
    analyse_tab(later)
    expect(later.locator("#board .piece")).to_have_count(32)  # by then, it has asked for what was chosen
    start_engine(later)
    assert [(each.options.get("Threads"), each.options.get("Hash")) for each in engines] == [(None, None), (2, 128)]


def test_choices_for_a_new_game_and_the_number_of_lines_are_kept(page, server):
    page.locator(".segments").get_by_text("Black", exact=True).click()
    page.get_by_label("Strength").fill("3050")
    page.get_by_label("Clock").select_option("Other…")
    page.get_by_label("Minutes").fill("7")
    page.get_by_label("Start from").select_option("Chess960")
    page.get_by_label("Start from").select_option("The board as it is")  # another tab has the choice before it
    analyse_tab(page)
    page.get_by_label("Lines", exact=True).select_option("5")
    other = page.context.new_page()
    other.goto(server.address)
    expect(other.locator("#setup output")).to_have_text("Full")
    expect(other.get_by_role("radio", name="Black")).to_be_checked()
    expect(other.get_by_label("Minutes")).to_have_value("7")
    expect(other.get_by_label("Start from")).to_have_value("chess960")
    other.get_by_label("Strength").fill("700")
    other.get_by_label("The engine takes its time").uncheck()
    analyse_tab(other)
    other.get_by_role("switch", name="Engine").click()
    expect(other.locator("#lines li")).to_have_count(5)
    page.reload()
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#setup output")).to_have_text("700 Elo: beginner")
    expect(page.get_by_label("The engine takes its time")).not_to_be_checked()
