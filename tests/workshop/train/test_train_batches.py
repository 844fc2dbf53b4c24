"""Batches: passes without gaps or repetitions, and distilled positions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from train_data import packed, random_boards

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.library.arrays import evaluate_many
from knightadder.workshop.train import batches
from knightadder.workshop.train.batches import Distiller, Mixture, Stream
from knightadder.workshop.train.kernels import NO_RESULT

RECORDS = packed(random_boards(1, 640))


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


def numbered(count: int) -> np.ndarray:
    records = np.zeros(count, PACKED)
    records["occupied"] = np.arange(count)
    return records


def test_a_pass_has_every_position_once() -> None:
    stream, count = Stream(numbered(640), 1), 640
    passes = [stream.take(number * count, count)["occupied"].tolist() for number in range(3)]
    for one in passes:
        assert sorted(one) == list(range(count))
    assert len({tuple(one) for one in passes}) == 3


def test_the_stream_is_the_same_in_any_pieces() -> None:
    whole = Stream(numbered(256), 1).take(0, 1000)
    for size in (1, 7, 64, 300):
        stream = Stream(numbered(256), 1)
        pieces = [stream.take(first, min(size, 1000 - first)) for first in range(0, 1000, size)]
        assert np.concatenate(pieces).tobytes() == whole.tobytes()
    assert Stream(numbered(256), 1).take(700, 300).tobytes() == whole[700:].tobytes()
    assert Stream(numbered(256), 2).take(0, 1000).tobytes() != whole.tobytes()


@pytest.mark.parametrize("count", [1, 63, 65, 129])
def test_few_positions(count: int) -> None:
    taken = Stream(numbered(count), 1).take(0, 500)
    assert len(taken) == 500
    assert len(set(taken["occupied"].tolist())) == (count // 64 * 64 or count)


def test_nothing_can_be_taken() -> None:
    assert len(Stream(numbered(64), 1).take(5, 0)) == 0


@pytest.mark.parametrize("evaluation", ["classical", "pesto", "nnue"])
def test_distilled_positions_have_the_evaluation_as_score(evaluation: str, pool: ThreadPoolExecutor) -> None:
    records = Distiller(evaluation, RECORDS, 2000, 1).take(0, 300, pool)
    assert set(records["spare"].tolist()) == {NO_RESULT}
    assert records["score"].tolist() == evaluate_many(records, evaluation, workers=1).tolist()
    assert abs(records["score"]).max() < 2000


def test_distilled_batches_depend_on_their_number_only(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_BLOCK", 50)
    distiller = Distiller("pesto", RECORDS, 3000, 1)
    first, second = (distiller.take(number, 220, pool) for number in (0, 1))
    assert second.tobytes() != first.tobytes()
    assert first[:50].tobytes() != first[50:100].tobytes()
    with ThreadPoolExecutor(1) as other:
        assert Distiller("pesto", RECORDS, 3000, 1).take(1, 220, other).tobytes() == second.tobytes()
    with pytest.raises(OptionError, match="hardly any position is suitable"):
        Distiller("pesto", RECORDS, 0, 1).take(0, 10, pool)


@pytest.mark.parametrize(("share", "distilled"), [(0.0, 0), (0.25, 25), (1.0, 100)])
def test_the_mixture_has_its_share(share: float, distilled: int, pool: ThreadPoolExecutor) -> None:
    mixture = Mixture(Stream(RECORDS, 1), Distiller("pesto", RECORDS, 3000, 1), 100, share, pool)
    for number in range(3):
        batch = mixture.batch(number)
        assert len(batch) == 100
        assert (batch["spare"] == NO_RESULT).sum() == distilled
    own = np.concatenate([mixture.batch(number) for number in range(3)])
    own = own[own["spare"] != NO_RESULT]
    assert own.tobytes() == Stream(RECORDS, 1).take(0, len(own)).tobytes()


def test_a_mixture_of_games_only(pool: ThreadPoolExecutor) -> None:
    assert (
        Mixture(Stream(RECORDS, 1), None, 100, 0.5, pool).batch(2).tobytes()
        == Stream(RECORDS, 1).take(200, 100).tobytes()
    )
