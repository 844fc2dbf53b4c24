"""The folder of chunks: what is missing, what is counted, what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen.parts import Parts


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path / "data.bin")
    parts.open({"nodes": 5, "openings": ["a", "b"]})
    return parts


def _some(length, score=0):
    records = np.zeros(length, PACKED)
    records["score"] = score
    return records


def test_chunks_are_read_in_the_order_of_their_numbers(parts):
    for number in (1_000_000, 2, 0, 999_999):
        parts.save(number, _some(number % 7 + 1, number % 1000))
    (parts.folder / ".chunk-000005.bin.tmp").write_bytes(b"half")
    assert parts.positions() == len(parts.read())
    assert list(dict.fromkeys(parts.read()["score"].tolist())) == [0, 2, 999]
    assert list(itertools.islice(parts.missing(), 4)) == [1, 3, 4, 5]
    assert parts.chunk(7).name == "chunk-000007.bin"


def test_the_same_settings_are_taken_again(parts):
    before = {path: path.read_bytes() for path in parts.folder.iterdir()}
    parts.open({"nodes": 5, "openings": ["a", "b"]})
    assert before == {path: path.read_bytes() for path in parts.folder.iterdir()}


@pytest.mark.parametrize(
    ("settings", "differing"),
    [
        ({"nodes": 6, "openings": ["a", "b"]}, "nodes"),
        ({"nodes": 6, "openings": None}, "nodes, openings"),
        ({"nodes": 5, "openings": ["a", "b"], "new": 1}, "new"),
    ],
)
def test_other_settings_are_refused(parts, settings, differing):
    with pytest.raises(OptionError, match=f"^{parts.folder} was begun with other {differing}: give another file$"):
        parts.open(settings)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"5", b"\xff"])
def test_what_are_no_settings_is_refused(parts, text):
    (parts.folder / "settings.json").write_bytes(text)
    with pytest.raises(OptionError, match=r"settings\.json does not hold the settings of a run$"):
        parts.open({"nodes": 5})


def test_a_chunk_of_a_wrong_size_is_refused(parts):
    parts.chunk(3).write_bytes(bytes(33))
    for method in (parts.positions, parts.read):
        with pytest.raises(OptionError, match=r"chunk-000003\.bin is damaged: remove it, and it will be played again$"):
            method()


def test_a_folder_that_cannot_be_made(tmp_path):
    with pytest.raises(OptionError, match=r"^cannot use .*: No such file or directory$"):
        Parts(tmp_path / "nowhere" / "data.bin").open({})
    (tmp_path / "data.bin.parts").write_text("")
    with pytest.raises(OptionError, match=r"^cannot use "):
        Parts(tmp_path / "data.bin").open({})


def test_a_chunk_that_cannot_be_written(tmp_path):
    with pytest.raises(OptionError, match=r"^cannot write .*chunk-000000\.bin: No such file or directory$"):
        Parts(tmp_path / "data.bin").save(0, _some(1))
