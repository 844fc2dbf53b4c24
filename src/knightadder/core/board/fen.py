"""Positions as text: reading, checking and writing Forsyth-Edwards Notation (FEN).

Castling rights are read in three forms: FEN's ``KQkq``, X-FEN (the same letters for the outermost rooks) and
Shredder-FEN (the files of the rooks). So Chess960 positions can be read too.

Old databases and Scid write impossible castling rights and en passant squares. The reader leaves these out, as
Stockfish does. Every other error is a fault.

`read_fields` is the only reader. Python runs it for a single FEN, and `fen_reader` compiles it for many FENs. So it
consists of loops over numbers.
"""

from dataclasses import dataclass, field

from knightadder.native.jit import kernel

from ..layout import BISHOP, BLACK, KING, KNIGHT, NO_SQUARE, PAWN, QUEEN, ROOK, WHITE
from .letters import DASH, LOWER, RETURN, SLASH, SPACE, TAB

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

LETTERS = " PNBRQK  pnbrqk"  # letter of each piece, by its number
_PIECES = tuple(max(LETTERS.find(chr(code)), 0) if code > 32 else 0 for code in range(128))  # piece by letter code
_FILES = "abcdefgh"
_A, _B, _H, _K, _Q, _W = (ord(letter) for letter in "abhkqw")
_0, _1, _8 = (ord(digit) for digit in "018")
_FIRST_SEPARATOR, _LAST_SEPARATOR = 28, 31  # control characters at which `str.split` splits, besides TAB to RETURN

#: The fault of an illegal position that `read_fields` does not find, because it does not look at attacked squares.
WRONG_SIDE_IN_CHECK = "the side that is not to move is in check"

_MAX_COUNTER = 9_999
_MAX_PAWNS = 8
_MAX_RIGHTS = 16  # maximum length of the castling rights, including impossible ones
_MAX_FIELD_SHOWN = 20  # maximum length, in messages, of a wrong field
_MAX_SHOWN = 120  # maximum length, in messages, of a FEN

# Indexes of the numbers that `read_fields` writes. ROOKS is the first of four squares of rooks that may castle (-1 for
# none): White's rook to the left of the king, White's rook to the right, and the same for Black.
STM, EP, RULE50, FULLMOVE, ROOKS = 0, 1, 2, 3, 4
# Details of a fault: its place in the text, the rank or side (0 for White) that it concerns, and the count found
# there.
_AT, _WHICH, _COUNT = 8, 9, 10
# The number at LEFT_OUT has a bit for each letter of the castling rights: 1 if that right is impossible. The next
# number is 1 if the en passant square is impossible.
LEFT_OUT = 11
_BOUNDS = 13  # start and end of each of the six fields
NUMBERS = _BOUNDS + 2 * 6

_FAULTS = {
    1: "a FEN must have 4 to 6 fields, not {count}",
    2: "the board must have 8 ranks, not {count}",
    3: "{letter!r} is not a piece",
    4: "rank {which} must have 8 squares, not {count}",
    5: "{side} has {count} kings",
    6: "{side} has more pieces than promotions allow",
    7: "a pawn stands on the first or last rank",
    8: "the side to move must be w or b, not {field!r}",
    9: "{letter!r} is not a castling right",
    10: "{field!r} is not an en passant square",
    11: f"the halfmove clock must be a number up to {_MAX_COUNTER}, not {{field!r}}",
    12: f"the move number must be a number up to {_MAX_COUNTER}, not {{field!r}}",
}
(
    _BAD_FIELDS,
    _BAD_RANKS,
    _BAD_PIECE,
    _BAD_RANK,
    _BAD_KINGS,
    _BAD_MATERIAL,
    _BAD_PAWN,
    _BAD_SIDE,
    _BAD_RIGHT,
    _NO_EP_SQUARE,
    _BAD_CLOCK,
    _BAD_NUMBER,
) = _FAULTS


class FenError(ValueError):
    """Raised for a malformed FEN or an impossible position. The message gives the reason in one line."""


@dataclass(frozen=True)
class Setup:
    """The content of a FEN.

    `board` has the piece on each square, from a1 = 0: colour * 8 + type, or 0. `stm` is the side to move, 0 for White.
    `castling` is the bitboard of the rooks that may still castle. `ep` is the en passant square or `NO_SQUARE`.
    `rule50` counts the plies since the last capture or pawn move. `notes` has a line for each kind of impossible
    castling right or en passant square that was left out.
    """

    board: list[int]
    stm: int
    castling: int
    ep: int
    rule50: int
    fullmove: int
    notes: tuple[str, ...] = field(default=(), compare=False)


def refusal(text: str, reason: object, what: str = "position") -> str:
    """Return a line that says why a FEN is refused, followed by the FEN as given."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(text.split()))
    return f"illegal {what}: {reason} ({shown[:_MAX_SHOWN]}{'...' * (len(shown) > _MAX_SHOWN)})"


def square_name(square: int) -> str:
    """Return a square's name, such as ``e4``."""
    return _FILES[square & 7] + str((square >> 3) + 1)


