"""Types of command-line arguments, for argparse: each raises ValueError for invalid text."""

from knightadder.foreign import parse_whole


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    value = parse_whole(text)
    if value < 1:
        raise ValueError(text)
    return value


def not_negative(text: str) -> int:
    """Return a whole number of at least 0."""
    value = parse_whole(text)
    if value < 0:
        raise ValueError(text)
    return value


def positive_number(text: str) -> float:
    """Return a positive, finite number."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds."""
    return positive_number(text)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value
