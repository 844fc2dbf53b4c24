"""CPU affinity: which processors a game gets, and that no two workers get the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from knightadder.engine.errors import EngineError, OptionError
from knightadder.uci.client import UciClient
from knightadder.workshop.match import affinity
from knightadder.workshop.match.affinity import share_processors, sharing

pinning = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin processes")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have four cores of two hardware threads, 0 and 4 to 3 and 7, and one that tells nothing."""
    for number in range(8):
        topology = tmp_path / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        core = number % 4
        (topology / "thread_siblings_list").write_text(f"{core},{core + 4}\n")
    monkeypatch.setattr(affinity, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(affinity, "_CAN_PIN", True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(9)), raising=False)


@pytest.mark.usefixtures("machine")
def test_games_get_whole_cores_first() -> None:
    assert share_processors(3, 1) == [(0,), (1,), (2,)]
    assert share_processors(2, 2) == [(0, 1), (2, 3)]
    assert share_processors(9, 1) == [(0,), (1,), (2,), (3,), (8,), (4,), (5,), (6,), (7,)]
    with pytest.raises(
        OptionError, match=r"^--affinity: the games need 10 processors \(games times threads\), but there are 9$"
    ):
        share_processors(5, 2)


def test_a_system_that_cannot_pin_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affinity, "_CAN_PIN", False)
    with pytest.raises(OptionError, match="--affinity: this system cannot pin a process to processors"):
        share_processors(1, 1)


def test_workers_share_the_groups() -> None:
    with sharing([(0, 1), (2, 3)]) as shared:
        assert shared is not None
        (first, lock), (second, _other) = shared.claim(), shared.claim()
        assert [first, second] == [(0, 1), (2, 3)]
        with pytest.raises(EngineError, match="more workers than processors"):
            shared.claim()
        lock.release()
        again, _lock = shared.claim()
        assert again == (0, 1)
        folder = shared.folder
    assert not folder.exists()
    with sharing([]) as nothing:
        assert nothing is None


@pinning
def test_an_engine_is_pinned_and_this_thread_is_not() -> None:
    before = os.sched_getaffinity(0)
    processor = max(before)
    with UciClient([sys.executable, "-c", "input()"], processors=[processor]) as client:
        assert os.sched_getaffinity(client.process.pid) == {processor}
        assert os.sched_getaffinity(0) == before