def parse_fen(text: str) -> Setup:
    """Read and check a FEN of four to six fields; the counters may be missing. A malformed field or an impossible
    position raises a `FenError`. Whether the side that is not to move is in check is left to the core.
    """
    text = " ".join(text.split())
    board, numbers = [0] * 64, [0] * NUMBERS
    fault = read_fields([ord(letter) for letter in text], 0, len(text), board, numbers)
    if fault:
        rest = text[numbers[_AT] :]
        raise FenError(
            _FAULTS[fault].format(
                letter=rest[:1],
                field=rest.partition(" ")[0][:_MAX_FIELD_SHOWN],
                which=numbers[_WHICH],
                side="Black" if numbers[_WHICH] else "White",
                count=numbers[_COUNT],
            )
        )
    castling = sum(1 << square for square in numbers[ROOKS : ROOKS + 4] if square >= 0)
    _, _, rights, square = text.split()[:4]
    wrong = "".join(letter for place, letter in enumerate(rights) if (numbers[LEFT_OUT] >> place) & 1)
    notes = notes_on(wrong, square if numbers[LEFT_OUT + 1] else "")
    return Setup(board, numbers[STM], castling, numbers[EP], numbers[RULE50], numbers[FULLMOVE], notes)


def notes_on(rights: str, square: str) -> tuple[str, ...]:
    """Return lines that name the impossible castling rights and en passant square that were left out."""
    notes = [f"impossible castling right{'s' * (len(rights) > 1)} {rights} left out"] if rights else []
    if square:
        notes.append(f"impossible en passant square {square} left out")
    return tuple(notes)


# --- the reader ----------------------------------------------------------------------------------------------------


@kernel
def read_fields(text, start, end, board, numbers):
    """Read and check a FEN of four to six fields; return 0, or the number of the fault (a key of `_FAULTS`).

    The FEN is ``text[start:end]``, a sequence of character codes with fields separated by ASCII white space. `board`
    has 64 empty squares and receives the pieces. `numbers` has the length `NUMBERS` and receives the other fields, or
    the details of a fault. Whether the side that is not to move is in check is not tested.
    """
    count = _find_fields(text, start, end, numbers)
    if count < 4 or count > 6:
        numbers[_COUNT] = count
        return _BAD_FIELDS

    at, last = numbers[_BOUNDS], numbers[_BOUNDS + 1]
    fault = _read_board(text, at, last, board, numbers)
    if fault:
        return fault
    fault, numbers[_WHICH], numbers[_COUNT] = check_material(board)
    if fault:
        return fault

    at, last = numbers[_BOUNDS + 2], numbers[_BOUNDS + 3]
    numbers[_AT] = at
    letter = int(text[at])
    if last - at != 1 or (letter != _W and letter != _B):
        return _BAD_SIDE
    numbers[STM] = WHITE if letter == _W else BLACK

    at, last = numbers[_BOUNDS + 4], numbers[_BOUNDS + 5]
    fault = _read_castling(text, at, last, board, numbers)
    if fault:
        return fault

    at, last = numbers[_BOUNDS + 6], numbers[_BOUNDS + 7]
    numbers[_AT] = at
    fault = _read_en_passant(text, at, last, board, numbers)
    if fault:
        return fault

    # A missing counter is read as 0.
    at, last = numbers[_BOUNDS + 8], numbers[_BOUNDS + 9]
    numbers[_AT] = at
    numbers[RULE50] = _read_counter(text, at, last)
    if numbers[RULE50] < 0:
        return _BAD_CLOCK
    at, last = numbers[_BOUNDS + 10], numbers[_BOUNDS + 11]
    numbers[_AT] = at
    number = _read_counter(text, at, last)
    numbers[FULLMOVE] = max(number, 1)  # many programs write 0 as the move number
    return _BAD_NUMBER if number < 0 else 0


@kernel
def _find_fields(text, start, end, numbers):
    """Find the start and end of each of the first six fields; return the number of all fields."""
    count, inside = 0, False
    for place in range(start, end):
        letter = int(text[place])
        space = letter <= SPACE and (
            letter == SPACE
            or (letter >= TAB and letter <= RETURN)
            or (letter >= _FIRST_SEPARATOR and letter <= _LAST_SEPARATOR)
        )
        if space == inside:
            inside = not inside
            count += 1 if inside else 0
            if count <= 6:
                numbers[_BOUNDS + 2 * count - (2 if inside else 1)] = place
    if inside and count <= 6:
        numbers[_BOUNDS + 2 * count - 1] = end
    return count


@kernel
def _read_board(text, at, end, board, numbers):
    ranks = 1
    for place in range(at, end):
        if int(text[place]) == SLASH:
            ranks += 1
    if ranks != 8:
        numbers[_COUNT] = ranks
        return _BAD_RANKS
    rank, file = 7, 0
    for place in range(at, end + 1):
        letter = SLASH if place == end else int(text[place])
        if letter == SLASH:
            if file != 8:
                numbers[_WHICH], numbers[_COUNT] = rank + 1, file
                return _BAD_RANK
            rank, file = rank - 1, 0
        elif letter >= _1 and letter <= _8:
            file += letter - _0
        else:
            piece = _PIECES[letter] if letter < 128 else 0
            if piece == 0:
                numbers[_AT] = place
                return _BAD_PIECE
            if file < 8:
                board[rank * 8 + file] = piece
            file += 1
    return 0


