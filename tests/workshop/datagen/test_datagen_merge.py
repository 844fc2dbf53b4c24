"""Merging: every position once, in an order by chance, nothing changed."""

from __future__ import annotations

import numpy as np
import pytest

from knightadder.core.board.packed import PACKED, POSITION_BYTES
from knightadder.workshop.datagen.merge import Counts, first_of_each, merge
from knightadder.workshop.datagen.parts import Parts


def _random_records(seed, count):
    chance = np.random.default_rng(seed)
    records = np.frombuffer(chance.bytes(32 * count), PACKED).copy()
    records["result"] %= 3
    return records


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path / "data.bin")
    parts.open({})
    return parts


def _split(records):
    data = records.tobytes()
    return [data[place : place + 32] for place in range(0, len(data), 32)]


def test_the_first_of_equal_positions_is_kept(parts, tmp_path):
    records = _random_records(1, 500)
    again = records[::2].copy()
    again["score"] += 1
    again["rule50"] ^= 1
    parts.save(0, records)
    parts.save(1, again)
    file = tmp_path / "data.bin"
    counts = merge(parts, file, 1)
    assert sorted(_split(np.fromfile(file, PACKED))) == sorted(_split(records))
    results = [records["result"].tolist().count(result) for result in (2, 1, 0)]
    assert counts == Counts(750, 500, *results)


@pytest.mark.parametrize("byte", range(32))
def test_what_makes_positions_equal(byte):
    records = np.repeat(_random_records(2, 1), 2)
    records.view(np.uint8)[byte] ^= 1
    assert len(first_of_each(records)) == (2 if byte < POSITION_BYTES else 1)


def test_many_positions_that_differ_little():
    records = np.zeros(1 << 16, PACKED)
    numbers = np.arange(1 << 16)
    records["occupied"] = numbers & 255
    records["pieces"][:, 15] = numbers >> 8 & 15
    records["stm_ep"] = numbers >> 12
    assert len(first_of_each(records)) == 1 << 16


def test_the_order_depends_on_the_seed_alone(parts, tmp_path):
    records = _random_records(3, 1000)
    parts.save(0, records)
    found = []
    for seed in (1, 1, 2, -5):
        merge(parts, tmp_path / "data.bin", seed)
        found.append(_split(np.fromfile(tmp_path / "data.bin", PACKED)))
    assert found[0] == found[1]
    orders = [tuple(order) for order in (_split(records), *found[1:])]
    assert len(set(orders)) == 4
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_only_the_file_is_left(parts, tmp_path):
    parts.save(0, _random_records(4, 10))
    merge(parts, tmp_path / "data.bin", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.bin", "data.bin.parts"]
    assert sorted(path.name for path in parts.folder.iterdir()) == ["chunk-000000.bin", "settings.json"]


def test_chunks_without_a_position(parts, tmp_path):
    parts.save(0, np.zeros(0, PACKED))
    assert merge(parts, tmp_path / "data.bin", 1) == Counts(0, 0, 0, 0, 0)
    assert (tmp_path / "data.bin").read_bytes() == b""
