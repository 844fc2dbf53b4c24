"""The argument ``--openings``: the book that it describes, and what is refused."""

import argparse
import struct
from collections import Counter

import chess.polyglot
import pytest

from knightadder.engine.book import encode
from knightadder.engine.errors import OptionError
from knightadder.workshop.book_argument import add_openings, read_book
from knightadder.workshop.opening_book import load_book


@pytest.mark.parametrize("arguments", [[], ["--openings"]])
def test_without_words_it_is_the_usual_book(arguments):
    parser = argparse.ArgumentParser()
    add_openings(parser)
    assert read_book(parser.parse_args(arguments).openings).digest == load_book().digest


def test_all_keys(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text(
        "".join(f'[Event "{number}"]\n\n1. {move} e5 *\n\n' for number, move in enumerate(("e4", "d4", "c4")))
    )
    book = read_book([f"file={file}", "format=pgn", "order=sequential", "plies=1"])
    assert [book.opening(number).moves for number in range(len(book))] == [("e2e4",), ("d2d4",), ("c2c4",)]
    assert read_book(["seed=7", "plies=4"]).digest == load_book(seed=7, plies=4).digest
    assert read_book([], chess960=True).digest == load_book(chess960=True).digest


def write_polyglot(file, weights):
    """Write a Polyglot book by the weights of the moves after each line, as python-chess encodes positions."""
    rows = []
    for line, moves in weights.items():
        board = chess.Board()
        for word in line.split():
            board.push_san(word)
        for san, weight in moves.items():
            row = struct.pack(
                ">QHHI", chess.polyglot.zobrist_hash(board), encode(board, board.parse_san(san)), weight, 0
            )
            rows.append(row)
    file.write_bytes(b"".join(sorted(rows)))


def test_a_polyglot_book_gives_its_lines_by_weight(tmp_path):
    file = tmp_path / "mine.bin"
    weights = {"": {"e4": 60, "d4": 39, "f3": 1, "a3": 0}, "e4": {"e5": 1, "c5": 1}, "d4": {"d5": 5}, "f3": {"e5": 1}}
    write_polyglot(file, weights | {"f3 e5": {"g4": 1}, "f3 e5 g4": {"Qh4#": 1}})
    book = read_book([f"file={file}"])
    lines = [book.opening(number).moves for number in range(len(book))]
    wanted = {("e2e4", "e7e5"), ("e2e4", "c7c5"), ("d2d4", "d7d5"), ("f2f3", "e7e5", "g2g4")}  # none is over
    assert len(lines) == len(wanted) and set(lines) == wanted
    assert book.name == "mine"
    assert read_book([f"file={file}", "seed=1"]).digest == book.digest
    short = read_book([f"file={file}", "plies=1", "format=bin"])
    assert {short.opening(number).moves for number in range(len(short))} == {("e2e4",), ("d2d4",), ("f2f3",)}
    firsts = Counter(read_book([f"file={file}", "plies=1", f"seed={seed}"]).opening(0).moves[0] for seed in range(100))
    assert 45 < firsts["e2e4"] < 75 and 24 < firsts["d2d4"] < 54
    with_castling = {"e4 e5 Nf3 Nf6 Bc4 Bc5": {"O-O": 1}}
    path = ["e4", "e5", "Nf3", "Nf6", "Bc4", "Bc5"]
    write_polyglot(file, {" ".join(path[:n]): {san: 1} for n, san in enumerate(path)} | with_castling)
    assert read_book([f"file={file}"]).opening(0).moves[-1] == "e1g1"
    assert read_book([f"file={file}", "plies=4"]).opening(0).moves == ("e2e4", "e7e5", "g1f3", "g8f6")


def test_what_is_no_polyglot_book_is_refused(tmp_path):
    file = tmp_path / "mine.bin"
    write_polyglot(file, {"e4": {"e5": 1}})
    for words, message in (
        ([f"file={file}"], f"there is no opening in {file}"),
        ([f"file={file}", "order=sequential"], f"{file}: a Polyglot book does not support the sequential order"),
    ):
        with pytest.raises(OptionError) as caught:
            read_book(words)
        assert str(caught.value) == message
    with pytest.raises(OptionError, match="a Polyglot book does not support Chess960"):
        read_book([f"file={file}"], chess960=True)
    file.write_bytes(b"x" * 17)
    with pytest.raises(OptionError, match="it is not a Polyglot book"):
        read_book([f"file={file}"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("games=1", "--openings games=1: unknown key games; the keys are file, format, order, plies, seed"),
        ("format=txt", "format=txt: expected epd or pgn or bin"),
        ("order=back", "order=back: expected random or sequential"),
        ("plies=x", "plies=x: expected a whole number"),
        ("plies=0", "plies=0: expected 1 or more"),
        ("format=bin", "format=bin: name the Polyglot book with file="),
        ("file=no.bin", "cannot read the book no.bin: No such file or directory"),
        ("seed=" + "9" * 400, "seed=" + "9" * 400 + ": expected a smaller number"),
        ("seed=-1", "seed=-1: expected 0 or more"),
    ],
)
def test_what_is_refused(word, message):
    with pytest.raises(OptionError) as caught:
        read_book([word])
    assert str(caught.value) == message
