"""Compares scores and marks with a second engine's, and fits the scale with which `annotate` and `puzzles` read scores.

    python benchmarks/marks.py measure games.pgn fit.jsonl
    python benchmarks/marks.py fit fit.jsonl
    python benchmarks/marks.py measure others.pgn check.jsonl --their-nodes 300000
    python benchmarks/marks.py check check.jsonl

`measure` evaluates the positions of games with both engines, as `annotate` does. It appends each game to the file as a
line, and the same command continues after an interruption. `fit` prints the scale: for some scores of this engine, the
matching scores of the second engine. `check` marks all moves by both engines' scores, and prints how often the marks
agree. Different games should be used for fitting and for checking.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import numpy as np
import scipy.optimize
import scipy.sparse

from knightadder.arguments import positive
from knightadder.cli import exit_status
from knightadder.library.board_engine import Engine
from knightadder.pgn.games import parse, read_texts
from knightadder.review.accuracy import capped
from knightadder.review.game_evaluation import SearchedPosition, evaluate, from_json, to_json
from knightadder.review.judgement import Judgement, judge
from knightadder.review.review import review
from knightadder.worker_engine import UciAnalyst

KNOTS = (0, 250, 500, 1000, 2500)  # centipawns of this engine


def measure(games: Path, out: Path, command: str, nodes: int, their_nodes: int) -> None:
    """Evaluate games with both engines and append them to a file."""
    known = {json.loads(line)["number"] for line in out.read_text().splitlines()} if out.exists() else set()
    with Engine() as ours, UciAnalyst(command, {"Hash": "16"}) as theirs:
        for text in read_texts(games):
            game = None if text.number in known else parse(text)
            if game is None:
                continue
            board = game.end().board()
            found = {
                "number": text.number,
                "fen": board.root().fen(),
                "moves": [move.uci() for move in board.move_stack],
                "ours": to_json(evaluate(board, ours, chess.engine.Limit(nodes=nodes))),
                "theirs": to_json(evaluate(board, theirs, chess.engine.Limit(nodes=their_nodes))),
            }
            with out.open("a") as stream:
                stream.write(json.dumps(found) + "\n")
            print(text.number, end="\r", file=sys.stderr, flush=True)


def read(file: Path) -> Iterator[tuple[chess.Board, list[SearchedPosition | None], list[SearchedPosition | None]]]:
    """Yield each game of a file: its end with all moves, and both engines' evaluations."""
    for line in file.read_text().splitlines():
        found = json.loads(line)
        board = chess.Board(found["fen"])
        for move in found["moves"]:
            board.push_uci(move)
        yield board, from_json(found["ours"], board), from_json(found["theirs"], board)


# --- the scale -----------------------------------------------------------------------------------------------------


def fit(file: Path) -> list[tuple[int, int]]:
    """Fit the scale: non-decreasing straight lines between the knots, with the smallest sum of absolute errors."""
    pairs = np.array(list(_pairs(file)), float)
    ours, theirs = np.abs(pairs[:, 0]), pairs[:, 1] * np.sign(pairs[:, 0])
    count, steps = len(ours), len(KNOTS) - 1
    # A linear programme, whose variables are the rises from knot to knot and the error of each pair.
    rises = np.array([np.interp(ours, KNOTS, np.arange(len(KNOTS)) > step) for step in range(steps)]).T
    found = scipy.optimize.linprog(
        np.concatenate((np.zeros(steps), np.ones(count))),
        A_ub=scipy.sparse.bmat(
            [[rises, -scipy.sparse.identity(count)], [-rises, -scipy.sparse.identity(count)]], format="csr"
        ),
        b_ub=np.concatenate((theirs, -theirs)),
    )
    return list(zip(KNOTS, [round(value) for value in np.cumsum((0, *found.x[:steps]))], strict=True))


def _pairs(file: Path) -> Iterator[tuple[int, int]]:
    """Yield both engines' scores of each position unless this engine's is a mate; the second is at most `CEILING`."""
    for _, ours, theirs in read(file):
        for our, their in zip(ours, theirs, strict=True):
            cp = None if our is None else our.score.relative.score()
            if cp is not None and their is not None:
                yield cp, capped(their.score.relative)


# --- marks ---------------------------------------------------------------------------------------------------------


def check(file: Path) -> None:
    """Print how often both engines' marks agree, and the table of their marks."""
    table: Counter[tuple[Judgement | None, Judgement | None]] = Counter()
    for board, ours, theirs in read(file):
        table.update(zip(review(board, ours).judgements, _judgements(board, theirs), strict=True))
    moves, agreed = table.total(), sum(count for (our, their), count in table.items() if our is their)
    overdone = sum(table[Judgement.BLUNDER, their] for their in (None, Judgement.INACCURACY))
    print(f"{agreed} of {moves} marks agree ({agreed / moves:.1%}); {overdone} ?? where the other has ?! or none")
    marks = (None, *Judgement)
    print("ours, theirs:", *(_mark(their) for their in marks), sep="\t")
    for our in marks:
        print(_mark(our), *(table[our, their] for their in marks), sep="\t")


def _judgements(board: chess.Board, evaluations: list[SearchedPosition | None]) -> Iterator[Judgement | None]:
    """Judge the moves as `review` does, but by scores on the scale of Stockfish."""
    turn = board.root().turn
    for before, after, move in zip(evaluations, evaluations[1:], board.move_stack, strict=False):
        if before is None or after is None or before.variations[0].moves[0] == move:
            yield None
        else:
            yield judge(before.score.pov(turn), after.score.pov(turn))
        turn = not turn


def _mark(judgement: Judgement | None) -> str:
    return judgement.mark if judgement else "-"


def main() -> int:
    """Run one of the three steps, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    command = steps.add_parser("measure")
    command.add_argument("games", type=Path, help="a PGN file")
    command.add_argument("file", type=Path, help="the file to append to, JSON lines")
    command.add_argument("--engine", default="stockfish", metavar="CMD", help="second engine (default: stockfish)")
    command.add_argument("--nodes", type=positive, default=200_000, help="nodes of this engine (default: 200,000)")
    command.add_argument(
        "--their-nodes", type=positive, default=200_000, help="nodes of the second engine (default: 200,000)"
    )
    for name in ("fit", "check"):
        steps.add_parser(name).add_argument("file", type=Path, help="a file that `measure` has written")
    options = parser.parse_args()
    if options.step == "fit":
        print(fit(options.file))
    elif options.step == "check":
        check(options.file)
    else:
        measure(options.games, options.file, options.engine, options.nodes, options.their_nodes)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status("marks", main))
