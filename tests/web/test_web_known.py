"""What is known of a position: by a book that the test writes, and tablebases with python-chess as the oracle."""

import json
import re
import struct
import threading
from urllib.parse import urlencode

import chess
import chess.polyglot
import chess.syzygy
import pytest
from board_server import BoardServer
from board_tab import PATIENCE, get, open_tab
from on_page import LAYOUTS, analyse_tab, click_move, expect_moves, set_up, start_game
from playwright.sync_api import expect
from stand_in_engine import StandInEngine

from knightadder import cli
from knightadder.engine.book import Book
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.web.site.known import Known


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Give the file of a book with three moves for the start position."""
    file = tmp_path_factory.mktemp("book") / "book.bin"
    key = chess.polyglot.zobrist_hash(chess.Board())
    moves = [(chess.Move.from_uci(uci), weight) for uci, weight in (("e2e4", 60), ("d2d4", 35), ("g1f3", 5))]
    file.write_bytes(b"".join(struct.pack(">QHHI", key, m.to_square | m.from_square << 6, w, 0) for m, w in moves))
    return file


@pytest.fixture(scope="module")
def shared_server(book):
    with BoardServer(known=Known(Book(book))).running() as server:
        yield server


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1",
        "8/8/8/8/8/4k3/8/4K2R b - - 3 1",
        "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1",
        "8/8/8/8/8/5k2/6q1/7K w - - 0 1",
    ],
)
def test_the_moves_of_tablebases_are_ranked(fen):
    board = chess.Board(fen)
    rows = Known().tablebase_moves(board)
    assert {row["san"] for row in rows} == {board.san(move) for move in board.legal_moves}
    names = {2: "win", 0: "draw", -2: "loss"}
    ranks = []
    with chess.syzygy.open_tablebase(str(SHIPPED)) as tablebase:
        for row in rows:
            after = board.copy()
            after.push_san(row["san"])
            wdl = 0 if after.is_insufficient_material() else -tablebase.probe_wdl(after)
            assert row["result"] == names[wdl], row
            assert (row["dtz"] > 0) - (row["dtz"] < 0) == (wdl > 0) - (wdl < 0)
            if not after.is_checkmate() and after.halfmove_clock:
                assert abs(row["dtz"]) == (abs(tablebase.probe_dtz(after)) + 1 if wdl else 0), row
            ranks.append((-wdl, row["dtz"]))
    assert ranks == sorted(ranks)


def test_nothing_is_known_of_what_no_table_has():
    assert Known().tablebase_moves(chess.Board()) == []
    assert Known().tablebase_moves(chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")) == []  # castling
    assert Known().book_moves(chess.Board()) == []


def test_the_server_is_asked_by_fen(server):
    answer, body = get(server, "/known?" + urlencode({"fen": chess.STARTING_FEN}))
    assert answer.status == 200
    shares = [("e4", 60), ("d4", 35), ("Nf3", 5)]
    assert json.loads(body) == {"book": [{"san": san, "percent": share} for san, share in shares], "tables": []}
    answer, body = get(server, "/known?fen=nonsense")
    assert answer.status == 400 and "the board must have 8 ranks, not 1" in body
    answer, body = get(server, "/known?" + urlencode({"fen": "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1"}))
    assert answer.status == 400 and "illegal" in body


def test_other_tabs_work_while_the_tables_are_loaded(server, monkeypatch):
    """The first question may compile the core; others come meanwhile."""
    loaded, asked = threading.Event(), threading.Semaphore(0)

    def find(self, board):
        asked.release()
        loaded.wait(PATIENCE)
        return []

    monkeypatch.setattr(Known, "tablebase_moves", find)
    server.make_engine = StandInEngine
    path = "/known?" + urlencode({"fen": chess.STARTING_FEN})
    askers = [threading.Thread(target=get, args=(server, path)) for _ in range(40)]
    try:
        for asker in askers:
            asker.start()
        asked.acquire()
        with open_tab(server) as tab:
            tab.ask("load_pgn", pgn="1. e4 *")
            assert tab.sans == ["e4"]
    finally:
        loaded.set()
        for asker in askers:
            asker.join()


def test_a_file_that_is_no_book_is_one_line(tmp_path, capsys):
    file = tmp_path / "bad.bin"
    file.write_bytes(b"no book")
    assert cli.main(["play", "--no-browser", "--port", "0", "--book", str(file)]) == 2
    error = capsys.readouterr().err
    assert "it is not a Polyglot book" in error and error.count("\n") == 1
    assert cli.main(["play", "--no-browser", "--port", "0", "--syzygy", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err


# --- on the page ---------------------------------------------------------------------------------------------------


def test_moves_of_the_book_are_shown_and_played(engine, page):
    panel = page.get_by_label("Book and tablebases")
    expect(panel).to_be_hidden()
    analyse_tab(page)
    expect(panel.get_by_role("button")).to_have_text(["e460 %", "d435 %", "Nf35.0 %"])
    panel.get_by_role("button", name="d4").click()
    expect_moves(page, "d4")
    expect(panel).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    expect(panel).to_be_visible()
    page.get_by_role("tab", name="Play").click()
    expect(panel).to_be_hidden()
    start_game(page)
    analyse_tab(page)
    expect(page.get_by_role("switch", name="Worth of each piece")).to_be_disabled()
    expect(panel).to_be_hidden()  # it would help in the game


def test_moves_of_the_position_before_are_not_played(page):
    page.evaluate("""() => {
        let asked = 0;
        const others = window.fetch;
        const answer = { json: async () => ({ book: [{ san: "e5", percent: 100 }], tables: [] }) };
        const known = () => (asked++ ? new Promise(() => {}) : answer); // the second answer does not come
        window.fetch = (address) => (address.startsWith("/known?") ? known() : others(address));
    }""")
    analyse_tab(page)
    old = page.get_by_label("Book and tablebases").get_by_role("button", name="e5")
    expect(old).to_be_visible()
    click_move(page, "e2", "e4")
    expect_moves(page, "e4")
    old.click()
    click_move(page, "d7", "d5")  # which would be no move of Black any more
    expect_moves(page, "e4", "d5")


def test_moves_of_tablebases_are_shown_and_played(server, open_page):
    server.make_engine = StandInEngine
    page = open_page(*LAYOUTS["phone"])
    set_up(page, "8/8/8/8/8/4k3/8/4K2R b - - 3 1")
    moves = page.get_by_label("Book and tablebases").get_by_role("button")
    expect(moves).to_have_count(5)
    expect(moves.first).to_have_text(re.compile(r"^K\w\dloss, DTZ -\d+$"))
    panel, first = page.locator("#known").bounding_box(), moves.first.bounding_box()
    assert (
        panel["x"] <= first["x"] and first["x"] + first["width"] <= panel["x"] + panel["width"] <= LAYOUTS["phone"][0]
    )
    first = moves.first.locator("b").text_content()
    moves.first.click()
    expect_moves(page, first)
