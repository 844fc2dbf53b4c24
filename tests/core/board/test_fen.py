"""FEN: reading, writing, the ways to write castling rights, and what is refused with which words."""

from __future__ import annotations

import chess
import pytest
from core_helpers import random_positions
from hypothesis import given, settings
from hypothesis import strategies as st

from knightadder.core.board.fen import START, FenError, parse_fen, square_name, write_fen
from knightadder.core.layout import NO_SQUARE
from knightadder.native.program import INTERPRETED

pytestmark = pytest.mark.nojit

A1, B1, F1, G1, H1 = (1 << square for square in (0, 1, 5, 6, 7))


def test_start() -> None:
    setup = parse_fen(START)
    assert [setup.board[square] for square in (0, 4, 8, 27, 56, 60)] == [4, 6, 1, 0, 12, 14]
    assert (setup.stm, setup.ep, setup.rule50, setup.fullmove) == (0, NO_SQUARE, 0, 1)
    assert setup.castling == (A1 | H1) * (1 + (1 << 56))


@pytest.mark.parametrize("chess960", [False, True])
def test_round_trip(chess960: bool) -> None:
    for board in random_positions(300, chess960):
        for fen in (board.fen(), board.shredder_fen()):
            assert write_fen(parse_fen(fen), chess960=True) == board.shredder_fen()
            # python-chess writes X-FEN.
            assert write_fen(parse_fen(fen)) == board.fen()


def test_pieces_are_where_python_chess_has_them() -> None:
    for board in random_positions(50):
        setup = parse_fen(board.fen())
        for square in chess.SQUARES:
            piece = board.piece_at(square)
            expected = piece.piece_type + (0 if piece.color else 8) if piece else 0
            assert setup.board[square] == expected


@pytest.mark.parametrize(
    ("rank", "rights", "rooks", "written"),
    [
        ("4K2R", "K", H1, "K"),
        ("4KR1R", "K", H1, "K"),  # the outermost rook
        ("4KR1R", "F", F1, "F"),  # the inner one
        ("4KR1R", "H", H1, "K"),
        ("RR2K3", "B", B1, "B"),
        ("RR2K3", "Q", A1, "Q"),
        ("1R1K2R1", "KQ", B1 | G1, "KQ"),
        ("1R1K2R1", "BG", B1 | G1, "KQ"),
        ("1R1K2R1", "-", 0, "-"),
    ],
)
def test_castling_rights(rank: str, rights: str, rooks: int, written: str) -> None:
    setup = parse_fen(f"4k3/8/8/8/8/8/8/{rank} w {rights} - 0 1")
    assert setup.castling == rooks
    assert write_fen(setup).split()[2] == written


def test_counters_may_be_missing() -> None:
    board = "4k3/8/8/8/8/8/8/4K3 w - -"
    assert write_fen(parse_fen(board)) == f"{board} 0 1"
    assert write_fen(parse_fen(f"{board} 7")) == f"{board} 7 1"
    assert write_fen(parse_fen(f"  {board}   7  0 ")) == f"{board} 7 1"  # a move number of 0 is common


def test_square_names() -> None:
    assert [square_name(square) for square in range(64)] == chess.SQUARE_NAMES


