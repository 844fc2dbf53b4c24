"""Measure how quickly the opening explorer indexes games and answers queries: times, size, and each filter's answer.

Without a file, `made_games.py` makes games first. Each query is made at the start position, which all games contain,
and at positions of some games. The times are CPU times, because elapsed time on a busy machine says little. "First" is
the first answer after opening the index, including the opening. There are no limits, because machines differ.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import TypeVar

import chess
from made_games import write

from knightadder import Explorer, GameFilter, read_games
from knightadder.cli import exit_status
from knightadder.engine.errors import OptionError

T = TypeVar("T")

ASKED = 50  # number of positions to query
REPEATED = 5  # number of times that each query is made at the start position
MOST_PLIES = 24  # maximum plies before a queried position
SCANNED = 20_000  # number of games read to choose positions and a player


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="GAMES.pgn", help="file of games (default: made games)")
    parser.add_argument("--games", type=int, default=20_000, help="number of made games (default: 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=Path, help="existing index of the same games")
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        games = arguments.file or Path(folder, "games.pgn")
        if arguments.file is None:
            write(games, arguments.games, arguments.seed)
        index = arguments.index or Path(folder, "games.sqlite")
        if arguments.index is None:
            build(games, index)
        with Explorer(index) as explorer:
            count = len(explorer)
        boards, player = positions(games, random)
        print(f"{count} games, {index.stat().st_size / count:.0f} bytes a game")
        first, _ = timed(lambda: Explorer(index).moves("startpos"))
        print(f"first answer: {first:.1f} ms")
        with Explorer(index) as explorer:
            for name, wanted in filters(player).items():
                show(name, explorer, wanted, boards)
            for name, pieces, material in (("men on squares", "Nd5 Pe4 pd6", ""), ("material", "", "KRPvKR")):
                spent, found = timed(partial(explorer.find, pieces, material))
                print(f"all games with {name}: {len(found)} in {spent / 1000:.1f} s")
            spent, groups = timed(explorer.duplicates)
            print(f"near-duplicates: {len(groups)} groups in {spent / 1000:.1f} s")
    return 0


def build(games: Path, index: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "knightadder", "book", "index", str(games), "--out", str(index)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OptionError(done.stderr.strip())
    print(done.stdout.strip())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    print(f"indexed in {user:.0f} s of the processor and {system:.0f} s of the system, {after.ru_maxrss / 1024:.0f} MB")


def filters(player: str) -> dict[str, GameFilter | None]:
    """Return the filters to query with, by name."""
    return {
        "no filter": None,
        "rating": GameFilter(min_rating=1837, max_rating=2113),
        "date": GameFilter(since="2018-03-15", until="2022-10"),
        "speed": GameFilter(speeds=("blitz", "rapid")),
        "result": GameFilter(result="1-0"),
        "player": GameFilter(player=player),
        "player and colour": GameFilter(player=player, color=chess.BLACK),
        "all of them": GameFilter(1500, 2500, "2015", "2024", ("bullet", "blitz"), player, chess.WHITE, "1-0"),
    }


def positions(file: Path, random: Random) -> tuple[list[chess.Board], str]:
    """Choose positions of games, each after a random number of plies, and the player of the first game."""
    games = [game for _, game in zip(range(SCANNED), read_games(file), strict=False)]
    if not games:
        raise OptionError(f"there is no game in {file}")
    boards = []
    for game in random.choices(games, k=ASKED):
        board = game.board()
        for move in game.moves[: random.randint(0, MOST_PLIES)]:
            board.push(move)
        boards.append(board)
    return boards, games[0].tags["White"]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU time of some work in milliseconds, and its result."""
    begin = process_time()
    result = work()
    return 1000 * (process_time() - begin), result


def ask(explorer: Explorer, wanted: GameFilter | None, board: chess.Board) -> None:
    explorer.moves(board, wanted)
    explorer.games(board, wanted)


def show(name: str, explorer: Explorer, wanted: GameFilter | None, boards: list[chess.Board]) -> None:
    """Print the times of the moves and the best games of the start position, and of other positions."""
    start = chess.Board()
    times = []
    for _ in range(REPEATED):
        times.append(timed(partial(ask, explorer, wanted, start))[0])
    others = [timed(partial(ask, explorer, wanted, board))[0] for board in boards]
    count = sum(move.games for move in explorer.moves(start, wanted))
    print(
        f"{name}: {count} games; start position {median(times):.1f} ms (at worst {max(times):.1f}), "
        f"others {median(others):.1f} ms (at worst {max(others):.1f})"
    )


if __name__ == "__main__":
    sys.exit(exit_status("explorer", main))
