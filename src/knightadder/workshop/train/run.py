"""A training run: its settings, the state from which it continues, and the training loop."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.engine.errors import OptionError
from knightadder.files import reading, replacing, write_whole
from knightadder.foreign import NotNegative, converted, parse_json
from knightadder.runs import claim_folder, read_header
from knightadder.workshop.datagen.reader import Filter
from knightadder.workshop.run_figures import draw_losses
from knightadder.workshop.train.batches import Distiller, Mixture, Place, PositionStream, ahead
from knightadder.workshop.train.exchange import read_weights
from knightadder.workshop.train.selection import CHECKSUMS, GAMES, VALIDATION, SelectedGames, Selection, Targets
from knightadder.workshop.train.trainer import Trainer
from knightadder.workshop.train.weights import Flat, Shape, enlarge, initial_weights

FORMAT = 2  # runs of format 1 contained all their positions

_SETTINGS, _CHECKPOINT, _PLOT, _TIME = "settings.json", "checkpoint.npz", "loss.png", "time.json"
FILES = (_SETTINGS, _CHECKPOINT, _PLOT, _TIME, GAMES, VALIDATION, CHECKSUMS)  # the files in a run's folder

_POINT_POSITIONS = 4_000_000  # maximum number of positions between two points of the loss curve: a few seconds
_SAVE_SECONDS = 30  # seconds between checkpoints: writing the state and drawing the curve takes almost a second
_BATCHES_AHEAD = 4  # number of batches made in advance, while the network learns
_POINTS = 20  # minimum number of points of the loss curve
# Batch sizes of runs with fewer than `_LARGE` positions, and with more; bullet uses 16,384.
_LARGE, _BATCHES = 10_000_000, (4096, 16_384)
LAST_RATE = 0.0024  # the last learning rate as a share of the first, as in other engines
WARM_UP = 100  # number of first steps in which the learning rate rises, because AdamW's means are unreliable
_DISTILLED_VALIDATION = 50_000  # number of distilled positions for validation
_VALIDATION_BATCH = 1 << 48  # batch number of the distilled positions for validation; no batch for training has it


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The settings of a run, which may not change while it lasts; the options of `train` describe them."""

    games: list[str]
    first_ply: int
    score_below: int
    positions: int | None
    shape: Shape
    scale: int
    epochs: int
    length: int | None  # number of positions to train on, instead of epochs
    batch: int | None
    rate: float
    last_rate: float
    linear: bool  # whether the learning rate falls along a line, not half a cosine
    warm_up: int
    result_share: float
    last_result_share: float
    exponent: float
    last_stage: float  # share of the steps with a separate rate and result share
    last_stage_rate: float
    last_stage_result_share: float
    average: int
    later_share: float
    distill: str | None
    distill_share: float
    distill_network: str | None  # key of the network, if the evaluation to distil is a network
    start: str | None  # digest of the starting weights
    seed: int

    def batch_size(self, positions: int) -> int:
        """Return the number of positions in each step of a run that trains on `positions` positions."""
        return self.batch or _BATCHES[positions >= _LARGE]

    def plan(self, step: int, steps: int) -> tuple[float, float]:
        """Return the learning rate and the result share of a step in a run of `steps` steps."""
        before = steps - round(steps * self.last_stage)  # steps before the last stage
        if step >= before:
            return self.last_stage_rate, self.last_stage_result_share
        part = step / before
        fall = part if self.linear else (1 - math.cos(math.pi * part)) / 2
        rate = min(1.0, (step + 1) / self.warm_up) * (self.rate + (self.last_rate - self.rate) * fall)
        return rate, self.result_share + (self.last_result_share - self.result_share) * part

    def reader(self, selection: Selection) -> SelectedGames:
        """Return a reader of the run's games."""
        folders = [Path(folder) for folder in self.games]
        return SelectedGames(folders, selection, self.wanted, self.targets)

    @property
    def wanted(self) -> Filter:
        """The filter for the positions."""
        return Filter(self.first_ply, self.score_below, quiet=True)

    @property
    def targets(self) -> Targets:
        """The settings for mixing in later scores."""
        return Targets(self.later_share, self.scale)

    def trainer(self, weights: Flat, threads: int) -> Trainer:
        """Return a trainer of these weights."""
        numbers = self.scale, self.result_share, self.exponent, self.average
        return Trainer(self.shape, weights, threads, *numbers)


