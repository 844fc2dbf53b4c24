"""Time management: no loss on time, whatever the clock says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightadder.engine.limits import Limits
from knightadder.engine.timeman import TimeBudget, allot

CLOCKS = st.integers(-10_000, 10**15)
INCREMENTS = st.integers(0, 10**15)
OVERHEADS = st.integers(0, 5000)
SIDES = st.integers(0, 1)
MOVES = st.none() | st.integers(1, 200)


@given(CLOCKS, CLOCKS, INCREMENTS, INCREMENTS, MOVES, st.none() | st.integers(1, 10**15), SIDES, OVERHEADS)
def test_no_budget_exceeds_the_clock_less_the_overhead(
    wtime: int, btime: int, winc: int, binc: int, movestogo: int | None, movetime: int | None, side: int, overhead: int
) -> None:
    limits = Limits(wtime, btime, winc, binc, movestogo, movetime=movetime)
    budget = allot(limits, side, overhead)
    assert budget.soft is not None
    assert budget.hard is not None
    left = max((wtime, btime)[side] - overhead, 1)  # a millisecond is the least that a search can be given
    assert 0 < budget.soft <= left
    assert 0 < budget.hard <= left
    if movetime is not None:
        assert budget.hard <= max(movetime - overhead, 1)


@given(st.integers(100, 10**7), st.integers(0, 5000), st.none() | st.integers(1, 60), st.integers(0, 200))
def test_a_game_is_never_lost_on_time_when_each_move_takes_all_it_may(
    clock: int, increment: int, movestogo: int | None, overhead: int
) -> None:
    limits_at = lambda left, to_go: Limits(wtime=left, winc=increment, movestogo=to_go)  # noqa: E731
    to_go = movestogo
    left = float(clock)
    for _ in range(200):
        hard = allot(limits_at(int(left), to_go), 0, overhead).hard
        assert hard is not None
        if left > overhead + 1:  # else the overhead alone may be more than there is
            assert hard + overhead <= left
        left -= hard
        if left < 1:
            break
        left += increment
        if to_go is not None:
            to_go -= 1
            if to_go == 0:
                left, to_go = left + clock, movestogo


def test_time_is_spread_over_the_moves_to_come() -> None:
    minute = allot(Limits(wtime=60_000), 0, 20)
    assert minute.soft is not None
    assert minute.hard is not None
    assert 60_000 / 100 < minute.soft < 60_000 / 15
    assert minute.soft < minute.hard < 60_000 / 2
    last = allot(Limits(wtime=60_000, movestogo=1), 0, 20)
    assert last.soft is not None
    assert last.soft > 60_000 / 2
    for more in (
        Limits(wtime=120_000),
        Limits(wtime=60_000, winc=1000),
        Limits(wtime=60_000, movestogo=10),
    ):
        soft = allot(more, 0, 20).soft
        assert soft is not None
        assert soft > minute.soft


def test_each_side_uses_its_own_clock_and_for_want_of_it_the_others() -> None:
    both = Limits(wtime=1000, btime=60_000, winc=1, binc=500)
    assert allot(both, 0, 0) == allot(Limits(wtime=1000, winc=1), 0, 0)
    assert allot(both, 1, 0) == allot(Limits(btime=60_000, binc=500), 1, 0)
    assert allot(Limits(btime=5000), 0, 0) == allot(Limits(wtime=5000), 0, 0)


@pytest.mark.parametrize("limits", [Limits(), Limits(infinite=True, wtime=100, movetime=5)])
def test_an_infinite_search_has_no_budget(limits: Limits) -> None:
    assert allot(limits, 0, 20) == TimeBudget(None, None)


@pytest.mark.parametrize("limits", [Limits(depth=9), Limits(nodes=9), Limits(mate=9)])
def test_depth_nodes_and_mate_ignore_the_clock_but_not_movetime(limits: Limits) -> None:
    values = {"depth": limits.depth, "nodes": limits.nodes, "mate": limits.mate}
    assert allot(Limits(**values, wtime=1, btime=1), 0, 20) == TimeBudget(None, None)
    assert allot(Limits(**values, wtime=1, movetime=500), 0, 20) == TimeBudget(None, 480)


def test_movetime_is_kept_less_the_overhead() -> None:
    assert allot(Limits(movetime=1000), 0, 20) == TimeBudget(None, 980)
    assert allot(Limits(movetime=5), 0, 20) == TimeBudget(None, 1)
