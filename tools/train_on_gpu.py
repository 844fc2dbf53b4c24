r"""Trains a network on a graphics card with PyTorch, from games that `knightadder datagen` has played.

The training is the same as in `knightadder train`, with the same positions. All positions are kept in the card's
memory, 132 bytes each. A batch is a matrix of ones and zeros, with a row for each side of a position, so the hidden
layer is one matrix product. A CUDA graph contains a whole step, including the choice of the positions and AdamW, and no
step waits for the processor.

The result is a network file, and with ``--weights`` also the weights as written by ``knightadder train --export``.

    pip install torch && pip install '.[train]'
    python tools/train_on_gpu.py games --width 512 --buckets 8 --length 2000000000 --warm-up 1600 \
        --last-result-share 0.2 --later-share 0.65 --out mine.nnue
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.arguments import declare
from knightadder.cli import EXIT_OK, exit_status
from knightadder.core.evaluation.network_file import INPUTS, bucket_of, network_bytes
from knightadder.core.layout import MAX_MEN_ON_BOARD
from knightadder.engine.errors import OptionError
from knightadder.files import check_new, check_outputs, write_whole
from knightadder.workshop.train.command import add_settings, check_name, quantised, settings_of
from knightadder.workshop.train.exchange import write_arrays
from knightadder.workshop.train.kernels import DECAY_1, DECAY_2, EPSILON
from knightadder.workshop.train.run import TrainSettings, first_weights, length
from knightadder.workshop.train.selection import choose, load_positions
from knightadder.workshop.train.trainer import WEIGHT_DECAY
from knightadder.workshop.train.weights import LIMIT, Flat, Shape

try:
    import torch
except ImportError:
    torch = None

_KING, _UNMOVED_ROOK, _ROOK = 5, 6, 3  # codes of packed pieces
_BLOCK = 1 << 21  # positions unpacked at a time
_GRADIENT = 256.0  # factor of gradients in 16 bits, because 16 bits cannot express numbers below 6e-8
_PARTS = 64  # number of parts of a batch whose results are added up at the end
_CHUNKS = 64  # chunks of games that a thread reads at a time


class Data:
    """Positions in the memory of the card. Scores, in centipawns, and results, 0 to 2, are for the side to move.

    `features` has, for each position, the columns of the pieces from the side to move's view, and from the other side's
    view, and after the last piece the column after those of the features and the bias. `men` has the number of pieces.
    """

    def __init__(self, records: Sequence[NDArray[np.void]], shape: Shape, device: torch.device) -> None:
        count = sum(map(len, records))
        self._views = torch.from_numpy(shape.views).to(device)
        self._no_man = shape.king_buckets * INPUTS + 1
        self.features = torch.empty((count, 2, MAX_MEN_ON_BOARD), dtype=torch.int16, device=device)
        self.men = torch.empty(count, dtype=torch.uint8, device=device)
        self.scores = torch.empty(count, dtype=torch.int16, device=device)
        self.results = torch.empty(count, dtype=torch.uint8, device=device)
        first = 0
        for part in records:
            for begin in range(0, len(part), _BLOCK):
                block = np.ascontiguousarray(part[begin : begin + _BLOCK])
                self._unpack(block, slice(first, first + len(block)))
                first += len(block)

    def __len__(self) -> int:
        return len(self.scores)

    def _unpack(self, block: NDArray[np.void], place: slice) -> None:
        """Unpack a block; `features_of` in ``workshop/train/integer_model.py`` does the same in NumPy."""
        device = self.features.device
        octets = torch.from_numpy(block.view(np.uint8).reshape(len(block), -1)).to(device)
        black = octets[:, 24] >> 7
        shifts = torch.arange(8, device=device, dtype=torch.uint8)
        occupied = (octets[:, :8, None] >> shifts & 1).reshape(-1, 64)
        nibbles = torch.stack([octets[:, 8:24] & 15, octets[:, 8:24] >> 4], dim=2).reshape(-1, 32)
        # The squares of the pieces, in order, followed by 64.
        squares = torch.where(occupied.bool(), torch.arange(64, device=device, dtype=torch.uint8), 64)
        squares = squares.sort(dim=1).values[:, :MAX_MEN_ON_BOARD].long()
        kind, owner = (nibbles & 7).long(), (nibbles >> 3).long()
        kind = torch.where(kind == _UNMOVED_ROOK, _ROOK, kind)
        there = squares < 64
        king = there & (kind == _KING)
        self.men[place] = occupied.sum(dim=1).to(torch.uint8)
        for view in range(2):
            side = (black.long() ^ view)[:, None]
            square = (squares * (king & (owner == side))).sum(dim=1, keepdim=True)
            chosen = self._views[square ^ 56 * side]
            turned = 56 * side ^ chosen & 7
            feature = (chosen >> 3) * INPUTS + 384 * (owner ^ side) + 64 * kind + (squares ^ turned)
            self.features[place, view] = torch.where(there, feature, self._no_man).to(torch.int16)
        signed = octets[:, 28].to(torch.int16) | octets[:, 29].to(torch.int16) << 8
        self.scores[place] = torch.where(black.bool(), -signed, signed)
        self.results[place] = torch.where(black.bool(), 2 - octets[:, 30], octets[:, 30])


def _activate(sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the activation of neurons, which is the square of the clipped sum, and its slope."""
    clipped = sums.clamp(0.0, 1.0)
    return clipped * clipped, torch.where(sums < 1.0, 2.0 * clipped, 0.0)


