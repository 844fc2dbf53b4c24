"""Positions as text: Forsyth-Edwards Notation in, checked, and out. Plain Python.

Castling rights are read as FEN's ``KQkq``, as X-FEN (the same letters meaning the outermost rook) and as Shredder-FEN
(the files of the rooks), and so serve Chess960.
"""

from dataclasses import dataclass

from ..layout import (
    BISHOP,
    BLACK,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

_LETTERS = " PNBRQK  pnbrqk"  # by piece
_PIECES = {letter: piece for piece, letter in enumerate(_LETTERS) if letter != " "}
_FILES = "abcdefgh"
_MAX_COUNTER = 9_999


class FenError(ValueError):
    """A FEN that describes no position that can arise; the text says why in one line."""


@dataclass(frozen=True)
class Setup:
    """What a FEN says.

    Attributes
    ----------
    board : list of int
        64 pieces, colour * 8 + type, by square from a1 = 0; 0 for an empty square.
    stm : int
        Side to move, 0 for White.
    castling : int
        Bitboard of the rooks that may still castle.
    ep : int
        En passant square, `NO_SQUARE` for none.
    rule50 : int
        Plies since the last capture or pawn move.
    fullmove : int
        Number of the move, counted from 1.
    """

    board: list[int]
    stm: int
    castling: int
    ep: int
    rule50: int
    fullmove: int


def square_name(square: int) -> str:
    """Return a square's name, such as ``e4``."""
    return _FILES[square & 7] + str((square >> 3) + 1)


def parse_fen(text: str) -> Setup:
    """Read a FEN of four to six fields (the counters may be missing) and check it.

    Whether the side that is not to move stands in check is left to the core.

    Raises
    ------
    FenError
        If a field is malformed or the position cannot arise.
    """
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise FenError(f"a FEN has 4 to 6 fields, not {len(fields)}")
    board = _parse_board(fields[0])
    _check_material(board)
    if fields[1] not in ("w", "b"):
        raise FenError(f"the side to move is w or b, not {fields[1]}")
    stm = WHITE if fields[1] == "w" else BLACK
    castling = _parse_castling(fields[2], board)
    ep = _parse_en_passant(fields[3], board, stm)
    rule50 = _parse_counter("halfmove clock", fields[4]) if len(fields) > 4 else 0
    fullmove = _parse_counter("move number", fields[5]) if len(fields) > 5 else 1
    return Setup(board, stm, castling, ep, rule50, max(fullmove, 1))


def _parse_board(text: str) -> list[int]:
    ranks = text.split("/")
    if len(ranks) != 8:
        raise FenError(f"the board has 8 ranks, not {len(ranks)}")
    board = [0] * 64
    for number, rank in zip(range(7, -1, -1), ranks, strict=True):
        file = 0
        for letter in rank:
            if letter in "12345678":
                file += int(letter)
            elif letter in _PIECES:
                if file < 8:
                    board[number * 8 + file] = _PIECES[letter]
                file += 1
            else:
                raise FenError(f"{letter!r} is no piece")
        if file != 8:
            raise FenError(f"rank {number + 1} has {file} squares")
    return board


def _check_material(board: list[int]) -> None:
    for color, name in ((WHITE, "White"), (BLACK, "Black")):
        counts = [board.count(color * 8 + piece_type) for piece_type in range(KING + 1)]
        if counts[KING] != 1:
            raise FenError(f"{name} has {counts[KING]} kings")
        at_start = ((KNIGHT, 2), (BISHOP, 2), (ROOK, 2), (QUEEN, 1))
        promoted = sum(max(counts[piece_type] - count, 0) for piece_type, count in at_start)
        if counts[PAWN] + promoted > 8:
            raise FenError(f"{name} has more pieces than pawns can have become")
    if any(piece & 7 == PAWN for piece in board[:8] + board[56:]):
        raise FenError("a pawn stands on the first or last rank")


def _parse_castling(text: str, board: list[int]) -> int:
    if text == "-":
        return 0
    rooks = 0
    for letter in text:
        color = WHITE if letter.isupper() else BLACK
        base, rook = color * 56, color * 8 + ROOK
        king = board.index(color * 8 + KING)
        if king >> 3 != base >> 3:
            raise FenError(f"castling right {letter} without the king on its first rank")
        if letter.upper() == "K":
            candidates = range(base + 7, king, -1)
        elif letter.upper() == "Q":
            candidates = range(base, king)
        elif letter.lower() in _FILES:
            candidates = range(base + _FILES.index(letter.lower()), base + _FILES.index(letter.lower()) + 1)
        else:
            raise FenError(f"{letter!r} is no castling right")
        square = next((s for s in candidates if board[s] == rook), None)
        if square is None:
            raise FenError(f"castling right {letter} without a rook")
        side = sum(1 << s for s in (range(king, base + 8) if square > king else range(base, king)))
        if rooks & side:
            raise FenError(f"castling right {letter} given twice")
        rooks |= 1 << square
    return rooks


def _parse_en_passant(text: str, board: list[int], stm: int) -> int:
    if text == "-":
        return NO_SQUARE
    if len(text) != 2 or text[0] not in _FILES or text[1] not in "12345678":
        raise FenError(f"{text!r} is no en passant square")
    square = (int(text[1]) - 1) * 8 + _FILES.index(text[0])
    rank, forward = (5, 8) if stm == WHITE else (2, -8)
    pawn = PAWN | (stm ^ 1) << 3
    # The enemy pawn has just passed over the square, from the one behind it.
    if square >> 3 != rank or board[square - forward] != pawn or board[square] or board[square + forward]:
        raise FenError(f"no pawn can just have passed over {text}")
    return square


def _parse_counter(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > _MAX_COUNTER:
        raise FenError(f"the {name} is a number up to {_MAX_COUNTER}, not {text}")
    return int(text)


def write_fen(setup: Setup, chess960: bool = False) -> str:
    """Return the FEN of a position; with `chess960` castling rights are the rooks' files (Shredder-FEN)."""
    ranks = []
    for rank in range(7, -1, -1):
        row = "".join(_LETTERS[piece] if piece else "." for piece in setup.board[rank * 8 : rank * 8 + 8])
        for run in range(8, 0, -1):
            row = row.replace("." * run, str(run))
        ranks.append(row)
    side = "b" if setup.stm else "w"
    ep = "-" if setup.ep == NO_SQUARE else square_name(setup.ep)
    return f"{'/'.join(ranks)} {side} {_write_castling(setup, chess960)} {ep} {setup.rule50} {setup.fullmove}"


def _write_castling(setup: Setup, chess960: bool) -> str:
    text = ""
    for color in (WHITE, BLACK):
        base = color * 56
        king = setup.board.index(color * 8 + KING)
        for square in range(base + 7, base - 1, -1):
            if not setup.castling >> square & 1:
                continue
            outside = range(square + 1, base + 8) if square > king else range(base, square)
            if chess960 or any(setup.board[s] == color * 8 + ROOK for s in outside):
                letter = _FILES[square & 7]
            else:
                letter = "k" if square > king else "q"
            text += letter.upper() if color == WHITE else letter
    return text or "-"
