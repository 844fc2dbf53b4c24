"""How games begin and end by the rules, compared with python-chess's own words on it."""

from __future__ import annotations

import contextlib
import random
import re

import chess
import pytest

from knightadder.core.board.fen import FenError
from knightadder.rules import impossible_in, leave_out_impossible, outcome_of, read_fen


@pytest.mark.parametrize(
    ("fen", "chess960"),
    [
        (chess.STARTING_FEN, False),
        ("3k4/8/8/8/8/8/8/1R2K3 w B - 0 1", True),
        ("3k4/8/8/8/8/8/8/R4K2 w Q - 0 1", True),
        ("4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1", False),  # all but one cannot be
        ("3k4/8/8/8/8/8/8/1R2K3 w BHa - 0 1", True),
    ],
)
def test_castling_rights_tell_the_rules(fen: str, chess960: bool) -> None:
    assert read_fen(fen)[0].chess960 == chess960


@pytest.mark.parametrize(
    ("fen", "notes", "clean"),
    [
        (chess.STARTING_FEN, [], chess.STARTING_FEN),
        ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", [], "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w KQ e6 0 1", ["right K", "square e6"], "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        ("r3k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", ["rights Qk"], "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"),
        ("4k3/8/8/8/8/8/8/7K w K - 0 1", ["right K"], "4k3/8/8/8/8/8/8/7K w - - 0 1"),
        ("7k/8/8/8/8/8/8/2K5 w k - 0 1", ["right k"], "7k/8/8/8/8/8/8/2K5 w - - 0 1"),
    ],
)
def test_what_cannot_be_is_left_out_of_fens_and_of_boards(fen: str, notes: list[str], clean: str) -> None:
    board, said = read_fen(fen)
    assert board.fen(en_passant="fen") == clean
    own = chess.Board(fen)
    known = tuple(note.replace("Qk", "k") for note in said)  # python-chess reads a Q without any rook as nothing
    assert impossible_in(own) in (said, known)
    assert leave_out_impossible(own) in (said, known)
    assert own.fen(en_passant="fen") == clean and not impossible_in(own)
    texts = [note.removeprefix("impossible castling ").removeprefix("impossible en passant ") for note in said]
    assert texts == [f"{note} left out" for note in notes]


def test_a_castling_right_without_a_king_is_left_out() -> None:
    assert impossible_in(chess.Board("8/8/8/8/8/8/8/R7 w Q - 0 1")) == ("impossible castling right Q left out",)


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "the side that is not to move is in check"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings"),
        ("here", "a FEN must have 4 to 6 fields, not 1"),
    ],
)
def test_a_fen_that_cannot_be_played_is_refused(fen: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_fen(fen, what="position 3")
    assert str(caught.value) == f"illegal position 3: {reason} ({fen})"


@pytest.mark.parametrize(
    ("fen", "problem"),
    [
        (chess.STARTING_FEN, ""),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings"),
        ("3k4/8/8/8/8/8/8/R7 w Q - 0 1", "White has 0 kings"),
        ("4k3/8/8/8/8/8/8/R3K3 w KQkq e3 0 1", ""),  # left out, and said
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "the side that is not to move is in check"),
        # python-chess calls this legal, the engine does not, ...
        ("4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1", "White has more pieces than promotions allow"),
        # ... and here it is the other way round: three rooks give check.
        ("4k3/8/8/8/4r3/8/8/r3K2r w - - 0 1", ""),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 10000", "the move number must be a number up to 9999, not '10000'"),
    ],
)
def test_what_is_wrong_with_a_position(fen: str, problem: str) -> None:
    with pytest.raises(FenError, match=re.escape(problem)) if problem else contextlib.nullcontext():
        read_fen(fen)


@pytest.mark.parametrize(
    ("fen", "ends"),
    [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", True),
        ("6k1/8/8/8/8/8/5PPP/r5K1 w - - 0 1", True),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", True),
        ("7k/8/6K1/8/8/8/8/6N1 b - - 0 1", True),
        ("7k/8/6K1/8/8/8/8/6R1 b - - 100 99", True),
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 100 99", True),  # mate goes before the fifty moves
        ("7k/8/6K1/8/8/8/8/6R1 b - - 98 99", False),
        (chess.STARTING_FEN, False),
    ],
)
def test_positions(fen: str, ends: bool) -> None:
    outcome = outcome_of(chess.Board(fen))
    assert outcome == chess.Board(fen).outcome(claim_draw=True)
    assert (outcome is not None) == ends


@pytest.mark.parametrize(
    "fen", [chess.STARTING_FEN, "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/p7/8/8/8/8/8/2B1K3 w - - 90 70"]
)
def test_random_games_end_where_they_have_to(fen: str) -> None:
    chance = random.Random(7)
    for _ in range(5):
        board = chess.Board(fen)
        while (outcome := outcome_of(board)) is None:
            assert board.outcome() is None and not board.is_fifty_moves() and not board.is_repetition(3)
            board.push(chance.choice(list(board.legal_moves)))
        if outcome.termination is chess.Termination.FIFTY_MOVES:
            assert board.is_fifty_moves()
        elif outcome.termination is chess.Termination.THREEFOLD_REPETITION:
            assert board.is_repetition(3)
        else:
            assert outcome == board.outcome()


def test_the_third_repetition_is_a_draw() -> None:
    board = chess.Board()
    for move in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]:
        board.push_uci(move)
        assert outcome_of(board) is None
    board.push_uci("f6g8")
    assert outcome_of(board) == chess.Outcome(chess.Termination.THREEFOLD_REPETITION, None)
