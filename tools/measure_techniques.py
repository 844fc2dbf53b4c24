"""Measure how much each technique helps the large engine, into docs/how-it-works/techniques.json.

The sources of the last commit are copied, and switches are built into the copy: values of search parameters, and a few
changed lines. So one program contains all versions. It searches positions to a fixed depth and with a fixed number of
nodes. It also plays games with equal nodes between the engine with all techniques and the engine without one of them.
All rows grow at the same pace, a pair of games at a time. After an interruption, the same command continues. The whole
takes one to two hours.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import platformdirs

ROOT = Path(__file__).parents[1]
TECHNIQUES_FILE = ROOT / "docs" / "how-it-works" / "techniques.json"

NODES = 2_500  # nodes per move of a game
PAIRS = 200  # pairs of games for each technique
HASH = 4  # MiB
DEPTH, MOST_NODES = 12, 300_000  # depth and maximum nodes of each search that counts nodes
LOOK_NODES = 100_000  # nodes of each search that measures the depth
NEVER = 1_000_000  # a margin that no score reaches
_COUNTED = ("nodes", "seconds", "finished", "depth")  # columns of a row that are measured before its games
_SAVE_EVERY = 210  # pairs of games between two saves


class Edit(NamedTuple):
    """A change of a file. `old` must occur once in it; {off} in `new` is true if the technique is switched off."""

    file: str
    old: str
    new: str


class Technique(NamedTuple):
    """A technique, and how to switch it off: values of search parameters, or changes of the source."""

    name: str
    parameters: Mapping[str, int] = {}
    edits: tuple[Edit, ...] = ()


_SEARCH, _QUIESCENCE = "core/search/search.py", "core/search/quiescence.py"
_PRUNING, _PICKER = "core/search/pruning.py", "core/search/movepick.py"
_HISTORY = "core/search/history.py"
_PROBE = Edit("", "entry = probe(worker, pos.key)\n", "entry = np.int64(0) if {off} else probe(worker, pos.key)\n")

TECHNIQUES = (
    Technique("table", edits=(_PROBE._replace(file=_SEARCH), _PROBE._replace(file=_QUIESCENCE))),
    Technique(
        "quiescence search",
        edits=(
            Edit(
                _QUIESCENCE,
                "    in_check = pos.checkers != ZERO\n",
                "    in_check = pos.checkers != ZERO\n"
                "    if {off}:\n"
                "        return corrected_eval(tables, worker, pos, ply)\n",
            ),
        ),
    ),
    Technique("history of moves", {"bonus_max": 0, "malus_max": 0, "eval_bonus_max": 0}),
    Technique(
        "killers",
        edits=(Edit(_HISTORY, "if frame.killers[0] != move:", "if frame.killers[0] != move and not {off}:"),),
    ),
    Technique(
        "captures by value",
        edits=(
            Edit(
                _PICKER,
                "        frame.stage = GOOD_NOISY\n",
                "        frame.stage = GOOD_NOISY\n"
                "        if {off}:\n"
                "            for i in range(frame.end):\n"
                "                _set_score(frame.scores, i, -i)\n",
            ),
        ),
    ),
    Technique(
        "late move reductions",
        edits=(Edit(_SEARCH, "if depth >= 3 and move_count >", "if not {off} and depth >= 3 and move_count >"),),
    ),
    Technique("null move", {"null_move_margin": NEVER}),
    Technique("reverse futility pruning", {"reverse_futility_depth": -1}),
    Technique("razoring", {"razoring_margin": NEVER}),
    Technique("ProbCut", {"probcut_margin": NEVER}),
    Technique("late move pruning", {"late_moves": NEVER}),
    Technique("futility pruning", {"futility_base": NEVER, "capture_base": NEVER}),
    Technique("history pruning", {"history_margin": NEVER}),
    Technique(
        "exchange pruning",
        edits=(
            Edit(_PRUNING, "if lmr_depth > 7 or not threat_index", "if {off} or lmr_depth > 7 or not threat_index"),
            Edit(_PRUNING, "if depth <= 7 and frame.stage !=", "if not {off} and depth <= 7 and frame.stage !="),
        ),
    ),
    Technique("pruning in quiescence search", {"delta_margin": NEVER, "quiescence_moves": NEVER}),
    Technique("singular extension", {"singular_depth": NEVER}),
    Technique(
        "internal iterative reduction",
        edits=(Edit(_SEARCH, "if hash_move == NO_MOVE and depth", "if not {off} and hash_move == NO_MOVE and depth"),),
    ),
    Technique(
        "aspiration windows",
        edits=(
            Edit(
                "core/api/deepening.py",
                "                _begin_line(worker, depth, line)\n",
                "                _begin_line(worker, depth, line)\n"
                "                if {off}:\n"
                "                    worker.root_alpha, worker.root_beta = -INFINITE, INFINITE\n"
                "                    worker.window = INFINITE\n",
            ),
        ),
    ),
    Technique(
        "upcoming repetition",
        edits=(Edit(_SEARCH, "if alpha < 0 and can_repeat", "if not {off} and alpha < 0 and can_repeat"),),
    ),
    Technique(
        "correction history",
        {
            "correction_pawn": 0,
            "correction_non_pawn": 0,
            "correction_minor": 0,
            "correction_continuation": 0,
            "correction_continuation_4": 0,
        },
    ),
)

# Techniques that depend on another technique are switched off with it: without the table, no node has a hash move, so
# internal iterative reduction would reduce every node.
_WITH = {"table": ("internal iterative reduction",)}

# These techniques are also switched off together, so that the search neither skips nor reduces any move.
SELECTIVE = (
    "late move reductions",
    "null move",
    "reverse futility pruning",
    "razoring",
    "ProbCut",
    "late move pruning",
    "futility pruning",
    "history pruning",
    "exchange pruning",
)

_PARAMETERS = "core/search/parameters.py"
_LAST_PARAMETER = "PARAMETERS = (\n"
_SWITCHES = 'PARAMETERS = (\n    Parameter("without", 0, 0, 1 << 40, "switched off: a bit for each technique"),\n'


def rows() -> dict[str, tuple[str, ...]]:
    """Return the rows of the table: each row's name, and the techniques that are switched off."""
    single = {technique.name: (technique.name, *_WITH.get(technique.name, ())) for technique in TECHNIQUES}
    return {**single, "all pruning and reductions": SELECTIVE}