def check_settings(folder: Path, settings: TrainSettings, restart: bool) -> None:
    """Check that a run's folder has these settings; write them into a new folder, or after a restart."""
    file = folder / _SETTINGS
    if not file.exists() and any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise OptionError(f"{folder} is not empty and not the folder of a training run: give a different --state")
    claim_folder(file, {"format": FORMAT, **asdict(settings)}, restart, [folder / name for name in FILES[1:]])


@dataclass
class Losses:
    """The loss curve: the number of positions trained on at each point, and the mean losses by name."""

    positions: list[int] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)

    def note(self, positions: int, losses: dict[str, float]) -> None:
        """Add a point."""
        self.positions.append(positions)
        for name, loss in losses.items():
            self.curves.setdefault(name, []).append(loss)

    def plot(self, folder: Path) -> None:
        """Plot the curve to a PNG in a folder; OptionError if it cannot be written."""
        places = [count / 1e6 for count in self.positions]
        draw_losses(folder / _PLOT, "Training", "million positions", places, self.curves, yscale="log")


def _save_checkpoint(folder: Path, trainer: Trainer, losses: Losses, place: Place, seconds: float) -> None:
    """Write the state of a run, completely or not at all; OptionError if that fails.
    `place` is where the stream of positions continues, and `seconds` the duration of the run so far.
    """
    about = json.dumps({"steps": trainer.steps, "place": place, **asdict(losses)})
    with replacing(folder / _CHECKPOINT) as beside, beside.open("wb") as stream:
        arrays: dict[str, Any] = {name: getattr(trainer, name) for name in _arrays(trainer)}
        np.savez(stream, about=np.array(about), **arrays)
    write_whole(folder / _TIME, (json.dumps({"seconds": round(seconds)}) + "\n").encode())


def _arrays(trainer: Trainer) -> list[str]:
    return ["weights", "means", "squares", *(["averaged"] if trainer.averaged is not trainer.weights else [])]


def _load_checkpoint(folder: Path, trainer: Trainer) -> tuple[Losses, Place]:
    """Continue from the state in a run's folder, if any; return the losses and the place in the stream."""
    file = folder / _CHECKPOINT
    if not file.exists():
        return Losses(), (0, 0, 0)
    with reading(file):
        data = file.read_bytes()
    try:
        with np.load(io.BytesIO(data)) as arrays:
            for name in _arrays(trainer):
                getattr(trainer, name)[:] = arrays[name]
            about = parse_json(str(arrays["about"]))
        trainer.steps = converted(about.pop("steps"), NotNegative)
        place: Place = converted(about.pop("place"), tuple[NotNegative, NotNegative, NotNegative])
        return converted(about, Losses), place
    except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError, AttributeError):
        raise OptionError(f"{file} is damaged: remove it to begin again") from None


def _seconds_of(folder: Path) -> int:
    """Return the duration of a run so far, in seconds; 0 if it is unknown."""
    with contextlib.suppress(OSError, ValueError):
        return int(parse_json((folder / _TIME).read_bytes(), dict[str, NotNegative])["seconds"])
    return 0


def weights_of(folder: Path) -> tuple[Flat, Shape, int]:
    """Return the weights of a run, with their shape and scale; OptionError if the run has no weights yet."""
    found = read_header(folder / _SETTINGS)
    try:
        shape, scale = converted(found["shape"], Shape), converted(found["scale"], int)
        average = converted(found.get("average", 0), int)
    except (ValueError, TypeError, KeyError):
        raise OptionError(f"{folder} is not the folder of a training run") from None
    if not (folder / _CHECKPOINT).exists():
        raise OptionError(f"{folder} has no weights yet")
    with Trainer(shape, np.zeros(shape.size, np.float32), 1, scale, 0, average=average) as trainer:
        _load_checkpoint(folder, trainer)
        return trainer.averaged, shape, scale


