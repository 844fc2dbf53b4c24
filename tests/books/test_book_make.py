"""Books made from games, read again by python-chess."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import chess
import chess.polyglot
import pytest

from knightadder.books.make_book import weigh
from knightadder.cli import main

GAMES = """\
[Event "a"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Be7 1-0

[Event "b"]
[Result "1/2-1/2"]

1. e4 c5 1/2-1/2

[Event "c"]
[Result "0-1"]

1. d4 d5 0-1

[Event "d"]
[Result "*"]

1. h4 *

[Event "e"]
[Result "1-0"]

1. e4 Ke3 1-0
"""
CHESS960 = """\
[Event "f"]
[Variant "Chess960"]
[SetUp "1"]
[FEN "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"]
[Result "1/2-1/2"]

1. O-O-O O-O 1/2-1/2
"""


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES)
    return file


def make(*arguments: object) -> int:
    return main(["book", "make", *map(str, arguments)])


def weights(book: Path, *moves: str, chess960: chess.Board | None = None) -> dict[str, int]:
    board = chess960 or chess.Board()
    for move in moves:
        board.push_san(move)
    with chess.polyglot.open_reader(book) as reader:
        return {board.san(entry.move): entry.weight for entry in reader.find_all(board)}


def test_a_move_weighs_two_for_a_win_and_one_for_a_draw(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = games.with_name("book.bin")
    assert make(games, "-o", book) == 0
    assert weights(book) == {"e4": 3}  # 1. d4 lost
    assert weights(book, "e4") == {"c5": 1}  # 1... e5 lost
    assert weights(book, "d4") == {"d5": 2}
    assert weights(book, "e4", "e5", "Nf3", "Nc6", "Bb5", "Nf6") == {"O-O": 2}
    printed = capsys.readouterr()
    assert printed.out == f"{book}: 6 moves in 6 positions, from 3 games\n"
    broken, counted = printed.err.splitlines()
    assert broken.startswith(f"knightadder: {games}, game 5, line 21, is left out: illegal san: 'Ke3'")
    assert counted == f"knightadder: {games}: 2 games left out: unreadable or without a result"


def test_a_null_move_ends_a_game_even_at_its_beginning(games: Path) -> None:
    book = games.with_name("book.bin")
    position = '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n[Result "1-0"]\n\n1. -- Kd7 1-0\n'
    games.write_text(f'[Result "1-0"]\n\n1. e4 -- 2. d4 1-0\n\n{position}')
    assert make(games, "-o", book) == 0
    assert weights(book) == {"e4": 2}
    assert book.stat().st_size == 16


def test_plies_and_games_that_a_move_takes(games: Path) -> None:
    book = games.with_name("book.bin")
    assert make(games, "-o", book, "--plies", 1) == 0
    assert book.stat().st_size == 16
    assert make(games, "-o", book, "--min-games", 2, "--force") == 0
    assert weights(book) == {"e4": 3}
    assert book.stat().st_size == 16


def test_a_game_that_is_in_several_files_counts_once(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book, copy = games.with_name("book.bin"), games.with_name("copy.pgn")
    copy.write_text(GAMES)
    assert make(games, copy, "-o", book) == 0
    assert weights(book) == {"e4": 3}
    printed = capsys.readouterr()
    assert printed.out.endswith("from 3 games\n")
    assert "left out as copies of other games: 3 games\n" in printed.err


def test_castling_of_chess960(tmp_path: Path) -> None:
    games, book = tmp_path / "games.pgn", tmp_path / "book.bin"
    games.write_text(CHESS960)
    assert make(games, "-o", book) == 0
    board = chess.Board("1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1", chess960=True)
    assert weights(book, chess960=board) == {"O-O-O": 1}
    assert weights(book, "O-O-O", chess960=board) == {"O-O": 1}


def test_weights_fit_into_sixteen_bits_and_keep_their_order() -> None:
    assert list(weigh({7: {1: 200_000, 2: 100_000, 3: 1, 4: 0}, 5: {9: 2, 8: 3}})) == [
        (5, 8, 3),
        (5, 9, 2),
        (7, 1, 65_535),
        (7, 2, 32_767),
        (7, 3, 1),
    ]


def test_a_link_to_itself_is_one_line_as_input_and_is_replaced_as_output(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop, book = games.with_name("loop"), games.with_name("book.bin")
    loop.symlink_to(loop.name)
    assert make(loop, "-o", book) == 2
    reason = os.strerror(errno.ELOOP)
    assert capsys.readouterr().err == f"knightadder: cannot read {loop}: {reason}\n"
    assert make(games, "-o", loop) == 0
    assert weights(loop) == {"e4": 3}


@pytest.mark.parametrize("name", ["games.pgn", "no/../games.pgn"])
def test_the_games_are_not_overwritten(
    games: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(games.parent)
    Path("no").mkdir()
    assert make("games.pgn", "-o", name) == 2
    assert "this file contains the games, so it is not overwritten" in capsys.readouterr().err
    assert games.read_text() == GAMES


def test_another_book_is_overwritten_only_by_force(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = games.with_name("book.bin")
    book.write_bytes(b"mine")
    assert make(games, "-o", book) == 2
    assert capsys.readouterr().err == f"knightadder: {book} already exists: give --force to overwrite it\n"
    assert book.read_bytes() == b"mine"
    assert make(games, "-o", book, "--force") == 0
    assert weights(book) == {"e4": 3}


def test_what_cannot_be_done_is_said_in_a_line(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing, book = games.with_name("missing.pgn"), games.with_name("book.bin")
    assert make(missing, "-o", book) == 2
    assert capsys.readouterr().err == f"knightadder: cannot read {missing}: No such file or directory\n"
    assert make(games, "-o", games.parent / "no" / "book.bin") == 2
    assert f"cannot write {games.parent / 'no' / 'book.bin'}: there is no folder" in capsys.readouterr().err
    assert make(games, "-o", book, "--min-games", 9) == 2
    assert (
        capsys.readouterr().err.splitlines()[-1]
        == "knightadder: no move for the book: none was played in 9 games with a result (see --min-games)"
    )
    games.write_text("")
    assert make(games, "-o", book) == 2
    assert capsys.readouterr().err == f"knightadder: there is no game in {games}\n"
    assert not book.exists()


def test_a_book_has_the_usual_keys_where_an_en_passant_capture_is_illegal(tmp_path: Path) -> None:
    """Polyglot counts the square if a pawn stands beside it, here one that is pinned."""
    file, board = tmp_path / "games.pgn", chess.Board("4k3/8/8/8/4p3/8/3P3P/4R1K1 w - - 0 1")
    file.write_text(f'[FEN "{board.fen()}"]\n[Result "1/2-1/2"]\n\n1. d4 Kd7 2. h4 Kd6 1/2-1/2\n')
    assert make(file, "-o", tmp_path / "book.bin") == 0
    for move in ("d4", "Kd7", "h4", "Kd6"):
        with chess.polyglot.open_reader(tmp_path / "book.bin") as reader:
            assert [board.san(entry.move) for entry in reader.find_all(board)] == [move]
        board.push_san(move)