def switched_off(names: tuple[str, ...]) -> dict[str, int]:
    """Return the values of the search parameters that switch techniques off, without unchanged parameters."""
    values = {"without": 0}
    for number, technique in enumerate(TECHNIQUES):
        if technique.name in names:
            values["without"] |= 1 << number if technique.edits else 0
            values.update(technique.parameters)
    return values


def edits() -> list[Edit]:
    """Return all changes of the source."""
    found = [Edit(_PARAMETERS, _LAST_PARAMETER, _SWITCHES)]
    for number, technique in enumerate(TECHNIQUES):
        test = f"(tables.parameters.without & {1 << number})"
        found += [edit._replace(new=edit.new.replace("{off}", test)) for edit in technique.edits]
    return found


def build_in(package: Path) -> None:
    """Build the switches into a copy of the package; SystemExit if a line is missing."""
    for file, old, new in edits():
        text = (package / file).read_text("utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file} has changed, so a technique cannot be switched off: it must have this text once:\n{old}")
        (package / file).write_text(text.replace(old, new), "utf-8")


# --- in the copy -------------------------------------------------------------------------------------------


class Laboratory:
    """Searches and games of the copy's engine with some techniques switched off."""

    def __init__(self) -> None:
        from knightadder.core.search.parameters import PARAMETERS

        self._all = {parameter.name: parameter.value for parameter in PARAMETERS}

    def values(self, names: tuple[str, ...]) -> dict[str, int]:
        """Return the values of all search parameters with the named techniques switched off."""
        return {**self._all, **switched_off(names)}

    def count(self, names: tuple[str, ...]) -> dict[str, object]:
        """Return the nodes and CPU seconds to a fixed depth, whether all positions reached it, and the median depth.
        The median depth is measured with a fixed number of nodes.
        """
        from knightadder.engine.bench import BENCH_POSITIONS

        nodes, seconds, finished, depths = 0, 0.0, True, []
        for fen in BENCH_POSITIONS:
            reached, visited, took = self._search(names, fen, DEPTH, MOST_NODES)
            nodes += visited
            seconds += took
            finished &= reached == DEPTH
            depths.append(self._search(names, fen, None, LOOK_NODES)[0])
        return {"nodes": nodes, "seconds": round(seconds, 2), "finished": finished, "depth": statistics.median(depths)}

    def _search(self, names: tuple[str, ...], fen: str, depth: int | None, nodes: int) -> tuple[int, int, float]:
        """Search a position; return the last finished depth, the nodes and the CPU seconds."""
        import numpy as np

        from knightadder.core.layout import MAX_DEPTH
        from knightadder.core.worker import WORKER
        from knightadder.engine.evaluator import Evaluator
        from knightadder.engine.game import Game
        from knightadder.engine.hashtable import HashTable
        from knightadder.engine.search_thread import Root, SearchThread
        from knightadder.native.memory import zeroed_bytes

        tables = Evaluator().tables
        for name, value in self.values(names).items():
            setattr(tables.parameters, name, value)
        game = Game(tables)
        game.set_up(fen, ())
        root = Root(tables, game, game.legal_moves(), HashTable(16), np.zeros(1, np.uint64))
        thread = SearchThread(root, zeroed_bytes(WORKER.itemsize).view(WORKER)[0])
        thread.prepare(nodes)
        began = time.process_time()
        thread.deepen(1, depth or MAX_DEPTH)
        return thread.completed, thread.nodes, time.process_time() - began