class Model:
    """The weights of a network, with its outputs and gradients.
    `weights` has a row for each column (the last row is the bias), then the output weights and the output biases.
    """

    def __init__(self, flat: Flat, shape: Shape, device: torch.device) -> None:
        self.shape, self.device = shape, device
        self._bias = shape.king_buckets * INPUTS  # column of a batch's matrix, after the columns of the features
        self._columns = self._bias + 64  # multiplying is faster with a multiple of 64
        self.weights = torch.from_numpy(flat.copy()).to(device)
        self.gradient = torch.zeros_like(self.weights)
        self._half = torch.float16 if device.type == "cuda" else torch.float32
        self._activate = torch.compile(_activate) if device.type == "cuda" else _activate
        self.bucket = torch.tensor(
            [max(0, bucket_of(men, shape.buckets)) for men in range(MAX_MEN_ON_BOARD + 1)], device=device
        )

    def parts(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return views of a flat array: rows of features and bias, output weights, output biases."""
        width, buckets = self.shape.width, self.shape.buckets
        rows, outputs, biases = flat.split([(self._bias + 1) * width, buckets * 2 * width, buckets])
        return rows.view(self._bias + 1, width), outputs.view(buckets, 2, width), biases

    def forward(self, features: torch.Tensor, men: torch.Tensor) -> Any:
        """Return the outputs of a batch, and the data for `backward`."""
        count, width = len(men), self.shape.width
        rows, outputs, biases = self.parts(self.weights)
        matrix = torch.zeros((2 * count, self._columns), dtype=self._half, device=self.device)
        matrix.scatter_(1, features.transpose(0, 1).reshape(2 * count, -1).long(), 1.0)
        matrix[:, self._bias] = 1.0
        matrix[:, self._bias + 1] = 0.0
        padded = torch.zeros((self._columns, width), dtype=self._half, device=self.device)
        padded[: self._bias + 1] = rows
        active, slope = self._activate((matrix @ padded).view(2, count, width))
        half = outputs.to(self._half)
        sums = self._product(active[0], half[:, 0].t()) + self._product(active[1], half[:, 1].t())
        bucket = self.bucket[men.long()][:, None]
        return (sums + biases).gather(1, bucket)[:, 0], (matrix, slope, active, half, bucket)

    def backward(self, slopes: torch.Tensor, kept: Any) -> None:
        """Compute the gradient from the derivatives of the loss with respect to the outputs."""
        matrix, slope, active, half, bucket = kept
        rows, outputs, biases = self.parts(self.gradient)
        spread = torch.zeros((len(slopes), self.shape.buckets), device=self.device)
        spread.scatter_(1, bucket, slopes[:, None] * _GRADIENT)
        biases.copy_(spread.sum(dim=0) / _GRADIENT)
        spread = spread.to(self._half)
        hidden = torch.empty_like(slope)
        for view in range(2):
            outputs[:, view] = self._sum_of_products(spread, active[view]) / _GRADIENT
            torch.mm(spread, half[:, view], out=hidden[view])
        hidden *= slope
        found = self._product(matrix.t(), hidden.view(matrix.shape[0], -1))
        rows.copy_(found[: self._bias + 1] / _GRADIENT)

    def _sum_of_products(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return ``a.t() @ b`` in 32 bits, computed in parts: such a small product would occupy only a few cores."""
        parts = math.gcd(len(a), _PARTS)
        left, right = (each.view(parts, -1, each.shape[1]) for each in (a, b))
        return torch.bmm(left.transpose(1, 2), right).float().sum(dim=0)

    def _product(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return the product of two 16-bit matrices in 32 bits."""
        if self.device.type == "cuda":
            return torch.mm(a, b, out_dtype=torch.float32)
        return a @ b

    def flat(self) -> Flat:
        """Return the weights in the order of a network's file."""
        result: Flat = self.weights.cpu().numpy()
        return result


class Run:
    """A training run, which begins with the given weights."""

    def __init__(self, settings: TrainSettings, weights: Flat, data: Data) -> None:
        device = data.scores.device
        self._settings, self._data = settings, data
        self.batch, self.steps = length(settings, len(data))
        self.model = Model(weights, settings.shape, device)
        self._means, self._squares = torch.zeros_like(self.model.weights), torch.zeros_like(self.model.weights)
        schedule = [settings.plan(step, self.steps) for step in range(self.steps)]
        self._schedule = torch.tensor(schedule, dtype=torch.float32, device=device)
        self._step = torch.zeros((), dtype=torch.long, device=device)
        self._first = torch.zeros((), dtype=torch.long, device=device)
        self.loss = torch.zeros((), device=device)
        self._ramp = torch.arange(self.batch, device=device)
        self._chance = torch.Generator(device).manual_seed(settings.seed)
        self._order = torch.randperm(len(data), generator=self._chance, device=device)
        self._left = len(data) // self.batch  # steps until the positions are shuffled again

    def _do_step(self) -> None:
        data, settings = self._data, self._settings
        chosen = self._order[self._ramp + self._first]
        outputs, kept = self.model.forward(data.features[chosen], data.men[chosen])
        rate, share = self._schedule.index_select(0, self._step.clamp(max=self.steps - 1)[None])[0]
        score = torch.sigmoid(data.scores[chosen].float() / settings.scale)
        target = score + share * (data.results[chosen].float() / 2 - score)
        expected = torch.sigmoid(outputs)
        error = expected - target
        size = error.abs()
        self.loss += (size**settings.exponent).mean()
        slopes = settings.exponent * size ** (settings.exponent - 1) * error.sign() * expected * (1 - expected)
        self.model.backward(slopes, kept)
        self._step += 1
        self._first += self.batch
        self._adamw(rate)

    def _adamw(self, rate: torch.Tensor) -> None:
        weights, gradient, steps = self.model.weights, self.model.gradient, self._step.double()
        gradient /= self.batch
        self._means.mul_(DECAY_1).add_(gradient, alpha=1 - DECAY_1)
        self._squares.mul_(DECAY_2).addcmul_(gradient, gradient, value=1 - DECAY_2)
        first, second = 1 - torch.pow(DECAY_1, steps), 1 - torch.pow(DECAY_2, steps)
        change = self._means / first.float() / ((self._squares / second.float()).sqrt_() + EPSILON)
        weights.sub_(rate * change.add_(weights, alpha=WEIGHT_DECAY)).clamp_(-LIMIT, LIMIT)

    def train(self, tell: Callable[[int, float], None], between: int = 2000, until: float = float("inf")) -> None:
        """Train until the end, or until a moment of `time.monotonic`.
        Every `between` steps, `tell` receives the number of steps and the mean loss since the last call.
        """
        step: Callable[[], None] = self._do_step
        if self._step.device.type == "cuda":
            step = self._captured()
        told = 0
        for number in range(1, self.steps + 1):
            if not self._left:
                torch.randperm(len(self._data), generator=self._chance, device=self._order.device, out=self._order)
                self._first.zero_()
                self._left = len(self._data) // self.batch
            self._left -= 1
            step()
            if number % between == 0 or number == self.steps:
                tell(number, float(self.loss) / (number - told))
                told = number
                self.loss.zero_()
                if time.monotonic() > until:
                    break

    def _captured(self) -> Callable[[], None]:
        """Return a CUDA graph of a step; the steps that warm it up are undone."""
        kept = [each.clone() for each in self._state()]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._do_step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._do_step()
        for each, before in zip(self._state(), kept, strict=True):
            each.copy_(before)
        return lambda: graph.replay()

    def _state(self) -> list[torch.Tensor]:
        return [self.model.weights, self._means, self._squares, self._step, self._first, self.loss]

    def errors(self, data: Data) -> tuple[float, float]:
        """Return the mean squared errors against the scores and against the results of other positions."""
        sums = np.zeros(2)
        for first in range(0, len(data), self.batch):
            part = slice(first, first + self.batch)
            expected = torch.sigmoid(self.model.forward(data.features[part], data.men[part])[0])
            score = torch.sigmoid(data.scores[part].float() / self._settings.scale)
            result = data.results[part].float() / 2
            sums += [float(((expected - aim) ** 2).sum()) for aim in (score, result)]
        scores, results = sums / len(data)
        return float(scores), float(results)


def read(settings: TrainSettings, threads: int) -> tuple[list[NDArray[np.void]], NDArray[np.void]]:
    """Return the positions of a run for training, in parts, and the positions for validation."""
    folders = [Path(folder) for folder in settings.games]
    with tempfile.TemporaryDirectory() as place:
        choose(folders, settings.wanted, settings.positions, settings.targets, Path(place), settings.seed)
        selection, validation = load_positions(Path(place))
    chunks = range(sum(map(len, selection.chunks)))
    parts = [chunks[first : first + _CHUNKS] for first in range(0, len(chunks), _CHUNKS)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: settings.reader(selection).training(part), parts)), validation


def main() -> int:
    """Train as the command line says, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+", help="folder of games made by `knightadder datagen`")
    parser.add_argument("--out", type=Path, required=True, help="file for the network")
    parser.add_argument("--weights", type=Path, help="file for the weights as NumPy arrays (.npz)")
    declare(parser, "--force")
    parser.add_argument("--name", default="", help="one line that describes the network")
    add_settings(parser)
    given = parser.parse_args()
    if torch is None:
        parser.error("PyTorch is not installed: see https://pytorch.org")
    if given.distill or given.average:
        parser.error("--distill and --average work only with `knightadder train`")
    return exit_status("train_on_gpu", lambda: train(given))


def train(given: argparse.Namespace) -> int:
    """Train, write the network, and return the exit status."""
    outputs = {"--out": given.out, "--weights": given.weights}
    check_outputs(outputs)
    for file in filter(None, outputs.values()):
        check_new(file, given.force)
    check_name(given.name)
    settings = settings_of(given)
    shape, scale = settings.shape, settings.scale
    first = first_weights(shape, scale, given.start, settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    begun = time.monotonic()
    training, validation = read(settings, os.cpu_count() or 1)
    data, held_out = Data(training, shape, device), Data([validation], shape, device)
    print(f"{len(data)} positions for training, {len(held_out)} for validation: {time.monotonic() - begun:.0f} s")
    run = Run(settings, first, data)
    if run.batch > len(data):
        raise OptionError(f"there are too few positions for batches of {run.batch}: give a smaller --batch")
    begun = time.monotonic()

    def tell(step: int, loss: float) -> None:
        speed = step * run.batch / (time.monotonic() - begun)
        print(f"{step * run.batch / 1e6:.0f} M  loss {loss:.6f}  {speed / 1e6:.2f} M/s", flush=True)

    run.train(tell)
    print("validation: {:.6f} against scores, {:.6f} against results".format(*run.errors(held_out)))
    flat = run.model.flat()
    if given.weights:
        write_arrays(given.weights, flat, shape, scale, given.force)
    write_whole(given.out, network_bytes(quantised(flat, shape, scale, given.name)), force=given.force)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
