"""The evaluation by a network: exactly the integer model's values, however a position was reached."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import new_game, random_positions, set_up, start_boards
from random_network import random_network

from knightadder.core.api.batch import evaluate_records
from knightadder.core.board.bitboard import ZERO
from knightadder.core.board.movegen import ALL, generate
from knightadder.core.board.moves import CASTLING, EN_PASSANT, is_promotion
from knightadder.core.board.packed import unpack
from knightadder.core.board.position import make, make_null
from knightadder.core.evaluation import network
from knightadder.core.evaluation.evaluate import NETWORK
from knightadder.core.evaluation.network import HIDDEN, MAX_BUCKETS
from knightadder.core.evaluation.network_file import Network, read_network
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine.evaluator import BUILT_IN_FILE
from knightadder.library.arrays import pack
from knightadder.native.program import INTERPRETED
from knightadder.native.records import new_record
from knightadder.workshop.train.integer_model import integer_values

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

DEEPEST = np.int64(24)  # plies; further down, few pieces are left
MADE, CASTLED, PASSED, PROMOTED, TAKEN_EN_PASSANT, CROSSED = range(6)  # what is counted: all moves, and kinds of them


def tables_with(chosen: Network) -> np.record:
    tables = new_tables(NETWORK)
    network.fill_tables(tables, chosen)
    return tables


@compiled
def evaluate_all(tables, worker, records, values):
    pos = worker.stack[0]
    for number in range(len(records)):
        unpack(tables, records[np.uint64(number)], pos)
        values[number] = network.evaluate(tables, worker, pos, np.int64(0))


@compiled
def walk(tables, worker, fresh, numbers, counts):
    """Walk up and down in the tree of moves; return how often the value differs from that computed from scratch."""
    ply, differences = np.int64(0), np.int64(0)
    for drawn in numbers:
        pos, frame = worker.stack[np.uint64(ply)], worker.frames[np.uint64(ply)]
        count = generate(tables, pos, frame, np.int64(0), ALL)
        if count == 0 or ply == DEEPEST or (drawn & 7) == 0:
            ply = max(ply - 1 - (drawn >> 3 & 3), np.int64(0))
        elif (drawn & 15) == 1 and pos.checkers == ZERO:
            make_null(tables, pos, worker.stack[np.uint64(ply + 1)])
            frame.move = 0
            counts[PASSED] += 1
            ply += 1
        else:
            for k in range(8):  # rare moves are taken more often
                move = frame.moves[np.uint64(((drawn >> 8) + k) % count)]
                kind = (move >> 12) & 15
                if kind in (CASTLING, EN_PASSANT) or is_promotion(move):
                    break
            make(tables, pos, worker.stack[np.uint64(ply + 1)], move)
            frame.move = move
            counts[MADE] += 1
            counts[CASTLED] += kind == CASTLING
            counts[TAKEN_EN_PASSANT] += kind == EN_PASSANT
            counts[PROMOTED] += is_promotion(move)
            ply += 1
        if (drawn >> 5 & 1) == 0:  # positions in between are left out
            here = worker.stack[np.uint64(ply)]
            value = network.evaluate(tables, worker, here, ply)
            fresh.accumulators[0].key = 0
            for kept in fresh.kept_accumulators:
                kept.key = 0
            differences += value != network.evaluate(tables, fresh, here, np.int64(0))
            if ply > 0:
                views, before = worker.accumulators[np.uint64(ply)].views, worker.accumulators[np.uint64(ply - 1)].views
                counts[CROSSED] += (views[0] != before[0]) | (views[1] != before[1])
    return differences


NETWORKS = {
    "shipped": read_network(BUILT_IN_FILE),
    "one bucket": random_network(HIDDEN, 1),
    "eight buckets": random_network(HIDDEN, MAX_BUCKETS),
    "not mirrored": random_network(HIDDEN, 3, mirrored=False),
    "four king buckets": random_network(HIDDEN, 8, king_buckets=4),
    "small": random_network(16, 2),
}


@pytest.fixture(scope="module")
def many_records() -> np.ndarray:
    """Different positions of random games, half of them of Chess960."""
    count = 3 if INTERPRETED else 300
    return np.unique(np.concatenate([pack(random_positions(count, chess960)) for chess960 in (False, True)]))


@pytest.mark.parametrize("name", NETWORKS)
def test_it_equals_the_integer_model(many_records: np.ndarray, name: str) -> None:
    chosen = NETWORKS[name]
    values = np.zeros(len(many_records), np.int64)
    evaluate_all(tables_with(chosen), new_record(WORKER), many_records, values)
    assert values.tolist() == integer_values(chosen, many_records).tolist()
    assert INTERPRETED or len(set(values.tolist())) > 200


@pytest.mark.parametrize(
    ("chess960", "mirrored", "king_buckets"), [(False, True, 1), (True, True, 1), (True, False, 1), (True, True, 4)]
)
def test_the_way_to_a_position_makes_no_difference(chess960: bool, mirrored: bool, king_buckets: int) -> None:
    """A hundred thousand moves, by chance, of each kind of game and network."""
    tables = tables_with(random_network(HIDDEN, MAX_BUCKETS, mirrored, king_buckets=king_buckets))
    game, fresh, counts = new_game(), new_record(WORKER), np.zeros(6, np.int64)
    starts = 2 if INTERPRETED else 10
    for number, board in zip(range(starts), start_boards(5, chess960), strict=False):
        worker = set_up(game, board)
        numbers = np.random.default_rng(number).integers(0, 1 << 40, 25 if INTERPRETED else 20_000)
        assert walk(tables, worker, fresh, numbers, counts) == 0
    if not INTERPRETED:
        assert counts[MADE] >= 80_000
        assert counts[:CROSSED].min() > 20 and (counts[CROSSED] > 20) == mirrored, counts


def test_it_sees_both_colours_alike() -> None:
    tables, worker = tables_with(random_network(HIDDEN, MAX_BUCKETS)), new_record(WORKER)
    boards = random_positions(5 if INTERPRETED else 300)
    values = np.zeros((2, len(boards)), np.int64)
    evaluate_all(tables, worker, pack(boards), values[0])
    evaluate_all(tables, worker, pack([board.mirror() for board in boards]), values[1])
    assert values[0].tolist() == values[1].tolist()


def test_another_network_gives_other_values_at_once() -> None:
    worker, record = new_record(WORKER), pack([chess.Board()])
    found = []
    for seed in (1, 2):
        chosen = random_network(HIDDEN, seed=seed)
        values = np.zeros(1, np.int64)
        evaluate_all(tables_with(chosen), worker, record, values)
        assert values.tolist() == integer_values(chosen, record).tolist()
        found.append(values[0])
    assert found[0] != found[1]


def test_values_shrink_towards_the_fifty_move_rule() -> None:
    chosen = random_network(HIDDEN)
    boards = [chess.Board() for _ in range(4)]
    for board, plies in zip(boards, (0, 50, 100, 255), strict=True):
        board.halfmove_clock = plies
    records = pack(boards)
    values = np.zeros(4, np.int16)
    assert evaluate_records(tables_with(chosen), new_record(WORKER), records, values) == 0
    raw = int(integer_values(chosen, records)[0])
    assert values.tolist() == [raw, raw * 150 // 200, raw // 2, raw // 2]


@pytest.mark.parametrize(("width", "buckets"), [(2 * HIDDEN, 1), (HIDDEN, MAX_BUCKETS + 1)])
def test_a_network_that_is_too_large_is_refused(width: int, buckets: int) -> None:
    tables = new_tables(NETWORK)
    small = random_network(HIDDEN)
    large = Network(
        np.zeros((768, width), np.int16),
        np.zeros(width, np.int16),
        np.zeros((buckets, 2, width), np.int16),
        np.zeros(buckets, np.int16),
        mirrored=True,
        scale=200,
    )
    network.fill_tables(tables, small)
    before = network.weights_of(tables).tobytes()
    with pytest.raises(ValueError, match=f"not {width} and {buckets}$"):
        network.fill_tables(tables, large)
    assert network.weights_of(tables).tobytes() == before


def test_a_network_takes_the_place_of_one_that_was_larger() -> None:
    records = pack(random_positions(5 if INTERPRETED else 100))
    tables, values = tables_with(random_network(HIDDEN, MAX_BUCKETS)), np.zeros(len(records), np.int64)
    small = random_network(16, 2, mirrored=False, seed=2)
    network.fill_tables(tables, small)
    evaluate_all(tables, new_record(WORKER), records, values)
    assert values.tolist() == integer_values(small, records).tolist()


def test_without_weights_all_values_are_zero() -> None:
    values = np.ones(1, np.int64)
    evaluate_all(new_tables(NETWORK), new_record(WORKER), pack([chess.Board()]), values)
    assert values.tolist() == [0]


def test_a_network_lives_as_long_as_the_tables() -> None:
    tables, record = tables_with(random_network(HIDDEN)), pack([chess.Board()])
    values = np.zeros(2, np.int64)
    evaluate_all(tables, new_record(WORKER), record, values[:1])
    # Memory that was free would be used for these.
    others = [tables_with(random_network(HIDDEN, seed=seed)) for seed in range(2, 6)]
    evaluate_all(tables, new_record(WORKER), record, values[1:])
    assert values[0] == values[1] != 0
    assert len({int(each.network_address) for each in [tables, *others]}) == 5
