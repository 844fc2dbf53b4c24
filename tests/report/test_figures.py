"""The figures of a report, beside what follows from the games by published formulas."""

import json
import lzma
import math
import re
from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from random import Random
from statistics import fmean, harmonic_mean, pstdev

import chess
import pytest
from chess.engine import Cp, Limit, PovScore
from report_games import GAMES, use_pool

from knightadder.engine.errors import EngineError
from knightadder.pgn.games import BrokenGame, parse, texts_of
from knightadder.report import figures
from knightadder.report.figures import PlayerGame, player_game
from knightadder.report.page import write_page
from knightadder.report.study import GameOfPlayer, GameStudy, studied
from knightadder.review.accuracy import rescale
from knightadder.review.game_evaluation import SearchedPosition, to_json
from knightadder.worker_engine import WorkerEngine

LIMIT = Limit(nodes=1)


def annas():
    """Give the items of Anna's games."""
    texts = texts_of(GAMES.encode())
    return [
        GameOfPlayer(number, "a.pgn", white, text)
        for number, (text, white) in enumerate(zip(texts, (True, True, False), strict=False))
    ]


def real():
    """Give the items of one side of the first 200 games of a match, up to move 25, with ratings that are made up."""
    content = lzma.decompress((Path(__file__).parents[2] / "docs/games/2026-11-26-other-engines.pgn.xz").read_bytes())
    chance = Random(1)
    items = []
    for number, text in enumerate(islice(texts_of(content), 200)):
        tags, moves = text.text.split("\n\n", 1)
        tags += f'\n[WhiteElo "{chance.randrange(900, 2400)}"]\n[BlackElo "{1500 + 2 * number}"]\n\n'
        short = re.split(r"\s25\.\s", moves.rsplit(maxsplit=1)[0])[0]
        result = re.search(r'Result "(.*?)"', tags)[1]
        items.append(GameOfPlayer(number, "b.pgn", number % 3 > 0, replace(text, text=f"{tags}{short} {result}")))
    return items


@cache
def read(item):
    """Read a game of `real`."""
    return parse(item.text)


@cache
def made_up(item):
    """Give White's scores in a game, one for each position: they walk at random."""
    chance, scores = Random(item.number), [0.0]
    for _ in read(item).mainline_moves():
        scores.append(0.95 * scores[-1] + chance.gauss(0, 60))
    return [round(score) for score in scores]


def studies(items):
    """Give what a report has of games, by the evaluations that are made up."""
    found = []
    for item in items:
        turn = read(item).turn()
        evaluations = []
        for score in made_up(item):
            evaluations.append(SearchedPosition(PovScore(Cp(score if turn else -score), turn), 5, ()))
            turn = not turn
        told = to_json(evaluations)
        result = {"evaluations": told, "choices": {str(ply): each for ply, each in enumerate(told)}, "fault": None}
        found.append(player_game(studied(item, json.dumps(result).encode(), False)))
    return found


@pytest.fixture(scope="module")
def real_games():
    items = real()
    return items, studies(items)


@pytest.fixture
def games(monkeypatch):
    use_pool(monkeypatch)
    task, items = GameStudy(LIMIT, WorkerEngine(None, {"Hash": "1"})), annas()
    return [player_game(studied(item, task(item), False)) for item in items]


def win_percents(item):
    """Give White's win percentage in each position, by the formula of lichess.org/page/accuracy."""
    scores = [rescale(Cp(score)).score() for score in made_up(item)]
    return [50 + 50 * (2 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, cp)))) - 1) for cp in scores]


def accuracy_of(before, after):
    fall = max(0.0, before - after)
    return min(100.0, max(0.0, 103.1668100711649 * math.exp(-0.04354415386753951 * fall) - 3.166924740191411 + 1))


def mixedness(board):
    """Give Lichess's measure of how mixed the pieces are: a sum over the 49 blocks of two by two squares."""
    total = 0
    for rank, file in product(range(7), repeat=2):
        block = [board.color_at(chess.square(file + right, rank + up)) for right, up in product(range(2), repeat=2)]
        y, white, black = rank + 1, block.count(True), block.count(False)
        if white and black:
            formulas = {(1, 1): 5 + abs(3 - y), (2, 1): 4 + y, (3, 1): 5 + y, (1, 2): 10 - y, (2, 2): 7, (1, 3): 11 - y}
            total += formulas[white, black]
        elif white or black:
            away = y if white else 8 - y  # from the home rank
            alone = {1: 9 - away, 2: away * (away > 2), 3: (away + 2) * (away > 1), 4: (away + 2) * (away > 1)}
            total += alone[white or black]
    return total


