"""Pictures of a network: the value of pieces on each square, and the weights of some neurons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from knightadder.core.evaluation.network_file import INPUTS, bucket_of
from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.run_figures import save_figure
from knightadder.workshop.train.integer_model import features_of
from knightadder.workshop.train.selection import open_games
from knightadder.workshop.train.weights import Flat, Shape

WORTH, NEURONS = "network-worth.png", "network-neurons.png"

_MEN = ("pawn", "knight", "bishop", "rook", "queen", "king")
_KING = 5

_READ, _USED = 200_000, 20_000  # numbers of positions to read and to use; neighbours are too similar to use all
_BLOCK = 256  # positions evaluated at a time: an array of all their pieces takes 8 MB at N = 256
_FEWEST = 20  # a square shows a mean only if there are at least this many pieces
_DRAWN = 8  # number of neurons to draw: two columns of four

_COLOURS = colormaps["RdBu"].with_extremes(bad="0.85")
_DOTS_PER_INCH = 100


@dataclass(frozen=True, slots=True)
class NetworkStatistics:
    """Statistics of a network's evaluations of positions. The first three arrays are about the pieces except kings."""

    worth: NDArray[np.float64]  # centipawns that the piece's side loses if the piece is removed
    kinds: NDArray[np.int64]  # types, 0 (pawn) to 4 (queen)
    squares: NDArray[np.int64]  # squares, from the point of view of the piece's side
    shares: NDArray[np.float64]  # share of the views in which an input is switched on
    active: NDArray[np.float64]  # share of the views in which a neuron is switched on
    moves: NDArray[np.float64]  # standard deviation of a neuron's contribution to the value, in centipawns
    outputs: NDArray[np.float64]  # a neuron's mean output weights for the side to move and for the other side


def draw(weights: Flat, shape: Shape, scale: int, games: Sequence[Path], wanted: Filter, folder: Path) -> list[Path]:
    """Draw the pictures of a network into an existing folder, and return their files; existing files are replaced.
    OptionError if the games cannot be read or have too few positions, or a picture cannot be written.
    """
    sample = look(weights, shape, scale, read_positions(games, wanted))
    rows = shape.parts(weights)[0].reshape(shape.king_buckets, INPUTS, shape.width).mean(axis=0)
    chosen = choose(rows, sample, _DRAWN)
    figures = {WORTH: draw_worth(sample), NEURONS: _draw_neurons(rows, sample, chosen)}
    for name, figure in figures.items():
        save_figure(figure, folder / name, _DOTS_PER_INCH, pil_kwargs={"optimize": True})
    return [folder / name for name in figures]


def read_positions(games: Sequence[Path], wanted: Filter) -> NDArray[np.void]:
    """Return positions of games, chosen randomly with a fixed seed; OptionError if there are too few."""
    reader, found = Reader(), []
    for folder in games:
        rest = _READ // len(games)
        for words in open_games(folder).read():
            found.append(reader.read(words, wanted)[:rest])
            rest -= len(found[-1])
            if rest <= 0:
                break
    records = np.concatenate(found)
    if len(records) < _FEWEST:
        raise OptionError("there are too few positions for pictures")
    return np.random.default_rng(1).permutation(records)[:_USED]


# --- statistics of a network
# -------------------------------------------------------------------------------------------


def look(weights: Flat, shape: Shape, scale: int, records: NDArray[np.void]) -> NetworkStatistics:
    """Evaluate positions by a network, and record the activity of its neurons and the value of each piece."""
    blocks = [_look(weights, shape, scale, records[first : first + _BLOCK]) for first in range(0, len(records), _BLOCK)]
    men, sums = zip(*blocks, strict=True)
    worth, kinds, squares = map(np.concatenate, zip(*men, strict=True))
    shares, active, added, added_squares, outputs = (sum(parts) / len(records) for parts in zip(*sums, strict=True))
    moves = np.sqrt(np.maximum(added_squares - added**2, 0))
    return NetworkStatistics(worth, kinds, squares, shares, active, moves, outputs)


