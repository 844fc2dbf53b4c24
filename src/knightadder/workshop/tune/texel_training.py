"""A run of Texel's method: the data, the state that is kept after each time through them, and the loss curve."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.workshop.tune.texel import (
    Adam,
    Block,
    Values,
    gradient,
    mean_error,
)

FORMAT = 1

_STATE, _PLOT = "state.npz", "loss.png"
_LAST_RATE = 0.02  # of the first rate, to which it falls along a cosine
# How fast values return to where they started (decoupled weight decay), for each step of a centipawn: next to nothing,
# but for values that hardly ever count, or that others can make up for.
_DECAY = 1e-3


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how a run goes, besides its data and the values it starts from.

    Attributes
    ----------
    epochs : int
        Times through the data.
    rate : float
        The first steps, in centipawns.
    result_share : float
        Share of the game's result, not of search's score, in what is predicted.
    seed : int
        Of the order of the positions.
    """

    epochs: int
    rate: float
    result_share: float
    seed: int


def read_positions(files: Sequence[Path], most: int | None) -> NDArray[np.void]:
    """Read packed positions, at most so many of each file; OptionError if that cannot be done."""
    parts = []
    for file in files:
        try:
            if file.stat().st_size % PACKED.itemsize:
                raise OptionError(f"{file} does not hold packed positions")
            parts.append(np.fromfile(file, PACKED, -1 if most is None else most))
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
    return np.concatenate(parts)


def train(training: Sequence[Block], start: NDArray[np.int64], state: State, settings: Settings) -> None:
    """Go once through the training positions, and move the values of the state.

    Parameters
    ----------
    training : sequence of Block
        The positions.
    start : array of shape (TERM_VALUES, 2)
        The values that the run began with.
    state : State
        Its values, step counts and epoch are changed.
    settings : Settings
    """
    order = np.random.default_rng((settings.seed, state.epoch)).permutation(len(training))
    for done, number in enumerate(order):
        progress = (state.epoch + done / len(order)) / settings.epochs
        rate = settings.rate * (_LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2)
        slope, _ = gradient(training[number], state.values, state.scale, settings.result_share)
        state.values += state.adam.step(slope, rate) - rate * _DECAY * (state.values - start)
    state.epoch += 1


@dataclass
class State:
    """How far the tuning has come.

    Attributes
    ----------
    setup : dict
        What makes two runs the same, as JSON can hold it.
    values : array of shape (TERM_VALUES, 2)
        Of the terms, in centipawns.
    adam : Adam
    scale : float
        Texel's K; 0 before it is fitted.
    epoch : int
        Times gone through the data.
    losses : list of pairs of float
        The errors of training and validation, before the first epoch and after each.
    """

    setup: dict[str, Any]
    values: Values
    adam: Adam
    scale: float = 0.0
    epoch: int = 0
    losses: list[tuple[float, float]] = field(default_factory=list)

    def note_losses(self, training: Sequence[Block], validation: Sequence[Block], share: float) -> None:
        """Note the mean squared errors, of the training positions on as many as are kept for validation."""
        parts = (training[: len(validation)], validation)
        first, second = (mean_error(blocks, self.values, self.scale, share) for blocks in parts)
        self.losses.append((first, second))

    def save(self, folder: Path) -> None:
        """Write the state, so that at any time it is there whole; OptionError if that cannot be done."""
        beside = folder / f".{_STATE}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as stream:
                np.savez(
                    stream,
                    setup=json.dumps({"format": FORMAT, **self.setup}),
                    values=self.values,
                    mean=self.adam.mean,
                    square=self.adam.square,
                    numbers=np.array([self.adam.steps, self.epoch]),
                    scale=self.scale,
                    losses=np.array(self.losses),
                )
            beside.replace(folder / _STATE)
        except OSError as error:
            raise OptionError(f"cannot write {folder}: {error.strerror}") from None

    @classmethod
    def load(cls, folder: Path, setup: dict[str, Any]) -> State | None:
        """Read the state in a folder; None if there is none.

        Raises
        ------
        OptionError
            If it belongs to another run or cannot be read.
        """
        file = folder / _STATE
        if not file.exists():
            return None
        try:
            with file.open("rb") as stream, np.load(stream) as saved:
                found = json.loads(str(saved["setup"]))
                adam = Adam(saved["values"].shape)
                adam.mean, adam.square = saved["mean"], saved["square"]
                adam.steps, epoch = saved["numbers"].tolist()
                losses = [(first, second) for first, second in saved["losses"].tolist()]
                state = cls(setup, saved["values"], adam, float(saved["scale"]), epoch, losses)
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
            raise OptionError(f"{file} is not the state of a run") from None
        if found != {"format": FORMAT, **setup}:
            raise OptionError(f"{file} belongs to another run: give another folder, or the same arguments")
        return state


def plot_losses(losses: Sequence[tuple[float, float]], folder: Path) -> None:
    """Draw the loss curve as a PNG in a folder; OptionError if it cannot be written."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="epoch", ylabel="mean squared error", title="Texel tuning")
    for number, name in enumerate(("training", "validation")):
        axes.plot([pair[number] for pair in losses], label=name)
    axes.grid(alpha=0.3)
    axes.legend()
    try:
        figure.savefig(folder / _PLOT, dpi=110)
    except OSError as error:
        raise OptionError(f"cannot write {folder / _PLOT}: {error.strerror}") from None
