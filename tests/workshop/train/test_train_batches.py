"""Batches: passes without gaps or repetitions, and distilled positions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from train_data import boards_of_games, games_folder, packed

from knightadder.engine.errors import OptionError
from knightadder.library.arrays import evaluate_many
from knightadder.workshop.datagen.reader import Filter
from knightadder.workshop.train import batches
from knightadder.workshop.train.batches import Distiller, Mixture, PositionStream, ahead
from knightadder.workshop.train.kernels import NO_RESULT
from knightadder.workshop.train.selection import SelectedGames, Selection, Targets

WANTED = Filter(first_ply=4, score_below=3000, quiet=True)
RECORDS = packed(boards_of_games(1, 640))


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return games_folder(tmp_path_factory.mktemp("data") / "games", 6, games=4)


@pytest.fixture(params=[300, 10_000], ids=["several windows", "one window"])
def games(folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SelectedGames:
    monkeypatch.setattr(batches, "_WINDOW", request.param)
    return open_all(folder)


def open_all(folder: Path, wanted: Filter = WANTED) -> SelectedGames:
    return SelectedGames([folder], Selection.of([folder]), wanted, Targets(0.0, 200))


def rows(records: np.ndarray) -> list[bytes]:
    return [record.tobytes() for record in records]


def test_a_pass_has_every_position_once(games: SelectedGames) -> None:
    every = rows(games.training(range(len(games.moves))))
    with PositionStream(games, 1) as stream:
        passes = [rows(stream.take(len(every))) for _ in range(3)]
    for one in passes:
        assert sorted(one) == sorted(every)
    assert len({tuple(one) for one in passes}) == 3


def test_the_positions_of_a_game_are_scattered(games: SelectedGames) -> None:
    with PositionStream(games, 1) as stream:
        moves = stream.take(len(games.training(range(len(games.moves)))))["fullmove"].astype(int)
    assert abs(np.corrcoef(moves[1:], moves[:-1])[0, 1]) < 0.2


def test_the_stream_is_the_same_in_any_pieces(games: SelectedGames) -> None:
    count = 2 * len(games.training(range(len(games.moves))))
    with PositionStream(games, 1) as stream:
        whole = stream.take(count).tobytes()
    for size in (7, 64, 300, 1500):
        with PositionStream(games, 1) as stream:
            pieces = [stream.take(min(size, count - first)) for first in range(0, count, size)]
        assert np.concatenate(pieces).tobytes() == whole
    with PositionStream(games, 2) as stream:
        assert stream.take(count).tobytes() != whole


@pytest.mark.parametrize("before", [0, 1, 500, 1234, 2500])
def test_the_stream_goes_on_at_its_place(games: SelectedGames, before: int) -> None:
    with PositionStream(games, 1) as stream:
        stream.take(before)
        place, expected = stream.place, stream.take(700).tobytes()
    with PositionStream(games, 1, place) as stream:
        assert stream.take(700).tobytes() == expected


def test_games_without_positions_are_told(folder: Path) -> None:
    with pytest.raises(OptionError, match="the games have no positions for training"):
        PositionStream(open_all(folder, Filter(900, 3000, True)), 1)


def test_games_that_were_damaged_meanwhile_are_told(tmp_path: Path) -> None:
    games = open_all(games_folder(tmp_path / "games", 1))
    file = tmp_path / "games" / "chunk-000000.vf"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OptionError, match=r"chunk-000000.vf is damaged"):
        PositionStream(games, 1)
    file.unlink()
    with pytest.raises(OptionError, match=r"cannot read .*chunk-000000.vf"):
        PositionStream(games, 1)


def test_what_is_made_ahead_comes_in_order() -> None:
    numbers = iter(range(5))
    with contextlib.closing(ahead(lambda: next(numbers), 2)) as made:
        assert [next(made) for _ in range(3)] == [0, 1, 2]
    broken = ahead(lambda: 1 // 0, 3)
    with pytest.raises(ZeroDivisionError):
        next(broken)


@pytest.mark.parametrize("evaluation", ["classical", "pesto", "nnue"])
def test_distilled_positions_have_the_evaluation_as_score(evaluation: str, pool: ThreadPoolExecutor) -> None:
    records = Distiller(evaluation, 2000, 1).take(RECORDS, 0, 300, pool)
    assert set(records["spare"].tolist()) == {NO_RESULT}
    assert records["score"].tolist() == evaluate_many(records, evaluation, workers=1).tolist()
    assert abs(records["score"]).max() < 2000


def test_distilled_batches_depend_on_their_number_and_source_only(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_BLOCK", 50)
    distiller = Distiller("pesto", 3000, 1)
    first, second = (distiller.take(RECORDS, number, 220, pool) for number in (0, 1))
    assert second.tobytes() != first.tobytes()
    assert first[:50].tobytes() != first[50:100].tobytes()
    with ThreadPoolExecutor(1) as other:
        assert Distiller("pesto", 3000, 1).take(RECORDS, 1, 220, other).tobytes() == second.tobytes()
    with pytest.raises(OptionError, match="hardly any position is suitable"):
        Distiller("pesto", 0, 1).take(RECORDS, 0, 10, pool)


@pytest.mark.parametrize(("share", "distilled"), [(0.0, 0), (0.25, 25), (1.0, 100)])
def test_the_mixture_has_its_share(
    games: SelectedGames, share: float, distilled: int, pool: ThreadPoolExecutor
) -> None:
    with PositionStream(games, 1) as stream, PositionStream(games, 1) as alone:
        mixture = Mixture(stream, Distiller("pesto", 3000, 1), 100, share, pool)
        for number in range(3):
            batch, place = mixture.batch(number)
            own = batch[batch["spare"] != NO_RESULT]
            assert (len(batch), len(batch) - len(own)) == (100, distilled)
            assert own.tobytes() == alone.take(100)[: len(own)].tobytes()
            assert place == alone.place


def test_a_mixture_of_games_only(games: SelectedGames, pool: ThreadPoolExecutor) -> None:
    with PositionStream(games, 1) as stream, PositionStream(games, 1) as alone:
        assert Mixture(stream, None, 100, 0.5, pool).batch(0)[0].tobytes() == alone.take(100).tobytes()
