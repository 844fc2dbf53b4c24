"""Play the same match with processes and with a cluster of this machine, in turns, and compare games and speed.

    python benchmarks/match_cluster.py --rounds 5
    python benchmarks/match_cluster.py --games 400 --nodes 300 --kills 10

The engines search a fixed number of nodes, so that the games do not depend on speed; they have hash tables of different
sizes, so that the sides differ. With ``--kills N``, N workers of the cluster are killed (-9), spread over the match.
The comparison of speed needs an idle machine, about ten rounds, and no kills.

Exit status 1 if a game is missing, occurs twice, or differs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess.pgn
import psutil

POLL_SECONDS = 0.2


def worker_processes(command: psutil.Process) -> list[psutil.Process]:
    """Return the workers among the processes of a command: the processes that have engines, or may start engines."""
    found = []
    for child in command.children():
        try:
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


def games_of(log: Path) -> int:
    return max(len(log.read_bytes().splitlines()) - 1, 0) if log.exists() else 0


def play(folder: Path, name: str, where: list[str], options: argparse.Namespace, kills: int) -> tuple[float, int]:
    """Play the match; return its duration in seconds, and the number of killed workers."""
    log, pgn = folder / f"{name}.jsonl", folder / f"{name}.pgn"
    words = ["match", "--engine", "name=A", "option.Hash=1", "--engine", "name=B", "option.Hash=16"]
    words += ["--each", f"nodes={options.nodes}", "--games", str(options.games), "--state", str(log), "--pgn", str(pgn)]
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "knightadder", *words, *where], stdout=subprocess.DEVNULL)
    due = [(number + 1) * options.games // (kills + 1) for number in range(kills)]
    killed = 0
    while process.poll() is None:
        if due and games_of(log) >= due[0]:
            workers = worker_processes(psutil.Process(process.pid))
            if workers:
                os.kill(workers[killed % len(workers)].pid, signal.SIGKILL)
                killed += 1
                due.pop(0)
        time.sleep(POLL_SECONDS)
    if process.returncode:
        sys.exit(f"knightadder match ended with status {process.returncode}")
    return time.perf_counter() - begun, killed


def read_games(folder: Path, name: str) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Return result and moves of each game, by round and White; exit if a game occurs twice."""
    games: dict[tuple[str, str], tuple[str, list[str]]] = {}
    with (folder / f"{name}.pgn").open() as stream:
        while game := chess.pgn.read_game(stream):
            key = game.headers["Round"], game.headers["White"]
            if key in games:
                sys.exit(f"{name}: round {key[0]} with {key[1]} as White is there twice")
            games[key] = game.headers["Result"], [move.uci() for move in game.mainline_moves()]
    numbers = [json.loads(line)["number"] for line in (folder / f"{name}.jsonl").read_bytes().splitlines()[1:]]
    if sorted(numbers) != list(range(len(games))):
        sys.exit(f"{name}: the log does not have each game once")
    return games


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=1000, help="a move")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    ways = {
        "processes": ["--concurrency", str(options.processes)],
        "cluster": ["--cluster", f"local:{options.processes}"],
    }
    ratios = []
    with tempfile.TemporaryDirectory() as temporary:
        expected = None
        for number in range(options.rounds):
            seconds = {}
            for way in sorted(ways, reverse=bool(number % 2)):
                name = f"{way}-{number}"
                kills = options.kills if way == "cluster" else 0
                seconds[way], killed = play(Path(temporary), name, ways[way], options, kills)
                games = read_games(Path(temporary), name)
                expected = expected or games
                same = len(games) == options.games and games == expected
                print(
                    f"{way}: {len(games)} games, {len(games) / seconds[way]:.2f} a second, {killed} workers killed, "
                    f"{'the same games' if same else 'OTHER GAMES'}",
                    flush=True,
                )
                if not same:
                    return 1
            ratios.append(seconds["processes"] / seconds["cluster"])
    print(f"The cluster has {statistics.median(ratios):.1%} of the speed of the processes (median of {len(ratios)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
