"""The argument ``--openings``: the book that it describes, and what is refused."""

import argparse

import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.book_argument import add_openings, read_book
from knightadder.workshop.openings import load_book


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


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("games=1", "--openings games=1: there is no key games; there are file, format, order, plies, seed"),
        ("format=txt", "format=txt: expected epd or pgn"),
        ("order=back", "order=back: expected random or sequential"),
        ("plies=x", "plies=x: expected a whole number"),
        ("plies=0", "plies=0: expected 1 or more"),
        ("seed=-1", "seed=-1: expected 0 or more"),
    ],
)
def test_what_is_refused(word, message):
    with pytest.raises(OptionError) as caught:
        read_book([word])
    assert str(caught.value) == message
