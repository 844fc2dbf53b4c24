"""The user's progress with puzzles."""

import math
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from knightadder.engine.errors import OptionError
from knightadder.puzzles.user_progress import PuzzleProgress


@pytest.fixture
def now():
    return [datetime(2026, 3, 1, tzinfo=UTC)]


@pytest.fixture
def progress(tmp_path, now):
    return PuzzleProgress(tmp_path / "data" / "puzzles.sqlite", lambda: now[0])


def test_a_rating_follows_glicko_2(progress):
    standing = progress.answer("one", True, ["fork"], 1400, 30)
    # Steps 3 to 8 of Glickman's paper; the volatility of 0.06 has hardly changed.
    scale = 173.7178
    g = 1 / math.sqrt(1 + 3 * (30 / scale) ** 2 / math.pi**2)
    expected = 1 / (1 + math.exp(-g * (1500 - 1400) / scale))
    variance = 1 / (1 / ((200 / scale) ** 2 + 0.06**2) + g * g * expected * (1 - expected))
    assert standing.rating == pytest.approx(1500 + scale * variance * g * (1 - expected), abs=0.1)
    assert standing.deviation == pytest.approx(scale * math.sqrt(variance), abs=0.1)


def test_the_first_answers_change_a_rating_sensibly(progress):
    """One lucky answer does not make a master, and one slip no beginner; several right answers still count for much."""
    assert 1600 < progress.answer("hard", True, [], 3000, 80).rating < 1750
    assert progress.answer("easy", False, [], 600, 80).rating > 1400
    for number in range(15):
        standing = progress.answer(str(number), True, [], 2200, 80)
    assert 2100 < standing.rating < 2500


def test_only_the_first_answer_counts(progress):
    first = progress.answer("one", False, [], 1500)
    assert progress.answer("one", True, [], 1500) == first
    assert (first.tried, first.solved) == (1, 0) and first.rating < 1500
    assert progress.answered() == {"one"}


def test_streaks_and_themes_are_counted(progress):
    for number, solved in enumerate([True, True, True, False, True]):
        standing = progress.answer(str(number), solved, ["fork", "short"] if number else ["pin"], None)
    assert (standing.tried, standing.solved, standing.streak, standing.best_streak) == (5, 4, 1, 3)
    assert standing.rating == 1500  # the puzzles have none
    assert [(each.theme, each.tried, each.solved) for each in progress.themes()] == [
        ("fork", 4, 3),
        ("short", 4, 3),
        ("pin", 1, 1),
    ]


@pytest.mark.parametrize("unrated", [0, 2])  # number of answers in the pause that tell nothing about the rating
def test_a_rating_is_less_certain_after_a_pause(progress, now, unrated):
    for number in range(30):
        known = progress.answer(str(number), number % 2 == 0, [], 1500, 80)
    now[0] += timedelta(days=10)
    # Step 6 of Glickman's paper, ten times.
    rested = pytest.approx(math.hypot(known.deviation, 173.7178 * 0.06 * math.sqrt(10)), abs=0.1)
    assert progress.standing().deviation == rested
    for number in range(unrated):
        assert progress.answer(f"unrated {number}", True, [], None).deviation == rested
    now[0] += timedelta(days=400)
    assert progress.standing().deviation == 200
    assert progress.answer("late", True, [], 1500, 80).deviation > known.deviation


def test_two_boards_share_the_file_and_another_file_is_refused(progress, tmp_path):
    other = PuzzleProgress(progress.file)
    progress.answer("one", True, [], 1500)
    assert other.answer("two", True, [], 1500).streak == 2
    strange = tmp_path / "strange.sqlite"
    with sqlite3.connect(strange) as database:
        database.execute("CREATE TABLE games (id)")
    database.close()
    with pytest.raises(OptionError, match="is not a file of answers to puzzles"):
        PuzzleProgress(strange)
