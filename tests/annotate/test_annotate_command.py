"""The subcommand `annotate`, mostly with an analyst that needs no engine."""

import contextlib
import csv
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import chess.pgn
import pytest
from fake_analyst import FakeAnalyst, Here
from full_disk import nearly_full
from strange_names import strange_file

from knightadder import cli, worker_engine
from knightadder.annotate import command
from knightadder.review import notes
from knightadder.runs import Journal

SCHOLAR = """\
[Event "one"]
[White "Müller"]
[Black "Meier"]
[Result "1-0"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 { a comment } 4. Qxf7# 1-0"""
BROKEN = '[Event "two"]\n[White "Huber"]\n\n1. e4  e5 2. Ke3 {left   as it is} *'
ENDING = '[Event "three"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 2. e5 *'
ATOMIC = '[Event "four"]\n[Variant "Atomic"]\n\n1. e4 *'
GAMES = "\n\n".join([SCHOLAR, BROKEN, ENDING, ATOMIC]) + "\n"


@pytest.fixture(autouse=True)
def pools(monkeypatch, request):
    """Evaluate in this process, with analysts that need no engine; gives the numbers of processes asked for."""
    asked = []

    @contextlib.contextmanager
    def open_pool(task, cluster, processes, core=False):
        asked.append(processes)
        yield Here(task)

    if "shared_engine" not in request.fixturenames:
        monkeypatch.setattr(command, "open_pool", open_pool)
    return asked


@pytest.fixture
def analysts(monkeypatch):
    """Give the analysts that are opened."""
    made = []

    def make(hash_mb):
        made.append(FakeAnalyst())
        return made[-1]

    use(monkeypatch, make)
    return made


def use(monkeypatch, make):
    """Let this function make the analysts."""
    monkeypatch.setattr(worker_engine, "open_engine", make)


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, encoding="utf-8")
    return file


class Interrupted(Journal):
    """A journal of a run that the user interrupts after its first entry."""

    def add(self, number, result):
        super().add(number, result)
        signal.raise_signal(signal.SIGINT)


def annotate(*arguments):
    return cli.main(["annotate", *map(str, arguments)])


def read(file):
    with open(file, encoding="utf-8") as stream:
        return list(iter(lambda: chess.pgn.read_game(stream), None))


def test_a_file_of_games(file, analysts, capsys):
    assert annotate(file) == 0
    out = file.with_name("games.annotated.pgn")
    one, _, three, _ = read(out)
    assert [node.eval() is not None for node in one.mainline()] == [True] * 6 + [False]
    assert chess.pgn.NAG_BLUNDER in list(one.mainline())[5].nags
    assert three.headers["Event"] == "three"
    assert all(node.eval() for node in three.mainline())
    # What cannot be annotated is as it was, letter for letter.
    text = out.read_text("utf-8")
    assert BROKEN in text and ATOMIC in text
    assert file.read_text("utf-8") == GAMES
    printed = capsys.readouterr()
    assert printed.out == f"{out}: 2 games annotated, 2 copied unchanged\n"
    assert "game 2, line 8 (Huber - ?), is not annotated: illegal san: 'Ke3'" in printed.err
    assert "game 4, line 18, is not annotated: atomic is not supported" in printed.err
    assert sorted(path.name for path in file.parent.iterdir()) == ["games.annotated.pgn", "games.pgn"]


def test_marks_of_another_annotator_that_differ_are_counted(file, analysts, capsys):
    file.write_text(SCHOLAR.replace("1. e4 e5", "1. e4! e5").replace("Nf6", "Nf6 $2"), "utf-8")
    out = file.with_name("games.annotated.pgn")
    assert annotate(file, "--summary", file.with_name("table.csv")) == 0
    assert capsys.readouterr().out == (
        f"{out}: 1 game annotated; earlier marks of 2 moves are kept, but differ from the engine's\n"
    )
    first, *_, last, _ = read(out)[0].mainline()
    assert (first.nags, last.nags) == ({chess.pgn.NAG_GOOD_MOVE}, {chess.pgn.NAG_MISTAKE})
    [row] = csv.DictReader(io.StringIO(file.with_name("table.csv").read_text("utf-8")))
    assert (row["white_great"], row["black_blunders"]) == ("0", "1")


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        ([], {"nodes": 200_000}),
        (["--nodes", 7], {"nodes": 7}),
        (["--depth", 3], {"depth": 3}),
        (["--time", 0.5], {"time": 0.5}),
    ],
)
def test_limits(file, analysts, pools, arguments, limit):
    assert annotate(file, *arguments, "--concurrency", 1) == 0
    assert pools == [1]
    limits = [each for analyst in analysts for each in analyst.limits]
    assert limits == [chess.engine.Limit(**limit)] * len(limits) != []


