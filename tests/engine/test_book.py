"""Opening books: looked up as python-chess does, chosen by weight, and played by the engine."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import pytest
from searcher import Searcher
from waiting import TIMEOUT

from knightadder.engine.book import Book, encode
from knightadder.engine.engine import Engine
from knightadder.engine.errors import OptionError
from knightadder.engine.hashtable import HashTable
from knightadder.engine.limits import Limits

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
START = {"e2e4": 60, "d2d4": 30, "g1f3": 10, "a2a3": 0}


def write(file: Path, positions: dict[str, dict[str, int]]) -> Path:
    """Write a book; castling moves must be given as king takes rook."""
    entries = []
    for fen, moves in positions.items():
        for name, weight in moves.items():
            move = chess.Move.from_uci(name)
            code = move.to_square | move.from_square << 6 | (move.promotion - 1 if move.promotion else 0) << 12
            entries.append(struct.pack(">QHHI", chess.polyglot.zobrist_hash(chess.Board(fen)), code, weight, 0))
    file.write_bytes(b"".join(sorted(entries)))
    return file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "book.bin", {chess.STARTING_FEN: START, CASTLING: {"e1h1": 1}})


def test_moves_by_weight_without_those_of_weight_zero(file: Path) -> None:
    book = Book(file)
    assert list(book.moves(chess.STARTING_FEN).items()) == [("e2e4", 60), ("d2d4", 30), ("g1f3", 10)]
    assert book.moves("4k3/8/8/8/8/8/8/4K3 w - - 0 1") == {}
    book.close()


def test_the_weights_of_a_move_that_a_book_has_twice_are_added(file: Path) -> None:
    twice = file.with_name("twice.bin")
    other = write(twice, {chess.STARTING_FEN: {"d2d4": 40}}).read_bytes()
    twice.write_bytes(
        b"".join(sorted(each[i : i + 16] for each in (file.read_bytes(), other) for i in range(0, len(each), 16)))
    )
    book = Book(twice)
    assert list(book.moves(chess.STARTING_FEN).items()) == [("d2d4", 70), ("e2e4", 60), ("g1f3", 10)]
    book.close()


@pytest.mark.parametrize("factor", [3, 0.5])
def test_a_file_whose_size_has_changed_has_no_moves(file: Path, factor: float) -> None:
    book, content = Book(file), file.read_bytes()
    with file.open("r+b") as stream:  # the same file, not a new one of the same name
        stream.write(content * int(factor))
        stream.truncate(int(len(content) * factor))
    assert book.moves(chess.STARTING_FEN) == {}
    assert book.choose(chess.STARTING_FEN, Random(1)) is None


def test_castling_is_written_as_the_position_wants_it(file: Path) -> None:
    assert Book(file).moves(CASTLING) == {"e1g1": 1}
    assert Book(file).moves(CASTLING, chess960=True) == {"e1h1": 1}


def test_chance_follows_the_weights(file: Path) -> None:
    book, random = Book(file), Random(1)
    chosen = Counter(book.choose(chess.STARTING_FEN, random) for _ in range(2000))
    assert set(chosen) == {"e2e4", "d2d4", "g1f3"}
    for move, count in chosen.items():
        assert count / 2000 == pytest.approx(START[str(move)] / 100, abs=0.04)
    assert {book.choose(chess.STARTING_FEN, random, best=True) for _ in range(20)} == {"e2e4"}
    assert book.choose("4k3/8/8/8/8/8/8/4K3 w - - 0 1", random) is None


@pytest.mark.parametrize("content", [b"", b"short", b"17 bytes of text.", bytes(reversed(range(256)))])
def test_what_is_no_book_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.bin"
    file.write_bytes(content)
    with pytest.raises(OptionError, match=r"bad\.bin: it is not a Polyglot book$"):
        Book(file)
    with pytest.raises(OptionError, match=r"missing\.bin: No such file or directory$"):
        Book(tmp_path / "missing.bin")
    with pytest.raises(OptionError, match=r"it is not a Polyglot book$"):
        Book(tmp_path)


def use(searcher: Searcher, file: Path, **options: str) -> None:
    searcher.engine.set_option("BookFile", str(file))
    for name, value in ({"OwnBook": "true"} | options).items():
        searcher.engine.set_option(name, value)


def test_the_engine_plays_from_its_book(searcher: Searcher, file: Path) -> None:
    use(searcher, file)
    searcher.engine.random.seed(1)  # else one run in seventy would miss the rarest move
    played = {searcher.search(Limits(movetime=10_000)).result.best_move for _ in range(40)}
    assert played == {"e2e4", "d2d4", "g1f3"}
    searcher.engine.set_option("BestBookMove", "true")
    assert {searcher.search(Limits(wtime=60_000)).result.best_move for _ in range(8)} == {"e2e4"}
    assert searcher.search(Limits(movetime=10_000), CASTLING).result.best_move == "e1g1"


def test_a_book_move_does_not_wait_for_the_hash_table_to_be_cleared(
    searcher: Searcher, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(searcher, file, BestBookMove="true")
    searcher.engine.set_position()
    wait, uncleared = HashTable.wait, searcher.engine._table
    with monkeypatch.context() as patch:
        patch.setattr(HashTable, "wait", lambda table, timeout=0: table is not uncleared and wait(table, timeout))
        for limits in (Limits(wtime=60_000), Limits(depth=20), Limits(nodes=10**9)):
            listener = searcher.go(limits)
            assert listener.done.wait(TIMEOUT)
            assert searcher.engine.wait(TIMEOUT)
            assert listener.result.best_move == "e2e4"
            assert listener.infos[-1].pv[0] == "e2e4"


def test_after_a_ponder_hit_the_book_is_asked(searcher: Searcher, file: Path) -> None:
    use(searcher, write(file.with_name("rare.bin"), {chess.STARTING_FEN: {"h2h4": 1}}))
    listener = searcher.start(Limits(wtime=60_000, ponder=True))
    listener.wait_for_lines(1)
    assert not listener.results
    searcher.engine.ponderhit()
    assert listener.result.best_move == "h2h4"


def test_the_engine_tells_the_moves_of_its_book(searcher: Searcher, file: Path) -> None:
    assert searcher.engine.book_moves() == {}
    searcher.engine.set_option("BookFile", str(file))
    assert searcher.engine.book_moves() == {"e2e4": 60, "d2d4": 30, "g1f3": 10}
    searcher.engine.set_position(CASTLING)
    assert searcher.engine.book_moves() == {"e1g1": 1}


def test_closing_the_engine_closes_its_book(file: Path) -> None:
    engine = Engine()
    engine.set_option("BookFile", str(file))
    engine.close()
    assert engine.book_moves() == {}


def test_the_book_is_left_out_of_analysis_and_late_in_the_game(searcher: Searcher, file: Path) -> None:
    rare = write(file.with_name("rare.bin"), {chess.STARTING_FEN: {"h2h4": 1}})
    use(searcher, rare, BookDepth="2")
    assert searcher.search(Limits(nodes=2000)).result.best_move == "h2h4"
    for limits in (Limits(nodes=2000, searchmoves=("a2a3", "b2b3")), Limits(mate=1, nodes=2000)):
        assert searcher.search(limits).result.best_move != "h2h4"
    late = chess.STARTING_FEN.replace("0 1", "0 2")
    assert searcher.search(Limits(nodes=2000), late).result.best_move != "h2h4"
    for name, value in (("UCI_AnalyseMode", "true"), ("OwnBook", "false"), ("BookFile", "")):
        use(searcher, rare, UCI_AnalyseMode="false")
        searcher.engine.set_option(name, value)
        assert searcher.search(Limits(nodes=2000)).result.best_move != "h2h4"


def test_a_bad_book_leaves_the_old_one_in_use(searcher: Searcher, file: Path) -> None:
    rare = write(file.with_name("rare.bin"), {chess.STARTING_FEN: {"h2h4": 1}})
    use(searcher, rare)
    with pytest.raises(OptionError, match="cannot read the book"):
        searcher.engine.set_option("BookFile", str(file.with_name("missing.bin")))
    assert searcher.engine.options["BookFile"] == str(rare)
    assert searcher.search(Limits(nodes=2000)).result.best_move == "h2h4"


@pytest.mark.parametrize(
    ("fen", "move", "code"),
    [
        # The format's own examples of castling: e1h1, e1a1, e8h8, e8a8; and a promotion to a queen and to a knight.
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 4 << 6 | 7),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", 4 << 6 | 0),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8g8", 60 << 6 | 63),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", 60 << 6 | 56),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", 48 << 6 | 56 | 4 << 12),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8n", 48 << 6 | 56 | 1 << 12),
    ],
)
def test_moves_are_encoded_as_the_format_says(fen: str, move: str, code: int) -> None:
    assert encode(chess.Board(fen), chess.Move.from_uci(move)) == code
