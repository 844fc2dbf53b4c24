"""Files of puzzles that are opened to choose from; large ones by an index."""

import errno
import gzip
import os

import pytest
from full_disk import nearly_full

from knightadder.engine.errors import OptionError
from knightadder.puzzles import collection
from knightadder.puzzles.collection import PuzzleChoice, open_puzzles

HEAD = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"
FEN = "6k1/3r1ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1"
ROWS = [
    f"one,{FEN},h7h6 d1d7,1500,75,90,7,hangingPiece oneMove,https://lichess.org/x#1,\n",
    "this line is broken\n",
    f'"t,wo",{FEN},g7g6 d1d7,1700,80,90,7,hangingPiece,https://lichess.org/x#2,\n',
    f"three,{FEN},h7h6 h2h4 h6h5,no,80,90,7,short,https://lichess.org/x#3,Réti\n",
    f"four,{FEN},h7h6 d1e8,1900,80,90,7,hangingPiece,https://lichess.org/x#4,\n",
]


@pytest.fixture(params=["puzzles.csv", "puzzles.csv.gz"])
def file(request, tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "_LARGE", 10)
    file = tmp_path / request.param
    text = ("\ufeff" + HEAD + "".join(ROWS)).encode()
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "old Mac"])
def test_a_large_file_is_read_like_a_small_one(file, tmp_path, encoding, monkeypatch):
    text = HEAD + "".join(ROWS)
    content = text.replace("\n", "\r").encode() if encoding == "old Mac" else text.encode(encoding)
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    large, _ = open_puzzles(file, tmp_path / "cache")
    monkeypatch.setattr(collection, "_LARGE", 10**6)
    small, _ = open_puzzles(file)
    assert [large.puzzle(number) for number in (1, 2, 3)] == [small.puzzle(number) for number in (1, 2, 3)]
    assert large.puzzle(3).openings == ("Réti",)


def test_a_rating_of_thousands_of_digits_is_unknown(tmp_path, monkeypatch):
    file = tmp_path / "puzzles.csv"
    file.write_text(HEAD + ROWS[0].replace("1500", "9" * 5000))
    for least in (10, 10**6):  # as a large file, and as a small one
        monkeypatch.setattr(collection, "_LARGE", least)
        puzzles, complaints = open_puzzles(file, tmp_path / "cache")
        assert (puzzles.puzzle(1).rating, puzzles.ratings, complaints) == (None, None, [])


def numbers(puzzles, after=0, **choice):
    return list(puzzles.numbers(PuzzleChoice(**choice), after))


def test_a_large_file_is_read_by_its_index(file, tmp_path):
    puzzles, complaints = open_puzzles(file, tmp_path / "cache")
    assert complaints == [f"{file}, line 3: there is no puzzle"]
    assert len(puzzles) == 4
    first, second, third = map(puzzles.puzzle, (1, 2, 3))
    assert (first.id, first.rating, first.deviation, first.themes) == ("one", 1500, 75, ("hangingPiece", "oneMove"))
    assert (second.id, third.rating, third.openings) == ("t,wo", None, ("Réti",))
    with pytest.raises(ValueError, match=r"line 6: illegal move d1e8"):
        puzzles.puzzle(4)
    assert puzzles.themes == {"hangingPiece": 3, "oneMove": 1, "short": 1} and puzzles.ratings == (1500, 1900)
    assert numbers(puzzles, after=2) == [3, 4, 1, 2]
    assert numbers(puzzles, theme="hangingPiece", after=1) == [2, 4, 1]
    assert numbers(puzzles, low=1500, high=1700) == [1, 2] and numbers(puzzles, low=1701) == [4]


def test_the_index_is_kept_until_the_file_changes(file, tmp_path, monkeypatch):
    made = []
    make = collection._make_index
    monkeypatch.setattr(collection, "_make_index", lambda *paths: made.append(paths) or make(*paths))
    cache = tmp_path / "cache"
    for _ in range(2):
        puzzles, _ = open_puzzles(file, cache)
        assert puzzles.puzzle(1).id == "one"
    assert len(made) == 1
    os.utime(file, (1, 1))
    open_puzzles(file, cache)
    assert len(made) == 2
    [index] = cache.iterdir()
    index.write_bytes(index.read_bytes()[:-3])
    assert open_puzzles(file, cache)[0].puzzle(1).id == "one"
    assert len(made) == 3


def test_an_index_that_cannot_be_kept_is_told(file, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    puzzles, complaints = open_puzzles(file, blocked)
    assert puzzles.puzzle(1).id == "one"
    assert complaints[0].startswith(f"cannot use {blocked}: ") and complaints[0].endswith("is not kept")


@pytest.mark.parametrize("room", [10, 100_000], ids=["at the start", "within the lines"])
def test_a_full_disk_is_no_fault_of_the_puzzles(tmp_path, monkeypatch, room):
    file = tmp_path / "puzzles.csv.gz"
    file.write_bytes(gzip.compress((HEAD + ROWS[0] * 20_000).encode()))
    monkeypatch.setattr(collection, "_LARGE", 10)
    cache = tmp_path / "cache"
    open_puzzles(file, cache)
    [index] = cache.iterdir()
    index.unlink()
    beside = cache / f".{index.name}.{os.getpid()}"  # what is written before it replaces the index
    nearly_full(monkeypatch, beside, room)
    puzzles, complaints = open_puzzles(file, cache)
    assert puzzles.puzzle(20_000).id == "one"
    assert complaints == [f"cannot write {beside}: {os.strerror(errno.ENOSPC)}, so the index of {file} is not kept"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "there is no column FEN"),
        (HEAD, "there is no puzzle"),
        ("\0" * 200_000, "there is no column FEN"),
    ],
)
def test_a_large_file_without_puzzles_is_refused(file, tmp_path, text, message):
    file.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(OptionError, match=message):
        open_puzzles(file, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
