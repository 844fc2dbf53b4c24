"""Count how often each function of the core is called in a short search, by running the core as plain Python.

The counts are the same as in the compiled core, but the seconds are not: plain Python is hundreds of times slower, and
not equally in all functions.
"""

import argparse
import cProfile
import os
import pstats
import sys
from pathlib import Path

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def profile(fen: str, depth: int, with_helpers: bool = False) -> dict[tuple[str, str], int]:
    """Search a position, and return the number of calls of each kernel of the core, by module and name.
    `with_helpers` adds the functions that LLVM inlines.
    """
    os.environ["KNIGHTADDER_INTERPRET"] = "1"  # before the core is imported
    import numpy as np

    from knightadder.engine.engine import Engine
    from knightadder.engine.options import Options
    from knightadder.engine.search_thread import Root, SearchThread
    from knightadder.native.jit import KERNELS

    np.seterr(over="ignore")  # magic bitboards multiply with intended overflow
    options = Options()
    options.set("EvalType", "pesto")
    engine = Engine(options)
    engine.set_position(fen)
    root = Root(engine._tables, engine._game, engine._game.legal_moves(), engine._table, np.zeros(1, np.uint64))
    alone = SearchThread(root, engine._workers[0])
    alone.prepare()
    profiler = cProfile.Profile()
    profiler.runcall(alone.deepen, 1, depth)
    kernels = {(function.__code__.co_filename, function.__name__) for function in KERNELS if not KERNELS[function]}
    calls: dict[tuple[str, str], int] = {}
    for (file, _, name), (_, count, *_) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        if (file, name) in kernels or (with_helpers and "core" in Path(file).parts):
            calls[Path(file).stem, name] = count
    engine.close()
    return calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fen", default=KIWIPETE, help="position (default: Kiwipete)")
    parser.add_argument("--depth", type=int, default=3, help="depth of the search (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=15, help="number of functions to show (default: %(default)s)")
    parser.add_argument("--helpers", action="store_true", help="also count the small functions that LLVM inlines")
    arguments = parser.parse_args()
    calls = profile(arguments.fen, arguments.depth, arguments.helpers)
    for (module, name), count in sorted(calls.items(), key=lambda item: -item[1])[: arguments.rows]:
        print(f"{count:9,}  {module}.{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
