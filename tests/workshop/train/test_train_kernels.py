"""The compiled loops: features, gradients, steps, and that training learns something."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from train_data import boards_of_games, packed, placements, plain_features

from knightadder.core.board.viriformat import NO_SCORE
from knightadder.core.evaluation.network_file import king_views
from knightadder.workshop.train.kernels import NO_RESULT, list_features, mix_in_later_scores
from knightadder.workshop.train.trainer import Trainer
from knightadder.workshop.train.weights import LIMIT, Shape, initial_weights

BOARDS = boards_of_games(1, 600)
RECORDS = packed(BOARDS)


@pytest.fixture(
    params=[Shape(16, 1, True), Shape(16, 8, False), Shape(16, 2, True, 4)], ids=["mirrored", "buckets", "king buckets"]
)
def shape(request: pytest.FixtureRequest) -> Shape:
    shape: Shape = request.param
    return shape


@pytest.fixture
def trainer(shape: Shape) -> Iterator[Trainer]:
    with Trainer(shape, initial_weights(shape, 1), 2, 300, 0.3) as trainer:
        yield trainer


@pytest.mark.parametrize(("mirrored", "king_buckets"), [(True, 1), (False, 1), (True, 4)])
def test_features_are_those_of_the_description(mirrored: bool, king_buckets: int) -> None:
    for board, record in zip(BOARDS, RECORDS, strict=True):
        codes, squares, own, other = np.zeros((4, 64), np.int64)
        count = list_features(record, king_views(mirrored, king_buckets), codes, squares, own, other)
        assert sorted(own[:count]) == sorted(plain_features(board, board.turn, mirrored, king_buckets))
        assert sorted(other[:count]) == sorted(plain_features(board, not board.turn, mirrored, king_buckets))


def plain_returns(scores: list[int], result: int, later: float, scale: float) -> list[float]:
    """Compute the expected results that λ-returns stand for, from the sum that defines them, White's view."""
    own = [1 / (1 + math.exp(-score / scale)) for score in scores if score != NO_SCORE]
    returns = []
    for place in range(len(own)):
        rest = own[place:]
        returns.append(
            (1 - later) * sum(later**steps * value for steps, value in enumerate(rest))
            + later ** len(rest) * result / 2
        )
    return returns


def test_scores_are_mixed_with_those_that_came_later() -> None:
    games = [([30, -70, int(NO_SCORE), 200, 2999, -31_990], 0), ([], 2), ([0], 2), ([-500, 40], 1)]
    words, places = [], []
    for scores, result in games:
        words += [1 << 30, 5, 6, 7, 8, 9, 10, result << 16 | 77]
        places.append(len(words))
        words += [(1000 + number) | (score & 0xFFFF) << 16 for number, score in enumerate(scores)] + [0]
    mixed = np.array(words, np.uint32)
    mix_in_later_scores(mixed, 0.6, 200.0, 3000)
    changed = np.zeros(len(words), bool)
    for (scores, result), place in zip(games, places, strict=True):
        expected = iter(plain_returns(scores, result, 0.6, 200.0))
        for number, score in enumerate(scores):
            found = int(mixed[place + number]) >> 16
            found -= 0x10000 if found >= 0x8000 else 0
            assert int(mixed[place + number]) & 0xFFFF == 1000 + number
            if score == NO_SCORE:
                assert found == NO_SCORE
                continue
            value = next(expected)
            if abs(score) >= 3000:
                assert found == score  # is not used
            else:
                assert found == round(200 * math.log(value / (1 - value)))
                changed[place + number] = True
    assert (mixed[~changed] == np.array(words, np.uint32)[~changed]).all()


def plain_loss(trainer: Trainer, flat: np.ndarray, records: np.ndarray, exponent: float, result_share: float) -> float:
    """Compute the mean loss in double precision, by a formula at a time."""
    weights, biases, outputs, output_biases = trainer.shape.parts(flat)
    total = 0.0
    for board, record in zip(BOARDS, records, strict=False):
        bucket = (len(board.piece_map()) - 2) // -(-32 // trainer.shape.buckets)
        value = output_biases[bucket]
        for half, side in enumerate((board.turn, not board.turn)):
            sums = biases + weights[
                plain_features(board, side, trainer.shape.mirrored, trainer.shape.king_buckets)
            ].sum(axis=0)
            value += (np.clip(sums, 0, 1) ** 2 * outputs[bucket, half]).sum()
        sign = 1 if board.turn else -1
        result = 0.5 + sign * (record["result"] / 2 - 0.5)
        share = 0.0 if record["spare"] == NO_RESULT else result_share
        target = share * result + (1 - share) / (1 + math.exp(-sign * record["score"] / 300))
        total += abs(1 / (1 + math.exp(-value)) - target) ** exponent
    return total / len(records)


@pytest.mark.parametrize("exponent", [2.0, 1.0, 2.5])
def test_loss_and_gradient_are_those_of_the_formula(shape: Shape, exponent: float) -> None:
    with Trainer(shape, initial_weights(shape, 1), 2, 300, 0.3, exponent) as trainer:
        _check_gradient(trainer, exponent)


