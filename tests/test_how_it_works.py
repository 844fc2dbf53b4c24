"""The book: its small engine is plain Python, short, correct, and able to play; its examples do what they say."""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import pytest

DOCS = Path(__file__).parents[1] / "docs"
FILES = sorted(DOCS.glob("small_engine/*.py"))
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
# Without the packages that are installed, so that nothing but Python's own library can be imported.
COMMAND = [sys.executable, "-S", "-m", "small_engine"]


@pytest.fixture
def small_engine(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from small_engine import board, search

    return board, search


def test_it_is_small():
    lines = [line for file in FILES for line in file.read_text("utf-8").splitlines() if line.strip()]
    assert 300 < len(lines) <= 400


# https://www.chessprogramming.org/Perft_Results
@pytest.mark.parametrize(
    ("fen", "depth", "nodes"),
    [
        (chess.STARTING_FEN, 4, 197_281),
        (KIWIPETE, 3, 97_862),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2_812),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9_467),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2, 1_486),
    ],
)
def test_it_generates_the_legal_moves(small_engine, fen, depth, nodes):
    board, _ = small_engine
    assert board.perft(board.from_fen(fen), depth) == nodes


def test_the_generator_for_numba_counts_the_same(small_engine):
    from compiled import perft

    for fen, depth, nodes in ((KIWIPETE, 3, 97_862), ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43_238)):
        assert perft.perft(perft.from_fen(fen), depth) == nodes


def test_leaving_out_what_only_saves_work_finds_the_same_value(small_engine):
    board, search = small_engine
    values = {
        search.Search(use=techniques).search(board.from_fen(KIWIPETE), 2, -search.MATE, search.MATE)[0]
        for techniques in ((), ("alpha-beta",), ("alpha-beta", "captures", "killers", "history"))
    }
    assert len(values) == 1


def test_it_plays_a_game_by_uci():
    with chess.engine.SimpleEngine.popen_uci(COMMAND, cwd=DOCS) as engine:
        game = chess.Board()
        while not game.is_game_over(claim_draw=True) and game.ply() < 60:
            game.push(engine.play(game, chess.engine.Limit(nodes=150)).move)
        assert game.ply() > 8


@pytest.mark.parametrize(
    ("fen", "mate"),
    [
        ("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", 1),
        ("7k/R7/8/8/8/8/8/1R5K w - - 0 1", 1),
        ("k7/8/1K6/8/8/8/8/6RR b - - 0 1", -1),
    ],
)
def test_it_finds_mates(fen, mate):
    with chess.engine.SimpleEngine.popen_uci(COMMAND, cwd=DOCS) as engine:
        info = engine.analyse(chess.Board(fen), chess.engine.Limit(depth=3))
        assert info["score"].relative == chess.engine.Mate(mate)


def test_an_endless_search_waits_for_stop():
    with chess.engine.SimpleEngine.popen_uci(COMMAND, cwd=DOCS) as engine:
        with engine.analysis(chess.Board("8/8/8/8/8/5k2/7q/7K w - - 0 1")) as analysis:
            assert analysis.get()["pv"] == [chess.Move.from_uci("h1h2")]
        assert analysis.wait().move == chess.Move.from_uci("h1h2")


PAGES = [page for page in sorted(DOCS.glob("how-it-works/*.md")) if ">>> " in page.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page(page, small_engine, monkeypatch):
    monkeypatch.chdir(DOCS)
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert not said, "".join(said)


def test_the_first_changes_still_fit_the_sources():
    changes = sorted(map(str, DOCS.glob("how-it-works/*.diff")))
    assert len(changes) == 2
    subprocess.run(["git", "apply", "--check", *changes], cwd=DOCS.parent, check=True)


def test_the_pictures_are_those_of_the_script():
    from draw_book import PICTURES, TECHNIQUES, Drawing, savings_table, techniques_table

    drawings = {name: draw() for name, draw in PICTURES.items()}
    # python-chess draws the boards, differently from version to version.
    drawn = {name: str(drawing) for name, drawing in drawings.items() if isinstance(drawing, Drawing)}
    assert drawn == {name: (DOCS / "images" / name).read_text("utf-8") for name in drawn}
    assert (DOCS / "small_engine" / "savings.txt").read_text("utf-8") == savings_table()
    assert TECHNIQUES.with_suffix(".txt").read_text("utf-8") == techniques_table()


def test_what_was_measured_is_what_the_small_engine_does(small_engine):
    from measure_small_engine import SAVINGS, measure

    _, search = small_engine
    found = json.loads(SAVINGS.read_text("utf-8"))
    assert measure(search.TECHNIQUES)["nodes"] == found["with"][search.TECHNIQUES[-1]]["nodes"]