def moves_by_hand(item):
    """Give phase, points lost and accuracy of each of the player's moves, computed anew."""
    found, reached = [], 0
    game = read(item)
    board, wins = game.board(), win_percents(item)
    for ply, move in enumerate(game.mainline_moves()):
        pieces = [piece for piece in board.piece_map().values() if piece.piece_type not in (1, 6)]
        sparse = any(
            sum(bool(board.color_at(chess.square(file, rank)) is colour) for file in range(8)) < 4
            for rank, colour in ((0, True), (7, False))
        )
        ended = len(pieces) <= 10 or sparse or mixedness(board) > 150
        reached = max(reached, 2 if len(pieces) <= 6 else 1 if ended else 0)
        before, after = wins[ply : ply + 2] if item.white else (100 - win for win in wins[ply : ply + 2])
        if board.turn == item.white:
            phase = ("opening", "middlegame", "endgame")[reached]
            found.append((phase, max(0, before - after) / 100, accuracy_of(before, after)))
        board.push(move)
    return found


def test_accuracy_and_points_by_phase(real_games):
    items, games = real_games
    by_hand = [row for item in items for row in moves_by_hand(item)]
    phases = figures.by_phase(games)
    assert list(phases) == ["opening", "middlegame", "endgame"]
    assert len(games) == 200
    for phase, quality in phases.items():
        own = [row for row in by_hand if row[0] == phase]
        assert quality.moves == len(own)
        assert quality.accuracy.value == pytest.approx(fmean(row[2] for row in own), abs=0.01)
        assert quality.lost_a_game == pytest.approx(sum(row[1] for row in own) / len(games), abs=0.0005)


