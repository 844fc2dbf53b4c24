"""The subcommand ``book ask``: shows what an index of games says about a position."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from knightadder.arguments import not_negative
from knightadder.books.filters import add_filters, read_filter, show_games, write_games
from knightadder.engine.errors import PositionError
from knightadder.text import tell

if TYPE_CHECKING:
    import chess
    from rich.table import Table

    from knightadder.library.explorer_results import ExplorerMove

_MOST = 5  # default number of games to list


def add_command(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book ask``."""
    command = kinds.add_parser(
        "ask",
        help="show which moves were played in a position",
        description="Show which moves were played in a position, according to the games of an index, and with "
        "which results. Also list the highest-rated of these games. The options choose which games "
        "count.",
    )
    add_filters(command)
    command.add_argument(
        "fen", nargs="*", default=["startpos"], metavar="FEN", help="FEN of the position (default: the start position)"
    )
    command.add_argument(
        "--moves",
        nargs="+",
        default=[],
        metavar="MOVE",
        help="moves that lead from FEN to the position to look up, such as e4 e5 Nf3",
    )
    command.add_argument(
        "--games",
        type=not_negative,
        default=_MOST,
        metavar="N",
        help=f"maximum number of games to list (default: {_MOST})",
    )
    command.add_argument(
        "--latest", action="store_true", help="list the latest games instead of the highest-rated games"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    from knightadder.core.board.fen import FenError
    from knightadder.library.boards import fen_text
    from knightadder.library.explorer import Explorer
    from knightadder.opening_names import find_opening
    from knightadder.rules import read_fen

    try:
        board, notes = read_fen(fen_text(" ".join(arguments.fen)))
    except FenError as error:
        raise PositionError(str(error)) from None
    for note in notes:
        tell(note)
    _play(board, arguments.moves)
    with Explorer(arguments.file) as explorer:
        wanted = read_filter(arguments)
        moves = explorer.moves(board, wanted)
        games = explorer.games(board, wanted, most=arguments.games, latest=arguments.latest)
        write_games(explorer, games, arguments)
    opening = find_opening(board)
    print(board.fen() if opening is None else f"{board.fen()}  {opening.eco} {opening.name}")
    if not moves:
        print("No game of the index continues from this position.")
        return 0
    from rich.console import Console

    Console().print(_table(moves))
    show_games(games)
    return 0


def _play(board: chess.Board, words: Sequence[str]) -> None:
    """Play moves in algebraic or UCI notation, with or without numbers; PositionError if one is illegal."""
    for move in re.sub(r"\d+\.+", " ", " ".join(words)).split():
        try:
            if not board.push_san(move):
                raise ValueError("a null move")
        except ValueError:
            raise PositionError(f"illegal move: {move!r:.60} in {board.fen()}") from None


def _table(moves: Sequence[ExplorerMove]) -> Table:
    from rich.table import Table

    table = Table("Move", "Games", "White", "Draw", "Black", "Score", "Rating", "Perf.", "Last")
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for move in moves:
        more = ("" if value is None else str(value) for value in (move.rating, move.performance, move.last))
        table.add_row(move.san, *_shares(move.white, move.draws, move.black), *more)
    table.add_section()
    sums = (sum(getattr(move, name) for move in moves) for name in ("white", "draws", "black"))
    table.add_row("All", *_shares(*sums))
    return table


def _shares(white: int, draws: int, black: int) -> list[str]:
    """Return the number of games, and White's wins, draws, Black's wins and White's score, each in per cent."""
    games = white + draws + black
    return [str(games), *(f"{100 * part / games:.0f} %" for part in (white, draws, black, white + draws / 2))]
