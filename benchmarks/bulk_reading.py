"""Games per CPU second that `knightadder.read_games` reads, compared with python-chess; both take turns in one run.

Without a file, random games are made first; they are written as on Lichess, with clocks and evaluations. python-chess
reads only the first games.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

import chess
import chess.engine
import chess.pgn

from knightadder import read_games
from knightadder.cli import exit_status

PLIES = 80  # plies of a random game
MADE = 400  # number of random games, which are repeated


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="GAMES.pgn", help="file of games (default: random games)")
    parser.add_argument("--games", type=int, default=20_000, help="number of random games (default: 20000)")
    parser.add_argument("--beside", type=int, default=200, help="games for python-chess (default: 200)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the median counts (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or made_games(Path(folder, "games.pgn"), arguments.games)
        first = first_games(file, arguments.beside)
        ratios = []
        for _ in range(arguments.rounds):
            slow = games_a_second(lambda: by_python_chess(first))
            quick = games_a_second(lambda: sum(1 for _ in read_games(file, broken="ignore")))
            moves = games_a_second(
                lambda: sum(1 for game in read_games(file, broken="ignore") if game.tags and game.moves)
            )
            ratios.append(quick / slow)
            print(f"{slow:,.0f} games per second by python-chess, {quick:,.0f} here, {moves:,.0f} with tags and moves")
        print(f"ratio (median): {median(ratios):.0f}")
    return 0


def games_a_second(read: Callable[[], int]) -> float:
    start = process_time()
    games = read()
    return games / (process_time() - start)


def by_python_chess(text: str) -> int:
    stream = io.StringIO(text)
    return sum(1 for _ in iter(lambda: chess.pgn.read_game(stream), None))


def first_games(file: Path, count: int) -> str:
    """Return the text of the first games of a file, so that python-chess reads no more."""
    texts = [game.text for game, _ in zip(read_games(file, broken="ignore"), range(count), strict=False)]
    return "\n\n".join(texts)


def made_games(file: Path, count: int) -> Path:
    random = Random(1)
    games = [made_game(random) for _ in range(min(count, MADE))]
    with file.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(games[number % len(games)])
    return file


def made_game(random: Random) -> str:
    game = chess.pgn.Game()
    tags = {"Event": "Rated Blitz game", "Site": "https://lichess.org/abcdefgh", "WhiteElo": "1750", "BlackElo": "1802"}
    for name, value in (tags | {"TimeControl": "180+0", "Termination": "Normal", "Result": "1-0"}).items():
        game.headers[name] = value
    node: chess.pgn.GameNode = game
    while len(list(node.board().move_stack)) < PLIES and (moves := list(node.board().legal_moves)):
        node = node.add_variation(random.choice(moves))
        node.set_eval(chess.engine.PovScore(chess.engine.Cp(random.randint(-900, 900)), chess.WHITE))
        node.set_clock(max(180 - node.ply(), 0))
    return f"{game.accept(chess.pgn.StringExporter(columns=None))}\n\n"


if __name__ == "__main__":
    sys.exit(exit_status("bulk_reading", main))
