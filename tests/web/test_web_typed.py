"""Moves as people type them."""

import contextlib
import re

import chess
import pytest

from knightadder.web.messages import MessageError
from knightadder.web.typed import parse_move


@pytest.mark.parametrize(
    ("fen", "texts", "san"),
    [
        (chess.STARTING_FEN, ["nf3", "Ng1-f3", "ng1f3", "N f3", "1. Nf3!", "G1F3", "g1-f3"], "Nf3"),
        (chess.STARTING_FEN, ["E4", "1.e4", "e2-e4"], "e4"),
        ("r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4", ["o-o", "0-0", "oo", "e1g1"], "O-O"),
        ("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", ["o-o-o", "0-0-0"], "O-O-O"),
        ("4k3/8/8/8/8/8/8/4KB2 w - - 0 1", ["bc4", "BC4", "bf1c4"], "Bc4"),
        ("4k3/8/8/8/2p5/1P3B2/8/4KB2 w - - 0 1", ["bc4", "bxc4", "b3c4"], "bxc4"),
        ("4k3/8/8/8/2p5/1P3B2/8/4KB2 w - - 0 1", ["Bc4", "Bxc4"], "Bxc4"),
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", ["e8=q", "e8q", "e8Q+", "E8=(Q)", "e7e8Q"], "e8=Q+"),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", ["dxe3 e.p.", "de3"], "dxe3"),
    ],
)
def test_moves_are_read_as_people_type_them(fen, texts, san):
    board = chess.Board(fen)
    assert {board.san(parse_move(board, text)) for text in texts} == {san}


@pytest.mark.parametrize(
    ("fen", "text", "complaint"),
    [
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e8", "the move e8 is ambiguous: it can be e8=Q+, e8=R+, e8=B or e8=N"),
        ("4k3/8/8/8/4R3/8/8/4R1K1 w - - 0 1", "re2", "the move re2 is ambiguous: it can be R4e2+ or R1e2+"),
        (chess.STARTING_FEN, "o-o", "the move o-o is not legal here"),
        (chess.STARTING_FEN, "0000", "the move 0000 is not legal here"),
    ],
)
def test_what_is_no_single_move_is_refused(fen, text, complaint):
    with pytest.raises(MessageError, match=f"^{re.escape(complaint)}$"):
        parse_move(chess.Board(fen), text)


def test_every_legal_move_is_read_back_from_its_san_without_capitals():
    board = chess.Board("r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    for move in board.legal_moves:
        assert parse_move(board, board.san(move)) == move
        with contextlib.suppress(MessageError):  # one that can be two
            assert board.san(parse_move(board, board.san(move).lower())).lower() == board.san(move).lower()
