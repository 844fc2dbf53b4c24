"""The subcommand `annotate`: evaluations, best lines and marks for files of games.

The evaluations are collected in a file beside the output; the output is written when all games are evaluated. So after
an interruption of any kind, the same command continues the run, and the result is the same as without the interruption.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from knightadder import __version__
from knightadder.arguments import declare, declare_limits, engine_options, network_digest, search_limit
from knightadder.digests import content_digest
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.engine.options import MAX_LINES
from knightadder.extras import needed_by
from knightadder.files import (
    STANDARD,
    check_new,
    check_outputs,
    check_writable,
    doing,
    message_stream,
    move,
    replacing,
    without_links,
    writing,
)
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.runs import Journal, going_on, is_resumed, state_beside
from knightadder.text import counted, tell

if TYPE_CHECKING:
    from knightadder.pgn.games import GameText
    from knightadder.review.game_evaluation import Block
    from knightadder.review.summary import Row

_NODES = 200_000  # default number of nodes for each position
_HASH_MB = 16  # default hash size of each engine; far more than the search of one position uses
_EXIT_FAILED = 1  # as in `cli.py`
# Names of files may contain characters that UTF-8 lacks. They become escapes, which JSON reads back.
_TEXT: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}

_DESCRIPTION = """\
Let the engine evaluate every position of the games in a PGN file, and write the games with evaluations ([%eval ...]),
marks for good moves (! and !!) and bad moves (?!, ? and ??), explanations and better lines, accuracy, and names of
openings. The same command continues an interrupted run. Broken games are reported and copied unchanged.
docs/annotate.md describes the details.
"""


@dataclass(frozen=True, slots=True)
class _Files:
    """The input and output files. `name` is the input's name for the user; `out` may be standard output. `kept` says
    whether the file `unfinished` stays after an interruption.
    """

    name: str
    games: Path
    out: Path
    unfinished: Path
    kept: bool
    summary: Path | None
    moves: Path | None
    graphs: Path | None


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``annotate``."""
    command = commands.add_parser(
        "annotate",
        help="annotate the games of a PGN file with evaluations, marks and accuracy",
        description=_DESCRIPTION,
    )
    declare(command, "file")
    declare_limits(command, _NODES)
    add_workers(command, help="number of worker processes (default: one for each processor core)")
    declare(command, "--multipv", default=1, help="number of best lines to show beside each marked move")
    declare(
        command,
        "--out",
        help="write the annotated games to this file (default: FILE.annotated.pgn, or standard output)",
    )
    command.add_argument(
        "--no-explanations",
        dest="explain",
        action="store_false",
        help="leave out the comments that explain the marked moves",
    )
    command.add_argument(
        "--summary", type=Path, metavar="FILE", help="write a table of the games to this .csv or .json file"
    )
    command.add_argument(
        "--moves",
        type=Path,
        metavar="FILE",
        help="write a table of all moves to this .csv, .json or .parquet file",
    )
    command.add_argument("--plot", type=Path, metavar="FOLDER", help="folder for evaluation graphs, one for each game")
    command.add_argument(
        "--plot-format",
        choices=("svg", "png"),
        default="svg",
        help="file format of the evaluation graphs (default: svg)",
    )
    declare(command, "--hash", help=f"size of each process's hash table, in MB (default: {_HASH_MB})")
    declare(command, "--syzygy", "--eval", "--eval-file", "--engine", "--force", "--restart")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status."""
    from knightadder.pgn.game_files import game_files

    with game_files([arguments.file]) as [(name, games)], tempfile.TemporaryDirectory() as temporary:
        if games != arguments.file:  # a copy of standard input or of a pipe
            arguments.out = arguments.out or STANDARD
        return _annotate(_files(arguments, games, name, Path(temporary)), arguments)


def _annotate(files: _Files, arguments: argparse.Namespace) -> int:
    from knightadder.uci.uci_engine import read_engine

    limit = search_limit(arguments, _NODES)
    engine, own_options = read_engine(arguments.engine)
    if engine is None and arguments.multipv > MAX_LINES:
        raise OptionError(f"--multipv {arguments.multipv}: expected {MAX_LINES} or less")
    options = {**engine_options(arguments), **own_options}
    digest, total = _survey(files.games)
    if not total:
        raise PositionError(f"there is no game in {files.name}")
    _check_new(files, arguments.force or is_resumed(files.unfinished, arguments.restart))
    same = {
        "content": digest,
        "version": __version__,
        "limit": limit,
        "multipv": arguments.multipv,
        "hash": arguments.hash,
        "syzygy": arguments.syzygy,
        "eval": arguments.eval,
        "network": network_digest(arguments),
        "engine": engine,
        "options": own_options,
    }
    with Journal(files.unfinished, {"format": 4, **same}, arguments.restart) as journal:
        journal.tell_continuing(total)

        def saved() -> str:
            return journal.kept(total) if files.kept else ""

        with going_on(saved):
            _evaluate(files, total, journal, limit, engine, options, arguments)
        if content_digest(files.games) != digest:
            raise OptionError(f"{files.games} has changed since the work began: give --restart to begin again")
        with (
            going_on(saved),
            _new_pictures(files.graphs) if files.graphs else contextlib.nullcontext() as pictures,
        ):
            rows, differing = _write(files, journal, engine is not None, pictures, arguments, same)
        journal.remove()
    return _report(files, rows, differing)


# --- arguments -----------------------------------------------------------------------------------------------------


def _files(arguments: argparse.Namespace, games: Path, name: str, temporary: Path) -> _Files:
    """Choose the input and output files; OptionError if two names are the same file, or a name cannot be used.
    The state of the run is beside the output, or else beside the games; a state that need not be kept is in a temporary
    folder.
    """
    from knightadder.pgn.game_files import without_compression

    if games.is_dir():
        raise OptionError(f"cannot read {games}: it is a folder")
    plain = without_compression(games)
    beside = plain.with_name(f"{plain.stem}.annotated.pgn")
    out: Path = arguments.out or beside
    state = None if out == STANDARD else state_beside(out)
    summary: Path | None = arguments.summary
    if summary and summary.suffix.lower() not in (".csv", ".json"):
        raise OptionError(f"--summary {summary}: expected a name that ends in .csv or .json")
    if arguments.moves:
        from knightadder.annotate.moves_file import check_moves_file

        check_moves_file(arguments.moves)
    if arguments.plot:
        with needed_by("--plot", "annotate"):
            import matplotlib  # noqa: F401
    tables = {"--summary": summary, "--moves": arguments.moves, "--plot": arguments.plot}
    check_outputs({"--out": None if out == STANDARD else out, **tables}, [games])
    if state is None and games == arguments.file and os.access(beside.parent, os.W_OK):
        with contextlib.suppress(OptionError):  # its name is too long
            state = state_beside(beside)
    unfinished = state or temporary / "unfinished"
    return _Files(name, games, out, unfinished, state is not None, summary, arguments.moves, arguments.plot)


def _check_new(files: _Files, force: bool) -> None:
    """Check, before hours of work, that all files can be written, and that no file is overwritten without `force`."""
    for file in (files.out, files.summary, files.moves):
        if file is not None and file != STANDARD:
            check_new(file, force)
    if files.graphs:
        if files.graphs.exists() and not files.graphs.is_dir():
            raise OptionError(f"cannot write to {files.graphs}: it is not a folder")
        if files.graphs.is_dir() and any(files.graphs.iterdir()) and not force:
            raise _contains_files(files.graphs)
        parents = without_links(files.graphs).parents
        check_writable(next(folder for folder in parents if folder.exists()), files.graphs)


def _contains_files(folder: Path) -> OptionError:
    return OptionError(f"{folder} already contains files: give --force to overwrite them")


def _survey(file: Path) -> tuple[str, int]:
    """Return the digest of a file and its number of games; 0 if there is only text between games."""
    from knightadder.pgn.games import read_texts

    total, any_game = 0, False
    for text in read_texts(file):
        total += 1
        any_game = any_game or _is_game(text)
    return content_digest(file), total if any_game else 0


def _is_game(text: GameText) -> bool:
    from knightadder.pgn.games import BrokenGame, parse

    try:
        return parse(text) is not None
    except BrokenGame:
        return True


# --- evaluating ----------------------------------------------------------------------------------------------------


def _evaluate(
    files: _Files,
    total: int,
    journal: Journal,
    limit: dict[str, Any],
    engine: str | None,
    options: dict[str, str],
    arguments: argparse.Namespace,
) -> None:
    """Evaluate the remaining games, with the given engine if there is one."""
    import chess.engine

    from knightadder.annotate.workers import BlockEvaluator, evaluate_games
    from knightadder.engine.capacity import processors
    from knightadder.pgn.games import BrokenGame, parse, read_texts
    from knightadder.review.game_evaluation import blocks
    from knightadder.uci.uci_engine import same_engine
    from knightadder.worker_engine import WorkerEngine

    broken = positions = 0
    begun: dict[int, float] = {}  # the evaluated share of each running game

    def items() -> Iterator[Block]:
        nonlocal broken
        for text in read_texts(files.games):
            if text.number in journal:
                continue
            try:
                game = parse(text)
            except BrokenGame:  # reported when the games are written
                game = None
            if game is None:
                broken += 1
            else:
                yield from blocks(text.number, game.end().board())

    def on_block(block: Block) -> None:
        nonlocal positions
        positions += len(block)
        begun[block.game] = begun.get(block.game, 0) + len(block) / (block.plies + 1)
        update(len(journal) + broken + sum(begun.values()), f"{positions} positions")

    wanted: int = arguments.concurrency or processors()
    todo = items()
    first = list(islice(todo, wanted))
    if not first:
        return
    _check_new(files, arguments.force)
    evaluator = BlockEvaluator(chess.engine.Limit(**limit), arguments.multipv, WorkerEngine(engine, options, _HASH_MB))
    known = journal.entries(lambda entry: entry.get("engine")) if engine else []
    named: str | None = next((name for name in known if isinstance(name, str)), None)

    def on_name(name: str) -> None:
        nonlocal named
        named = same_engine(named, name)

    with (
        open_pool(evaluator, arguments.cluster, len(first), core=engine is None) as pool,
        progress(total, len(journal) + broken, "games", stderr=True, place=pool.place) as update,
    ):
        for number, result in evaluate_games(chain(first, todo), pool.run, on_block, tell, on_name):
            journal.add(number, {"result": result, "engine": named})
            del begun[number]


# --- writing -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _new_pictures(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; at the end, its files are moved into `folder`. An interrupted run moves none."""
    target = without_links(folder)  # so that a symbolic link stays a link
    with doing("write to", folder):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as beside:
            yield Path(beside)
            target.mkdir(exist_ok=True)
            for file in sorted(Path(beside).iterdir()):
                move(file, target / file.name)


