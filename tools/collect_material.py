"""Collect material and results from the games of 2026-11-26 in docs/games, into docs/small_engine/material.csv.

Each row is a difference in material: how many more pawns, knights, bishops, rooks and queens one side has than the
other. The last three numbers are that side's wins, draws and losses. Only quiet positions count: neither the last move
nor the next move captures, and no king is in check. It takes 15 seconds.
"""

import argparse
import io
import lzma
from pathlib import Path

import chess.pgn

ROOT = Path(__file__).parents[1]
MATERIAL = ROOT / "docs" / "small_engine" / "material.csv"
LEAST = 20  # minimum number of positions in a row; rarer differences are left out
POINTS = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}


def difference(board: chess.Board) -> tuple[int, ...]:
    """Return how many more pieces of each type White has."""
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens)
    return tuple((white & kind).bit_count() - (black & kind).bit_count() for kind in kinds)


def is_noisy(board: chess.Board, move: chess.Move) -> bool:
    """Return whether a move captures or promotes."""
    return board.is_capture(move) or move.promotion is not None


def collect(game: chess.pgn.Game, counts: dict[tuple[int, ...], list[int]]) -> None:
    """Add the quiet positions of a game."""
    result = POINTS[game.headers["Result"]]
    board, noisy = game.board(), True
    for move in game.mainline_moves():
        before, noisy = noisy, is_noisy(board, move)
        found = difference(board)
        if any(found) and not before and not noisy and not board.is_check():
            # Each row is from the view of the side that has more of the most valuable type whose numbers differ.
            sign = 1 if next(more for more in reversed(found) if more) > 0 else -1
            counts.setdefault(tuple(sign * more for more in found), [0, 0, 0])[1 - sign * result] += 1
        board.push(move)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    counts: dict[tuple[int, ...], list[int]] = {}
    for file in sorted((ROOT / "docs" / "games").glob("2026-11-26-*.pgn.xz")):
        with io.TextIOWrapper(lzma.open(file), "utf-8") as stream:
            while game := chess.pgn.read_game(stream):
                collect(game, counts)
    rows = sorted((found, results) for found, results in counts.items() if sum(results) >= LEAST)
    lines = ["pawns,knights,bishops,rooks,queens,won,drawn,lost"]
    lines += [",".join(map(str, (*found, *results))) for found, results in rows]
    MATERIAL.write_text("\n".join([*lines, ""]), "utf-8")
    print(f"{len(rows)} differences in {sum(sum(results) for _, results in rows)} positions: {MATERIAL}")


if __name__ == "__main__":
    main()
