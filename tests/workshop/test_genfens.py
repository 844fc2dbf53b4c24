"""Random openings for OpenBench: how many, which, and from which seed and book."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from knightadder import cli
from knightadder.engine.errors import PositionError
from knightadder.workshop import genfens
from knightadder.workshop.datagen import self_player
from knightadder.workshop.genfens import openings


@pytest.fixture
def write_book(tmp_path):
    def write(*fens, name="book.epd"):
        file = tmp_path / name
        file.write_text("\n".join(fens))
        return file

    return write


def test_openings_are_legal_and_go_on_without_a_check() -> None:
    fens = list(openings(40, 5))
    assert len(set(fens)) == len(fens) == 40
    boards = [chess.Board(fen) for fen in fens]
    for board in boards:
        assert board.is_valid() and not board.is_check() and not board.is_game_over()
        assert board.fen() in fens  # as python-chess writes it
    assert {board.ply() for board in boards} == {8, 9}


def test_the_seed_decides() -> None:
    first = list(openings(10, 1))
    assert list(openings(10, 1)) == first
    assert list(openings(5, 1)) == first[:5]
    assert not set(openings(10, 2)) & set(first)


def test_no_opening_is_in_check(write_book, monkeypatch) -> None:
    monkeypatch.setattr(self_player, "MOST_AHEAD", 100_000)
    book = write_book("3qk3/8/8/8/8/8/8/3QK3 w - - 0 1")  # from where every fourth opening would be in check
    assert not any(chess.Board(fen).is_check() for fen in openings(40, 1, book))


def test_games_begin_with_an_opening_of_the_book_that_is_not_decided(write_book) -> None:
    fair, lost = "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1"
    men = str(chess.Board(fair)).replace(".", "").split()
    fens = list(openings(20, 1, write_book(fair, lost)))
    assert len(fens) == 20
    for fen in fens:
        left = str(chess.Board(fen)).replace(".", "").split()
        assert "Q" not in left and len(left) > len(men) // 2


@pytest.mark.parametrize(("name", "kept"), [("DFRC.epd", True), ("book.epd", False)])
def test_a_book_with_chess960_in_its_name_keeps_its_castling_rights(write_book, name, kept) -> None:
    file = write_book("bbnrkqrn/pppppppp/8/8/8/8/PPPPPPPP/BBNRKQRN w DGdg - 0 1", name=name)
    if kept:
        for fen in openings(10, 1, file):
            board = chess.Board(fen, chess960=True)
            assert board.is_valid()
        assert any(chess.Board(fen, chess960=True).castling_rights for fen in openings(10, 1, file))
    else:
        with pytest.raises(PositionError, match="only in Chess960"):
            next(openings(1, 1, file))


def _asked(monkeypatch, *arguments) -> tuple[int, list]:
    asked = []
    monkeypatch.setattr(genfens, "openings", lambda *words: asked.append(words) or iter(["a", "b"]))
    return cli.main(arguments), asked


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["genfens 64 seed 2147483647 book None ", "quit"], (64, 2147483647, None)),
        (["genfens 64 seed 7 book Books/a.epd", "quit"], (64, 7, Path("Books/a.epd"))),
        (["genfens", "3", "seed", "8", "book", "my book.pgn"], (3, 8, Path("my book.pgn"))),
        (["genfens", "3"], (3, 0, None)),
    ],
)
def test_the_arguments_as_one_line_or_as_words(monkeypatch, capsys, arguments, asked) -> None:
    assert _asked(monkeypatch, *arguments) == (0, [asked])
    assert capsys.readouterr().out == "info string genfens a\ninfo string genfens b\n"


@pytest.mark.parametrize(
    "words",
    [
        "3 seed",
        "3 seed x",
        "3 seed -1",
        "3 seed \N{SUPERSCRIPT TWO}",
        f"3 seed {'9' * 5000}",
        "3 seed 1 book None dfrc",
        "3 other 1",
    ],
)
def test_other_words_are_refused_in_one_line(monkeypatch, capsys, words) -> None:
    assert _asked(monkeypatch, f"genfens {words}", "quit") == (2, [])
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("knightadder: genfens: ")


def test_a_book_that_is_missing_is_named(capsys, tmp_path) -> None:
    assert cli.main([f"genfens 3 seed 1 book {tmp_path / 'missing.epd'}", "quit"]) == 2
    assert str(tmp_path / "missing.epd") in capsys.readouterr().err
