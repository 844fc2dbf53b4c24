"""The integer model is what the description says, number by number, and close to the floating-point network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from train_data import boards_of_games, packed, plain_features, plain_value

from knightadder.workshop.train.integer_model import features_of, integer_values
from knightadder.workshop.train.trainer import Trainer
from knightadder.workshop.train.weights import LIMIT, Shape, dequantise, enlarge, initial_weights, quantise

BOARDS = boards_of_games(1, 500)
RECORDS = packed(BOARDS)
SHAPES = [Shape(16, 1, True), Shape(32, 8, True), Shape(16, 1, False), Shape(16, 2, True, 4)]


@pytest.mark.parametrize(("mirrored", "king_buckets"), [(True, 1), (False, 1), (True, 4)])
def test_features_are_those_of_the_description(mirrored: bool, king_buckets: int) -> None:
    own, other = features_of(RECORDS, mirrored, king_buckets)
    after = 768 * king_buckets
    for board, first, second in zip(BOARDS, own, other, strict=True):
        assert sorted(first[first < after]) == sorted(plain_features(board, board.turn, mirrored, king_buckets))
        assert sorted(second[second < after]) == sorted(plain_features(board, not board.turn, mirrored, king_buckets))


@pytest.mark.parametrize("shape", SHAPES)
def test_it_equals_plain_integers(shape: Shape) -> None:
    for spread in (0.1, 0.7):  # the second saturates many sums
        flat = np.random.default_rng(1).normal(0, spread, shape.size).astype(np.float32)
        network = quantise(flat, shape, 317, "")
        values = integer_values(network, RECORDS[:200])
        assert values.tolist() == [plain_value(network, board) for board in BOARDS[:200]]
        assert len(set(values.tolist())) > 50


@pytest.mark.parametrize("shape", SHAPES)
def test_floating_point_and_integers_agree(shape: Shape) -> None:
    with Trainer(shape, initial_weights(shape, 1), 1, 200, 0.0) as trainer:
        for _ in range(50):
            trainer.step(RECORDS, 0.01)
        found = trainer.values(RECORDS)
        difference = abs(found - integer_values(quantise(trainer.weights, shape, 200, ""), RECORDS))
    assert found.std() > 50
    assert difference.mean() < 5


@pytest.mark.parametrize("shape", SHAPES)
def test_a_larger_network_gives_the_same_values(shape: Shape) -> None:
    flat = initial_weights(shape, 1)
    larger = replace(shape, width=48, king_buckets=4 if shape.mirrored else 1)
    enlarged = enlarge(flat, shape, larger, 2)
    values = integer_values(quantise(enlarged, larger, 200, ""), RECORDS)
    assert values.tolist() == integer_values(quantise(flat, shape, 200, ""), RECORDS).tolist()
    assert larger.parts(enlarged)[0][:, shape.width :].std() > 0.01  # else the new neurons would learn nothing
    assert enlarge(flat, shape, shape, 2).tolist() == flat.tolist()


def test_weights_are_rounded_and_clipped() -> None:
    shape = Shape(16, 1, True)
    flat = np.zeros(shape.size, np.float32)
    flat[:4] = 5.0, -5.0, 0.5 / 255 + 1e-4, -1.0
    network = quantise(flat, shape, 200, "")
    assert network.feature_weights[0, :4].tolist() == [round(LIMIT * 255), -round(LIMIT * 255), 1, -255]
    again = dequantise(network)
    assert np.allclose(again, np.clip(flat, -LIMIT, LIMIT), atol=0.5 / 255)
    assert quantise(again, shape, 200, "").feature_weights.tolist() == network.feature_weights.tolist()
