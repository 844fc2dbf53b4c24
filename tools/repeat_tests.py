"""Run the tests several times on a busy machine, and list every test that failed in a run.

    python tools/repeat_tests.py --times 10 --busy 4 -- tests/engine

runs ``tests/engine`` ten times beside four processes that keep the processors busy. Arguments after ``--`` go to
pytest. The output of each run is kept in a folder, as ``run-1.log`` and so on. The exit status is 1 if a run failed.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]

# The options of `make test`.
PYTEST = (sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")

# The script ends when this process ends for any reason, because that closes the script's standard input.
BUSY = """
import os, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1))), daemon=True).start()
while True:
    pass
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests."""

    status: int  # pytest's exit status
    seconds: float
    failed: list[str]  # the tests that failed, or whose fixtures failed


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Run some processes that keep processors busy during a ``with`` block."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def run_tests(arguments: Sequence[str], log: Path) -> Run:
    """Run the tests once with these arguments for pytest, write its output to `log`, and return the outcome."""
    report = log.with_suffix(".xml")
    report.unlink(missing_ok=True)  # from an earlier run
    began = time.monotonic()
    with log.open("wb") as output:
        command = [*PYTEST, f"--junit-xml={report}", "--override-ini=junit_family=xunit1", *arguments]
        status = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT).returncode
    return Run(status, time.monotonic() - began, failed_tests(report))


def failed_tests(report: Path) -> list[str]:
    """Return the failed tests in a report in JUnit's format; none if pytest wrote no report."""
    if not report.exists():
        return []
    cases = ElementTree.parse(report).iter("testcase")
    failed = {case for case in cases for kind in ("failure", "error") if case.find(kind) is not None}
    return sorted({f"{case.get('file') or case.get('classname')}::{case.get('name')}" for case in failed})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests several times and list the failures; return exit status 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="number of runs (default: %(default)s)")
    parser.add_argument(
        "--busy", type=int, default=2, help="number of busy processes beside the tests (default: %(default)s)"
    )
    parser.add_argument("--logs", type=Path, help="folder for the output of the runs (default: a new temporary folder)")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args(arguments)
    logs = (options.logs or Path(tempfile.mkdtemp(prefix="repeat-tests-"))).resolve()
    logs.mkdir(parents=True, exist_ok=True)
    print(f"Logs: {logs}", flush=True)
    runs: list[Run] = []
    with busy_processes(options.busy), contextlib.suppress(KeyboardInterrupt):
        for number in range(1, options.times + 1):
            run = run_tests(options.pytest, logs / f"run-{number}.log")
            runs.append(run)
            result = f"{len(run.failed)} failed" if run.status else "passed"
            print(f"run {number}: {result}, status {run.status}, {run.seconds:.0f} s", flush=True)
    failures = Counter(test for run in runs for test in run.failed)
    for test, count in failures.most_common():
        print(f"{count} of {len(runs)}  {test}")
    passed = sum(run.status == 0 for run in runs)
    print(f"{passed} of {len(runs)} runs passed")
    return 0 if passed == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
