"""The subcommand `puzzles`: finds positions of games in which only one move wins or saves."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder import __version__
from knightadder.arguments import declare, network_digest
from knightadder.digests import content_digest
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.files import check_new, check_outputs, reading, write_whole
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.runs import Journal, going_on, is_resumed, state_beside
from knightadder.text import counted, utf8

if TYPE_CHECKING:
    from knightadder.puzzles.puzzle_maker import GameResult, ScannedGame

_NODES = 500_000  # default number of nodes of the deciding search
_HASH_MB = 32  # default hash size of each process

_DESCRIPTION = """\
Find puzzles in games: positions where only one move wins or saves the game, at each step of the solution. Each puzzle
gets themes (mateIn2, fork, ...) and a rating on Lichess's scale. `knightadder play --puzzles FILE` shows the puzzles to
solve. The same command continues an interrupted run. docs/puzzles.md describes the details.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``puzzles``."""
    command = commands.add_parser(
        "puzzles", help="find puzzles in games, with themes and ratings", description=_DESCRIPTION
    )
    declare(command, "files")
    declare(
        command, "--out", help="write the puzzles to this .pgn, .epd or .csv file (default: PGN on standard output)"
    )
    declare(
        command,
        "--nodes",
        default=_NODES,
        help="node limit of the main search for each move of a solution; a shorter search has a tenth of it, a longer "
        "one four times as many nodes",
    )
    add_workers(command, help="number of worker processes (default: one for each processor core)")
    declare(command, "--hash", help=f"size of each process's hash table, in MB (default: {_HASH_MB})")
    declare(command, "--syzygy", "--eval", "--eval-file")
    declare(
        command,
        "--engine",
        help="external UCI engine that finds the puzzles: its command, or cmd=COMMAND with option.NAME=VALUE",
    )
    declare(command, "--force", "--restart")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status."""
    from knightadder.engine.capacity import processors
    from knightadder.pgn.game_files import game_files
    from knightadder.pgn.games import BrokenGame, tell_left_out, tell_notes
    from knightadder.puzzles.puzzle_maker import PuzzleMaker, result_of
    from knightadder.uci.uci_engine import chosen_engine
    from knightadder.worker_engine import WorkerEngine

    engine, options = chosen_engine(arguments)
    out: Path | None = arguments.out
    unfinished = state_beside(out)
    suffix = _check_out(out, arguments.files, arguments.force or is_resumed(unfinished, arguments.restart))
    with game_files(arguments.files) as files:
        chosen = _choose(files)
        total = sum(map(len, chosen))
        same = {
            "format": 4,
            "games": [[Path(name).name, content_digest(file)] for name, file in files],
            "version": __version__,
            "nodes": arguments.nodes,
            "network": network_digest(arguments),
            "options": options,
            "engine": engine,
        }
        maker = PuzzleMaker(arguments.nodes, WorkerEngine(engine, options, _HASH_MB))
        with (
            Journal(unfinished, same, arguments.restart) as journal,
            going_on(lambda: journal.kept(total)),
        ):
            found: dict[int, GameResult | None] = dict(journal.entries(_read))  # None for a broken game
            journal.tell_continuing(total)
            if out:
                _check_replaceable(out, lambda: _text(found, suffix)[1], arguments.force)
            try:
                processes = min(arguments.concurrency or processors(), total)
                with (
                    open_pool(maker, arguments.cluster, processes, core=True) as pool,
                    progress(total, len(found), "games", stderr=True, place=pool.place) as update,
                ):
                    for item, result in pool.run(item for item in _items(files, chosen) if item.number not in found):
                        try:
                            told = found[item.number] = result_of(result)
                            tell_notes(item.file, item.text, told.notes)
                        except BrokenGame as fault:
                            found[item.number] = None
                            tell_left_out(item.file, item.text, fault)
                        journal.add(item.number, {"result": result.decode()})
                        count = sum(len(told.puzzles) for told in found.values() if told)
                        update(len(found), counted(count, "puzzle"))
            finally:  # even after Ctrl-C or a failure
                written = _write(found, out, suffix, arguments.force) if any(found.values()) else 0
            journal.remove()
    broken = sum(told is None for told in found.values())
    if broken == len(found):
        raise PositionError("no game can be used; the lines above say why")
    where = f"{out}: " if out else ""
    bad = f", {broken} left out" if broken else ""
    print(f"{where}{counted(written, 'puzzle')} from {counted(len(found) - broken, 'game')}{bad}", file=sys.stderr)
    _tell_reasons(told for told in found.values() if told)
    return 0


