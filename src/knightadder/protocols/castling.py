"""Castling in the notation of the Chess Engine Communication Protocol (CECP).

In normal chess, castling is the king's step, as in UCI. In Chess960 it is ``O-O`` or ``O-O-O``, where UCI writes king
takes rook; recognising castling there needs the pieces on the board.
"""

import re
from collections.abc import Sequence

_CASTLING = re.compile(r"[oO0]-[oO0](?P<long>-[oO0])?")
_COORDINATES = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?")


class Pieces:
    """The pieces that castling needs, by square, from the first field of a FEN."""

    def __init__(self, placement: str) -> None:
        self._on: dict[str, str] = {}
        for rank, row in zip("87654321", placement.split("/"), strict=True):
            squares = re.sub(r"\d", lambda digit: " " * int(digit[0]), row)
            self._on.update((file + rank, piece) for file, piece in zip("abcdefgh", squares, strict=True))

    def castles(self, move: str) -> bool:
        """Return whether a legal move, in either UCI notation, is castling."""
        source, target = move[:2], move[2:4]
        king = self._on[source]
        if king not in ("K", "k"):
            return False
        rook = "R" if king == "K" else "r"
        return self._on[target] == rook or abs(ord(source[0]) - ord(target[0])) > 1

    def other_notation(self, castling: str) -> str:
        """Convert castling from king takes rook to the king's step, or the other way round."""
        source, target = castling[:2], castling[2:4]
        files = "gc" if self._on[target] != " " else "ha"
        return source + files[target < source] + source[1]

    def play(self, move: str) -> None:
        """Play a legal move, with castling written as king takes rook. Pieces that no longer matter to castling are not
        updated: pawns captured en passant and promoted pawns remain, and a king and a rook disappear when they castle.
        """
        source, target = move[:2], move[2:4]
        self._on[target] = " " if self.castles(move) else self._on[source]
        self._on[source] = " "


def write_moves(moves: Sequence[str], placement: str) -> list[str]:
    """Return consecutive moves of a Chess960 game, with castling as king takes rook, in CECP's notation. The placement
    before the first move is the first field of a FEN.
    """
    pieces = Pieces(placement)
    written = []
    for move in moves:
        castling = "O-O" if move[2] > move[0] else "O-O-O"
        written.append(castling if pieces.castles(move) else move)
        pieces.play(move)
    return written


def read_move(text: str, legal: Sequence[str], placement: str) -> str | None:
    """Return the legal move that a text in CECP's notation stands for, written as in `legal`; None if there is none.

    Castling is accepted as ``O-O`` or ``O-O-O``, as the king's step, and as king takes rook, in any game. But a text
    that is also a plain king move means that move.
    """
    move = text.lower().replace("=", "")
    if move in legal:
        return move
    pieces = Pieces(placement)
    castling = _CASTLING.fullmatch(text)
    for candidate in legal:
        if not pieces.castles(candidate):
            continue
        kingside = candidate[2] > candidate[0]
        if castling:
            if kingside == (castling["long"] is None):
                return candidate
        elif move == pieces.other_notation(candidate):
            return candidate
    return None


def looks_like_move(text: str) -> bool:
    """Return whether a text has the form of a move, legal or not."""
    return bool(_COORDINATES.fullmatch(text.lower().replace("=", "")) or _CASTLING.fullmatch(text))
