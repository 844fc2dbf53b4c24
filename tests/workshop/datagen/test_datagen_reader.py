"""Reading games back: block by block, filtered, and refusing what is no game."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen import reader as module
from knightadder.workshop.datagen.reader import EVERYTHING, Filter, Reader

# 1. e4 e5 2. Qh5 Ke7 3. Qxe5#, from the README of viriformat, the fourth move without a score.
MATE = bytes.fromhex(
    "ffff00000000ffff 16422561000000008888 88889ecaade9 40 00 0100 0000 02 00"
    "0c070a00 34091400 c309e2ff 3c0d0080 2709ff7f 00000000"
)


def _words(data):
    return np.frombuffer(bytearray(data), np.uint32)


@pytest.fixture(scope="module")
def reader():
    return Reader()


def test_everything(reader):
    records = reader.read(_words(MATE * 2), EVERYTHING)
    assert records["score"].tolist() == [10, 20, -30, -32768, 32767] * 2
    assert reader.count(_words(MATE * 2)) == (2, 10)
    assert reader.count(_words(MATE + MATE[:-4])) == (1, 5)


@pytest.mark.parametrize(
    ("wanted", "scores"),
    [
        (Filter(), [10, 20, -30]),
        (Filter(score_below=20), [10]),
        (Filter(first_ply=2, quiet=False), [-30]),
        (Filter(score_below=32_768), [10, 20, -30]),  # the mate is a capture
        (Filter(score_below=32_768, quiet=False), [10, 20, -30, 32_767]),
    ],
)
def test_filters(reader, wanted, scores):
    assert reader.read(_words(MATE), wanted)["score"].tolist() == scores


def test_blocks(reader, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 3)  # less than a game
    blocks = list(reader.blocks(_words(MATE * 5), EVERYTHING))
    assert len(blocks) == 5
    assert np.concatenate(blocks).tobytes() == reader.read(_words(MATE * 5), EVERYTHING).tobytes()
    assert list(reader.blocks(_words(MATE * 5), Filter(first_ply=100))) == []


def test_threads_share_a_reader(reader):
    two_moves = MATE[:40] + bytes(4)
    games = [_words(MATE * 20_000), _words(two_moves * 40_000)] * 4

    def read(words):
        return reader.read(words, EVERYTHING).tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, games)) == list(map(read, games))


def test_no_games(reader):
    records = reader.read(_words(b""), EVERYTHING)
    assert (len(records), records.dtype) == (0, PACKED)


@pytest.mark.parametrize("tail", [MATE[:-4], MATE[:20], MATE[:32] + b"\1\0\0\0" + MATE[32:]])
def test_damage(reader, tail):
    with pytest.raises(OptionError, match=r"^the game at byte 56 is damaged$"):
        reader.read(_words(MATE + tail), EVERYTHING)


def test_a_file_that_is_mapped(reader, tmp_path):
    (tmp_path / "games.vf").write_bytes(MATE * 3)
    assert len(reader.read(np.memmap(tmp_path / "games.vf", np.uint32, "c"), EVERYTHING)) == 15
