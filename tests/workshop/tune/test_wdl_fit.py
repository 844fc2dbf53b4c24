"""`knightadder tune wdl`: what is read from games, and whether the fit finds the constants that made them."""

import re
from collections import Counter
from random import Random

import pytest
from command_line import run_command

from knightadder.engine.wdl import FULL_MATERIAL, LEAST_MATERIAL, parameters, win_rate
from knightadder.workshop.tune.wdl_fit import DRAW, LOSS, WIN, WdlCounts, fit, read_games

HEADERS = '[Event "a"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{more}\n{moves} {result}\n\n'


def _game(moves, result="1-0", white="Knightadder", black="Other", more=""):
    return HEADERS.format(moves=moves, result=result, white=white, black=black, more=more)


def _read(tmp_path, *games, player=None):
    file = tmp_path / "games.pgn"
    file.write_text("".join(games), encoding="utf-8")
    sample = WdlCounts()
    return sample, read_games(file, sample, player)


def _run(capsys, *arguments):
    return run_command(capsys, "tune", "wdl", *arguments)


# --- reading -------------------------------------------------------------------------------------------------------


def test_scores_and_results_are_the_movers(tmp_path):
    game = _game("1. e4 {+0.35/12 0.45s} d5 {-0.10/11 0.052s n=20011} 2. exd5 {0.00/9 1s} Qxd5 {-1.01/8 0.1s}")
    sample, bad = _read(tmp_path, game, game.replace("1-0", "1/2-1/2"))
    assert (sample.games, bad) == (2, 0)
    assert sample.counts == Counter(
        {
            (78, 35, WIN): 1,
            (78, -10, LOSS): 1,
            (78, 0, WIN): 1,
            (77, -100, LOSS): 1,
            (78, 35, DRAW): 1,
            (78, -10, DRAW): 1,
            (78, 0, DRAW): 1,
            (77, -100, DRAW): 1,
        }
    )


@pytest.mark.parametrize(
    "comment",
    [
        "book",
        "0.052s",
        "+M5/20 0.1s",
        "-M4/12 0.1s",
        "+15.20/9 0.1s",
        "-99.00/9 0.1s",
        "good: +0.35/12",
        "",
    ],
)
def test_moves_without_a_usable_score(tmp_path, comment):
    sample, bad = _read(tmp_path, _game(f"1. e4 {{{comment}}} e5 {{+0.10/5 0.1s, a word}}"))
    assert (sample.counts, bad) == (Counter({(78, 10, LOSS): 1}), 0)


def test_variations_and_second_comments_do_not_count(tmp_path):
    moves = "1. e4 {+0.10/5 0.1s} {+9.00/5 0.1s} (1. d4 {+5.00/5 0.1s} d5 {+5.00/5 0.1s}) 1... e5 {-0.20/5 0.1s}"
    assert _read(tmp_path, _game(moves))[0].counts == Counter({(78, 10, WIN): 1, (78, -20, LOSS): 1})


def test_only_one_player(tmp_path):
    games = [_game("1. e4 {+0.10/5 0.1s} e5 {+0.20/5 0.1s}"), _game("1. e4 {+0.30/5 0.1s}", white="X", black="Y")]
    sample, _ = _read(tmp_path, *games, player="Knight")
    assert (sample.games, sample.counts) == (1, Counter({(78, 10, WIN): 1}))


@pytest.mark.parametrize(
    "game",
    [
        _game("1. e4 {+0.10/5 0.1s}", result="*"),
        _game("1. e4 {+0.10/5 0.1s}", more='[Termination "time forfeit"]\n'),
        _game("1. e4 {+0.10/5 0.1s}", more='[Termination "abandoned"]\n'),
        _game("1. e4 {+0.10/5 0.1s} e4 {+0.10/5 0.1s}"),
        _game("1. e4 {+0.10/5 0.1s}", more='[FEN "nonsense"]\n'),
    ],
)
def test_games_that_are_left_out(tmp_path, game):
    sample, bad = _read(tmp_path, game, _game("1. e4 {+0.10/5 0.1s}"))
    assert (sample.games, sample.counts, bad) == (1, Counter({(78, 10, WIN): 1}), 1)


