"""The speed of a worker. Time limits are scaled by it, so that they allow the same work on every machine.
Fishtest does the same: https://github.com/official-stockfish/fishtest.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

# Time limits are meant for this speed, in nodes per second of `knightadder bench`. It is roughly the speed of one idle
# core of the machine that docs/strength-log.md describes.
REFERENCE = 2_000_000

_FAIR_SHARE = 0.9  # minimum share of a core; a worker that gets less shares its core with other work


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of this worker: nodes per second of ``knightadder bench``, and its share of one processor core."""

    nodes_per_second: float
    share: float

    @classmethod
    def measured(cls) -> Speed:
        """Run ``knightadder bench`` and return its speed; EngineError if that fails."""
        from knightadder.engine.bench import run_bench
        from knightadder.engine.loader import load_engine
        from knightadder.engine.options import Options

        engine = load_engine(Options(), lambda step: None)
        try:
            used = time.process_time()
            nodes, seconds = run_bench(engine, on_line=lambda line: None)
            return cls(nodes / seconds, (time.process_time() - used) / seconds)
        finally:
            engine.close()

    def factor(self, reference: int) -> float:
        """Return the factor for time limits that are meant for the speed `reference`."""
        return float(f"{reference / self.nodes_per_second:.3g}")

    def notes(self, reference: int) -> list[str]:
        """Return lines about this worker for the user."""
        worker = f"{platform.node()}, process {os.getpid()}"
        speed = f"{self.nodes_per_second / 1000:.0f} knps"
        lines = [f"{worker}: {speed}, so time limits are multiplied by {self.factor(reference):g}"]
        if self.share < _FAIR_SHARE:
            lines.append(
                f"{worker}: more processes are busy than there are processor cores, "
                f"so it got only {self.share:.0%} of a core; its clocks are not fair"
            )
        return lines
