"""Opening books in Polyglot's format, read by python-chess."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from knightadder.engine.errors import OptionError

if TYPE_CHECKING:
    import chess

_ENTRY_BYTES = 16


class Book:
    """An opening book: weighted moves by position.

    Parameters
    ----------
    file : str or Path
        A Polyglot book, ``*.bin``. The file is mapped into memory, not read into it.

    Raises
    ------
    OptionError
        If the file cannot be read, or is not a Polyglot book.
    """

    def __init__(self, file: str | Path) -> None:
        # Imported only when a book is used: importing python-chess takes too long for the start of every interface.
        import chess.polyglot

        try:
            size = Path(file).stat().st_size
            if not size or size % _ENTRY_BYTES:
                raise OptionError(f"cannot read the book {file}: it is not a Polyglot book")
            self._reader = chess.polyglot.open_reader(file)
        except OSError as error:
            raise OptionError(f"cannot read the book {file}: {error.strerror}") from None

    def moves(self, fen: str, chess960: bool = False) -> dict[str, int]:
        """Give the book's moves for a position.

        Parameters
        ----------
        fen : str
            The position.
        chess960 : bool
            Whether castling is written as king takes rook.

        Returns
        -------
        dict of str to int
            The legal moves in the book, in UCI notation, with their weights; the heaviest first. Moves of weight 0,
            which books keep only for the record, are left out. It is empty, too, if the file's size has changed since
            it was opened.
        """
        import chess

        mapped = self._reader.mmap
        if mapped is None or mapped.size() != len(mapped):  # the file has grown or shrunk, so reading it would fail
            return {}
        board = chess.Board(fen, chess960=chess960)
        found = [(entry.move, entry.weight) for entry in self._reader.find_all(board, minimum_weight=1)]
        return {board.uci(move): weight for move, weight in sorted(found, key=lambda each: -each[1])}

    def choose(self, fen: str, random: Random, best: bool = False, chess960: bool = False) -> str | None:
        """Choose a move.

        Parameters
        ----------
        fen : str
            The position.
        random : random.Random
            The source of chance.
        best : bool
            Whether to choose the heaviest move; otherwise a random one, weighted.
        chess960 : bool
            Whether castling is written as king takes rook.

        Returns
        -------
        str or None
            The move in UCI notation; None if the book has none.
        """
        moves = self.moves(fen, chess960)
        if not moves:
            return None
        return next(iter(moves)) if best else random.choices(list(moves), list(moves.values()))[0]

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


def encode(board: chess.Board, move: chess.Move) -> int:
    """Return a legal move in Polyglot's encoding: target, source and promotion; castling is king takes rook."""
    import chess

    target = move.to_square
    if board.is_castling(move):
        rooks = board.clean_castling_rights() & chess.BB_RANKS[chess.square_rank(move.from_square)]
        target = (chess.msb if board.is_kingside_castling(move) else chess.lsb)(rooks)
    promotion = move.promotion - 1 if move.promotion else 0
    return target | move.from_square << 6 | promotion << 12
