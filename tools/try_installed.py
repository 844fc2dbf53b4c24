"""Test the installed engine as users would: protocols, searches, threads, perft, bench, a match, the board.

    python tools/try_installed.py NODES [PROGRAM]

NODES is the number of nodes that ``knightadder bench`` must print. PROGRAM is the executable of
``build_executable.py``; without it, the wheel in this Python's environment is tested, where Numba must not be
installed. After a failure, a line says what is wrong or which answer is missing, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence

TIMEOUT = 300.0  # seconds for each answer and each command; only a defect takes this long

# The lines to send, and the beginning of the answer to wait for. A search of this position to 8 plies visits about ten
# thousand nodes.
_SEARCH = "ucinewgame\nposition startpos moves e2e4 e7e5 g1f3\ngo depth 8"
_CONVERSATION = [
    ("uci", "uciok"),
    ("isready", "readyok"),
    *((f"setoption name EvalType value {name}\n{_SEARCH}", "bestmove") for name in ("classical", "pesto", "nnue")),
    ("setoption name Threads value 2\nisready", "readyok"),
    ("go depth 10", "bestmove"),
    ("go infinite", "info depth"),
    ("stop", "bestmove"),
    ("quit", ""),
]
_XBOARD = [("protover 2", "feature done=1"), ("ping 1", "pong 1"), ("new\nsd 8\ne2e4", "move"), ("quit", "")]
_MATCH = "match --engine name=one --engine name=two --each nodes=800 --games 2 --concurrency 2"


class TrialError(Exception):
    """Raised if the engine fails a test; the text is one line."""


def converse(
    command: Sequence[str],
    steps: Sequence[tuple[str, str]],
    environment: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
) -> list[str]:
    """Talk to an engine over a pipe that stays open, as chess programs do, and return the engine's lines.

    Each of `steps` gives the lines to send, and the beginning of the line to wait for; if that is empty, the engine
    must exit. TrialError if an answer does not come within `timeout` seconds, or the engine exits before it.
    """
    said: list[str] = []
    with _start(command, environment) as engine:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(engine, lines), daemon=True)
        reader.start()
        try:
            for sent, awaited in steps:
                _send(engine, sent)
                said += _hear(lines, sent, awaited, timeout)
            try:
                status = engine.wait(timeout)
            except subprocess.TimeoutExpired:
                raise TrialError(f"still running {timeout:g} s after it closed its output") from None
            if status:
                raise TrialError(f"the engine ended with status {status}")
        finally:
            engine.kill()
            _close_input(engine)
            reader.join()
    return said


def _start(command: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=environment, errors="replace"
    )


def _read(engine: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    """Put the engine's lines into a queue, and an empty line at the end."""
    assert engine.stdout is not None
    for line in engine.stdout:
        lines.put(line)
    lines.put("")


def _send(engine: subprocess.Popen[str], text: str) -> None:
    assert engine.stdin is not None
    with contextlib.suppress(OSError):  # the engine has exited, as its output will show
        engine.stdin.write(f"{text}\n")
        engine.stdin.flush()


def _close_input(engine: subprocess.Popen[str]) -> None:
    assert engine.stdin is not None
    with contextlib.suppress(OSError):  # closing sends the remaining text, which fails if the engine has exited
        engine.stdin.close()


def _hear(lines: queue.SimpleQueue[str], sent: str, awaited: str, timeout: float) -> list[str]:
    """Return the lines up to the awaited line, or to the end of output; TrialError if the line does not come."""
    heard: list[str] = []
    deadline = time.monotonic() + timeout
    while True:
        try:
            line = lines.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            raise TrialError(f"no {awaited or 'end'} within {timeout:g} s after {sent!r}") from None
        if not line and awaited:
            last = f", after the line {heard[-1]}" if heard else ""
            raise TrialError(f"the engine ended before {awaited}{last}")
        if not line:
            return heard
        heard.append(line.rstrip())
        if awaited and line.startswith(awaited):
            return heard


def run(
    command: Sequence[str], arguments: str, environment: Mapping[str, str] | None = None, timeout: float = TIMEOUT
) -> str:
    """Run a subcommand to its end, and return its output; TrialError if it fails or does not end in time."""
    with _start([*command, *arguments.split()], environment) as process:
        try:
            printed, _ = process.communicate("", timeout)
        except subprocess.TimeoutExpired:
            raise TrialError(f"{arguments}: no end within {timeout:g} s") from None
        finally:
            process.kill()
    if process.returncode:
        [*_, last] = ["nothing", *filter(None, map(str.strip, printed.splitlines()))]
        raise TrialError(f"{arguments}: status {process.returncode}; it printed {last}")
    return printed


def try_engine(command: Sequence[str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run all tests, print each step, and return the results that must be the same on all systems, by test.
    TrialError if something is wrong.
    """
    results: dict[str, str] = {}

    def note(name: str, result: str) -> None:
        results[name] = result
        print(f"  {name}: {result}", flush=True)

    print(run(command, "--version", environment).strip(), flush=True)
    searches = []
    for line in converse(command, _CONVERSATION, environment):
        nodes = re.search(r"^info depth .* nodes (\d+)", line)
        if nodes:
            last = nodes[1]
        elif line.startswith("bestmove"):
            searches.append(f"{' '.join(line.split()[:2])}, {last} nodes")
    for name, search in zip(("classical", "pesto", "nnue"), searches, strict=False):
        note(f"depth 8 by {name}", search)
    print("  two threads, stop, quit: answered", flush=True)
    [move] = (line for line in converse([*command, "xboard"], _XBOARD, environment) if line.startswith("move "))
    note("xboard", move)
    note("perft 4", run(command, "perft 4", environment).split()[0])
    note("bench", run(command, "bench", environment).splitlines()[-1].split()[0])
    games = re.search(r"\b2, \d+-\d+-\d+ \(W-D-L\)", run(command, _MATCH, environment))
    if games is None:
        raise TrialError("match: it did not play two games")
    note("match", games[0])
    note("board", _title_of_board(command, environment))
    return results


def _title_of_board(command: Sequence[str], environment: Mapping[str, str] | None) -> str:
    """Start the board's server, and return the title of its page; TrialError if there is none."""
    with _start([*command, "play", "--no-browser", "--port", "0"], environment) as server:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(server, lines), daemon=True)
        reader.start()
        try:
            [*_, line] = _hear(lines, "play", "The board is at", TIMEOUT)
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(line.split()[4], timeout=TIMEOUT) as page:
                title = re.search("<title>(.*)</title>", page.read().decode())
        except OSError as error:
            raise TrialError(f"play: {error}") from None
        finally:
            server.kill()
            _close_input(server)
            reader.join()
    if title is None:
        raise TrialError("play: the page has no title")
    return title[1]


def main() -> None:
    """Test the engine that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", metavar="NODES")
    parser.add_argument("program", metavar="PROGRAM", nargs="?")
    given = parser.parse_args()
    if given.program:
        command = [os.path.abspath(given.program)]
    elif importlib.util.find_spec("numba"):
        sys.exit("Numba is installed, so this proves little")
    else:
        command = [sys.executable, "-P", "-m", "knightadder"]
    # The tests run in an empty folder, so that no file there is taken for the package.
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            results = try_engine(command)
        except TrialError as error:
            sys.exit(str(error))
        finally:
            os.chdir(before)  # Windows cannot remove the working directory of a process
    if results["bench"] != given.nodes:
        sys.exit(f"expected {given.nodes} nodes")


if __name__ == "__main__":
    main()