def _check_pictures(folder: Path, pictures: Path) -> None:
    """Raise OptionError if the folder for the graphs contains anything except files that are equal to new pictures."""
    there = [file.name for file in folder.iterdir()] if folder.exists() else []
    if there and filecmp.cmpfiles(folder, pictures, there, shallow=False)[0] != there:
        raise _contains_files(folder)


def _write(
    files: _Files,
    journal: Journal,
    is_other: bool,
    pictures: Path | None,
    arguments: argparse.Namespace,
    about: dict[str, Any],
) -> tuple[list[Row], int]:
    """Write the games, their moves, their graphs and the table of games; return the table's rows, and how many moves
    keep a mark that differs from the engine's.

    If a file cannot be written, the other files stay unchanged, so that the same command can continue. `is_other` says
    whether the evaluations are from an external engine. `pictures` is the folder for the graphs.
    """
    from knightadder.annotate.moves_file import writing_moves
    from knightadder.pgn.games import BrokenGame, headers_of, parse, read_texts, remarks, tell_notes, text_of
    from knightadder.review.accuracy import scale_of
    from knightadder.review.game_evaluation import from_json
    from knightadder.review.move_table import moves_table
    from knightadder.review.notes import annotate
    from knightadder.review.review import review
    from knightadder.review.summary import row

    rows, differing = [], 0
    with contextlib.ExitStack() as stack:
        force = arguments.force
        stream = stack.enter_context(_replacing(files.out, force))
        summary = stack.enter_context(_replacing(files.summary, force)) if files.summary else None
        write_moves = stack.enter_context(writing_moves(files.moves, force)) if files.moves else None
        for text in read_texts(files.games):
            written = text.text
            try:
                game = parse(text)
                if game is not None:
                    tell_notes(files.name, text, game.notes)
                    entry = journal[text.number]
                    kept = entry.get("result")
                    if isinstance(kept, str):
                        raise BrokenGame(kept)
                    board = game.end().board()
                    try:
                        evaluations = from_json(kept, board)
                    except ValueError as error:
                        damage = f"the record of game {text.number} in {files.unfinished} is damaged"
                        raise OptionError(
                            f"{damage} ({error}): remove its line to repeat the game, or give --restart to begin again"
                        ) from None
                    found = review(board, evaluations, scale_of(is_other))
                    differing += annotate(game, found, entry.get("engine"), arguments.explain)
                    written = remarks(text) + text_of(game)
                    rows.append(row(text.number, text.line, game.headers, found))
                    if write_moves:
                        write_moves(rows[-1], moves_table(game, found))
                    if pictures:
                        from knightadder.annotate.graph import draw

                        picture = pictures / f"game-{text.number:04}.{arguments.plot_format}"
                        draw(found, game.headers, game.ply(), picture)
            except BrokenGame as fault:
                rows.append(row(text.number, text.line, headers_of(text) or {}, fault=str(fault)))
                _tell(text.place(files.name), rows[-1])
            with _writing(files.out):
                stream.write(f"{written}\n\n")
        if files.graphs and pictures and not force:
            _check_pictures(files.graphs, pictures)
        if files.summary and summary:
            with _writing(files.summary):
                _write_summary(files.summary, summary, rows, {"file": files.name, **about})
                summary.flush()  # so that a full disk is noticed before a file is replaced
        if files.out != STANDARD:
            with _writing(files.out):
                stream.flush()
    return rows, differing


