"""The subcommand `report`."""

import json
import re
import shlex
import sys
from pathlib import Path

import chess
import pytest
from report_games import GAMES, NAME, use_pool
from strange_names import strange_file

from knightadder import cli
from knightadder.drills.box import Choice, DrillBox
from knightadder.extras import install_command
from knightadder.report import page
from knightadder.review.coach import KINDS


@pytest.fixture(autouse=True)
def pool(monkeypatch, request):
    return None if "processes" in request.fixturenames else use_pool(monkeypatch)


@pytest.fixture
def processes():
    """Use processes, as the command does."""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, "utf-8")
    return file


def report(*arguments):
    return cli.main(["report", *map(str, arguments), "--nodes", "7"])


def test_the_page_tells_what_was_measured(file, capsys):
    out = file.with_name("anna.html")
    assert report(file, "--player", NAME, "-o", out) == 0
    err = capsys.readouterr().err
    assert "games.pgn, game 5, line 38, is left out: illegal san: 'e4'" in err
    assert err.endswith(f"{out}: 3 games, 1 left out\n")
    page = out.read_text("utf-8")
    text = re.sub(r"<[^>]*>", "", page[page.index("<body>") :])
    assert "How Anna &lt;i&gt;Muster&lt;/i&gt; plays" in text
    assert "3 games from games.pgn, 2026.03.01." in text
    assert "1½ points from 3 games: 50 %." in text
    found = re.search(r"The performance in the 3 games against opponents with a rating is (\d+)\.", text)
    scored = sum(1 / (1 + 10 ** ((rating - int(found[1])) / 400)) for rating in (1600, 1400, 1700))
    assert scored == pytest.approx(1.5, abs=0.01)
    assert "Too few to compare (fewer than 10 games): All, White, Black." in text
    assert "1 of 3 games has clocks." in text and "1 game was lost on time." in text
    assert "2 games had a won position (Win% of at least 75) at some move: 1 won, 1 drawn, 0 lost." in text
    assert "with 7 nodes" in text
    assert '<a href="https://example.org/game?a=1&amp;b=2">against Carl</a>' in page
    assert "against Bert &amp; Co" in text
    assert not file.with_name("anna.html.unfinished").exists()


@pytest.mark.parametrize(
    ("written", "given"),
    [("Jose\u0301  Raul", "jos\u00e9 raul"), ("Raul,Jose", "Raul, Jose"), ("Raul , Jose", "raul,jose")],
)
def test_names_are_the_same_in_each_encoding_of_accents_and_with_spaces_or_without(tmp_path, written, given):
    file, out = tmp_path / "games.pgn", tmp_path / "jose.html"
    file.write_text(f'[White "{written}"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 1-0\n', "utf-8")
    assert report(file, "--player", given, "-o", out) == 0
    assert out.exists()


def test_a_game_that_is_in_two_files_counts_once(file, capsys):
    month, out = file.with_name("march.pgn"), file.with_name("anna.html")
    month.write_text(GAMES.replace("{[%clk 0:01:00]}", "").replace('"1500"', '"?"'), "utf-8")  # from another source
    assert report(file, month, "--player", NAME, "-o", out) == 0
    err = capsys.readouterr().err
    assert "left out as copies of other games: 3 games\n" in err
    assert err.endswith(f"{out}: 3 games, 2 left out\n")  # the broken game cannot be compared
    assert "1½ points from 3 games: 50 %." in re.sub(r"<[^>]*>", "", out.read_text("utf-8"))


def test_a_game_between_two_of_the_names_is_one_for_each(tmp_path, capsys):
    file, out = tmp_path / "games.pgn", tmp_path / "both.html"
    head = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
    file.write_text(f"{head}1. e4 e5 2. Nf3 1-0\n\n{head}1. e4 e6 2. Nf9 1-0\n", "utf-8")
    assert report(file, "--player", "A", "--player", "B", "-o", out) == 0
    assert capsys.readouterr().err.count("is left out") == 1  # the broken game is told once
    text = re.sub(r"<[^>]*>", " ", out.read_text("utf-8"))
    assert "1 point from 2 games: 50 %." in text
    assert re.search(r"White\s+1, 0, 0\s", text) and re.search(r"Black\s+0, 0, 1\s", text)


def test_the_page_needs_nothing_from_elsewhere(file):
    out = file.with_name("anna.html")
    assert report(file, "--player", NAME, "-o", out) == 0
    page = out.read_text("utf-8")
    assert set(re.findall(r'\bsrc="(.{5})', page)) == {"data:"}
    assert set(re.findall(r'url\("(.{5})', page)) == {"data:"}
    assert "default-src 'none'" in page
    data = json.loads(re.search(r'id="puzzle-data">(.*?)</script>', page)[1])
    assert {puzzle["played"] for puzzle in data} == {"Qf6", "Qf3"}
    assert "<i>" not in page


