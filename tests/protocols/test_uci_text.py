"""The text of UCI: reading commands and writing lines."""

import pytest
from samples import LINE

from knightadder.engine.errors import EngineError
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.protocols.uci_text import format_info, format_result, parse_go, parse_position, parse_setoption


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", Limits()),
        ("infinite", Limits(infinite=True)),
        ("wtime 1000 btime 2000 winc 10 binc 20", Limits(wtime=1000, btime=2000, winc=10, binc=20)),
        ("binc 20 movestogo 7 btime 2000 winc 10 wtime 1000", Limits(1000, 2000, 10, 20, 7)),
        ("wtime 100", Limits(wtime=100)),
        ("btime 100 binc 5", Limits(btime=100, binc=5)),
        ("wtime -30 btime 0", Limits(wtime=-30, btime=0)),
        ("wtime 1 btime 1 winc -5 binc -5 movestogo 0", Limits(wtime=1, btime=1)),
        ("wtime 1 btime 1 movestogo -5", Limits(wtime=1, btime=1)),
        ("nodes 18446744073709551616", Limits(nodes=10**15)),
        ("depth 5 wtime 1000", Limits(depth=5, wtime=1000)),
        ("depth 0", Limits(depth=1)),
        ("nodes 0", Limits(nodes=1)),
        ("mate -3", Limits(mate=1)),
        ("movetime 0", Limits(movetime=1)),
        ("movetime 500", Limits(movetime=500)),
        ("movetime 500.0", Limits(movetime=500)),
        ("wtime 60000.75 btime 60000.25 winc 0.5", Limits(wtime=60_000, btime=60_000)),
        ("wtime 900 btime 800 movetime 0 depth 0 nodes 0 mate 0", Limits(wtime=900, btime=800)),
        ("wtime 900 btime 800 movetime -1 depth -1 nodes -1 mate -1", Limits(wtime=900, btime=800)),
        ("depth 5 nodes 0", Limits(depth=5)),
        ("wtime 0 btime 0 winc 0 binc 0 movestogo 0 depth 0 nodes 0 mate 0 movetime 5000", Limits(movetime=5000)),
        ("depth 5 wtime 0 btime 0", Limits(depth=5)),
        ("depth 5 wtime 0 btime 10", Limits(wtime=0, btime=10, depth=5)),
        ("depth 5 wtime 0", Limits(wtime=0, depth=5)),
        ("wtime 0 btime 0", Limits(wtime=0, btime=0)),
        ("depth 0 nodes 0 winc 0 movestogo 0", Limits(depth=1, nodes=1)),
        ("infinite depth 0 nodes 0", Limits(infinite=True)),
        ("depth 3 depth 4", Limits(depth=4)),
        ("nodes 99999999999999999999999999", Limits(nodes=10**15)),
        ("ponder wtime 9 btime 8", Limits(ponder=True, wtime=9, btime=8)),
        ("searchmoves e2e4 d2d4", Limits(searchmoves=("e2e4", "d2d4"))),
        ("searchmoves e2e4 d2d4 depth 3", Limits(searchmoves=("e2e4", "d2d4"), depth=3)),
        ("depth 3 searchmoves e2e4 infinite", Limits(searchmoves=("e2e4",), depth=3, infinite=True)),
        ("searchmoves depth 2", Limits(depth=2)),
        ("\tdepth   2  ", Limits(depth=2)),
    ],
)
def test_go_is_read_into_limits(text: str, limits: Limits) -> None:
    go = parse_go(text)
    assert go.limits == limits
    assert go.perft is None
    assert go.complaint == ""


@pytest.mark.parametrize(
    ("text", "limits", "ignored"),
    [
        ("depth wtime 100", Limits(wtime=100), "depth"),
        ("movetime 1e3 depth 4", Limits(depth=4), "movetime 1e3"),
        ("wtime abc btime 100", Limits(btime=100), "wtime abc"),
        ("fast depth 4", Limits(depth=4), "fast"),
        ("fast", Limits(), "fast"),
        ("infinite depth", Limits(infinite=True), "depth"),
        ("winc abc", Limits(), "winc abc"),
        (f"nodes {'9' * 5000} depth 4 very fast", Limits(depth=4), f"nodes {'9' * 5000}, very, fast"),
    ],
)
def test_go_ignores_what_makes_no_sense_and_names_it(text: str, limits: Limits, ignored: str) -> None:
    go = parse_go(text)
    assert go.limits == limits
    assert go.complaint == f"ignored {ignored}"


