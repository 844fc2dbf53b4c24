"""Marks: Lichess's thresholds, on both sides of each."""

import math

import chess
import chess.pgn
import pytest
from chess.engine import Cp, Mate, MateGiven

from knightadder.review.judgement import Judgement, is_missed_chance, judge, judgement_of, praise

BRILLIANT, GREAT, INACCURACY, MISTAKE, BLUNDER = Judgement


def worse(chances):
    """Give a score with so much less winning chances than 0.1 pawns, by the published formula turned round."""
    left = 2 / (1 + math.exp(-0.00368208 * 10)) - 1 - chances
    return Cp(round(-math.log(2 / (left + 1) - 1) / 0.00368208))


@pytest.mark.parametrize(
    ("loss", "judgement"),
    [
        (0, None),
        (-0.5, None),
        (0.095, None),
        (0.105, INACCURACY),
        (0.195, INACCURACY),
        (0.205, MISTAKE),
        (0.295, MISTAKE),
        (0.305, BLUNDER),
        (0.9, BLUNDER),
    ],
)
def test_by_winning_chances(loss, judgement):
    assert judge(Cp(10), worse(loss)) is judgement


def test_what_is_lost_of_a_great_advantage_does_not_count():
    assert judge(Cp(3000), Cp(1000)) is None
    assert judge(Cp(-1200), Cp(-5000)) is None
    assert judge(Cp(900), Cp(300)) is BLUNDER


@pytest.mark.parametrize(
    ("before", "after", "judgement"),
    [
        # A forced mate is lost.
        (Mate(3), Cp(1000), INACCURACY),
        (Mate(3), Cp(999), MISTAKE),
        (Mate(3), Cp(701), MISTAKE),
        (Mate(3), Cp(700), BLUNDER),
        (Mate(3), Cp(-50), BLUNDER),
        (Mate(3), Mate(-2), BLUNDER),
        # The opponent can now force one.
        (Cp(-1000), Mate(-4), INACCURACY),
        (Cp(-999), Mate(-4), MISTAKE),
        (Cp(-701), Mate(-4), MISTAKE),
        (Cp(-700), Mate(-4), BLUNDER),
        (Cp(100), Mate(-4), BLUNDER),
        # The mate takes longer or comes sooner; the opponent gave it, or gives it up.
        (Mate(2), Mate(9), None),
        (Mate(1), MateGiven, None),
        (Mate(-9), Mate(-1), None),
        (Cp(50), Mate(3), None),
        (Cp(50), MateGiven, None),
        (Mate(-3), Cp(20), None),
        (Mate(-3), Mate(2), None),
    ],
)
def test_mates(before, after, judgement):
    assert judge(before, after) is judgement


def test_marks_and_their_numbers():
    assert [judgement.mark for judgement in Judgement] == ["!!", "!", "?!", "?", "??"]
    game = chess.pgn.Game()
    game.add_variation(chess.Move.from_uci("e2e4"), nags=[judgement.nag for judgement in Judgement])
    assert game.variation(0).nags == {1, 2, 3, 4, 6}  # as the PGN standard numbers them
    assert [judgement_of({14, judgement.nag}) for judgement in Judgement] == list(Judgement)
    assert judgement_of({5, 14}) is judgement_of(()) is None


LEGAL = "e4 e5 Nf3 d6 Bc4 Bg4 Nc3 g6"
RUSSIAN = "e4 e5 Nf3 Nf6 Nxe5 d6"


@pytest.mark.parametrize(
    ("moves", "move", "score", "rival", "judgement"),
    [
        (LEGAL, "Nxe5", Cp(400), Cp(20), BRILLIANT),  # the queen is given
        (LEGAL, "Nxe5", Cp(100), Cp(60), None),  # but another move is as good
        (LEGAL, "Nxe5", Cp(900), Cp(700), None),  # or wins as well
        (LEGAL, "Nxe5", Cp(-50), Cp(-600), GREAT),  # it only saves the game
        (LEGAL, "Nxe5", Cp(-400), Mate(-3), None),  # not even that
        (LEGAL, "d4", Cp(110), Cp(20), None),  # a better move, but not the only good one
        (LEGAL, "d4", Cp(300), Cp(20), GREAT),
        (RUSSIAN, "Nf3", Cp(20), Cp(-300), GREAT),
        (RUSSIAN, "Nxf7", Cp(20), Cp(-300), BRILLIANT),  # a knight for a pawn
        (f"{RUSSIAN} Nf3 Nxe4 Nc3 Nxc3", "dxc3", Cp(20), Cp(-300), None),  # a recapture
        ("e4 d5 exd5 Nf6 Nc3 Nxd5", "Nxd5", Cp(20), Cp(-300), None),  # a recapture that gains nothing
        ("e4 e5 Nf3 Nc6 Bb5 Nd4", "Nxd4", Cp(20), Cp(-300), GREAT),  # no recapture
        ("e4 e5 Bc4 Nf6 Nf3 Nxe4", "Bxf7+", Cp(-50), Cp(-600), GREAT),  # a capture on a different square
        (f"{RUSSIAN} d4", "dxe5", Cp(300), Cp(-20), None),  # the knight hangs
        ("e4 d5 exd5 Qxd5 Nc3", "Qxg2", Cp(20), Cp(-300), BRILLIANT),
        ("e4 e5 Qh5 Nc6 Bc4 g6", "Qxg6", Cp(300), Cp(0), BRILLIANT),
        ("f3 e5 g4", "Qh4#", Mate(1), Cp(50), None),  # checkmate needs no praise
        ("e4 d5 exd5 Qxd5 Nc3 Qe5+", "Qe2", Cp(50), Cp(-300), GREAT),  # queens can be exchanged
    ],
)
def test_good_moves(moves, move, score, rival, judgement):
    board = chess.Board()
    for san in moves.split():
        board.push_san(san)
    assert praise(board, board.parse_san(move), score, rival) is judgement


def test_the_only_legal_move_is_not_praised():
    board = chess.Board("7k/8/8/8/8/1r6/8/r6K w - - 0 1")
    assert praise(board, board.parse_san("Kg2"), Cp(0), Cp(-300)) is GREAT  # the king has another square
    board = chess.Board("7k/8/8/8/8/1r4p1/8/r6K w - - 0 1")
    assert praise(board, board.parse_san("Kg2"), Cp(0), Cp(-300)) is None


def test_missed_chances():
    kinds = (None, *Judgement)
    missed = [(before, each) for before in kinds for each in kinds if is_missed_chance(before, each)]
    assert missed == [(before, each) for before in (MISTAKE, BLUNDER) for each in (INACCURACY, MISTAKE, BLUNDER)]
