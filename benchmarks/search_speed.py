"""Search speed: nodes per second of user time on eight middle-game positions; the engines take turns in one run.

With ``--prototype``, Knightadder is compared with its prototype: a package of that name (``prototype.engine.Engine``);
give its folder or the parent folder. With ``--network``, Knightadder with this network is compared with its
classical evaluation.

Each engine runs in a separate process, so that caches and threads of the engines do not disturb each other, and
measures the user time of its searches. Both get a hash table of 64 MB, cleared before each search.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import queue
import resource
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

HASH_MB = 64

# Kiwipete, then typical middle games: Italian, King's Indian, Sicilian, isolated pawn, King's Indian with opposite
# wings, Ruy Lopez, hanging centre.
POSITIONS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "r1bq1rk1/ppp1nppp/3p1n2/3Pp3/2P1P3/2N2N2/PP2BPPP/R1BQ1RK1 b - - 0 9",
    "r1b2rk1/2q1bppp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 14",
    "r2q1rk1/pb1nbppp/1p2pn2/8/2BP4/P1N2N2/1P3PPP/R1BQR1K1 w - - 0 12",
    "r1bq1r1k/pppn2bp/3p1n2/3Ppp2/2P1P3/2N1BP2/PP1NB1PP/R2Q1RK1 w - - 0 12",
    "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 b - - 0 9",
    "2rqr1k1/1b2bppp/p1n1pn2/1p6/3P4/1BN2N2/PP2QPPP/R1BR2K1 w - - 4 15",
)

# search(fen, nodes, depth) -> nodes searched, user seconds; None means no limit of this kind
Search = Callable[[str, int | None, int | None], tuple[int, float]]


def prototype_search(folder: Path) -> Search:
    """Load the prototype, from its package or the package's folder, and return a function that searches with it."""
    folder = folder.resolve()
    sys.path.insert(0, str(folder.parent if (folder / "engine.py").exists() else folder))
    module = importlib.import_module("prototype.engine")
    engine = module.Engine(hash_mb=HASH_MB)

    def search(fen: str, nodes: int | None, depth: int | None) -> tuple[int, float]:
        engine.clear()
        start = user_seconds()
        _, searched, _ = engine.think(fen, depth=depth or 64, node_limit=nodes or 2**62)
        return searched, user_seconds() - start

    return search


def our_search(network: Path | None) -> Search:
    """Load Knightadder and return a function that searches with it, by a network or the classical evaluation."""
    from knightadder.engine.engine import Engine
    from knightadder.engine.info import CurrentMove, Info, Message, Result
    from knightadder.engine.limits import Limits

    engine = Engine()
    engine.set_option("Hash", str(HASH_MB))
    if network:
        engine.set_option("EvalFile", str(network))
    engine.set_option("EvalType", "nnue" if network else "classical")

    def search(fen: str, nodes: int | None, depth: int | None) -> tuple[int, float]:
        engine.new_game()
        engine.set_position(fen)
        results: queue.SimpleQueue[Result] = queue.SimpleQueue()

        def on_info(_: Info | CurrentMove | Message) -> None:
            """Ignore progress: only the final nodes count."""

        start = user_seconds()
        engine.go(Limits(nodes=nodes, depth=depth), on_info, results.put)
        results.get()
        seconds = user_seconds() - start
        engine.wait()
        # The result counts the nodes up to the last finished iteration, but the time covers the whole search.
        return int(engine._workers[0].nodes), seconds

    return search


def user_seconds() -> float:
    """Return the user time of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def serve(connection: Connection, load: Callable[[], Search]) -> None:
    """Load an engine in a child process, and answer (fen, nodes, depth) from a pipe by (nodes, user seconds)."""
    search = load()
    while task := connection.recv():
        connection.send(search(*task))


class Contestant:
    """An engine in a separate process; `load` loads it there."""

    def __init__(self, load: Callable[[], Search]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other_end = context.Pipe()
        self._process = context.Process(target=serve, args=(other_end, load), daemon=True)
        self._process.start()
        other_end.close()

    def search(self, fen: str, nodes: int | None, depth: int | None) -> tuple[int, float]:
        """Search one position in the child process; return nodes searched and user seconds."""
        self._connection.send((fen, nodes, depth))
        answer: tuple[int, float] = self._connection.recv()
        return answer

    def close(self) -> None:
        """Stop the process."""
        self._connection.send(None)
        self._process.join()


def main() -> int:
    """Print speeds and ratios, position by position and in total."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    against = parser.add_mutually_exclusive_group(required=True)
    against.add_argument("--prototype", type=Path, metavar="FOLDER", help="compare with the prototype package")
    against.add_argument("--network", type=Path, metavar="FILE", help="compare this network with classical evaluation")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--nodes", type=int, default=3_000_000, help="nodes per search (default: %(default)s)")
    limit.add_argument("--depth", type=int, help="search to this depth instead")
    parser.add_argument("--rounds", type=int, default=3, help="searches of each position (default: %(default)s)")
    arguments = parser.parse_args()
    nodes = None if arguments.depth else arguments.nodes
    for given in filter(None, (arguments.prototype, arguments.network)):
        if not given.exists():
            parser.error(f"there is no {given}")

    if arguments.network:
        names, wanted = ("nnue", "classical"), ""
        loads = partial(our_search, arguments.network), partial(our_search, None)
    else:
        names, wanted = ("Knightadder", "prototype"), "   wanted: at least 1.00"
        loads = partial(our_search, None), partial(prototype_search, arguments.prototype)
    contestants = [Contestant(load) for load in loads]
    for contestant in contestants:
        contestant.search(POSITIONS[0], 20_000, None)

    limit_text = f"depth {arguments.depth}" if arguments.depth else f"{nodes:,} nodes"
    print(f"million nodes per second of user time, {limit_text} a search, median of {arguments.rounds}")
    print(f"{'':12}{names[0]:>12}{names[1]:>14}{'ratio':>10}")
    total_nodes, total_seconds = [0, 0], [0.0, 0.0]
    for number, fen in enumerate(POSITIONS, 1):
        speeds: tuple[list[float], list[float]] = [], []
        for turn in range(arguments.rounds):
            for side in (1, 0) if turn % 2 else (0, 1):
                searched, seconds = contestants[side].search(fen, nodes, arguments.depth)
                speeds[side].append(searched / seconds / 1e6)
                total_nodes[side] += searched
                total_seconds[side] += seconds
        show(str(number), median(speeds[0]), median(speeds[1]))
    ours, theirs = (count / seconds / 1e6 for count, seconds in zip(total_nodes, total_seconds, strict=True))
    show("all", ours, theirs, wanted)
    if arguments.depth:
        ours, theirs = total_seconds
        print(f"user seconds{ours:>12.2f}{theirs:>14.2f}   to depth {arguments.depth}, where less is better")
    for contestant in contestants:
        contestant.close()
    return 0


def show(name: str, ours: float, theirs: float, remark: str = "") -> None:
    """Print a line of the table."""
    print(f"{name:12}{ours:>12.2f}{theirs:>14.2f}{ours / theirs:>10.2f}{remark}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
