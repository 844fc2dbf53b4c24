"""The subcommand `puzzles`."""

import contextlib
import io
import json
import sys
from importlib import resources

import chess.pgn
import pytest
from chess.engine import Cp
from strange_names import strange_file

from knightadder import cli
from knightadder.engine.errors import EngineError
from knightadder.pgn.game_records import Copies
from knightadder.pgn.games import GameText
from knightadder.puzzles import command, puzzle_maker
from knightadder.puzzles.finding import Findings, Found
from knightadder.puzzles.puzzle import Solution
from knightadder.puzzles.puzzle_maker import GameResult, PuzzleMaker, ScannedGame, result_of
from knightadder.puzzles.reading import read_puzzles
from knightadder.worker_engine import WorkerEngine

ENGINE = WorkerEngine(None, {"Hash": "1"})
SCHOLAR = '[Event "one"]\n[Site "https://lichess.org/abcdefgh"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n'
FORK = '[Event "two"]\n[FEN "1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1"]\n\n1... Qc8 2. Nd6+ *\n\n'
BROKEN = '[Event "three"]\n\n1. e4 e5 2. Ke3 *\n\n'
QUIET = '[Event "four"]\n\n1. e4 e5 *\n\n'


class _Pool:
    """Runs the task in this process, and after some games raises an error."""

    def __init__(self, task, after, error):
        self._task, self._after, self._error = task, after, error

    def run(self, items):
        for number, item in enumerate(items):
            if number == self._after:
                raise self._error
            yield item, self._task(item)

    def place(self):
        return ""


@pytest.fixture
def here(monkeypatch):
    """Run the games in this process; give the function that says after how many an error comes, and which."""
    ends = [None, None]

    @contextlib.contextmanager
    def open_pool(task, cluster, processes, core=False):
        yield _Pool(task, *ends)

    def end(after, error):
        ends[:] = after, error

    monkeypatch.setattr(command, "open_pool", open_pool)
    return end


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(SCHOLAR + BROKEN + FORK + QUIET, encoding="utf-8")
    return file


def puzzles(*arguments):
    return cli.main(["puzzles", *map(str, arguments), "--nodes", "20000", "--hash", "4"])


def _first_moves(file):
    found, complaints = read_puzzles(file)
    assert not complaints
    return [next(puzzle.solution.steps())[1].uci() for puzzle in found]


def test_puzzles_of_a_file(file, capsys):
    out = file.with_name("out.csv")
    assert puzzles(file, "--out", out, "--concurrency", 2) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "knightadder: games.pgn, game 2, line 6, is left out: illegal san: 'Ke3'" in printed.err
    assert printed.err.endswith(f"{out}: 2 puzzles from 3 games, 1 left out\nNo puzzle in 1 game: 1 no large mistake\n")
    mate, fork = read_puzzles(out)[0]
    assert mate.themes == ("attackingF2F7", "mate", "mateIn1", "oneMove", "opening")
    assert mate.game == "https://lichess.org/abcdefgh/black#6"
    assert mate.openings == ("Kings_Pawn_Game", "Kings_Pawn_Game_Wayward_Queen_Attack")
    assert mate.rating < 1300
    assert "fork" in fork.themes
    assert fork.game == "games.pgn?game=3/black#2"
    assert fork.openings == ()
    again = file.with_name("again.csv")
    assert puzzles(file, "--out", again, "--concurrency", 1) == 0
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".pgn", ".epd"])
def test_the_name_of_the_file_need_not_be_utf8(tmp_path, here, suffix):
    file, shown = strange_file(tmp_path, FORK + FORK.replace("Qc8", "Qb7"))
    out = tmp_path / f"out{suffix}"
    here(1, KeyboardInterrupt())
    assert puzzles(file, "--out", out) == 130
    here(None, None)
    assert puzzles(file, "--out", out) == 0  # it goes on, and replaces the puzzles of the interrupted run
    games = {puzzle.game for puzzle in read_puzzles(out)[0]}
    assert games == ({""} if suffix == ".epd" else {f"{shown}?game={game}/black#2" for game in (1, 2)})


