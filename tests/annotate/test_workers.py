"""Games evaluated in parallel: all of them, with what is raised on the way."""

import io
import threading

import chess
import chess.engine
import chess.pgn
import pytest
from fake_analyst import FakeAnalyst, positions

from knightadder.annotate.evaluation import evaluate
from knightadder.annotate.workers import Job, evaluate_games
from knightadder.engine.errors import EngineError

LIMIT = chess.engine.Limit(nodes=1)
GAMES = ["1. e4 *", "1. d4 d5 2. c4 dxc4 *", "1. f3 e5 2. g4 Qh4# *", "1. c4 *", "1. Nf3 d5 *"]


def jobs():
    return [Job(number, chess.pgn.read_game(io.StringIO(text)).end().board()) for number, text in enumerate(GAMES, 1)]


def all_of(analysts, **more):
    results = {}
    evaluate_games(jobs(), analysts, LIMIT, 2, results.__setitem__, **more)
    return results


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_every_game_is_evaluated_once(workers):
    analysts = [FakeAnalyst() for _ in range(workers)]
    done = []
    results = all_of(analysts, on_position=done.append)
    assert results == {job.number: evaluate(job.board, FakeAnalyst(), LIMIT, 2) for job in jobs()}
    assert sum(analyst.games for analyst in analysts) == len(GAMES)
    assert len(done) == sum(len(job) for job in jobs())


def test_games_are_evaluated_at_the_same_time():
    meeting = threading.Barrier(2, timeout=300)

    class Companion(FakeAnalyst):
        def new_game(self):
            super().new_game()
            if self.games == 1:
                meeting.wait()  # breaks, which is an error, if the other one does not come

    assert len(all_of([Companion(), Companion()])) == len(GAMES)


def test_no_more_games_are_taken_than_needed():
    taken, most = 0, 0

    def counted():
        nonlocal taken
        for job in jobs() * 20:
            taken += 1
            yield job

    def on_game(number, result):
        nonlocal most, done
        done += 1
        most = max(most, taken - done)

    done = 0
    evaluate_games(counted(), [FakeAnalyst()], LIMIT, 1, on_game)
    assert done == 100
    assert most <= 3


def test_a_game_in_which_the_engine_fails_ends_with_its_error():
    class Faulty(FakeAnalyst):
        def analyse(self, board, limit, *, multipv=1):
            if board.fen() == positions(jobs()[1].board)[2].fen():
                raise EngineError("illegal position")
            return super().analyse(board, limit, multipv=multipv)

    results = all_of([Faulty()])
    assert str(results.pop(2)) == "illegal position"
    assert all(isinstance(result, list) for result in results.values())
    assert len(results) == len(GAMES) - 1


class Endless(FakeAnalyst):
    """Searches until it is told to end, and is told before it has begun."""

    def __init__(self):
        super().__init__()
        self.searching, self.told = threading.Event(), threading.Event()

    def analyse(self, board, limit, *, multipv=1):
        self.searching.set()
        self.told.clear()
        assert self.told.wait(300)
        return super().analyse(board, limit, multipv=multipv)

    def stop(self):
        self.told.set()


def test_ctrl_c_ends_the_searches():
    analysts = [Endless(), Endless()]

    def interrupted():
        yield from jobs()[:2]
        for analyst in analysts:
            assert analyst.searching.wait(300)
        raise KeyboardInterrupt

    results = {}
    with pytest.raises(KeyboardInterrupt):
        evaluate_games(interrupted(), analysts, LIMIT, 1, results.__setitem__)
    assert results == {}
    assert [len(analyst.seen) for analyst in analysts] == [1, 1]


def test_what_is_raised_when_a_game_is_done_ends_the_work():
    def on_game(number, result):
        raise EngineError("the disk is full")

    analyst = FakeAnalyst()
    with pytest.raises(EngineError, match="disk"):
        evaluate_games(jobs() * 20, [analyst], LIMIT, 1, on_game)
    assert analyst.games <= 3  # those taken ahead of the work
