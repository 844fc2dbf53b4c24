"""Test whether a change between two commits makes the engine stronger or faster; add a row to the strength log.

    python tools/try_change.py games "check extension" --adds --openings file=book.epd --concurrency 2
    python tools/try_change.py games "no check extension" --simplifies --new my-branch
    python tools/try_change.py games "singular extension from depth 6" --adds --nodes 60000
    python tools/try_change.py games "less time for the first move" --adds --clock 8+0.08 --option nodestime=1000
    python tools/try_change.py games "faster move generator" --adds --clock 8+0.08
    python tools/try_change.py games "value of the queen pair" --adds --option EvalType=classical
    python tools/try_change.py speed --pairs 10

Both versions are commits. They are exported and built in separate folders, so the checkout may change during the test.
``games`` plays until its sequential test is decided, and then adds a row to docs/strength-log.md. The same command
continues an interrupted test. ``nodestime=1000`` lets the clock count nodes, so other work on the machine does not
matter; a test on a real clock needs a machine of its own. ``speed`` compares the user time of ``knightadder bench``.

Exit status: 0 passed or measured, 1 not passed, 2 bad arguments, 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from knightadder.arguments import positive
from knightadder.cli import EXIT_FAILED, EXIT_OK, build_parser, exit_status
from knightadder.engine.errors import EngineError, OptionError
from knightadder.files import locked, reading, write_whole
from knightadder.foreign import parse_json
from knightadder.runs import check_same_run
from knightadder.workshop.match import command as match_command
from knightadder.workshop.match.match_report import CHANGE_COLUMNS, change_row, kinds_text

ROOT = Path(__file__).parents[1]

# The bounds of the sequential tests, in normalized Elo, for changes that add code and for changes that only simplify.
ADDS = (0.0, 8.0)
SIMPLIFIES = (-5.0, 0.0)

NODES = 200_000  # about as many as a move has in a game of 8 s + 0.08 s; gains at a tenth of that were none on a clock

# A game is a draw if, from move 40 on, both scores stay within 0.1 pawns for 8 moves. It is lost after 5 moves with a
# score of -8 pawns.
ADJUDICATION = ("--draw", "movenumber=40", "movecount=8", "score=10", "--resign", "movecount=5", "score=800")

SPEED_DEPTH = 16  # depth of bench; at the default depth, Python's start would be a third of the time


# --- the versions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Version:
    """A commit to test."""

    name: str  # "new" or "base"
    commit: str
    subject: str  # first line of the commit's message
    source: Path  # folder of the exported sources, which contains the package with its compiled core

    def bench(self, depth: int | None = None) -> int:
        """Return the nodes of ``knightadder bench``, which builds the core first; EngineError if it fails."""
        done = subprocess.run(
            [sys.executable, "-m", "knightadder", "bench", *([str(depth)] if depth else [])],
            cwd=self.source,
            env={**os.environ, "PYTHONSAFEPATH": ""},  # otherwise Python may not look for the package there
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        nodes = re.search(r"^(\d+) nodes\b", done.stdout, re.MULTILINE)
        if done.returncode or not nodes:
            raise EngineError(f"{self}: knightadder bench failed")
        return int(nodes[1])

    def __str__(self) -> str:
        """Return one line about the version."""
        return f"{self.name} {self.commit[:10]} ({self.subject})"


def git(*arguments: str) -> bytes:
    """Run git in the checkout, and return its output; OptionError if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing found"]
        raise OptionError(f"git {arguments[0]}: {reason[-1]}")
    return done.stdout


def find_versions(base: str | None, new: str, folder: Path) -> dict[str, Version]:
    """Find the commits ``new`` and ``base`` and export them into a folder; OptionError if they cannot be compared.
    By default, `base` is the commit at which the new commit's branch left main.
    """
    if new == "HEAD" and git("status", "--porcelain", "--", "src"):
        raise OptionError("src has uncommitted changes: commit them, or name a commit with --new")
    commits = {"new": find_commit(new)}
    commits["base"] = find_commit(base) if base else git("merge-base", "main", commits["new"]).decode().strip()
    if commits["new"] == commits["base"]:
        raise OptionError(f"{new} would be tested against itself: name a different commit with --base")
    versions = {}
    for name, commit in commits.items():
        subject = git("log", "-1", "--format=%s", commit).decode(errors="replace").strip()
        versions[name] = Version(name, commit, subject, exported(commit, folder))
    return versions


