"""How quickly the opening explorer answers: indexes games, asks for 200 of their positions, and prints the times.

Without a file, random games are made first. Each answer is timed with the index just opened, as `knightadder book ask`
opens it, and with an index that stays open, as the board's. The worst time on a busy machine is that of other programs,
so the processor time is printed, too. No limit is asserted, since machines differ.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

import chess
import chess.pgn
import chess.polyglot

from knightadder import Explorer
from knightadder.pgn.games import BrokenGame, parse, read_texts

ASKED = 200  # positions
MOST_PLIES = 20  # before a position that is asked for
LENGTH = 80  # plies of a random game
SPREAD = 1.2  # of random moves: the smaller, the more of them are played in a position


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="GAMES.pgn", help="random games by default")
    parser.add_argument("--games", type=int, default=20_000, help="number of random games; 20000 by default")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        games, index = arguments.file or Path(folder, "games.pgn"), Path(folder, "games.sqlite")
        if arguments.file is None:
            with games.open("w", encoding="utf-8") as stream:
                for number in range(1, arguments.games + 1):
                    stream.write(random_game(number, random))
            print(f"{arguments.games} random games of at most {LENGTH} plies")
        start = perf_counter()
        command = [sys.executable, "-m", "knightadder", "book", "index", games, "--out", index]
        print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
        print(f"{perf_counter() - start:.0f} s to index, {index.stat().st_size / 1e6:.1f} MB")
        boards = positions(games, random)
        show("just opened", [time_to_answer(index, board) for board in boards])
        with Explorer(index) as explorer:
            show("kept open", [time_to_answer(explorer, board) for board in boards])
    return 0


def random_game(number: int, random: Random) -> str:
    """Return a game as PGN: in each position a few of the moves are played much more often than the others."""
    board = chess.Board()
    moves: list[str] = []
    while len(moves) < LENGTH and (legal := list(board.legal_moves)):
        first = chess.polyglot.zobrist_hash(board) % len(legal)
        moves.append(board.san_and_push(legal[(first + int(random.expovariate(SPREAD))) % len(legal)]))
    result = board.result() if board.is_checkmate() else random.choices(("1-0", "1/2-1/2", "0-1"), (38, 34, 28))[0]
    white, black = (max(1000, round(random.gauss(2200, 250))) for _ in range(2))
    date = f"{random.randint(1970, 2025)}.{random.randint(1, 12):02}.{random.randint(1, 28):02}"
    headers = {"Event": "Random", "Site": "?", "Date": date, "Round": number, "White": f"Player {white}"}
    headers |= {"Black": f"Player {black}", "Result": result, "WhiteElo": white, "BlackElo": black}
    return "\n".join(f'[{name} "{value}"]' for name, value in headers.items()) + f"\n\n{' '.join(moves)} {result}\n\n"


def positions(file: Path, random: Random) -> list[chess.Board]:
    """Choose positions of games, each after a random number of plies; the first is the start of a game."""
    games = list(whole_games(file))
    boards = [games[0].board()]
    while len(boards) < ASKED:
        game = random.choice(games)
        board = game.board()
        for move in list(game.mainline_moves())[: random.randint(0, MOST_PLIES)]:
            board.push(move)
        boards.append(board)
    return boards


def whole_games(file: Path, most: int = 2000) -> Iterator[chess.pgn.Game]:
    for text in read_texts(file):
        if text.number > most:
            return
        try:
            game = parse(text)
        except BrokenGame:
            continue
        if game is not None:
            yield game


def time_to_answer(explorer: Explorer | Path, board: chess.Board) -> tuple[float, float]:
    """Return the milliseconds of the moves and the best games of a position: on the clock, and of the processor."""
    starts = perf_counter(), process_time()
    if isinstance(explorer, Path):
        with Explorer(explorer) as opened:
            opened.moves(board), opened.games(board)
    else:
        explorer.moves(board), explorer.games(board)
    return 1000 * (perf_counter() - starts[0]), 1000 * (process_time() - starts[1])


def show(how: str, times: list[tuple[float, float]]) -> None:
    texts = [f"median {median(each):.2f} ms, worst {max(each):.2f} ms" for each in zip(*times, strict=True)]
    print(f"{len(times)} positions, index {how}: {texts[0]}; of the processor {texts[1]}")


if __name__ == "__main__":
    sys.exit(main())