def measure(folder: Path, out: Path, games: int) -> None:
    """Measure the missing rows and play the missing games, and save the results from time to time."""
    import contextlib

    from knightadder.files import write_whole
    from knightadder.runs import Journal
    from knightadder.workshop.match.statistics.elo import elo_interval, pentanomial
    from knightadder.workshop.match.time_control import Allowance
    from knightadder.workshop.opening_book import load_book
    from knightadder.workshop.selfplay import SelfPlay

    laboratory, book, table = Laboratory(), load_book(), rows()
    names = list(table)
    run = {"format": "techniques", "nodes": NODES, "hash": HASH, "depth": DEPTH, "rows": names, "openings": book.digest}
    with contextlib.ExitStack() as stack:
        counted = stack.enter_context(contextlib.closing(Journal(folder / "nodes.jsonl", run)))
        played = stack.enter_context(contextlib.closing(Journal(folder / "games.jsonl", run)))
        for number, without in enumerate([(), *table.values()]):
            if number not in counted:
                counted.add(number, laboratory.count(without))
                print(["all", *names][number], counted[number], flush=True)

        def save() -> None:
            everything, *searched = counted.entries(lambda entry: {key: entry[key] for key in _COUNTED})
            results = {"all": everything}
            for place, name in enumerate(names):
                entries = played.entries(lambda entry: (entry["number"], entry["points"]))
                counts = pentanomial(points for step, points in entries if step % len(names) == place)
                elo = elo_interval(counts)
                bounds = [round(value) if math.isfinite(value) else None for value in (elo.value, elo.low, elo.high)]
                results[name] = {**searched[place], "pairs": counts, "elo": bounds}
                print(f"{name}: {2 * sum(counts)} games, {bounds} Elo", flush=True)
            text = json.dumps({"nodes": NODES, "look": LOOK_NODES, "depth": DEPTH, "rows": results}, indent=1)
            write_whole(out, f"{text}\n".encode())

        player, everything, since = SelfPlay(Allowance(nodes=NODES), HASH), laboratory.values(()), 0
        for step in range(games // 2 * len(names)):
            if step not in played:
                pair, place = divmod(step, len(names))
                reduced = laboratory.values(table[names[place]])
                first, second = player.play_pair(book.opening(pair % len(book)), everything, reduced)
                played.add(step, {"points": (first + second + 2) / 2})
                since += 1
                if since % _SAVE_EVERY == 0:
                    save()
        save()


# --- the copy --------------------------------------------------------------------------------------------------------


def make_copy(folder: Path) -> Path:
    """Copy the sources of the last commit and build in the switches, unless this is already done; return the folder."""
    source = folder / "src"
    if not source.is_dir():
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", "--format=zip", "HEAD", "src"], check=True, stdout=subprocess.PIPE
        )
        zipfile.ZipFile(io.BytesIO(archive.stdout)).extractall(folder / "new")
        build_in(folder / "new" / "src" / "knightadder")
        (folder / "new" / "src").rename(source)
    return source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--folder",
        type=lambda text: Path(text).resolve(),
        default=platformdirs.user_data_path("knightadder", appauthor=False) / "techniques",
        help="folder for the copy and the finished games (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=lambda text: Path(text).resolve(),
        default=TECHNIQUES_FILE,
        help="output file (default: %(default)s)",
    )
    parser.add_argument(
        "--games",
        type=int,
        default=2 * PAIRS,
        help="number of games for each row; 0 only writes the existing results (default: %(default)s)",
    )
    parser.add_argument("--copied", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.copied:
        measure(options.folder, options.out, options.games)
        return
    source = make_copy(options.folder)
    words = [sys.executable, __file__, "--copied", "--folder", str(options.folder), "--out", str(options.out)]
    os.execve(sys.executable, [*words, f"--games={options.games}"], {**os.environ, "PYTHONPATH": str(source)})


if __name__ == "__main__":
    main()
