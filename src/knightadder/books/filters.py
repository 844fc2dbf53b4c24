"""The common part of `book ask` and `book find`: the options that filter games, and the list of games."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, positive
from knightadder.files import check_new, check_outputs, write_whole
from knightadder.text import one_line

if TYPE_CHECKING:
    from knightadder.library.explorer import Explorer
    from knightadder.library.explorer_results import ExplorerGame
    from knightadder.library.game_filter import GameFilter

_SPEEDS = ("ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence")  # the same as in the explorer


def add_filters(command: argparse.ArgumentParser) -> None:
    """Declare the index file, the options of the filter, and the options for the list of games."""
    command.add_argument("file", type=Path, metavar="GAMES.sqlite", help="index of games, made by `book index`")
    group = command.add_argument_group("games that count")
    group.add_argument(
        "--min-rating", type=positive, metavar="N", help="only games in which the players' average rating is at least N"
    )
    group.add_argument(
        "--max-rating", type=positive, metavar="N", help="only games in which the players' average rating is at most N"
    )
    group.add_argument(
        "--since", metavar="DATE", help="only games played on this date or later, such as 2024, 2024-03 or 2024-03-15"
    )
    group.add_argument(
        "--until", metavar="DATE", help="only games played on this date or earlier, such as 2024, 2024-03 or 2024-03-15"
    )
    group.add_argument(
        "--speed",
        nargs="+",
        default=[],
        choices=_SPEEDS,
        help="only games with these speeds, which follow from the time control",
    )
    group.add_argument("--player", metavar="NAME", help="only games of this player")
    group.add_argument("--color", choices=("white", "black"), help="only games in which --player has this colour")
    group.add_argument("--result", choices=("1-0", "1/2-1/2", "0-1"), help="only games with this result")
    command.add_argument("--pgn", type=Path, metavar="FILE", help="also write the listed games to this file")
    declare(command, "--force")


def read_filter(arguments: argparse.Namespace) -> GameFilter:
    """Return the filter of a command; OptionError if a value is wrong."""
    from knightadder.library.game_filter import GameFilter

    return GameFilter(
        arguments.min_rating,
        arguments.max_rating,
        arguments.since,
        arguments.until,
        tuple(arguments.speed),
        arguments.player,
        None if arguments.color is None else arguments.color == "white",
        arguments.result,
    )


def show_games(games: Iterable[ExplorerGame]) -> None:
    """Print games, each as a line."""
    for game in games:
        print(game_line(game))


def game_line(game: ExplorerGame) -> str:
    """Return a game as a line."""
    white, black = (
        name + (f" ({elo})" if elo else "")
        for name, elo in ((game.white, game.white_elo), (game.black, game.black_elo))
    )
    move = f"  move {game.move}" if game.move is not None else ""
    details = "".join(f"  {text}" for text in (game.date, game.speed) if text)
    return one_line(f"{white} - {black}  {game.result}{details}{move}")


def write_games(explorer: Explorer, games: Iterable[ExplorerGame], arguments: argparse.Namespace) -> None:
    """Write games to the file of ``--pgn``, if it is given; OptionError if that fails."""
    out: Path | None = arguments.pgn
    if out is not None:
        check_outputs({"--pgn": out}, [arguments.file])
        check_new(out, arguments.force)
        text = "".join(f"{explorer.pgn(game.number)}\n\n" for game in games)
        write_whole(out, text.encode(), force=arguments.force)
