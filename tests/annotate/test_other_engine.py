"""`annotate --engine` and `puzzles --engine`: another UCI engine evaluates."""

import contextlib
import shlex
import sys
from pathlib import Path

import chess
import chess.pgn
import pytest
from chess.engine import Cp, Limit, Mate, Wdl
from fake_analyst import FakeAnalyst, Here
from game_texts import read_game

from knightadder import cli, worker_engine
from knightadder.annotate import command
from knightadder.engine.errors import EngineError, OptionError
from knightadder.puzzles import command as puzzles_command
from knightadder.review.accuracy import side_accuracies, unchanged
from knightadder.review.game_evaluation import evaluate
from knightadder.review.notes import annotate
from knightadder.review.review import review
from knightadder.worker_engine import UciAnalyst

GAME = """[White "One"]
[Black "Two"]

1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxa2 4. Rxa2 Nf6 5. f3 e5 6. g4 *
"""
FOOL = "1. f3 e5 2. g4 a6 *\n"
SCRIPT = Path(__file__).parents[1] / "material_engine.py"


def engine_command(*arguments):
    return shlex.join([sys.executable, str(SCRIPT), *arguments])


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Work in this process, and close the task at the end, as a pool does."""

    @contextlib.contextmanager
    def open_pool(task, cluster, processes, core=False):
        with contextlib.closing(task):
            yield Here(task)

    monkeypatch.setattr(command, "open_pool", open_pool)
    monkeypatch.setattr(puzzles_command, "open_pool", open_pool)


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(GAME, "utf-8")
    return file


@pytest.fixture
def analyst(request):
    with UciAnalyst(engine_command(*getattr(request, "param", ())), {"Hash": "8"}) as analyst:
        yield analyst


def test_its_scores_are_stockfish_s_and_its_name_is_the_annotator_s(file, capsys):
    assert cli.main(["annotate", str(file), "--nodes", "5", "--engine", f"cmd={engine_command()}"]) == 0
    wanted = read_game(GAME)
    board = wanted.end().board()
    evaluations = evaluate(board, FakeAnalyst(), Limit(nodes=1))
    found = review(board, evaluations, unchanged)
    annotate(wanted, found, "Material 2.1")
    written = read_game(file.with_name("games.annotated.pgn").read_text("utf-8"))
    assert str(written) == str(wanted)
    assert written.headers["Annotator"].startswith("Material 2.1 (Knightadder ")
    white, black = side_accuracies([each.score.white() for each in evaluations])  # not converted
    assert written.headers["WhiteAccuracy"] == f"{white.accuracy:.1f}"
    assert written.headers["BlackCentipawnLoss"] == str(black.centipawn_loss)


def test_puzzles_are_found_by_it(tmp_path):
    file, out = tmp_path / "fool.pgn", tmp_path / "out.pgn"
    file.write_text(FOOL, "utf-8")
    arguments = ["puzzles", str(file), "--out", str(out), "--nodes", "2000"]
    assert cli.main([*arguments, "--engine", f"cmd={engine_command()}"]) == 0
    game = read_game(out.read_text("utf-8"))
    assert [move.uci() for move in game.mainline_moves()] == ["d8h4"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["cmd=/no/such/engine"], 2, "no such program: /no/such/engine"),
        (["cmd=" + engine_command(), "option.Contempt=1"], 2, "Contempt"),
        (["cmd=" + shlex.join([sys.executable, "-c", "pass"])], 1, "cannot start "),
        (["name=x"], 2, "--engine name=x: unknown key name; the keys are cmd, option.NAME"),
    ],
)
def test_an_engine_that_cannot_be_used_is_a_line(file, capsys, words, status, message):
    assert cli.main(["annotate", str(file), "--nodes", "5", "--engine", *words]) == status
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err
    assert not file.with_name("games.annotated.pgn").exists()


def test_a_run_with_another_engine_is_another_run(file, capsys, monkeypatch):
    monkeypatch.setattr(command, "_write", lambda *given: exit_now())
    with pytest.raises(SystemExit):
        cli.main(["annotate", str(file), "--nodes", "5", "--engine", f"cmd={engine_command()}"])
    monkeypatch.undo()
    assert cli.main(["annotate", str(file), "--nodes", "5"]) == 2
    assert "belongs to a run with other settings (engine)" in capsys.readouterr().err


def exit_now():
    raise SystemExit


@pytest.mark.parametrize("analyst", [(), ("no-hash",)], indirect=True)
def test_lines_are_those_of_the_last_whole_iteration(analyst):
    board = chess.Board("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")
    found, wanted = (each.analyse(board, Limit(nodes=5), multipv=3) for each in (analyst, FakeAnalyst()))
    assert [(line.move, line.score, line.depth) for line in found.lines] == [
        (line.move, line.score, 7) for line in wanted.lines
    ]
    assert found.lines[0].wdl.relative == Wdl(0, 1000, 0)
    assert found.best_move == chess.Move.from_uci("e4d5")
    [only] = analyst.analyse(board, Limit(nodes=5), multipv=3, root_moves=[chess.Move.from_uci("e4e5")]).lines
    assert (only.move, only.score.relative) == (chess.Move.from_uci("e4e5"), Cp(0))
    [mate] = analyst.analyse(chess.Board("7k/8/5KQ1/8/8/8/8/8 w - - 0 1"), Limit(nodes=5)).lines
    assert mate.score.relative == Mate(1)


@pytest.mark.parametrize(("most", "depths"), [(4, [7, 7, 7]), (1, [8])])
def test_only_the_last_of_very_many_lines_count(analyst, monkeypatch, most, depths):
    monkeypatch.setattr(worker_engine, "_MOST_INFOS", most)
    found = analyst.analyse(chess.Board(), Limit(nodes=5), multipv=3)
    assert [line.depth for line in found.lines] == depths


@pytest.mark.parametrize("analyst", [("no-wdl",)], indirect=True)
def test_without_expected_results_these_are_unknown(analyst):
    board = chess.Board()
    board.push_uci("e2e4")
    assert [each.wdl for each in evaluate(board, analyst, Limit(nodes=5))] == [None, None]


def test_nothing_is_said_of_a_null_move_before_the_position(analyst, caplog):
    board = chess.Board()
    for move in ("e2e4", "0000", "g1f3"):
        board.push_uci(move)
    assert analyst.analyse(board, Limit(nodes=5)).best_move in board.legal_moves
    assert caplog.text == ""


@pytest.mark.parametrize("analyst", [("silent",)], indirect=True)
def test_an_engine_that_gives_no_score(analyst):
    with pytest.raises(EngineError, match=r"^the engine failed on rnbqkbnr/.*: no score$"):
        analyst.analyse(chess.Board(), Limit(nodes=5))
    analyst.close()
    with pytest.raises(EngineError, match=r"^no more searches: the run has ended$"):
        analyst.analyse(chess.Board(), Limit(nodes=5))


def test_numbers_beyond_all_limits_are_limited(file):
    # Some engines report a mate as a million centipawns.
    arguments = ["annotate", str(file), "--nodes", "5", "--engine", f"cmd={engine_command('huge')}"]
    assert cli.main(arguments) == 0
    written = file.with_name("games.annotated.pgn").read_text("utf-8")
    assert "[%eval 0.00,1000]" in written and "[%eval 1000.00,1000]" in written and "[%eval -1000.00,1000]" in written
    file.write_text("1. f3 e5 2. g4 *\n", "utf-8")
    assert cli.main([*arguments, "--force"]) == 0
    written = file.with_name("games.annotated.pgn").read_text("utf-8")
    assert "[%eval #-100000,1000]" in written


@pytest.mark.parametrize(("hash_of_engine", "bound"), [("small-hash", "at most 8"), ("large-hash", "at least 64")])
@pytest.mark.parametrize("words", [("annotate",), ("report", "--player", "One"), ("puzzles",)])
def test_only_a_hash_size_that_the_user_gives_can_be_refused(file, capsys, hash_of_engine, bound, words):
    name, *more = words
    out = str(file.with_name("out.html" if name == "report" else "out.pgn"))
    arguments = [name, str(file), *more, "--nodes", "5", "--out", out, "--engine", engine_command(hash_of_engine)]
    assert cli.main([*arguments, "--hash", "16"]) == 2
    assert bound in capsys.readouterr().err
    assert cli.main([*arguments, "--restart"]) == 0


def test_workers_with_different_engines_are_refused(file, monkeypatch):
    from knightadder.annotate import workers

    file.write_text(2 * (GAME + "\n"), "utf-8")
    parse, names = workers.parse_json, iter(["One 1", "Two 2"])
    monkeypatch.setattr(workers, "parse_json", lambda *given: [*parse(*given)[:2], next(names)])
    with pytest.raises(OptionError, match=r"^the workers have different engines: One 1 and Two 2$"):
        command.run(cli.build_parser().parse_args(["annotate", str(file), "--engine", f"cmd={engine_command()}"]))
