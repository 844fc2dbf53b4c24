"""The table of the moves of a game: each figure is computed anew, by the published formulas."""

from __future__ import annotations

import math

import chess
import chess.pgn
import pytest
from chess.engine import Limit
from fake_analyst import FakeAnalyst
from game_texts import read_game

from knightadder import AnnotatedMove, annotate_game, to_frame
from knightadder.review.accuracy import unchanged
from knightadder.review.clocks import MoveTime, move_times, time_control
from knightadder.review.game_evaluation import evaluate
from knightadder.review.move_table import moves_table
from knightadder.review.phase import phases
from knightadder.review.review import review

GAME = """[White "One"]
[Black "Two"]
[TimeControl "180+2"]

1. e4 {[%clk 0:03:00]} d5 {[%clk 0:02:59]} 2. exd5 {[%clk 0:02:52]} Qxd5 {[%clk 0:03:01]}
3. Nc3 {[%clk 0:02:40]} Qxa2 {[%clk 0:01:01]} 4. Rxa2 {[%emt 0:00:07]} Nf6 5. f3 e5 6. h3 Bb4 *
"""


def table_of(text: str) -> tuple[AnnotatedMove, ...]:
    game = read_game(text)
    board = game.end().board()
    return moves_table(game, review(board, evaluate(board, FakeAnalyst(), Limit(nodes=1)), unchanged))


def win_percent(cp: int) -> float:
    """Compute it as https://lichess.org/page/accuracy has it."""
    return 50 + 50 * (2 / (1 + math.exp(-0.00368208 * cp)) - 1)


def test_a_row_tells_all_of_a_move() -> None:
    rows = table_of(GAME)
    assert " ".join(row.san for row in rows) == "e4 d5 exd5 Qxd5 Nc3 Qxa2 Rxa2 Nf6 f3 e5 h3 Bb4"
    assert [(row.ply, row.number, row.colour) for row in rows[:3]] == [
        (1, 1, "white"),
        (2, 1, "black"),
        (3, 2, "white"),
    ]
    board = chess.Board()
    for row in rows:
        assert row.fen == board.fen()
        assert board.parse_san(row.san) == board.push_uci(row.uci)
    # Before 3... Qxa2, White's pawn was down; after it, the rook takes the queen.
    blunder = rows[5]
    assert (blunder.eval_before, blunder.cp_before, blunder.mate_before) == ("-1.00", -100, None)
    assert (blunder.eval_after, blunder.cp_after) == ("+8.00", 800)
    before, after = win_percent(100), win_percent(-800)  # from Black's view
    assert blunder.win_before == pytest.approx(before, abs=0.005)
    assert blunder.win_after == pytest.approx(after, abs=0.005)
    assert blunder.points_lost == pytest.approx((before - after) / 100, abs=0.00005)
    accuracy = 103.1668 * math.exp(-0.04354 * (before - after)) - 3.1669 + 1
    assert blunder.accuracy == pytest.approx(max(0, accuracy), abs=0.01)
    assert (blunder.mark, rows[0].mark) == ("??", None)
    assert (blunder.best, blunder.best_line) == ("Qxg2", "3...Qxg2")
    assert (blunder.wins_before, blunder.draws_before, blunder.losses_after) == (0, 1000, 0)
    assert (rows[3].eco, rows[3].opening) == ("B01", "Scandinavian Defense: Mieses-Kotroc Variation")
    assert [row.opening for row in rows[:2]] == ["King's Pawn Game", "Scandinavian Defense"]


def test_the_frame_of_an_annotated_game_has_a_row_for_each_move() -> None:
    found = annotate_game(read_game(GAME), Limit(nodes=500))
    frame = found.to_frame()
    assert frame["san"].tolist() == [move.san for move in found.moves]
    assert frame.columns.tolist() == list(found.moves[0].to_dict())
    both = to_frame([found, found])
    assert both["position"].tolist() == [0] * 12 + [1] * 12
    assert found.to_dict()["plies"] == 12
    # The game's figures follow from the rows: harmonic mean and weighted mean need all accuracies, the marks these.
    assert found.black.blunders == sum(move.mark == "??" and move.colour == "black" for move in found.moves)
    assert all(move.wins_before is not None for move in found.moves)
    assert [sum((m.wins_after, m.draws_after, m.losses_after)) for m in found.moves] == [1000] * 12  # type: ignore[arg-type]