def test_standard_output_is_utf8_like_a_file(tmp_path, here, monkeypatch):
    file, out = tmp_path / "Dvořák 将棋.pgn", tmp_path / "out.pgn"
    file.write_text(FORK, encoding="utf-8")
    output = io.TextIOWrapper(io.BytesIO(), "cp1252", newline="\r\n")
    monkeypatch.setattr(sys, "stdout", output)
    assert puzzles(file) == puzzles(file, "--out", out) == 0
    assert output.buffer.getvalue() == out.read_bytes()
    assert "Dvořák 将棋.pgn" in out.read_text("utf-8")


def test_a_position_that_the_engine_refuses_costs_only_its_game(file, here, capsys):
    fen = "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1"
    late = FORK.replace("b - - 0 1", "b - - 0 9999").replace("1... Qc8 2. Nd6+", "Qc8 Nd6+")
    games = [f'[FEN "{fen}"]\n\n1. e4 *\n\n', late, SCHOLAR]
    file.write_text("".join(games), encoding="utf-8")
    out = file.with_name("out.csv")
    assert puzzles(file, "--out", out) == 0
    printed = capsys.readouterr().err
    assert "game 1, line 1, is left out: illegal position: White has more pieces" in printed and f"({fen})" in printed
    assert "game 2, line 5, is left out: illegal position: " in printed
    assert printed.endswith(f"{out}: 1 puzzle from 1 game, 2 left out\n")


def test_without_a_game_that_can_be_used_nothing_is_written(file, here, capsys):
    file.write_text(BROKEN, encoding="utf-8")
    assert puzzles(file, "--out", file.with_name("out.csv")) == 2
    assert capsys.readouterr().err.endswith("\nknightadder: no game can be used; the lines above say why\n")
    assert [*file.parent.iterdir()] == [file]


def test_several_files_and_standard_input_as_pgn(file, here, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORK.encode("utf-16"))))
    assert puzzles(file, "-") == 0
    printed = capsys.readouterr()
    assert "left out as copies of other games: 1 game\n" in printed.err  # FORK
    assert printed.err.count("from 3 games, ") == 1
    text = io.StringIO(printed.out)
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert [game.next().san() for game in games] == ["Qxf7#", "Nd6+"]  # each puzzle only once
    assert int(games[0].headers["Rating"]) < 1300


def test_games_are_compared_once(file, here, monkeypatch):
    """Finding the copies takes time, because all moves are replayed."""
    compared = []
    has = Copies.has
    monkeypatch.setattr(Copies, "has", lambda self, game: compared.append(game.place) or has(self, game))
    text = f"These are my games.\n\n{SCHOLAR}{SCHOLAR}{FORK}"
    file.write_text(text, encoding="utf-8")
    assert puzzles(file, "--out", file.with_name("out.csv")) == 0
    assert len(compared) == len(set(compared)) == 3
    assert len(_first_moves(file.with_name("out.csv"))) == 2


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (EngineError("a worker process ended unexpectedly"), 1)]
)
def test_what_was_found_is_kept(file, here, error, status, capsys):
    here(3, error)
    out = file.with_name("out.epd")
    assert puzzles(file, "--out", out) == status
    told = f"3 of 4 games are in {out}.unfinished; the same command continues from there"
    assert told in capsys.readouterr().err
    assert _first_moves(out) == ["h5f7", "f5d6"]


def test_a_run_does_not_go_on_with_another_network_of_the_same_name(file, here, capsys):
    out, network = file.with_name("out.csv"), file.with_name("mine.nnue")
    shipped = (resources.files("knightadder") / "data" / "default.nnue").read_bytes()
    network.write_bytes(shipped)
    here(1, KeyboardInterrupt())
    assert puzzles(file, "--out", out, "--eval-file", network) == 130
    here(None, None)
    network.write_bytes(b"a later one")
    capsys.readouterr()
    assert puzzles(file, "--out", out, "--eval-file", network) == 2
    assert "belongs to a run with other settings (network)" in capsys.readouterr().err
    network.write_bytes(shipped)
    assert puzzles(file, "--out", out, "--eval-file", network) == 0


