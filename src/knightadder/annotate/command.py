"""The subcommand `annotate`: evaluations, best lines and marks for files of games.

The evaluations are collected in a file beside the output; the output is written once all games are evaluated. So after
an interruption of any kind, the same command continues the run, with the same result as without the interruption.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from knightadder import __version__
from knightadder.arguments import positive, seconds
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.progress import progress
from knightadder.runs import Journal, content_digest, replacing

if TYPE_CHECKING:
    from knightadder.annotate.evaluation import Analyst, Evaluation
    from knightadder.annotate.summary import Row
    from knightadder.annotate.workers import Job

_NODES = 200_000  # nodes per position, by default
_HASH_MB = 16  # of each engine; far more than the search of a position uses
_EXIT_FAILED = 1  # as in `cli.py`

_DESCRIPTION = """\
Let the engine evaluate every position of the games in a PGN file, and write them with evaluations ([%eval ...]), marks
for bad moves (?!, ? and ??) with the better lines, accuracy, and names of openings. A run that was broken off goes on
with the same command. Broken games are reported and stay as they are. docs/annotate.md tells more.
"""


@dataclass(frozen=True, slots=True)
class _Files:
    """The input and output files."""

    games: Path
    out: Path
    unfinished: Path
    summary: Path | None
    graphs: Path | None


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``annotate``."""
    command = commands.add_parser(
        "annotate", help="annotate the games of a PGN file: evaluations, marks, accuracy", description=_DESCRIPTION
    )
    command.add_argument("file", type=Path, metavar="FILE.pgn", help="the games; also .pgn.gz, .pgn.bz2, .pgn.xz")
    limit = command.add_mutually_exclusive_group()
    limit.add_argument(
        "--nodes", type=positive, metavar="N", help=f"nodes a position; {_NODES} unless another limit is given"
    )
    limit.add_argument("--depth", type=positive, metavar="PLIES", help="depth of each position")
    limit.add_argument("--time", type=seconds, metavar="SECONDS", help="seconds a position")
    command.add_argument(
        "--workers", type=positive, metavar="N", help="games at once; by default one for each processor core"
    )
    command.add_argument(
        "--multipv", type=positive, default=1, metavar="N", help="lines beside each marked move; 1 by default"
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="where to write; FILE.annotated.pgn by default")
    command.add_argument("--summary", type=Path, metavar="FILE", help="write a table of the games, as .csv or .json")
    command.add_argument("--graph", type=Path, metavar="FOLDER", help="draw the evaluations of each game")
    command.add_argument("--graph-format", choices=("svg", "png"), default="svg", help="svg by default")
    command.add_argument(
        "--hash", type=positive, default=_HASH_MB, metavar="MB", help=f"hash table of a worker; {_HASH_MB} by default"
    )
    command.add_argument("--syzygy", metavar="FOLDERS", help="endgame tablebases, as in the option SyzygyPath")
    command.add_argument("--force", action="store_true", help="overwrite files that are there")
    command.add_argument("--restart", action="store_true", help="forget what an unfinished run has done")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status.

    Raises
    ------
    OptionError
        If a file cannot be read or written, already exists, or belongs to another run.
    PositionError
        If the file contains no game.
    EngineError
        If the engine cannot be loaded.
    """
    files = _files(arguments)
    limit = _limit(arguments)
    digest, total = _survey(files.games)
    if not total:
        raise PositionError(f"there is no game in {files.games}")
    _check_new(files, arguments.force)
    same = {
        "content": digest,
        "version": __version__,
        "limit": limit,
        "multipv": arguments.multipv,
        "hash": arguments.hash,
        "syzygy": arguments.syzygy,
    }
    with Journal(files.unfinished, {"format": 2, **same}, "give --restart to begin anew", arguments.restart) as journal:
        if len(journal):
            print(f"Going on after {len(journal)} of {total} games", file=sys.stderr)
        try:
            _evaluate(files.games, total, journal, limit, arguments)
        except KeyboardInterrupt:
            done = f"{len(journal)} of {total} games are in {files.unfinished}"
            print(f"{done}; the same command goes on from there", file=sys.stderr)
            raise
        if content_digest(files.games) != digest:
            raise OptionError(f"{files.games} has changed since the work began: give --restart to begin anew")
        rows = _write(files, journal, arguments.graph_format)
        if files.summary:
            _write_summary(files.summary, rows, {"file": str(files.games), **same})
        journal.remove()
    return _report(files, rows)


# --- arguments -----------------------------------------------------------------------------------------------------


def _files(arguments: argparse.Namespace) -> _Files:
    """Choose the input and output files; OptionError if two of these are the same file, or a name is not possible."""
    games: Path = arguments.file
    if games.is_dir():
        raise OptionError(f"cannot read {games}: it is a folder")
    stem = games.with_suffix("") if games.suffix.lower() in (".gz", ".bz2", ".xz") else games
    out: Path = arguments.out or stem.with_name(f"{stem.stem}.annotated.pgn")
    if out.is_dir():
        raise OptionError(f"cannot write {out}: it is a folder")
    summary: Path | None = arguments.summary
    if summary and summary.suffix.lower() not in (".csv", ".json"):
        raise OptionError(f"--summary {summary}: expected a name that ends in .csv or .json")
    if arguments.graph:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise OptionError("--graph needs Matplotlib: pip install 'knightadder[annotate]'") from None
    written = {"--out": out, "--summary": summary, "--graph": arguments.graph}
    taken = {games.resolve(): "the file of games"}
    for option, file in written.items():
        if file is None:
            continue
        place = file.resolve()
        if place in taken or (file.exists() and any(other.exists() and file.samefile(other) for other in taken)):
            raise OptionError(f"{option} {file}: {taken.get(place, 'the file of games')} is not overwritten")
        taken[place] = option
    return _Files(games, out, out.with_name(f"{out.name}.unfinished"), summary, arguments.graph)


def _check_new(files: _Files, force: bool) -> None:
    """Refuse to overwrite files and to write where that is not possible, before hours of work."""
    # Output beside an unfinished run belongs to that run: it was interrupted while writing its files.
    going_on = files.unfinished.exists()
    for file in (files.out, files.summary):
        if file is not None:
            if file.exists() and not force and not (going_on and file == files.out):
                raise OptionError(f"{file} is there already: give --force to overwrite it")
            if not file.parent.is_dir():
                raise OptionError(f"cannot write {file}: there is no folder {file.parent}")
    if files.graphs:
        if files.graphs.exists() and not files.graphs.is_dir():
            raise OptionError(f"cannot write to {files.graphs}: it is no folder")
        if files.graphs.is_dir() and any(files.graphs.iterdir()) and not force and not going_on:
            raise OptionError(f"there are files in {files.graphs} already: give --force to overwrite them")


def _limit(arguments: argparse.Namespace) -> dict[str, Any]:
    chosen = {name: getattr(arguments, name) for name in ("nodes", "depth", "time")}
    return {name: value for name, value in chosen.items() if value is not None} or {"nodes": _NODES}


def _survey(file: Path) -> tuple[str, int]:
    """Give the file's digest and the number of its games."""
    from knightadder.annotate.games import read_texts

    return content_digest(file), sum(1 for _ in read_texts(file))


