"""The command `tune texel`: what it writes, that it goes on where it stopped, and what it says to bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_texel import random_records

from knightadder.cli import main
from knightadder.core.evaluation import terms
from knightadder.core.evaluation.terms import START, TERMS, read_values
from knightadder.files import locked
from knightadder.workshop.tune import texel, texel_training

PLOT_LOSSES = texel_training.plot_losses


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few hundred positions be several blocks, and draw no curves, which takes longer than the rest."""
    monkeypatch.setattr(texel, "BLOCK", 100)
    monkeypatch.setattr(texel_training, "plot_losses", lambda losses, folder: None)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("data") / "positions.bin"
    file.write_bytes(random_records(600).tobytes())
    return file


def tune(data: Path, folder: Path, *more: str) -> int:
    out = str(folder.with_suffix(".json"))
    return main(["tune", "texel", str(data), "--state", str(folder), "--out", out, "--force", *more])


def epochs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "state.jsonl").read_text().splitlines()[1:]]


def test_it_writes_values_the_engine_reads_and_a_loss_curve(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texel_training, "plot_losses", PLOT_LOSSES)
    assert tune(data, tmp_path / "run", "--epochs", "3") == 0
    values = read_values(tmp_path / "run.json")
    assert (values != read_values()).any()
    assert (tmp_path / "run" / "loss.png").read_bytes().startswith(b"\x89PNG")
    out = capsys.readouterr().out
    assert "epoch 3/3" in out
    losses = [epoch["losses"] for epoch in epochs(tmp_path / "run")]
    assert len(losses) == 4
    assert losses[-1][0] < losses[0][0]
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["loss.png", "state.jsonl"]


def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tune(data, tmp_path / "whole", "--epochs", "4") == 0

    def stop_at_second(losses, folder):  # type: ignore[no-untyped-def]
        if len(losses) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(texel_training, "plot_losses", stop_at_second)
        assert tune(data, tmp_path / "parts", "--epochs", "4") == 130
    assert not (tmp_path / "parts.json").exists()
    assert tune(data, tmp_path / "parts", "--epochs", "4") == 0
    assert (tmp_path / "parts.json").read_text() == (tmp_path / "whole.json").read_text()


