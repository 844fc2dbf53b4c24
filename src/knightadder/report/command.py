"""The subcommand `report`: a page about how a player plays, which needs no server and no network."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder import __version__
from knightadder.arguments import (
    declare,
    declare_limits,
    declare_player,
    network_digest,
    not_negative,
    search_limit,
)
from knightadder.digests import content_digest
from knightadder.drills.command import declare_file, open_box
from knightadder.engine.errors import OptionError, PositionError
from knightadder.extras import needed_by
from knightadder.files import check_new, check_outputs, write_whole
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.runs import Journal, going_on, is_resumed, state_beside
from knightadder.text import counted, plain_name, utf8

if TYPE_CHECKING:
    from knightadder.report.figures import PlayerGame
    from knightadder.report.study import GameOfPlayer, StudiedGame

_NODES = 100_000  # default number of nodes per position
_HASH_MB = 16  # default hash size of each process
_PUZZLES = 40

_DESCRIPTION = """\
Report how a player plays: results and performance by opening and colour; accuracy by phase and by time left; the kinds
of mistakes; results of games with won and with worse positions; and puzzles from the player's own mistakes, to solve on
a board in the page. The page is one HTML file. The same command continues an interrupted run. docs/report.md describes
the page.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``report``."""
    command = commands.add_parser(
        "report", help="write a web page that reports how a player plays", description=_DESCRIPTION
    )
    declare_player(command)
    declare(command, "--out", default=Path("report.html"), metavar="FILE.html", help="HTML file to write")
    command.add_argument(
        "--puzzles",
        type=not_negative,
        default=_PUZZLES,
        metavar="N",
        help=f"maximum number of puzzles on the page (default: {_PUZZLES})",
    )
    command.add_argument(
        "--drills",
        action="store_true",
        help="also make drills from the mistakes that have a clear solution; `play --drills` shows the drills",
    )
    declare_file(command)
    declare_limits(command, _NODES)
    add_workers(command, help="number of worker processes (default: one for each processor core)")
    declare(command, "--hash", help=f"size of each process's hash table, in MB (default: {_HASH_MB})")
    declare(command, "--syzygy", "--eval", "--eval-file", "--engine", "--force", "--restart")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status."""
    from knightadder.pgn.game_files import game_files

    out: Path = arguments.out
    unfinished = state_beside(out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"--out {out}: expected a name that ends in .html")
    check_outputs({"--drills-file": arguments.drills_file, "--out": out}, arguments.files)
    check_new(out, arguments.force or is_resumed(unfinished, arguments.restart))
    with needed_by("report", "annotate"):
        import matplotlib  # noqa: F401
    with game_files(arguments.files) as files:
        items = list(_items(files, arguments.player))
        if arguments.drills or arguments.drills_file:
            open_box(arguments.drills_file)  # so that an error shows before hours of work
        found = _study(files, items, unfinished, arguments)
    if not found:
        raise PositionError(f"no game of {arguments.player[0]} can be used; the lines above say why")
    return 0


def _items(files: Sequence[tuple[str, Path]], names: Sequence[str]) -> Iterator[GameOfPlayer]:
    """Read the games of the player; PositionError if there are none."""
    from knightadder.pgn.game_records import Copies, GameRecord, check_player, read_records
    from knightadder.pgn.games import tags_of
    from knightadder.report.study import GameOfPlayer

    wanted = {plain_name(name) for name in names}
    players: Counter[str] = Counter()
    copies = Copies()
    number = 0
    for name, file in files:
        for record in read_records(file):
            # A broken game is reported later.
            text = record.source if isinstance(record, GameRecord) else record[0]
            tags = record.tags if isinstance(record, GameRecord) else tags_of(text) or {}
            colours = [tags.get(colour, "?") for colour in ("White", "Black")]
            players.update(colours)
            if wanted.isdisjoint(map(plain_name, colours)) or (isinstance(record, GameRecord) and copies.has(record)):
                continue
            for white, player in zip((True, False), colours, strict=True):
                if plain_name(player) in wanted:  # a game between two of the player's names counts for both
                    yield GameOfPlayer(number, Path(name).name, white, text)
                    number += 1
    copies.tell()
    check_player(names, players, files)


def _study(
    files: Sequence[tuple[str, Path]],
    items: Sequence[GameOfPlayer],
    unfinished: Path | None,
    arguments: argparse.Namespace,
) -> int:
    """Study the games and write the page; return the number of games in it."""
    import chess.engine

    from knightadder.engine.capacity import processors
    from knightadder.pgn.games import BrokenGame, GameText, tell_left_out
    from knightadder.report.figures import player_game
    from knightadder.report.page import write_page
    from knightadder.report.study import GameStudy, studied
    from knightadder.uci.uci_engine import chosen_engine
    from knightadder.worker_engine import WorkerEngine

    limit = search_limit(arguments, _NODES)
    engine, options = chosen_engine(arguments)
    same = {
        "format": 3,
        "games": [[Path(name).name, content_digest(file)] for name, file in files],
        "player": sorted(map(plain_name, arguments.player)),
        "version": __version__,
        "limit": limit,
        "network": network_digest(arguments),
        "engine": engine,
        "options": options,
    }
    task = GameStudy(chess.engine.Limit(**limit), WorkerEngine(engine, options, _HASH_MB))
    processes = min(arguments.concurrency or processors(), len(items))
    kept: dict[int, bytes] = {}
    with (
        Journal(unfinished, same, arguments.restart) as journal,
        going_on(lambda: journal.kept(len(items))),
    ):
        journal.tell_continuing(len(items))
        todo = [item for item in items if item.number not in journal]
        kept.update(journal.entries(_read))
        if todo:
            check_new(arguments.out, arguments.force)  # an unfinished run has not written this file
            with (
                open_pool(task, arguments.cluster, processes, core=engine is None) as pool,
                progress(len(items), len(journal), "games", stderr=True, place=pool.place) as update,
            ):
                for item, result in pool.run(todo):
                    journal.add(item.number, {"result": result.decode()})
                    kept[item.number] = result
                    update(len(kept), "")
        games: list[StudiedGame] = []
        told: GameText | None = None
        for item in items:
            try:
                games.append(studied(item, kept[item.number], engine is not None))
            except BrokenGame as fault:
                if item.text is not told:  # a game between two of the names has two items, one after the other
                    tell_left_out(item.file, item.text, fault)
                told = item.text
        if games:
            about = {"limit": limit, "engine": engine, "files": [Path(name).name for name, _ in files]}
            spellings = Counter(game.game.headers["White" if game.item.white else "Black"] for game in games)
            [(player, _)] = spellings.most_common(1)
            played = [player_game(game) for game in games]
            if arguments.drills or arguments.drills_file:
                _add_drills(played, arguments.drills_file)
            page = write_page(player, played, about, arguments.puzzles)
            write_whole(arguments.out, utf8(page), force=arguments.force)
        journal.remove()
    left = len(items) - len(games)
    if games:
        broken = f", {left} left out" if left else ""
        print(f"{arguments.out}: {counted(len(games), 'game')}{broken}", file=sys.stderr)
    return len(games)


def _add_drills(games: Sequence[PlayerGame], file: Path | None) -> None:
    from knightadder.report.figures import puzzles
    from knightadder.report.new_drills import drills_of

    box = open_box(file)
    drills = drills_of(puzzles(games, sys.maxsize))
    new = box.add(drills)
    print(f"{box.file}: {counted(len(drills), 'mistake')}, {new} of them new", file=sys.stderr)


def _read(entry: dict[str, Any]) -> tuple[int, bytes]:
    return entry["number"], entry["result"].encode()
