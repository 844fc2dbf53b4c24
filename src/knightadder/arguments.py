"""Types of command-line arguments, for argparse: each raises ValueError at what it does not take."""


def positive(text: str) -> int:
    """Read a whole number from 1 on."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def seconds(text: str) -> float:
    """Read a positive, finite number of seconds."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value
