"""A UCI program as a child process, with its CPU time and its peak memory, which are read from ``/proc`` (Linux)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from knightadder.uci.client import UciClient


class UciProcess(UciClient):
    """A running UCI program."""

    def __init__(self, command: str | Sequence[str]) -> None:
        self.started = time.perf_counter()
        super().__init__(command)

    def cpu_seconds(self) -> float:
        """Return the CPU time of all threads so far, user and system, in steps of a clock tick (10 ms)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_memory(self) -> float:
        """Return the peak resident memory so far, in megabytes (2**20 bytes)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmHWM in /proc")
