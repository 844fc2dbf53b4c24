"""The network's file: what is written is read back, and whatever is not whole is refused by one clear line."""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_network import parts_of, random_network

from knightadder.core.evaluation.network_file import Network, network_bytes, parse_network, part_shapes, read_network
from knightadder.engine.evaluator import BUILT_IN_FILE


@pytest.mark.parametrize(("width", "buckets", "mirrored"), [(16, 1, True), (48, 8, False), (256, 8, True)])
def test_what_is_written_is_read(tmp_path: Path, width: int, buckets: int, mirrored: bool) -> None:
    network = random_network(width, buckets, mirrored)
    file = tmp_path / "one.nnue"
    file.write_bytes(network_bytes(network))
    assert file.stat().st_size < 1_000_000
    read = read_network(file)
    assert parts_of(read) == parts_of(network)
    assert (read.width, read.buckets) == (width, buckets)
    assert (read.mirrored, read.scale, read.description) == (mirrored, 300, "of chance, für Tests")
    assert all(part.dtype == np.int16 for part in read.parts())


def test_the_layout_is_that_of_the_description() -> None:
    network = random_network(16, 2)
    data = network_bytes(network)
    assert data[:16] == b"Knightadder NNUE"
    assert data[16:48] == hashlib.sha256(data[48:]).digest()
    length = len(network.description.encode())
    assert struct.unpack_from("<HHBBHHHI", data, 48) == (1, 16, 2, 1, 300, 255, 64, length)
    assert data[64 : 64 + length].decode() == network.description
    assert data[64 + length : 128] == bytes(64 - length)
    numbers = struct.unpack(f"<{769 * 16 + 2 * 33}h", data[128:])
    assert numbers[16 * 5 + 3] == network.feature_weights[5, 3]
    assert numbers[768 * 16 + 3] == network.feature_biases[3]
    assert numbers[769 * 16 + 32 + 16 + 3] == network.output_weights[1, 1, 3]
    assert numbers[-1] == network.output_biases[1]


@pytest.mark.parametrize("place", [16, 40, 48, 50, 52, 53, 54, 60, 64, 100, 200, -1])
def test_a_flipped_bit_is_noticed(place: int) -> None:
    data = bytearray(network_bytes(random_network()))
    data[place] ^= 4
    is_size = place in (50, 52, 53)  # with more neurons or buckets, the file would be longer
    with pytest.raises(ValueError, match=f"^the network is {'truncated' if is_size else 'damaged'}$"):
        parse_network(data)


@pytest.mark.parametrize("length", [1, 15, 16, 40, 63, 64, 100, 1000, -1])
def test_a_truncated_file_is_noticed(tmp_path: Path, length: int) -> None:
    data = network_bytes(random_network())
    with pytest.raises(ValueError, match=r"^the network is truncated$"):
        parse_network(data[:length])
    with pytest.raises(ValueError, match=r"^the network is damaged$"):
        parse_network(data + b"more")


@pytest.mark.parametrize("content", [b"", b"K" + bytes(99), b"PK\x03\x04 an archive", bytes(400_000)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"^[^\n]*other: not a network for Knightadder$"):
        read_network(file)
    with pytest.raises(FileNotFoundError):
        read_network(tmp_path / "missing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/zero")):
        with pytest.raises(ValueError, match=f"^{file}: a network must be a regular file, not a device or a pipe$"):
            read_network(file)
    with pytest.raises(IsADirectoryError):
        read_network(tmp_path)


def test_no_file_of_the_kernel_is_waited_for() -> None:
    with pytest.raises((ValueError, OSError)):
        read_network(Path("/proc/kmsg"))


def test_a_description_of_several_lines_is_read_as_one() -> None:
    data = bytearray(network_bytes(replace(random_network(16, 1), description="one two three")))
    place = data.index(b"one two")
    data[place + 3 : place + 4] = b"\n"
    data[16:48] = hashlib.sha256(data[48:]).digest()
    network = parse_network(bytes(data))
    assert network.description == "one two three"
    assert parse_network(network_bytes(network)).description == "one two three"