def test_mates_and_positions_that_cannot_occur() -> None:
    rows = table_of("1. f3 e5 2. g4 Qh4# 0-1")
    assert (rows[3].mate_before, rows[3].eval_before, rows[3].eval_after) == (-1, "#-1", "#")
    assert (rows[3].win_before, rows[3].losses_after) == (pytest.approx(win_percent(1000), abs=0.005), 1000)
    assert (rows[3].points_lost, rows[3].accuracy) == (0, 100)
    rows = table_of("1. e4 f6 2. Qh5+ -- 3. Nc3 g6 *")
    null = rows[3]
    assert (null.san, null.accuracy, null.eval_after, null.points_lost) == ("--", None, None, None)
    assert rows[4].eval_before is None and rows[4].best is None


def test_a_game_from_a_position_begins_with_its_move_number() -> None:
    [row] = table_of('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 31"]\n\n31... Kd7 *')
    assert (row.ply, row.number, row.colour, row.phase, row.opening) == (1, 31, "black", "endgame", None)


def test_times_are_the_differences_of_the_clocks() -> None:
    assert move_times(read_game(GAME))[:8] == [
        MoveTime(180, 180, 0),
        MoveTime(180, 179, 1),
        MoveTime(180, 172, 10),
        MoveTime(179, 181, 0),
        MoveTime(172, 160, 14),
        MoveTime(181, 61, 122),
        MoveTime(160, None, 7),
        MoveTime(61, None, None),
    ]
    rows = table_of(GAME)
    assert (rows[5].clock, rows[5].time_spent, rows[7].clock) == (61, 122, None)


def test_a_written_time_counts_more_than_the_clocks() -> None:
    [move] = move_times(read_game('[TimeControl "180"]\n\n1. e4 {[%emt 0:00:03] [%clk 0:02:58]} *'))
    assert move == MoveTime(180, 178, 3)


def test_a_time_control_in_minutes_is_not_the_first_clock() -> None:
    text = '[TimeControl "90+30"]\n\n1. e4 {[%clk 1:30:20]} e5 {[%clk 1:29:00]} 2. Nf3 {[%clk 1:30:10]} *'
    assert move_times(read_game(text)) == [
        MoveTime(None, 5420, None),
        MoveTime(None, 5340, None),
        MoveTime(5420, 5410, 40),
    ]


@pytest.mark.parametrize(("clock", "spent"), [("1:30:20", 10), ("1:30:00", 0), ("1:29:00", 60), ("1:31:00", None)])
def test_a_clock_that_has_gained_time_by_the_first_move_has_got_the_increment(clock: str, spent: float | None) -> None:
    [move] = move_times(read_game(f'[TimeControl "5400+30"]\n\n1. e4 {{[%clk {clock}]}} *'))
    assert move.spent == spent


def test_a_clock_that_gains_a_new_period_tells_no_time() -> None:
    text = '[TimeControl "2/60:300"]\n\n1. e4 {[%clk 0:00:50]} e5 2. Nf3 {[%clk 0:05:10]} *'
    assert [time.spent for time in move_times(read_game(text))] == [10, None, None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("180+2", (180, 2)),
        ("300", (300, 0)),
        ("40/5400+30:1800+30", (5400, 30)),
        ("0.5+0.01", (0.5, 0.01)),
        ("-", None),
        ("?", None),
        ("", None),
        ("*180", None),
        ("1/259200", (259200, 0)),
        ("30+", None),
    ],
)
def test_time_controls(text: str, found: tuple[float, float] | None) -> None:
    assert time_control(text) == found


def test_phases_never_go_back() -> None:
    # 14 pieces but an almost empty back rank; then the start position again; then six pieces.
    sparse = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NQBN2/PPPP1PPP/4K2R w Kkq - 0 1"
    few = "4k2r/8/8/8/8/8/8/RNB1K2R w - - 0 1"
    fens = [chess.STARTING_FEN, sparse, chess.STARTING_FEN, few, sparse]
    assert list(phases(map(chess.Board, fens))) == ["opening", "middlegame", "middlegame", "endgame", "endgame"]
    assert list(phases(map(chess.Board, fens[3:]))) == ["endgame", "endgame"]