def _check_gradient(trainer: Trainer, exponent: float) -> None:
    records = RECORDS[:60].copy()
    records["spare"][::3] = NO_RESULT
    weights = trainer.shape.parts(trainer.weights)[0]
    weights[:] = np.rint(5120 * weights) / 1024  # many sums are beyond 0 and 1, and the weights have no rounding error
    flat = trainer.weights.astype(float)
    assert trainer.loss(records) == pytest.approx(plain_loss(trainer, flat, records, exponent, 0.3), rel=1e-5)
    assert trainer.squared_error(records) == pytest.approx(plain_loss(trainer, flat, records, 2.0, 0.0), rel=1e-5)
    gradient = trainer.gradient(records)
    chance = np.random.default_rng(1)
    steepest = np.argsort(-abs(gradient))[:5]
    places = np.concatenate([steepest, chance.choice(np.flatnonzero(gradient), 10), [0, trainer.shape.size - 1]])
    for place in places:
        step = 1e-4
        ends = []
        for way in (-step, step):
            moved = flat.copy()
            moved[place] += way
            ends.append(plain_loss(trainer, moved, records, exponent, 0.3))
        assert gradient[place] == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=2e-2, abs=1e-7)


def test_a_step_is_adamw(trainer: Trainer) -> None:
    rate, mean, square = 0.01, np.zeros(trainer.shape.size), np.zeros(trainer.shape.size)
    expected = trainer.weights.astype(float)
    for step in range(1, 4):
        slope = trainer.gradient(RECORDS)
        trainer.step(RECORDS, rate)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope.astype(float) ** 2
        change = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        expected -= rate * (change + 0.01 * expected)
        large = abs(slope) > 1e-7  # where rounding does not decide the direction
        assert np.allclose(trainer.weights[large], expected[large], atol=1e-4)
        expected = trainer.weights.astype(float)
    assert trainer.steps == 3


def test_averaged_weights_follow_the_weights(shape: Shape) -> None:
    first = initial_weights(shape, 1)
    with Trainer(shape, first.copy(), 2, 300, 0.3, average=64) as trainer:
        expected, least = first.astype(float), 1 - math.exp(-16 / 64)
        for step in range(1, 129):
            trainer.step(RECORDS[:100], 0.01)
            if step % 16 == 0:
                expected += max(least, 16 / step) * (trainer.weights - expected)
        assert np.allclose(trainer.averaged, expected, atol=1e-5)
        assert abs(trainer.averaged - trainer.weights).max() > 0.01
        assert trainer.squared_error(RECORDS, averaged=True) != trainer.squared_error(RECORDS)


def test_the_average_over_more_steps_than_there_are_is_the_plain_mean(shape: Shape) -> None:
    with Trainer(shape, initial_weights(shape, 1), 2, 300, 0.3, average=10_000) as trainer:
        seen = []
        for step in range(1, 65):
            trainer.step(RECORDS[:100], 0.01)
            if step < 16:
                assert np.allclose(trainer.averaged, trainer.weights, atol=1e-5)
            elif step % 16 == 0:
                seen.append(trainer.weights.copy())
        assert np.allclose(trainer.averaged, np.mean(seen, axis=0), atol=1e-5)


def test_weights_are_clipped(trainer: Trainer) -> None:
    for _ in range(3):
        trainer.step(RECORDS, 5.0)
    assert abs(trainer.weights).max() == np.float32(LIMIT)


def test_damaged_records_give_no_index_out_of_range(trainer: Trainer) -> None:
    chance = np.random.default_rng(1)
    records = np.frombuffer(chance.bytes(32 * 500) + bytes(32) + b"\xff" * 32, RECORDS.dtype).copy()
    for record in records:
        codes, squares, own, other = np.zeros((4, 64), np.int64)
        count = list_features(record, trainer.shape.views, codes, squares, own, other)
        assert count == int(record["occupied"]).bit_count()
        assert min(own.min(), other.min()) >= 0
        assert max(own.max(), other.max()) < 768 * trainer.shape.king_buckets
    assert np.isfinite(trainer.loss(records))


def trained(threads: int, steps: int = 5) -> np.ndarray:
    shape = Shape(32, 1, True)
    with Trainer(shape, initial_weights(shape, 1), threads, 300, 0.0) as trainer:
        for _ in range(steps):
            trainer.step(RECORDS, 0.01)
        return trainer.weights


def test_the_same_threads_give_the_same_weights() -> None:
    assert trained(3).tobytes() == trained(3).tobytes()
    assert np.allclose(trained(3), trained(1), atol=1e-3)


def test_it_learns_to_count_material() -> None:
    """A hundred steps teach what material is worth, also in positions that were not trained on."""
    training, others, shape = placements(1, 4000), placements(2, 500), Shape(16, 1, True)
    with Trainer(shape, initial_weights(shape, 1), 1, 600, 0.0) as trainer:
        chance = np.random.default_rng(1)
        assert trainer.loss(others) > 0.05
        for _ in range(100):
            trainer.step(chance.choice(training, 1024), 0.01)
        assert trainer.loss(others) < 0.005
        values = trainer.values(others)
    seen = others["score"] * np.where(others["stm_ep"] >> 7, -1, 1)
    assert np.corrcoef(values, seen)[0, 1] > 0.9
