"""Test suites: a UCI engine searches each position of an EPD file, and the solved positions are counted.

A position is solved if the engine's best move at the end of its search is right. For a solved position, the output
shows when the engine found the solution that it then kept.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from knightadder.arguments import declare, declare_limits, positive
from knightadder.engine.errors import PositionError
from knightadder.files import STANDARD, check_new, check_outputs, message_stream, write_whole
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.text import tell

if TYPE_CHECKING:
    from knightadder.workshop.problems import Problem
    from knightadder.workshop.suite.solver import Answer, SearchMoment


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``suite``."""
    command = commands.add_parser(
        "suite",
        help="solve the positions of EPD test suites",
        description="Let an engine solve test suites: best moves (bm), moves to avoid (am), mates (dm), points (STS).",
    )
    declare(command, "files", metavar="FILE.epd", help="EPD file with a test suite; - is standard input")
    declare_limits(command)
    add_workers(command, default=1, help="number of engines that work at the same time")
    declare(command, "--threads", help="number of search threads of each engine (default: the engine's own)")
    declare(command, "--hash", help="size of each engine's hash table, in MB (default: the engine's own)")
    declare(command, "--syzygy", "--eval", "--eval-file", "--option", "--engine")
    declare(command, "--chess960", help="read the positions as Chess960 positions")
    command.add_argument("--limit", type=positive, metavar="N", help="use only the first N positions of each suite")
    command.add_argument("--failed", action="store_true", help="list only the positions that were not solved")
    command.add_argument(
        "--json", type=Path, metavar="FILE", help="write all answers to this file as JSON; - is standard output"
    )
    declare(command, "--force")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    import chess.engine

    from knightadder.pgn.game_files import game_files
    from knightadder.uci.uci_engine import chosen_engine, same_engine
    from knightadder.workshop.problems import read_problems
    from knightadder.workshop.suite.solver import Solver, read_answer

    engine, options = chosen_engine(arguments)
    jobs: list[tuple[str, Problem]] = []  # each with the name of its file
    complaints: list[str] = []
    with game_files(arguments.files) as files:
        for name, file in files:
            problems, bad = read_problems(file, arguments.chess960, own_engine=engine is None, name=name)
            jobs += [(name, problem) for problem in problems[: arguments.limit]]
            complaints += bad
    for complaint in complaints:
        tell(complaint)
    if not jobs:
        raise PositionError(f"no position to solve in {', '.join(name for name, _ in files)}")

    limit = chess.engine.Limit(time=arguments.time, nodes=arguments.nodes, depth=arguments.depth)
    answers: dict[int, Answer] = {}
    written = 0  # number of answers printed as lines, in the order of the problems
    engine_name: str | None = None
    to_stdout, stream = arguments.json == STANDARD, message_stream(arguments.json)
    if arguments.json and not to_stdout:
        check_outputs({"--json": arguments.json}, arguments.files, "the positions")
        check_new(arguments.json, arguments.force)
    as_table = stream.isatty()
    try:
        solver = Solver(engine, options, limit, [problem for _, problem in jobs])
        with (
            open_pool(solver, arguments.cluster, min(arguments.concurrency, len(jobs))) as pool,
            progress(len(jobs), unit="positions", stderr=True, place=pool.place) as update,
        ):
            for index, data in pool.run(range(len(jobs))):
                name, answers[index] = read_answer(data, jobs[index][1])
                engine_name = same_engine(engine_name, name)
                update(len(answers), f"{sum(answer.solved for answer in answers.values())} solved")
                while not as_table and written in answers:
                    if not (arguments.failed and answers[written].solved):
                        print(_line(answers[written]), file=stream, flush=True)
                    written += 1
    finally:  # shows the earlier answers even after Ctrl-C or a failure
        suites: dict[str, list[Answer]] = {}
        for index in sorted(answers):
            suites.setdefault(jobs[index][0], []).append(answers[index])
        if as_table:
            _print_tables(suites, arguments.failed, stream)
        _print_sums(suites, stream)
        if arguments.json and (answers or to_stdout):  # without an answer, the report of an earlier run stays
            report = {
                "engine": engine_name,
                "limit": {name: getattr(arguments, name) for name in ("time", "nodes", "depth")},
                "options": options,
                "complete": len(answers) == len(jobs),
                "complaints": complaints,
                "suites": [_report(name, found) for name, found in suites.items()],
            }
            text = json.dumps(report, indent=1)
            if to_stdout:
                print(text)
            else:
                write_whole(arguments.json, f"{text}\n".encode(), force=arguments.force)
    return 0