def _look(weights: Flat, shape: Shape, scale: int, records: NDArray[np.void]) -> tuple[tuple[Any, ...], ...]:
    """Return the data of `NetworkStatistics` for some positions: arrays for their pieces, and sums for the averages."""
    feature_weights, feature_biases, output_weights, output_biases = shape.parts(weights)
    rows = np.vstack([feature_weights, np.zeros((1, shape.width), np.float32)])
    views = features_of(records, shape.mirrored, shape.king_buckets)
    places, others = features_of(records, mirrored=False, king_buckets=1)
    own = places < INPUTS // 2
    places = np.where(own, places, others)  # from the point of view of each piece's side
    kinds, squares = places // 64, places % 64
    removable = kinds < _KING  # this also excludes the entries after the last piece

    inputs = len(feature_weights)
    men = (views[0] < inputs).sum(axis=1)
    before = bucket_of(men, shape.buckets)
    after = bucket_of(np.maximum(men - 1, 2), shape.buckets)  # with one piece fewer
    whole, without = output_biases[before], output_biases[after][:, None]
    shares, active, added = np.zeros(inputs + 1), np.zeros(shape.width), np.zeros((len(records), shape.width))
    for side, features in enumerate(views):
        of_men = rows[features]
        sums = feature_biases + of_men.sum(axis=1)
        shares += np.bincount(features.ravel(), minlength=inputs + 1) / 2
        active += (sums > 0).sum(axis=0) / 2
        part = _activation(sums) * output_weights[before, side]
        added += scale * part
        whole = whole + part.sum(axis=1)
        kept = _activation(sums[:, None] - of_men)  # for each piece, the activations of the neurons after its removal
        without = without + np.matmul(kept, output_weights[after, side][:, :, None])[:, :, 0]
    worth = np.where(own, 1, -1) * scale * (whole[:, None] - without)
    outputs = output_weights[before].sum(axis=0)
    return (
        (worth[removable], kinds[removable], squares[removable]),
        (shares[:-1].reshape(-1, INPUTS).sum(axis=0), active, added.sum(axis=0), (added**2).sum(axis=0), outputs),
    )


def _activation(sums: NDArray[Any]) -> NDArray[Any]:
    clipped = np.clip(sums, 0, 1)
    squared: NDArray[Any] = clipped * clipped
    return squared


def choose(feature_weights: NDArray[Any], sample: NetworkStatistics, count: int) -> list[int]:
    """Choose neurons that change the value much and differ from each other; return their indices in order of choice.

    Each neuron is a vector in the direction of its weights (weights of frequent inputs count more), whose length is the
    neuron's effect on the value. Each step chooses the longest vector and removes its component from all other vectors.
    """
    vectors = feature_weights * np.sqrt(sample.shares)[:, None]
    vectors = vectors * (sample.moves / np.maximum(np.linalg.norm(vectors, axis=0), 1e-9))
    chosen: list[int] = []
    while len(chosen) < count:
        lengths = np.linalg.norm(vectors, axis=0)
        lengths[chosen] = -1
        chosen.append(int(lengths.argmax()))
        direction = vectors[:, chosen[-1]] / max(lengths[chosen[-1]], 1e-9)
        vectors = vectors - np.outer(direction, direction @ vectors)
    return chosen


# --- pictures ------------------------------------------------------------------------------------------------------


def draw_worth(sample: NetworkStatistics) -> Figure:
    """Draw the values of the pieces, on boards with a number for each square."""
    figure = Figure((8.6, 5.7), layout="constrained")
    all_axes = figure.subplots(2, 3).ravel()
    boards, means = worth_by_square(sample)
    differences = boards - means[:, None, None]
    most = float(np.nanpercentile(abs(differences), 98)) if np.isfinite(differences).any() else 1.0
    for kind, (axes, board) in enumerate(zip(all_axes, boards, strict=False)):
        image = axes.imshow(differences[kind], origin="lower", cmap=_COLOURS, vmin=-most, vmax=most)
        for (rank, file), worth in np.ndenumerate(board):
            if np.isfinite(worth):
                bright = abs(differences[kind, rank, file]) < 0.65 * most
                colour = "black" if bright else "white"
                axes.text(file, rank, f"{worth:.0f}", ha="center", va="center", fontsize=7, color=colour)
        axes.set_xticks(range(8), "abcdefgh")
        axes.set_yticks(range(8), "12345678")
        title = _MEN[kind] if np.isnan(means[kind]) else f"{_MEN[kind]}: {means[kind]:.0f} on average"
        axes.set_title(title, fontsize=10)
    figure.colorbar(image, ax=list(all_axes[2::3]), shrink=0.7, label="centipawns above or below the average")
    _draw_ranges(all_axes[_KING], sample)
    return figure