def find_commit(name: str) -> str:
    """Return the hash of a commit; OptionError if there is no such commit."""
    try:
        return git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except OptionError:
        raise OptionError(f"there is no commit {name}") from None


def exported(commit: str, folder: Path) -> Path:
    """Export the sources of a commit, unless already done, and return their folder."""
    place = folder / "versions" / commit
    if not place.is_dir():
        archive = zipfile.ZipFile(io.BytesIO(git("archive", "--format=zip", commit, "src")))
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as beside:
            archive.extractall(beside)
            try:
                Path(beside, "src").rename(place)
            except OSError:  # another run may have exported the sources first
                if not place.is_dir():
                    raise
    return place


def show_benches(versions: dict[str, Version]) -> dict[str, int]:
    """Build both versions, run bench, and print and return the nodes."""
    benches = {}
    for name, version in sorted(versions.items()):
        benches[name] = version.bench()
        print(f"{version}\nBench: {benches[name]}", flush=True)
    return benches


# --- games ---------------------------------------------------------------------------------------------------------


def run_games(options: argparse.Namespace) -> int:
    """Play games until the test is decided, and add its row to the strength log; return 0 if the test passed."""
    slug = re.sub(r"\W+", "-", options.change.lower()).strip("-")[:80]
    if not slug or re.search(r"[|\n]", options.change):
        raise OptionError("describe the change in one line, without vertical bars")
    row_place(read_log(options.log))
    versions = find_versions(options.base, options.new, options.folder)
    run = options.folder / slug
    run.mkdir(exist_ok=True)
    with locked(run):
        arguments = match_arguments(options, versions, run)
        match = match_command.Match(arguments)  # checks the arguments
        benches = begin(options, versions, run)
        result = read_json(run / "result.json")
        if result is None:
            others = [option for option in options.option if not option.startswith("nodestime=")]  # in `match.limits`
            limits = ", ".join([match.limits, f"{options.hash} MB", *others])
            assert match.sprt is not None
            length = "until it is decided" if match.total is None else f"at most {match.total} games"
            print(
                f"{match.sprt.hypotheses} {match.sprt.model}, {limits}, {match.book.name}, {length}, in {run}",
                flush=True,
            )
            result = play(arguments, options.change, limits, benches["new"])
            write_json(run / "result.json", result)
        if not result["logged"]:
            add_row(options.log, result["row"])
            write_json(run / "result.json", {**result, "logged": True})
        print(f"The test has ended, and its row is in {options.log}:\n{result['row']}")
    return EXIT_OK if result["passed"] else EXIT_FAILED


def match_arguments(options: argparse.Namespace, versions: dict[str, Version], run: Path) -> argparse.Namespace:
    """Return the arguments of ``knightadder match`` for a test."""
    elo0, elo1 = options.bounds
    words = [f"--concurrency={options.concurrency}", f"--state={run / 'games.jsonl'}", *ADJUDICATION]
    for name, version in versions.items():
        words += ["--engine", f"name={name}", f"dir={version.source}"]
    words += ["--each", f"tc={options.clock}" if options.clock else f"nodes={options.nodes}"]
    words += [f"option.{option}" for option in options.option]
    words += [f"option.Hash={options.hash}", "--sprt", f"elo0={elo0}", f"elo1={elo1}", "model=normalized"]
    words += ["--openings", *options.openings] + ["--chess960"] * options.chess960
    if options.max_games:
        words.append(f"--games={options.max_games}")
    return build_parser().parse_args(["match", *words])


