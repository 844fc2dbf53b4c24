"""Fits the weights of puzzles' ratings (`knightadder.puzzles.rating`) to puzzles whose ratings are known.

The file is Lichess's database of puzzles (https://database.lichess.org/#puzzles). Puzzles are drawn evenly from ratings
of 400 to 2800. The fit is a ridge regression; correlation and error are measured on puzzles left out of the fit
(five-fold cross-validation).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from knightadder import Engine
from knightadder.cli import exit_status
from knightadder.puzzles.puzzle import Puzzle
from knightadder.puzzles.rating import WEIGHTS, parts
from knightadder.puzzles.reading import read_puzzles

BAND = 200  # width, in Elo, of the bands of ratings; the same number of puzzles is drawn from each band
BANDS = range(400, 2800, BAND)
FOLDS = 5
PENALTY = 1.0  # factor of the squared weights in the ridge regression

Vector = npt.NDArray[np.float64]


def drawn(puzzles: Sequence[Puzzle], count: int) -> list[Puzzle]:
    """Return about `count` puzzles in random order, the same number from each band of ratings if possible."""
    bands = defaultdict(list)
    for puzzle in puzzles:
        if puzzle.rating is not None:
            bands[puzzle.rating // BAND * BAND].append(puzzle)
    chance = random.Random(1)
    each = count // len(BANDS)
    sample = [puzzle for band in BANDS for puzzle in chance.sample(bands[band], min(each, len(bands[band])))]
    chance.shuffle(sample)
    return sample


def fitted(features: Vector, ratings: Vector) -> Vector:
    """Return the weights of the features; the last feature is 1, and its weight is not penalised."""
    penalty = np.diag([PENALTY] * (features.shape[1] - 1) + [0.0])
    return np.asarray(np.linalg.solve(features.T @ features + penalty, features.T @ ratings), np.float64)


def main() -> int:
    """Print weights, correlation and error, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="lichess_db_puzzle.csv or a part of it; may be compressed")
    parser.add_argument("--count", type=int, default=2400, help="number of puzzles to draw (default: 2400)")
    arguments = parser.parse_args()
    puzzles, complaints = read_puzzles(arguments.file)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sample = drawn(puzzles, arguments.count)
    if len(sample) <= len(WEIGHTS) + FOLDS:
        print(f"{len(sample)} puzzles with ratings are too few for a fit", file=sys.stderr)
        return 1
    with Engine(hash_mb=1) as engine:
        rows = [parts(puzzle.solution, engine) for puzzle in sample]
    features = np.array([[*(float(row[name]) for name in WEIGHTS), 1.0] for row in rows])
    ratings = np.array([float(puzzle.rating or 0) for puzzle in sample])
    predicted = np.zeros_like(ratings)
    for fold in range(FOLDS):
        left_out = np.arange(len(ratings)) % FOLDS == fold
        predicted[left_out] = features[left_out] @ fitted(features[~left_out], ratings[~left_out])
    for name, weight in zip([*WEIGHTS, "base"], fitted(features, ratings), strict=True):
        print(f"{name:16} {weight:8.1f}")
    correlation = np.corrcoef(predicted, ratings)[0, 1]
    error = np.abs(predicted - ratings).mean()
    print(f"{len(sample)} puzzles: correlation {correlation:.2f}, mean error {error:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status("puzzle_ratings", main))
