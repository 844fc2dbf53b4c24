"""Finds games in an index by a part of a position, and games that are in an index twice with different headers."""

from __future__ import annotations

import argparse
from pathlib import Path

from knightadder.arguments import positive
from knightadder.books.filters import add_filters, game_line, read_filter, show_games, write_games

_MOST = 20  # default number of games to list


def add_commands(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book find`` and ``book duplicates``."""
    command = kinds.add_parser(
        "find",
        help="find games by the squares of pieces or by material",
        description="Find the games of an index in which a position has certain pieces on certain squares, or certain "
        "material. The search replays all games.",
    )
    add_filters(command)
    command.add_argument(
        "--pieces",
        default="",
        metavar="MEN",
        help="pieces on squares, such as 'Nd5 Pe4 pd6 -d4': capitals for White, - for an empty square",
    )
    command.add_argument("--material", default="", metavar="MEN", help="all pieces of the two sides, such as KRPvKR")
    command.add_argument(
        "--games", type=positive, default=_MOST, metavar="N", help=f"maximum number of games to list (default: {_MOST})"
    )
    command.set_defaults(run=run)
    command = kinds.add_parser(
        "duplicates",
        help="find games that an index contains twice, even if the headers differ or the last moves are missing",
        description="Show groups of games that are probably the same game: one begins with all moves of the other, and "
        "the players have similar names. The index is not changed.",
    )
    command.add_argument("file", type=Path, metavar="GAMES.sqlite", help="index of games, made by `book index`")
    command.set_defaults(run=_run_duplicates)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand ``find`` and return the exit status."""
    from knightadder.library.explorer import Explorer

    with Explorer(arguments.file) as explorer:
        games = explorer.find(arguments.pieces, arguments.material, read_filter(arguments), most=arguments.games)
        write_games(explorer, games, arguments)
    if not games:
        print("No game of the index has such a position.")
    show_games(games)
    return 0


def _run_duplicates(arguments: argparse.Namespace) -> int:
    """Run the subcommand ``duplicates`` and return the exit status; OptionError if the file cannot be read."""
    from knightadder.library.explorer import Explorer

    with Explorer(arguments.file) as explorer:
        groups = explorer.duplicates()
    if not groups:
        print("The index contains no game twice.")
    for group in groups:
        for place, game in enumerate(group):
            print(("  " if place else "") + game_line(game))
    return 0
