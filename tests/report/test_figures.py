"""The figures of a report, beside what follows from the games by published formulas."""

import lzma
import math
from itertools import islice
from pathlib import Path

import chess
import pytest
from chess.engine import Limit
from fake_analyst import FakeAnalyst
from report_games import GAMES, use_pool

from knightadder.engine.errors import EngineError
from knightadder.pgn.games import BrokenGame, parse, texts_of
from knightadder.report import figures
from knightadder.report.figures import player_game
from knightadder.report.study import GameStudy, Item, studied
from knightadder.review.accuracy import rescale
from knightadder.review.evaluation import evaluate

LIMIT = Limit(nodes=1)
SHORT = 900  # characters


def annas():
    """Give the items of Anna's games."""
    texts = texts_of(GAMES.encode())
    return [
        Item(number, "a.pgn", white, text)
        for number, (text, white) in enumerate(zip(texts, (True, True, False), strict=False))
    ]


def real():
    """Give the items of one side of some games that were played, short ones."""
    content = lzma.decompress((Path(__file__).parents[2] / "docs/games/2026-11-26-other-engines.pgn.xz").read_bytes())
    texts = islice((text for text in texts_of(content) if len(text.text) < SHORT), 3)
    return [Item(number, "b.pgn", number % 2 == 0, text) for number, text in enumerate(texts)]


def studies(items):
    """Give what a report has of these games."""
    task = GameStudy(LIMIT, 1)
    return [player_game(studied(item, task(item), False)) for item in items]


@pytest.fixture
def games(monkeypatch):
    use_pool(monkeypatch)
    return studies(annas())


def moves_by_hand(items):
    """Give phase, points lost and accuracy of each of the player's moves, computed anew."""
    found = []
    for item in items:
        board, white = parse(item.text).end().board(), item.white
        reached = 0
        evaluations = evaluate(board, FakeAnalyst(), LIMIT)
        replay = board.root()
        for ply, move in enumerate(board.move_stack):
            side = replay.turn
            wins = []
            for position in evaluations[ply : ply + 2]:
                score = rescale(position.score.pov(side))
                cp = max(-1000, min(1000, score.score(mate_score=100_000)))
                wins.append(50 + 50 * (2 / (1 + math.exp(-0.00368208 * cp)) - 1))
            pieces = [piece for piece in replay.piece_map().values() if piece.piece_type not in (1, 6)]
            sparse = any(
                sum(bool(replay.color_at(chess.square(file, rank)) is colour) for file in range(8)) < 4
                for rank, colour in ((0, True), (7, False))
            )
            reached = max(reached, 2 if len(pieces) <= 6 else 1 if len(pieces) <= 10 or sparse else 0)
            phase = ("opening", "middlegame", "endgame")[reached]
            fall = max(0, wins[0] - wins[1])
            accuracy = 103.1668100711649 * math.exp(-0.04354415386753951 * fall) - 3.166924740191411 + 1
            if side == white:
                found.append((phase, fall / 100, min(100, max(0, accuracy))))
            replay.push(move)
    return found


@pytest.mark.parametrize("items", [annas, real])
def test_accuracy_and_points_by_phase(items, monkeypatch):
    use_pool(monkeypatch)
    games, by_hand = studies(items()), moves_by_hand(items())
    phases = figures.by_phase(games)
    assert set(phases) == {phase for phase, _, _ in by_hand}
    for phase, quality in phases.items():
        own = [row for row in by_hand if row[0] == phase]
        assert quality.moves == len(own)
        assert quality.accuracy.value == pytest.approx(sum(row[2] for row in own) / len(own), abs=0.01)
        assert quality.lost_a_game == pytest.approx(sum(row[1] for row in own) / len(games), abs=0.0005)


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
    item = Item(0, "a.pgn", True, texts[0])
    data = GameStudy(LIMIT, 1)(item)
    for damaged in (data[:-1], b"[]", b'{"evaluations": []}', data.replace(b'"choices": {"', b'"choices": {"9')):
        with pytest.raises(EngineError, match=r"^a worker returned a damaged study of a\.pgn, game 1, line 1$"):
            studied(item, damaged, False)
    broken = Item(4, "a.pgn", False, texts[4])
    with pytest.raises(BrokenGame, match="illegal san"):
        studied(broken, GameStudy(LIMIT, 1)(broken), False)
