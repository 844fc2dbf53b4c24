"""Themes: length, phase, and what the solution achieves. Those of tactics have tests of their own."""

import chess
import pytest
from chess.engine import Cp, Mate

from knightadder.puzzles.puzzle import Solution
from knightadder.puzzles.themes import kind_of, themes_of


def _themes(fen, sans, score, saves=False):
    board = chess.Board(fen)
    return themes_of(Solution(board.fen(), tuple(board.push_san(san) for san in sans.split())), score, saves)


def test_a_mate():
    themes = _themes("5r1k/6pp/7N/8/8/1Q6/6PP/6K1 w - - 0 1", "Qg8+ Rxg8 Nf7#", Mate(2))
    assert themes == ("deflection", "endgame", "mate", "mateIn2", "sacrifice", "short", "smotheredMate")


@pytest.mark.parametrize(
    ("score", "saves", "wanted"),
    [
        (Cp(400), False, {"advantage"}),
        (Cp(600), False, {"crushing"}),
        (Mate(9), False, {"crushing"}),
        (Cp(0), True, {"equality", "defensiveMove"}),
    ],
)
def test_what_is_achieved(score, saves, wanted):
    themes = _themes("4k3/8/8/8/8/8/6PP/7K w - - 0 1", "g4", score, saves)
    assert set(themes) - {"endgame", "oneMove", "pawnEndgame"} == wanted


@pytest.mark.parametrize(
    ("moves", "name"),
    [("g4", "oneMove"), ("g4 Kd8 g5", "short"), ("g4 Kd8 g5 Ke8 g6", "long"), ("g4 Kd8 g5 Ke8 g6 Kd8 h4", "veryLong")],
)
def test_length(moves, name):
    assert name in _themes("4k3/8/8/8/8/8/6PP/7K w - - 0 1", moves, Cp(400))


@pytest.mark.parametrize(
    ("placement", "phase"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", ["opening"]),
        ("r1bq1rk1/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQ1RK1", ["opening"]),
        ("r4rk1/pppqbppp/2npbn2/4p3/4P3/2NPBN2/PPPQBPPP/R4RK1", ["middlegame"]),
        ("r2qkb1r/1pp2pp1/p1n1pn1p/8/2pP1Bb1/P1N1PN2/1P3PPP/2RQKB1R", ["middlegame"]),  # mixed
        ("3rr1k1/pp1q1ppp/2p2n2/8/8/2N5/PPQ2PPP/3RR1K1", ["middlegame"]),
        ("3r2k1/pp1q1ppp/2p2n2/8/8/2N5/PPQ2PPP/3R2K1", ["endgame"]),
        ("3r2k1/pp3ppp/8/8/8/8/PP3PPP/3R2K1", ["endgame", "rookEndgame"]),
        ("3q2k1/pp3ppp/8/8/8/8/PP3PPP/3R2K1", ["endgame", "queenRookEndgame"]),
        ("3n2k1/pp3ppp/8/8/8/8/PP3PPP/3B2K1", ["endgame"]),
        ("6k1/pp3ppp/8/8/8/8/PP3PPP/3B2K1", ["bishopEndgame", "endgame"]),
        ("6k1/pp3ppp/8/8/8/8/PP3PPP/6K1", ["endgame", "pawnEndgame"]),
    ],
)
def test_phases(placement, phase):
    themes = _themes(f"{placement} w - - 0 1", "h4", Cp(400))
    assert [theme for theme in themes if theme not in ("advantage", "oneMove")] == phase


def test_zugzwang_is_a_theme():
    board = chess.Board("4k3/8/8/8/8/8/6PP/7K w - - 0 1")
    solution = Solution(board.fen(), (board.parse_san("g4"),))
    assert "zugzwang" in themes_of(solution, Cp(400), False, True)
    assert "zugzwang" not in themes_of(solution, Cp(400), False)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("crushing fork long middlegame", "advantage endgame fork rookEndgame short", True),
        ("backRankMate mate mateIn1 oneMove", "backRankMate mate mateIn2 short", True),
        ("crushing fork short", "crushing fork sacrifice short", False),
        ("crushing fork short", "defensiveMove equality fork short", False),
    ],
)
def test_puzzles_of_one_kind(first, second, same):
    assert (kind_of(first.split()) == kind_of(second.split())) == same
