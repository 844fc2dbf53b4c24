"""Tunes the values of the classical evaluation's terms to positions of games (Texel's method)."""

from __future__ import annotations

import argparse
import json
import math
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knightadder.arguments import positive
from knightadder.engine.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knightadder.workshop.texel import Adam, Block, Values

FORMAT = 1

_STATE, _PLOT = "state.npz", "loss.png"
_VALIDATION = 20  # one position in so many is kept for validation
_LAST_RATE = 0.02  # of the first rate, to which it falls along a cosine
# How fast values return to where they started (decoupled weight decay), for each step of a centipawn: next to nothing,
# but for values that hardly ever count, or that others can make up for.
_DECAY = 1e-3


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``texel``."""
    command = commands.add_parser(
        "texel",
        help="tune the classical evaluation to positions of games",
        description="Tune the values of the classical evaluation's terms to the results of games (Texel's method). "
        "`knightadder datagen` makes the positions. State and loss curve are kept in a folder; the same command goes "
        "on from there.",
    )
    command.add_argument("data", type=Path, nargs="+", metavar="FILE", help="packed positions")
    command.add_argument("--state", type=Path, required=True, metavar="FOLDER", help="for the state and the loss curve")
    command.add_argument("--epochs", type=positive, default=40, metavar="N", help="times through the data; 40")
    command.add_argument("--positions", type=positive, metavar="N", help="use so many positions of each file at most")
    command.add_argument("--rate", type=_positive_number, default=1.0, metavar="CP", help="first step, centipawns; 1")
    command.add_argument(
        "--result-share",
        type=_share,
        default=0.7,
        metavar="S",
        help="share of the game's result, not of search's score, in what is predicted; 0.7",
    )
    command.add_argument("--start", type=Path, metavar="FILE", help="values to start from; by default the engine's")
    command.add_argument("--out", type=Path, metavar="FILE", help="where to write the values; by default the engine's")
    command.add_argument("--seed", type=int, default=1, metavar="N", help="of the order of the positions; 1")
    command.set_defaults(run=run)


def _positive_number(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; returns the exit status.

    Raises
    ------
    OptionError
        If an argument is wrong, a file cannot be used, or the state belongs to another run.
    """
    from knightadder.core.layout import CLASSICAL
    from knightadder.core.tables import new_tables
    from knightadder.core.terms import VALUES_FILE, read_values, write_values
    from knightadder.core.tracing import Tracer
    from knightadder.workshop import texel

    try:
        start = read_values(arguments.start or VALUES_FILE)
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot read the values to start from: {error}") from None
    records = _read(arguments.data, arguments.positions)
    np.random.default_rng(arguments.seed).shuffle(records)
    setup = {
        "positions": len(records),
        "epochs": arguments.epochs,
        "rate": arguments.rate,
        "result-share": arguments.result_share,
        "start": start.ravel().tolist(),
        "seed": arguments.seed,
    }
    state = State.load(arguments.state, setup) or State(setup, start.astype(float), texel.Adam(start.shape))

    from rich.progress import track

    traced = texel.trace_blocks(Tracer(new_tables(CLASSICAL)), records)
    try:
        blocks = list(track(traced, description="Tracing", total=-(-len(records) // texel.BLOCK)))
    except ValueError as error:
        raise OptionError(f"cannot use the data: {error}") from None
    held_back = max(1, len(blocks) // _VALIDATION)
    validation, training = blocks[:held_back], blocks[held_back:]
    if not training:
        raise OptionError(f"{len(records)} positions are not enough: at least {2 * texel.BLOCK} are")
    if not state.scale:
        state.scale = texel.fit_scale(training, state.values)
        state.note(_errors(training, validation, state, arguments.result_share))
    print(f"{len(records)} positions, K = {state.scale:.5f}")
    try:
        while state.epoch < arguments.epochs:
            _train(training, start, state, arguments)
            state.note(_errors(training, validation, state, arguments.result_share))
            state.save(arguments.state)
            plot(state.losses, arguments.state / _PLOT)
            print(
                f"epoch {state.epoch}/{arguments.epochs}  training {state.losses[-1][0]:.6f}  "
                f"validation {state.losses[-1][1]:.6f}",
                flush=True,
            )
    except KeyboardInterrupt:
        print(f"The state is in {arguments.state}; the same command goes on from there", file=sys.stderr)
        raise
    out = arguments.out or VALUES_FILE
    try:
        write_values(np.rint(texel.settle(training, state.values)).astype(np.int64), out)
    except OSError as error:
        raise OptionError(f"cannot write {out}: {error.strerror}") from None
    print(f"The values are in {out}")
    return 0


def _read(files: Sequence[Path], most: int | None) -> NDArray[np.void]:
    """Read packed positions."""
    from knightadder.core.packed import PACKED

    parts = []
    for file in files:
        try:
            if file.stat().st_size % PACKED.itemsize:
                raise OptionError(f"{file} does not hold packed positions")
            parts.append(np.fromfile(file, PACKED, -1 if most is None else most))
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
    return np.concatenate(parts)


def _errors(training: Sequence[Block], validation: Sequence[Block], state: State, share: float) -> tuple[float, float]:
    """Return the mean squared errors, of the training positions on as many as are kept for validation."""
    from knightadder.workshop.texel import mean_error

    first, second = (
        mean_error(blocks, state.values, state.scale, share) for blocks in (training[: len(validation)], validation)
    )
    return first, second


def _train(training: Sequence[Block], start: NDArray[np.int64], state: State, arguments: argparse.Namespace) -> None:
    """Go once through the training positions."""
    from knightadder.workshop.texel import gradient

    order = np.random.default_rng((arguments.seed, state.epoch)).permutation(len(training))
    for done, number in enumerate(order):
        progress = (state.epoch + done / len(order)) / arguments.epochs
        rate = arguments.rate * (_LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2)
        slope, _ = gradient(training[number], state.values, state.scale, arguments.result_share)
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

    def note(self, losses: tuple[float, float]) -> None:
        """Note the errors after an epoch."""
        self.losses.append(losses)

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
        from knightadder.workshop.texel import Adam

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


def plot(losses: Sequence[tuple[float, float]], file: Path) -> None:
    """Draw the loss curve as a PNG; OptionError if it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="epoch", ylabel="mean squared error", title="Texel tuning")
    for number, name in enumerate(("training", "validation")):
        axes.plot([pair[number] for pair in losses], label=name)
    axes.grid(alpha=0.3)
    axes.legend()
    try:
        figure.savefig(file, dpi=110)
    except OSError as error:
        raise OptionError(f"cannot write {file}: {error.strerror}") from None
