"""Opening books in Polyglot's format, read by python-chess."""

from pathlib import Path
from random import Random

from knightadder.engine.errors import OptionError

_ENTRY_BYTES = 16


class Book:
    """An opening book: weighted moves by position.

    Parameters
    ----------
    file : str or Path
        A Polyglot book, ``*.bin``. It is mapped into memory, and so takes none of its own.

    Raises
    ------
    OptionError
        If it cannot be read, or is no such book.
    """

    def __init__(self, file: str | Path) -> None:
        # Not for everybody: importing python-chess takes longer than a user interface should wait.
        import chess.polyglot

        try:
            size = Path(file).stat().st_size
            if not size or size % _ENTRY_BYTES:
                raise OptionError(f"cannot read the book {file}: it is no Polyglot book")
            self._reader = chess.polyglot.open_reader(file)
        except OSError as error:
            raise OptionError(f"cannot read the book {file}: {error.strerror}") from None

    def moves(self, fen: str, chess960: bool = False) -> dict[str, int]:
        """Look a position up.

        Parameters
        ----------
        fen : str
            The position.
        chess960 : bool
            Whether castling is written as king takes rook.

        Returns
        -------
        dict of str to int
            The legal moves that the book has, in UCI notation, with their weights; the heaviest first. Moves of weight
            0, which books keep only for the record, are left out.
        """
        import chess

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
            Choose the heaviest move; otherwise by chance, the likelier the heavier.
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
