"""Compares networks by their errors against a reference engine, in positions that search meets.

The positions are from games that `knightadder train` holds out, followed by one to four random moves, two fifths of
which are captures. The reference engine (for example Stockfish) searches each position with several thousand nodes; its
win, draw and loss figures give the expected result. A network's value comes from a search to depth 1, which resolves
captures. A logistic curve with the best-fitting slope converts the value to an expected result. The mean squared
difference is the error. The other networks are compared with the first one, with a 95 % interval that only accounts for
the choice of positions. Trainings with different seeds differ, too.

Errors in the quiet positions of games are less meaningful: a network that lost 81 Elo had a smaller error there.

    python benchmarks/network_errors.py games --engine stockfish --labels labels.txt old.nnue new.nnue
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import chess
import chess.engine
import numpy as np

import knightadder
from knightadder.cli import EXIT_OK, exit_status
from knightadder.core.board.packed import record_fen
from knightadder.engine.errors import EngineError, OptionError
from knightadder.files import reading
from knightadder.workshop.datagen.reader import Filter
from knightadder.workshop.train.selection import SelectedGames, Selection, Targets

_CAPTURES = 0.4  # share of captures among the random moves, if there are captures
_OF_A_CHUNK = 8  # maximum number of positions from each chunk, so that they come from many games
_HIGHEST = 3000  # maximum score in centipawns; greater scores and mates count as this score
_SLOPES = np.arange(0.3, 8.0, 0.1) / 200


def labels(folder: Path, engine: str, nodes: int, count: int, file: Path) -> None:
    """Write `count` positions, with the expected results for the side to move, into a file."""
    chance = random.Random(1)
    games = SelectedGames([folder], Selection.of([folder]), Filter(16, _HIGHEST, quiet=True), Targets(0.0, 200))
    lines: list[str] = []
    with chess.engine.SimpleEngine.popen_uci(engine) as oracle:
        oracle.configure({"UCI_ShowWDL": True})
        for chunk in np.random.default_rng(1).permutation(len(games.moves)):
            for record in games.validation(chunk)[:_OF_A_CHUNK]:
                board = chess.Board(record_fen(record, chess960=True), chess960=True)
                for _ in range(chance.randint(1, 4)):
                    moves = list(board.legal_moves)
                    captures = [move for move in moves if board.is_capture(move)]
                    chosen = captures if captures and chance.random() < _CAPTURES else moves
                    if chosen:
                        board.push(chance.choice(chosen))
                if not any(board.legal_moves):
                    continue
                info = oracle.analyse(board, chess.engine.Limit(nodes=nodes), game=object())
                lines.append(f"{board.fen()};{info['wdl'].pov(board.turn).expectation()}\n")
                if len(lines) == count:
                    file.write_text("".join(lines))
                    return
    raise OptionError(f"there are only {len(lines)} positions in {folder}")


def read_labels(file: Path) -> tuple[list[chess.Board], np.ndarray]:
    """Return the positions in a file, with the expected results; OptionError if it is not such a file."""
    with reading(file):
        data = file.read_bytes()
    try:
        rows = [line.split(";") for line in data.decode().splitlines()]
        return [chess.Board(fen, chess960=True) for fen, _ in rows], np.array([float(result) for _, result in rows])
    except ValueError:
        raise OptionError(f"{file} is not a file of positions with expected results") from None


def errors(network: Path, boards: list[chess.Board], expected: np.ndarray) -> np.ndarray:
    """Return the squared errors of a network's expected results."""
    limit, values = chess.engine.Limit(depth=1), []
    with knightadder.Engine(options={"EvalFile": str(network)}) as engine:
        for board in boards:
            values.append(engine.analyse(board, limit).score.pov(board.turn).score(mate_score=_HIGHEST))
    value = np.clip(values, -_HIGHEST, _HIGHEST)
    return min(((1 / (1 + np.exp(-value * slope)) - expected) ** 2 for slope in _SLOPES), key=np.mean)


def main() -> int:
    """Label positions unless the file exists, print the error of each network, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="folder of games made by `knightadder datagen`")
    parser.add_argument("networks", type=Path, nargs="+")
    parser.add_argument("--engine", default="stockfish", help="reference engine (default: stockfish)")
    parser.add_argument(
        "--nodes", type=int, default=4000, help="nodes of the reference engine's searches (default: 4000)"
    )
    parser.add_argument("--positions", type=int, default=3000, help="number of positions (default: 3000)")
    parser.add_argument("--labels", type=Path, required=True, help="file for the positions; an existing file is used")
    given = parser.parse_args()
    return exit_status("network_errors", lambda: run(given))


def run(given: argparse.Namespace) -> int:
    if not given.labels.exists():
        try:
            labels(given.games, given.engine, given.nodes, given.positions, given.labels)
        except chess.engine.EngineError as error:  # for example without win, draw and loss figures
            raise EngineError(f"{given.engine}: {error}") from None
    boards, expected = read_labels(given.labels)
    first = None
    for network in given.networks:
        found = errors(network, boards, expected)
        text = f"{network}: {found.mean():.5f} ({len(boards)} positions)"
        if first is not None:
            change = (found - first) / first.mean()
            text += f", {change.mean():+.1%} ± {1.96 * change.std() / len(boards) ** 0.5:.1%}"
        first = found if first is None else first
        print(text, flush=True)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
