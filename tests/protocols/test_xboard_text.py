"""The text of XBoard's protocol: reading commands and writing lines."""

import chess
import chess.engine
import pytest

from knightadder.engine.info import Bound, Ending, Info, Score
from knightadder.engine.options import Option
from knightadder.protocols.xboard_text import (
    declare_option,
    format_ending,
    format_thinking,
    option_value,
    parse_clock,
    parse_depth,
    parse_level,
    parse_option,
    parse_seconds,
)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("40 5 0", (40, 300_000, 0)),
        ("40 0:30 0", (40, 30_000, 0)),
        ("0 2 12", (0, 120_000, 12_000)),
        ("0 1:05 0.5", (0, 65_000, 500)),
        ("0 0 1", (0, 0, 1000)),
        ("0  3   .25", (0, 180_000, 250)),
    ],
)
def test_time_controls_are_read(text: str, level: tuple[int, int, int]) -> None:
    assert parse_level(text) == level


def test_times_and_depths_are_read() -> None:
    assert parse_seconds("30") == 30_000
    assert parse_seconds("0.01") == 10
    assert parse_seconds("0") == 1
    assert parse_clock("time", "1234") == 12_340
    assert parse_clock("time", "-1") == -10
    assert parse_depth("12") == 12
    assert parse_depth("0") == 1


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (Option("Move Overhead", "spin", 20, 0, 5000), '"Move Overhead -spin 20 0 5000"'),
        (Option("OwnBook", "check", False), '"OwnBook -check 0"'),
        (Option("OwnBook", "check", True), '"OwnBook -check 1"'),
        (Option("Clear Hash", "button"), '"Clear Hash -button"'),
        (Option("BookFile", "string", ""), '"BookFile -string "'),
        (Option("BookFile", "string", "a b.bin"), '"BookFile -string a b.bin"'),
        (Option("Style", "combo", "calm", var=("wild", "calm", "dry")), '"Style -combo wild /// *calm /// dry"'),
    ],
)
def test_options_are_declared(option: Option, text: str) -> None:
    assert declare_option(option) == text


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Move Overhead=100", ("Move Overhead", "100")),
        ("BookFile=/a b/c=d", ("BookFile", "/a b/c=d")),
        ("BookFile=", ("BookFile", "")),
        ("Clear Hash", ("Clear Hash", None)),
    ],
)
def test_options_are_read(text: str, option: tuple[str, str | None]) -> None:
    assert parse_option(text) == option


def test_a_switch_is_a_number() -> None:
    switch, number = Option("OwnBook", "check", False), Option("MultiPV", "spin", 1, 1, 256)
    assert [option_value(switch, value) for value in ("1", "0", "true", "2", None)] == [
        "true",
        "false",
        "true",
        "2",
        None,
    ]
    assert option_value(number, "1") == "1"


@pytest.mark.parametrize(
    ("score", "wanted"),
    [
        (Score(cp=20), chess.engine.Cp(20)),
        (Score(cp=-20), chess.engine.Cp(-20)),
        (Score(mate=3), chess.engine.Mate(3)),
        (Score(mate=-3), chess.engine.Mate(-3)),
    ],
)
def test_python_chess_reads_scores(score: Score, wanted: chess.engine.Score) -> None:
    line = format_thinking(Info(9, 12, 1, score, Bound.EXACT, None, 5, 6, 7, 8, 1239, ()), ["e2e4"])
    read = chess.engine._parse_xboard_post(line, chess.Board())
    assert read["score"].relative == wanted
    assert (read["depth"], read["nodes"], read["time"]) == (9, 5, 1.23)
    assert read["pv"] == [chess.Move.from_uci("e2e4")]


@pytest.mark.parametrize(("bound", "mark"), [(Bound.LOWER, "!"), (Bound.UPPER, "?")])
def test_a_bound_is_marked_after_the_moves(bound: Bound, mark: str) -> None:
    info = Info(9, 12, 1, Score(cp=-5), bound, None, 5, 6, 7, 8, 1239, ())
    assert format_thinking(info, ["e2e4", "e7e5"]) == f"9 -5 123 5 e2e4 e7e5 {mark}"


def test_results_are_from_whites_view() -> None:
    assert format_ending(Ending.CHECKMATE, 0) == "0-1 {Black mates}"
    assert format_ending(Ending.CHECKMATE, 1) == "1-0 {White mates}"
    draws = [Ending.STALEMATE, Ending.REPETITION, Ending.FIFTY_MOVES, Ending.DEAD_POSITION]
    texts = {format_ending(ending, side) for ending in draws for side in (0, 1)}
    assert len(texts) == 4
    assert all(text.startswith("1/2-1/2 {") and text.endswith("}") for text in texts)
