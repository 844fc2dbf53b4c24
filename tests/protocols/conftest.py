"""What the tests of the protocols share."""

import pytest

from knightadder.core.compilation import core


@pytest.fixture(scope="session", autouse=True)
def compiled_core() -> None:
    """Compile the core where that is necessary, so that no process of a test waits for the compiler."""
    core.load()
