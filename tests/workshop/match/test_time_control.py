"""Allowance and clocks: how they are written, and what is charged."""

import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.time_control import Allowance, SideClock, TimeControl


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("8+0.08", TimeControl(8, 0.08)),
        ("2", TimeControl(2)),
        ("40/60", TimeControl(60, 0, 40)),
        ("40/60.5+.6", TimeControl(60.5, 0.6, 40)),
        ("1:30", TimeControl(90)),
        ("40/1:30+0.5", TimeControl(90, 0.5, 40)),
        ("0:00.5+.01", TimeControl(0.5, 0.01)),
        ("2:0", TimeControl(120)),
        ("inf/10+0.1", TimeControl(10, 0.1)),
        ("0/60", TimeControl(60)),
        ("1.5:30", TimeControl(120)),
    ],
)
def test_time_controls_are_read_and_written(text, control):
    assert TimeControl.parse(text) == control
    assert TimeControl.parse(str(control)) == control


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1+1",
        "x",
        "8+",
        "inf/0",
        "40/inf",
        "1e3",
        "8+-1",
        "inf",
        "nan",
        "8 + 1",
        "0:0",
        ":30",
        "1:",
        "1:2:3",
        "9" * 400,
        "1/1+" + "9" * 400,
        "9" * 400 + "/1",
        "\u0663",
    ],
)
def test_what_is_no_time_control(text):
    with pytest.raises(OptionError, match="tc="):
        TimeControl.parse(text)


def test_limits_are_written_as_in_the_strength_log():
    assert str(Allowance(TimeControl(8, 0.08))) == "8+0.08"
    assert str(Allowance(move_time=0.5)) == "0.5 s/move"
    assert str(Allowance(nodes=20000, depth=9)) == "N=20000 depth 9"


def test_a_game_clock_counts_down_and_gets_its_increment():
    clock = SideClock(Allowance(TimeControl(8, 0.5)))
    assert (clock.reading("w"), clock.own()) == (" wtime 8000 winc 500", "")
    assert clock.charge(3) == 5
    assert clock.reading("b") == " btime 5500 binc 500"
    assert clock.charge(6) == -0.5
    assert clock.allowed == 0.5  # nothing is owed


def test_an_engine_is_never_told_of_no_time():
    clock = SideClock(Allowance(TimeControl(1)))
    clock.charge(1.2)
    assert clock.reading("w") == " wtime 1 winc 0"


def test_a_new_period_adds_its_time():
    clock = SideClock(Allowance(TimeControl(10, 0, 2)))
    assert clock.own() == " movestogo 2"
    clock.charge(4)
    assert clock.own() == " movestogo 1"
    clock.charge(3)
    assert (clock.own(), clock.allowed) == (" movestogo 2", 13)


def test_limits_of_each_move():
    clock = SideClock(Allowance(move_time=0.5, nodes=2000, depth=7))
    assert (clock.reading("w"), clock.own(), clock.allowed) == ("", " movetime 500 nodes 2000 depth 7", 0.5)
    assert clock.charge(0.6) == pytest.approx(-0.1)
    assert clock.allowed == 0.5
    assert SideClock(Allowance(nodes=1)).charge(100) is None


def test_scaled_limits_allow_more_time_and_the_same_nodes():
    allowance = Allowance(TimeControl(8, 0.08, 40), 0.5, 1000, 12, margin=0.05)
    assert allowance.scaled(1.25) == Allowance(TimeControl(10, 0.1, 40), 0.625, 1000, 12, margin=0.05)
    assert str(allowance.scaled(1 / 3)) == "40/2.667+0.027 0.167 s/move N=1000 depth 12"
    assert Allowance(nodes=5).scaled(2.0) == Allowance(nodes=5)
    by_nodes = Allowance(TimeControl(8, 0.08), node_time=150)
    assert by_nodes.scaled(2.0) == by_nodes


def test_games_with_a_clock_or_a_time_per_move_cannot_be_repeated_unless_nodes_count():
    assert Allowance(TimeControl(8)).timed and Allowance(move_time=0.5).timed
    for allowance in (Allowance(TimeControl(8), node_time=150), Allowance(nodes=5), Allowance(depth=5), Allowance()):
        assert not allowance.timed