def test_summary_as_csv(file, analysts):
    table = file.with_name("table.csv")
    assert annotate(file, "--summary", table) == 0
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["game"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["line"] for row in rows] == ["1", "8", "13", "18"]
    one, two, three, four = rows
    assert (one["white"], one["black"], one["result"], one["eco"], one["plies"]) == (
        "Müller",
        "Meier",
        "1-0",
        "C20",
        "7",
    )
    game = read(file.with_name("games.annotated.pgn"))[0]
    for side in ("White", "Black"):
        assert one[f"{side.lower()}_accuracy"] == game.headers[f"{side}Accuracy"]
        assert one[f"{side.lower()}_centipawn_loss"] == game.headers[f"{side}CentipawnLoss"]
        marks = [nag for node in game.mainline() if node.turn() != (side == "White") for nag in node.nags]
        for kind, nag in (("inaccuracies", 6), ("mistakes", 2), ("blunders", 4)):
            assert int(one[f"{side.lower()}_{kind}"]) == marks.count(nag)
    assert one["black_blunders"] == "1"
    assert (three["fault"], three["date"]) == ("", "")
    assert (two["white"], two["white_accuracy"]) == ("Huber", "")
    assert two["fault"].startswith("illegal san")
    assert four["fault"] == "atomic is not supported"


def test_summary_as_json(file, analysts):
    table = file.with_name("table.json")
    assert annotate(file, "--summary", table, "--nodes", 9) == 0
    about = json.loads(table.read_text("utf-8"))
    assert about["limit"] == {"nodes": 9}
    assert about["file"] == str(file)
    assert [game["event"] for game in about["games"]] == ["one", "two", "three", "four"]
    assert about["games"][0]["black_side"]["blunders"] == 1
    assert about["games"][1]["black_side"] is None


def test_the_name_of_the_file_need_not_be_utf8(tmp_path, analysts):
    file, _ = strange_file(tmp_path, GAMES)
    out, table = tmp_path / "out.pgn", tmp_path / "table.json"
    assert annotate(file, "-o", out, "--summary", table, "--nodes", 9) == 0
    assert json.loads(table.read_text("utf-8"))["file"] == str(file)
    assert len(read(out)) == 4