@pytest.fixture
def own_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the engine another file of values, which may be replaced."""
    file = tmp_path / "package.json"
    file.write_bytes(terms.VALUES_FILE.read_bytes())
    monkeypatch.setattr(terms, "VALUES_FILE", file)
    return file


def test_the_engine_s_values_are_replaced_only_if_asked(
    data: Path, tmp_path: Path, own_values: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, before = tmp_path / "run", own_values.read_bytes()
    command = ["tune", "texel", str(data), "--state", str(folder), "--epochs", "2"]
    assert main(command) == 0
    assert own_values.read_bytes() == before
    assert f"The values are in {folder / 'values.json'}" in capsys.readouterr().out
    tuned = (folder / "values.json").read_bytes()
    assert tuned != before

    assert main([*command, "--install"]) == 0
    assert own_values.read_bytes() == tuned
    (copy,) = folder.glob("replaced-*.json")
    assert copy.read_bytes() == before
    assert str(copy) in capsys.readouterr().out


def test_the_epoch_that_validates_best_is_kept(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = iter([(0.5, 0.5), (0.4, 0.4), (0.3, 0.3), (0.2, 0.4), (0.1, 0.45)])
    kept = []

    def note_losses(state: texel_training.State, *_: object) -> None:
        kept.append(state.values.copy())
        state._note(next(noted))

    with monkeypatch.context() as patch:
        patch.setattr(texel_training.State, "note_losses", note_losses)
        patch.setattr(texel, "settle", lambda blocks, values: values)
        assert tune(data, tmp_path / "run", "--epochs", "4") == 0
        shown = capsys.readouterr().out
        assert "lowest after epoch 2, 0.300000, and is 0.450000 after epoch 4 (overfitting:" in shown
        assert (read_values(tmp_path / "run.json") == np.rint(kept[2])).all()
        assert (np.rint(kept[2]) != np.rint(kept[4])).any()
        assert tune(data, tmp_path / "run", "--epochs", "4") == 0  # the same from the state
        assert capsys.readouterr().out.splitlines()[-2:] == shown.splitlines()[-2:]
        assert (read_values(tmp_path / "run.json") == np.rint(kept[2])).all()


def refusal(capsys: pytest.CaptureFixture[str], data: Path, folder: Path, *more: str) -> str:
    """Tune, which is to be refused, and give the line that says why."""
    capsys.readouterr()
    assert tune(data, folder, "--epochs", "1", *more) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_another_run_s_state_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1") == 0
    before = (tmp_path / "run" / "state.jsonl").read_bytes()
    start = f"knightadder: {tmp_path / 'run' / 'state.jsonl'} belongs to a run with other settings ("
    end = "): use the same, or give --restart to forget it"
    assert refusal(capsys, data, tmp_path / "run", "--rate", "3") == f"{start}rate{end}"
    other = tmp_path / "other.bin"
    other.write_bytes(data.read_bytes()[32:] + data.read_bytes()[:32])
    assert refusal(capsys, other, tmp_path / "run") == f"{start}positions{end}"
    with monkeypatch.context() as patch:
        patch.setattr(texel_training, "source_digest", lambda **_: "changed")
        assert refusal(capsys, data, tmp_path / "run") == f"{start}sources of the evaluation{end}"
    with locked(tmp_path / "run" / "state.jsonl"):
        assert refusal(capsys, data, tmp_path / "run").endswith("is in use by another run")
    assert (tmp_path / "run" / "state.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"values": [[1.0, 2.0]]}, {"mean": "x"}, {"steps": None}, {"losses": [1.0]}, {"scale": "x"}]
)
def test_a_damaged_epoch_is_named(
    data: Path, tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1") == 0
    file = tmp_path / "run" / "state.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], json.dumps({**json.loads(lines[2]), **change}), ""]))
    assert f"{file}, line 3 is damaged: " in refusal(capsys, data, tmp_path / "run")
    file.write_text("\n".join([lines[0], lines[2], ""]))
    assert refusal(capsys, data, tmp_path / "run").endswith(
        "run is damaged: epoch 0 is missing; give --restart to forget it"
    )


def test_data_that_cannot_be_used_are_refused(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def complaint(*arguments: str) -> str:
        assert main(["tune", "texel", *arguments, "--state", str(tmp_path / "run")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    torn, garbage, few = (tmp_path / name for name in ("torn.bin", "garbage.bin", "few.bin"))
    torn.write_bytes(data.read_bytes()[:-1])
    garbage.write_bytes(b"\xff" * 32 * 300)
    few.write_bytes(data.read_bytes()[: 32 * 50])
    assert "cannot read" in complaint(str(tmp_path / "none.bin"))
    assert "does not contain packed positions: expected a file from `datagen --merge`" in complaint(str(torn))
    assert "not legal" in complaint(str(garbage))
    assert "too few" in complaint(str(few))
    start = tmp_path / "start.json"
    assert complaint(str(data), "--start", str(start)).startswith(f"knightadder: cannot read {start}: ")
    for text in (json.dumps({TERMS[0].name: []}), "[" * 100_000, f'{{"tempo": [[{"9" * 5000}, 1]]}}'):
        start.write_text(text)
        refused = complaint(str(data), "--start", str(start))
        assert refused.startswith(f"knightadder: cannot read the values to start from: {start}: ")


def test_values_that_never_count_stay(data: Path, tmp_path: Path) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1") == 0
    moved = np.abs(np.array(epochs(tmp_path / "run")[-1]["values"]) - read_values())
    eighth_rank = slice(START["pawn_square"], START["pawn_square"] + 8)  # where no pawn stands
    assert (moved[eighth_rank] == 0).all()
    assert moved.max() > 0
