"""Time management: no loss on time, whatever the clock says, and most time where it is worth most."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightadder.engine.limits import Limits
from knightadder.engine.timeman import Progress, TimeBudget, allot, scale

CLOCKS = st.integers(-10_000, 10**15)
INCREMENTS = st.integers(0, 10**15)
OVERHEADS = st.integers(0, 5000)
SIDES = st.integers(0, 1)
MOVES = st.none() | st.integers(1, 200)
MORE = st.integers(0, 10**6)
PLIES = st.integers(0, 1000)
PROGRESS_OF_ONE = st.builds(
    Progress,
    st.integers(1, 65_535),
    st.integers(0, 120),
    st.lists(st.integers(-32_000, 32_000), min_size=1, max_size=4).map(tuple),
    st.floats(0, 1),
)
PROGRESS = st.builds(replace, PROGRESS_OF_ONE, before=st.none() | PROGRESS_OF_ONE)


def budget(limits: Limits, overhead: int = 20, ply: int = 40) -> tuple[float, float]:
    """Give White's soft and hard limit."""
    allotted = allot(limits, 0, overhead, ply)
    assert allotted.soft is not None
    assert allotted.hard is not None
    return allotted.soft, allotted.hard


def test_an_increment_counts_even_below_the_overhead_but_never_against_the_clock() -> None:
    without = budget(Limits(wtime=60_000), overhead=1000)
    assert budget(Limits(wtime=60_000, winc=100), overhead=1000) > without
    assert budget(Limits(wtime=60_000, winc=-500), overhead=1000) == without


# --- Limits -----------------------------------------------------------------------------------------------------------


@given(CLOCKS, CLOCKS, INCREMENTS, INCREMENTS, MOVES, st.none() | st.integers(1, 10**15), SIDES, OVERHEADS, PLIES)
def test_no_budget_exceeds_the_clock_less_the_overhead(
    wtime: int,
    btime: int,
    winc: int,
    binc: int,
    movestogo: int | None,
    movetime: int | None,
    side: int,
    overhead: int,
    ply: int,
) -> None:
    limits = Limits(wtime, btime, winc, binc, movestogo, movetime=movetime)
    budget = allot(limits, side, overhead, ply)
    assert budget.soft is not None
    assert budget.hard is not None
    left = max((wtime, btime)[side] - overhead, 1)  # a millisecond is the least that a search can be given
    assert 0 < budget.soft <= left
    assert 0 < budget.hard <= left
    if movetime is not None:
        assert budget.hard <= max(movetime - overhead, 1)


@given(CLOCKS, MORE, INCREMENTS, MORE, MOVES, OVERHEADS, PLIES)
def test_more_time_or_fewer_moves_never_give_less(
    clock: int, more: int, increment: int, more_increment: int, movestogo: int | None, overhead: int, ply: int
) -> None:
    limits = Limits(wtime=clock, winc=increment, movestogo=movestogo)
    soft, hard = budget(limits, overhead, ply)
    richer = [replace(limits, wtime=clock + more), replace(limits, winc=increment + more_increment)]
    if movestogo is not None and movestogo > 1:
        richer.append(replace(limits, movestogo=movestogo - 1))
    for each in richer:
        more_soft, more_hard = budget(each, overhead, ply)
        assert more_soft >= soft
        assert more_hard >= hard


@given(CLOCKS, INCREMENTS, MOVES, OVERHEADS, MORE, PLIES)
def test_more_overhead_never_gives_more(
    clock: int, increment: int, movestogo: int | None, overhead: int, more: int, ply: int
) -> None:
    limits = Limits(wtime=clock, winc=increment, movestogo=movestogo)
    soft, hard = budget(limits, overhead, ply)
    less_soft, less_hard = budget(limits, overhead + more, ply)
    assert less_soft <= soft
    assert less_hard <= hard


@given(st.integers(100, 10**7), st.integers(0, 5000), st.none() | st.integers(1, 60), st.integers(0, 200))
def test_a_game_is_never_lost_on_time_when_each_move_takes_all_it_may(
    clock: int, increment: int, movestogo: int | None, overhead: int
) -> None:
    to_go = movestogo
    left = float(clock)
    for move in range(200):
        _, hard = budget(Limits(wtime=int(left), winc=increment, movestogo=to_go), overhead, 2 * move)
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


@pytest.mark.parametrize("lost", [2.0, 5.0])
def test_a_fast_game_keeps_a_reserve_for_hiccups(lost: float) -> None:
    # One second and ten milliseconds a move; each costs its soft limit, often scaled up, and some milliseconds more.
    left = 1000.0
    for move in range(200):
        soft, hard = budget(Limits(wtime=int(left), winc=10), ply=2 * move)
        left += 10 - lost - min(soft * (1.0, 1.5, 2.0)[move % 3], hard)
        _, hard = budget(Limits(wtime=int(left), winc=10), ply=2 * move + 2)
        assert left - hard > 70


def test_time_is_spread_over_the_moves_to_come() -> None:
    soft, hard = budget(Limits(wtime=60_000))
    assert 60_000 / 100 < soft < 60_000 / 15
    assert soft < hard < 60_000 / 2
    last, _ = budget(Limits(wtime=60_000, movestogo=1))
    assert last > 60_000 / 2
    for more in (
        Limits(wtime=120_000),
        Limits(wtime=60_000, winc=1000),
        Limits(wtime=60_000, movestogo=10),
    ):
        assert budget(more)[0] > soft
    # An increment comes with every move. Early in the game most of it may be spent, later all of it and more.
    spent = [
        budget(Limits(wtime=60_000, winc=1000), ply=ply)[0] - budget(Limits(wtime=60_000), ply=ply)[0]
        for ply in (0, 60)
    ]
    assert 700 < spent[0] < 1000 < spent[1] < 2000


