"""What engines say: how it is read, and each warning."""

import chess
import pytest

from knightadder.engine.info import Bound, Score
from knightadder.workshop.match import search_info
from knightadder.workshop.match.search_info import check_best_move, check_pv, last_info, parse_info, warning_text


def test_a_whole_line_is_read():
    line = (
        "info depth 12 seldepth 20 multipv 1 score cp -31 lowerbound nodes 4302 nps 1075500 hashfull 3 tbhits 0 time 4 "
        "pv e2e4 e7e5 b7b8q string pv a2a3"
    )
    info = parse_info(line)
    assert (info.depth, info.nodes, info.score, info.bound) == (12, 4302, Score(cp=-31), Bound.LOWER)
    assert info.pv == ("e2e4", "e7e5", "b7b8q")
    assert info.line == line


def test_scores_compare_as_numbers():
    huge = 10**19
    losing = ["mate -1", "mate -2", f"mate -{huge}", f"cp -{huge}", "cp -30000"]
    scores = [*losing, "cp 0", "cp 12", "cp 30000", f"cp {huge}", f"mate {huge}", "mate 2", "mate 1"]
    values = [parse_info(f"info depth 1 score {score}").value() for score in scores]
    assert values == sorted(set(values))


@pytest.mark.parametrize(
    ("score", "value", "text"),
    [("cp 31", 31, "+0.31"), ("cp 0", 0, "+0.00"), ("mate 3", 199_998, "+M5"), ("mate -4", -199_997, "-M8")],
)
def test_scores_as_number_and_text(score, value, text):
    info = parse_info(f"info depth 3 score {score}")
    assert (info.value(), info.text()) == (value, text)


@pytest.mark.parametrize(
    "line",
    [
        "info depth 3 nodes 7",
        "info string score cp 3",
        "info depth 3 multipv 2 score cp 3 pv e2e4",
        "info depth x score cp 3",
        "info score cp",
        "bestmove e2e4",
        "",
    ],
)
def test_lines_without_a_score_of_the_best_line(line):
    assert parse_info(line) is None


def test_the_last_line_with_a_score_counts():
    lines = ["info depth 1 score cp 1", "info depth 2 score cp 2", "info depth 2 multipv 2 score cp 3", "info nodes 3"]
    assert last_info(lines).score.cp == 2
    assert last_info(["info nodes 3"]) is None


def _check(fen, pv, score="cp 0", before=""):
    board = chess.Board(fen)
    for move in before.split():
        board.push_uci(move)
    copy = board.copy()
    found = check_pv(board, parse_info(f"info score {score} pv {pv}"))
    assert board == copy
    assert board.move_stack == copy.move_stack
    return found


START = chess.STARTING_FEN
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "pv", "score", "expected"),
    [
        (START, "e2e4 e7e5 g1f3", "cp 20", None),
        (START, "e2e4 e7e5 e4e5", "cp 20", search_info.ILLEGAL),
        (START, "e2e5", "cp 20", search_info.ILLEGAL),
        (MATE_IN_ONE, "a1a8", "mate 1", None),
        (MATE_IN_ONE, "a1a8 g8h8", "mate 1", search_info.PAST_MATE),
        (MATE_IN_ONE, "a1a8 g8h8", "cp 900", search_info.PAST_MATE),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7 h8g8", "cp 900", search_info.PAST_STALEMATE),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 99 80", "f1e2 h8g8", "cp 900", search_info.PAST_FIFTY),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 98 80", "f1e2 h8g8", "cp 900", None),
        (MATE_IN_TWO, "b1b7 h8g8 a2a8", "mate 2", None),
        (MATE_IN_TWO, "b1b7 h8g8", "mate 2", search_info.MATE_TOO_SHORT),
        (MATE_IN_TWO, "b1b7 h8g8", "mate 2 lowerbound", None),
        (MATE_IN_TWO, "b1b7 h8g8 a2a8", "mate 1", search_info.MATE_TOO_LONG),
        (MATE_IN_TWO, "b1b7 h8g8 a2a7", "mate 2", search_info.MATE_NOT_MATE),
        ("7k/1R6/8/8/8/8/R7/6K1 b - - 0 1", "h8g8 a2a8", "mate -1", None),
        ("7k/1R6/8/8/8/8/R7/6K1 b - - 0 1", "h8g8", "mate -1", search_info.MATE_TOO_SHORT),
    ],
)
def test_principal_variations(fen, pv, score, expected):
    assert _check(fen, pv, score) == expected


def test_a_variation_past_the_third_repetition():
    before = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"
    assert _check(START, "f6g8", before=before) is None
    assert _check(START, "f6g8 e2e4", before=before) == search_info.PAST_THREEFOLD


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["info score cp 1 pv d2d4", "info score cp 2 pv e2e4 e7e5"], None),
        (["info score cp 1 pv e2e4", "info score cp 2 pv d2d4"], search_info.NOT_HEAD),
        (["info score cp 1 pv e2e4", "info score cp 2 upperbound pv d2d4"], None),
        (["info score cp 1 pv e2e4", "info multipv 2 score cp 2 pv d2d4"], None),
        (["info score cp 1 pv d2d4", "info score cp 2"], search_info.NOT_HEAD),
        (["info score cp 1"], None),
    ],
)
def test_the_best_move_is_the_head_of_the_last_variation(lines, expected):
    assert check_best_move("e2e4", [*lines, "bestmove e2e4"]) == expected


@pytest.mark.parametrize(
    ("kind", "line", "position", "text"),
    [
        (
            "illegal PV move",
            "info depth 9 score cp 31 pv e7e5 g1f3 e1e2 " + "a7a6 " * 99,
            "moves e2e4",
            "illegal PV move at move 1: e1e2, move 3 of its PV",
        ),
        ("best move is not the first move of the last PV", "bestmove e7e5", "moves e2e4", "bestmove e7e5"),
        ("PV continues after mate", "info depth 1 score mate 1 pv " + "e2e4 " * 99, "", "depth 1 score mate 1"),
        ("illegal PV move", "info \x1b[2J", "moves e2e5", "illegal PV move: \\x1b[2J"),
    ],
)
def test_a_warning_is_one_short_line(kind, line, position, text):
    shown = warning_text(kind, line, f"position fen {chess.STARTING_FEN} {position}".strip())
    assert shown.startswith(kind) and text in shown
    assert shown.isprintable() and len(shown) < 150