def worth_by_square(sample: NetworkStatistics) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean value of pieces in centipawns: on each square from their side's view, and on all squares.
    Each piece type except the king has a board of ranks and files. A square with too few pieces has "not a number".
    """
    places = 64 * sample.kinds + sample.squares
    counts = np.bincount(places, minlength=64 * _KING)
    sums = np.bincount(places, sample.worth, minlength=64 * _KING)
    boards = np.where(counts >= _FEWEST, sums / np.maximum(counts, 1), np.nan)
    of_kinds = counts.reshape(_KING, 64).sum(axis=1)
    means = np.where(of_kinds > 0, sums.reshape(_KING, 64).sum(axis=1) / np.maximum(of_kinds, 1), np.nan)
    return boards.reshape(_KING, 8, 8), means


def _draw_ranges(axes: Axes, sample: NetworkStatistics) -> None:
    """Draw the range of values of the middle 80 % of each type's pieces."""
    for kind in range(_KING):
        worth = sample.worth[sample.kinds == kind]
        if len(worth):
            low, middle, high = np.percentile(worth, [10, 50, 90])
            axes.barh(kind, high - low, 0.6, low, color="tab:blue", alpha=0.5)
            axes.plot([middle, middle], [kind - 0.3, kind + 0.3], color="black")
    axes.set_yticks(range(_KING), _MEN[:_KING])
    axes.set_title("median, and range of 80 %", fontsize=10)
    axes.set(xlabel="centipawns", xlim=(0, None))
    axes.set_box_aspect(1)
    axes.grid(axis="x", alpha=0.3)


def _draw_neurons(feature_weights: NDArray[Any], sample: NetworkStatistics, chosen: Sequence[int]) -> Figure:
    """Draw the weights of each neuron on twelve boards: the six types of the side's pieces, and of the other side's."""
    boards = np.where(sample.shares > 0, feature_weights[:, chosen].T, np.nan).reshape(-1, 2, 6, 8, 8)
    most = float(np.nanpercentile(abs(boards), 98)) or 1.0
    lines = -(-len(chosen) // 2)
    figure = Figure((10, 1.9 * lines + 0.6), layout="constrained")
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=(1.9 * lines, 0.6))[:, 0]
    blocks = upper.subfigures(lines, 2, squeeze=False, hspace=0.04, wspace=0.02)
    for neuron, block, sides in zip(chosen, blocks.ravel(), boards, strict=False):
        own, other = sample.outputs[:, neuron]
        block.suptitle(
            f"output {own:+.2f}, {other:+.2f};  on in {100 * sample.active[neuron]:.0f} %;  "
            f"moves the value by {sample.moves[neuron]:.0f} centipawns".replace("-", "\u2212"),
            fontsize=9,
        )
        for (side, kind), axes in np.ndenumerate(block.subplots(2, 6)):
            image = axes.imshow(sides[side, kind], origin="lower", cmap=_COLOURS, vmin=-most, vmax=most)
            axes.set(xticks=[], yticks=[])
            if side == 0:
                axes.set_title(_MEN[kind], fontsize=8, pad=2)
            if kind == 0:
                axes.set_ylabel(("own", "other's")[side], fontsize=8)
    lower.colorbar(image, cax=lower.add_axes((0.35, 0.7, 0.3, 0.2)), orientation="horizontal", label="weight")
    return figure
