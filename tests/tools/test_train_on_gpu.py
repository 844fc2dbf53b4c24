"""The training on a graphics card: what it checks before it needs the card."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "old.nnue"], "old.nnue already exists: give --force to overwrite it"),
        (["--out", "new.nnue", "--weights", "old.npz"], "old.npz already exists: give --force to overwrite it"),
        (
            ["--out", "new.npz", "--weights", "./new.npz"],
            "--weights new.npz: this is also the file of --out, so it is not overwritten",
        ),
        (["--out", "old.nnue", "--force"], "there is no folder "),
    ],
)
def test_a_file_is_overwritten_only_by_force(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "torch", MagicMock())
    import train_on_gpu

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train_on_gpu.py", "games", *words])
    for name in ("old.nnue", "old.npz"):
        Path(name).write_text("mine")
    assert train_on_gpu.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"train_on_gpu: {message}")
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"old.nnue": "mine", "old.npz": "mine"}
