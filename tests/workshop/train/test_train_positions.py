"""The positions of a run: whole games are held out, the rest is complete and shuffled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from train_data import games_folder

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.train import positions as module
from knightadder.workshop.train.positions import Targets, gather, has_positions, load_positions, split

WANTED = Filter(first_ply=4, score_below=3000, quiet=True)


@pytest.fixture(autouse=True)
def more_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ONE_IN", 10)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return games_folder(tmp_path_factory.mktemp("data") / "games", 5)


def chunks(folder: Path) -> list[np.ndarray]:
    parts = Parts(folder)
    parts.load()
    return list(parts.read())


def run(
    games: list[Path], folder: Path, most: int | None = None, seed: int = 1, later: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    folder.mkdir()
    assert not has_positions(folder)
    moves: list[int] = []
    gather(games, WANTED, most, Targets(later, 200), folder, seed, moves.append)
    assert moves == sorted(moves)
    assert has_positions(folder)
    found = load_positions(folder)
    return np.array(found.training), found.validation


def rows(records: np.ndarray) -> set[bytes]:
    data = records.tobytes()
    return {data[place : place + 32] for place in range(0, len(data), 32)}


def test_games_are_held_out_whole(games: Path) -> None:
    reader, shares = Reader(), []
    for number, words in enumerate(chunks(games)):
        training, validation = split(words, number)
        assert sum(reader.count(part)[0] for part in (training, validation)) == 20
        assert len(training) + len(validation) == len(words)
        both = np.concatenate([reader.read(part, Filter(0, 32_769, False)) for part in (training, validation)])
        assert rows(both) == rows(reader.read(words, Filter(0, 32_769, False)))
        shares.append(reader.count(validation)[0])
    assert 3 <= sum(shares) <= 25
    assert len(set(shares)) > 1  # the choice depends on the chunk, too


def test_nothing_is_lost(games: Path, tmp_path: Path) -> None:
    training, validation = run([games], tmp_path / "run")
    reader = Reader()
    everything = np.concatenate([reader.read(words, WANTED) for words in chunks(games)])
    bare = lambda records: {row[:25] for row in rows(records)}  # noqa: E731
    assert bare(training) | bare(validation) == bare(everything)
    assert rows(training) | rows(validation) <= rows(everything)
    assert len(training) > 5 * len(validation) > 0


def test_the_order_is_random_and_repeatable(games: Path, tmp_path: Path) -> None:
    first, second, other = (run([games], tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert first[0].tobytes() == second[0].tobytes()
    assert first[1].tobytes() == second[1].tobytes()
    assert other[0].tobytes() != first[0].tobytes()
    assert rows(other[1]) == rows(first[1])  # held out whatever the seed
    moves = first[0]["fullmove"].astype(int)
    assert abs(np.corrcoef(moves[1:], moves[:-1])[0, 1]) < 0.2


def test_a_limit(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training, _ = run([games], tmp_path / "run", 300)
    assert 250 < len(training) <= 300  # less what is there twice
    monkeypatch.setattr(module, "_MOST_VALIDATION", 10)
    assert len(run([games], tmp_path / "other")[1]) == 10


def test_several_folders_are_mixed(games: Path, tmp_path: Path) -> None:
    other = games_folder(tmp_path / "games", 2, seed=2)
    both, one = run([games, other], tmp_path / "both")[0], run([games], tmp_path / "one")[0]
    assert len(both) > 1.2 * len(one)


def test_a_limit_is_shared_by_the_folders_in_proportion(games: Path, tmp_path: Path) -> None:
    other = games_folder(tmp_path / "games", 5, seed=2)
    first, second = run([games], tmp_path / "first")[0], run([other], tmp_path / "second")[0]
    both, _ = run([games, other], tmp_path / "both", 600)
    assert len(rows(both) & rows(first)) == pytest.approx(300, abs=30)  # less what is there twice
    assert len(rows(both) & rows(second)) == pytest.approx(300, abs=30)


def test_scores_may_take_account_of_what_came_later(games: Path, tmp_path: Path) -> None:
    plain, mixed = run([games], tmp_path / "plain"), run([games], tmp_path / "mixed", later=0.6)
    for before, after in zip(plain, mixed, strict=True):
        assert (before["occupied"] == after["occupied"]).all()
        assert (before["score"] != after["score"]).mean() > 0.5
        # The results are chance here, and far away: they move the mean of the scores little.
        assert np.corrcoef(before["score"], after["score"])[0, 1] > 0.7


@pytest.mark.parametrize("name", ["training.bin", "validation.bin", "checksums.json"])
def test_a_flipped_bit_is_noticed(games: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    run([games], folder)
    data = bytearray((folder / name).read_bytes())
    data[-40] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(OptionError, match=r"\.(bin|json) is damaged: remove the folder to begin again$"):
        load_positions(folder)
    (folder / "checksums.json").unlink()  # as in a run of an older version, which goes on
    load_positions(folder)


def test_what_cannot_be_used_is_refused(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="there are no games in"):
        run([tmp_path / "missing"], tmp_path / "run")
    monkeypatch.setattr(module, "_ONE_IN", 1 << 40)
    with pytest.raises(OptionError, match="too few games"):
        run([games], tmp_path / "none")
    assert not has_positions(tmp_path / "none")
    for content in (b"", bytes(33)):
        (tmp_path / "none" / "training.bin").write_bytes(content)
        with pytest.raises(OptionError, match=r"training.bin is damaged"):
            load_positions(tmp_path / "none")
    (tmp_path / "none" / "training.bin").write_bytes(bytes(PACKED.itemsize))
    with pytest.raises(OptionError, match=r"cannot read .*validation.bin"):
        load_positions(tmp_path / "none")
