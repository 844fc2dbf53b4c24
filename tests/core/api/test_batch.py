"""Many positions at once: FENs read by compiled code as the plain reader reads them, and values one by one."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from core_helpers import TABLES, new_game, pack_game, random_positions

from knightadder.core.api import batch
from knightadder.core.board import packed
from knightadder.core.evaluation.evaluate import CLASSICAL, PESTO
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine.errors import PositionError
from knightadder.engine.game import Game
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

WORK = new_record(WORKER)
PLAIN = Game(TABLES)


def pack_all(texts: list[str]) -> tuple[int, np.ndarray]:
    characters = np.frombuffer(bytearray("".join(texts).encode()), np.uint8)
    ends = np.cumsum(np.array([len(text) for text in texts], np.int64))
    records = np.frombuffer(b"\xff" * 32 * len(texts), packed.PACKED).copy()
    return int(batch.pack_fens(TABLES, WORK, characters, ends, records)), records


def expected(text: str) -> bytes:
    """Give the record that the plain reader makes, zeros if it refuses."""
    try:
        PLAIN.set_up(text)
    except PositionError:
        return bytes(32)
    return pack_game(PLAIN).tobytes()


def check(texts: list[str]) -> int:
    """Compare with the plain reader; gives the number of texts that both take."""
    illegal, records = pack_all(texts)
    wanted = [expected(text) for text in texts]
    for text, record, want in zip(texts, records, wanted, strict=True):
        assert record.tobytes() == want, text
    assert illegal == wanted.count(bytes(32))
    return len(texts) - illegal


@pytest.mark.parametrize("chess960", [False, True])
def test_fens_of_random_positions(chess960: bool) -> None:
    boards = random_positions(20 if INTERPRETED else 400, chess960)
    texts = [board.fen() for board in boards]
    texts += [board.shredder_fen() for board in boards]
    texts += [board.fen(en_passant="fen") for board in boards]
    assert check(texts) > len(texts) * 0.9
    _, records = pack_all(texts[: len(boards)])
    assert [packed.record_fen(record) for record in records] == [board.fen() for board in boards]


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


@pytest.mark.parametrize(
    "text",
    [
        f"{START} w KQkq -",
        f"  {START}\tw  KQkq - 7\n",
        f"{START}\x1cw\x0bKQkq - 7 9999\x0c",
        f"{START} b kqKQ - 00 0",
        f"{START} w HAha - 0 0000000000000000000000000000000001",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
        "1r2k1r1/8/8/8/8/8/8/RR2K1RR w BGbg - 0 1",  # inner rooks
        "1r2k1r1/8/8/8/8/8/8/RR2K1RR w KQkq - 0 1",
        "QQQQQQQQ/Q6k/8/8/8/8/8/K7 b - - 300 1",
        # What cannot be is left out.
        f"{START} w KKkq - 0 1",
        f"{START} w KHkq - 0 1",
        f"{START} w Ekq - 0 1",
        f"{START} w KQkq e3 0 1",
        f"{START} w KQkq e6 0 1",
        "4k3/8/8/8/8/8/4K3/7R w K - 0 1",
        "4k3/8/8/8/8/8/8/4K2B w K - 0 1",
        "4k3/8/8/8/3Pp3/8/3P4/4K3 b - d3 0 1",
    ],
)
def test_fens_that_are_unusual_but_sound(text: str) -> None:
    assert check([text]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        START,
        f"{START} w KQkq",
        f"{START} w KQkq - 0 1 1",
        f"{START} W KQkq - 0 1",
        f"{START} wb KQkq - 0 1",
        f"{START} w KQkq - -1 1",
        f"{START} w KQkq - 10000 1",
        f"{START} w KQkq - 0 99999999999999999999999",
        f"{START} w KQkq - 0x 1",
        f"{START} w K-kq - 0 1",
        f"{START} w KQkz - 0 1",
        f"{START} w KQkq e 0 1",
        f"{START} w KQkq i6 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1",
        "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/0/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/44/45/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppx/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w kq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKKNR w kq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/Q7/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "4k3/8/8/8/8/8/8/P3K3 w - - 0 1",
        "p3k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "4kR2/8/8/8/8/8/8/4K2r b - - 0 1",  # the side that has moved is in check
        "4k3/8/8/8/8/8/8/4R1K1 w - - 0 1",
    ],
)
def test_fens_that_are_refused(text: str) -> None:
    assert check([text]) == 0


def test_damaged_fens_are_judged_as_by_the_plain_reader() -> None:
    chance = random.Random(42)
    boards = random_positions(30) + random_positions(30, chess960=True)
    texts = []
    for _ in range(150 if INTERPRETED else 6000):
        text = chance.choice(boards).fen()
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            place = chance.randrange(len(text) + 1)
            letter = chance.choice("pnbrqkPNBRQK12345678/ wb-KQkqABCDEFGHabcdefgh09x\t")
            text = text[:place] + letter * chance.randrange(2) + text[place + chance.randrange(2) :]
        texts.append(text)
    taken = check(texts)
    assert 0.05 * len(texts) < taken < 0.95 * len(texts)


@pytest.mark.parametrize("evaluation", [PESTO, CLASSICAL])
def test_values_are_those_of_one_position_at_a_time(evaluation: int) -> None:
    tables = TABLES if evaluation == PESTO else new_tables(evaluation)
    boards = random_positions(10 if INTERPRETED else 200)
    _, records = pack_all([board.fen() for board in boards])
    values = np.zeros(len(boards), np.int16)
    assert batch.evaluate_records(tables, WORK, records, values) == 0
    for board, value in zip(boards, values, strict=True):
        game = new_game(board)
        game._tables = tables
        game.renew_sums()
        assert value == (game.evaluate() if board.turn else -game.evaluate())


def test_illegal_records_have_no_value() -> None:
    _, records = pack_all([chess.STARTING_FEN, "no position", chess.STARTING_FEN])
    values = np.zeros(3, np.int16)
    assert batch.evaluate_records(TABLES, WORK, records, values) == 1
    assert values.tolist() == [0, batch.NO_VALUE, 0]
