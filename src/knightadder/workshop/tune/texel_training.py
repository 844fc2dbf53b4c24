"""A run of Texel's method: the data, the state that is saved after each epoch, and the loss curve."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.digests import source_digest
from knightadder.engine.errors import OptionError
from knightadder.files import make_folder, reading
from knightadder.runs import REMEDY, Journal
from knightadder.workshop.run_figures import draw_losses
from knightadder.workshop.tune.texel import Adam, TracedPositions, Values, gradient, mean_error

FORMAT = 3  # in format 2, the last block of positions was smaller than the others

FILES = _STATE, _PLOT = "state.jsonl", "loss.png"  # the files in a run's folder
_LAST_RATE = 0.02  # the last learning rate, as a share of the first; the rate falls along half a cosine
# Decoupled weight decay: each step moves a value towards its starting value by this share times the learning rate. It
# matters only for values that rarely count, or whose effect other values can compensate.
_DECAY = 1e-3


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The settings of a run, besides its data and start values."""

    epochs: int
    rate: float  # size of the first steps, in centipawns
    result_share: float  # share of the game's result in the target; the rest is the result expected from the score
    seed: int


def read_positions(files: Sequence[Path], most: int | None) -> NDArray[np.void]:
    """Return packed positions, at most `most` from each file; OptionError if a file cannot be read."""
    parts = []
    for file in files:
        with reading(file):
            if file.stat().st_size % PACKED.itemsize:
                raise OptionError(f"{file} does not contain packed positions: expected a file from `datagen --merge`")
            parts.append(np.fromfile(file, PACKED, -1 if most is None else most))
    return np.concatenate(parts)


def open_journal(
    folder: Path,
    records: NDArray[np.void],
    start: NDArray[np.int64],
    k: float | None,
    settings: TrainingSettings,
    restart: bool,
) -> Journal:
    """Open and return the journal in a run's folder, which is created if it is missing; `k` is Texel's K, if given."""
    make_folder(folder)
    run = {
        "format": FORMAT,
        "positions": [len(records), hashlib.sha256(records.tobytes()).hexdigest()[:16]],
        "start": start.tolist(),
        "k": k,
        **asdict(settings),
        # Only *.py, because the engine's values are data that a run may change.
        "sources of the evaluation": source_digest(folders=["core"], suffixes=[".py"]),
    }
    return Journal(folder / _STATE, run, restart)


def train(
    training: Sequence[TracedPositions], start: NDArray[np.int64], state: State, settings: TrainingSettings
) -> None:
    """Train for one epoch, which changes the state; `start` contains the run's starting values."""
    order = np.random.default_rng((settings.seed, state.epoch)).permutation(len(training))
    for done, number in enumerate(order):
        progress = (state.epoch + done / len(order)) / settings.epochs
        rate = settings.rate * (_LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2)
        slope, _ = gradient(training[number], state.values, state.scale, settings.result_share)
        state.values += state.adam.step(slope, rate) - rate * _DECAY * (state.values - start)
    state.epoch += 1


@dataclass
class State:
    """The state of the tuning. `losses` are the errors of training and validation, at first and after each epoch."""

    values: Values  # values of the terms, in centipawns
    adam: Adam
    scale: float = 0.0  # Texel's K; 0 before it is fitted
    epoch: int = 0  # number of finished passes through the data
    losses: list[tuple[float, float]] = field(default_factory=list)
    best_epoch: int = field(default=0, init=False)
    best_values: Values = field(init=False)  # values after the epoch with the lowest validation error

    def __post_init__(self) -> None:
        self.best_values = self.values.copy()

    def note_losses(
        self, training: Sequence[TracedPositions], validation: Sequence[TracedPositions], share: float
    ) -> None:
        """Append the mean squared errors of the validation positions and of the same number of training positions."""
        parts = (training[: len(validation)], validation)
        first, second = (mean_error(blocks, self.values, self.scale, share) for blocks in parts)
        self._note((first, second))

    def _note(self, losses: tuple[float, float]) -> None:
        """Append the errors of the current values, and keep the values if they validate best."""
        self.losses.append(losses)
        if losses[1] < self.losses[self.best_epoch][1]:
            self.best_epoch, self.best_values = self.epoch, self.values.copy()

    def entry(self) -> dict[str, Any]:
        """Return the state in a form that JSON can hold."""
        return {
            "scale": self.scale,
            "losses": self.losses[-1],
            "steps": self.adam.steps,
            "values": self.values.tolist(),
            "mean": self.adam.mean.tolist(),
            "square": self.adam.square.tolist(),
        }

    def go_on(self, journal: Journal, file: Path) -> None:
        """Continue a run from its journal, which has one entry for the start values and one for each epoch."""
        shape = self.values.shape

        def read(entry: dict[str, Any]) -> tuple[int, float, tuple[float, float], Adam, Values]:
            adam = Adam(shape)
            values, adam.mean, adam.square = (
                np.array(entry[name], dtype=float).reshape(shape) for name in ("values", "mean", "square")
            )
            adam.steps = int(entry["steps"])
            first, second = map(float, entry["losses"])
            return entry["number"], float(entry["scale"]), (first, second), adam, values

        for place, (epoch, scale, losses, adam, values) in enumerate(journal.entries(read)):
            if epoch != place:
                raise OptionError(f"{file} is damaged: epoch {place} is missing; {REMEDY}")
            self.epoch, self.scale, self.adam, self.values = epoch, scale, adam, values
            self._note(losses)


def plot_losses(losses: Sequence[tuple[float, float]], folder: Path) -> None:
    """Plot the loss curve to a PNG in a folder; OptionError if it cannot be written."""
    training, validation = zip(*losses, strict=True)
    curves = {"training": training, "validation": validation}
    draw_losses(folder / _PLOT, "Texel tuning", "epoch", range(len(losses)), curves)