def test_the_name_of_the_file_need_not_be_utf8(tmp_path):
    file, shown = strange_file(tmp_path, GAMES)
    out = tmp_path / "anna.html"
    assert report(file, "--player", NAME, "-o", out) == 0
    assert f"3 games from {shown}" in out.read_text("utf-8")


def test_the_mistakes_become_drills_once(file, capsys):
    out, drills = file.with_name("anna.html"), file.with_name("drills.sqlite")
    for new in (2, 0):
        assert report(file, "--player", NAME, "-o", out, "--drills-file", drills, "--force") == 0
        assert f"{drills}: 2 mistakes, {new} of them new" in capsys.readouterr().err
    box = DrillBox(drills)
    assert {each.kind for each in box.groups()} == {"mistake"}
    asked = box.next(Choice(theme=KINDS["hangs"])).drill
    assert asked.board().san(chess.Move.from_uci(asked.played)) == "Qf6"
    assert asked.about == "Against Bert & Co, 2026.03.01, move 3"
    box.file.write_text("mine")
    assert report(file, "--player", NAME, "-o", out, "--drills-file", drills, "--force") == 2
    assert f"cannot use the drills in {drills}" in capsys.readouterr().err


def test_the_same_games_give_the_same_page(file):
    pages = []
    for name in ("one.html", "two.html"):
        assert report(file, "--player", NAME.upper(), "-o", file.with_name(name)) == 0
        pages.append(file.with_name(name).read_bytes())
    assert pages[0] == pages[1]


def test_a_run_goes_on_where_it_was_interrupted(file, capsys, pool, monkeypatch):
    out, whole = file.with_name("anna.html"), file.with_name("whole.html")
    assert report(file, "--player", NAME, "-o", whole) == 0
    monkeypatch.setattr(pool, "ends", 2)
    assert report(file, "--player", NAME, "-o", out) == 130
    unfinished = file.with_name("anna.html.unfinished")
    assert f"2 of 4 games are in {unfinished}; the same command continues from there" in capsys.readouterr().err
    assert len(unfinished.read_text("utf-8").splitlines()) == 3 and not out.exists()
    monkeypatch.setattr(pool, "ends", None)
    capsys.readouterr()
    assert cli.main(["report", str(file), "--player", NAME, "-o", str(out), "--depth", "3"]) == 2
    assert f"{unfinished} belongs to a run with other settings (limit)" in capsys.readouterr().err
    assert report(file, "--player", NAME, "-o", out) == 0
    assert "Continuing after 2 of 4 games" in capsys.readouterr().err
    assert out.read_bytes() == whole.read_bytes()
    assert not unfinished.exists()


def test_a_run_does_not_go_on_with_another_network_of_the_same_name(file, capsys, pool, monkeypatch):
    out, network = file.with_name("anna.html"), file.with_name("mine.nnue")
    command = "--player", NAME, "-o", out, "--eval-file", network
    network.write_bytes(b"a network")
    monkeypatch.setattr(pool, "ends", 2)
    assert report(file, *command) == 130
    monkeypatch.setattr(pool, "ends", None)
    network.write_bytes(b"a later one")
    capsys.readouterr()
    assert report(file, *command) == 2
    assert "belongs to a run with other settings (network)" in capsys.readouterr().err
    network.write_bytes(b"a network")
    assert report(file, *command) == 0


def test_a_file_of_the_user_is_kept_while_a_run_is_unfinished(file, capsys, pool, monkeypatch):
    out = file.with_name("anna.html")
    monkeypatch.setattr(pool, "ends", 2)
    assert report(file, "--player", NAME, "-o", out) == 130
    monkeypatch.setattr(pool, "ends", None)
    write = page.write_page

    def write_late(*arguments):
        out.write_text("mine", "utf-8")
        return write(*arguments)

    monkeypatch.setattr(page, "write_page", write_late)
    for place in ("before the run", "during the run"):
        if place == "before the run":
            out.write_text("mine", "utf-8")
        else:
            out.unlink()
        capsys.readouterr()
        assert report(file, "--player", NAME, "-o", out) == 2
        assert f"{out} already exists: give --force to overwrite it" in capsys.readouterr().err
        assert out.read_text("utf-8") == "mine"
    assert report(file, "--player", NAME, "-o", out, "--force") == 0
    assert "<html" in out.read_text("utf-8")


def test_a_restart_that_is_refused_forgets_nothing(file, capsys, pool, monkeypatch):
    out, unfinished = file.with_name("anna.html"), file.with_name("anna.html.unfinished")
    monkeypatch.setattr(pool, "ends", 2)
    assert report(file, "--player", NAME, "-o", out) == 130
    before = unfinished.read_bytes()
    out.write_text("mine", "utf-8")
    assert report(file, "--player", NAME, "-o", out, "--restart") == 2
    assert f"{out} already exists: give --force to overwrite it" in capsys.readouterr().err
    assert unfinished.read_bytes() == before


