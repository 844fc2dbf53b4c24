"""Types of command-line arguments: what they take and what they refuse."""

import argparse
import os

import pytest

from knightadder import arguments
from knightadder.engine.errors import OptionError


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        (arguments.positive, {"1": 1, "60": 60}, ["0", "-1", "1.5", "three", ""]),
        (arguments.not_negative, {"0": 0, "7": 7}, ["-1", "0.5", ""]),
        (arguments.positive_number, {"0.5": 0.5, "3": 3.0}, ["0", "-1", "nan", "inf", "x"]),
        (arguments.seconds, {"0.01": 0.01}, ["0", "-1", "nan", "inf", "x"]),
        (arguments.whole(0, 65_535), {"0": 0, "65535": 65535, "65_535": 65535}, ["65536", "-1"]),
        (arguments.number(1, 10), {"1": 1.0, "2.5": 2.5}, ["0.9", "10.1", "nan"]),
        (arguments.share, {"0": 0.0, "1": 1.0, "0.2": 0.2}, ["-0.1", "1.1", "nan", "x"]),
    ],
)
def test_arguments(kind, taken, refused):
    assert {text: kind(text) for text in taken} == taken
    for text in refused:
        with pytest.raises(argparse.ArgumentTypeError, match=r"^expected "):
            kind(text)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (arguments.positive, "9" * 20, "a smaller number"),
        (arguments.positive, f"-{'9' * 20}", "a whole number of at least 1"),
        (arguments.positive_number, "1e999", "a smaller number"),
        (arguments.not_negative, "9223372036854775808", "a smaller number"),
        (arguments.number(0), "1e999", "a smaller number"),
        (arguments.number(0), "inf", "a number of at least 0"),
        (arguments.whole(0, 65_535), "9" * 20, "a whole number from 0 to 65535"),
    ],
)
def test_numbers_too_large_are_refused_as_such(kind, text, expected):
    with pytest.raises(argparse.ArgumentTypeError, match=f"^expected {expected}, not '{text}'$"):
        kind(text)


def options_of(*words):
    parser = argparse.ArgumentParser()
    for name in ("--threads", "--hash", "--syzygy", "--eval", "--eval-file", "--option"):
        arguments.declare(parser, name)
    return arguments.engine_options(parser.parse_args(words))


def test_arguments_stand_for_uci_options(tmp_path):
    assert options_of() == {}
    given = options_of("--hash", "64", "--eval-file", "a.nnue", "--option", " Skill Level = 3 ", "--option", "Hash=32")
    assert given == {"Hash": "32", "EvalFile": "a.nnue", "Skill Level": "3"}
    assert options_of("--threads", "2", "--syzygy", str(tmp_path), "--eval", "pesto", "--option", "BookFile=a=b") == {
        "Threads": "2",
        "SyzygyPath": str(tmp_path),
        "EvalType": "pesto",
        "BookFile": "a=b",
    }
    with pytest.raises(OptionError, match=r"^--option Hash: expected NAME=VALUE$"):
        options_of("--option", "Hash")
    with pytest.raises(OptionError, match=r"^there is no folder .*no$"):
        options_of("--syzygy", f"{tmp_path}{os.pathsep}{tmp_path / 'no'}")
