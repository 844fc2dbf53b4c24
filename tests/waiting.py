"""Waits for what no event tells of."""

import time
from collections.abc import Callable

# Seconds until a test gives up; only a defect lets it wait so long. The engine may have to compile the core first,
# beside others that do so, which is minutes of work for a busy machine.
TIMEOUT = 200.0


def eventually(met: Callable[[], object]) -> None:
    """Wait until a condition is met."""
    end = time.monotonic() + TIMEOUT
    while not met():
        assert time.monotonic() < end, "this never came to pass"
        time.sleep(0.005)