def begin(options: argparse.Namespace, versions: dict[str, Version], run: Path) -> dict[str, int]:
    """Build both versions and save the settings that identify the test, unless already done; return the benches.
    EngineError if the folder `run` belongs to another test, a version cannot be built, or there is nothing to test.
    """
    test = {
        "change": options.change,
        **{name: version.commit for name, version in versions.items()},
        "bounds": list(options.bounds),
        "limits": {"clock": options.clock} if options.clock else {"nodes": options.nodes},
        "options": options.option,
        "hash": options.hash,
        "openings": options.openings,
        "chess960": options.chess960,
        "max-games": options.max_games,
    }
    file = run / "run.json"
    known = read_json(file)
    if known is None:
        benches = show_benches(versions)
        if benches["new"] == benches["base"] and not options.clock and not options.option:
            raise OptionError("the benches are equal, so both play the same: compare them by speed")
        known = {**test, "benches": benches}
        write_json(file, known)
    check_same_run(file, known, test, "give the change a different name")
    return dict(known["benches"])


def play(arguments: argparse.Namespace, change: str, limits: str, bench: int) -> dict[str, Any]:
    """Play the missing games; return the row, whether the test passed, and a mark that the row is not logged yet.
    `change` and `limits` are cells of the row, and `bench` is the bench of the new version.
    """
    match, standings = match_command.play(arguments, rows=False)
    verdict = {"passed": "passed", "failed": "failed, dropped"}.get(match.verdict(standings) or "", "not decided")
    faults = [f"{name} {kinds_text(kinds)}" for name, kinds in standings.faults.items() if kinds]
    if faults:
        verdict = f"fault: {', '.join(faults)}"
    row = change_row(standings, match.sprt, limits, match.book.name, change=change, bench=str(bench), verdict=verdict)
    return {"row": row, "passed": verdict == "passed", "logged": False}


def read_json(file: Path) -> dict[str, Any] | None:
    """Return the content of a file that `write_json` has written; None if it does not exist."""
    if not file.exists():
        return None
    with reading(file):
        data = file.read_bytes()
    try:
        content: dict[str, Any] = parse_json(data, dict[str, Any])
    except ValueError as error:
        raise OptionError(f"{file} is damaged: {error}") from None
    return content


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a file as JSON, completely or not at all."""
    write_whole(file, json.dumps(content, indent=1).encode() + b"\n")


# --- the strength log ----------------------------------------------------------------------------------------------


def read_log(file: Path) -> list[str]:
    """Return the lines of the strength log; OptionError if it cannot be read."""
    with reading(file):
        return file.read_text(encoding="utf-8").splitlines()


def row_place(lines: Sequence[str]) -> int:
    """Return the index of the next row in the strength log's table of changes; OptionError if there is no table."""
    try:
        place = lines.index(f"| {' | '.join(CHANGE_COLUMNS)} |", lines.index("## Changes")) + 2
    except ValueError:
        raise OptionError("the strength log has no table of changes") from None
    while place < len(lines) and lines[place].startswith("|"):
        place += 1
    return place


def add_row(file: Path, row: str) -> None:
    """Add a row to the table of changes in the strength log, unless it exists; OptionError if that fails."""
    with locked(file):
        lines = read_log(file)
        if row not in lines:
            lines.insert(row_place(lines), row)
            write_whole(file, "".join(f"{line}\n" for line in lines).encode())


# --- speed ---------------------------------------------------------------------------------------------------------


