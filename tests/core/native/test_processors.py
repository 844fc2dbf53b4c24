"""The number of processors."""

import os

import pytest

from knightadder.core.native.processors import processors


def test_processors_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert processors() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