# --- showing -------------------------------------------------------------------------------------------------------


def summary(answers: Sequence[Answer]) -> str:
    """Return a line with the number of solved problems, any points, and the mean time and nodes of the solutions."""
    solved = [answer.found for answer in answers if answer.found]
    parts = [f"{len(solved)} of {len(answers)} solved ({len(solved) / len(answers):.1%})"]
    maximum = sum(answer.maximum for answer in answers)
    if maximum:
        points = sum(answer.points for answer in answers)
        parts.append(f"{points} of {maximum} points ({points / maximum:.1%})")
    if solved:
        time = sum(moment.seconds for moment in solved) / len(solved)
        nodes = sum(moment.nodes for moment in solved) // len(solved)
        parts.append(f"found after {time:.2f} s, {nodes} nodes on average")
    return ", ".join(parts)


def themes(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    """Return the answers by theme: the part of the name before its number, as in ``Undermine.001``."""
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(re.sub(r"[\W_]*\d+$", "", answer.name), []).append(answer)
    return groups


def _line(answer: Answer) -> str:
    when = "missed" if answer.found is None else f"found at {_moment(answer.found)}"
    points = f", {answer.points}/{answer.maximum} points" if answer.maximum else ""
    return (
        f"{answer.name:20} wanted {answer.wanted}, played {answer.played} ({answer.score}, depth {answer.end.depth}): "
        f"{when}{points}"
    )


def _moment(moment: SearchMoment) -> str:
    return f"depth {moment.depth}, {moment.seconds:.2f} s, {moment.nodes} nodes"


def _print_tables(suites: dict[str, list[Answer]], only_failed: bool, stream: TextIO) -> None:
    from rich.console import Console

    from knightadder.text_table import add_cells, text_table

    columns = "Position", "Wanted", "Played", "Score", "Depth", "Found at depth", "Seconds", "Nodes"
    console = Console(file=stream)
    for name, answers in suites.items():
        with_points = any(answer.maximum for answer in answers)
        table = text_table((*columns, *["Points"] * with_points), left=3, framed=True, title=name)
        for answer in answers:
            if only_failed and answer.solved:
                continue
            found = answer.found
            when = ("missed", "", "") if found is None else (found.depth, f"{found.seconds:.2f}", found.nodes)
            cells = [answer.name, answer.wanted, answer.played, answer.score, answer.end.depth, *when]
            cells += [f"{answer.points}/{answer.maximum}"] * with_points
            add_cells(table, cells, "" if answer.solved else "red")
        if table.row_count:
            console.print(table)


def _print_sums(suites: dict[str, list[Answer]], stream: TextIO) -> None:
    """Print a line for each theme and each whole suite, then a line for all suites together."""
    for name, answers in suites.items():
        groups = themes(answers)
        if 1 < len(groups) <= len(answers) / 5:  # otherwise the names are not themes
            for theme, members in groups.items():
                print(f"{theme}: {summary(members)}", file=stream)
        print(f"{name}: {summary(answers)}", file=stream)
    if len(suites) > 1:
        print(f"all: {summary([answer for answers in suites.values() for answer in answers])}", file=stream)


def _report(name: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return a suite's answers and totals in a form that JSON can hold."""
    return {
        "file": name,
        "positions": len(answers),
        "solved": sum(answer.solved for answer in answers),
        "points": sum(answer.points for answer in answers),
        "maximum": sum(answer.maximum for answer in answers),
        "answers": [asdict(answer) for answer in answers],
    }
