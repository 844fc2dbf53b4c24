"""The processors and the memory that this process may use.

On Linux, a container or a service of systemd can have less than the machine: its control groups (cgroups, versions 1
and 2) limit both.
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from knightadder.native import processors as native

_MEGABYTE = 1 << 20
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def processors() -> int:
    """Return the number of processors whose time this process may use: what it is allowed, at most its groups' quota.
    A part of a processor counts as one.
    """
    shares = [float(native.processors())]
    for folder in _groups("cpu"):
        numbers = _numbers(folder / "cpu.max")
        numbers = numbers or _numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us")
        if len(numbers) == 2 and min(numbers) > 0:  # version 1 writes -1 if there is no quota
            shares.append(numbers[0] / numbers[1])
    return math.ceil(min(shares))


def megabytes() -> float:
    """Return the memory of the machine, or of this process's groups, in MiB; infinity if the system does not report it.
    The system kills a process that exceeds the limit of its group.
    """
    limits = [math.inf]
    with contextlib.suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder in _groups("memory"):
        limits += _numbers(folder / "memory.max") + _numbers(folder / "memory.limit_in_bytes")
    return min(limits) / _MEGABYTE


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's groups that may limit something, and of the groups that contain them. In a
    container, some of them do not exist.
    """
    yield from (_CONTROL_GROUPS, _CONTROL_GROUPS / controller)
    with contextlib.suppress(OSError, ValueError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or controller in controllers.split(","):  # version 2 has one line without controllers
                inner = PurePosixPath(path.lstrip("/"))
                tree = _CONTROL_GROUPS / controller if controllers else _CONTROL_GROUPS
                yield from (tree / group for group in (inner, *inner.parents))


def _numbers(file: Path) -> list[float]:
    """Return the numbers in a file, where ``max`` is infinity; none if it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return [math.inf if word == "max" else float(word) for word in file.read_text().split()]
    return []
