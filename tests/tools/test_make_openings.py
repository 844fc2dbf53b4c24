"""The tool that makes a book of openings."""

from __future__ import annotations

from pathlib import Path

import chess
import make_openings
import pytest

from knightadder.workshop.opening_book import load_book

PIECES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900}


def material(board: chess.Board) -> int:
    return sum(
        value * (len(board.pieces(piece, True)) - len(board.pieces(piece, False))) for piece, value in PIECES.items()
    )


def test_openings_are_different_and_not_decided() -> None:
    book = list(make_openings.openings(200, 1, material))
    assert len(set(book)) == len(book) == 200
    boards = [chess.Board(f"{epd} 0 1") for epd in book]
    assert {board.turn for board in boards} == {True, False}
    assert all(abs(material(board)) <= 100 and board.is_valid() and not board.is_game_over() for board in boards)
    assert list(make_openings.openings(20, 1, material)) == book[:20]
    assert set(make_openings.openings(20, 2, material)).isdisjoint(book)


def test_the_engine_leaves_out_what_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "book.epd"
    assert make_openings.main([str(file), "--count", "8", "--seed", "3"]) == 0
    chosen = file.read_text().splitlines()
    assert len(chosen) == 8
    assert chosen != list(make_openings.openings(8, 3, lambda board: 0))
    load_book(file).check(8)


def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_openings, "Engine", None)
    assert make_openings.main([str(tmp_path / "missing" / "book.epd"), "--count", "1"]) == 2
    assert capsys.readouterr().err.startswith("make_openings: cannot write ")
