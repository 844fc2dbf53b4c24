"""XBoard's time controls as limits of a search."""

import pytest

from knightadder.engine.errors import EngineError
from knightadder.engine.limits import Limits
from knightadder.protocols.xboard_clock import GameClocks


def clock(**commands: str) -> GameClocks:
    """Give a clock after `level`, `st`, `sd`, `time` and `otim`, in the order given."""
    told = GameClocks()
    methods = {
        "level": told.set_level,
        "st": told.set_move_time,
        "sd": told.set_depth,
        "time": told.set_own,
        "otim": told.set_opponent,
    }
    for name, text in commands.items():
        methods[name](text)
    return told


def test_without_a_command_a_game_has_five_minutes() -> None:
    assert clock().limits(0, 3) == Limits(wtime=300_000, btime=300_000)


def test_a_game_in_one_time_control() -> None:
    told = clock(level="0 2 12", time="9000", otim="8000")
    assert told.limits(0, 5) == Limits(wtime=90_000, btime=80_000, winc=12_000, binc=12_000)
    assert told.limits(1, 5) == Limits(wtime=80_000, btime=90_000, winc=12_000, binc=12_000)


def test_so_many_moves_in_a_time() -> None:
    told = clock(level="40 0:30 0")
    assert [told.limits(0, made).movestogo for made in (0, 1, 39, 40, 79)] == [40, 39, 1, 40, 1]
    assert told.limits(0, 0).wtime == 30_000


def test_of_a_time_control_and_a_time_for_each_move_the_last_counts() -> None:
    assert clock(level="40 5 0", st="2.5").limits(0, 3) == Limits(movetime=2500)
    assert clock(st="2.5", level="0 1 0").limits(0, 3) == Limits(wtime=60_000, btime=60_000)


def test_a_depth_stands_beside_the_time() -> None:
    assert clock(st="3", sd="7").limits(0, 0) == Limits(movetime=3000, depth=7)
    told = clock(level="0 1 0", sd="7")
    assert told.limits(1, 0) == Limits(wtime=60_000, btime=60_000, depth=7)


def test_a_new_game_fills_the_clocks_and_frees_the_depth() -> None:
    told = clock(level="0 1 0", time="100", otim="200", sd="3")
    told.reset()
    assert told.limits(0, 0) == Limits(wtime=60_000, btime=60_000)


def test_the_engine_keeps_its_clock_itself_while_nobody_tells() -> None:
    told = clock(level="2 1 3", time="1000")
    told.spend(4000.4, 1)
    assert told.limits(0, 1).wtime == 9000
    told.spend(1000, 2)
    assert told.limits(0, 2).wtime == 9000 - 1000 + 3000 + 60_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("level", ""),
        ("level", "40 5"),
        ("level", "40 5 0 0"),
        ("level", "x 5 0"),
        ("level", "40 5:0:0 0"),
        ("level", "40 5 inf"),
        ("level", f"40 {'9' * 5000} 0"),
        ("st", ""),
        ("st", "nan"),
        ("st", "-3"),
        ("st", "9" * 5000),
        ("sd", "deep"),
        ("sd", "9" * 5000),
        ("time", "1.5"),
        ("otim", ""),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(name: str, text: str) -> None:
    told = clock(level="40 5 0", time="100", otim="200")
    before = told.limits(0, 0)
    method = {
        "level": told.set_level,
        "st": told.set_move_time,
        "sd": told.set_depth,
        "time": told.set_own,
        "otim": told.set_opponent,
    }[name]
    with pytest.raises(EngineError):
        method(text)
    assert told.limits(0, 0) == before
