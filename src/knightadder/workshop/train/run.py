"""A training run: its settings, the state that it continues from, and the loop."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from knightadder.engine.errors import OptionError
from knightadder.foreign import NotNegative, converted, parse_json
from knightadder.runs import check_same_run, content_digest, reading, replacing, write_whole
from knightadder.workshop.train.batches import Distiller, Mixture, Stream
from knightadder.workshop.train.exchange import read_weights
from knightadder.workshop.train.positions import CHECKSUMS, TRAINING, VALIDATION, Positions
from knightadder.workshop.train.trainer import Trainer
from knightadder.workshop.train.weights import Flat, Shape, initial_weights, widen

FORMAT = 1
REMEDY = "give another --state"

_SETTINGS, _CHECKPOINT, _PLOT = "settings.json", "checkpoint.npz", "loss.png"
FILES = (_SETTINGS, _CHECKPOINT, TRAINING, VALIDATION, CHECKSUMS)  # those that a run needs to go on

_CHECKPOINT_POSITIONS = 4_000_000  # between checkpoints, which are points of the loss curve, at most: some seconds
_POINTS = 20  # of the loss curve, at least
_LARGE, _BATCHES = 10_000_000, (4096, 16_384)  # batches below and from so many positions; bullet's is 16,384
_LAST_RATE = 0.0024  # the last rate as a share of the first, as other engines' authors have it
_WARM_UP = 100  # steps in which the rate rises, since AdamW's means are not reliable at first
_DISTILLED_VALIDATION = 50_000  # positions


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The settings of a run, which may not change while it lasts.

    Attributes
    ----------
    games : list of str
        Folders of games.
    first_ply, score_below : int
        Which positions are used: see `Filter`.
    positions : int or None
        Most positions to take from the games.
    shape : Shape
    scale : int
        Centipawns of an output of 1.
    epochs : int
        The length of the run: so many times the number of positions.
    batch : int or None
        Positions of a step; by default 4,096 below ten million positions and 16,384 from there on.
    rate : float
        Size of the first steps.
    result_share : float
        Share of the game's result in the target; the rest is the score.
    later_share : float
        Share of what came later in the game in the score.
    distill : str or None
        Evaluation to distil.
    distill_share : float
        Share of distilled positions; 0 without distillation.
    distill_network : str or None
        Key of the network, if the evaluation to distil is one.
    start : str or None
        Digest of the weights to begin with.
    seed : int
        Seed of all chance.
    """

    games: list[str]
    first_ply: int
    score_below: int
    positions: int | None
    shape: Shape
    scale: int
    epochs: int
    batch: int | None
    rate: float
    result_share: float
    later_share: float
    distill: str | None
    distill_share: float
    distill_network: str | None
    start: str | None
    seed: int

    def batch_size(self, positions: int) -> int:
        """Return the number of positions of a step, for so many positions for training."""
        return self.batch or _BATCHES[positions >= _LARGE]


def check_settings(folder: Path, settings: TrainSettings) -> None:
    """Check that a run's folder has these settings, or write them into a new one.

    Raises
    ------
    OptionError
        If the folder has other settings, or cannot be used.
    """
    wanted = {"format": FORMAT, **asdict(settings)}
    file = folder / _SETTINGS
    if not file.exists():
        if any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise OptionError(f"{folder} is not empty, and not the folder of a training run: {REMEDY}")
        write_whole(file, (json.dumps(wanted, indent=2) + "\n").encode())
        return
    check_same_run(folder, _read_settings(file), wanted, REMEDY)


def shape_and_scale(folder: Path) -> tuple[Shape, int]:
    """Return the shape of a run's network, and the centipawns of an output of 1; OptionError if there is none."""
    found = _read_settings(folder / _SETTINGS)
    try:
        return converted(found["shape"], Shape), converted(found["scale"], int)
    except (ValueError, TypeError, KeyError):
        raise OptionError(f"{folder} is not the folder of a training run") from None


def _read_settings(file: Path) -> Any:
    with reading(file):
        text = file.read_bytes()
    try:
        return parse_json(text)
    except ValueError:
        return None


@dataclass
class Losses:
    """The loss curve.

    Attributes
    ----------
    positions : list of int
        Positions trained on, at each point.
    curves : dict of str to list of float
        Mean losses at these points, by what they are of.
    """

    positions: list[int] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)

    def note(self, positions: int, losses: dict[str, float]) -> None:
        """Add a point."""
        self.positions.append(positions)
        for name, loss in losses.items():
            self.curves.setdefault(name, []).append(loss)

    def plot(self, folder: Path) -> None:
        """Plot the curve to a PNG in a folder; OptionError if it cannot be written."""
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.add_subplot(
            xlabel="million positions", ylabel="mean squared error", yscale="log", title="Training"
        )
        for name, curve in self.curves.items():
            axes.plot([count / 1e6 for count in self.positions], curve, label=name)
        axes.grid(alpha=0.3, which="both")
        axes.legend()
        with replacing(folder / _PLOT) as beside:
            figure.savefig(beside, dpi=110, format="png")


