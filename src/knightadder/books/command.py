"""The subcommand ``book``: opening books, and the opening explorer's index of games."""

from __future__ import annotations

import argparse

from knightadder.books import ask, find, index_games, make_book


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``book`` with its own subcommands."""
    command = commands.add_parser("book", help="make opening books from games, and explore the moves played in games")
    kinds = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    make_book.add_command(kinds)
    index_games.add_command(kinds)
    ask.add_command(kinds)
    find.add_commands(kinds)
