"""Tactical motifs: each is told where it is, and not where something is missing from it."""

import chess
import pytest

from knightadder.puzzles.tactics import TACTICS, PlayedLine


def _motifs(fen, *sans):
    board = chess.Board(fen)
    boards, moves = [board.copy()], []
    for san in sans:
        moves.append(board.push_san(san))
        boards.append(board.copy())
    return {name for name, has in TACTICS.items() if has(PlayedLine(boards, moves))}


CASES = {
    "fork": [
        ("6k1/5ppp/8/8/1q6/8/3N2PP/6K1 w - - 0 1", "Nf3 Kf8 Nd4", False),  # takes nothing
        ("3qk3/8/8/3N4/8/8/6PP/6K1 w - - 0 1", "Nb6 Ke7 Nd5+", False),  # one target
        ("r3k3/8/8/1p1N4/8/8/6PP/6K1 w - - 0 1", "Nc7+ Kd7 Nxb5", False),  # takes something else
        ("2q1k3/8/8/5N2/8/8/6PP/6K1 w - - 0 1", "Nd6+ Kf8 Nxc8", True),
        ("r3k3/8/8/3N4/8/8/6PP/6K1 w - - 0 1", "Nc7+ Kd7 Nxa8", True),
        ("4k3/r7/5n2/8/8/8/4P1PP/3Q2K1 w - - 0 1", "Qd4 Ra8 Qxf6", True),  # both are unprotected
        ("4k3/r5p1/5n2/8/8/8/4P1PP/3Q2K1 w - - 0 1", "Qd4 Ra8 Qxf6", False),  # the knight is protected
    ],
    "pin": [
        ("4k3/4n3/8/8/8/8/3P4/R3R1K1 w - - 0 1", "Ra8+ Kd7 Rxe7+", False),  # the knight was pinned before
        ("4k3/8/4n3/8/8/3P4/8/R5K1 w - - 0 1", "Re1 Kd7 Rxe6", True),
        ("4k3/8/4n3/8/8/3P4/8/R5K1 w - - 0 1", "Re1 Kd7 Re4", False),  # takes nothing
        ("5rk1/5ppp/8/8/8/8/3Q1P1P/6RK w - - 0 1", "Qh6 f6 Qxg7#", True),  # the pawn may not take the queen
        ("5rk1/5ppp/8/8/8/8/3Q1P1P/5R1K w - - 0 1", "Qh6", False),
        ("r2qk3/8/8/8/8/8/3R4/3RK3 w - - 0 1", "Rxd8+ Rxd8 Rxd8+", False),
        ("4k3/8/4r3/8/8/8/4Q3/4R1K1 w - - 0 1", "Qe5", False),  # the pinned rook may take
        ("4k3/8/4n3/8/8/8/4R3/6K1 w - - 0 1", "Re1 Kd7 Rxe6", False),  # the knight was pinned before
    ],
    "skewer": [
        ("8/8/8/8/q2k4/8/8/6KR w - - 0 1", "Rh4+ Kc5 Rxa4", True),
        ("8/8/8/8/q2k4/8/8/6KR w - - 0 1", "Rh4+ Kc5 Rh5+", False),  # takes nothing
        ("8/1r6/8/3q4/7k/8/6P1/3B3K w - - 0 1", "Bf3 Qd8 Bxb7", True),
        ("8/1q6/8/3r4/7k/8/6P1/3B3K w - - 0 1", "Bf3 Rd8 Bxb7", False),  # the lesser piece is in front
    ],
    "discoveredAttack": [
        ("3q2k1/5ppp/8/8/8/3N4/5PPP/3R2K1 w - - 0 1", "Ne5 Qf8 Nd7", False),
        ("3q2k1/5ppp/8/8/8/3B4/5PPP/3R2K1 w - - 0 1", "Bxh7+ Kxh7 Rxd8", True),
        ("3q2k1/5ppp/8/8/3R4/8/5PPP/6K1 w - - 0 1", "Rxd8#", False),
    ],
    "discoveredCheck": [
        ("4k3/8/8/8/4N3/8/5PPP/4R1K1 w - - 0 1", "Nc5+", True),
        ("4k3/8/8/8/4N3/8/5PPP/3R2K1 w - - 0 1", "Nd6+", False),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O+", False),
    ],
    "doubleCheck": [
        ("4k3/8/8/8/4N3/8/5PPP/4R1K1 w - - 0 1", "Nf6+", True),
        ("4k3/8/8/8/4N3/8/5PPP/4R1K1 w - - 0 1", "Nc5+", False),
    ],
    "hangingPiece": [
        ("4k3/8/8/3n4/8/8/8/3R2K1 w - - 0 1", "Rxd5", True),
        ("4k3/8/4p3/3n4/8/8/8/3R2K1 w - - 0 1", "Rxd5", False),
        ("4k3/8/8/3p4/8/8/8/3R2K1 w - - 0 1", "Rxd5", False),
    ],
    "sacrifice": [
        ("5r1k/6pp/7N/8/8/1Q6/6PP/6K1 w - - 0 1", "Qg8+ Rxg8 Nf7#", True),
        ("3q2k1/5ppp/8/8/8/8/3Q1PPP/3R2K1 w - - 0 1", "Qxd8#", False),
        ("3r2k1/5ppp/8/8/8/8/3R1PPP/3R2K1 w - - 0 1", "Rxd8#", False),
    ],
    "attraction": [
        ("3q2k1/5ppp/8/8/8/3B4/5PPP/3R2K1 w - - 0 1", "Bxh7+ Kxh7 Rxd8", False),  # no check there
        ("3k4/3r4/8/8/8/8/8/3RQ1K1 w - - 0 1", "Rxd7+ Kxd7 Qd2+", True),
        ("3q2k1/5ppp/8/8/8/3B4/5PPP/4R1K1 w - - 0 1", "Re8+ Qxe8 Bb5 h6 Bxe8", True),
        ("3r2k1/5ppp/8/8/8/3B4/5PPP/4R1K1 w - - 0 1", "Re8+ Rxe8 Bb5 h6 Bxe8", False),  # worth as much as the bait
    ],
    "deflection": [
        ("3r2k1/3q1ppp/8/8/8/8/3Q1PPP/4R1K1 w - - 0 1", "Qxd7 Rxd7 Re8#", True),
        ("6k1/3r1ppp/8/8/8/8/3Q1PPP/4R1K1 w - - 0 1", "Qxd7 h6 Re8+", False),
        ("3r2k1/3q1pp1/7p/8/8/8/3Q1PPP/4R1K1 w - - 0 1", "Qxd7 Rxd7 Re8+", False),  # gains nothing
    ],
    "backRankMate": [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8#", True),
        ("6k1/5p1p/6pB/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8#", False),  # a bishop guards g7
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd7", False),
        ("3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "Rd1#", True),
    ],
    "smotheredMate": [
        ("6rk/6pp/7N/8/8/8/6PP/6K1 w - - 0 1", "Nf7#", True),
        ("5r1k/6pp/7N/8/8/1Q6/6PP/6K1 w - - 0 1", "Qg8+ Rxg8 Nf7#", True),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8#", False),
    ],
    "promotion": [
        ("7k/P7/8/8/8/8/8/7K w - - 0 1", "a8=Q+", True),
        ("7k/P7/8/8/8/8/p7/7K w - - 0 1", "Kg1 a1=Q+ Kg2", False),  # only the opponent does
    ],
    "underPromotion": [
        ("7k/P7/8/8/8/8/8/7K w - - 0 1", "a8=N", True),
        ("7k/P7/8/8/8/8/8/7K w - - 0 1", "a8=Q+", False),
    ],
    "enPassant": [
        ("7k/8/8/3pP3/8/8/8/7K w - d6 0 1", "exd6", True),
        ("7k/8/3p4/4P3/8/8/8/7K w - - 0 1", "exd6", False),
    ],
    "castling": [
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O+", True),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "Rd1+", False),
    ],
}


def test_there_is_a_case_for_and_against_each_motif():
    assert {name for name, cases in CASES.items() if {is_there for *_, is_there in cases} == {True, False}} == set(
        TACTICS
    )


@pytest.mark.parametrize(
    ("name", "fen", "moves", "is_there"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_motifs(name, fen, moves, is_there):
    assert (name in _motifs(fen, *moves.split())) == is_there
