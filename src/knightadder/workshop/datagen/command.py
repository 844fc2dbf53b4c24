"""The subcommand `datagen`: positions with scores and results, from games of the engine against itself."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.arguments import declare, not_negative, positive, share
from knightadder.engine.errors import OptionError
from knightadder.files import check_new, check_outputs
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.runs import going_on
from knightadder.text import counted, tell
from knightadder.workshop.book_argument import add_openings, read_book

if TYPE_CHECKING:
    from knightadder.core.evaluation.network_file import Network
    from knightadder.workshop.datagen.parts import Parts
    from knightadder.workshop.datagen.self_player import GameSettings

_DESCRIPTION = """\
Let the engine play against itself and keep whole games in a folder, with the score of the search for each move.
Evaluations and networks are fitted to such games. The same command continues an interrupted run, even with more
--positions, a different --concurrency or a newer engine. docs/datagen.md describes the format.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``datagen``."""
    command = commands.add_parser("datagen", help="generate training data by self-play", description=_DESCRIPTION)
    command.add_argument("folder", type=Path, metavar="FOLDER", help="folder that stores the games")
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--positions", type=positive, metavar="N", help="play until the folder has N positions with scores"
    )
    what.add_argument(
        "--from-pgn",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="instead of playing, add the games of these PGN files, whose comments must contain scores, as "
        "`match` writes them; - is standard input",
    )
    command.add_argument(
        "--merge",
        type=Path,
        metavar="FILE",
        help="write the quiet positions of all games to this file, 32 bytes each; with --positions N, only from the "
        "first games that contain N positions",
    )
    declare(command, "--force")
    games = command.add_argument_group("games")
    games.add_argument(
        "--nodes",
        type=positive,
        default=100,
        metavar="N",
        help="number of nodes after which a search starts no new depth: 100 to 300 for a network, 1000 for "
        "tune texel (default: 100)",
    )
    add_workers(games, help="number of processes that play games (default: one for each processor core)")
    declare(games, "--seed")
    games.add_argument(
        "--chess960-share",
        type=share,
        default=0.2,
        metavar="S",
        help="share of the games, from 0 to 1, that begin with double Chess960: a different start position for each "
        "side (default: 0.2)",
    )
    declare(games, "--eval-file", help="evaluate with this network file instead of the classical evaluation")
    add_openings(games)
    games.add_argument(
        "--random-plies",
        type=not_negative,
        default=8,
        metavar="N",
        help="number of random moves after the opening; half of the games get one more random move (default: 8)",
    )
    declare(games, "--hash", default=1, help="size of each player's hash table, in MB")
    declare(games, "--restart", help="remove the games in the folder, and begin again")
    merged = command.add_argument_group("merging")
    merged.add_argument(
        "--first-ply",
        type=not_negative,
        default=0,
        metavar="N",
        help="leave out the positions before ply N of each game (default: 0)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    file: Path | None = arguments.merge
    if not (arguments.positions or arguments.from_pgn or file):
        raise OptionError("nothing to do: give --positions, --from-pgn or --merge")

    from knightadder.workshop.datagen.parts import Parts

    parts = Parts(arguments.folder)
    if file:
        check_outputs({"--merge": file}, arguments.from_pgn or ())
        if parts.owns(file):
            raise OptionError(f"--merge {file}: this file contains the games, so it is not overwritten")
        check_new(file, arguments.force, made=parts.folder)
    if arguments.positions:
        _gather(parts, arguments)
    elif arguments.from_pgn:
        _add_files(parts, arguments.from_pgn, arguments.restart)
    if file:
        parts.load()
        parts.tell_left_out()
        if arguments.positions:  # how many more chunks are played depends on the speed of the workers
            parts.drop_from(parts.first(arguments.positions) or 0)
        parts.check_games()
        with _going_on(parts):
            check_new(file, arguments.force)  # it may be new, after days of games
            _merge(parts, file, arguments)
    return 0


def _gather(parts: Parts, arguments: argparse.Namespace) -> None:
    book = read_book(arguments.openings) if arguments.openings else None
    network = _load(arguments.eval_file) if arguments.eval_file else None
    same: dict[str, Any] = {
        "nodes": arguments.nodes,
        "hash": arguments.hash,
        "seed": arguments.seed,
        "random-plies": arguments.random_plies,
        "double-chess960": arguments.chess960_share,
        "random-moves": "by type of men",
        "openings": [book.name, book.digest] if book else None,
        "network": f"{network.key:016x}" if network else None,
    }
    with parts.open(same, arguments.restart):
        for damaged in parts.damaged:
            tell(f"{damaged} is damaged: its games are played again")
        if others := parts.other_versions():
            tell(f"{parts.folder} has games of different versions of the engine: {', '.join(others)}")
        if parts.first(arguments.positions) is None:
            if book is not None:
                book.check(len(book))
            from knightadder.workshop.datagen.self_player import GameSettings

            settings = GameSettings(
                arguments.nodes,
                arguments.hash,
                arguments.seed,
                arguments.random_plies,
                arguments.chess960_share,
                book,
                network,
            )
            with _going_on(parts):
                _play(settings, parts, arguments)
    print(f"{parts.folder}: {counted(len(parts.chunks), 'chunk')}, {counted(parts.moves, 'position')}")


def _load(file: Path) -> Network:
    """Read the network for the evaluation; OptionError if it cannot be read or is too large for the engine."""
    from knightadder.core.evaluation.network import check_size
    from knightadder.engine.evaluator import load_network

    network = load_network(file)
    try:
        check_size(network.width, network.buckets)
    except ValueError as error:
        raise OptionError(f"{file}: {error}") from None
    return network


def _add_files(parts: Parts, names: Sequence[Path], restart: bool) -> None:
    from knightadder.pgn.game_files import game_files
    from knightadder.workshop.datagen.pgn_games import SETTINGS, add_file

    with game_files(names) as files, parts.open(SETTINGS, restart):
        parts.tell_left_out()
        with _going_on(parts):
            for name, file in files:
                counts = add_file(parts, file, name)
                if counts is None:
                    print(f"{name}: its games are already in the folder")
                else:
                    left_out = counted(counts.left_out, "game")
                    print(
                        f"{name}: {counted(counts.games, 'game')}, {counted(counts.moves, 'move')}, {left_out} left out"
                    )
    print(f"{parts.folder}: {counted(len(parts.chunks), 'chunk')}, {counted(parts.moves, 'position')}")


def _going_on(parts: Parts) -> contextlib.AbstractContextManager[None]:
    def kept() -> str:
        return f"{parts.folder} has {counted(len(parts.chunks), 'chunk')} of games" if parts.chunks else ""

    return going_on(kept)


def _play(settings: GameSettings, parts: Parts, arguments: argparse.Namespace) -> None:
    """Play the chunks that are missing, lowest number first."""
    from knightadder.engine.capacity import processors
    from knightadder.workshop.datagen.chunk_player import ChunkPlayer, play_chunks

    wanted: int = arguments.positions

    def numbers() -> Iterator[int]:
        for number in parts.missing():
            # Only finished chunks count, because the chunks of lost workers are played again.
            if parts.moves >= wanted and parts.moves_before(number) >= wanted:
                return
            yield number

    processes = arguments.concurrency or processors()
    with (
        open_pool(ChunkPlayer(settings), arguments.cluster, processes, core=True) as pool,
        progress(wanted, parts.moves, "positions", place=pool.place) as update,
    ):
        first, games, begun = parts.moves, 0, time.perf_counter()
        for chunk in play_chunks(pool, parts, numbers(), settings.games):
            games += chunk.games
            seconds = max(time.perf_counter() - begun, 1e-9)
            speed = (parts.moves - first) / seconds
            text = f"{games} games  {games / seconds:.1f} games/s  {speed:.0f} positions/s"
            if speed and not sys.stdout.isatty():  # on a terminal, the bar shows the time left
                text += f"  {timedelta(seconds=round(max(wanted - parts.moves, 0) / speed))} left"
            update(parts.moves, text)
            if parts.first(wanted) is not None:
                break


def _merge(parts: Parts, file: Path, arguments: argparse.Namespace) -> None:
    from knightadder.workshop.datagen.merge import merge
    from knightadder.workshop.datagen.reader import Filter

    counts = merge(parts, file, Filter(first_ply=arguments.first_ply), arguments.seed)
    share = 100 / max(counts.written, 1)
    print(
        f"{file}: {counts.written} positions of {counts.moves}, {counts.read - counts.written} duplicates left out; "
        f"White won {counts.wins * share:.1f} %, drew {counts.draws * share:.1f} %, lost {counts.losses * share:.1f} %"
    )
