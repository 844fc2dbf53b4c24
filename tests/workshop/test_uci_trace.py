"""The trace of an engine: what it writes, and what happens on a full disk."""

from __future__ import annotations

import datetime
import errno
import os
from pathlib import Path

import pytest

from knightadder.workshop import uci_trace
from knightadder.workshop.uci_trace import Trace

NOON = datetime.datetime(2026, 3, 4, 12, 0, 0, 1500)


def test_each_line_has_its_time_direction_and_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci_trace, "_now", lambda: NOON)
    with Trace(tmp_path / "new", "Our engine/2", 17) as trace:
        assert trace.file == tmp_path / "new" / "Our_engine_2-17.log"
        trace.sent("go depth 1")
        trace.received(b"info string caf\xc3\xa9 \xff\r\n")
        trace.remark("it hangs")
        # Nothing waits to be written.
        assert trace.file.read_text(encoding="utf-8").splitlines() == [
            "2026-03-04 12:00:00.001500 >Our engine/2: go depth 1",
            "2026-03-04 12:00:00.001500 <Our engine/2: info string caf\u00e9 \ufffd",
            "2026-03-04 12:00:00.001500 #Our engine/2: it hangs",
        ]


def test_a_trace_that_cannot_go_on_says_why_once(tmp_path: Path) -> None:
    class FullDisk:
        calls = 0

        def write(self, data: bytes) -> int:
            self.calls += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self) -> None:
            pass

    with Trace(tmp_path, "A", 1) as trace:
        trace._stream.close()
        trace._stream = disk = FullDisk()  # type: ignore[assignment]
        for _ in range(3):
            trace.sent("uci")
        assert disk.calls == 1
        assert trace.error == f"{trace.file} ends here: {os.strerror(errno.ENOSPC)}"