def test_adjudicated_games_count(tmp_path):
    assert _read(tmp_path, _game("1. e4 {+0.10/5 0.1s}", more='[Termination "adjudication"]\n'))[0].games == 1


# --- fitting -------------------------------------------------------------------------------------------------------


def _expected(a, b):
    """Positions of all kinds, each result as often as the model says."""
    sample = WdlCounts(games=1)
    for on_board in range(LEAST_MATERIAL, FULL_MATERIAL + 1, 3):
        half_won, spread = parameters(on_board, a, b)
        for cp in range(-800, 801, 50):
            win, lost = (win_rate(x, half_won, spread) for x in (cp, -cp))
            for result, rate in ((WIN, win), (LOSS, lost), (DRAW, 1 - win - lost)):
                sample.counts[on_board, cp, result] = round(100_000 * rate)
    return sample


@pytest.mark.parametrize(
    ("degree", "a", "b"),
    [
        (0, (0.0, 0.0, 0.0, 180.0), (0.0, 0.0, 0.0, 90.0)),
        (1, (0.0, 0.0, -120.0, 300.0), (0.0, 0.0, 60.0, 70.0)),
        (3, (-190.0, 460.0, -300.0, 260.0), (110.0, -160.0, 40.0, 95.0)),
    ],
)
def test_the_fit_finds_the_constants(degree, a, b):
    found_a, found_b = fit(_expected(a, b), degree)
    assert len(found_a) == len(found_b) == 4
    for on_board in range(LEAST_MATERIAL, FULL_MATERIAL + 1):
        assert parameters(on_board, found_a, found_b) == pytest.approx(parameters(on_board, a, b), rel=0.005)


def _synthetic_games(number, half_won, spread):
    """Games of one move whose results follow the model."""
    random = Random(5)
    games = []
    for _ in range(number):
        cp = random.randrange(-600, 601)
        luck = random.random()
        win, lost = win_rate(cp, half_won, spread), win_rate(-cp, half_won, spread)
        result = "1-0" if luck < win else "0-1" if luck > 1 - lost else "1/2-1/2"
        games.append(_game(f"1. e4 {{{cp / 100:+.2f}/9 0.1s}}", result))
    return games


def test_the_command_prints_source_lines(capsys, tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text("".join(_synthetic_games(4000, 200.0, 100.0)), encoding="utf-8")
    status, out, err = _run(capsys, file, "--degree", "0")
    assert (status, err) == (0, "")
    assert out.startswith("# 4000 games, 4000 positions\n")
    constants = {}
    exec(out.partition("\nmaterial")[0], constants)
    # With so many games, five standard errors.
    assert constants["A"] == pytest.approx((0, 0, 0, 200.0), abs=25)
    assert constants["B"] == pytest.approx((0, 0, 0, 100.0), abs=20)
    [(fitted, used)] = re.findall(r"log-loss of a result: (\S+); with the constants in use (\S+)\n", out)
    assert float(fitted) < float(used)


def test_games_left_out_are_counted(capsys, tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(_game("1. e4", result="*") + "".join(_synthetic_games(50, 200.0, 100.0)), encoding="utf-8")
    status, _, err = _run(capsys, file, "--degree", "0")
    assert (status, err) == (0, f"knightadder: {file}: 1 game left out: unreadable, unfinished or lost by a fault\n")


@pytest.mark.parametrize("text", ["", "nonsense", _game("1. e4 e5"), _game("1. e4 {+0.10/5 0.1s} e5 {+0.10/5 0.1s}")])
def test_nothing_to_fit_to_ends_with_status_2(capsys, tmp_path, text):
    file = tmp_path / "games.pgn"
    file.write_text(text, encoding="utf-8")
    status, out, err = _run(capsys, file)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("knightadder: the files must contain won, drawn and lost games")