@pytest.mark.parametrize(("form", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_graphs(file, analysts, form, magic):
    folder = file.with_name("graphs")
    assert annotate(file, "--plot", folder, "--plot-format", form) == 0
    pictures = sorted(folder.iterdir())
    assert [picture.name for picture in pictures] == [f"game-0001.{form}", f"game-0003.{form}"]
    contents = [picture.read_bytes() for picture in pictures]
    assert all(content.startswith(magic) for content in contents)
    assert annotate(file, "--plot", folder, "--plot-format", form, "--force") == 0
    assert [picture.read_bytes() for picture in pictures] == contents


def test_graphs_that_cannot_be_written_are_one_line(file, analysts, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    Path("graphs", "game-0001.svg", "mine").mkdir(parents=True)
    assert annotate(file, "--plot", "graphs", "--force") == 2
    assert said_last(capsys).startswith("knightadder: cannot write to graphs: ")


def test_compressed_games_get_a_name_of_their_own(file, analysts):
    import gzip

    packed = file.with_name("more.pgn.gz")
    packed.write_bytes(gzip.compress(GAMES.encode()))
    assert annotate(packed) == 0
    assert len(read(file.with_name("more.annotated.pgn"))) == 4


def test_what_programs_write_beside_the_moves_is_kept(file, analysts, capsys):
    file.write_text(
        "% a line for a program\n; a remark\n"
        '[Event "one"]\n[Result "1/2"]\n\n'
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 Bd6 ± 4. O-O = Nf6 ⩲ 5. d3 ∞ N a5 $22 ⟪\n"
        '% [Event "none"]\n'
        "6. c3 Qe7 $255 1/2-1/2\n",
        encoding="utf-8",
    )
    assert annotate(file) == 0
    assert capsys.readouterr().err == ""
    out = file.with_name("games.annotated.pgn")
    text = out.read_text("utf-8")
    assert text.startswith('% a line for a program\n; a remark\n% [Event "none"]\n[Event "one"]\n')
    assert '[Result "1/2"]' in text  # the tag stays as it is, and so does the end of the moves
    assert text.rstrip().endswith(" 1/2-1/2")
    [game] = read(out)
    nodes = {game.board().fullmove_number * 2 + node.ply(): node for node in game.mainline()}
    marks = {node.san(): node.nags - set(range(1, 7)) for node in nodes.values() if node.nags - set(range(1, 7))}
    assert marks == {"Bd6": {16}, "O-O": {10}, "Nf6": {14}, "d3": {13, 146}, "a5": {22}, "Qe7": {255}}
    assert "⟪" in next(node.comment for node in nodes.values() if node.san() == "a5")


@pytest.mark.parametrize("marker", ["1/2-1/2", "*"])
@pytest.mark.parametrize("tag", ["1-0", "1/2", ""])
def test_the_moves_end_as_before(file, analysts, tag, marker):
    file.write_text(f'[Result "{tag}"]\n\n1. e4 e5 {marker}\n')
    assert annotate(file) == 0
    text = file.with_name("games.annotated.pgn").read_text("utf-8")
    assert f'[Result "{tag}"]' in text
    assert text.split()[-1] == marker


@pytest.mark.parametrize("arguments", [["--out", "games.pgn"], ["--summary", "x/../games.csv"], ["--out", "link.pgn"]])
def test_the_games_are_never_overwritten(file, analysts, arguments, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    (file.parent / "x").mkdir()
    (file.parent / "link.pgn").hardlink_to(file)
    source = file.rename("games.csv") if "csv" in arguments[1] else file
    assert annotate(source, *arguments, "--force") == 2
    assert "is not overwritten" in capsys.readouterr().err
    assert source.read_text("utf-8") == GAMES
    assert analysts == []


def test_other_files_are_overwritten_by_force_only(file, analysts, capsys):
    for name, option in (("out.pgn", "--out"), ("table.csv", "--summary"), ("graphs", "--plot")):
        there = file.with_name(name)
        arguments = [file, option, there]
        if option == "--plot":
            there.mkdir()
            (there / "mine.txt").write_text("mine")
        else:
            there.write_text("mine")
        if option != "--out":
            arguments += ["--out", file.with_name(f"{name}.pgn")]
        assert annotate(*arguments) == 2
        assert "give --force to overwrite" in capsys.readouterr().err
        assert (there / "mine.txt" if there.is_dir() else there).read_text() == "mine"
        assert annotate(*arguments, "--force") == 0
        assert not there.is_file() or there.read_text("utf-8") != "mine"
    assert (file.with_name("graphs") / "mine.txt").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="devices")
def test_a_device_is_not_overwritten_so_it_needs_no_force(file, analysts):
    assert annotate(file, "--out", "/dev/null") == 0


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the names of open files")
def test_standard_output_by_its_name_needs_no_force_even_if_it_is_a_file(tmp_path):
    file, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    file.write_text("1. e4 *\n")
    command = [sys.executable, "-m", "knightadder", "annotate", file, "--depth", "1", "--concurrency", "1"]
    out.write_text("; kept\n\n")
    with out.open("ab") as stream:
        done = subprocess.run(
            [*command, "--out", "/dev/stdout"], stdout=stream, stderr=subprocess.PIPE, check=True, timeout=200
        )
    text = out.read_text("utf-8")
    assert text.startswith("; kept\n\n[Event ") and "1. e4" in text and "annotated" not in text
    assert done.stderr.endswith(b"/dev/stdout: 1 game annotated\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn", "out.pgn"]


def test_pictures_of_the_user_are_kept_while_a_run_is_unfinished(file, analysts, capsys):
    folder = file.with_name("graphs")
    file.with_name("out.pgn.unfinished").touch()
    folder.mkdir()
    (folder / "game-0001.svg").write_text("mine")
    assert annotate(file, "-o", file.with_name("out.pgn"), "--plot", folder) == 2
    assert f"{folder} already contains files: give --force to overwrite them" in capsys.readouterr().err
    assert (folder / "game-0001.svg").read_text() == "mine"


def test_no_other_folder_of_the_user_is_touched(file, analysts):
    other = file.with_name("graphs.unfinished")
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    before = set(file.parent.iterdir())
    assert annotate(file, "--plot", file.with_name("graphs")) == 0
    assert (other / "mine.txt").read_text() == "mine"
    assert {path.name for path in {*file.parent.iterdir()} - before} == {"graphs", "games.annotated.pgn"}
    assert sorted(path.name for path in file.with_name("graphs").iterdir()) == ["game-0001.svg", "game-0003.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--summary", "table.txt"], "expected a name that ends in .csv or .json"),
        (["--summary", "same.csv", "--out", "same.csv"], "this is also the file of --out, so it is not overwritten"),
        (["--moves", "new.csv", "--plot", "./new.csv"], "this is also the file of --moves, so it is not overwritten"),
        (["--out", "nowhere/out.pgn"], "there is no folder nowhere"),
        (
            ["--out", "out.pgn.zst"],
            "cannot write out.pgn.zst: the output is not compressed, so give a name without .zst",
        ),
        (["--out", "."], "cannot write .: it is a folder"),
        (["--summary", "folder.csv", "--force"], "cannot write folder.csv: it is a folder"),
        (["--plot", "games.pgn/x"], "cannot write games.pgn"),
        (["--multipv", "257"], "--multipv 257: expected 256 or less"),
        (["--eval-file", "missing.nnue"], "cannot read missing.nnue: No such file or directory"),
    ],
)
def test_bad_arguments(file, analysts, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    Path("folder.csv").mkdir()
    assert annotate(file, *arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--summary", "table.csv"], ["--moves", "moves.csv"], ["--plot", "graphs"]])
def test_a_folder_where_nothing_can_be_written_is_noticed_first(file, analysts, pools, option, monkeypatch, capsys):
    allowed, locked = tempfile.TemporaryFile, file.parent / "locked"

    def refuse(**place):
        if place["dir"] == locked.resolve():
            raise PermissionError(errno.EACCES, "Permission denied")
        return allowed(**place)

    locked.mkdir()
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert annotate(file, option[0], locked / option[1]) == 2
    assert capsys.readouterr().err == f"knightadder: cannot write {locked / option[1]}: Permission denied\n"
    assert not pools


def test_the_engine_gets_its_options(file, monkeypatch):
    class Configured(FakeAnalyst):
        def configure(self, options):
            given.append(options)
            return []

    given, network = [], file.with_name("mine.nnue")
    network.write_bytes(b"a network")
    use(monkeypatch, lambda _: Configured())
    assert annotate(file, "--eval", "nnue", "--eval-file", network, "--syzygy", file.parent) == 0
    assert given == [{"SyzygyPath": str(file.parent), "EvalType": "nnue", "EvalFile": str(network)}]


def test_no_more_processes_than_blocks(file, analysts, pools):
    assert annotate(file, "--concurrency", 400) == 0
    assert pools == [2]  # two of the games can be annotated, and are short


def test_a_single_game_is_for_several_processes(file, analysts, pools):
    file.write_text(f"{' '.join(['Nf3 Nf6 Ng1 Ng8'] * 10)} *")
    assert annotate(file, "--concurrency", 400) == 0
    assert pools == [3]


def test_a_file_that_changes_meanwhile(file, monkeypatch, capsys):
    class Writer(FakeAnalyst):
        def new_game(self):
            file.write_text(ENDING + "\n\n" + SCHOLAR, encoding="utf-8")

    use(monkeypatch, lambda _: Writer())
    assert annotate(file) == 2
    assert "games.pgn has changed since the work began" in capsys.readouterr().err
    assert not file.with_name("games.annotated.pgn").exists()


def test_no_games(tmp_path, analysts, capsys):
    assert annotate(tmp_path / "missing.pgn") == 2
    assert "cannot read" in capsys.readouterr().err
    for content in (b"\n", b"\0\0\0\0", b"; only a remark\n"):
        (tmp_path / "empty.pgn").write_bytes(content)
        assert annotate(tmp_path / "empty.pgn") == 2
        assert "there is no game in" in capsys.readouterr().err
        assert [file.name for file in tmp_path.iterdir()] == ["empty.pgn"]


def test_broken_games_only(file, analysts, capsys):
    file.write_text(BROKEN)
    assert annotate(file) == 1
    assert file.with_name("games.annotated.pgn").read_text().strip() == BROKEN
    assert analysts == []  # nothing was loaded


def test_without_matplotlib_graphs_are_refused_before_the_work(file, analysts, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert annotate(file, "--plot", file.with_name("graphs")) == 2
    assert "needs Matplotlib" in capsys.readouterr().err


# --- broken off ----------------------------------------------------------------------------------------------------


def outputs(folder):
    """Read all that was written."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def arguments_in(folder):
    files = ("--out", folder / "out.pgn", "--summary", folder / "table.csv")
    return [folder / "games.pgn", *files, "--multipv", 2, "--nodes", 300]


def many_games():
    return "\n\n".join(
        f'[Event "{number}"]\n\n1. {move} *' if number % 7 else BROKEN
        for number, move in enumerate(["e4 d5 2. d4", "a3 b5", "Nf3 e5 2. Nxe5", "f3 e5 2. g4", "c4 b5 2. h3"] * 2, 1)
    )


def uninterrupted(tmp_path):
    folder = tmp_path / "whole"
    folder.mkdir()
    (folder / "games.pgn").write_text(many_games())
    assert annotate(*arguments_in(folder)) == 0
    return outputs(folder)


def test_a_second_run_at_the_same_time_is_refused(file, monkeypatch, capsys):
    statuses = []

    class Impatient(FakeAnalyst):
        def new_game(self):
            super().new_game()
            if self.games == 1:
                statuses.extend([annotate(file), annotate(file, "--restart", "--force")])

    use(monkeypatch, lambda _: Impatient())
    assert annotate(file) == 0
    assert statuses == [2, 2]
    unfinished = file.with_name("games.annotated.pgn.unfinished")
    assert capsys.readouterr().err.count(f"knightadder: {unfinished} is in use by another run\n") == 2
    assert len(read(file.with_name("games.annotated.pgn"))) == 4
    assert sorted(path.name for path in file.parent.iterdir()) == ["games.annotated.pgn", "games.pgn"]


def test_an_unfinished_run_with_other_arguments(file, monkeypatch, capsys):
    use(monkeypatch, lambda _: FakeAnalyst())
    with monkeypatch.context() as patch:
        patch.setattr(command, "Journal", Interrupted)
        assert annotate(file, "--nodes", 5) == 130
    assert annotate(file, "--nodes", 6) == 2
    assert "belongs to a run with other settings (limit): use the same, or give --restart" in capsys.readouterr().err
    assert annotate(file, "--nodes", 6, "--restart") == 0
    assert not file.with_name("games.annotated.pgn.unfinished").exists()


def test_interrupted_while_it_writes_it_says_how_to_go_on(file, analysts, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    out = file.with_name("games.annotated.pgn")
    with monkeypatch.context() as patch:
        patch.setattr(notes, "annotate", interrupt)
        assert annotate(file) == 130
    assert f"2 of 4 games are in {out}.unfinished; the same command continues from there" in capsys.readouterr().err
    assert not out.exists()
    assert annotate(file) == 0
    assert len(read(out)) == 4 and len(analysts) == 1


class Killed(BaseException):
    """Ends a run without any word."""


def test_a_restart_that_is_refused_forgets_nothing(file, analysts, monkeypatch, capsys):
    assert annotate(file) == 0
    with monkeypatch.context() as patch:
        patch.setattr(command, "Journal", Interrupted)
        assert annotate(file, "--force") == 130
    before = outputs(file.parent)
    assert "games.annotated.pgn.unfinished" in before
    assert annotate(file, "--restart") == 2
    assert "give --force to overwrite" in capsys.readouterr().err
    assert outputs(file.parent) == before


@pytest.mark.parametrize("renamed", range(1, 5))
def test_killed_while_it_writes_it_goes_on(tmp_path, analysts, monkeypatch, renamed):
    def replacing(file, target):
        real(file, target)
        names.append(Path(target).name)
        if len(names) == renamed:
            raise Killed

    def arguments(folder):
        return [*arguments_in(folder), "--moves", folder / "moves.csv", "--plot", folder / "graphs"]

    whole, killed, real, names = tmp_path / "whole", tmp_path / "killed", Path.replace, []
    for folder in (whole, killed):
        folder.mkdir()
        (folder / "games.pgn").write_text(many_games())
    (killed / "graphs").mkdir()
    assert annotate(*arguments(whole)) == 0
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Path, "replace", replacing)
        annotate(*arguments(killed))
    assert names[:3] == ["moves.csv", "table.csv", "out.pgn"][:renamed]
    assert annotate(*arguments(killed)) == 0
    assert outputs(killed) == outputs(whole)


@pytest.mark.parametrize("name", ["moves.csv", "table.csv", "out.pgn", "graphs/game-0001.svg"])
def test_files_that_others_write_meanwhile_are_kept(file, analysts, monkeypatch, capsys, name):
    def write(*arguments):
        theirs.parent.mkdir(exist_ok=True)
        theirs.write_text("mine")
        return real(*arguments)

    folder, real = file.parent, notes.annotate
    theirs = folder / name
    options = ["--moves", folder / "moves.csv", "--plot", folder / "graphs"]
    with monkeypatch.context() as patch:
        patch.setattr(notes, "annotate", write)
        assert annotate(*arguments_in(folder), *options) == 2
    assert f"{folder / name.partition('/')[0]} already " in said_last(capsys)
    assert theirs.read_text() == "mine"
    assert annotate(*arguments_in(folder), *options, "--force") == 0
    assert theirs.read_text("utf-8") != "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has such a device")
def test_a_full_standard_output_keeps_the_evaluations(file, analysts, capsys, monkeypatch):
    state = file.with_name("games.annotated.pgn.unfinished")
    with monkeypatch.context() as patch, open("/dev/full", "w") as full:
        patch.setattr(sys, "stdout", full)
        assert annotate(file, "--out", "-") == 1
    err = capsys.readouterr().err
    assert f"2 of 4 games are in {state}; the same command continues from there\n" in err
    assert err.endswith("knightadder: cannot write standard output: No space left on device\n")


def test_a_disk_that_becomes_full_and_on(tmp_path, monkeypatch, capsys):
    use(monkeypatch, lambda _: FakeAnalyst())
    expected = uninterrupted(tmp_path)
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "games.pgn").write_text(many_games())
    capsys.readouterr()
    unfinished = folder / "out.pgn.unfinished"
    with monkeypatch.context() as patch:
        nearly_full(patch, unfinished, 1000)
        assert annotate(*arguments_in(folder)) == 2
    assert said_last(capsys) == f"knightadder: cannot write {unfinished}: No space left on device"
    done = unfinished.read_bytes().count(b"\n") - 1
    assert done > 0
    assert annotate(*arguments_in(folder)) == 0
    assert f"Continuing after {done} of 10 games" in capsys.readouterr().err
    assert outputs(folder) == expected


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has such a device")
def test_a_full_output_is_named_beside_other_outputs(file, tmp_path, analysts, capsys):
    file.write_text(SCHOLAR.replace("a comment", "a comment " * 10_000), encoding="utf-8")
    others = ["--summary", tmp_path / "table.csv", "--moves", tmp_path / "moves.csv"]
    assert annotate(file, "--force", "--out", "/dev/full", *others) == 2
    assert said_last(capsys) == "knightadder: cannot write /dev/full: No space left on device"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "games.annotated.pgn.unfinished", file]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (b'{"game":1}', r".*unfinished, line 2 is damaged"),
        (b'{"number":1}', r"the record of game 1 in .*unfinished is damaged \(expected one evaluation"),
        (
            b'{"number":1,"result":[[1,2,3]]}',
            r"the record of game 1 in .*unfinished is damaged \(expected one evaluation",
        ),
        (b'{"number":1,"result":[7,7,7,7,7,7,7,7]}', r"the record of game 1 in .*unfinished is damaged \(.*unpack"),
    ],
)
def test_a_damaged_checkpoint_is_one_line_and_kept(file, monkeypatch, capsys, damage, complaint):
    def fail(*_):
        raise KeyboardInterrupt

    use(monkeypatch, lambda _: FakeAnalyst())
    with monkeypatch.context() as patch:
        patch.setattr(command, "_write", fail)
        assert annotate(file) == 130
    unfinished = file.with_name("games.annotated.pgn.unfinished")
    first, *rest = unfinished.read_bytes().splitlines()
    rest = [line for line in rest if json.loads(line)["number"] != 1]
    content = b"\n".join([first, damage, *rest, b""])
    unfinished.write_bytes(content)
    capsys.readouterr()
    assert annotate(file) == 2
    assert re.fullmatch(f"knightadder: {complaint}.*: remove .*, or give --restart( to .*)?", said_last(capsys))
    assert unfinished.read_bytes() == content
    unfinished.write_bytes(b"\n".join([first, *rest, b""]))
    assert annotate(file) == 0


def said_last(capsys):
    return capsys.readouterr().err.splitlines()[-1]


LONG_GAME = " ".join(["Nf3 Nf6 Ng1 Ng8"] * 5) + " e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7# 1-0"


def test_the_engine_itself_here_by_two_processes_and_by_a_cluster(tmp_path, shared_engine):  # which compiled the core
    written = []
    for where in (["--concurrency", 1], ["--concurrency", 2], ["--cluster", "local:2"]):
        folder = tmp_path / str(len(written))
        folder.mkdir()
        (folder / "games.pgn").write_text(f"{GAMES}\n\n{LONG_GAME}\n", encoding="utf-8")
        assert annotate(folder / "games.pgn", "--nodes", 300, *where) == 0
        written.append((folder / "games.annotated.pgn").read_bytes())
    assert written == written[:1] * 3
    one, _, three, _, five = read(tmp_path / "0" / "games.annotated.pgn")
    assert chess.pgn.NAG_BLUNDER in list(one.mainline())[5].nags
    for game in (one, three, five):
        for node in game.mainline():
            assert node.eval() or node.board().is_game_over()
            assert all(variation.eval() for variation in node.variations[1:])


# --- standard input and output -------------------------------------------------------------------------------------


@pytest.fixture
def standard(monkeypatch):
    """Give the function that annotates what comes from standard input."""

    def run(text, *arguments):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return annotate("-", *arguments)

    return run


def test_from_standard_input_to_standard_output(file, analysts, standard, capfdbinary, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert annotate(file) == 0
    written = file.with_name("games.annotated.pgn").read_bytes()
    capfdbinary.readouterr()
    assert standard(GAMES, "--summary", "table.json") == 0
    captured = capfdbinary.readouterr()
    assert captured.out == written
    assert captured.err.count(b"is not annotated") == 2
    assert captured.err.endswith(b"\n2 games annotated, 2 copied unchanged\n")
    assert json.loads(Path("table.json").read_text("utf-8"))["file"] == "standard input"
    assert annotate(file, "--out", "-") == 0
    assert capfdbinary.readouterr().out == written
    assert sorted(outputs(file.parent)) == ["games.annotated.pgn", "games.pgn", "table.json"]


@pytest.mark.skipif(os.name != "posix", reason="whole paths are limited there")
@pytest.mark.parametrize("length", [240, 228])  # the name of the state is too long, or only that of its lock
def test_to_standard_output_from_a_file_with_a_long_name(file, analysts, capfdbinary, length):
    long = file.rename(file.with_name(f"{'g' * length}.pgn"))
    assert annotate(long, "--out", "-") == 0
    assert capfdbinary.readouterr().out.count(b"[Event ") == 4
    assert list(long.parent.iterdir()) == [long]


def test_to_standard_output_beside_games_where_nothing_can_be_written(file, analysts, capfdbinary, monkeypatch):
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != file.parent and allowed(place, mode))
    file.parent.chmod(0o500)  # the administrator may write nevertheless
    try:
        with monkeypatch.context() as patch:
            patch.setattr(command, "Journal", Interrupted)
            assert annotate(file, "--out", "-") == 130
            assert capfdbinary.readouterr().err == b""  # nothing is kept
        assert annotate(file, "--out", "-") == 0
        assert capfdbinary.readouterr().out.count(b"[Event ") == 4
        assert list(outputs(file.parent)) == ["games.pgn"]
    finally:
        file.parent.chmod(0o700)


def test_from_standard_input_to_a_file_and_on(file, standard, monkeypatch, capsys):
    use(monkeypatch, lambda _: FakeAnalyst())
    out = file.with_name("out.pgn")
    with monkeypatch.context() as patch:
        patch.setattr(command, "Journal", Interrupted)
        assert standard(GAMES, "--out", out) == 130
        assert f"1 of 4 games are in {out}.unfinished; the same command continues" in capsys.readouterr().err
        assert standard(GAMES) == 130
        assert capsys.readouterr().err == ""  # nothing is kept
    assert standard(GAMES, "--out", out) == 0
    assert "Continuing after 1 of 4 games" in capsys.readouterr().err
    assert len(read(out)) == 4
