"""Run an EPD test suite over UCI: best moves (``bm``), moves to avoid (``am``), or forced mates (``--mate``).

A position counts as solved by the move the engine plays when its time, nodes or depth are used up. With ``--mate`` it
is also solved by announcing a mate that isn't longer than the wanted one, which is the ``ce +M3`` of the position or
the number given.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

import chess
import chess.engine
from uci_process import resolve_command

# Seconds beyond the limit before an engine counts as hung; the first start of an engine may compile for long.
PATIENCE = 120.0

# python-chess wants numbers after `ce`, and the solution's `pv` isn't needed.
MATE_DISTANCE = re.compile(r"\bce \+?M(\d+);")
PRINCIPAL_VARIATION = re.compile(r"\bpv [^;]*;")


@dataclass(frozen=True, slots=True)
class Problem:
    """A position and what solves it.

    Attributes
    ----------
    name : str
        Its ``id``, or its number in the file.
    board : chess.Board
        The position.
    best, avoid : frozenset of chess.Move
        Moves that solve it; moves any other than which solves it.
    mate : int or None
        Distance of the forced mate in moves.
    """

    name: str
    board: chess.Board
    best: frozenset[chess.Move]
    avoid: frozenset[chess.Move]
    mate: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine made of a problem; moves as SAN, the score in centipawns or ``#n`` from its own view."""

    name: str
    fen: str
    wanted: str
    played: str
    score: str
    depth: int
    solved: bool


def parse_problem(line: str, number: int) -> Problem:
    """Read one line of a suite.

    Parameters
    ----------
    line : str
        Position and operations in EPD.
    number : int
        Names the problem if it has no ``id``.

    Returns
    -------
    Problem
        The position and its solution.

    Raises
    ------
    ValueError
        If the line is no EPD, or has no solution.
    """
    mate = MATE_DISTANCE.search(line)
    line = PRINCIPAL_VARIATION.sub("", MATE_DISTANCE.sub("", line)).strip()
    line = line.replace(" bm bm ", " bm ")  # a slip in a suite that is in wide use
    board, operations = chess.Board.from_epd(line)
    best, avoid = (operations.get(name) or [] for name in ("bm", "am"))
    if not (best or avoid):
        raise ValueError(f"line {number} has neither bm nor am: {line}")
    assert isinstance(best, list) and isinstance(avoid, list)
    return Problem(
        str(operations.get("id", f"#{number}")),
        board,
        frozenset(best),
        frozenset(avoid),
        int(mate[1]) if mate else None,
    )


def read_suite(path: Path) -> list[Problem]:
    """Read the problems of an EPD file, skipping empty lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [parse_problem(line, number) for number, line in enumerate(lines, 1) if line.strip()]


def solve(engine: chess.engine.SimpleEngine, problem: Problem, limit: chess.engine.Limit, mate: int | None) -> Answer:
    """Let an engine think about a problem.

    Parameters
    ----------
    engine : chess.engine.SimpleEngine
        The engine; it is told that a new game begins.
    problem : Problem
        The problem.
    limit : chess.engine.Limit
        Time, nodes or depth.
    mate : int or None
        Also accept any move with the announcement of a mate in so many moves, or less.

    Returns
    -------
    Answer
        What it played and whether that is right.
    """
    board = problem.board
    result = engine.play(
        board, limit, game=object(), info=chess.engine.Info.BASIC | chess.engine.Info.SCORE, ponder=False
    )
    score = result.info.get("score")
    announced = score.pov(board.turn).mate() if score else None
    solved = result.move in problem.best or (bool(problem.avoid) and result.move not in problem.avoid)
    if mate is not None and announced is not None and 0 < announced <= mate:
        solved = True
    wanted = [board.san(move) for move in problem.best] + [f"not {board.san(move)}" for move in problem.avoid]
    return Answer(
        name=problem.name,
        fen=board.fen(),
        wanted=" ".join(sorted(wanted)),
        played=board.san(result.move) if result.move else "(none)",
        score=str(score.pov(board.turn)) if score else "-",
        depth=result.info.get("depth", 0),
        solved=solved,
    )


def run(
    problems: list[Problem], arguments: argparse.Namespace, command: list[str], limit: chess.engine.Limit
) -> list[Answer]:
    """Solve all problems with as many engines at once as asked for.

    Parameters
    ----------
    problems : list of Problem
        The suite.
    arguments : argparse.Namespace
        Reads ``option``, ``mate`` and ``concurrency``.
    command : list of str
        Starts an engine.
    limit : chess.engine.Limit
        Time, nodes or depth a problem.

    Returns
    -------
    list of Answer
        In the order of the problems.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(problems)):
        waiting.put(index)
    answers: dict[int, Answer] = {}
    errors: list[Exception] = []

    def work() -> None:
        try:
            with chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE) as engine:
                engine.configure(dict(option.split("=", 1) for option in arguments.option))
                while not errors:
                    index = waiting.get_nowait()
                    problem = problems[index]
                    mate = problem.mate if arguments.mate == 0 else arguments.mate
                    answers[index] = solve(engine, problem, limit, mate)
                    if sys.stderr.isatty():
                        solved = sum(answer.solved for answer in list(answers.values()))
                        print(
                            f"\r{len(answers)}/{len(problems)}  {solved} solved ", end="", file=sys.stderr, flush=True
                        )
        except queue.Empty:
            pass
        except Exception as error:  # a thread's exception would be lost
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(arguments.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if errors:
        raise errors[0]
    return [answers[index] for index in range(len(problems))]


def main() -> int:
    """Run a suite and print what was solved and what wasn't."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="EPD file")
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="UCI option, repeatable")
    limits = parser.add_mutually_exclusive_group(required=True)
    limits.add_argument("--time", type=float, help="seconds a position")
    limits.add_argument("--nodes", type=int, help="nodes a position")
    limits.add_argument("--depth", type=int, help="plies")
    parser.add_argument(
        "--mate", type=int, nargs="?", const=0, metavar="N", help="accept a mate in N, or in the ce +M of the position"
    )
    parser.add_argument("--concurrency", type=int, default=2, help="engines at once (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write all answers to this file")
    parser.add_argument("--first", type=int, help="only the first so many positions")
    arguments = parser.parse_args()

    problems = read_suite(arguments.file)[: arguments.first]
    limit = chess.engine.Limit(time=arguments.time, nodes=arguments.nodes, depth=arguments.depth)
    answers = run(problems, arguments, resolve_command(arguments.engine), limit)
    for answer in answers:
        if not answer.solved:
            print(
                f"{answer.name:20} wanted {answer.wanted}, "
                f"played {answer.played} ({answer.score}, depth {answer.depth})"
            )
    solved = sum(answer.solved for answer in answers)
    print(f"{arguments.file.name}: {solved} of {len(answers)} solved")
    if arguments.json:
        report = {"suite": arguments.file.name, "solved": solved, "answers": [asdict(answer) for answer in answers]}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