def _tell_reasons(results: Iterable[GameResult]) -> None:
    reasons = Counter(result.reason for result in results if result.reason)
    if reasons:
        parts = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        print(f"No puzzle in {counted(reasons.total(), 'game')}: {parts}", file=sys.stderr)


def _read(entry: dict[str, Any]) -> tuple[int, GameResult | None]:
    """Return the number of a game and its result; ValueError if the entry is damaged."""
    from knightadder.pgn.games import BrokenGame
    from knightadder.puzzles.puzzle_maker import result_of

    try:
        return entry["number"], result_of(entry["result"].encode())
    except BrokenGame:
        return entry["number"], None
    except EngineError as error:
        raise ValueError(str(error)) from None


def _check_out(out: Path | None, games: list[str], force: bool) -> str:
    """Return the suffix of the output file. OptionError, before hours of work, if the file cannot be written."""
    if out is None:
        return ".pgn"
    from knightadder.puzzles.output import WRITERS

    suffix = out.suffix.lower()
    if suffix not in WRITERS:
        raise OptionError(f"--out {out}: expected a name that ends in .pgn, .epd or .csv")
    check_outputs({"--out": out}, games)
    check_new(out, force)
    return suffix


def _choose(files: Sequence[tuple[str, Path]]) -> list[set[int]]:
    """Return for each file the numbers of its games, without copies of earlier games, which are reported. PositionError
    if there is no game. Each file is its name for the user and its path.
    """
    from knightadder.pgn.game_records import Copies, GameRecord, read_records

    copies = Copies()
    chosen: list[set[int]] = []
    for _, file in files:
        numbers = set()
        for record in read_records(file):
            if not isinstance(record, GameRecord):
                numbers.add(record[0].number)  # a broken game is reported later
            elif not copies.has(record):
                numbers.add(record.number)
        chosen.append(numbers)
    if not any(chosen):
        raise PositionError(f"there is no game in {', '.join(name for name, _ in files)}")
    copies.tell()
    return chosen


def _items(files: Sequence[tuple[str, Path]], chosen: Sequence[set[int]]) -> Iterator[ScannedGame]:
    """Read the chosen games of files."""
    from knightadder.pgn.games import read_texts
    from knightadder.puzzles.puzzle_maker import ScannedGame

    numbers = itertools.count()
    for (name, file), games in zip(files, chosen, strict=True):
        for text in read_texts(file):
            if text.number in games:
                yield ScannedGame(next(numbers), Path(name).name, text)


def _write(found: dict[int, GameResult | None], out: Path | None, suffix: str, force: bool) -> int:
    """Write each puzzle once, in the order of the games; return their number."""
    count, text = _text(found, suffix)
    if out is None:
        sys.stdout.buffer.write(utf8(text))  # Windows has another encoding for text
        sys.stdout.flush()
    else:
        _check_replaceable(out, lambda: text, force)
        write_whole(out, utf8(text))
    return count


def _text(found: dict[int, GameResult | None], suffix: str) -> tuple[int, str]:
    """Return the number of different puzzles, and their text in the order of the games."""
    from knightadder.puzzles.output import text_of

    results = [told for _, told in sorted(found.items()) if told]
    puzzles = list({puzzle.id: puzzle for told in results for puzzle in told.puzzles}.values())
    return len(puzzles), text_of(puzzles, suffix)


def _check_replaceable(out: Path, text: Callable[[], str], force: bool) -> None:
    """Raise OptionError if a file has lines that are not in its new text: no interrupted run has written them."""
    if out.is_file() and not force:
        with reading(out):
            lines = out.read_bytes().splitlines()
        if not set(utf8(text()).splitlines()).issuperset(lines):
            check_new(out, force)
