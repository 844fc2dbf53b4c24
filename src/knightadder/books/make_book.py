"""Makes opening books in Polyglot's format from games."""

from __future__ import annotations

import argparse
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from knightadder.arguments import declare, positive
from knightadder.engine.errors import PositionError
from knightadder.files import check_new, check_outputs, write_whole
from knightadder.text import counted, tell

if TYPE_CHECKING:
    import numpy as np

    from knightadder.pgn.game_records import Copies, GameRecord

# Points by position (Polyglot's key) and by encoded move.
Points: TypeAlias = Mapping[int, Counter[int]]

_ENTRY = struct.Struct(">QHHI")  # key, move, weight, and an unused word
_MOST = 65_535  # maximum weight of a move
_EN_PASSANT = 772  # index of the first of Polyglot's random numbers for en passant files
_NO_SQUARE = 64  # value in a packed position without an en passant square


def add_command(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book make``."""
    command = kinds.add_parser(
        "make",
        help="make a Polyglot book from PGN files",
        description="Make a Polyglot book from the games of PGN files. The weight of a move is two for each won "
        "game and one for each drawn game.",
    )
    declare(command, "files")
    declare(command, "--out", required=True, metavar="BOOK.bin", help="book file to write")
    command.add_argument(
        "--plies", type=positive, default=40, metavar="N", help="use the first N plies of each game (default: 40)"
    )
    command.add_argument(
        "--min-games",
        type=positive,
        default=1,
        metavar="N",
        help="use only moves that were played in at least N games (default: 1)",
    )
    declare(command, "--force")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    from knightadder.pgn.game_files import game_files
    from knightadder.pgn.game_records import Copies

    check_outputs({"--out": arguments.out}, arguments.files)
    check_new(arguments.out, arguments.force)
    points: dict[int, Counter[int]] = defaultdict(Counter)
    played: dict[int, Counter[int]] = defaultdict(Counter)
    used, any_game = 0, False
    copies = Copies()
    with game_files(arguments.files) as files:
        for name, file in files:
            read, bad = _add_games(file, arguments.plies, points, played, name, copies)
            used += read
            any_game = any_game or bool(read or bad)
            if bad:
                tell(f"{name}: {counted(bad, 'game')} left out: unreadable or without a result")
    copies.tell()
    for key, moves in played.items():
        for move, games in moves.items():
            if games < arguments.min_games:
                del points[key][move]
    entries = list(weigh(points))
    if not entries:
        if not any_game:
            raise PositionError(f"there is no game in {', '.join(name for name, _ in files)}")
        least = counted(arguments.min_games, "game")
        raise PositionError(f"no move for the book: none was played in {least} with a result (see --min-games)")
    book = b"".join(_ENTRY.pack(*entry, 0) for entry in entries)
    write_whole(arguments.out, book, force=arguments.force)
    positions = len({key for key, _, _ in entries})
    where = f"{counted(positions, 'position')}, from {counted(used, 'game')}"
    print(f"{arguments.out}: {counted(len(entries), 'move')} in {where}")
    return 0


def _add_games(
    file: Path,
    plies: int,
    points: dict[int, Counter[int]],
    played: dict[int, Counter[int]],
    name: str,
    copies: Copies,
) -> tuple[int, int]:
    """Add the moves of the games in a PGN file, without copies; return the numbers of usable and of unusable games.

    Unreadable games are reported on standard error, with `name` as the name of the file. From the first plies of each
    game, `points` gets two for each win of the mover and one for each draw, and `played` counts how often each move was
    played, both by position and move. OptionError if the file cannot be read.
    """
    import numpy as np

    from knightadder.pgn.game_records import sound_records, squares_of
    from knightadder.rules import POINTS

    used = bad = 0
    for game in sound_records(file, name):
        if game is None or game.result not in POINTS:
            bad += 1
            continue
        if copies.has(game):
            continue
        used += 1
        white = round(2 * POINTS[game.result])  # Polyglot counts a draw as 1
        squares = squares_of(game.codes[:plies], True)
        moves = squares >> 6 & 63 | (squares & 63) << 6 | np.maximum((squares >> 12) - 1, 0) << 12
        positions = game.positions()[:plies]
        blacks = (positions["stm_ep"] >> 7).tolist()
        for key, code, black in zip(_book_keys(game, positions), moves.tolist(), blacks, strict=True):
            points[key][code] += 2 - white if black else white
            played[key][code] += 1
    return used, bad


def _book_keys(game: GameRecord, positions: np.ndarray) -> list[int]:
    """Return Polyglot's keys of the first positions of a game.
    In a book, an en passant square counts if a pawn stands beside the pawn that moved, even if the capture is illegal.
    """
    import chess.polyglot

    from knightadder.core.board.moves import DOUBLE_PUSH

    keys: list[int] = game.keys()[: len(positions)].tolist()
    if keys and "FEN" in game.tags:
        keys[0] = chess.polyglot.zobrist_hash(game.board())
    codes = game.codes.tolist()
    for ply in range(1, len(keys)):
        square = codes[ply - 1] >> 6 & 63
        if codes[ply - 1] >> 12 == DOUBLE_PUSH and _is_beside_illegal_capture(positions[ply], square):
            keys[ply] ^= chess.polyglot.POLYGLOT_RANDOM_ARRAY[_EN_PASSANT + (square & 7)]
    return keys


def _is_beside_illegal_capture(position: np.void, square: int) -> bool:
    """Return whether a pawn of the side to move is beside a square, in a position without legal en passant captures."""
    black, ep = divmod(int(position["stm_ep"]), 128)
    if ep < _NO_SQUARE:
        return False
    occupied, pieces = int(position["occupied"]), position["pieces"]
    for beside in (square - 1, square + 1):
        if beside >> 3 == square >> 3 and occupied >> beside & 1:
            index = (occupied & ((1 << beside) - 1)).bit_count()
            if int(pieces[index >> 1]) >> 4 * (index & 1) & 15 == 8 * black:
                return True
    return False


def weigh(points: Points) -> Iterable[tuple[int, int, int]]:
    """Turn points into weights: yield position, move and weight, from 1 to 65535.
    Moves without points are left out. The order is Polyglot's: by position, the greatest weight first.
    """
    for key in sorted(points):
        moves = points[key]
        most = max(moves.values(), default=0)
        for move, number in sorted(moves.items(), key=lambda each: (-each[1], each[0])):
            weight = number if most <= _MOST else max(number * _MOST // most, min(number, 1))
            if weight:
                yield key, move, weight
