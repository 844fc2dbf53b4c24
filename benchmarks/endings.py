"""Play endings with Syzygy tablebases against an engine without them: won positions must be won, drawn positions held.

The positions are random and quiet for the side to move; python-chess reads their values from the tables. In won
positions, this engine has the winning side, which is to move: it must give checkmate before a draw can be claimed by
the fifty-move rule or by threefold repetition. In drawn positions, it has the side with the weaker pieces, or either
side if they are equal. Exit status 1 if a win or a draw is thrown away.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import chess.syzygy

from knightadder.engine.errors import EngineError
from knightadder.rules import mates
from knightadder.uci.client import resolve_command

# Materials of won and drawn positions. The first side is stronger, or the sides are equal.
WON = ("KBNvK", "KQvKR", "KRvKP", "KPvKP")
DRAWN = (*WON, "KPvK", "KBPvK", "KRvKB", "KRvKN", "KRvKR", "KQvKP")
EQUAL = ("KPvKP", "KRvKR")
WIN, DRAW = 2, 0  # WDL values in the tables
PATIENCE = 120.0  # seconds for an engine to start, since the first start compiles


@dataclass(frozen=True, slots=True)
class Task:
    """A position to play out: its material, whether it is won for this engine (or drawn), and this engine's side."""

    material: str
    won: bool
    fen: str
    side: chess.Color


@dataclass(frozen=True, slots=True)
class Game:
    """A game from a task's position: the moves, and how the game ended."""

    task: Task
    moves: tuple[str, ...]
    outcome: chess.Outcome

    @property
    def succeeded(self) -> bool:
        """Whether this engine's result is at least the value of the position."""
        return self.outcome.winner == self.task.side or (not self.task.won and self.outcome.winner is None)

    def __str__(self) -> str:
        """Return material, end, FEN and moves of the game."""
        ending = self.outcome.termination.name.lower().replace("_", " ")
        return f"{self.task.material}, {ending}: {self.task.fen} moves {' '.join(self.moves)}"


def random_board(material: str, generator: random.Random) -> tuple[chess.Board, chess.Color]:
    """Return a random legal position with some material, and the colour of the side named first."""
    strong, weak = material.split("v")
    while True:
        board = chess.Board(None)
        colour = generator.random() < 0.5
        sides = [colour] * len(strong) + [not colour] * len(weak)
        squares = generator.sample(chess.SQUARES, len(sides))
        for square, symbol, side in zip(squares, strong + weak, sides, strict=True):
            board.set_piece_at(square, chess.Piece(chess.Piece.from_symbol(symbol).piece_type, side))
        board.turn = generator.random() < 0.5
        if board.is_valid():
            return board, colour


def is_quiet(board: chess.Board) -> bool:
    """Return whether the side to move has several moves, is not in check, and cannot capture, promote or mate."""
    moves = list(board.legal_moves)
    if len(moves) < 2 or board.is_check() or any(board.is_capture(move) or move.promotion for move in moves):
        return False
    return not any(mates(board, move) for move in moves)


def draw_tasks(tables: chess.syzygy.Tablebase, won: bool, count: int, generator: random.Random) -> Iterator[Task]:
    """Yield `count` random positions, taking the materials in turn, all won for the side to move or all drawn.
    MissingTableError if a table is missing.
    """
    materials, value = (WON, WIN) if won else (DRAWN, DRAW)
    for number in range(count):
        material = materials[number % len(materials)]
        while True:
            board, stronger = random_board(material, generator)
            if tables.probe_wdl(board) == value and is_quiet(board):
                break
        if won:
            side = board.turn
        elif material in EQUAL:
            side = generator.random() < 0.5
        else:
            side = not stronger
        yield Task(material, won, board.fen(), side)


def find_ending(board: chess.Board) -> chess.Outcome | None:
    """Return the outcome of a game that is over, or in which a draw can be claimed; else None."""
    outcome = board.outcome()
    if outcome is None and board.is_fifty_moves():
        outcome = chess.Outcome(chess.Termination.FIFTY_MOVES, None)
    if outcome is None and board.is_repetition(3):
        outcome = chess.Outcome(chess.Termination.THREEFOLD_REPETITION, None)
    return outcome


