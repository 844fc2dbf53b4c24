"""Pictures of networks: what they say is true, by a network's value in plain Python, and it stands where it belongs."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from train_data import boards_of_games, packed, plain_features, plain_value

from knightadder.workshop.train.pictures import NetworkStatistics, choose, draw_worth, look, worth_by_square
from knightadder.workshop.train.weights import Flat, Shape, dequantise, quantise

SHAPES = [Shape(16, 1, True), Shape(32, 8, True), Shape(16, 1, False), Shape(16, 2, True, 4)]


def random_weights(shape: Shape) -> Flat:
    """Give weights that saturate some sums, as integers have them."""
    flat = np.random.default_rng(1).normal(0, 0.3, shape.size).astype(np.float32)
    return dequantise(quantise(flat, shape, 200, ""))


def sample_of(worth: list[tuple[float, int, int]], shares: np.ndarray, moves: list[float]) -> NetworkStatistics:
    """Give a sample with men, each with its worth, type and square, and what neurons do."""
    numbers, kinds, squares = map(np.array, zip(*worth, strict=True))
    outputs = np.array([np.linspace(-1, 1, len(moves)), np.linspace(0.25, -0.25, len(moves))])
    return NetworkStatistics(numbers, kinds, squares, shares, np.full(len(moves), 0.5), np.array(moves), outputs)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_worth_of_a_man_is_what_the_value_loses_without_it(shape: Shape) -> None:
    boards, weights = boards_of_games(2, 300)[::30], random_weights(shape)
    network = quantise(weights, shape, 200, "")
    expected = []
    for board in boards:
        for square, man in sorted(board.piece_map().items()):
            if man.piece_type != chess.KING:
                without = board.copy()
                without.remove_piece_at(square)
                sign = 1 if man.color == board.turn else -1
                seen = square if man.color == chess.WHITE else chess.square_mirror(square)
                lost = sign * (plain_value(network, board) - plain_value(network, without))
                expected.append((lost, man.piece_type - 1, seen))
    sample = look(weights, shape, 200, packed(boards))
    worth, kinds, squares = zip(*expected, strict=True)
    assert sample.kinds.tolist() == list(kinds) and sample.squares.tolist() == list(squares)
    assert sample.worth == pytest.approx(worth, abs=2.5)  # integers are rounded down, twice
    assert np.std(worth) > 20


@pytest.mark.parametrize("shape", SHAPES)
def test_what_neurons_do(shape: Shape) -> None:
    boards, weights, neuron = boards_of_games(3, 600), random_weights(shape), 5
    feature_weights, feature_biases, output_weights, output_biases = shape.parts(weights)
    output_weights[:, :, np.arange(shape.width) != neuron] = 0
    output_biases[:] = 0
    sample = look(weights, shape, 200, packed(boards))  # in several blocks
    network = quantise(weights, shape, 200, "")
    assert sample.moves[neuron] == pytest.approx(np.std([plain_value(network, board) for board in boards]), abs=1)
    assert sample.moves[neuron] > 5 and np.delete(sample.moves, neuron).max() == 0
    seen = shape.mirrored, shape.king_buckets
    views = [np.array(plain_features(board, side, *seen)) for board in boards for side in chess.COLORS]
    counts = np.bincount(np.concatenate(views) % 768, minlength=768)
    assert sample.shares == pytest.approx(counts / len(views))
    on = np.mean([feature_biases + feature_weights[features].sum(axis=0) > 0 for features in views], axis=0)
    assert sample.active == pytest.approx(on, abs=0.01)
    used = [(len(board.piece_map()) - 2) // -(-32 // shape.buckets) for board in boards]
    assert sample.outputs == pytest.approx(output_weights[used].mean(axis=0), abs=1e-5)


def test_neurons_that_differ_are_chosen() -> None:
    weights, shares = np.zeros((768, 4)), np.zeros(768)
    shares[:3] = 0.25, 0.25, 0.01
    weights[0, :2] = 1, 3  # both look for the same
    weights[1, 2] = 0.1
    weights[:3, 3] = 1, 0, 1  # where it differs is rare
    sample = sample_of([(0, 0, 0)], shares, [20, 19, 3, 10])
    assert choose(weights, sample, 3) == [0, 2, 3]
    assert sorted(choose(weights, sample, 4)) == [0, 1, 2, 3]


def test_worth_is_shown_on_the_squares_where_men_stood() -> None:
    knights = [(300.0 + 10 * (number % 2), 1, chess.C3) for number in range(40)]
    few = [(100.0, 1, chess.A1)]
    pawns = [(90.0, 0, chess.E4)] * 30 + [(150.0, 0, chess.H7)] * 30
    sample = sample_of(knights + few + pawns, np.zeros(768), [1.0])
    boards, means = worth_by_square(sample)
    assert boards[1, 2, 2] == 305 and boards[0, 3, 4] == 90 and boards[0, 6, 7] == 150
    assert np.isfinite(boards).sum() == 3
    assert means[0] == 120 and means[1] == (40 * 305 + 100) / 41 and np.isnan(means[2:]).all()
    axes = draw_worth(sample).axes
    assert [one.get_title() for one in axes[:3]] == ["pawn: 120 on average", "knight: 300 on average", "bishop"]
    assert {(text.get_position(), text.get_text()) for text in axes[0].texts} == {((4, 3), "90"), ((7, 6), "150")}
    assert axes[0].images[0].get_array()[6, 7] == 30
