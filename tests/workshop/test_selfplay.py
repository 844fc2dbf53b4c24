"""Games of the engine against itself: their results, and that they depend on the parameters and nothing else."""

import pytest

from knightadder.core.native.loading import load
from knightadder.core.search.parameters import PARAMETERS
from knightadder.workshop import selfplay as module
from knightadder.workshop.openings import BookLine, load_book
from knightadder.workshop.selfplay import (
    DRAW,
    LOSS,
    WIN,
    SelfPlay,
    StoppedError,
    adjudicate,
)

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
# Sees no captures beyond the horizon, few before it, and none at all where a position seems bad.
WEAK = {"delta_margin": -3000, "see_noisy_margin": -3000, "razoring_margin": -3000}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Load the core, or compile it, before any test waits for it."""
    load()


@pytest.fixture(scope="module")
def selfplay():
    return SelfPlay(nodes=500, megabytes=1)


@pytest.fixture
def short_games(monkeypatch):
    """Let games be decided early."""
    monkeypatch.setattr(module, "RESIGN_SCORE", 100)
    monkeypatch.setattr(module, "RESIGN_PLIES", 3)


@pytest.mark.parametrize(
    ("fen", "white"),
    [
        (MATE_IN_ONE, WIN),
        ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", LOSS),
        ("3qk3/8/8/8/8/8/8/4K3 w - - 0 1", LOSS),  # by adjudication
        ("8/8/4k3/8/8/4K3/8/8 w - - 0 1", DRAW),
        ("7k/R7/5K2/8/8/8/8/8 w - - 99 80", DRAW),  # no mate in one, so the fifty-move rule
        ("8/8/8/8/8/1k6/1p6/1K6 w - - 0 1", DRAW),  # stalemate
        ("7k/4P3/6K1/8/8/8/8/8 w - - 0 1", WIN),
    ],
)
def test_the_results_are_those_of_chess(selfplay, fen, white):
    assert selfplay.play_pair(BookLine(fen), {}, {}) == (white, -white)


def test_the_moves_of_an_opening_are_played(selfplay):
    assert selfplay.play_pair(BookLine("7k/5ppp/8/8/8/8/8/R3K3 b - - 0 1", ("h8g8",)), {}, {}) == (WIN, LOSS)


def test_worse_values_lose_and_do_not_stay(selfplay):
    book = load_book()
    good = {parameter.name: parameter.value for parameter in PARAMETERS}
    bad = {**good, **WEAK}
    openings = [book.opening(number) for number in range(10)]
    assert sum(sum(selfplay.play_pair(opening, good, bad)) for opening in openings) >= 10
    assert sum(sum(selfplay.play_pair(opening, bad, good)) for opening in openings) <= -10
    for opening in openings:  # of one kind of player, the same side wins whoever has it
        first, second = selfplay.play_pair(opening, good, good)
        assert first == -second


def test_nothing_is_kept_from_game_to_game(selfplay, short_games, monkeypatch):
    book, other = load_book(), {"reverse_futility_margin": 120}
    scores = []
    monkeypatch.setattr(
        module, "adjudicate", lambda found, plies: scores.append(list(found)) or adjudicate(found, plies)
    )
    for number in (0, 1, 0):
        scores.append(number)
        selfplay.play_pair(book.opening(number), {}, other)
    rounds = [index for index, entry in enumerate(scores) if isinstance(entry, int)]
    assert scores[: rounds[1]] == scores[rounds[2] :]


def test_a_stopped_player_plays_no_more():
    selfplay = SelfPlay(200, 1)
    selfplay.stop()
    with pytest.raises(StoppedError):
        selfplay.play_pair(BookLine(), {}, {})


@pytest.mark.parametrize(
    ("scores", "plies", "expected"),
    [
        ([1001] * 5, 5, WIN),
        ([-1001] * 5, 5, LOSS),
        ([1001] * 4, 5, None),
        ([1001, 1001, 1000, 1001, 1001], 5, None),
        ([1001, 1001, -1001, 1001, 1001], 5, None),
        ([0] * 10 + [31_000] * 5, 15, WIN),
        ([8, -8] * 6, 80, DRAW),
        ([8, -8] * 6, 79, None),
        ([9] + [0] * 11, 80, None),
        ([9] + [0] * 12, 80, DRAW),
        ([0] * 11, 80, None),
        ([], 100, None),
    ],
)
def test_adjudication(scores, plies, expected):
    assert adjudicate(scores, plies) == expected