@contextmanager
def started(command: str, options: dict[str, str]) -> Iterator[chess.engine.SimpleEngine]:
    """Start a UCI engine with options for a ``with`` block, and quit it at the end."""
    with chess.engine.SimpleEngine.popen_uci(resolve_command(command), timeout=PATIENCE) as engine:
        engine.configure(options)
        yield engine


def play(task: Task, ours: chess.engine.SimpleEngine, theirs: chess.engine.SimpleEngine, movetime: float) -> Game:
    """Play a position out, with `movetime` seconds per move."""
    board = chess.Board(task.fen)
    limit = chess.engine.Limit(time=movetime)
    outcome = None
    while outcome is None:
        engine = ours if board.turn == task.side else theirs
        move = engine.play(board, limit, game=task).move
        if move is None:
            raise chess.engine.EngineError(f"no move at {board.fen()}")
        board.push(move)
        outcome = find_ending(board)
    return Game(task, tuple(move.uci() for move in board.move_stack), outcome)


def play_all(tasks: list[Task], arguments: argparse.Namespace, job: int) -> list[Game]:
    """Play each of a job's positions with the same two engines, and print each failure immediately."""
    options = {} if arguments.without_tables else {"SyzygyPath": str(arguments.folder)}
    games = []
    with started(arguments.engine, options) as ours, started(arguments.opponent, {}) as theirs:
        for task in tasks[job :: arguments.jobs]:
            games.append(play(task, ours, theirs, arguments.movetime))
            if not games[-1].succeeded:
                print(f"FAILED {games[-1]}", flush=True)
    return games


def show(games: Iterable[Game]) -> None:
    """Print a table: for each material, the wins that were won and the draws that were held."""
    rows = sorted({game.task.material for game in games}, key=DRAWN.index)
    counts = Counter((game.task.material, game.task.won, game.succeeded) for game in games)
    gained = sum(not game.task.won and game.outcome.winner == game.task.side for game in games)
    print(f"{'':10}{'won':>12}{'held':>12}   (draws that were won: {gained})")
    for material in [*rows, "all"]:
        cells = ""
        for won in (True, False):
            of = [material] if material != "all" else rows
            good = sum(counts[name, won, True] for name in of)
            played = good + sum(counts[name, won, False] for name in of)
            cells += f"{f'{good} of {played}' if played else '-':>12}"
        print(f"{material:10}{cells}")


def main() -> int:
    """Play all positions; return exit status 1 if a win or a draw is thrown away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of Syzygy tables with up to four men, WDL and DTZ")
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument("--without-tables", action="store_true", help="play without tables, for comparison")
    parser.add_argument("--opponent", default="stockfish", help="command of a UCI engine (default: %(default)s)")
    parser.add_argument(
        "--positions", type=int, default=100, help="number of won, and of drawn positions (default: %(default)s)"
    )
    parser.add_argument("--movetime", type=float, default=0.05, help="seconds for each move (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="games at the same time (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.positions < 1 or arguments.jobs < 1 or arguments.movetime <= 0:
        parser.error("positions, jobs and movetime must be positive")

    generator = random.Random(arguments.seed)
    print(f"{arguments.positions} won and {arguments.positions} drawn, {arguments.movetime:g} s a move, ", end="")
    print(f"against {arguments.opponent}, seed {arguments.seed}")
    try:
        with chess.syzygy.open_tablebase(str(arguments.folder)) as tables:
            tasks = [task for won in (True, False) for task in draw_tasks(tables, won, arguments.positions, generator)]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            parts = list(pool.map(lambda job: play_all(tasks, arguments, job), range(arguments.jobs)))
    except chess.syzygy.MissingTableError as error:
        print(*error.args, file=sys.stderr)
        return 2
    except (OSError, EngineError, chess.engine.EngineError) as error:
        print(str(error) or "an engine did not answer in time", file=sys.stderr)
        return 2
    games = [game for part in parts for game in part]
    show(games)
    return 0 if all(game.succeeded for game in games) else 1


if __name__ == "__main__":
    sys.exit(main())
