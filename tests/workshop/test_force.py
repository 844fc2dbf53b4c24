"""The commands that write a file overwrite an existing one only with ``--force``."""

from __future__ import annotations

from pathlib import Path

import pytest

from knightadder.cli import main
from knightadder.workshop.train import run as train_run
from knightadder.workshop.train import selection
from knightadder.workshop.tune import texel, texel_training

_TRAIN = ("train", "games", "--width", "16", "--batch", "100", "--epochs", "1", "--threads", "1")
_SPSA = ("tune", "spsa", "--parameters", "razoring_margin", "--iterations", "1", "--nodes", "60", "--hash", "1")
COMMANDS = {
    "train": ((*_TRAIN, "--state", "run", "--out"), "out.nnue"),
    "export": (("train", "--state", "trained", "--export"), "out.npz"),
    "import": (("train", "--import", "weights.npz", "--out"), "out.nnue"),
    "pictures": (("train", "games", "--plot", "weights.npz", "--out", "."), "network-neurons.png"),
    "datagen": (("datagen", "games", "--merge"), "out.bin"),
    "texel": (("tune", "texel", "data.bin", "--state", "run", "--epochs", "1", "--out"), "out.json"),
    "spsa": ((*_SPSA, "--plot"), "out.png"),
    "suite": (("suite", "in.epd", "--nodes", "50", "--json"), "out.json"),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(selection, "_ONE_IN", 10)
        made = "datagen", "games", "--positions", "1", "--nodes", "2", "--concurrency", "1", "--merge", "data.bin"
        assert main(made) == 0
        assert main([*_TRAIN, "--state", "trained"]) == 0
        assert main(["train", "--state", "trained", "--export", "weights.npz"]) == 0
    (folder / "in.epd").write_text('6k1/5ppp/8/8/8/8/8/R6K w - - bm Ra8#; id "one";\n')
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_is_overwritten_only_by_force(
    name: str,
    inputs: Path,
    tmp_path: Path,
    inline_pool: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, output = COMMANDS[name]
    command = [*words, *[output] * (words[-1] != ".")]
    for entry in inputs.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(selection, "_ONE_IN", 10)
    monkeypatch.setattr(train_run.Losses, "plot", lambda losses, folder: None)
    monkeypatch.setattr(texel, "BLOCK", 100)
    monkeypatch.setattr(texel_training, "plot_losses", lambda losses, folder: None)
    out = Path(output)
    out.write_text("mine")
    before = sorted(tmp_path.iterdir())
    assert main(command) == 2
    assert capsys.readouterr() == ("", f"knightadder: {out} already exists: give --force to overwrite it\n")
    assert (sorted(tmp_path.iterdir()), out.read_text()) == (before, "mine")
    assert main([*command, "--force"]) == 0
    assert out.read_bytes() != b"mine"


def test_the_same_command_redraws_the_picture_of_its_run(tmp_path: Path, inline_pool: None) -> None:
    command = [*_SPSA, "--state", str(tmp_path / "state.jsonl"), "--plot", str(tmp_path / "out.png")]
    assert [main(command), main(command)] == [0, 0]
