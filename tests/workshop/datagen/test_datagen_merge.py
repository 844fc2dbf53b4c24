"""Merging: every position once, in an order by chance, nothing changed."""

from __future__ import annotations

import os
import random
import struct
import sys
import threading

import chess
import numpy as np
import pytest

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError
from knightadder.library.arrays import pack
from knightadder.workshop.datagen.merge import MergeCounts, last_of_each, merge
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import EVERYTHING, Filter, Reader

COUNTERS = PACKED.fields["rule50"][1]  # where the counters begin in a record, after the position
START = pack([chess.STARTING_FEN]).tobytes()


def _random_records(seed, count):
    chance = np.random.default_rng(seed)
    records = np.frombuffer(chance.bytes(32 * count), PACKED).copy()
    records["result"] %= 3
    return records


def _chunk(seed, games=20):
    """Random games of moves that need no special encoding; they have the start position, at least, in common."""
    chance, data = random.Random(seed), b""
    for _ in range(games):
        board = chess.Board()
        data += START[:30] + bytes([chance.randrange(3), 0])
        for _ in range(20):
            plain = [
                m for m in board.legal_moves if not (m.promotion or board.is_castling(m) or board.is_en_passant(m))
            ]
            if not plain:
                break
            move = chance.choice(plain)
            data += struct.pack("<Hh", move.from_square | move.to_square << 6, chance.randrange(-3000, 3000))
            board.push(move)
        data += bytes(4)
    return np.frombuffer(bytearray(data), np.uint32)


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path / "games")
    with parts.open({}):
        for number in range(3):
            parts.add(parts.save(number, _chunk(number), 20))
        yield parts


def _split(records):
    data = records.tobytes()
    return [data[place : place + 32] for place in range(0, len(data), 32)]


@pytest.mark.parametrize("share", [10_000, 100])
@pytest.mark.parametrize("wanted", [EVERYTHING, Filter(), Filter(first_ply=8)])
def test_the_last_of_equal_positions_is_kept(parts, tmp_path, share, wanted):
    reader, file = Reader(), tmp_path / "data.bin"
    counts = merge(parts, file, wanted, 1, share)
    records = np.concatenate([reader.read(words, wanted) for words in parts.read()])
    last = {record[:COUNTERS]: record for record in _split(records)}
    merged = np.fromfile(file, PACKED)
    assert sorted(_split(merged)) == sorted(last.values())
    results = [merged["result"].tolist().count(result) for result in (2, 1, 0)]
    assert counts == MergeCounts(parts.moves, len(records), len(last), *results)
    assert len(last) < len(records) or wanted.first_ply


@pytest.mark.parametrize("byte", range(32))
def test_what_makes_positions_equal(byte):
    records = np.repeat(_random_records(2, 1), 2)
    records.view(np.uint8)[byte] ^= 1
    assert len(last_of_each(records)) == (2 if byte < COUNTERS else 1)


@pytest.mark.parametrize("share", [10_000, 100])
def test_the_order_depends_on_the_seed_alone(parts, tmp_path, share):
    found = []
    for seed in (1, 1, 2, -5):
        merge(parts, tmp_path / "data.bin", EVERYTHING, seed, share)
        found.append(_split(np.fromfile(tmp_path / "data.bin", PACKED)))
    assert found[0] == found[1]
    assert len({tuple(order) for order in found}) == 3


@pytest.mark.parametrize("share", [10_000, 100])
def test_positions_of_a_game_do_not_stay_together(parts, tmp_path, share):
    merge(parts, tmp_path / "data.bin", EVERYTHING, 1, share)
    plies = np.fromfile(tmp_path / "data.bin", PACKED)["fullmove"].astype(int)
    assert abs(np.corrcoef(plies[:-1], plies[1:])[0, 1]) < 0.15


def test_a_damaged_chunk_leaves_the_file_as_it_was(parts, tmp_path):
    file = tmp_path / "data.bin"
    file.write_bytes(b"before")
    chunk = bytearray(parts.file(1).read_bytes())
    chunk[40] ^= 1
    parts.file(1).write_bytes(chunk)
    with pytest.raises(OptionError, match=r"chunk-000001\.vf is damaged: remove it, and its games are played again$"):
        merge(parts, file, Filter(), 1)
    assert file.read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".lock") == ["data.bin", "games"]


@pytest.mark.skipif(sys.platform == "win32", reason="links are reserved to administrators there")
def test_a_link_stays_and_its_file_is_written(parts, tmp_path):
    file, link = tmp_path / "data.bin", tmp_path / "link.bin"
    file.write_bytes(b"before")
    link.symlink_to(file)
    counts = merge(parts, link, Filter(), 1)
    assert link.is_symlink() and not file.is_symlink()
    assert file.stat().st_size == counts.written * PACKED.itemsize > 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to(parts, tmp_path):
    merge(parts, tmp_path / "data.bin", Filter(), 1)
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    merge(parts, pipe, Filter(), 1)
    reader.join()
    assert pipe.is_fifo() and read == [(tmp_path / "data.bin").read_bytes()]


def test_no_position_that_is_wanted(parts, tmp_path):
    assert merge(parts, tmp_path / "data.bin", Filter(first_ply=1000), 1) == MergeCounts(moves=parts.moves)
    assert (tmp_path / "data.bin").read_bytes() == b""
