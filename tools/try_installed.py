"""Try the installed engine as its users would: it needs no Numba, searches as many nodes as it should, speaks UCI.

    python tools/try_installed.py NODES

NODES is the number that ``knightadder bench`` prints elsewhere. Exit status 1, with a line that says why, if something
is wrong.
"""

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence

TIMEOUT = 300  # seconds, which only a defect takes
UCI = "uci\nisready\nposition startpos moves e2e4\ngo depth 8\n"


def run(arguments: Sequence[str], text: str = "") -> str:
    """Run the command ``knightadder`` from an empty folder, and give what it prints."""
    command = [sys.executable, "-P", "-m", "knightadder", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, input=text, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True
        )
    return done.stdout


def main() -> None:
    """Try everything."""
    [nodes] = sys.argv[1:]
    if importlib.util.find_spec("numba"):
        sys.exit("Numba is installed, so this proves little")
    print(run(["--version"]).strip())
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "knightadder"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        engine.stdin.write(UCI)
        engine.stdin.flush()
        seen = []
        for line in engine.stdout:
            seen.append(line.split(maxsplit=1)[0] if line.strip() else "")
            if seen[-1] == "bestmove":
                break
        engine.stdin.write("quit\n")
    for answer in ("uciok", "readyok", "info", "bestmove"):
        if answer not in seen:
            sys.exit(f"no {answer}")
    [*_, last] = run(["bench"]).splitlines()
    print(last)
    if last.split()[0] != nodes:
        sys.exit(f"expected {nodes} nodes")


if __name__ == "__main__":
    main()
