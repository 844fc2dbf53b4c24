"""Types of command-line arguments: what they take and what they refuse."""

import pytest

from knightadder import arguments


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        (arguments.positive, {"1": 1, "60": 60}, ["0", "-1", "1.5", "three", ""]),
        (arguments.not_negative, {"0": 0, "7": 7}, ["-1", "0.5", ""]),
        (arguments.positive_number, {"0.5": 0.5, "3": 3.0}, ["0", "-1", "nan", "inf", "x"]),
        (arguments.seconds, {"0.01": 0.01}, ["0", "-1", "nan", "inf", "x"]),
        (arguments.share, {"0": 0.0, "1": 1.0, "0.2": 0.2}, ["-0.1", "1.1", "nan", "x"]),
    ],
)
def test_arguments(kind, taken, refused):
    assert {text: kind(text) for text in taken} == taken
    for text in refused:
        with pytest.raises(ValueError):
            kind(text)