@pytest.mark.parametrize("suffix", [".pgn", ".epd", ".csv"])
def test_the_same_command_goes_on_but_a_file_of_the_user_is_not_overwritten(file, here, capsys, suffix):
    out, whole = file.with_name(f"out{suffix}"), file.with_name(f"whole{suffix}")
    assert puzzles(file, "--out", whole) == 0
    here(1, KeyboardInterrupt())
    assert puzzles(file, "--out", out) == 130
    part = out.read_bytes()
    out.write_bytes(b"1. a4 *\n")
    here(None, None)
    capsys.readouterr()
    assert puzzles(file, "--out", out) == 2
    assert f"{out} already exists: give --force to overwrite it" in capsys.readouterr().err
    assert out.read_bytes() == b"1. a4 *\n"
    out.write_bytes(part)
    assert puzzles(file, "--out", out) == 0
    assert out.read_bytes() == whole.read_bytes()


def test_a_restart_that_is_refused_forgets_nothing(file, here, capsys):
    out, unfinished = file.with_name("out.csv"), file.with_name("out.csv.unfinished")
    here(1, KeyboardInterrupt())
    assert puzzles(file, "--out", out) == 130
    before = unfinished.read_bytes()
    capsys.readouterr()
    assert puzzles(file, "--out", out, "--restart") == 2
    assert f"{out} already exists: give --force to overwrite it" in capsys.readouterr().err
    assert unfinished.read_bytes() == before


def test_a_file_that_others_write_meanwhile_is_kept(file, here, monkeypatch, capsys):
    out = file.with_name("out.pgn")
    run = _Pool.run

    def write_and_run(pool, items):
        out.write_bytes(b"1. a4 *\n")
        return run(pool, items)

    monkeypatch.setattr(_Pool, "run", write_and_run)
    assert puzzles(file, "--out", out) == 2
    assert f"{out} already exists: give --force to overwrite it" in capsys.readouterr().err
    assert out.read_bytes() == b"1. a4 *\n"


def test_nothing_is_written_if_nothing_was_done(file, here, capsys):
    here(0, KeyboardInterrupt())
    out = file.with_name("out.pgn")
    out.write_text("kept", encoding="utf-8")
    assert puzzles(file, "--out", out, "--force") == 130
    assert out.read_text("utf-8") == "kept"
    assert "unfinished" not in capsys.readouterr().err


@pytest.mark.parametrize("content", [bytes(99), b"; only a remark\n"])
def test_a_file_of_other_text_has_no_game(file, content, capsys):
    file.write_bytes(content)
    assert puzzles(file) == 2
    assert capsys.readouterr() == ("", f"knightadder: there is no game in {file}\n")


