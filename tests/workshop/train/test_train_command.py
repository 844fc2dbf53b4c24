"""The command `train`: what it writes, that it goes on where it stopped, and what it says to bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from train_data import boards_of_games, games_folder, packed

from knightadder.cli import build_parser, main
from knightadder.core.evaluation.network_file import read_network
from knightadder.engine.evaluator import BUILT_IN_FILE
from knightadder.files import locked
from knightadder.workshop.train import run, selection
from knightadder.workshop.train.command import settings_of
from knightadder.workshop.train.exchange import write_arrays
from knightadder.workshop.train.integer_model import integer_values
from knightadder.workshop.train.run import Losses, TrainSettings, weights_of
from knightadder.workshop.train.weights import Shape, initial_weights, quantise

PLOT = Losses.plot


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let some hundred positions be enough for several checkpoints, and draw no curves."""
    monkeypatch.setattr(selection, "_ONE_IN", 10)
    monkeypatch.setattr(run, "_POINT_POSITIONS", 200)
    monkeypatch.setattr(run, "_SAVE_SECONDS", 0)
    monkeypatch.setattr(run, "_DISTILLED_VALIDATION", 100)
    monkeypatch.setattr(Losses, "plot", lambda losses, folder: None)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return games_folder(tmp_path_factory.mktemp("data") / "games", 2)


def train(games: Path, state: Path, *more: str) -> int:
    small = "--width", "16", "--batch", "100", "--threads", "2"
    return main(["train", str(games), "--state", str(state), *small, *more])