@contextlib.contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Report an error of this file here, because the ``with`` blocks of other files would report it as their error."""
    try:
        with contextlib.nullcontext() if file == STANDARD else writing(file):
            yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EngineError(f"cannot write standard output: {error.strerror}") from None


def _tell(place: str, row: Row) -> None:
    """Report a broken game, given its place."""
    players = f" ({row.white or '?'} - {row.black or '?'})" if row.white or row.black else ""
    tell(f"{place}{players}, is not annotated: {row.fault}")


def _write_summary(file: Path, stream: TextIO, rows: Sequence[Row], about: dict[str, Any]) -> None:
    from knightadder.review.summary import write_csv, write_json

    if file.suffix.lower() == ".json":
        write_json(rows, about, stream)
    else:
        write_csv(rows, stream)


@contextlib.contextmanager
def _replacing(file: Path, force: bool) -> Iterator[TextIO]:
    """Open a temporary file that replaces `file` when it is complete; after an error, `file` stays unchanged. Without
    `force`, a file with different content is not replaced.
    """
    if file == STANDARD:
        stream = io.TextIOWrapper(sys.stdout.buffer, **_TEXT)
        try:
            yield stream
        finally:
            stream.detach()
        return
    with replacing(file, force=force) as beside, beside.open("w", **_TEXT) as stream:
        yield stream


def _report(files: _Files, rows: Sequence[Row], differing: int) -> int:
    from knightadder.review.summary import players_table

    annotated = [row for row in rows if row.fault is None]
    broken = len(rows) - len(annotated)
    where, stream = "" if files.out == STANDARD else f"{files.out}: ", message_stream(files.out)
    if annotated and stream.isatty():
        from rich.console import Console

        Console(file=stream).print(players_table(rows))
    copied = f", {broken} copied unchanged" if broken else ""
    earlier = f"earlier marks of {counted(differing, 'move')}"
    kept = f"; {earlier} are kept, but differ from the engine's" if differing else ""
    print(f"{where}{counted(len(annotated), 'game')} annotated{copied}{kept}", file=stream)
    return 0 if annotated else _EXIT_FAILED
