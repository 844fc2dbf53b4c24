"""The folder of chunks: what is missing, what is counted, what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen.parts import Parts, engine_version

SETTINGS = {"nodes": 5, "openings": ["a", "b"]}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "games"
    with Parts(folder).open(SETTINGS):
        pass
    return folder


def _some(moves, fill=1):
    """Give words as long as a game with so many moves."""
    return np.full(8 + moves + 1, fill, np.uint32)


def _filled(folder, *numbers):
    parts = Parts(folder)
    with parts.open(SETTINGS):
        for number in numbers:
            parts.add(parts.save(number, _some(number % 7 + 1, number), 1))
    return parts


def _loaded(folder):
    parts = Parts(folder)
    parts.load()
    return parts


def test_chunks_are_read_in_the_order_of_their_numbers(folder):
    numbers = (1_000_000, 2, 0, 999_999)
    _filled(folder, *numbers)
    (folder / ".chunk-000005.vf.tmp").write_bytes(b"half")
    (folder / "chunk-000003.vf").write_bytes(b"whole, but not in the list: the run ended too soon")
    parts = _loaded(folder)
    assert [int(words[0]) for words in parts.read()] == sorted(numbers)
    assert parts.moves == sum(number % 7 + 1 for number in numbers)
    assert [len(words) for words in parts.read()] == [9 + number % 7 + 1 for number in sorted(numbers)]
    assert list(itertools.islice(parts.missing(), 4)) == [1, 3, 4, 5]
    assert parts.file(7).name == "chunk-000007.vf"
    assert parts.damaged == []


def test_what_was_added_counts_at_once(folder):
    parts = Parts(folder)
    with parts.open(SETTINGS):
        chunk = parts.save(3, _some(10), 1)
        assert parts.moves == 0
        parts.add(chunk)
        assert (parts.moves, parts.chunks) == (10, {3: chunk})
        assert chunk.engine == engine_version()
    assert _loaded(folder).chunks == parts.chunks


def test_what_a_killed_run_has_left_of_a_chunk_is_removed_by_the_next_run(folder):
    parts = Parts(folder)
    with parts.open(SETTINGS):
        parts.add(parts.save(0, _some(1), 1))
    left = folder / ".chunk-000001.vf.12345"
    left.write_bytes(b"half a chunk")
    with Parts(folder).open(SETTINGS):
        assert not left.exists()
    assert parts.file(0).exists()


def test_the_first_chunks_that_have_enough_moves(folder):
    parts = _filled(folder, 0, 1, 2, 4, 5)  # with 1, 2, 3, 5 and 6 moves
    assert [parts.first(moves) for moves in (0, 1, 2, 3, 4, 6)] == [0, 1, 2, 2, 3, 3]
    assert [parts.first(moves) for moves in (7, 17, 18)] == [None] * 3  # chunk 3 is missing
    assert [parts.moves_before(number) for number in range(8)] == [0, 1, 3, 6, 6, 11, 17, 17]
    parts.add(parts.save(3, _some(4), 1))
    assert [parts.first(moves) for moves in (7, 10, 21, 22)] == [4, 4, 6, None]
    parts.drop_from(2)
    assert [parts.first(moves) for moves in (3, 4)] == [2, None]
    assert (list(parts.chunks), parts.moves) == ([0, 1], 3)
    assert len(list(folder.glob("chunk-*.vf"))) == 6


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"5", b"\xff"])
def test_what_are_no_settings_is_refused(folder, text):
    (folder / "settings.json").write_bytes(text)
    with pytest.raises(
        OptionError,
        match=r"belongs to a different kind of run, so it is not used: choose a different name, or remove it$",
    ):
        Parts(folder).open(SETTINGS).__enter__()


@pytest.mark.parametrize("text", [b"{\n", b"[]\n", b"5\n", b"\xff\n", b'{"number": 1}\n'])
def test_what_is_no_list_is_refused(folder, text):
    (folder / "chunks.jsonl").write_bytes(text)
    with pytest.raises(OptionError, match=r"chunks\.jsonl, line 1 is damaged: remove this line, and its games"):
        _loaded(folder)


def test_a_second_run_is_refused(folder):
    with Parts(folder).open(SETTINGS):
        with pytest.raises(OptionError, match=f"^{folder} is in use by another run$"):
            Parts(folder).open(SETTINGS).__enter__()
        _loaded(folder)  # but others may read
    _filled(folder, 0)


def test_a_line_that_was_cut_off_does_not_count(folder):
    _filled(folder, 0, 1)
    file = folder / "chunks.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    assert list(_loaded(folder).chunks) == [0]
    _filled(folder, 2)
    assert list(_loaded(folder).chunks) == [0, 2]


@pytest.mark.parametrize("data", [b"", b"short", bytes(100)])
def test_a_chunk_of_a_wrong_size_is_played_again(folder, data):
    _filled(folder, 0, 1)
    (folder / "chunk-000001.vf").write_bytes(data)
    parts = _loaded(folder)
    assert parts.damaged == [folder / "chunk-000001.vf"]
    assert (list(parts.chunks), next(parts.missing())) == ([0], 1)
    assert list(_filled(folder, 1).chunks) == [0, 1]
    assert len((folder / "chunks.jsonl").read_bytes().splitlines()) == 2


def test_a_chunk_that_was_removed_is_played_again(folder):
    _filled(folder, 0, 1)
    (folder / "chunk-000000.vf").unlink()
    parts = _loaded(folder)
    assert parts.damaged == []
    assert next(parts.missing()) == 0


def test_a_chunk_with_other_bytes_is_refused(folder):
    _filled(folder, 0)
    (folder / "chunk-000000.vf").write_bytes(_some(1, 5).tobytes())
    with pytest.raises(OptionError, match=r"chunk-000000\.vf is damaged: remove it, and its games are played again$"):
        list(_loaded(folder).read())


def test_a_folder_that_cannot_be_made(tmp_path):
    with pytest.raises(OptionError, match=r"^cannot use .*: No such file or directory$"):
        Parts(tmp_path / "nowhere" / "games").open({}).__enter__()
    (tmp_path / "games").write_text("")
    with pytest.raises(OptionError, match=r"^cannot use "):
        Parts(tmp_path / "games").open({}).__enter__()


def test_a_chunk_that_cannot_be_added_to_the_list_does_not_count(folder):
    parts = Parts(folder)
    with parts.open({}):
        chunk = parts.save(0, _some(1), 1)
        (folder / "chunks.jsonl").unlink()
        (folder / "chunks.jsonl").mkdir()
        with pytest.raises(OptionError, match=r"^cannot write .*chunks\.jsonl: "):
            parts.add(chunk)
        assert (parts.chunks, parts.moves) == ({}, 0)
