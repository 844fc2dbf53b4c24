"""The trace of an engine: what it writes, and what happens on a full disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from knightadder.uci.trace import Trace


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


def test_a_name_that_is_not_utf8_is_written_with_escapes(tmp_path: Path) -> None:
    with Trace(tmp_path, "A", 1) as trace:
        trace.sent("setoption name SyzygyPath value caf\udce9")
    assert trace.file.read_text("utf-8").endswith(" >A: setoption name SyzygyPath value caf\\udce9\n")
    assert not trace.error
