"""Packed positions: bytes worked out by hand, a decoder of its own, round trips, and records that are refused."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from core_helpers import TABLES, new_game, pack_game, random_positions

from knightadder.core.api import batch
from knightadder.core.board import packed
from knightadder.core.board.fen import FenError
from knightadder.core.worker import WORKER
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

WORK = new_record(WORKER)
NO_MOVES = np.zeros(0, np.int64)


def is_legal(records: np.ndarray) -> bool:
    """Tell whether the core takes the only record for a legal position."""
    return int(batch.evaluate_records(TABLES, WORK, records, np.zeros(1, np.int16))) == 0


def test_the_layout_is_32_bytes_without_gaps() -> None:
    offsets = {name: packed.PACKED.fields[name][1] for name in packed.PACKED.names}
    assert packed.PACKED.itemsize == 32
    assert offsets == {
        "occupied": 0,
        "pieces": 8,
        "stm_ep": 24,
        "rule50": 25,
        "fullmove": 26,
        "score": 28,
        "result": 30,
        "spare": 31,
    }


@pytest.mark.parametrize(
    ("fen", "score", "result", "expected"),
    [
        (
            chess.STARTING_FEN,
            31,
            packed.DRAW,
            "ff ff 00 00 00 00 ff ff"
            "16 42 25 61 00 00 00 00 88 88 88 88 9e ca ad e9"  # R N B Q K B N R, the rooks as 6 and 14
            "40 00 01 00 1f 00 01 00",
        ),
        (
            "4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 7",  # men on e1, a4, b4, e8
            -300,
            packed.LOSS,
            "10 00 00 03 00 00 00 10  05 d8 00 00 00 00 00 00 00 00 00 00 00 00 00 00  90 00 07 00 d4 fe 00 00",
        ),
        (
            "4k3/8/8/8/P7/8/8/R3K2R b K a3 17 300",  # no pawn can capture; one rook may castle, the other not
            1,
            packed.WIN,
            "91 00 00 01 00 00 00 10  53 06 0d 00 00 00 00 00 00 00 00 00 00 00 00 00  c0 11 2c 01 01 00 02 00",
        ),
    ],
)
def test_bytes_worked_out_by_hand(fen: str, score: int, result: int, expected: str) -> None:
    assert pack_game(new_game(fen), score, result).tobytes() == bytes.fromhex(expected)


def _decode(data: bytes) -> chess.Board:
    """Read a record as the description says, without the engine."""
    board = chess.Board(None, chess960=True)
    occupied = int.from_bytes(data[:8], "little")
    board.castling_rights = 0
    for index, square in enumerate(chess.scan_forward(occupied)):
        code = data[8 + index // 2] >> 4 * (index % 2) & 15
        if code & 7 == 6:
            board.castling_rights |= chess.BB_SQUARES[square]
        kind = chess.ROOK if code & 7 == 6 else (code & 7) + 1
        board.set_piece_at(square, chess.Piece(kind, code < 8))
    board.turn = data[24] < 128
    board.ep_square = None if data[24] & 127 == 64 else data[24] & 127
    board.halfmove_clock = data[25]
    board.fullmove_number = int.from_bytes(data[26:28], "little")
    return board


@pytest.mark.parametrize("chess960", [False, True])
def test_round_trip(chess960: bool) -> None:
    seen_ep = seen_castling = 0
    for number, board in enumerate(random_positions(120, chess960)):
        score, result = 37 * number - 2000, number % 3
        game, again = new_game(board), new_game()
        records = pack_game(game, score, result)
        decoded = _decode(records.tobytes())
        assert decoded.shredder_fen(en_passant="fen") == board.shredder_fen(en_passant="legal")
        assert records["score"][0] == score and records["result"][0] == result
        assert packed.record_fen(records[0], chess960=True) == board.shredder_fen(en_passant="legal")
        assert packed.record_fen(records[0]) == board.fen(en_passant="legal")
        # The position is complete: byte by byte what the FEN gives.
        assert is_legal(records)
        again.set_up_packed(records, 0, NO_MOVES)
        assert again.record.stack[0].tobytes() == game.record.stack[0].tobytes()
        assert again.record.key_count == 0
        assert again.fen() == game.fen()
        seen_ep += decoded.ep_square is not None
        seen_castling += bool(decoded.castling_rights)
    assert seen_castling > 10
    assert seen_ep > (0 if chess960 else 3)


def test_the_greatest_counters_that_fit() -> None:
    record = pack_game(new_game("4k3/8/8/8/8/8/8/R3K3 w - - 255 9999"))[0]
    assert (record["rule50"], record["fullmove"]) == (255, 9999)
    game = new_game("4k3/8/8/8/8/8/8/R3K3 w - - 256 1")
    game._fullmove = 70_000
    record = pack_game(game)[0]
    assert (record["rule50"], record["fullmove"]) == (255, 65_535)


def _changed(fen: str, **fields: object) -> np.ndarray:
    records = pack_game(new_game(fen))
    for name, value in fields.items():
        records[name] = value
    return records


def _pieces(*codes: int) -> list[int]:
    codes = (*codes, *[0] * (32 - len(codes)))
    return [low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True)]


TWO = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"
THREE = "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"


@pytest.mark.parametrize(
    "records",
    [
        np.zeros(1, packed.PACKED),
        np.frombuffer(b"\xff" * 32, packed.PACKED).copy(),
        _changed(TWO, occupied=(1 << 33) - 1),
        _changed(TWO, pieces=_pieces(5, 5)),  # two white kings
        _changed(TWO, pieces=_pieces(4, 13)),
        _changed(TWO, pieces=_pieces(7, 13)),  # no such piece
        _changed(TWO, pieces=_pieces(5, 15)),
        _changed(THREE, pieces=_pieces(5, 6, 13)),  # castling with a rook on e4
        _changed(chess.STARTING_FEN, pieces=_pieces(6, 1, 6, 3, 5, 2, 1, 6, *[0] * 8, *[8] * 8, 14, 13)),
        _changed(chess.STARTING_FEN, pieces=_pieces(*[4] * 15, 5, *[12] * 15, 13)),  # thirty queens
        _changed(THREE, occupied=1 << 4 | 1 << 56 | 1 << 60),  # a white pawn on a8
        _changed(THREE, occupied=1 << 3 | 1 << 4 | 1 << 60),
        _changed(THREE, stm_ep=128 | 65),
        _changed(THREE, stm_ep=128 | 127),
        _changed(THREE, stm_ep=128 | chess.D3),
        _changed(THREE, stm_ep=128 | chess.E6),
        _changed(THREE, stm_ep=chess.E3),
    ],
)
def test_what_is_no_position_is_refused(records: np.ndarray) -> None:
    assert not is_legal(records)
    with pytest.raises(FenError):
        packed.record_fen(records[0])


def test_damaged_records_are_refused_alike_or_are_positions() -> None:
    chance = random.Random(3)
    sound = [pack_game(new_game(board)).tobytes() for board in random_positions(20)]
    taken = 0
    for _ in range(100 if INTERPRETED else 3000):
        data = bytearray(chance.choice(sound))
        for _ in range(chance.choice((1, 1, 2, 3))):
            data[chance.randrange(25)] ^= 1 << chance.randrange(8)
        records = np.frombuffer(bytes(data), packed.PACKED).copy()
        try:
            text = packed.record_fen(records[0], chess960=True)
        except FenError:
            assert not is_legal(records)
            continue
        # Only the check to the side that is not to move is left to the core.
        opposite_check = bool(chess.STATUS_OPPOSITE_CHECK & chess.Board(text, chess960=True).status())
        assert is_legal(records) == (not opposite_check)
        taken += not opposite_check
    assert taken > 0


def test_an_en_passant_square_that_nobody_captures_on_is_dropped() -> None:
    records = _changed(THREE, stm_ep=128 | chess.E3)
    assert is_legal(records)
    game = new_game()
    game.set_up_packed(records, 0, NO_MOVES)
    assert game.record.stack[0].tobytes() == new_game(THREE).record.stack[0].tobytes()
