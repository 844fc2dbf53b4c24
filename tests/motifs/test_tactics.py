"""Tactical motifs and named mates: each is told where it is, and not where something is missing from it.

Many positions where a motif is there are puzzles of Lichess's database (CC0) that have this theme there.
"""

import chess
import pytest

from knightadder.motifs.line import PlayedLine
from knightadder.motifs.mates import MATES, named_mates
from knightadder.motifs.tactics import TACTICS


def _motifs(fen, moves):
    """Give the motifs of a line; the opponent's move before it, if it matters, ends with a bar."""
    board = chess.Board(fen)
    *before, sans = moves.split(" | ")
    for san in before:
        board.push_san(san)
    boards, moves = [board.copy()], []
    for san in sans.split():
        moves.append(board.push_san(san))
        boards.append(board.copy())
    line = PlayedLine(boards, moves)
    return {name for name, has in TACTICS.items() if has(line)}.union(named_mates(line))


CASES = {
    "fork": [
        ("6k1/5ppp/8/8/1q6/8/3N2PP/6K1 w - - 0 1", "Nf3 Kf8 Nd4", False),  # takes nothing
        ("3qk3/8/8/3N4/8/8/6PP/6K1 w - - 0 1", "Nb6 Ke7 Nd5+", False),  # one target
        ("r3k3/8/8/1p1N4/8/8/6PP/6K1 w - - 0 1", "Nc7+ Kd7 Nxb5", False),  # takes something else
        ("2q1k3/8/8/5N2/8/8/6PP/6K1 w - - 0 1", "Nd6+ Kf8 Nxc8", True),
        ("r3k3/8/8/3N4/8/8/6PP/6K1 w - - 0 1", "Nc7+ Kd7 Nxa8", True),
        ("4k3/r7/5n2/8/8/8/4P1PP/3Q2K1 w - - 0 1", "Qd4 Ra8 Qxf6", True),  # both are unprotected
        ("4k3/r5p1/5n2/8/8/8/4P1PP/3Q2K1 w - - 0 1", "Qd4 Ra8 Qxf6", False),  # the knight is protected
        ("r1b2k1r/pppp2pp/5q2/4n3/2BQ4/8/PPP2PPP/RN2R1K1 b - - 0 13", "Nf3+ gxf3 Qxd4", False),  # the knight is taken
        ("5r2/r6k/7p/5R2/3p4/1Pq3P1/p1Q4P/3R2K1 w - - 0 47", "Rf7+ Kg8 Qh7#", False),  # the king has left h7
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
        ("4R3/1p6/1Pp4K/5k2/P4r2/8/8/8 w - - 0 51", "Rf8+ Ke4 Rxf4+ Kxf4 a5", False),  # wins nothing
    ],
    "discoveredAttack": [
        ("3q2k1/5ppp/8/8/8/3N4/5PPP/3R2K1 w - - 0 1", "Ne5 Qf8 Nd7", False),
        ("3q2k1/5ppp/8/8/8/3B4/5PPP/3R2K1 w - - 0 1", "Bxh7+ Kxh7 Rxd8", True),
        ("3q2k1/5ppp/8/8/3R4/8/5PPP/6K1 w - - 0 1", "Rxd8#", False),
        ("4k3/8/8/8/4N3/8/5PPP/4R1K1 w - - 0 1", "Nc5+", True),
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
        ("1Q3q1k/1p4pp/p4r2/8/8/1P6/P3K3/5R2 w - - 4 46", "Qxf8+ Rxf8 Rxf8#", False),  # regained at once
        (
            "8/8/8/3pP3/2pPk2p/2P2p1K/8/8 w - - 4 62",
            "e6 f2 Kg2 h3+ Kxf2 h2 Kg2 h1=Q+ Kxh1",
            False,
        ),  # the opponent's new queen
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
        ("6k1/p3pp1p/6p1/3Q4/4P3/5B2/P2q2PP/2r2RK1 b - - 2 23", "Qe3+ Kh1 Rxf1#", True),
        (
            "r1b1r1k1/2ppqpp1/1pn4p/p1n1P1N1/2P4P/P3P3/1PQN1PP1/2KR1B1R w - - 0 16",
            "Qh7+ Kf8 Qh8#",
            False,
        ),  # the king flees
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
    "advancedPawn": [
        ("8/2B5/8/8/8/5kp1/5p2/5K2 b - - 9 65", "g2#", True),
        ("4k3/8/8/8/6P1/8/8/6K1 w - - 0 1", "g5", False),  # the fifth rank only
    ],
    "attackingF2F7": [
        ("rn1qk2r/pb3ppp/5n2/2b5/8/2N1p1P1/PP1PPPNP/R1BQKB1R b KQkq - 1 9", "exf2#", True),
        ("r4rk1/5p2/8/8/2B5/8/8/6K1 w - - 0 1", "Bxf7+", False),  # the king is not on e8
    ],
    "capturingDefender": [
        ("8/p4pk1/1p4p1/4p3/3qn3/5BP1/PQ3PK1/8 w - - 2 38", "Qxd4 exd4 Bxe4", True),
        ("8/p5k1/1p4p1/4pp2/3qn3/5BP1/PQ3PK1/8 w - - 2 38", "Qxd4 exd4 Bxe4", False),  # another guard is left
    ],
    "clearance": [
        ("6k1/7p/1P4p1/1r6/8/4B1P1/5P1P/1rR3K1 b - - 0 41", "Rxc1+ Bxc1 Rb1", True),
        ("6k1/7p/1P4p1/1r6/8/4B1P1/5P1P/1rR3K1 b - - 0 41", "Rxc1+ Bxc1 Rc5", False),
    ],
    "exposedKing": [
        ("8/4k3/4r3/3K4/8/8/8/7R w - - 21 65", "Rh7+ Kf6 Rh6+ Kg5 Rxe6", True),
        ("8/3pk3/4r3/3K4/8/8/8/7R w - - 21 65", "Rh7+ Kf6 Rh6+ Kg5 Rxe6", False),  # a pawn beside it
        ("8/4k3/4r3/3K4/8/8/8/7R w - - 21 65", "Rh7+ Kf6 Rh6+", False),  # checked by the first move and the last one
    ],
    "interference": [
        ("4b3/4P3/3K4/3B1k2/p5p1/6P1/8/8 w - - 0 46", "Bc6 Bf7 Bxa4", True),
        ("4b3/4P3/3K4/3B1k2/p5p1/6P1/8/8 w - - 0 46", "Bc6 Bxc6 Kxc6", False),
    ],
    "intermezzo": [
        ("8/8/2k1pp1p/p5p1/2PKPP2/1P6/7P/8 w - - 0 41", "fxg5 | e5+ Kc3 fxg5", True),
        ("8/8/2k1pp1p/p5p1/2PKPP2/1P6/7P/8 w - - 0 41", "fxg5 | fxg5 Ke3 e5", False),  # takes back at once
    ],
    "kingsideAttack": [
        ("r1b1r1k1/p4ppp/2Q5/np6/5N2/P3BPP1/1q4B1/4RK2 w - - 2 25", "Qxe8#", True),
        ("4r1k1/p4ppp/2Q5/8/8/P4PP1/8/4RK2 w - - 0 1", "Qxe8#", False),  # an endgame
    ],
    "queensideAttack": [
        ("r1b1kb1Q/ppp4p/6pB/3P4/2pn4/8/PPP1qPPP/RNK4R b q - 3 13", "Qxc2#", True),
        ("r1b1r1k1/p4ppp/2Q5/np6/5N2/P3BPP1/1q4B1/4RK2 w - - 2 25", "Qxe8#", False),
    ],
    "quietMove": [
        ("b7/8/8/2K5/3P4/8/2P2k2/8 w - - 2 52", "d5 Bb7 d6", True),
        ("8/8/4b3/2K5/3P4/8/2P2k2/8 w - - 2 52", "d5 Bc8 d6", False),  # it attacks the bishop
        ("b7/8/8/2K5/3P4/8/2P2k2/8 w - - 2 52", "Kd6 Bb7 Kc7", False),  # a move of the king
    ],
    "trappedPiece": [
        ("5n2/5P1p/1k1K4/5P2/2p5/8/7P/8 w - - 0 49", "Ke7 c3 Kxf8", True),
        ("5n2/5P1p/1k1K4/8/2p5/8/7P/8 w - - 0 49", "Ke7 c3 Kxf8", False),  # g6 was free
    ],
    "xRayAttack": [
        ("1Q3q1k/1p4pp/p4r2/8/8/1P6/P3K3/5R2 w - - 4 46", "Qxf8+ Rxf8 Rxf8#", True),
        ("3r1q1k/6pp/8/8/1Q6/8/8/2K2R2 w - - 0 1", "Qxf8+ Rxf8 Rxf8#", False),  # the rook was not between
    ],
    "anastasiaMate": [
        ("R7/8/4N1pk/1K3p2/5n2/5r2/8/8 w - - 0 54", "Rh8#", True),
        ("8/8/8/5Kpk/8/8/R7/8 w - - 0 1", "Rh2#", False),  # no knight
    ],
    "arabianMate": [
        ("8/5k2/8/6pp/R4B2/P4nr1/7N/7K b - - 0 43", "Rg1#", True),
        ("8/5k2/8/8/8/5nq1/8/7K b - - 0 43", "Qg1#", False),  # a queen
    ],
    "bodenMate": [
        ("3rk2r/p2n4/2qBp1p1/2p2B2/8/6P1/PP3P1P/R5K1 w k - 0 22", "Bxg6#", True),
        ("2bk4/4b3/p1B5/1p1P1p1p/1P3Pp1/P3B1K1/7P/8 w - - 2 40", "Bb6#", False),  # from one side
    ],
    "doubleBishopMate": [
        ("2bk4/4b3/p1B5/1p1P1p1p/1P3Pp1/P3B1K1/7P/8 w - - 2 40", "Bb6#", True),
        ("3rk2r/p2n4/2qBp1p1/2p2B2/8/6P1/PP3P1P/R5K1 w k - 0 22", "Bxg6#", False),  # from both sides
    ],
    "dovetailMate": [
        ("3r3r/3kq1pp/1Q3p2/3pp3/P7/2R1PP2/3P1P1P/6K1 w - - 1 24", "Qc6#", True),
        ("3r3r/3kq1pp/1Q3p2/3pp2B/P7/2R1PP2/3P1P1P/6K1 w - - 1 24", "Qc6#", False),  # with a bishop
    ],
    "epauletteMate": [
        ("2r4k/5p2/4pNp1/6Pp/qQ5P/7r/2P5/1RKN4 b - - 3 37", "Rxc2#", True),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8#", False),  # from the side
    ],
    "hookMate": [
        ("2R5/4rpk1/5Np1/6P1/3b4/5K2/8/8 w - - 36 59", "Rg8#", True),
        ("2R5/4rpk1/5Np1/6B1/3b4/5K2/8/8 w - - 36 59", "Rg8#", False),  # a bishop guards the knight
    ],
    "killBoxMate": [
        ("2rkr3/2p3pp/2Qp1p2/3P2b1/3B2q1/8/PPP2PP1/1K2R3 w - - 0 27", "Rxe8#", True),
        ("1rb2k2/p4ppp/2B5/2pr1NP1/2P5/P7/7P/4R1K1 w - - 0 28", "Re8#", False),  # a bishop guards the rook
    ],
    "operaMate": [
        ("1rb2k2/p4ppp/2B5/2pr1NP1/2P5/P7/7P/4R1K1 w - - 0 28", "Re8#", True),
        ("2rkr3/2p3pp/2Qp1p2/3P2b1/3B2q1/8/PPP2PP1/1K2R3 w - - 0 27", "Rxe8#", False),  # a queen guards the rook
    ],
    "swallowstailMate": [
        ("r4rk1/4p1bp/3p2p1/q1pP1P2/4QP2/4B3/1pK4P/1B1R3R b - - 1 22", "Qc3#", True),
        (
            "3r3r/3kq1pp/1Q3p2/3pp3/P7/2R1PP2/3P1P1P/6K1 w - - 1 24",
            "Qc6#",
            False,
        ),  # the queen is diagonally beside the king
    ],
    "vukovicMate": [
        ("3rk3/3N2R1/4P1pr/3pP3/2p5/8/PP4p1/2K5 w - - 0 30", "Nf6+ Kf8 Rf7#", True),
        ("8/5k2/8/6pp/R4B2/P4nr1/7N/7K b - - 0 43", "Rg1#", False),  # only the knight guards the rook
    ],
}


def test_there_is_a_case_for_and_against_each_motif():
    assert {name for name, cases in CASES.items() if {is_there for *_, is_there in cases} == {True, False}} == set(
        TACTICS
    ) | set(MATES)


@pytest.mark.parametrize(
    ("name", "fen", "moves", "is_there"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_motifs(name, fen, moves, is_there):
    assert (name in _motifs(fen, moves)) == is_there
