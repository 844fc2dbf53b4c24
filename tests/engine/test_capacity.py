"""The processors and the memory of containers and services."""

from pathlib import Path

import pytest

from knightadder.engine import capacity
from knightadder.engine.errors import OptionError
from knightadder.engine.hashtable import HashTable
from knightadder.native import processors as native

# The groups of a process, and the folder whose limits count: in a container of either version, in a service of
# systemd, in a group of version 1 as Docker makes it, seen from the machine and from the inside, and without any.
GROUPS = [
    ("0::/\n", ""),
    ("0::/system.slice/bot.service\n", "system.slice/bot.service"),
    ("0::/system.slice/bot.service\n", "system.slice"),
    ("5:memory:/docker/1f2e\n4:cpu,cpuacct:/docker/1f2e\n1:name=systemd:/x\n0::/\n", "CONTROLLER/docker/1f2e"),
    ("5:memory:/docker/1f2e\n4:cpu,cpuacct:/docker/1f2e\n", "CONTROLLER"),
    (None, ""),
]


@pytest.fixture(params=GROUPS)
def limit(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own, group = request.param
    monkeypatch.setattr(capacity, "_CONTROL_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(capacity, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(native, "processors", lambda: 8)
    if own is not None:
        (tmp_path / "own").write_text(own)

    def write(controller: str, name: str, text: str) -> None:
        folder = tmp_path / "cgroup" / group.replace("CONTROLLER", controller)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return write


@pytest.mark.parametrize(("text", "most"), [("8388608\n", 8), ("max\n", 64), ("", 64)])
@pytest.mark.parametrize("name", ["memory.max", "memory.limit_in_bytes"])
def test_the_hash_table_fits_in_the_memory_of_the_group(limit, name: str, text: str, most: int) -> None:
    limit("memory", name, text)
    assert HashTable(most).megabytes == most
    if most < 64:
        with pytest.raises(OptionError, match=r"^not enough memory for a hash table of 9 MB$"):
            HashTable(9)


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "1000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, 8),
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.cfs_quota_us": "300000\n", "cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, 8),
        ({"cpu.cfs_quota_us": "300000\n"}, 8),
        ({"cpu.max": "nonsense"}, 8),
        ({}, 8),
    ],
)
def test_the_quota_of_the_group_limits_the_processors(limit, files: dict[str, str], count: int) -> None:
    for name, text in files.items():
        limit("cpu", name, text)
    assert capacity.processors() == count
