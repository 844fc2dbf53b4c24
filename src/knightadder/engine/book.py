"""Opening books in Polyglot's format, read by python-chess."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from knightadder.engine.errors import OptionError

if TYPE_CHECKING:
    import chess

_ENTRY_BYTES = 16
_SAMPLE = 100  # number of entries that are checked when a book is opened


class Book:
    """An opening book: weighted moves by position, from a Polyglot file, ``*.bin``, that is mapped into memory. An
    `OptionError` is raised if the file cannot be read or is not a Polyglot book.
    """

    def __init__(self, file: str | Path) -> None:
        # Imported here, because importing python-chess would make every start of the engine too slow.
        import chess.polyglot

        not_a_book = OptionError(f"cannot read the book {file}: it is not a Polyglot book")
        try:
            size = Path(file).stat().st_size
            if not size or size % _ENTRY_BYTES or not Path(file).is_file():
                raise not_a_book
            self._reader = chess.polyglot.open_reader(file)
        except OSError as error:
            raise OptionError(f"cannot read the book {file}: {error.strerror}") from None
        if not self._is_sorted():
            self.close()
            raise not_a_book

    def _is_sorted(self) -> bool:
        """Return whether the keys of sampled entries ascend. In a book all keys do; in any other file, hardly ever."""
        count = len(self._reader)
        keys = [self._reader[index].key for index in range(0, count, max(count // _SAMPLE, 1))]
        return keys == sorted(keys)

    def moves(self, fen: str, chess960: bool = False) -> dict[str, int]:
        """Return the book's legal moves for a position in UCI notation, with their weights, the heaviest first. If the
        book has a move twice, its weights are added.

        Moves of weight 0, which a book keeps only for the record, are left out. There are no moves if the size of the
        file has changed since it was opened. With `chess960`, castling is written as king takes rook.
        """
        import chess

        mapped = self._reader.mmap
        if mapped is None or mapped.size() != len(mapped):  # the size of the file has changed, so reading it would fail
            return {}
        board = chess.Board(fen, chess960=chess960)
        weights = Counter[str]()
        for entry in self._reader.find_all(board, minimum_weight=1):
            weights[board.uci(entry.move)] += entry.weight
        return dict(weights.most_common())

    def choose(self, fen: str, random: Random, best: bool = False, chess960: bool = False) -> str | None:
        """Return a random move by weight, or with `best` the heaviest move, in UCI notation; None if there is none."""
        moves = self.moves(fen, chess960)
        if not moves:
            return None
        return next(iter(moves)) if best else random.choices(list(moves), list(moves.values()))[0]

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


def encode(board: chess.Board, move: chess.Move) -> int:
    """Return a legal move in Polyglot's encoding: target, source and promotion. Castling is king takes rook."""
    import chess

    target = move.to_square
    if board.is_castling(move):
        rooks = board.clean_castling_rights() & chess.BB_RANKS[chess.square_rank(move.from_square)]
        target = (chess.msb if board.is_kingside_castling(move) else chess.lsb)(rooks)
    promotion = move.promotion - 1 if move.promotion else 0
    return target | (move.from_square << 6) | (promotion << 12)
