"""Games of the engine against itself: their results, and that they depend on the parameters and nothing else."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from knightadder.core.compilation import core
from knightadder.core.search.parameters import PARAMETERS
from knightadder.engine.info import Bound, Info, Result, Score
from knightadder.engine.timeman import Progress
from knightadder.workshop import selfplay as module
from knightadder.workshop.match.time_control import Allowance, TimeControl
from knightadder.workshop.opening_book import BookLine, load_book
from knightadder.workshop.selfplay import DRAW, LOSS, WIN, SelfPlay, StoppedError, adjudicate

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
# Sees no captures beyond the horizon, few before it, and none at all where a position seems bad.
WEAK = {"delta_margin": -3000, "see_noisy_margin": -3000, "razoring_margin": -3000}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Load the core, or compile it, before any test waits for it."""
    core.load()


@pytest.fixture(scope="module")
def selfplay():
    return SelfPlay(Allowance(nodes=500), megabytes=1)


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


@pytest.mark.parametrize("allowance", [Allowance(nodes=200), Allowance(TimeControl(60, 1))])
def test_a_stopped_player_plays_no_more(allowance):
    selfplay = SelfPlay(allowance, 1)
    selfplay.stop()
    with pytest.raises(StoppedError):
        selfplay.play_pair(BookLine(), {}, {})


# --- clocks --------------------------------------------------------------------------------------------------------


def test_games_with_a_clock_have_the_results_of_chess():
    selfplay = SelfPlay(Allowance(TimeControl(3600)), megabytes=1)
    assert selfplay.play_pair(BookLine(MATE_IN_ONE), {}, {}) == (WIN, LOSS)
    assert selfplay.play_pair(BookLine("7k/R7/5K2/8/8/8/8/8 w - - 99 80"), {}, {}) == (DRAW, DRAW)


class _ScriptedSearch:
    """A search that takes so many seconds by the injected clock, and finds the first legal move."""

    limits, seconds, stopped, now, score = [], [], [], 0.0, Score(cp=0)

    def __init__(self, player, game, limits, options, report, done, progress):
        self.limits.append((game.side_to_move, limits))
        self.progress = Progress()
        self._done, self._best = done, game.legal_moves_uci()[0]
        self.thread = threading.Thread(target=self._run)

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopped.append(True)

    def _run(self):
        type(self).now += self.seconds[len(self.limits) - 1]
        info = Info(1, 1, 1, self.score, Bound.EXACT, None, 1, 1, 0, 0, 0, (self._best,))
        self._done(Result(self._best, None, info))


@pytest.fixture
def scripted(monkeypatch):
    """Let searches be scripted, and the time be what they say."""

    class Script(_ScriptedSearch):
        limits, seconds, stopped, now = [], [], [], 100.0

    monkeypatch.setattr(module, "Search", Script)
    monkeypatch.setattr(module, "perf_counter", lambda: Script.now)
    return Script


def test_the_clock_runs_and_a_flag_that_falls_loses(scripted):
    # White's moves take 2, 3.5, 1 and 20 seconds; Black's always 1.
    scripted.seconds = [2, 1, 3.5, 1, 1, 1, 20] * 2
    assert SelfPlay(Allowance(TimeControl(10, 1, 3)), megabytes=1).play_pair(BookLine(), {}, {}) == (LOSS, WIN)
    white = [(limits.wtime, limits.winc, limits.movestogo) for side, limits in scripted.limits if side == 0]
    black = [(limits.btime, limits.binc, limits.movestogo) for side, limits in scripted.limits if side == 1]
    assert white == [(10_000, 1000, 3), (9_000, 1000, 2), (6_500, 1000, 1), (16_500, 1000, 3)] * 2
    assert black == [(10_000, 1000, 3), (10_000, 1000, 2), (10_000, 1000, 1)] * 2


def test_black_s_flag_can_fall_too(scripted):
    scripted.seconds = [1, 10.04, 1, 11] * 2  # the first is within the margin
    assert SelfPlay(Allowance(TimeControl(10, 1)), megabytes=1).play_pair(BookLine(), {}, {}) == (WIN, LOSS)


@pytest.mark.parametrize(("score", "winner"), [(Score(mate=3), WIN), (Score(mate=-3), LOSS), (Score(cp=1500), WIN)])
def test_mates_count_when_a_game_with_a_clock_is_adjudicated(scripted, monkeypatch, score, winner):
    class Searches(scripted):
        def __init__(self, player, game, *rest):
            super().__init__(player, game, *rest)
            # The other side agrees: its score is the opposite one.
            opposite = Score(cp=-score.cp) if score.mate is None else Score(mate=-score.mate)
            self.score = opposite if game.side_to_move else score

    Searches.seconds = [0] * 100
    monkeypatch.setattr(module, "Search", Searches)
    results = SelfPlay(Allowance(TimeControl(10)), megabytes=1).play_pair(BookLine(), {}, {})
    assert results == ((WIN, LOSS) if winner == WIN else (LOSS, WIN))
    assert len(scripted.limits) == 10


def test_a_game_with_a_clock_can_be_aborted_while_it_thinks():
    selfplay = SelfPlay(Allowance(TimeControl(100_000)), 1)
    with ThreadPoolExecutor(1) as threads:
        game = threads.submit(selfplay.play_pair, BookLine(), {}, {})
        selfplay.stop()
        with pytest.raises(StoppedError):
            game.result(200)


def test_a_clock_that_counts_nodes_makes_games_repeatable(short_games, monkeypatch):
    thought = []

    class Searches(module.Search):
        def __init__(self, player, game, limits, options, report, done, progress):
            self.before = progress.before

            def finish(result):
                thought.append((result.best_move, result.info.nodes, limits.wtime, self.before))
                done(result)

            super().__init__(player, game, limits, options, report, finish, progress)

    monkeypatch.setattr(module, "Search", Searches)
    selfplay = SelfPlay(Allowance(TimeControl(2, 0.01), node_time=20), megabytes=1)
    selfplay.play_pair(load_book().opening(1), {}, {})
    first = thought[:]
    thought.clear()
    selfplay.play_pair(load_book().opening(1), {}, {})
    assert thought == first
    left = 2000.0
    for _, nodes, shown, _ in first[0:20:2]:  # White's clock is charged by its nodes
        assert shown == pytest.approx(left, abs=1)
        left = left - nodes / 20 + 10
    # The time of a move depends on the search for the move before, as in any game.
    assert first[0][3] is first[1][3] is None
    assert first[2][3].scores and first[3][3].scores


# --- adjudication --------------------------------------------------------------------------------------------------


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
