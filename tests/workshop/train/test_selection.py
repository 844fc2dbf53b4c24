"""The positions of a run: whole games are held out, and the rest is complete."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from train_data import games_folder

from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.train import selection as module
from knightadder.workshop.train.selection import SelectedGames, Targets, choose, has_positions, load_positions, split

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
    targets = Targets(later, 200)
    choose(games, WANTED, most, targets, folder, seed)
    assert has_positions(folder)
    selection, validation = load_positions(folder)
    reader = SelectedGames(games, selection, WANTED, targets)
    training = reader.training(range(len(reader.moves)))
    assert selection.positions == pytest.approx(len(training), rel=0.02)
    return training, validation


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


def test_the_choice_is_repeatable(games: Path, tmp_path: Path) -> None:
    first, second, other = (run([games], tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert first[0].tobytes() == second[0].tobytes()
    assert first[1].tobytes() == second[1].tobytes()
    assert rows(other[1]) == rows(first[1])  # held out whatever the seed
    moves = first[1]["fullmove"].astype(int)
    assert abs(np.corrcoef(moves[1:], moves[:-1])[0, 1]) < 0.3


def test_a_limit_takes_the_first_chunks(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run([games], tmp_path / "whole")[0]
    share = 0.5 * len(whole)
    part = run([games], tmp_path / "run", round(share))[0]
    assert 0.3 * len(whole) < len(part) <= 1.1 * share
    assert part.tobytes() == whole[: len(part)].tobytes()
    monkeypatch.setattr(module, "_MOST_VALIDATION", 10)
    assert len(run([games], tmp_path / "other")[1]) == 10


def test_several_folders_are_used_in_proportion(games: Path, tmp_path: Path) -> None:
    other = games_folder(tmp_path / "games", 5, seed=2)
    both, first, second = (
        rows(run(folders, tmp_path / name, most)[0])
        for folders, name, most in (([games, other], "both", None), ([games], "one", None), ([other], "two", None))
    )
    assert both == first | second
    half = rows(run([games, other], tmp_path / "half", len(both) // 2)[0])
    assert len(half & first) / len(first) == pytest.approx(0.4, abs=0.1)  # two of five chunks
    assert len(half & second) / len(second) == pytest.approx(0.4, abs=0.1)


def test_games_that_come_later_change_nothing(tmp_path: Path) -> None:
    games, folder = games_folder(tmp_path / "games", 3), tmp_path / "run"
    before = run([games], folder)[0]
    parts = Parts(games)
    parts.load()
    with parts.open({}):
        parts.add(parts.save(3, next(parts.read()), 20))
    selection, _ = load_positions(folder)
    reader = SelectedGames([games], selection, WANTED, Targets(0.0, 200))
    assert reader.training(range(len(reader.moves))).tobytes() == before.tobytes()


def test_scores_may_take_account_of_what_came_later(games: Path, tmp_path: Path) -> None:
    plain, mixed = run([games], tmp_path / "plain"), run([games], tmp_path / "mixed", later=0.6)
    for before, after in zip(plain, mixed, strict=True):
        assert (before["occupied"] == after["occupied"]).all()
        assert (before["score"] != after["score"]).mean() > 0.5
        # The results are chance here, and far away: they move the mean of the scores little.
        assert np.corrcoef(before["score"], after["score"])[0, 1] > 0.7


def test_what_cannot_be_used_is_refused(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="there is no folder"):
        run([tmp_path / "missing"], tmp_path / "run")
    monkeypatch.setattr(module, "_ONE_IN", 1 << 40)
    with pytest.raises(OptionError, match="too few games"):
        run([games], tmp_path / "none")
    assert not has_positions(tmp_path / "none")
    monkeypatch.setattr(module, "_ONE_IN", 10)
    run([games], tmp_path / "whole")
    for name in ("games.json", "validation.bin", "checksums.json"):
        data = (tmp_path / "whole" / name).read_bytes()
        (tmp_path / "whole" / name).write_bytes(b"")
        with pytest.raises(OptionError, match=r"\.(bin|json) is damaged"):
            load_positions(tmp_path / "whole")
        (tmp_path / "whole" / name).unlink()
        with pytest.raises(OptionError, match=rf"cannot read .*{name}"):
            load_positions(tmp_path / "whole")
        (tmp_path / "whole" / name).write_bytes(data)
