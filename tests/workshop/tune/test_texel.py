"""Texel's method: its gradient against differences, Adam against its definition, and that it finds planted values."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from knightadder.core.api.static_eval import static_trace
from knightadder.core.api.tracing import Tracer
from knightadder.core.board import packed
from knightadder.core.board.packed import PACKED
from knightadder.core.evaluation.evaluate import CLASSICAL
from knightadder.core.evaluation.terms import SIZES, START, TERM_VALUES, read_values
from knightadder.core.tables import new_tables
from knightadder.engine.game import Game
from knightadder.library.arrays import pack
from knightadder.workshop.tune import texel

TABLES = new_tables(CLASSICAL)


def random_records(count: int, seed: int = 1) -> NDArray[np.void]:
    """Pack positions of random games, with random scores and results."""
    chance = random.Random(seed)
    fens: list[str] = []
    scores: list[int] = []
    results: list[int] = []
    board = chess.Board()
    while len(fens) < count:
        moves = list(board.legal_moves)
        if not moves or board.ply() > 100:
            board.reset()
            continue
        board.push(chance.choice(moves))
        fens.append(board.fen())
        scores.append(chance.randint(-500, 500))
        results.append(chance.choice((packed.LOSS, packed.DRAW, packed.WIN)))
    records = pack(fens)
    records["score"], records["result"] = scores, results
    return records


@pytest.fixture(scope="module")
def block() -> texel.TracedPositions:
    (only,) = texel.trace_blocks(Tracer(TABLES), random_records(400))
    return only


def test_rows_are_the_differences_of_the_traces(block: texel.TracedPositions) -> None:
    records = random_records(400)
    game = Game(TABLES)
    rows = block.counts.toarray()
    for record, row, weights in zip(records[::20], rows[::20], block.weights[::20], strict=True):
        game.set_up(packed.record_fen(record))
        trace = static_trace(TABLES, game.record)
        assert (row == trace.counts[0].astype(int) - trace.counts[1]).all()
        phase = int(trace.phase)
        if phase > 12:  # else what is known of endings scales both
            assert weights == pytest.approx([phase / 24, (24 - phase) / 24 * int(trace.scale) / 64])


def test_values_are_those_of_the_evaluation(block: texel.TracedPositions) -> None:
    values = block.values(read_values().astype(float))
    game = Game(TABLES)
    for record, value in zip(random_records(400), values, strict=True):
        board = chess.Board(packed.record_fen(record))
        game.set_up(board.fen())
        if int(static_trace(TABLES, game.record).phase) > 12:  # else endings are judged besides
            expected = value * (200 - board.halfmove_clock) / 200
            assert game.evaluate() * (1 if board.turn else -1) == pytest.approx(expected, abs=2)


def test_endings_that_cannot_be_won_weigh_nothing() -> None:
    drawn_and_won = pack(["4k3/8/8/8/8/8/8/4KN2 w - - 0 1", "4k3/8/8/8/8/8/8/4KQ2 w - - 0 1"])
    (block,) = texel.trace_blocks(Tracer(TABLES), drawn_and_won)
    assert block.values(read_values().astype(float))[0] == 0
    assert block.values(read_values().astype(float))[1] > 700


def test_the_gradient_equals_differences_of_the_error(block: texel.TracedPositions) -> None:
    generator = np.random.default_rng(1)
    values = read_values() + generator.normal(0, 10, (TERM_VALUES, 2))
    slope, error = texel.gradient(block, values, 0.005, 0.6)
    assert error == pytest.approx(texel.mean_error([block], values, 0.005, 0.6))
    for place in (START["piece_value"], START["tempo"], START["pawn_square"] + 36, START["knight_mobility"] + 4):
        for half in range(2):
            above, below = values.copy(), values.copy()
            above[place, half] += 0.5
            below[place, half] -= 0.5
            difference = texel.mean_error([block], above, 0.005, 0.6) - texel.mean_error([block], below, 0.005, 0.6)
            assert slope[place, half] == pytest.approx(difference, rel=1e-3, abs=1e-12)


def test_adam_begins_with_steps_of_the_rate_against_the_sign() -> None:
    adam = texel.Adam((3,))
    assert adam.step(np.array([5.0, -0.01, 0.0]), 2.0) == pytest.approx([-2, 2, 0], abs=1e-5)
    # With a steady gradient all steps are alike.
    for _ in range(20):
        step = adam.step(np.array([5.0, -0.01, 0.0]), 2.0)
    assert step == pytest.approx([-2, 2, 0], abs=1e-5)


def test_the_scale_is_found_from_which_results_were_drawn(block: texel.TracedPositions) -> None:
    values = read_values().astype(float)
    expected = texel.sigmoid(block.values(values), 0.0042)
    planted = texel.TracedPositions(block.counts, block.weights, expected.astype(np.float32), block.scores)
    assert texel.fit_scale([planted], values) == pytest.approx(0.0042, rel=0.01)


def test_planted_values_are_found() -> None:
    (block,) = texel.trace_blocks(Tracer(TABLES), random_records(3000, seed=2))
    truth = read_values().astype(float)
    expected = texel.sigmoid(block.values(truth), 0.004)
    planted = texel.TracedPositions(block.counts, block.weights, expected.astype(np.float32), block.scores)
    values = truth.copy()
    queen, knight = START["piece_value"] + 4, START["piece_value"] + 1
    values[queen] -= 150
    values[knight] += 60
    before = texel.mean_error([planted], values, 0.004, 1)
    adam = texel.Adam(values.shape)
    for step in range(300):
        slope, _ = texel.gradient(planted, values, 0.004, 1)
        values += adam.step(slope, 2.0 * (1 - step / 300))
    assert texel.mean_error([planted], values, 0.004, 1) < before / 20
    # The values of squares take a part of it upon them.
    assert values[queen, 0] - truth[queen, 0] > -125
    assert values[knight, 0] - truth[knight, 0] < 45


def test_settling_moves_what_is_common_to_the_pieces_and_changes_no_value(block: texel.TracedPositions) -> None:
    values = read_values().astype(float)
    moved = values.copy()
    for name, shift in (("knight_square", 30), ("queen_mobility", -20), ("king_square", 50)):
        moved[START[name] : START[name] + SIZES[name]] += shift
    settled = texel.settle([block], moved)
    assert settled[START["piece_value"] : START["piece_value"] + 5] == pytest.approx(
        texel.settle([block], values)[START["piece_value"] : START["piece_value"] + 5]
        + np.array([[0], [30], [0], [0], [-20]])
    )
    assert block.values(settled) == pytest.approx(block.values(moved))


def test_targets_blend_results_and_scores(block: texel.TracedPositions) -> None:
    assert block.targets(0.005, 1) == pytest.approx(block.results)
    assert block.targets(0.005, 0) == pytest.approx(texel.sigmoid(block.scores, 0.005))
    assert set(block.results.tolist()) == {0, 0.5, 1}


def test_no_block_is_smaller_than_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texel, "BLOCK", 100)
    records = random_records(201)
    blocks = list(texel.trace_blocks(Tracer(TABLES), records))
    assert [len(block.results) for block in blocks] == [67, 67, 67]
    assert np.concatenate([block.scores for block in blocks]).tolist() == records["score"].tolist()


def test_a_record_that_is_no_position_is_refused() -> None:
    records = np.zeros(3, PACKED)
    with pytest.raises(ValueError, match="not legal"):
        Tracer(TABLES).trace(records)