@kernel
def check_material(board):
    """Check the material: one king for each side, a possible number of pieces, no pawn on the first or last rank. The
    function returns 0 or the number of the fault (a key of `_FAULTS`), the side at fault, and its number of kings.
    """
    white = black = 0  # counts of the piece types, eight bits for each
    for square in range(64):
        piece = int(board[square])
        if piece > 8:
            black += 1 << 8 * (piece & 7)
        elif piece:
            white += 1 << 8 * piece
    for color in range(2):
        counts = black if color else white
        kings = (counts >> 8 * KING) & 255
        if kings != 1:
            return _BAD_KINGS, color, kings
        pawns = (counts >> 8 * PAWN) & 255
        for piece_type, at_start in ((KNIGHT, 2), (BISHOP, 2), (ROOK, 2), (QUEEN, 1)):
            pawns += max(((counts >> 8 * piece_type) & 255) - at_start, 0)
        if pawns > _MAX_PAWNS:
            return _BAD_MATERIAL, color, kings
    for file in range(8):
        if int(board[file]) & 7 == PAWN or int(board[56 + file]) & 7 == PAWN:
            return _BAD_PAWN, 0, 0
    return 0, 0, 0


@kernel
def find_piece(board, piece):
    """Return the lowest square on which a piece stands. The piece must be on the board."""
    square = 0
    while int(board[square]) != piece:
        square += 1
    return square


@kernel
def _read_castling(text, at, end, board, numbers):
    for slot in range(4):
        numbers[ROOKS + slot] = -1
    numbers[LEFT_OUT] = 0
    if end - at == 1 and int(text[at]) == DASH:
        return 0
    for place in range(at, end):
        numbers[_AT] = place
        letter = int(text[place])
        small = letter | LOWER
        if (small != _K and small != _Q and (small < _A or small > _H)) or place - at >= _MAX_RIGHTS:
            return _BAD_RIGHT
        color = BLACK if letter & LOWER else WHITE
        base, rook, king = color * 56, (color << 3) | ROOK, find_piece(board, (color << 3) | KING)
        if small == _K:
            square = base + 7
            while square > king and int(board[square]) != rook:
                square -= 1
        elif small == _Q:
            square = base
            while square < king and int(board[square]) != rook:
                square += 1
        else:
            square = base + small - _A
        slot = ROOKS + 2 * color + (1 if square > king else 0)
        if king >> 3 != base >> 3 or int(board[square]) != rook or numbers[slot] >= 0:
            numbers[LEFT_OUT] |= 1 << place - at
        else:
            numbers[slot] = square
    return 0


@kernel
def _read_en_passant(text, at, end, board, numbers):
    numbers[EP], numbers[LEFT_OUT + 1] = NO_SQUARE, 0
    if end - at == 1 and int(text[at]) == DASH:
        return 0
    if end - at != 2:
        return _NO_EP_SQUARE
    file, rank = int(text[at]) - _A, int(text[at + 1]) - _1
    if file < 0 or file > 7 or rank < 0 or rank > 7:
        return _NO_EP_SQUARE
    if is_passed_over(board, numbers[STM], rank * 8 + file):
        numbers[EP] = rank * 8 + file
    else:
        numbers[LEFT_OUT + 1] = 1
    return 0


@kernel
def is_passed_over(board, stm, square):
    """Return whether the last move can have been a pawn's double push over a square; `square` may be any number."""
    if square >> 3 != (5 if stm == WHITE else 2):
        return False
    forward = 8 if stm == WHITE else -8
    pawn = PAWN | ((stm ^ 1) << 3)
    # The pawn came from the square behind `square`, and stands on the square ahead of it.
    return int(board[square - forward]) == pawn and int(board[square]) == 0 and int(board[square + forward]) == 0


@kernel
def _read_counter(text, at, end):
    """Return the number in the text; -1 if it is not a number or too large."""
    number = 0
    for place in range(at, end):
        digit = int(text[place]) - _0
        if digit < 0 or digit > 9:
            return -1
        number = min(number * 10 + digit, _MAX_COUNTER + 1)
    return number if number <= _MAX_COUNTER else -1


# --- the writer ----------------------------------------------------------------------------------------------------


def write_fen(setup: Setup, chess960: bool = False) -> str:
    """Return the FEN of a position. With `chess960`, castling rights are the rooks' files (Shredder-FEN)."""
    ranks = []
    for rank in range(7, -1, -1):
        row = "".join(LETTERS[piece] if piece else "." for piece in setup.board[rank * 8 : rank * 8 + 8])
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
            if not (setup.castling >> square) & 1:
                continue
            outside = range(square + 1, base + 8) if square > king else range(base, square)
            if chess960 or any(setup.board[s] == color * 8 + ROOK for s in outside):
                letter = _FILES[square & 7]
            else:
                letter = "k" if square > king else "q"
            text += letter.upper() if color == WHITE else letter
    return text or "-"