KINGS = "4k3/8/8/8/8/8/8/4K3"


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("", "a FEN must have 4 to 6 fields, not 0"),
        (f"{KINGS} w -", "a FEN must have 4 to 6 fields, not 3"),
        (f"{KINGS} w - - 0 1 2", "a FEN must have 4 to 6 fields, not 7"),
        ("4k3/8/8/8/8/8/4K3 w - -", "the board must have 8 ranks, not 7"),
        ("4k3/8/8/8/8/8/8/3K3 w - -", "rank 1 must have 8 squares, not 7"),
        ("4k3/8/8/8/8/9/8/4K3 w - -", "'9' is not a piece"),
        ("4k3/8/8/x7/8/8/8/4K3 w - -", "'x' is not a piece"),
        ("4k3/8/8/8/pppppppppp/8/8/4K3 w - -", "rank 4 must have 8 squares, not 10"),
        ("8/8/8/8/8/8/8/4K3 w - -", "Black has 0 kings"),
        ("4k3/8/8/8/8/8/8/KKKKKKKK w - -", "White has 8 kings"),
        ("4k3/8/8/8/7P/8/PPPPPPPP/4K3 w - -", "White has more pieces than promotions allow"),
        ("4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - -", "White has more pieces than promotions allow"),
        ("nnn1k3/pppppppp/8/8/8/8/8/4K3 w - -", "Black has more pieces than promotions allow"),
        ("3Pk3/8/8/8/8/8/8/4K3 w - -", "a pawn stands on the first or last rank"),
        ("4k3/8/8/8/8/8/8/4K2p w - -", "a pawn stands on the first or last rank"),
        (f"{KINGS} white - -", "the side to move must be w or b, not 'white'"),
        (f"{KINGS} w X -", "'X' is not a castling right"),
        (f"{KINGS} w {'K' * 17} -", "'K' is not a castling right"),
        (f"{KINGS} w - e9", "'e9' is not an en passant square"),
        (f"{KINGS} w - x3", "'x3' is not an en passant square"),
        (f"{KINGS} w - e", "'e' is not an en passant square"),
        (f"{KINGS} w - - -1 1", "the halfmove clock must be a number up to 9999, not '-1'"),
        (f"{KINGS} w - - ten 1", "the halfmove clock must be a number up to 9999, not 'ten'"),
        (f"{KINGS} w - - 0 10000", "the move number must be a number up to 9999, not '10000'"),
    ],
)
def test_refusals(fen: str, message: str) -> None:
    with pytest.raises(FenError) as error:
        parse_fen(fen)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("fen", "sound", "notes"),
    [
        (f"{KINGS} w KQkq -", f"{KINGS} w - -", ["impossible castling rights KQkq left out"]),
        (f"{KINGS} w h -", f"{KINGS} w - -", ["impossible castling right h left out"]),
        ("4k3/8/8/8/8/8/8/R3K3 w KQkq -", "4k3/8/8/8/8/8/8/R3K3 w Q -", ["impossible castling rights Kkq left out"]),
        ("4k3/8/8/8/8/8/8/R3K3 w AHah -", "4k3/8/8/8/8/8/8/R3K3 w Q -", ["impossible castling rights Hah left out"]),
        ("4k3/8/8/8/8/8/4K3/R6R w KQ -", "4k3/8/8/8/8/8/4K3/R6R w - -", ["impossible castling rights KQ left out"]),
        ("4k3/8/8/8/8/8/8/4K2R w KK -", "4k3/8/8/8/8/8/8/4K2R w K -", ["impossible castling right K left out"]),
        ("4k3/8/8/8/8/8/8/4KR1R w FH -", "4k3/8/8/8/8/8/8/4KR1R w F -", ["impossible castling right H left out"]),
        (f"{KINGS} w - e6", f"{KINGS} w - -", ["impossible en passant square e6 left out"]),
        ("4k3/8/8/4p3/8/8/8/4K3 w - e3", "4k3/8/8/4p3/8/8/8/4K3 w - -", ["impossible en passant square e3 left out"]),
        (
            "4k3/4p3/8/4p3/8/8/8/4K3 w - e6",
            "4k3/4p3/8/4p3/8/8/8/4K3 w - -",
            ["impossible en passant square e6 left out"],
        ),
        (
            "4k3/8/4n3/4p3/8/8/8/4K3 w - e6",
            "4k3/8/4n3/4p3/8/8/8/4K3 w - -",
            ["impossible en passant square e6 left out"],
        ),
        (
            f"{KINGS} b Qq c3",
            f"{KINGS} b - -",
            ["impossible castling rights Qq left out", "impossible en passant square c3 left out"],
        ),
        (START, START, []),
    ],
)
def test_impossible_rights_are_left_out(fen: str, sound: str, notes: list[str]) -> None:
    setup = parse_fen(fen)
    assert setup == parse_fen(sound)
    assert list(setup.notes) == notes


@pytest.mark.parametrize("field", range(6))
@pytest.mark.parametrize("character", ["\0", "\a", "\b", "\x1b", "\x7f", "\x9b", "\u202e", "\udc80"])
def test_characters_that_cannot_be_printed_are_shown_escaped(field: int, character: str) -> None:
    fields = START.split()
    fields[field] += character
    with pytest.raises(FenError) as error:
        parse_fen(" ".join(fields))
    assert str(error.value).isprintable()
    assert repr(character)[1:-1] in str(error.value)