def run_speed(options: argparse.Namespace) -> int:
    """Compare the speed of both versions, print the result, and return 0; EngineError if they do not play the same."""
    versions = find_versions(options.base, options.new, options.folder)
    benches = show_benches(versions)
    if benches["new"] != benches["base"]:
        raise OptionError("the benches differ, so the searches differ and their speeds cannot be compared: play games")
    ratios = []
    for number in range(options.pairs):
        times = {}
        for name in ("base", "new") if number % 2 else ("new", "base"):
            before = user_seconds()
            versions[name].bench(options.depth)
            times[name] = user_seconds() - before
        ratios.append(times["base"] / times["new"])
        print(f"{number + 1}/{options.pairs}  base {times['base']:.2f} s, new {times['new']:.2f} s", flush=True)
    low, high, sure = median_interval(ratios)
    print(
        f"The new version has {statistics.median(ratios):.3f} times the speed, {sure:.0%} [{low:.3f}, {high:.3f}]: "
        f"user time of bench {options.depth}, {options.pairs} pairs in turns"
    )
    return EXIT_OK


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the ends of a confidence interval of the median, and the probability that the median lies between them.

    It assumes nothing about the distribution, so outliers do no harm. Both ends are values of the sample. The true
    median is below the k-th smallest value if fewer than k values are smaller than the median. This is as probable as
    fewer than k heads if a coin is tossed for each value. The probability is at least 95 % with six or more values.
    """
    ordered = sorted(values)
    left, below = 0, 0.5 ** len(ordered)
    while (more := below + math.comb(len(ordered), left + 1) * 0.5 ** len(ordered)) <= 0.025:
        left, below = left + 1, more
    return ordered[left], ordered[-1 - left], 1 - 2 * below


def user_seconds() -> float:
    """Return the user time of all finished child processes; OptionError on Windows."""
    try:
        import resource
    except ModuleNotFoundError:
        raise OptionError("this system does not report the user time of processes") from None
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


# --- arguments -----------------------------------------------------------------------------------------------------


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    both = argparse.ArgumentParser(add_help=False)
    both.add_argument("--new", default="HEAD", metavar="COMMIT", help="the new version (default: HEAD)")
    both.add_argument(
        "--base", metavar="COMMIT", help="the old version (default: the commit where the new version left main)"
    )
    both.add_argument(
        "--folder",
        type=lambda text: Path(text).resolve(),
        default=platformdirs.user_data_path("knightadder", appauthor=False) / "changes",
        help="folder for versions and tests (default: %(default)s)",
    )

    games = commands.add_parser("games", parents=[both], help="play games, and add the row to the strength log")
    games.add_argument("change", help="description of the change for the strength log")
    bounds = games.add_mutually_exclusive_group(required=True)
    bounds.add_argument(
        "--adds",
        dest="bounds",
        action="store_const",
        const=ADDS,
        help="test [0, 8] normalized Elo, for a change that adds code",
    )
    bounds.add_argument(
        "--simplifies",
        dest="bounds",
        action="store_const",
        const=SIMPLIFIES,
        help="test [-5, 0] normalized Elo, for a change that only simplifies",
    )
    bounds.add_argument("--bounds", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="other bounds")
    limit = games.add_mutually_exclusive_group()
    limit.add_argument(
        "--nodes", type=positive, default=NODES, metavar="N", help="nodes per move (default: %(default)s)"
    )
    limit.add_argument("--clock", metavar="TC", help="time control, such as 8+0.08, instead of --nodes")
    games.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="UCI option of both engines; with nodestime=1000, 1000 nodes count as a millisecond of --clock",
    )
    games.add_argument(
        "--max-games", type=positive, metavar="N", help="stop after N games without a decision; must be even"
    )
    games.add_argument(
        "--hash",
        type=positive,
        default=16,
        metavar="MB",
        help="size of each engine's hash table (default: %(default)s)",
    )
    games.add_argument(
        "--openings",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="as in knightadder match (default: its 400 openings)",
    )
    games.add_argument("--chess960", action="store_true", help="play Chess960")
    games.add_argument(
        "--concurrency", type=positive, default=1, metavar="N", help="number of games at the same time (default: 1)"
    )
    games.add_argument(
        "--log",
        type=Path,
        default=ROOT / "docs" / "strength-log.md",
        metavar="FILE",
        help="file of the strength log (default: docs/strength-log.md of this checkout)",
    )
    games.set_defaults(run=run_games)

    speed = commands.add_parser("speed", parents=[both], help="compare the user time of bench")
    speed.add_argument(
        "--pairs",
        type=positive,
        default=10,
        metavar="N",
        help="number of pairs of measurements; at least 6 for a 95 %% interval (default: 10)",
    )
    speed.add_argument(
        "--depth", type=positive, default=SPEED_DEPTH, metavar="PLIES", help="depth of bench (default: %(default)s)"
    )
    speed.set_defaults(run=run_speed)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    options = read_arguments(arguments)
    return exit_status("try_change", lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main())
