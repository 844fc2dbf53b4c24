"""Limits: which searches end by themselves."""

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