def test_it_writes_a_network_and_a_loss_curve(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Losses, "plot", PLOT)
    out = tmp_path / "one.nnue"
    assert train(games, tmp_path / "run", "--epochs", "2", "--out", str(out), "--name", "of a test") == 0
    network = read_network(out)
    assert (network.width, network.buckets, network.mirrored, network.scale) == (16, 1, True, 200)
    assert network.description == "of a test"
    shown = capsys.readouterr().out
    assert "positions for training" in shown and "positions trained on  training 0." in shown and str(out) in shown
    assert (tmp_path / "run" / "loss.png").read_bytes().startswith(b"\x89PNG")
    files = [
        "checkpoint.npz",
        "checksums.json",
        "games.json",
        "loss.png",
        "settings.json",
        "time.json",
        "validation.bin",
    ]
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == files
    weights, shape, scale = weights_of(tmp_path / "run")
    records = packed(boards_of_games(1, 50))
    expected = integer_values(quantise(weights, shape, scale, ""), records)
    assert integer_values(network, records).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--distill", "pesto", "--distill-share", "0.4", "--result-share", "0.1"),
        ("--exponent", "2.5", "--last-result-share", "0.4", "--last-stage", "0.2", "--average", "100", "--linear"),
    ],
)
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    games: Path, tmp_path: Path, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--epochs", "3", *more)
    assert train(games, tmp_path / "whole", *more) == 0

    def stop(losses: Losses, folder: Path) -> None:
        if len(losses.positions) > 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Losses, "plot", stop)
        assert train(games, tmp_path / "parts", *more) == 130
    assert not (tmp_path / "parts" / "network.nnue").exists()
    assert train(games, tmp_path / "parts", *more) == 0
    for name in ("network.nnue", "checkpoint.npz"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_loss_falls(games: Path, tmp_path: Path) -> None:
    assert train(games, tmp_path / "run", "--epochs", "10", "--rate", "0.01", "--distill", "pesto") == 0
    with np.load(tmp_path / "run" / "checkpoint.npz") as arrays:
        about = json.loads(str(arrays["about"]))
    assert about.keys() == {"steps", "place", "positions", "curves"}
    assert about["curves"].keys() == {"training", "validation", "distilled"}
    assert about["positions"] == sorted(about["positions"])
    assert about["steps"] * 100 == about["positions"][-1]
    for curve in about["curves"].values():
        assert len(curve) == len(about["positions"])
    training = about["curves"]["training"]
    assert training[-1] < 0.3 * training[0]


def test_training_continues_other_weights(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(games, tmp_path / "first", "--epochs", "1") == 0
    arrays = tmp_path / "first.npz"
    assert main(["train", "--state", str(tmp_path / "first"), "--export", str(arrays)]) == 0
    again = tmp_path / "again"
    assert train(games, again, "--start", str(arrays), "--rate", "1e-12", "--epochs", "1") == 0
    first, second = (weights_of(tmp_path / name)[0] for name in ("first", "again"))
    assert np.allclose(first, second, atol=1e-6)
    assert "with other settings (start):" in refusal(capsys, games, again, "--rate", "1e-12", "--epochs", "1")
    wider = tmp_path / "wider"
    assert train(games, wider, "--start", str(arrays), "--rate", "1e-12", "--epochs", "1", "--width", "32") == 0
    weights, shape, _ = weights_of(wider)
    assert shape == Shape(32, 1, True) and np.allclose(
        shape.parts(weights)[0][:, :16], first[: 768 * 16].reshape(768, 16)
    )
    kings = tmp_path / "kings"
    assert train(games, kings, "--start", str(arrays), "--rate", "1e-12", "--epochs", "1", "--king-buckets", "4") == 0
    weights, shape, _ = weights_of(kings)
    assert shape == Shape(16, 1, True, 4) and np.allclose(weights[: 768 * 16 * 4], np.tile(first[: 768 * 16], 4))
    assert read_network(kings / "network.nnue").king_buckets == 4
    said = refusal(capsys, games, tmp_path / "new", "--start", str(kings / "network.nnue"))
    different = f"knightadder: {kings / 'network.nnue'} has a different shape: N = 16, 1 output buckets, mirrored"
    assert said == f"{different}, 4 king buckets"
    said = refusal(capsys, games, tmp_path / "new", "--king-buckets", "4", "--no-mirror")
    assert said == "knightadder: --king-buckets does not work with --no-mirror"
    said = refusal(capsys, games, tmp_path / "new", "--start", str(wider / "network.nnue"))
    assert said == f"knightadder: {wider / 'network.nnue'} has a different shape: N = 32, 1 output buckets, mirrored"
    said = refusal(capsys, games, tmp_path / "new", "--start", str(arrays), "--buckets", "2")
    assert said == f"knightadder: {arrays} has a different shape: N = 16, 1 output buckets, mirrored"
    said = refusal(capsys, games, tmp_path / "new", "--start", str(arrays), "--scale", "400")
    assert said == f"knightadder: {arrays} has a different scale: give --scale 200"


def test_a_network_is_distilled(games: Path, tmp_path: Path) -> None:
    more = "--epochs", "1", "--distill", "nnue"
    assert train(games, tmp_path / "run", *more) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["distill_network"] == f"{read_network(BUILT_IN_FILE).key:016x}"


def test_a_restart_with_a_wrong_folder_of_games_forgets_nothing(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(games, tmp_path / "run", "--epochs", "1") == 0
    before = {file: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    wrong = tmp_path / "wrong"
    assert f"there is no folder {wrong}" in refusal(capsys, wrong, tmp_path / "run", "--restart")
    assert {file: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_games_that_are_not_there_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = games_folder(tmp_path / "games", 4)
    with (games / "chunk-000000.vf").open("ab") as chunk:
        chunk.write(b"more")
    (games / "chunk-000002.vf").unlink()
    assert train(games, tmp_path / "run", "--epochs", "1") == 0
    assert capsys.readouterr().err.splitlines() == [
        f"knightadder: {games / name} is damaged or missing: its games are left out"
        for name in ("chunk-000000.vf", "chunk-000002.vf")
    ]


def test_what_this_engine_cannot_use_is_told(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = "the network must have at most 512 neurons and 8 buckets, not 528 and 1"
    assert train(games, tmp_path / "run", "--epochs", "1", "--width", "528") == 0
    assert capsys.readouterr().err == f"knightadder: this engine cannot play with the network: {size}\n"
    shape = Shape(528, 1, True)
    weights = initial_weights(shape, 1)
    weights[:3] = 1.99, -2.5, 1.98
    file = tmp_path / "one.npz"
    write_arrays(file, weights, shape, 200)
    assert main(["train", "--import", str(file), "--out", str(tmp_path / "one.nnue")]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"knightadder: {file}: 2 weights are beyond ±1.98: they were clipped",
        f"knightadder: this engine cannot play with the network: {size}",
    ]


def test_networks_are_exchanged(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state, shape = str(tmp_path / "run"), ("--buckets", "8", "--no-mirror", "--scale", "300")
    assert train(games, tmp_path / "run", "--epochs", "1", *shape) == 0
    trained = read_network(tmp_path / "run" / "network.nnue")
    for name, more in (("one.npz", ()), ("one.bin", shape)):
        assert main(["train", "--state", state, "--export", str(tmp_path / name)]) == 0
        arguments = ["--import", str(tmp_path / name), "--out", str(tmp_path / "one.nnue"), "--name", "imported"]
        assert main(["train", *arguments, *more, "--force"]) == 0
        network = read_network(tmp_path / "one.nnue")
        assert [part.tolist() for part in network.parts()] == [part.tolist() for part in trained.parts()]
        assert (network.mirrored, network.scale, network.description) == (False, 300, "imported")


def test_a_network_is_drawn(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shape = Shape(16, 2, True)
    write_arrays(tmp_path / "one.npz", initial_weights(shape, 1), shape, 200)
    arguments = ["train", str(games), "--plot", str(tmp_path / "one.npz"), "--out", str(tmp_path)]
    assert main(arguments) == 0
    pictures = [tmp_path / name for name in ("network-worth.png", "network-neurons.png")]
    assert capsys.readouterr().out == "".join(f"Wrote the picture {picture}\n" for picture in pictures)
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert main([*arguments, "--force", "--first-ply", "300"]) == 2
    assert capsys.readouterr().err == "knightadder: there are too few positions for pictures\n"
    assert main([*arguments[:1], str(tmp_path), *arguments[2:], "--force"]) == 2
    assert capsys.readouterr().err == f"knightadder: there are no games in {tmp_path}\n"


def refusal(capsys: pytest.CaptureFixture[str], games: Path, state: Path, *more: str) -> str:
    """Train, which is to be refused, and give the line that says why."""
    capsys.readouterr()
    assert train(games, state, *more) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_another_run_s_state_is_refused(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert train(games, folder, "--epochs", "1") == 0
    before = (folder / "checkpoint.npz").read_bytes()
    for option, value, name in (
        ("--epochs", "2", "epochs"),
        ("--width", "32", "shape"),
        ("--exponent", "2.5", "exponent"),
        ("--later-share", "0.5", "later_share"),
        ("--positions", "7", "positions"),
    ):
        said = refusal(capsys, games, folder, "--epochs", "1", option, value)
        end = "): use the same, or give --restart to forget it"
        assert said == f"knightadder: {folder} belongs to a run with other settings ({name}{end}"
    with locked(folder):
        assert refusal(capsys, games, folder, "--epochs", "1").endswith("is in use by another run")
    assert (folder / "checkpoint.npz").read_bytes() == before
    assert train(games, folder, "--epochs", "1", "--threads", "1") == 0  # it is done: the network is written again
    (folder / "letter.txt").write_text("dear")
    assert train(games, folder, "--epochs", "1", "--seed", "7", "--restart") == 0
    assert (folder / "checkpoint.npz").read_bytes() != before
    assert (folder / "letter.txt").exists()


def test_a_damaged_state_is_refused(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert train(games, folder, "--epochs", "1") == 0
    whole = (folder / "checkpoint.npz").read_bytes()
    for content in (b"", b"no archive", whole[:1000], whole[:-100]):
        (folder / "checkpoint.npz").write_bytes(content)
        assert "checkpoint.npz is damaged: remove it" in refusal(capsys, games, folder, "--epochs", "1")
    (folder / "settings.json").write_text("[")
    assert "belongs to a different kind of run, so it is not used" in refusal(capsys, games, folder, "--epochs", "1")
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    assert "is not empty" in refusal(capsys, games, other)
    assert [file.name for file in other.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give folders of games and --state"),
        (("games",), "give folders of games and --state"),
        (("--export", "x.npz"), "--export needs --state"),
        (("--state", "run", "--export", "x.npz", "--out", "y"), "--export needs --state, and excludes games and --out"),
        (("--import", "x.npz"), "--import needs --out"),
        (("--import", "x.npz", "--out", "y", "--state", "z"), "--import needs --out"),
        (("--import", "missing.npz", "--out", "y"), "cannot read missing.npz"),
        (("--state", "missing", "--export", "x.npz"), "cannot read missing"),
        (("--plot", "x.nnue", "--out", "."), "--plot needs games and --out"),
        (("games", "--plot", "x.nnue"), "--plot needs games and --out"),
        (("games", "--plot", "x.nnue", "--out", ".", "--state", "run"), "--plot needs games and --out"),
        (("games", "--plot", "x.nnue", "--out", "missing"), "cannot write to missing: there is no such folder"),
        (("games", "--plot", "x.nnue", "--out", "."), "cannot read x.nnue"),
        (("games", "--state", "run"), "there is no folder games"),
        (("games", "--state", "run", "--distill-share", "0.3"), "--distill-share needs --distill"),
        (("games", "--state", "run", "--out", "."), "cannot write .: it is a folder"),
        (("games", "--state", "run", "--out", "no/x"), "cannot write no/x: there is no folder no"),
        (("games", "--state", "run", "--out", "x", "--name", "a\nb"), "--name must be one line of at most 1000 bytes"),
    ],
)
def test_bad_arguments_get_one_line(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"knightadder: {message}")
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_a_run_are_not_overwritten(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "run"
    assert train(games, state, "--epochs", "1") == 0
    before = {file: file.read_bytes() for file in state.iterdir()}
    curve = "loss.png"  # so short a run draws none
    files = ("checkpoint.npz", "time.json", "games.json", "validation.bin", "checksums.json", "settings.json", curve)
    for name in files:
        message = f"{state / name}: this file contains the state of the run, so it is not overwritten"
        assert message in refusal(capsys, games, state, "--out", str(state / name))
        capsys.readouterr()
        assert main(["train", "--state", str(state), "--export", str(state / name)]) == 2
        assert message in capsys.readouterr().err
    assert {file: file.read_bytes() for file in state.iterdir()} == before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--width", "24"),
        ("--width", "0"),
        ("--width", "wide"),
        ("--buckets", "3"),
        ("--scale", "0"),
        ("--rate", "nan"),
        ("--exponent", "0.5"),
        ("--exponent", "nan"),
        ("--last-stage", "1.5"),
        ("--score-below", "32768"),
    ],
)
def test_values_out_of_range_are_refused(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        train(tmp_path, tmp_path / "run", option, value)
    said = capsys.readouterr().err
    assert f"argument {option}" in said
    assert "_width" not in said


def test_what_has_no_weights_is_not_exported(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(games, tmp_path / "run", "--epochs", "1") == 0
    for name, message in (("x.txt", "expected a name that ends in .npz or .bin"), ("x.npz", "has no weights yet")):
        if name == "x.npz":
            (tmp_path / "run" / "checkpoint.npz").unlink()
        capsys.readouterr()
        assert main(["train", "--state", str(tmp_path / "run"), "--export", str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err


def settings(*more: str) -> TrainSettings:
    """Give the settings of a run; the rate is 1, and the result share 0.2."""
    usual = "--rate", "1", "--result-share", "0.2"
    return settings_of(build_parser().parse_args(["train", "games", "--state", "run", *usual, *more]))


@pytest.mark.parametrize("linear", [False, True])
def test_the_rate_rises_shortly_and_then_falls(linear: bool) -> None:
    of_the_run = settings(*["--linear"] * linear)
    rates = [of_the_run.plan(step, 10_000)[0] for step in range(10_000)]
    assert 0 < rates[0] < 0.02
    top = rates.index(max(rates))
    assert 90 < top < 110
    assert all(first > second for first, second in zip(rates[top:], rates[top + 1 :], strict=False))
    assert rates[5000] == pytest.approx(0.5, abs=0.01)
    assert rates[2500] == pytest.approx(0.75 if linear else (1 + 0.5**0.5) / 2, abs=0.01)
    assert rates[-1] == pytest.approx(0.0024, abs=2e-4)


def test_the_result_share_changes_step_by_step_and_the_last_stage_has_numbers_of_its_own() -> None:
    of_the_run = settings("--last-result-share", "0.6")
    shares = [of_the_run.plan(step, 1000)[1] for step in (0, 250, 500, 999)]
    assert shares == pytest.approx([0.2, 0.3, 0.4, 0.6], abs=1e-3)
    of_the_run = settings("--last-stage", "0.1", "--last-stage-rate", "0.5", "--last-stage-result-share", "0.7")
    assert [of_the_run.plan(step, 1000) for step in (900, 950, 999)] == [(0.5, 0.7)] * 3
    rate, result_share = of_the_run.plan(899, 1000)
    assert rate == pytest.approx(0.0024, abs=2e-4) and result_share == 0.2


def test_batches_grow_with_the_data() -> None:
    epochs = settings("--epochs", "3")
    assert run.length(epochs, 9_000_000) == (4096, 3 * 9_000_000 // 4096)
    assert run.length(epochs, 20_000_000) == (16_384, 3 * 20_000_000 // 16_384)
    assert run.length(epochs, 100) == (4096, 1)
    assert run.length(settings("--length", "8192"), 9_000_000) == (4096, 2)
