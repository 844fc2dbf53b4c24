"""Finding games by a part of a position: some pieces on squares, or the material of both sides."""

import re
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.index_queries import ANY, WANTED, find_positions
from knightadder.core.board.fen import LETTERS
from knightadder.engine.errors import OptionError
from knightadder.library.explorer_file import GameChunk
from knightadder.pgn.bulk import new_reader, tables


def read_pieces(text: str) -> dict[int, int]:
    """Return the pieces on squares that a text such as ``Nd5 pd6 -e4`` names, 0 for an empty square; OptionError if it
    is not such a text.
    """
    found: dict[int, int] = {}
    for word in text.replace(",", " ").split():
        letter, square = word[:1], word[1:]
        if (letter != "-" and (letter not in LETTERS or letter == " ")) or square not in chess.SQUARE_NAMES:
            raise OptionError(f"expected a piece on a square, such as Nd5, pd6 or -e4, not {word!r:.60}")
        piece = 0 if letter == "-" else LETTERS.index(letter)
        if found.setdefault(chess.SQUARE_NAMES.index(square), piece) != piece:
            raise OptionError(f"{square} cannot have two different contents: {text!r:.60}")
    return found


def read_material(text: str) -> tuple[str, str] | None:
    """Return the men of each side; None for an empty text, OptionError if the text does not describe material."""
    if not text.strip():
        return None
    match = re.fullmatch(r"K([QRBNP]*)V?K([QRBNP]*)", text.strip().upper())
    if not match:
        raise OptionError(f"expected material such as KRPvKR, not {text!r:.60}")
    return match[1], match[2]


def wanted_men(squares: dict[int, int], sides: tuple[str, str] | None) -> Any:
    """Return a WANTED record with pieces on squares, and with the men of White and Black (None for any)."""
    record = np.zeros(1, WANTED)[0]
    record["squares"][:] = ANY
    for square, piece in squares.items():
        record["squares"][square] = piece
    if sides is None:
        record["men"][0] = ANY
        return record
    for color, men in enumerate(sides):
        for kind in range(chess.PAWN, chess.KING):
            record["men"][8 * color + kind] = men.count(LETTERS[kind])
    return record


def first_plies(chunk: GameChunk, records: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the games of a chunk that have a wanted position, with the ply of the first such position."""
    text, games = chunk.for_core()
    rows: list[NDArray[np.int32]] = []
    for record in records:
        plies = np.empty(len(games), np.int32)
        find_positions(tables(), new_reader(), text, games, chunk.moves, record, plies)
        rows.append(plies)
    least = np.min([np.where(row < 0, np.iinfo(np.int32).max, row) for row in rows], axis=0)
    hits = np.flatnonzero(least < np.iinfo(np.int32).max)
    return [(int(index), int(least[index])) for index in hits]
