"""Make the package's table of opening names from the files of github.com/lichess-org/chess-openings.

python tools/make_opening_names.py a.tsv b.tsv c.tsv d.tsv e.tsv
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import chess
import chess.pgn

from knightadder.cli import EXIT_OK, exit_status
from knightadder.engine.errors import PositionError
from knightadder.files import reading, write_whole

TABLE = Path(__file__).parents[1] / "src" / "knightadder" / "data" / "openings.tsv"

_HEADER = """\
# Names of openings: code of the Encyclopaedia of Chess Openings, name, moves.
# From github.com/lichess-org/chess-openings (public domain, CC0 1.0); made by tools/make_opening_names.py.
"""


def lines_of(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield code, name and moves of each line of a file; PositionError if a line has an illegal move."""
    with reading(file):
        text = file.read_text("utf-8")
    for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        game = chess.pgn.read_game(io.StringIO(row["pgn"]))
        if game is None or game.errors:
            raise PositionError(f"{file}: {row['name']}: {game.errors[0] if game else 'no moves'}")
        moves = chess.Board().variation_san(game.mainline_moves()).split()
        yield row["eco"], row["name"], " ".join(move for move in moves if not move.endswith("."))


def write_table(files: Sequence[Path], out: Path) -> int:
    """Write the table, and return the exit status; PositionError if a line is wrong."""
    lines = sorted({line for file in files for line in lines_of(file)})
    write_whole(out, (_HEADER + "".join("\t".join(line) + "\n" for line in lines)).encode())
    return EXIT_OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE.tsv", help="tables with the columns eco, name, pgn"
    )
    parser.add_argument(
        "--out", type=Path, default=TABLE, metavar="FILE", help="the table to write (default: the package's)"
    )
    options = parser.parse_args(arguments)
    return exit_status("make_opening_names", lambda: write_table(options.files, options.out))


if __name__ == "__main__":
    sys.exit(main())
