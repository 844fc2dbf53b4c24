"""Measure the trainer and distillation: positions per second, by the width of the network and the number of threads.

The positions are from games of the engine against itself, or from a folder of games. Both speeds per CPU second and per
elapsed second are shown; on a shared machine, only the former is meaningful.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from knightadder.cli import main as run_command
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.train.batches import Distiller
from knightadder.workshop.train.trainer import Trainer
from knightadder.workshop.train.weights import Shape, initial_weights

BATCH, WANTED = 16_384, 350_000  # positions in a batch, and target for the positions per CPU second at a width of 256
SCALE, RATE = 200, 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--games", type=Path, metavar="FOLDER", help="folder of games made by datagen (default: play new games)"
    )
    parser.add_argument("--widths", type=int, nargs="+", default=[128, 256, 512], help="default: 128 256 512")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--steps", type=int, default=10, help="steps in a round (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=5, help="number of rounds, of which the best counts (default: %(default)s)"
    )
    arguments = parser.parse_args()
    records = read(arguments.games) if arguments.games else play()
    men = np.unpackbits(np.ascontiguousarray(records["occupied"]).view(np.uint8)).sum() / len(records)
    print(f"{len(records)} positions with {men:.1f} men, batches of {BATCH}, best of {arguments.rounds}")
    for threads in arguments.threads:
        for width in arguments.widths:
            shape = Shape(width, 1, True)
            with Trainer(shape, initial_weights(shape, 1), threads, SCALE, 0.0) as trainer:
                wanted = f"   (wanted: {WANTED:,})" if (width, threads) == (256, 1) else ""
                show(
                    f"training, N = {width}, {threads} threads", lambda: trainer.step(records, RATE), arguments, wanted
                )
                show(f"forward only, N = {width}, {threads} threads", lambda: trainer.loss(records), arguments)
    distiller = Distiller("classical", 3000, 1)
    with ThreadPoolExecutor(1) as pool:
        show("distillation of classical, 1 thread", lambda: distiller.take(records, 1, BATCH, pool), arguments)


def read(folder: Path) -> NDArray[np.void]:
    """Return a batch of quiet positions of games."""
    parts, reader, found = Parts(folder), Reader(), []
    parts.load()
    for words in parts.read():
        found.append(reader.read(words, Filter(16, 3000, True)))
        if sum(map(len, found)) >= BATCH:
            break
    return np.random.default_rng(1).permutation(np.concatenate(found))[:BATCH]


def play() -> NDArray[np.void]:
    """Return a batch of quiet positions of new games."""
    with TemporaryDirectory() as folder:
        games = Path(folder, "games")
        run_command(["datagen", str(games), "--positions", str(2 * BATCH), "--nodes", "50"])
        return read(games)


def show(name: str, work: Callable[[], object], arguments: argparse.Namespace, remark: str = "") -> None:
    """Print the best speed of some rounds."""
    work()  # compiles
    best = wall = 0.0
    for _ in range(arguments.rounds):
        begun, used = time.perf_counter(), time.process_time()
        for _ in range(arguments.steps):
            work()
        count = arguments.steps * BATCH
        wall = max(wall, count / (time.perf_counter() - begun))
        best = max(best, count / (time.process_time() - used))
    print(f"  {name:36} {best:9,.0f} a CPU second {wall:9,.0f} a second{remark}", flush=True)


if __name__ == "__main__":
    main()
