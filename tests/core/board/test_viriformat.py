"""Whole games: the example of the format's description, and games that python-chess plays and encodes by itself."""

from __future__ import annotations

import random
import struct

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, is_noisy, new_game, pack_game, random_game, start_boards

from knightadder.core.api import game_reading
from knightadder.core.board import packed, viriformat
from knightadder.core.board.position import POSITION

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

NO_SCORE = -32_768
EVERYTHING = {"first_ply": 0, "score_below": 40_000, "quiet": 0}

# From the README of viriformat (https://github.com/cosmobobak/viriformat): 1. e4 e5 2. Qh5 Ke7 3. Qxe5#
EXAMPLE = bytes.fromhex(
    "ffff00000000ffff 16422561000000008888 88889ecaade9 40 00 0100 0000 02 00"
    "0c070a00 34091400 c309e2ff 3c0dff7f 2709ff7f 00000000"
)


def _words(data: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(data), np.uint32)


def _read(words: np.ndarray, room: int = 10_000, start: int = 0, **wanted: int) -> tuple[np.ndarray | None, int]:
    """Read games; gives the positions, or None for a game that is not sound, and where reading ended."""
    place, records = np.array([start]), np.zeros(room, packed.PACKED)
    count = game_reading.read_games(
        TABLES, np.zeros(2, POSITION), words, place, *{**EVERYTHING, **wanted}.values(), records
    )
    assert not records[max(count, 0) :].tobytes().strip(b"\0") or count < 0
    return None if count < 0 else records[:count], int(place[0])


def _encode(board: chess.Board, move: chess.Move) -> int:
    """Encode a move of a Chess960 board as the description says, without the engine."""
    promotion, special = 0, 0
    if board.is_en_passant(move):
        special = 1
    elif board.is_castling(move):
        special = 2
    elif move.promotion:
        promotion, special = "nbrq".index(chess.piece_symbol(move.promotion)), 3
    return move.from_square | move.to_square << 6 | promotion << 12 | special << 14


class Written:
    """A random game: its bytes, and each position with its move and score."""

    def __init__(self, board: chess.Board, chance: random.Random, plies: int = 60) -> None:
        self.result = chance.randrange(3)
        begin = pack_game(new_game(board), chance.randrange(-9, 9), self.result).tobytes()
        self.plies = []
        words = b""
        for move in random_game(board, chance, plies):
            score = chance.choice((0, 1, -1, 1999, -1999, 2000, -2000, 31_999, -31_999, 32_767, NO_SCORE))
            self.plies.append((board.copy(stack=False), move, score))
            words += struct.pack("<Hh", _encode(board, move), score)
        self.data = begin + words + bytes(4)


def _games(seed: int, chess960: bool, count: int) -> list[Written]:
    chance, boards = random.Random(seed), start_boards(seed, chess960)
    return [Written(next(boards), chance) for _ in range(count)]


def test_the_example_of_the_description() -> None:
    records, end = _read(_words(EXAMPLE))
    assert records is not None
    assert end == len(EXAMPLE) // 4
    board, expected = chess.Board(), []
    for san in ("e4", "e5", "Qh5", "Ke7", "Qxe5#"):
        expected.append(board.fen(en_passant="legal"))
        board.push_san(san)
    assert [packed.record_fen(record) for record in records] == expected
    assert records["score"].tolist() == [10, 20, -30, 32_767, 32_767]
    assert records["result"].tolist() == [packed.WIN] * 5


@pytest.mark.parametrize("chess960", [False, True])
def test_games_come_back_as_they_were(chess960: bool) -> None:
    games = _games(74, chess960, 12)
    records, _ = _read(_words(b"".join(game.data for game in games)))
    assert records is not None
    plies = [(*ply, game.result) for game in games for ply in game.plies]
    assert len(records) == len(plies)
    for record, (board, _, score, result) in zip(records, plies, strict=True):
        assert packed.record_fen(record, chess960=True) == board.fen(shredder=True, en_passant="legal")
        assert (record["score"], record["result"]) == (score, result)
    castled = sum(board.is_castling(move) for board, move, *_ in plies)
    passed = sum(board.is_en_passant(move) for board, move, *_ in plies)
    promoted = {move.promotion for _, move, *_ in plies if move.promotion}
    assert castled > 2
    if not chess960:
        assert passed > 2
        assert promoted == {chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN}


