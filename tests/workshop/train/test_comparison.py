"""The comparison with the classical evaluation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from train_data import boards_of_games, packed, plain_value

from knightadder.core.board.packed import PACKED
from knightadder.engine.evaluator import BUILT_IN_FILE, load_network
from knightadder.library.arrays import evaluate_many
from knightadder.workshop.train.comparison import compare
from knightadder.workshop.train.weights import Shape, initial_weights, quantise

SHAPE = Shape(16, 1, True)
NETWORK = quantise(initial_weights(SHAPE, 1), SHAPE, 400, "")


def test_it_tells_both_sides_views() -> None:
    boards = boards_of_games(1, 200)
    records = packed(boards)
    records["rule50"] = 0
    records["score"] = evaluate_many(records, "classical")
    records["rule50"] = 60  # which makes no difference
    near = abs(records["score"]) < 600
    found = re.findall(r"(\w+): mean \|value\| (\d+) centipawns, correlation (-?[\d.]+)", compare(NETWORK, records))
    assert [name for name, _, _ in found] == ["network", "classical"]
    values = [plain_value(NETWORK, board) for board, is_near in zip(boards, near, strict=True) if is_near]
    assert int(found[0][1]) == round(np.mean(np.abs(values)))
    assert int(found[1][1]) == round(np.mean(np.abs(records["score"][near].astype(float))))
    assert float(found[1][2]) == 1.0  # it is compared with itself
    assert abs(float(found[0][2])) < 0.9


def test_the_built_in_network_s_centipawns_are_the_classical_ones() -> None:
    records = packed([board for board in boards_of_games(1, 3000) if not board.is_check()])
    records["score"] = evaluate_many(records, "classical")
    told = compare(load_network(BUILT_IN_FILE), records)
    network, classical = (int(number) for number in re.findall(r"\|value\| (\d+) centipawns", told))
    assert network == pytest.approx(classical, rel=0.12)


def test_too_few_positions() -> None:
    assert compare(NETWORK, np.empty(0, PACKED)) == "there are too few positions to compare"
    assert "correlation 0.0" in compare(NETWORK, packed(boards_of_games(1, 1)).repeat(2))
