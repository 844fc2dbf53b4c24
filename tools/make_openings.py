"""Make a book of openings for tests of strength: short lines, then a few random moves, with neither side far ahead.

    python tools/make_openings.py book.epd --count 10000

writes ten thousand positions in a few minutes. The lines are the package's opening lines for matches. Positions in
which a short search finds that a random move has lost something are left out.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import chess
import chess.engine

from knightadder.arguments import positive
from knightadder.cli import EXIT_OK, exit_status
from knightadder.files import check_new, write_whole
from knightadder.library.board_engine import Engine
from knightadder.progress import progress
from knightadder.workshop.opening_book import load_book

RANDOM_PLIES = 3  # half of the openings have one more random ply, so that either side may be to move
MOST_CENTIPAWNS = 100  # maximum advantage of a side
NODES = 5000  # nodes of the search that measures the advantage


def openings(count: int, seed: int, score: Callable[[chess.Board], int]) -> Iterator[str]:
    """Yield different openings as EPD; `score` returns the score of a position in centipawns."""
    lines, chance = load_book(order="sequential"), random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        board = lines.opening(chance.randrange(len(lines))).board()
        for _ in range(RANDOM_PLIES + chance.randrange(2)):
            if not board.is_game_over():
                board.push(chance.choice(list(board.legal_moves)))
        epd = board.epd()
        if epd not in seen and not board.is_game_over() and abs(score(board)) <= MOST_CENTIPAWNS:
            seen.add(epd)
            yield epd


def write_book(file: Path, count: int, seed: int) -> int:
    """Write a book, which may replace a file, and return the exit status; EngineError if that fails."""
    check_new(file, force=True)  # before minutes of work
    with Engine() as engine, progress(count, unit="openings") as update:

        def score(board: chess.Board) -> int:
            engine.new_game()
            analysis = engine.analyse(board, chess.engine.Limit(nodes=NODES))
            return analysis.score.relative.score(mate_score=100_000)

        book = []
        for epd in openings(count, seed, score):
            book.append(epd)
            update(len(book), "")
        write_whole(file, "".join(f"{epd}\n" for epd in book).encode())
    return EXIT_OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the book, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the EPD file to write")
    parser.add_argument(
        "--count", type=positive, default=10_000, metavar="N", help="number of openings (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="random seed (default: %(default)s)")
    options = parser.parse_args(arguments)
    return exit_status("make_openings", lambda: write_book(options.file, options.count, options.seed))


if __name__ == "__main__":
    sys.exit(main())