@compiled
def _encode_all(moves: np.ndarray, score: int, words: np.ndarray) -> None:
    for i in range(len(moves)):
        words[i] = viriformat.encode(moves[i], score)


@pytest.mark.parametrize("chess960", [False, True])
def test_moves_are_written_as_described(chess960: bool) -> None:
    for game in _games(62, chess960, 6):
        for board, _, score in game.plies[::4]:
            legal = list(board.legal_moves)
            words = np.zeros(len(legal), np.uint32)
            _encode_all(np.array([encode(board, move) for move in legal]), score, words)
            assert words.tobytes() == b"".join(struct.pack("<Hh", _encode(board, move), score) for move in legal)


@pytest.mark.parametrize(
    "wanted",
    [
        {"first_ply": 16},
        {"score_below": 2000},
        {"score_below": 32_768},
        {"quiet": 1},
        {"first_ply": 9, "score_below": 2000, "quiet": 1},
    ],
)
def test_what_is_not_wanted_is_left_out(wanted: dict[str, int]) -> None:
    first_ply, below, quiet = {**EVERYTHING, **wanted}.values()
    games = _games(63, False, 12)
    records, _ = _read(_words(b"".join(game.data for game in games)), **wanted)
    assert records is not None
    expected = [
        board.fen(en_passant="legal")
        for game in games
        for board, move, score in game.plies
        if board.ply() >= first_ply
        and abs(score) < below
        and not (quiet and (board.is_check() or is_noisy(board, move)))
    ]
    assert [packed.record_fen(record) for record in records] == expected
    assert 0 < len(expected) < sum(len(game.plies) for game in games)


def test_games_are_counted() -> None:
    games = _games(64, False, 5)
    data, counts = b"".join(game.data for game in games), np.zeros(2, np.int64)
    assert game_reading.count_games(_words(data), counts) == len(data) // 4
    assert counts.tolist() == [5, sum(len(game.plies) for game in games)]
    last = len(games[-1].data)
    for cut in (4, 8, last - 32, last - 4):
        assert game_reading.count_games(_words(data[:-cut]), counts) == (len(data) - last) // 4
        assert counts.tolist() == [4, sum(len(game.plies) for game in games[:-1])]


def test_reading_goes_on_where_there_was_no_room_left() -> None:
    games = _games(65, False, 6)
    words = _words(b"".join(game.data for game in games))
    whole, _ = _read(words)
    assert whole is not None
    longest = max(len(game.plies) for game in games)
    place, parts = 0, []
    while place < len(words):
        records, place = _read(words, longest, place)
        assert records is not None
        parts.append(records)
    assert 1 < len(parts) <= 6
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert _read(words, len(games[0].plies) - 1) == (pytest.approx([]), 0)


def test_games_that_are_cut_off() -> None:
    first, second = _games(66, False, 2)
    for cut in (*range(4, len(second.data) - 4, 36), len(second.data) - 4):
        records, place = _read(_words(first.data + second.data[:-cut]))
        assert records is None
        assert place == len(first.data) // 4


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, 0),  # no men at all
        (8, 0xFF),
        (24, 0x50),  # an en passant square that no pawn has passed
        (30, 3),  # the result
        (32, 0x0D),  # 1. e4 becomes 1. f2xe4
        (33, 0xC7),  # ... and a promotion
        (37, 0x49),  # 1. ... e5 becomes an en passant capture
        (40, 0x04),  # 2. Ke1-h5
        (41, 0x89),  # ... and castling
        (52, 1),  # something after mate
    ],
)
def test_damaged_games_are_refused(place: int, value: int) -> None:
    data = bytearray(EXAMPLE + bytes(4))
    data[place] = value
    assert _read(_words(EXAMPLE + data)) == (None, len(EXAMPLE) // 4)


def test_nonsense_does_no_harm() -> None:
    chance = random.Random(67)
    data = EXAMPLE + Written(chess.Board(chess960=True), chance, 30).data
    refused = 0
    for _ in range(100):
        changed = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(data))] = chance.randrange(256)
        records, _ = _read(_words(changed))
        refused += records is None
        for record in [] if records is None else records:
            packed.record_fen(record)  # which finds two kings and no unknown piece
    assert 10 < refused < 100
