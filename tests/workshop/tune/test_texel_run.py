"""The command `tune texel`: what it writes, that it goes on where it stopped, and what it says to bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_texel import random_records

from knightadder.cli import main
from knightadder.core.evaluation.terms import START, TERMS, read_values
from knightadder.workshop.tune import texel, texel_training


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few hundred positions be several blocks."""
    monkeypatch.setattr(texel, "BLOCK", 100)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("data") / "positions.bin"
    file.write_bytes(random_records(600).tobytes())
    return file


def tune(data: Path, folder: Path, *more: str) -> int:
    return main(["tune", "texel", str(data), "--state", str(folder), "--out", str(folder.with_suffix(".json")), *more])


def test_it_writes_values_the_engine_reads_and_a_loss_curve(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "3") == 0
    values = read_values(tmp_path / "run.json")
    assert (values != read_values()).any()
    assert (tmp_path / "run" / "loss.png").read_bytes().startswith(b"\x89PNG")
    out = capsys.readouterr().out
    assert "epoch 3/3" in out
    with np.load(tmp_path / "run" / "state.npz") as state:
        losses = state["losses"]
    assert losses.shape == (4, 2)
    assert losses[-1, 0] < losses[0, 0]


def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tune(data, tmp_path / "whole", "--epochs", "4") == 0
    real = texel_training.plot_losses

    def stop_at_second(losses, folder):  # type: ignore[no-untyped-def]
        real(losses, folder)
        if len(losses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(texel_training, "plot_losses", stop_at_second)
    assert tune(data, tmp_path / "parts", "--epochs", "4") == 130
    assert not (tmp_path / "parts.json").exists()
    monkeypatch.setattr(texel_training, "plot_losses", real)
    assert tune(data, tmp_path / "parts", "--epochs", "4") == 0
    assert (tmp_path / "parts.json").read_text() == (tmp_path / "whole.json").read_text()


def test_k_can_be_given(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1", "--k", "0.0071") == 0
    assert "K = 0.00710" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        tune(data, tmp_path / "run", "--epochs", "1", "--k", "0")
    assert "argument --k" in capsys.readouterr().err


def test_another_run_s_state_is_refused(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1") == 0
    assert tune(data, tmp_path / "run", "--epochs", "1", "--rate", "3") == 2
    assert "belongs to another run" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no state", b"PK\x03\x04 torn"])
def test_a_broken_state_is_refused(
    data: Path, tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "state.npz").write_bytes(content)
    assert tune(data, tmp_path / "run") == 2
    assert "is not the state of a run" in capsys.readouterr().err


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
    assert "does not hold packed positions" in complaint(str(torn))
    assert "not legal" in complaint(str(garbage))
    assert "not enough" in complaint(str(few))
    (tmp_path / "start.json").write_text(json.dumps({TERMS[0].name: []}))
    assert "cannot read the values to start from" in complaint(str(data), "--start", str(tmp_path / "start.json"))


def test_values_that_never_count_stay(data: Path, tmp_path: Path) -> None:
    assert tune(data, tmp_path / "run", "--epochs", "1") == 0
    with np.load(tmp_path / "run" / "state.npz") as state:
        moved = np.abs(state["values"] - read_values())
    eighth_rank = slice(START["pawn_square"], START["pawn_square"] + 8)  # where no pawn stands
    assert (moved[eighth_rank] == 0).all()
    assert moved.max() > 0
