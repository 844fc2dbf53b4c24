"""Limits: which searches end by themselves."""

from dataclasses import replace

import pytest

from knightadder.engine.limits import Limits


@pytest.mark.parametrize(
    "limits",
    [
        Limits(wtime=0),
        Limits(btime=-5),
        Limits(depth=1),
        Limits(nodes=1),
        Limits(mate=1),
        Limits(movetime=1),
        Limits(wtime=1000, ponder=True),
    ],
)
def test_any_limit_ends_a_search(limits: Limits) -> None:
    assert not limits.unlimited


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(infinite=True),
        Limits(infinite=True, depth=3),
        Limits(searchmoves=("e2e4",)),
        Limits(winc=100, binc=100, movestogo=40),
        Limits(ponder=True),
    ],
)
def test_without_a_limit_only_stop_ends_a_search(limits: Limits) -> None:
    assert limits.unlimited


@pytest.mark.parametrize("name", ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"])
def test_numbers_out_of_range_are_moved_to_its_end(name: str) -> None:
    for number in (2**63 - 1, 2**63, 2**64, 10**100):
        assert getattr(Limits(**{name: number}), name) == 10**15
    least = -(10**15) if name in ("wtime", "btime") else int(name not in ("winc", "binc"))
    assert getattr(Limits(**{name: -(2**64)}), name) == least
    for number in ("5", 5.5):
        with pytest.raises(TypeError):
            Limits(**{name: number})


@pytest.mark.parametrize(
    ("expected", "now", "kept"),
    [
        (Limits(nodes=300), Limits(nodes=300), True),
        (Limits(nodes=300), Limits(nodes=200_000), False),
        (Limits(nodes=300), Limits(nodes=300, searchmoves=("e2e4",)), False),
        (Limits(nodes=300), Limits(nodes=300, wtime=60_000), False),
        (Limits(movetime=600), Limits(movetime=50), False),
        (Limits(movetime=1000), Limits(movetime=2000), False),  # an exact time
        (Limits(movetime=50), Limits(depth=14), False),
        (Limits(wtime=10_000, btime=5000, winc=10), Limits(wtime=9000, btime=100, winc=10), True),
        (Limits(wtime=10_000, btime=5000, winc=10), Limits(wtime=20_000, btime=5000, winc=10), True),
        (Limits(wtime=10_000, btime=5000, winc=10), Limits(wtime=8000, btime=5000, winc=10), False),
        (Limits(wtime=10_000, btime=5000, winc=10), Limits(wtime=10_000, btime=5000), False),
        (Limits(wtime=10_000, btime=5000), Limits(wtime=10_000, btime=5000, movestogo=3), False),
        (Limits(wtime=10_000, btime=5000, movestogo=3), Limits(wtime=10_000, btime=5000, movestogo=3), True),
        (Limits(wtime=10_000, btime=5000), Limits(movetime=1000), False),
        (Limits(wtime=-1000, btime=5000), Limits(wtime=-1000, btime=5000), True),  # the flag is not claimed
    ],
)
def test_pondering_becomes_the_search_only_with_the_limits_that_were_expected(
    expected: Limits, now: Limits, kept: bool
) -> None:
    for ponder in (False, True):
        assert replace(expected, ponder=ponder).may_become(now, 0) == kept
        assert _turned(expected).may_become(_turned(now), 1) == kept


def _turned(limits: Limits) -> Limits:
    return replace(limits, wtime=limits.btime, btime=limits.wtime, winc=limits.binc, binc=limits.winc)