@pytest.mark.parametrize("digits", ["9" * 5000, "1" + "0" * 5000])
def test_a_number_of_thousands_of_digits_is_refused(digits: str) -> None:
    for fen in (f"{KINGS} w - - {digits} 1", f"{KINGS} w - - 0 {digits}"):
        with pytest.raises(FenError, match="must be a number up to 9999"):
            parse_fen(fen)
    assert parse_fen(f"{KINGS} w - - {'0' * 5000}7 1").rule50 == 7


@pytest.mark.parametrize("space", ["\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}", "\x85", "\x1c", " \t\n"])
def test_all_that_python_takes_for_white_space_separates_fields(space: str) -> None:
    assert parse_fen(START.replace(" ", space)) == parse_fen(START)


# What python-chess finds wrong with a board, and this reader too.
FAULTS = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_PAWNS_ON_BACKRANK
)


def sound_for_python_chess(fen: str) -> bool:
    """Say whether python-chess reads a FEN and finds it sound, as far as this reader looks."""
    fields = fen.split()
    if not 4 <= len(fields) <= 6 or any(not (counter.isascii() and counter.isdigit()) for counter in fields[4:]):
        return False
    if any(int(counter) > 9999 for counter in fields[4:]):
        return False
    if fields[2] != "-" and (len(fields[2]) > 16 or set(fields[2]) - set("KQkqABCDEFGHabcdefgh")):
        return False
    try:
        board = chess.Board(" ".join([*fields[:2], "-", *fields[3:]]))
    except ValueError:
        return False
    for color in chess.COLORS:
        men = [len(board.pieces(kind, color)) for kind in chess.PIECE_TYPES]
        promoted = sum(max(count - most, 0) for count, most in zip(men[1:5], (2, 2, 2, 1), strict=True))
        if men[0] + promoted > 8:
            return False
    return not board.status() & FAULTS


def read_by_python_chess(fen: str) -> chess.Board:
    """Read a FEN without the castling rights and the en passant square that python-chess finds impossible."""
    fields = fen.split()
    rooks: dict[tuple[bool, bool], int] = {}  # by colour and side of the king: of two letters the first counts
    for letter in fields[2]:
        alone = chess.Board(" ".join([*fields[:2], letter, *fields[3:]]), chess960=True)
        king = alone.king(letter.isupper())
        assert king is not None
        if rook := alone.clean_castling_rights():
            rooks.setdefault((letter.isupper(), chess.msb(rook) > king), rook)
    kept = sum(rooks.values())
    board = chess.Board(" ".join([*fields[:2], "-", *fields[3:]]), chess960=True)
    board.castling_rights = kept
    if board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    return board


TEXTS = st.sampled_from(
    [
        START,
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
        "1r2k1r1/8/8/8/8/8/8/RR2K1RR w BGbg - 0 1",
        "1r2k1r1/8/8/8/8/8/8/RR2K1RR w KQkq - 7 20",
        "4k3/P6p/8/2pP4/8/8/8/4K2R w K c6 0 1",
    ]
)
LETTERS = st.sampled_from("pnbrqkPNBRQK12345678/ wb-KQkqABCDEFGHabcdefgh09x\t\x07\x1b\u202e\u3000\u0663\u017f")
CHANGES = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 2), st.lists(LETTERS, max_size=2)), max_size=3)


@settings(max_examples=100 if INTERPRETED else 600, deadline=None)
@given(TEXTS, CHANGES)
def test_what_is_read_is_what_python_chess_reads(fen: str, changes: list[tuple[int, int, list[str]]]) -> None:
    for place, removed, letters in changes:
        fen = fen[:place] + "".join(letters) + fen[place + removed :]
    try:
        setup = parse_fen(fen)
    except FenError as error:
        assert not sound_for_python_chess(fen)
        assert str(error).isprintable()
        return
    assert sound_for_python_chess(fen)
    # The same position; python-chess takes a move number of 0 for 1 too.
    board = read_by_python_chess(fen)
    assert write_fen(setup, chess960=True) == board.shredder_fen(en_passant="fen")


def test_the_most_a_side_can_have_is_read() -> None:
    parse_fen("4k3/8/8/8/8/8/NNNNNNNN/RNBQKBNR w - - 0 1")
    parse_fen("4k3/8/8/8/8/8/QQQQQQQQ/RNBQKBNR w - - 0 1")