@pytest.mark.parametrize("moves", [2, 5, 10, 20, 40])
def test_with_moves_to_go_a_move_gets_most_of_its_part_of_the_clock(moves: int) -> None:
    part = 60_000 / moves
    assert 0.6 * part < budget(Limits(wtime=60_000, movestogo=moves))[0] < part


@pytest.mark.parametrize("moves", [1, 2, 30])
def test_each_move_to_go_and_five_more_have_their_overhead_set_aside(moves: int) -> None:
    with_overhead = Limits(wtime=60_000 + 100 * (moves + 5), movestogo=moves)
    assert budget(with_overhead, overhead=100) == budget(Limits(wtime=60_000, movestogo=moves), overhead=0)


def test_each_side_uses_its_own_clock_and_for_want_of_it_the_others() -> None:
    both = Limits(wtime=1000, btime=60_000, winc=1, binc=500)
    assert allot(both, 0, 0, 40) == allot(Limits(wtime=1000, winc=1), 0, 0, 40)
    assert allot(both, 1, 0, 40) == allot(Limits(btime=60_000, binc=500), 1, 0, 40)
    assert allot(Limits(btime=5000), 0, 0, 40) == allot(Limits(wtime=5000), 0, 0, 40)


@pytest.mark.parametrize("limits", [Limits(), Limits(infinite=True, wtime=100, movetime=5)])
def test_an_infinite_search_has_no_budget(limits: Limits) -> None:
    assert allot(limits, 0, 20, 40) == TimeBudget(None, None)


@pytest.mark.parametrize("limits", [Limits(depth=9), Limits(nodes=9), Limits(mate=9)])
def test_depth_nodes_and_mate_change_nothing_about_the_time(limits: Limits) -> None:
    for times in (Limits(), Limits(movetime=500), Limits(wtime=9000), Limits(wtime=9000, movetime=50)):
        both = replace(limits, wtime=times.wtime, movetime=times.movetime)
        assert allot(both, 0, 20, 40) == allot(times, 0, 20, 40)


def test_movetime_is_kept_less_the_overhead() -> None:
    assert allot(Limits(movetime=1000), 0, 20, 40) == TimeBudget(None, 980)
    assert allot(Limits(movetime=5), 0, 20, 40) == TimeBudget(None, 1)


# --- Scaling ----------------------------------------------------------------------------------------------------------


def test_progress_counts_how_long_the_best_move_stands() -> None:
    progress = Progress()
    counts = []
    for move in (7, 7, 7, 8, 7, 7):
        progress = progress.after(move, 0, 0.5)
        counts.append(progress.stable_for)
    assert counts == [0, 1, 2, 0, 0, 1]


def test_an_old_fall_of_the_score_no_longer_counts() -> None:
    fallen, level = Progress(), Progress()
    for iteration in range(6):
        fallen = fallen.after(7, 20 if iteration else 200, 0.6)
        level = level.after(7, 20, 0.6)
    assert scale(fallen) == scale(level)


@given(PROGRESS, st.integers(-1000, 1000))
def test_only_the_changes_of_the_score_count(progress: Progress, more: int) -> None:
    def raised(each: Progress) -> Progress:
        return replace(each, scores=tuple(score + more for score in each.scores))

    before = progress.before and raised(progress.before)
    assert scale(replace(raised(progress), before=before)) == scale(progress)


@given(PROGRESS)
def test_the_scale_has_bounds(progress: Progress) -> None:
    assert 0.2 < scale(progress) < 8


@given(PROGRESS, st.integers(1, 50), st.floats(0, 1), st.integers(0, 30_000))
def test_a_settled_choice_takes_less_time_and_a_falling_score_more(
    progress: Progress, longer: int, share: float, drop: int
) -> None:
    factor = scale(progress)
    assert scale(replace(progress, stable_for=progress.stable_for + longer)) <= factor
    assert scale(replace(progress, best_share=max(progress.best_share, share))) <= factor
    if len(progress.scores) > 1:
        assert scale(replace(progress, scores=(*progress.scores[:-1], progress.scores[-1] - drop))) >= factor


def test_each_reason_makes_a_difference() -> None:
    typical = Progress(7, 6, (20, 20, 20, 20), 0.6)
    assert 0.7 < scale(typical) < 1.3
    for less in (replace(typical, best_share=0.95), replace(typical, scores=(20, 25, 30, 35))):
        assert scale(less) < 0.9 * scale(typical)
    for more in (
        replace(typical, stable_for=0),
        replace(typical, best_share=0.3),
        replace(typical, scores=(20, 10, 0, -20)),
    ):
        assert scale(more) > 1.3 * scale(typical)


def test_a_search_looks_back_at_the_score_and_the_stability_of_the_one_before() -> None:
    before = Progress(7, 6, (20, 20, 20, 20), 0.6)

    def factor(before: Progress) -> float:
        progress = before.of_next_search(2)
        for _ in range(5):
            progress = progress.after(8, 20, 0.6)
        return scale(progress)

    assert factor(replace(before, scores=(20, 60))) > 1.1 * factor(before)
    assert factor(replace(before, stable_for=0)) < 0.8 * factor(before)


def test_only_the_sides_next_search_and_that_of_the_same_move_look_back() -> None:
    before = Progress(7, 6, (20, 20), 0.6)
    search = before.of_next_search(2).after(1, 20, 0.6)
    assert search.before == before
    assert search.of_next_search(0) == Progress(before=before)
    assert search.of_next_search(2).before == replace(search, before=None)
    for plies in (-2, 1, 3, 4):
        assert search.of_next_search(plies) == Progress()
    assert Progress().of_next_search(2) == Progress()