def test_of_a_huge_file_only_the_beginning_is_read(tmp_path: Path) -> None:
    file = tmp_path / "huge"
    shapes = part_shapes(2048, 32, 4)  # of the largest network
    data = network_bytes(Network(*(np.zeros(shape, np.int16) for shape in shapes), mirrored=True, scale=200))
    for content, reason in ((b"no network", "not a network for Knightadder"), (data, "the network is damaged")):
        with file.open("wb") as stream:
            stream.write(content)
            stream.truncate(1 << 40)  # more than any memory has; without content it takes no room on the disk
        with pytest.raises(ValueError, match=reason):
            read_network(file)
    file.write_bytes(data)
    assert read_network(file).buckets == 32


def test_the_network_of_the_package_is_small() -> None:
    assert BUILT_IN_FILE.stat().st_size < 1_000_000


@pytest.mark.parametrize(("place", "value"), [(48, 2), (56, 127), (58, 32)])
def test_another_format_is_refused(place: int, value: int) -> None:
    data = bytearray(network_bytes(random_network()))
    struct.pack_into("<H", data, place, value)
    data[16:48] = hashlib.sha256(data[48:]).digest()
    with pytest.raises(ValueError, match="format of a different version"):
        parse_network(data)


def test_a_network_with_king_buckets_comes_back() -> None:
    network = random_network(16, 2, king_buckets=4)
    read = parse_network(network_bytes(network))
    assert (read.king_buckets, read.mirrored, parts_of(read)) == (4, True, parts_of(network))
    assert parse_network(network_bytes(random_network())).king_buckets == 1


@pytest.mark.parametrize(("rows", "mirrored"), [(2, True), (3, True), (8, True), (4, False)])
def test_another_number_of_king_buckets_is_refused(rows: int, mirrored: bool) -> None:
    _, *others = random_network(16, 2).parts()
    with pytest.raises(ValueError, match="king buckets is not supported"):
        Network(np.zeros((768 * rows, 16), np.int16), *others, mirrored, scale=300)
    with pytest.raises(ValueError, match="shapes of the network's parts do not match"):
        Network(np.zeros((1000, 16), np.int16), *others, mirrored, scale=300)


def test_weights_that_could_overflow_are_refused() -> None:
    network = random_network(256)
    features = np.full((768, 256), 1000, np.int16)
    features[31:, 0] = 0
    features[32:, 1:] = 0
    biases = np.zeros(256, np.int16)
    replace(network, feature_weights=features, feature_biases=biases + 767)  # 32 men: exactly the largest sum
    with pytest.raises(ValueError, match="an accumulator may overflow"):
        replace(network, feature_weights=features, feature_biases=biases + 768)
    with pytest.raises(ValueError, match="an accumulator may overflow"):
        replace(network, feature_weights=-features, feature_biases=biases - 768)
    replace(network, feature_weights=np.full_like(features, 1000), feature_biases=biases + 767)  # all alike
    with pytest.raises(ValueError, match="accumulator may overflow"):
        replace(network, feature_weights=np.full_like(features, -1000), feature_biases=biases + 768)
    outputs = np.zeros((1, 2, 256), np.int16)
    outputs[0, 0, 0] = -128
    replace(network, output_weights=outputs)
    outputs[0, 0, 0] = -129  # times 255 it exceeds 16 bits
    with pytest.raises(ValueError, match="the output may overflow"):
        replace(network, output_weights=outputs)
    outputs[:] = 65  # all 512 times 255 squared exceed 32 bits
    with pytest.raises(ValueError, match="the output may overflow"):
        replace(network, output_weights=outputs)


def test_what_no_engine_can_use_is_refused() -> None:
    for width in (8, 24, 4096):
        with pytest.raises(ValueError, match=f"a hidden layer of {width} "):
            random_network(width)
    network = random_network()
    for scale in (0, 65_536):
        with pytest.raises(ValueError, match=f"a scale of {scale} "):
            replace(network, scale=scale)
    for scale in (1, 65_535):
        assert parse_network(network_bytes(replace(network, scale=scale))).scale == scale
    for biases in network.output_weights[0, 0, :8], network.feature_biases.astype(np.int32):
        with pytest.raises(ValueError, match="shapes of the network's parts do not match"):
            replace(network, feature_biases=biases)
    for text in ("two\nlines", "x" * 1001):
        with pytest.raises(ValueError, match="one line of at most"):
            network_bytes(replace(network, description=text))
    assert len(parse_network(network_bytes(replace(network, description="x" * 1000))).description) == 1000


def test_the_description_makes_no_difference_to_the_key() -> None:
    network = random_network()
    assert replace(network, description="another").key == network.key != random_network(seed=2).key
    assert replace(network, scale=network.scale + 1).key != network.key
