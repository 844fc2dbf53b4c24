"""Openings: each kind of book, order, and what is wrong with one."""

import chess
import chess.pgn
import pytest

from knightadder.engine.errors import OptionError, PositionError
from knightadder.pgn.games import GameText
from knightadder.workshop.opening_book import OpeningBook, load_book, numbered

PGN = """\
[Event "one"]
[Opening "Spanish"]

1. e4 {good} e5 (1... c5) 2. Nf3 Nc6 3. Bb5 *

[Event "two"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 Kd7 *
"""


def _all(book):
    return [book.opening(number) for number in range(len(book))]


def test_every_line_of_the_package_is_legal_and_short():
    book = load_book()
    openings = _all(book)
    assert len(openings) >= 300
    assert all(opening.name and 4 <= len(opening.moves) <= 12 for opening in openings)
    boards = [opening.board() for opening in openings]
    assert len({board.epd() for board in boards}) == len(boards)


def test_chess960_has_all_its_start_positions():
    openings = _all(load_book(chess960=True))
    assert {opening.fen for opening in openings} == {chess.Board.from_chess960_pos(n).fen() for n in range(960)}


def test_epd_with_and_without_counters_and_operations(tmp_path):
    file = tmp_path / "book.epd"
    file.write_text(
        "# a comment\n"
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -\n\n"
        "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\n"
        'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - id "open";\n'
    )
    assert [opening.fen for opening in _all(load_book(file, order="sequential"))] == [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 1",
        "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
    ]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_pgn_gives_the_main_line(tmp_path, ends):
    file = tmp_path / "book.pgn"
    file.write_bytes(PGN.replace("\n", ends).encode())
    first, second = _all(load_book(file, order="sequential"))
    assert (first.moves, first.name) == (("e2e4", "e7e5", "g1f3", "b8c6", "f1b5"), "Spanish")
    assert (second.fen, second.moves) == ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ("e2e4", "e8d7"))
    assert second.board().fen() == "8/3k4/8/8/4P3/8/8/4K3 w - - 1 2"


@pytest.mark.parametrize(
    "tags",
    [
        "",
        '[Variant "Chess960"]\n[SetUp "1"]\n[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]\n',
    ],
)
@pytest.mark.parametrize(("chess960", "castling"), [(True, "e1h1"), (False, "e1g1")])
def test_castling_is_written_as_the_match_has_it(tags, chess960, castling):
    entry = f'[Event "one"]\n{tags}\n1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O *\n'
    opening = OpeningBook([GameText(1, 1, entry)], "pgn", "book", chess960=chess960).opening(0)
    assert opening.moves == ("g1f3", "g8f6", "g2g3", "g7g6", "f1g2", "f8g7", castling)
    assert opening.board(chess960).fen().startswith("rnbqk2r/ppppppbp/5np1/8/8/5NP1/PPPPPPBP/RNBQ1RK1 b kq -")


def test_plies_cut_the_lines(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text(PGN)
    openings = _all(load_book(file, form="pgn", order="sequential", plies=1))
    assert [opening.moves for opening in openings] == [("e2e4",), ("e2e4",)]
    assert {len(opening.moves) for opening in _all(load_book(plies=4))} == {4}


def test_the_order_is_that_of_the_seed():
    one, same, other = (load_book(seed=seed) for seed in (1, 1, 2))
    assert _all(one)[:20] == _all(same)[:20] != _all(other)[:20]
    assert set(_all(one)) == set(_all(other))
    assert one.digest == same.digest != other.digest


def test_past_its_end_the_book_begins_again():
    book = load_book()
    assert book.opening(len(book) + 3) == book.opening(3)


@pytest.mark.parametrize(
    ("entry", "form", "message"),
    [
        ("nonsense", "epd", "not a position"),
        ("8/8/8/8/8/8/8/8 w - -", "epd", "White has 0 kings"),
        ("4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - -", "epd", "White has more pieces"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - -", "epd", "the side that is not to move is in check"),
        ("4k3/8/8/8/8/8/8/R4K2 w Q -", "epd", "only in Chess960"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - -", "epd", "over"),
        ("x\te4 e5 Ke3", "tsv", "illegal san"),
        ('[Event "x"]\n\n1. e4 e4 *', "pgn", "illegal san"),
        ('[Event "x"]\n\n*', "pgn", "no moves"),
        ('[FEN "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"]\n\n*', "pgn", "over"),
    ],
)
def test_a_bad_opening_is_named(entry, form, message):
    place = "game 2, line 9" if form == "pgn" else "line 9"
    with pytest.raises(PositionError, match=f"^book.x, {place}: .*{message}"):
        OpeningBook([GameText(2, 9, entry)], form, "book", file="book.x").opening(0)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.epd", "4k3/8/8/8/8/8/8/R3K3 w KQkq -\n", ", line 1"),
        ("a.pgn", '[FEN "4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1"]\n\n1. O-O-O *\n', ", game 1, line 1"),
    ],
)
def test_what_is_left_out_of_an_opening_is_told_once(tmp_path, capsys, name, text, place):
    file = tmp_path / name
    file.write_text(text)
    book = load_book(file)
    book.check(5)
    assert capsys.readouterr().err == f"knightadder: {file}{place}: impossible castling rights Kkq left out\n"
    assert book.opening(0).fen.split()[2] == "Q"


def test_only_the_first_openings_are_checked():
    book = OpeningBook(numbered(["4k3/8/8/8/8/8/4P3/4K3 w - -", "nonsense"]), "epd", "book")
    book.check(1)
    for count in (2, 9):
        with pytest.raises(PositionError, match="book, line 2: not a position"):
            book.check(count)


def test_a_file_that_cannot_be_used(tmp_path):
    with pytest.raises(OptionError, match=r"cannot read .*missing\.epd: No such file"):
        load_book(tmp_path / "missing.epd")
    (tmp_path / "empty.epd").write_text("\n# nothing\n")
    with pytest.raises(OptionError, match="no opening"):
        load_book(tmp_path / "empty.epd")
