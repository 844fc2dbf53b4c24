"""Exchange with other trainers: weights come back as they were, and other files are refused by a clear line."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from random_network import parts_of

from knightadder.core.evaluation.network_file import network_bytes
from knightadder.engine.errors import OptionError
from knightadder.workshop.train.exchange import read_arrays, read_bullet, read_weights, write_arrays, write_bullet
from knightadder.workshop.train.weights import Shape, initial_weights, quantise

SHAPES = [Shape(16, 1, True), Shape(32, 8, False), Shape(16, 2, True, 4)]


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_come_back(tmp_path: Path, shape: Shape) -> None:
    file, flat = tmp_path / "weights.npz", initial_weights(shape, 1)
    write_arrays(file, flat, shape, 300)
    read, found, scale = read_arrays(file)
    assert read.tobytes() == flat.tobytes()
    assert (found, scale) == (shape, 300)
    with np.load(file) as arrays:  # as the documents describe it
        assert arrays["feature_weights"].shape == (768 * shape.king_buckets, shape.width)
        assert arrays["output_weights"].shape == (shape.buckets, 2, shape.width)
        assert json.loads(str(arrays["about"])) == {"mirrored": shape.mirrored, "scale": 300}


@pytest.mark.parametrize("shape", SHAPES)
def test_training_begins_with_arrays_or_a_network(tmp_path: Path, shape: Shape) -> None:
    arrays, file, flat = tmp_path / "weights.npz", tmp_path / "one.nnue", initial_weights(shape, 1)
    write_arrays(arrays, flat, shape, 300)
    file.write_bytes(network_bytes(quantise(flat, shape, 300, "")))
    assert read_weights(arrays)[0].tobytes() == flat.tobytes()
    read, found, scale = read_weights(file)
    assert np.allclose(read, flat, atol=0.5 / 64)
    assert (found, scale) == (shape, 300)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OptionError, match=r"one.nnue: the network is truncated$"):
        read_weights(file)
    with pytest.raises(OptionError, match="cannot read"):
        read_weights(tmp_path / "missing.nnue")


@pytest.mark.parametrize("shape", SHAPES)
def test_bullet_s_file_comes_back(tmp_path: Path, shape: Shape) -> None:
    file, network = tmp_path / "quantised.bin", quantise(initial_weights(shape, 1), shape, 400, "mine")
    write_bullet(file, network)
    assert file.stat().st_size % 64 == 0
    read = read_bullet(file, shape.buckets, shape.mirrored, shape.king_buckets, 400, "theirs")
    assert parts_of(read) == parts_of(network)
    assert (read.mirrored, read.scale, read.description) == (shape.mirrored, 400, "theirs")
    file.write_bytes(file.read_bytes()[: 2 * shape.size])  # without padding
    assert parts_of(read_bullet(file, shape.buckets, shape.mirrored, shape.king_buckets, 400, "")) == parts_of(network)


def test_bullet_s_layout(tmp_path: Path) -> None:
    """Each column of bullet's matrices is written after the other: all weights of an input, of a bucket."""
    file, width, buckets = tmp_path / "quantised.bin", 16, 2
    numbers = list(range(-100, 101)) * 100
    numbers = numbers[: 769 * width + buckets * (2 * width + 1)]
    data = struct.pack(f"<{len(numbers)}h", *numbers)
    file.write_bytes(data + b"bullet" * 4 + b"bullet"[: -(len(data) + 24) % 64])
    network = read_bullet(file, buckets, True, 1, 400, "")
    assert network.feature_weights[7].tolist() == numbers[7 * width : 8 * width]
    assert network.feature_biases.tolist() == numbers[768 * width : 769 * width]
    assert network.output_weights.ravel().tolist() == numbers[769 * width : -buckets]
    assert network.output_biases.tolist() == numbers[-buckets:]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"no archive", bytes(1000)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(OptionError, match=r"does not hold the weights of a network$"):
        read_arrays(file)
    with pytest.raises(OptionError, match=r"is not a network \(768 -> N\)x2 -> 1 with 1 output buckets$"):
        read_bullet(file, 1, True, 1, 400, "")


def test_a_compressed_file_that_is_damaged_is_refused(tmp_path: Path) -> None:
    file, shape = tmp_path / "weights.npz", SHAPES[0]
    write_arrays(file, initial_weights(shape, 1), shape, 200)
    with np.load(file) as arrays:
        np.savez_compressed(file, **arrays)
    assert read_arrays(file)[1] == shape
    data = bytearray(file.read_bytes())
    data[2000:2100] = bytes(100)
    file.write_bytes(data)
    with pytest.raises(OptionError, match=r"does not hold the weights of a network$"):
        read_arrays(file)


def test_other_arrays_are_refused(tmp_path: Path) -> None:
    file, shape = tmp_path / "weights.npz", SHAPES[0]
    with pytest.raises(OptionError, match="cannot read"):
        read_arrays(file)
    arrays = dict(zip(("feature_weights", "feature_biases", "output_weights"), np.ones((3, 2)), strict=True))
    np.savez(file, **arrays)
    with pytest.raises(OptionError, match="does not hold the weights"):
        read_arrays(file)
    np.savez(file, **arrays, output_biases=np.zeros(1), about=np.array('{"mirrored": true, "scale": 1}'))
    with pytest.raises(OptionError, match="does not hold the weights"):
        read_arrays(file)
    other = Shape(16, 1, True, 3)
    write_arrays(file, initial_weights(other, 1), other, 200)
    with pytest.raises(OptionError, match="does not hold the weights"):  # of an unknown number of king buckets
        read_arrays(file)
    flat = initial_weights(shape, 1)
    flat[5] = np.nan
    write_arrays(file, flat, shape, 200)
    with pytest.raises(OptionError, match="some weights are not numbers"):
        read_arrays(file)


def test_weights_that_could_overflow_are_refused(tmp_path: Path) -> None:
    file, shape = tmp_path / "quantised.bin", SHAPES[0]
    numbers = np.zeros(shape.size, np.int16)
    numbers[769 * shape.width] = 200
    file.write_bytes(numbers.tobytes())
    with pytest.raises(OptionError, match=r"quantised.bin: the output weights are so large"):
        read_bullet(file, 1, True, 1, 400, "")
