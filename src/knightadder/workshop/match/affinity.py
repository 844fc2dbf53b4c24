"""CPU affinity: gives the engines of each simultaneous game their own processors.

Both engines of a game share these processors, because only one thinks at a time. A child process inherits the
processors of the thread that starts it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.engine.errors import EngineError, OptionError

if TYPE_CHECKING:
    from filelock import BaseFileLock

# The folder in which Linux lists the hardware threads of each core.
_TOPOLOGY = Path("/sys/devices/system/cpu")

_CAN_PIN = hasattr(os, "sched_setaffinity")


def share_processors(games: int, threads: int) -> list[tuple[int, ...]]:
    """Return the processors for each simultaneous game, whose engines have `threads` threads each.
    If there are enough cores, only one hardware thread of each core is used.
    """
    if not _CAN_PIN:
        raise OptionError("--affinity: this system cannot pin a process to processors")
    usable = sorted(os.sched_getaffinity(0), key=lambda processor: (_hardware_thread(processor), processor))
    wanted = games * threads
    if wanted > len(usable):
        raise OptionError(
            f"--affinity: the games need {wanted} processors (games times threads), but there are {len(usable)}"
        )
    return [tuple(usable[first : first + threads]) for first in range(0, wanted, threads)]


def _hardware_thread(processor: int) -> int:
    """Return the number of a hardware thread within its core, from 0; 0 if the system does not report it."""
    siblings: list[int] = []
    try:
        text = (_TOPOLOGY / f"cpu{processor}" / "topology" / "thread_siblings_list").read_text(encoding="ascii")
        for part in text.strip().split(","):
            first, _, last = part.partition("-")
            siblings += range(int(first), int(last or first) + 1)
        return siblings.index(processor)
    except (OSError, ValueError):
        return 0


@dataclass(frozen=True, slots=True)
class Affinity:
    """Groups of processors, one for each worker.
    The folder contains a lock for each group that is taken. When a worker ends, the system releases its lock.
    """

    groups: Sequence[tuple[int, ...]]
    folder: Path

    def claim(self) -> tuple[tuple[int, ...], BaseFileLock]:
        """Return processors for this worker, and the lock to release when the worker no longer needs them."""
        import filelock

        for number, group in enumerate(self.groups):
            # Another thread than this one may release the lock.
            lock = filelock.FileLock(self.folder / f"{number}.lock", thread_local=False)
            with contextlib.suppress(filelock.Timeout):
                lock.acquire(timeout=0)
                return group, lock
        raise EngineError("--affinity: there are more workers than processors")


@contextlib.contextmanager
def sharing(groups: Sequence[tuple[int, ...]]) -> Iterator[Affinity | None]:
    """Yield the `Affinity` of the workers of this machine; None if there are no groups."""
    if not groups:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="knightadder-", ignore_cleanup_errors=True) as folder:
        yield Affinity(groups, Path(folder))
