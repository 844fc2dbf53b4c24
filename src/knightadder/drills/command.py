"""The subcommand ``drills``: adds a repertoire, shows where games left the repertoire, and lists the drills."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, declare_player
from knightadder.engine.errors import PositionError
from knightadder.frozen import typed_command
from knightadder.text import counted

if TYPE_CHECKING:
    from knightadder.drills.box import DrillBox
    from knightadder.drills.repertoire import Departure

_COLOURS = {True: "White", False: "Black"}
_SHOWN_MOVES = 3

_DESCRIPTION = """\
Drills are positions to play on the board, with spaced repetition: your own mistakes, which `knightadder report
--drills` collects, and repertoires from PGN files. `knightadder play --drills` shows them. See docs/drills.md.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``drills`` with its own subcommands."""
    command = commands.add_parser(
        "drills", help="learn from mistakes and practise repertoires, with spaced repetition", description=_DESCRIPTION
    )
    kinds = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_repertoire(kinds)
    _add_left(kinds)
    _add_list(kinds)


def declare_file(command: argparse.ArgumentParser) -> None:
    """Declare the option for the file of drills."""
    command.add_argument(
        "--drills-file",
        type=Path,
        metavar="FILE",
        help="file that stores the drills and your progress (default: drills.sqlite in the user's data folder)",
    )


def open_box(file: Path | None) -> DrillBox:
    """Open the file of drills, by default the one in the user's folder; OptionError if that fails."""
    from knightadder.drills.box import DrillBox

    return DrillBox(_place(file))


def _place(file: Path | None) -> Path:
    from knightadder.user_file import user_file

    return file or user_file("drills.sqlite")


def _add_repertoire(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = kinds.add_parser(
        "repertoire",
        help="make drills from a repertoire in PGN files with variations",
        description="Make a drill of each position of a repertoire. The files must contain the side's whole "
        "repertoire. After changing the files, run the command again; unchanged positions keep their progress.",
    )
    declare(command, "files", metavar="FILE.pgn", help="PGN file with the repertoire of one side; - is standard input")
    command.add_argument("--side", choices=("white", "black"), required=True, help="side that plays this repertoire")
    declare_file(command)
    command.set_defaults(run=_run_repertoire)


def _run_repertoire(arguments: argparse.Namespace) -> int:
    from knightadder.drills.repertoire import read_repertoire
    from knightadder.pgn.game_files import game_files

    white = arguments.side == "white"
    with game_files(arguments.files) as files:
        drills = read_repertoire(files, white)
    if not drills:
        raise PositionError(f"there is no move of {_COLOURS[white]} in {', '.join(name for name, _ in files)}")
    box = open_box(arguments.drills_file)
    new = box.set_repertoire(white, drills)
    print(f"{box.file}: the repertoire of {_COLOURS[white]} has {counted(len(drills), 'position')}, {new} of them new")
    return 0


def _add_left(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = kinds.add_parser(
        "left",
        help="show where games left your repertoire",
        description="Show where a player's games left the repertoires, and whether the player or the opponent did.",
    )
    declare_player(command)
    declare_file(command)
    command.set_defaults(run=_run_left)


def _run_left(arguments: argparse.Namespace) -> int:
    from knightadder.drills.repertoire import departures
    from knightadder.pgn.game_files import game_files
    from knightadder.pgn.game_records import Copies, GameRecord, check_player, sound_records

    file = _place(arguments.drills_file)
    repertoires = open_box(file).repertoires() if file.exists() else {}
    if not any(repertoires.values()):
        raise PositionError(f"there is no repertoire in {file}: `{typed_command(['drills', 'repertoire'])}` adds one")
    copies = Copies()
    players: Counter[str] = Counter()

    def games() -> Iterator[GameRecord]:
        for name, file in files:
            for record in filter(None, sound_records(file, name)):
                players.update(record.tags.get(colour, "?") for colour in _COLOURS.values())
                if not copies.has(record):
                    yield record

    with game_files(arguments.files) as files:
        reached, left = departures(games(), arguments.player, repertoires)
        check_player(arguments.player, players, files)
    copies.tell()
    print(f"{counted(reached, 'game')} of {arguments.player[0]} reached a repertoire.")
    _show("You left it", [each for each in left if each.own])
    _show("The repertoire has no answer", [each for each in left if not each.own])
    return 0


def _show(title: str, left: Sequence[Departure]) -> None:
    if not left:
        return
    from rich.console import Console

    from knightadder.text_table import text_table

    columns = "Games", "Score", "After", "Played", *["Repertoire"] * left[0].own
    rows = []
    for each in left:
        score = f"{100 * sum(each.points) / len(each.points):.0f} %" if each.points else "-"
        moves = [f"{move} ({count})" if count > 1 else move for move, count in each.played.most_common(_SHOWN_MOVES)]
        rows.append((each.games, score, each.before, ", ".join(moves), *[", ".join(each.wanted)] * left[0].own))
    Console().print(text_table(columns, rows, left=len(columns), framed=True, title=title))


def _add_list(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = kinds.add_parser(
        "list",
        help="show how many drills there are, and how many are due",
        description="Show how many drills there are, how many are due, and how many are new, for each kind and side.",
    )
    command.add_argument("--themes", action="store_true", help="count each theme separately")
    command.add_argument("--openings", action="store_true", help="count each opening separately")
    declare_file(command)
    command.set_defaults(run=_run_list)


def _run_list(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from knightadder.text_table import text_table

    file = _place(arguments.drills_file)
    groups = open_box(file).groups() if file.exists() else []
    if not groups:
        print(f"There are no drills in {file}.")
        return 0
    columns = "Kind", "Side", *["Theme"] * arguments.themes, *["Opening"] * arguments.openings
    totals: dict[tuple[str, ...], list[int]] = {}
    for each in groups:
        details = *[each.theme] * arguments.themes, *[each.opening] * arguments.openings
        total = totals.setdefault((each.kind.capitalize(), _COLOURS[each.white], *details), [0, 0, 0])
        total[:] = total[0] + each.count, total[1] + each.due, total[2] + each.new
    count, due, new = map(sum, zip(*totals.values(), strict=True))
    print(f"{counted(count, 'drill')}: {due} due, {new} new")
    # For each kind and side, the most frequent theme or opening comes first.
    order = sorted(totals.items(), key=lambda item: (item[0][0], item[0][1] != "White", -item[1][0], item[0]))
    rows = [(*key, *numbers) for key, numbers in order]
    Console().print(text_table([*columns, "Drills", "Due", "New"], rows, left=len(columns), framed=True))
    return 0