# --- evaluating ----------------------------------------------------------------------------------------------------


def _evaluate(file: Path, total: int, journal: Journal, limit: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Evaluate the remaining games."""
    import chess.engine

    from knightadder.annotate.evaluation import to_json
    from knightadder.annotate.games import BrokenGame, parse, read_texts
    from knightadder.annotate.workers import Job, evaluate_games
    from knightadder.core.native.processors import processors

    broken = 0
    begun: dict[int, float] = {}  # the part of each running game that is evaluated

    def jobs() -> Iterator[Job]:
        nonlocal broken
        for text in read_texts(file):
            if text.number in journal:
                continue
            try:
                game = parse(text)
            except BrokenGame:  # reported when the games are written
                game = None
            if game is None:
                broken += 1
            else:
                yield Job(text.number, game.end().board())

    def on_game(number: int, result: list[Evaluation | None] | EngineError) -> None:
        journal.add(number, {"result": str(result) if isinstance(result, EngineError) else to_json(result)})
        begun.pop(number, None)
        show()

    def on_position(job: Job) -> None:
        begun[job.number] = begun.get(job.number, 0) + 1 / len(job)
        show()

    def show() -> None:
        update(len(journal) + broken + sum(tuple(begun.values())), "")

    todo = jobs()
    first = next(todo, None)
    if first is None:
        return
    with contextlib.ExitStack() as stack:
        workers = min(arguments.workers or processors(), total - len(journal))
        analysts = make_analysts(workers, arguments, stack)
        update = stack.enter_context(progress(total, len(journal) + broken, "games", stderr=True))
        limits = chess.engine.Limit(**limit)
        evaluate_games(_chained(first, todo), analysts, limits, arguments.multipv, on_game, on_position)


def _chained(first: Job, rest: Iterator[Job]) -> Iterator[Job]:
    yield first
    yield from rest


def make_analysts(count: int, arguments: argparse.Namespace, stack: contextlib.ExitStack) -> Sequence[Analyst]:
    """Make engines, to be closed by `stack`; compile the core first if necessary."""
    from knightadder.engine.loader import compile_core
    from knightadder.library.engine import Engine

    compile_core()
    engines = [stack.enter_context(Engine(hash_mb=arguments.hash)) for _ in range(count)]
    if arguments.syzygy is not None:
        for number, engine in enumerate(engines):
            for line in engine.configure({"SyzygyPath": arguments.syzygy}):
                if number == 0:
                    print(f"knightadder: {line}", file=sys.stderr)
    return engines


# --- writing -------------------------------------------------------------------------------------------------------


def _write(files: _Files, journal: Journal, graph_format: str) -> list[Row]:
    """Write the games and their graphs; return the table of games."""
    from knightadder.annotate.evaluation import from_json
    from knightadder.annotate.games import BrokenGame, headers_of, parse, read_texts, remarks
    from knightadder.annotate.notes import annotate, text_of
    from knightadder.annotate.review import review
    from knightadder.annotate.summary import row

    rows = []
    if files.graphs:
        try:
            files.graphs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(f"cannot write to {files.graphs}: {error.strerror}") from None
    with _replacing(files.out) as stream:
        for text in read_texts(files.games):
            written = text.text
            try:
                game = parse(text)
                if game is not None:
                    kept = journal[text.number].get("result")
                    if isinstance(kept, str):
                        raise BrokenGame(kept)
                    board = game.end().board()
                    try:
                        evaluations = from_json(kept, board)
                    except ValueError as error:
                        damage = f"what {files.unfinished} has of game {text.number} is damaged"
                        raise OptionError(f"{damage} ({error}): remove its line, or give --restart") from None
                    found = review(board, evaluations)
                    annotate(game, found)
                    written = remarks(text) + text_of(game)
                    rows.append(row(text.number, text.line, game.headers, found))
                    if files.graphs:
                        from knightadder.annotate.graph import draw

                        picture = files.graphs / f"game-{text.number:04}.{graph_format}"
                        draw(found, game.headers, game.ply(), picture)
            except BrokenGame as fault:
                rows.append(row(text.number, text.line, headers_of(text), fault=str(fault)))
                _tell(rows[-1])
            stream.write(f"{written}\n\n")
    return rows


def _tell(row: Row) -> None:
    """Report a broken game."""
    players = f" ({row.white or '?'} - {row.black or '?'})" if row.white or row.black else ""
    print(f"knightadder: game {row.game}, line {row.line}{players} stays as it is: {row.fault}", file=sys.stderr)


def _write_summary(file: Path, rows: Sequence[Row], about: dict[str, Any]) -> None:
    from knightadder.annotate.summary import write_csv, write_json

    with _replacing(file) as stream:
        if file.suffix.lower() == ".json":
            write_json(rows, about, stream)
        else:
            write_csv(rows, stream)


@contextlib.contextmanager
def _replacing(file: Path) -> Iterator[TextIO]:
    """Open a file that replaces this one when it is completely written; on an error this one stays unchanged."""
    with replacing(file) as beside, beside.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream


def _report(files: _Files, rows: Sequence[Row]) -> int:
    """Report what was done; return the exit status."""
    from knightadder.annotate.summary import players_table

    annotated = [row for row in rows if row.fault is None]
    broken = len(rows) - len(annotated)
    if annotated and sys.stdout.isatty():
        from rich.console import Console

        Console().print(players_table(rows))
    games = f"{len(annotated)} game{'' if len(annotated) == 1 else 's'} annotated"
    print(f"{files.out}: {games}" + (f", {broken} left as they were" if broken else ""))
    return 0 if annotated else _EXIT_FAILED