def test_interrupted_while_it_writes_it_says_how_to_go_on(file, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    out = file.with_name("anna.html")
    with monkeypatch.context() as patch:
        patch.setattr(page, "write_page", interrupt)
        assert report(file, "--player", NAME, "-o", out) == 130
    assert f"4 of 4 games are in {out}.unfinished; the same command continues from there" in capsys.readouterr().err
    assert report(file, "--player", NAME, "-o", out) == 0
    assert out.exists() and not out.with_name("anna.html.unfinished").exists()


def test_a_run_begins_again_on_request(file, capsys, pool, monkeypatch):
    out = file.with_name("anna.html")
    monkeypatch.setattr(pool, "ends", 2)
    assert report(file, "--player", NAME, "-o", out) == 130
    monkeypatch.setattr(pool, "ends", None)
    assert cli.main(["report", str(file), "--player", NAME, "-o", str(out), "--nodes", "8", "--restart"]) == 0
    assert "Going on" not in capsys.readouterr().err
    assert "with 8 nodes" in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--player", "Emil"], "there is no game of Emil in games.pgn; most games are of Anna <i>Muster</i>; Dora; "),
        (["--player", NAME, "-o", "anna.pdf"], "--out anna.pdf: expected a name that ends in .html"),
        (["--player", NAME, "-o", "nowhere/anna.html"], "there is no folder nowhere"),
        (["--player", NAME, "-o", "there.html"], "there.html already exists: give --force to overwrite it"),
    ],
)
def test_what_cannot_be_done_is_a_line(file, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(file.parent)
    file.with_name("there.html").write_text("mine", "utf-8")
    assert report("games.pgn", *arguments) == 2
    assert message in capsys.readouterr().err
    assert file.with_name("there.html").read_text("utf-8") == "mine"


def test_no_sound_game_is_a_line(file, capsys):
    file.write_text('[White "Anna"]\n\n1. e4 e4 *\n', "utf-8")
    assert report(file, "--player", "Anna", "-o", file.with_name("anna.html")) == 2
    assert "no game of Anna can be used" in capsys.readouterr().err
    assert list(file.parent.iterdir()) == [file]


def test_without_games_there_is_no_file_of_drills(file, capsys):
    drills = file.with_name("drills.sqlite")
    assert report(file, "--player", "Emil", "-o", file.with_name("emil.html"), "--drills-file", drills) == 2
    assert "there is no game of Emil" in capsys.readouterr().err
    assert list(file.parent.iterdir()) == [file]


def test_without_matplotlib_there_is_advice(file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert report(file, "--player", NAME, "-o", file.with_name("anna.html")) == 2
    assert f"report needs Matplotlib: {install_command('annotate')}" in capsys.readouterr().err


def test_a_game_without_result_clock_and_rating_is_enough(file):
    file.write_text('[White "Anna"]\n[TimeControl "60+1"]\n\n1. e4 e5 2. Nf3 *\n', "utf-8")
    out = file.with_name("anna.html")
    assert report(file, "--player", "anna", "-o", out) == 0
    page = out.read_text("utf-8")
    assert "No game has a result." in page
    assert "The games have no clocks" in page
    assert "There is no move marked ? or ??." in page
    assert "Puzzles" not in page


@pytest.mark.usefixtures("processes")
def test_another_engine_in_two_processes(file):
    engine = shlex.join([sys.executable, str(Path(__file__).parents[1] / "material_engine.py")])
    out = file.with_name("anna.html")
    assert report(file, "--player", NAME, "-o", out, "--concurrency", 2, "--engine", f"cmd={engine}") == 0
    page = out.read_text("utf-8")
    assert "material_engine.py (by Knightadder " in page and "How Anna" in page


@pytest.mark.parametrize("variant", ['[Variant "Chess960"]\n', ""])  # many programs write only the FEN
def test_castling_of_chess960_is_shown(file, variant):
    tags = f'[White "Anna"]\n{variant}[FEN "4k3/8/8/8/8/8/q7/R4K1R w HA - 0 1"]\n[Result "0-1"]\n'
    file.write_text(f"{tags}\n1. O-O Qxa1 0-1\n", "utf-8")
    out = file.with_name("anna.html")
    assert report(file, "--player", "Anna", "-o", out) == 0
    page = out.read_text("utf-8")
    assert "1. O-O was played once; the engine plays Rxa2." in page
    [puzzle] = json.loads(re.search(r'id="puzzle-data">(.*?)</script>', page)[1])
    assert {"uci": "f1h1", "san": "O-O"} in puzzle["legal"]