@pytest.mark.parametrize(
    "text",
    [
        *("depth", "depth x", "nodes ten", "mate", "movetime 1e3", "wtime", "wtime abc btime abc", "wtime - btime ."),
        *("winc 10 wtime abc", "movestogo 40 btime", f"movetime {'9' * 5000}"),
    ],
)
def test_a_search_whose_only_limit_is_no_number_ends_at_once(text: str) -> None:
    for ponder in (False, True):
        go = parse_go(f"{text} ponder" if ponder else text)
        assert (go.limits.depth, go.limits.ponder, go.limits.unlimited) == (1, ponder, False)
        assert go.complaint.endswith("; searching to depth 1, because no limit is left")


def test_go_perft_is_read() -> None:
    assert parse_go("perft 5").perft == 5
    assert parse_go("perft five").perft is None


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("startpos", (None, [])),
        ("startpos moves", (None, [])),
        ("startpos moves e2e4 e7e5", (None, ["e2e4", "e7e5"])),
        ("fen 8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", [])),
        ("fen  4k3/8/8/8/8/8/4P3/4K3  w - -  0 1 moves  e2e4", ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ["e2e4"])),
    ],
)
def test_position_is_read(text: str, position: tuple[str | None, list[str]]) -> None:
    assert parse_position(text) == position


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["", "moves e2e4", "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1"], "startpos or fen"),
        (["fen", "fen moves e2e4"], "a FEN after fen"),
        (["startpos e2e4", "startpos e2e4 moves d7d5"], "moves after startpos, not e2e4"),
    ],
)
def test_a_position_of_another_form_is_refused(texts: list[str], expected: str) -> None:
    for text in texts:
        with pytest.raises(EngineError, match=f"^position: expected {expected}$"):
            parse_position(text)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("name Hash value 64", ("Hash", "64")),
        ("name Move Overhead value 100", ("Move Overhead", "100")),
        ("name Clear Hash", ("Clear Hash", None)),
        ("name  Move   Overhead  value 5", ("Move Overhead", "5")),
        ("name SyzygyPath value /a  b/c value d", ("SyzygyPath", "/a  b/c value d")),
        ("name SyzygyPath value", ("SyzygyPath", "")),
        ("name SyzygyPath value <empty>", ("SyzygyPath", "<empty>")),
        ("name Valued Friend", ("Valued Friend", None)),
        ("name Friend of values value  1 ", ("Friend of values", "1")),
        ("name a" + 3_000_000 * " " + "b", ("a b", None)),
    ],
)
def test_setoption_is_read(text: str, option: tuple[str, str | None]) -> None:
    assert parse_setoption(text) == option


@pytest.mark.parametrize("text", ["", "name", "Hash 64", "value 3", "name value 3", "names Hash"])
def test_setoption_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match=r"^setoption: expected"):
        parse_setoption(text)


def test_a_line_of_analysis_is_written() -> None:
    assert format_info(LINE) == (
        "info depth 1 seldepth 2 multipv 1 score cp 20 nodes 20 nps 1000 hashfull 0 tbhits 0 time 20 pv e2e4 e7e5"
    )


def test_mate_bound_and_wdl_are_written() -> None:
    info = Info(9, 12, 2, Score(mate=-3), Bound.LOWER, (0, 10, 990), 5, 6, 7, 8, 9, ())
    assert format_info(info) == (
        "info depth 9 seldepth 12 multipv 2 score mate -3 lowerbound wdl 0 10 990 "
        "nodes 5 nps 6 hashfull 7 tbhits 8 time 9"
    )
    upper = Info(9, 12, 2, Score(cp=0), Bound.UPPER, None, 5, 6, 7, 8, 9, ())
    assert "score cp 0 upperbound nodes" in format_info(upper)


def test_the_current_move_and_messages_are_written() -> None:
    move = CurrentMove(depth=20, move="e2e4", number=1, nodes=5, nps=6, hashfull=7, time_ms=3000)
    assert format_info(move) == ("info depth 20 currmove e2e4 currmovenumber 1 nodes 5 nps 6 hashfull 7 time 3000")
    assert format_info(Message("two\nlines\x07")) == "info string two lines\\x07"


def test_results_are_written() -> None:
    assert format_result(Result("e2e4", "e7e5", None)) == "bestmove e2e4 ponder e7e5"
    assert format_result(Result("e2e4", None, None)) == "bestmove e2e4"
    assert format_result(Result(None, None, None)) == "bestmove (none)"