def test_text_between_games_is_not_a_game(file, capsys):
    file.write_bytes(file.read_bytes() + b"; the end\n")
    assert puzzles(file) == 0
    assert "2 puzzles from 3 games, 1 left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.pgn"], "cannot read missing.pgn: No such file or directory"),
        (["empty.pgn"], "there is no game in empty.pgn"),
        (["games.pgn", "--out", "out.txt"], "--out out.txt: expected a name that ends in .pgn, .epd or .csv"),
        (["games.pgn", "--out", "empty.pgn"], "empty.pgn already exists: give --force to overwrite it"),
        (["games.pgn", "--out", "out.pgn.gz"], "--out out.pgn.gz: expected a name that ends in .pgn, .epd or .csv"),
        (["games.pgn", "--out", "nowhere/out.pgn"], "cannot write nowhere/out.pgn: there is no folder nowhere"),
        (
            ["games.pgn", "--force", "--out", "./games.pgn"],
            "--out games.pgn: this file contains the games, so it is not overwritten",
        ),
        (["."], "cannot read .: it is a folder"),
    ],
)
def test_bad_arguments(file, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    file.with_name("empty.pgn").touch()
    assert puzzles(*arguments) == 2
    assert capsys.readouterr().err == f"knightadder: {message}\n"


def test_a_game_of_remarks_has_no_puzzles():
    assert result_of(PuzzleMaker(100, ENGINE)(ScannedGame(0, "games.pgn", GameText(1, 1, "; a remark")))) == GameResult(
        [], []
    )


@pytest.mark.parametrize(
    ("site", "place"),
    [
        ("https://lichess.org/abcdefgh", "https://lichess.org/abcdefgh/black#2"),
        ("https://lichess.org/abcdefghijkl", "https://lichess.org/abcdefgh/black#2"),  # as a player sees the game
        ("https://lichess.org/abcdefgh/white", "https://lichess.org/abcdefgh/black#2"),
        ("https://lichess.org/study/abcdefgh/ijklmnop", "https://lichess.org/study/abcdefgh/ijklmnop#2"),
        ("https://www.chess.com/game/live/1", "https://www.chess.com/game/live/1#2"),
        ("Berlin", "games.pgn?game=1/black#2"),
    ],
)
def test_where_a_puzzle_was_played(monkeypatch, site, place):
    solution = Solution(
        "2q1k3/8/8/5N2/8/8/6PP/7K w - - 1 2",
        (chess.Move.from_uci("f5d6"),),
        "1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1",
        chess.Move.from_uci("b8c8"),
    )
    again = [Found(solution, 2, Cp(400), False), Found(solution, 8, Cp(900), False)]
    monkeypatch.setattr(puzzle_maker, "find_puzzles", lambda *_: Findings(again))
    monkeypatch.setattr(puzzle_maker, "rate", lambda *_: 1500)
    text = FORK.replace("[FEN", f'[Site "{site}"]\n[FEN')
    (puzzle,) = result_of(
        PuzzleMaker(100, ENGINE)(ScannedGame(0, "games.pgn", GameText(1, 1, text)))
    ).puzzles  # of one kind
    assert puzzle.game == place


def test_a_network_that_is_not_there_is_one_line(file, here, capsys):
    assert puzzles(file, "--eval-file", "missing.nnue") == 2
    assert "knightadder: cannot read missing.nnue: No such file or directory\n" in capsys.readouterr().err


def test_a_null_move_ends_a_game():
    text = SCHOLAR.strip().replace("Bc4 Nf6", "Bc4 --")
    assert result_of(PuzzleMaker(1000, ENGINE)(ScannedGame(0, "games.pgn", GameText(1, 1, text)))).puzzles == []


@pytest.mark.parametrize(
    "damage",
    [
        {"fen": "no position"},
        {"fen": chess.STARTING_FEN},
        {"moves": ["f5d7"]},
        {"moves": []},
        {"moves": "f5d6"},
        {"previous_fen": chess.STARTING_FEN},
        {"previous": "b8b7"},
        {"themes": None},
        {"rating": "high"},
    ],
)
def test_puzzles_that_came_damaged(damage):
    row = {
        "fen": "2q1k3/8/8/5N2/8/8/6PP/7K w - - 1 2",
        "moves": ["f5d6"],
        "previous_fen": "1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1",
        "previous": "b8c8",
        "chess960": False,
        "themes": ["fork"],
        "rating": 1200,
        "game": "games.pgn?game=1#2",
    }
    data = json.dumps({"puzzles": [row]}).encode()
    (puzzle,) = result_of(data).puzzles
    assert (puzzle.rating, puzzle.themes, puzzle.solution.moves) == (1200, ("fork",), (chess.Move.from_uci("f5d6"),))
    for damaged in (json.dumps({"puzzles": [row | damage]}).encode(), data[:-1], b"[]", b"{}", b"\xff"):
        with pytest.raises(EngineError, match=r"^a worker returned damaged puzzles$"):
            result_of(damaged)