def first_weights(shape: Shape, scale: int, start: Path | None, seed: int) -> Flat:
    """Return random weights, or those of a file with no more neurons and king buckets; OptionError if it is bad."""
    if start is None:
        return initial_weights(shape, seed)
    flat, found, its_scale = read_weights(start)
    if its_scale != scale:
        raise OptionError(f"{start} has a different scale: give --scale {its_scale}")
    same = (found.buckets, found.mirrored) == (shape.buckets, shape.mirrored)
    if not same or found.width > shape.width or found.king_buckets > shape.king_buckets:
        mirrored = "mirrored" if found.mirrored else "not mirrored"
        kings = f", {found.king_buckets} king buckets" if found.king_buckets > 1 else ""
        raise OptionError(
            f"{start} has a different shape: N = {found.width}, {found.buckets} output buckets, {mirrored}{kings}"
        )
    return enlarge(flat, found, shape, seed)


def train(
    folder: Path,
    settings: TrainSettings,
    selection: Selection,
    held_out: NDArray[np.void],
    trainer: Trainer,
    update: Callable[[int, str], None],
) -> Losses:
    """Train until the end, save checkpoints, and return the loss curve.

    Training continues from a checkpoint in the folder, or else starts with the trainer's weights. `held_out` contains
    the positions for validation. After each step, `update` receives the number of positions trained on, and a text.
    """
    losses, place = _load_checkpoint(folder, trainer)
    size, steps = length(settings, selection.positions)
    distiller, validation = _distiller(settings, held_out, trainer)
    between = max(1, min(_POINT_POSITIONS // size, steps // _POINTS))
    recent: list[float] = []
    text = ""
    saved, taken = time.monotonic(), _seconds_of(folder)
    begun = saved
    if trainer.steps >= steps:
        return losses
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(PositionStream(settings.reader(selection), settings.seed, place))
        mixture = Mixture(stream, distiller, size, settings.distill_share, trainer.pool)
        numbers = itertools.count(trainer.steps)
        batches = stack.enter_context(contextlib.closing(ahead(lambda: mixture.batch(next(numbers)), _BATCHES_AHEAD)))
        while trainer.steps < steps:
            records, place = next(batches)
            rate, trainer.result_share = settings.plan(trainer.steps, steps)
            recent.append(trainer.step(records, rate))
            if trainer.steps % between == 0 or trainer.steps == steps:
                losses.note(
                    trainer.steps * size, {"training": float(np.mean(recent)), **_validate(trainer, validation)}
                )
                recent.clear()
                if trainer.steps == steps or time.monotonic() - saved >= _SAVE_SECONDS:
                    saved = time.monotonic()
                    _save_checkpoint(folder, trainer, losses, place, taken + saved - begun)
                    losses.plot(folder)
                text = "  ".join(f"{name} {curve[-1]:.5f}" for name, curve in losses.curves.items())
            update(trainer.steps * size, text)
    return losses


def _validate(trainer: Trainer, validation: dict[str, NDArray[np.void]]) -> dict[str, float]:
    """Return the mean squared errors of sets of positions, by the sets' names."""
    found = {name: trainer.squared_error(records) for name, records in validation.items()}
    if trainer.averaged is not trainer.weights:
        found["averaged"] = trainer.squared_error(validation["validation"], averaged=True)
    return found


def length(settings: TrainSettings, positions: int) -> tuple[int, int]:
    """Return the batch size and the number of steps of a run that trains on `positions` positions."""
    size = settings.batch_size(positions)
    return size, max(1, (settings.length or settings.epochs * positions) // size)


def _distiller(
    settings: TrainSettings, held_out: NDArray[np.void], trainer: Trainer
) -> tuple[Distiller | None, dict[str, NDArray[np.void]]]:
    """Return the `Distiller`, if there is one, and the sets of positions for validation by name."""
    validation = {"validation": held_out}
    if settings.distill is None:
        return None, validation
    distiller = Distiller(settings.distill, settings.score_below, settings.seed)
    validation["distilled"] = distiller.take(held_out, _VALIDATION_BATCH, _DISTILLED_VALIDATION, trainer.pool)
    return distiller, validation
