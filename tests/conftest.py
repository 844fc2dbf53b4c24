"""What all tests share: how they run, and one engine. It stands here so that they can import the helpers beside it."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from knightadder import progress

# A test run in the background of a shell may have been told to ignore Ctrl-C, and every process that it starts would do
# so too; some tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

    from knightadder.engine.engine import Engine

# Folders of tests that compile functions of the core by themselves.
COMPILING = tuple(f"tests/core/{folder}/" for folder in ("board", "evaluation", "search", "syzygy"))

# No example fails because the machine is busy. The same examples in each run, unless --hypothesis-profile=random.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", patient, derandomize=True)
settings.register_profile("random", patient, print_blob=True)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Make errors of the warnings that our own modules cause, and of no others.

    A new version of somebody else's package may warn as it likes. Numba names a file in place of a module.
    """
    tests = Path(__file__).parent
    names = {file.stem for file in tests.rglob("*.py")}
    root = re.escape(str(tests.parent)).replace(":", ".")  # a colon ends a field of a filter
    ours = rf"knightadder(\.|$)|({'|'.join(sorted(names))})$|{root}[/\\](src[/\\]knightadder|tests)[/\\]"
    config.getini("filterwarnings").insert(0, f"error:::{ours}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one process more than there are processors, since some tests mostly wait."""
    affinity = getattr(os, "sched_getaffinity", None)
    return 1 + (len(affinity(0)) if affinity else os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Give the tests that compile functions of the core to one process, which then compiles each of them once."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "the core" if nodeid.startswith(COMPILING) else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no command says in between how far it is, unless a test wants that."""
    monkeypatch.setattr(progress, "_LINE_SECONDS", math.inf)


@pytest.fixture(scope="session")
def only_engine() -> Iterator[Engine]:
    """Start the engine of the whole run; tests use `shared_engine`."""
    from knightadder.engine.loader import load_engine  # here, so that tests without it do not load the core
    from knightadder.engine.options import Options

    engine = load_engine(Options(), lambda step: None)  # compiles first: no test's patience is for that
    yield engine
    engine.close()


@pytest.fixture
def shared_engine(only_engine: Engine) -> Iterator[Engine]:
    """Give the engine of the whole run with its default options, which it has again after the test."""
    from knightadder.engine.options import OPTIONS

    yield only_engine
    for option in OPTIONS:
        if option.default is not None and only_engine.options[option.name] != option.default:
            only_engine.set_option(option.name, str(option.default).lower())
