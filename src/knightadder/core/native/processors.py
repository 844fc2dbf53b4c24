"""The number of processors among which work can be shared."""

import os


def processors() -> int:
    """Give the number of processors that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