def test_accuracy_of_games(real_games):
    """A game's accuracy is the average of a harmonic mean and of a mean weighted by the spread of Win%."""
    for item, game in zip(*real_games, strict=True):
        wins, first = win_percents(item), read(item).turn()
        size = max(2, min(8, (len(wins) - 1) // 10))
        weights, accuracies = [], []
        for ply in range(len(wins) - 1):
            if (ply % 2 == 0) == (first == item.white):
                end = max(size, ply + 2)
                weights.append(max(0.5, min(12, pstdev(wins[end - size : end]))))
                sign = 1 if item.white else -1
                accuracies.append(accuracy_of(sign * wins[ply], sign * wins[ply + 1]))
        weighted = sum(map(math.prod, zip(weights, accuracies, strict=True))) / sum(weights)
        assert game.accuracy == pytest.approx((weighted + harmonic_mean(accuracies)) / 2, abs=0.01)


def test_results_and_performance_of_real_games(real_games):
    items, games = real_games
    for white in (True, False):
        found = figures.results([game for game in games if game.white == white])
        points, ratings = 0.0, []
        for item in items:
            if item.white == white:
                headers = read(item).headers
                points += {"1-0": float(white), "0-1": float(not white), "1/2-1/2": 0.5}[headers["Result"]]
                ratings.append(int(headers["BlackElo" if white else "WhiteElo"]))
        assert (found.games, found.points, found.rated) == (len(ratings), points, len(ratings))
        assert found.share.value == pytest.approx(points / len(ratings))
        expected = sum(1 / (1 + 10 ** ((rating - found.performance) / 400)) for rating in ratings)
        assert expected == pytest.approx(points, abs=0.3)  # the performance is rounded


def test_a_set_up_position_is_no_opening(real_games):
    items, games = real_games
    for item, game in zip(items, games, strict=True):
        assert game.opening != "Unnamed"
        if "FEN" not in read(item).headers:
            assert game.opening != "From a set-up position"
    assert any(game.opening == "From a set-up position" for game in games)


def test_results_and_performance(games):
    assert sum(quality.blunders for quality in figures.by_phase(games).values()) == 2
    found = figures.results(games)
    assert (found.games, found.wins, found.draws, found.losses, found.points) == (3, 1, 1, 1, 1.5)
    assert found.rated == 3
    expected = sum(1 / (1 + 10 ** ((rating - found.performance) / 400)) for rating in (1600, 1400, 1700))
    assert expected == pytest.approx(1.5, abs=0.01)
    white = figures.results([game for game in games if game.white])
    assert (white.games, white.draws, white.losses) == (2, 1, 1)


def test_accuracy_by_time_left(games):
    # Before Anna's moves 60, 60, 40, 20 and 5 seconds of 60 were left.
    found = figures.by_time_left(games)
    assert {words: quality.moves for words, quality in found.items()} == {
        "more than half": 3,
        "a half to a fifth": 1,
        "less than a tenth": 1,
    }
    assert [game.lost_on_time for game in games] == [True, False, False]
    # Only the first game has clocks.
    lost = sum(each.move.points_lost for each in games[0].moves)
    assert 0 < lost == pytest.approx(sum(quality.lost_a_game for quality in found.values()))


@pytest.mark.parametrize(
    ("tag", "end", "lost"),
    [
        ('[Termination "Time forfeit"]', "0-1", True),
        ('[Termination "Bert won on time"]', "0-1", True),
        ('[Termination "Bert won by resignation"]', "0-1", False),
        ('[Termination "Sometimes won by resignation"]', "0-1", False),
        ('[Termination "Sometimes won on time"]', "0-1", True),
        ("", "{[%clk 0:00:01] Anna forfeits on time} 0-1", True),
        ("", "{Anna resigns} 0-1", False),
        ('[Termination "?"]', "{[%clk 0:00:01]} 0-1", None),
        ("", "g4 Qh4# 0-1", False),
        ("", "{Anna forfeits on time} 1-0", False),
    ],
)
def test_whether_a_game_was_lost_on_time_may_be_unknown(tag, end, lost):
    text = f'{tag}\n[White "Anna"]\n[TimeControl "60+0"]\n\n1. f3 {{[%clk 0:00:59]}} e5 2. {end}'
    text = text if "g4" in end else text.replace("2. ", "")
    games = studies([GameOfPlayer(0, "a.pgn", True, next(texts_of(text.encode())))])
    assert games[0].lost_on_time is lost
    page = write_page("Anna", games, {"files": ["a.pgn"], "limit": {"nodes": 1}, "engine": None}, 0)
    assert f"{'1 game was' if lost else '0 games were'} lost on time." in page
    assert ("Of 1 game that was lost, the files do not say how." in page) == (lost is None)


@pytest.mark.parametrize(("count", "known"), [(1, False), (2, True)])
def test_phases_in_which_all_moves_are_alike_are_compared_if_there_are_several_games(games, count, known):
    move = games[0].moves[0]
    moves = [
        replace(move, move=replace(move.move, phase=phase, accuracy=accuracy))
        for phase, accuracy in (("opening", 100.0), ("endgame", 90.0))
        for _ in range(100)
    ]
    game = replace(games[0], moves=tuple(moves))
    page = write_page("Anna", [game] * count, {"files": ["a.pgn"], "limit": {"nodes": 1}, "engine": None}, 0)
    assert ("The least accurate: endgame (90.0 %). The most accurate: opening (100.0 %)." in page) is known


@pytest.mark.parametrize(
    ("tags", "date"),
    [
        ('[Date "2026.03.01"]', "2026.03.01"),
        ('[UTCDate "2026.03.02"]\n[Date "2026.03.01"]', "2026.03.02"),
        ('[UTCDate "????.??.??"]\n[Date "2026.03.??"]', "2026.03"),
        ("", ""),
    ],
)
def test_the_date_of_a_game_is_the_one_that_is_known(tags, date):
    [game] = studies([GameOfPlayer(0, "a.pgn", True, next(texts_of(f"{tags}\n\n1. e4 e5 *".encode())))])
    assert game.date == date


def test_no_time_is_left_of_a_time_control_that_the_clocks_contradict():
    # Anna has a minute left before her second move, so "more than half" of 90 seconds would be false.
    text = '[TimeControl "90+30"]\n\n1. e4 {[%clk 1:29:00]} e5 2. Nf3 {[%clk 0:01:00]} Nc6 3. Bc4 *'
    [game] = studies([GameOfPlayer(0, "a.pgn", True, next(texts_of(text.encode())))])
    assert len(game.moves) == 3 and figures.by_time_left([game]) == {}


def test_mistakes_by_kind(games):
    found = {kind.kind: kind for kind in figures.kinds(games)}
    assert found["hangs"].worst[1].move.san == "Qf6"
    assert found["missedMate"].worst[1].move.san == "Qf3"
    lost = sum(mistake.move.points_lost for game in games for mistake in game.mistakes)
    assert sum(kind.lost for kind in found.values()) == pytest.approx(lost)


def test_won_and_worse_positions(games):
    # A mate in one was there in the games two and three; the queen was lost in the first one.
    won, missed = figures.conversion(games)
    assert (won.games, won.wins, won.draws) == (2, 1, 1)
    [(game, move)] = missed
    assert (game.opponent, move.san) == ("Carl", "Qf3")
    worse = figures.holding(games)
    assert (worse.games, worse.losses) == (1, 1)


def test_openings(games):
    found = {(each.opening, each.white): each for each in figures.openings(games)}
    assert sum(each.results.games for each in found.values()) == 3
    spots = [each.spot for each in found.values() if each.spot]
    assert {spot.played.san for spot in spots} >= {"Qf6"} or {spot.played.san for spot in spots} >= {"Qf3"}
    for spot in spots:
        assert spot.fen == spot.played.fen and spot.reached == spot.times == 1
        assert spot.lost == pytest.approx(spot.played.points_lost)


def of_opening(name, results):
    """Give games of an opening with these points, and no moves."""
    return [PlayerGame(True, points, "?", None, "", "", name, None, (), (), False, False) for points in results]


@pytest.mark.parametrize(
    ("results", "said"),
    [
        # The intervals of A and B do not overlap, but they are two of 14 openings.
        ({"A": [1] * 7 + [0], "B": [0] * 7 + [1], **{name: [1, 0, 1, 0, 1, 0] for name in "CDEFGHIJKLMN"}}, "may be"),
        ({"A": [1] * 5, "B": [1, 0, 0, 0, 0, 1], **{name: [1, 0, 1, 0, 1, 0] for name in "CDEFGHIJKLMN"}}, "may be"),
        ({"A": [1] * 15, "B": [0] * 15, **{name: [1, 0] * 10 for name in "CDEF"}}, "is more than"),
        ({"A": [0.5] * 9, "B": [0.5] * 9}, "may be"),
    ],
)
def test_the_strongest_of_many_openings_may_be_so_by_chance(results, said):
    games = [game for name, points in results.items() for game in of_opening(name, points)]
    about = {"files": ["a.pgn"], "limit": {"nodes": 1}, "engine": None}
    assert f"The difference {said} chance." in write_page("Anna", games, about, 0)


def test_openings_of_equal_strength_seldom_differ():
    chance, differing = Random(1), 0
    for _ in range(40):
        games = []
        for name in "ABCDEFGHIJKLMNOP":
            games += of_opening(name, [chance.choice([1, 0.5, 0]) for _ in range(chance.randrange(5, 20))])
        differing += figures.differ(figures.openings(games))
    assert differing <= 6  # two are expected; more than six come once in 100 such tests


def test_puzzles_have_one_solution(games):
    found = figures.puzzles(games, 40)
    # The engine of this test sees only that a pawn can be taken in place of the move that loses the queen.
    assert {puzzle.mistake.move.san: [move.uci() for move, _, _ in puzzle.good] for puzzle in found} == {
        "Qf6": ["f3f7"],
        "Qf3": ["h5f7"],
    }
    lost = [puzzle.mistake.move.points_lost for puzzle in found]
    assert lost == sorted(lost, reverse=True)
    assert figures.puzzles(games, 1) == found[:1]
    assert figures.puzzles(games, 0) == []


def test_a_damaged_study_is_refused(monkeypatch):
    use_pool(monkeypatch)
    texts = [*texts_of(GAMES.encode())]
    item = GameOfPlayer(0, "a.pgn", True, texts[0])
    data = GameStudy(LIMIT, WorkerEngine(None, {"Hash": "1"}))(item)
    for damaged in (data[:-1], b"[]", b'{"evaluations": []}', data.replace(b'"choices": {"', b'"choices": {"9')):
        with pytest.raises(EngineError, match=r"^a worker returned a damaged study of a\.pgn, game 1, line 1$"):
            studied(item, damaged, False)
    broken = GameOfPlayer(4, "a.pgn", False, texts[4])
    with pytest.raises(BrokenGame, match="illegal san"):
        studied(broken, GameStudy(LIMIT, WorkerEngine(None, {"Hash": "1"}))(broken), False)