def save_checkpoint(folder: Path, trainer: Trainer, losses: Losses) -> None:
    """Write the state of a run, completely or not at all; OptionError if that fails."""
    about = json.dumps({"steps": trainer.steps, **asdict(losses)})
    with replacing(folder / _CHECKPOINT) as beside, beside.open("wb") as stream:
        arrays: dict[str, Any] = {"weights": trainer.weights, "means": trainer.means, "squares": trainer.squares}
        np.savez(stream, about=np.array(about), **arrays)


def load_checkpoint(folder: Path, trainer: Trainer) -> Losses:
    """Continue from the state in a run's folder, if there is one; OptionError if it is damaged."""
    file = folder / _CHECKPOINT
    if not file.exists():
        return Losses()
    with reading(file):
        data = file.read_bytes()
    try:
        with np.load(io.BytesIO(data)) as arrays:
            for name in ("weights", "means", "squares"):
                getattr(trainer, name)[:] = arrays[name]
            about = parse_json(str(arrays["about"]), dict[str, Any])
        trainer.steps = converted(about.pop("steps"), NotNegative)
        kept: Losses = converted(about, Losses)
        return kept
    except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError):
        raise OptionError(f"{file} is damaged: remove it to begin again") from None


def weights_of(folder: Path) -> tuple[Flat, Shape, int]:
    """Return the weights of a run, its shape and scale; OptionError if it has none."""
    shape, scale = shape_and_scale(folder)
    if not (folder / _CHECKPOINT).exists():
        raise OptionError(f"{folder} has no weights yet")
    with Trainer(shape, np.zeros(shape.size, np.float32), 1, scale, 0) as trainer:
        load_checkpoint(folder, trainer)
        return trainer.weights, shape, scale


def first_weights(shape: Shape, scale: int, start: Path | None, seed: int) -> Flat:
    """Return the weights to begin with: random ones, or those of a file, which may have fewer neurons.

    Raises
    ------
    OptionError
        If the file cannot be read, or has another shape or scale.
    """
    if start is None:
        return initial_weights(shape, seed)
    flat, found, its_scale = read_weights(start)
    if its_scale != scale:
        raise OptionError(f"{start} has another scale: give --scale {its_scale}")
    if replace(found, width=shape.width) != shape or found.width > shape.width:
        mirrored = "mirrored" if found.mirrored else "not mirrored"
        raise OptionError(f"{start} has another shape: N = {found.width}, {found.buckets} output buckets, {mirrored}")
    return widen(flat, found, shape.width, seed)


def start_digest(start: Path | None) -> str | None:
    """Return what identifies the weights to begin with; OptionError if the file cannot be read."""
    return None if start is None else content_digest(start)[:16]


def train(
    folder: Path,
    settings: TrainSettings,
    positions: Positions,
    trainer: Trainer,
    losses: Losses,
    update: Callable[[int, str], None],
) -> None:
    """Train until the end, and save checkpoints.

    Parameters
    ----------
    folder : Path
        The run's folder.
    settings : TrainSettings
    positions : Positions
    trainer : Trainer
        Its weights and steps are those to continue from.
    losses : Losses
        The loss curve so far; it is continued.
    update : callable
        Receives the number of positions trained on, and a text, after each step.
    """
    size, steps = length(settings, len(positions.training))
    distiller, validation = _distiller(settings, positions, trainer)
    stream = Stream(positions.training, settings.seed)
    mixture = Mixture(stream, distiller, size, settings.distill_share, trainer.pool)
    between = max(1, min(_CHECKPOINT_POSITIONS // size, steps // _POINTS))
    recent: list[float] = []
    text = ""
    while trainer.steps < steps:
        rate = settings.rate * rate_factor(trainer.steps, steps)
        recent.append(trainer.step(mixture.batch(trainer.steps), rate))
        if trainer.steps % between == 0 or trainer.steps == steps:
            found = {name: trainer.loss(records) for name, records in validation.items()}
            losses.note(trainer.steps * size, {"training": float(np.mean(recent)), **found})
            recent.clear()
            save_checkpoint(folder, trainer, losses)
            losses.plot(folder)
            text = "  ".join(f"{name} {curve[-1]:.5f}" for name, curve in losses.curves.items())
        update(trainer.steps * size, text)


def length(settings: TrainSettings, positions: int) -> tuple[int, int]:
    """Return the size of a batch and the number of steps of a run, with so many positions for training."""
    size = settings.batch_size(positions)
    return size, max(1, settings.epochs * positions // size)


def rate_factor(step: int, steps: int) -> float:
    """Return the rate of a step in relation to the first: half a cosine, after a short rise."""
    cosine = (1 + math.cos(math.pi * step / steps)) / 2
    return min(1.0, (step + 1) / _WARM_UP) * (_LAST_RATE + (1 - _LAST_RATE) * cosine)


def _distiller(
    settings: TrainSettings, positions: Positions, trainer: Trainer
) -> tuple[Distiller | None, dict[str, NDArray[np.void]]]:
    """Return what distils, if anything does, and the positions for validation by their names."""
    validation = {"validation": positions.validation}
    if settings.distill is None:
        return None, validation
    below, seed = settings.score_below, settings.seed
    held_out = Distiller(settings.distill, positions.validation, below, seed)
    validation["distilled"] = held_out.take(0, _DISTILLED_VALIDATION, trainer.pool)
    return Distiller(settings.distill, positions.training, below, seed), validation
