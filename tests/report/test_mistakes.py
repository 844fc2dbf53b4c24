"""The kind of a mistake is the one that the engine's lines prove."""

import chess
import pytest
from chess.engine import Cp, Mate, PovScore

from knightadder.report.mistakes import KINDS, kind_of
from knightadder.review.evaluation import ScoredLine, SearchedPosition


def searched(board, score, line):
    end, moves = board.copy(), []
    for san in line.split():
        moves.append(end.push_san(san))
    pov = PovScore(score, board.turn)
    return SearchedPosition(pov, 9, (ScoredLine(pov, tuple(moves)),) if moves else ())


CASES = {
    "missedMate": ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd7", Mate(1), "Rd8#", Cp(0), "h6"),
    "backRank": ("3r2k1/5ppp/8/8/8/8/R4PPP/6K1 w - - 0 1", "Ra7", Cp(0), "h3", Mate(1), "Rd1#"),
    "allowedMate": (chess.STARTING_FEN, "g4", Cp(0), "e4", Mate(2), "e5 f3 Qh4#"),
    "hangs": ("4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1", "Ne5", Cp(200), "Ke2", Cp(200), "dxe5 Ke2 Ke7"),
    "fork": ("3qk3/8/8/8/6n1/8/2R1P3/4K3 w - - 0 1", "Kf1", Cp(300), "Ra2", Cp(200), "Ne3+ Kf2 Nxc2"),
    "skewer": ("3q4/8/8/3k4/8/8/8/K3R3 b - - 0 1", "Kd6", Cp(0), "Kc6", Cp(500), "Rd1+ Ke7 Rxd8"),
    "promotion": ("7r/P3k3/8/8/8/8/8/K7 b - - 0 1", "Ke6", Cp(0), "Ra8", Cp(900), "a8=Q Rh1+ Kb2"),
    "missedCapture": ("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", "Ke2", Cp(900), "Rxd5", Cp(0), "Kf7"),
    "missedFork": ("2q1k3/8/8/5N2/8/8/6PP/7K w - - 0 1", "g3", Cp(400), "Nd6+ Kd7 Nxc8", Cp(0), "Kd7"),
    "other": ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "Kf1", Cp(300), "Kd2", Cp(0), "Ke7"),
    "pawn": ("4k3/8/8/8/3r4/8/3P4/4K3 w - - 0 1", "Kf1", Cp(0), "Ke2", Cp(100), "Rxd2 Ke1 Rd8"),
    "missedMaterial": ("8/2k5/3r4/8/4P3/8/8/4K3 w - - 0 1", "Kf1", Cp(300), "e5 Kc6 exd6 Kxd6", Cp(100), "Kd7"),
}


@pytest.mark.parametrize("kind", CASES)
def test_kinds(kind):
    fen, played, before, best, after, reply = CASES[kind]
    board = chess.Board(fen)
    move = board.parse_san(played)
    end = board.copy()
    end.push(move)
    found = kind_of(board, move, searched(board, before, best), searched(end, after, reply))
    assert found == kind
    assert found in KINDS


def test_an_even_exchange_hangs_nothing():
    board = chess.Board("3rk3/8/8/8/8/8/8/3RK3 w - - 0 1")
    move = board.parse_san("Rxd8+")
    end = board.copy()
    end.push(move)
    assert kind_of(board, move, searched(board, Cp(100), "Rd2"), searched(end, Cp(100), "Kxd8 Kd2")) == "other"


def test_without_lines_nothing_is_told():
    board = chess.Board()
    move = board.parse_san("e4")
    end = board.copy()
    end.push(move)
    assert kind_of(board, move, searched(board, Cp(0), ""), searched(end, Cp(300), "")) == "other"
