"""Memory of the web board's server: again and again, a few tabs are opened, analyse for a moment, and are closed.

Prints the resident memory before, the peak, and the memory after, in MiB. Exit status 1 if more than 100 MiB stay in
use. Linux only, because it reads /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from websockets import Origin
from websockets.sync.client import ClientConnection, connect

PATIENCE = 300  # seconds to wait for a message
AT_ONCE = 10  # number of tabs open at a time; the server allows twelve
KEPT = 100  # maximum MiB that may stay in use


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabs", type=int, default=100)
    parser.add_argument("--hash", type=int, default=64, help="hash table of each tab in MiB")
    arguments = parser.parse_args()
    command = [
        sys.executable,
        "-m",
        "knightadder",
        "play",
        "--no-browser",
        "--port",
        "0",
        "--hash",
        str(arguments.hash),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        use_tabs(found[0], 1)  # loads the core
        before = highest = resident(server.pid)
        for _ in range(arguments.tabs // AT_ONCE):
            highest = max(highest, use_tabs(found[0], AT_ONCE, server.pid))
        use_tabs(found[0], 1)  # when this tab is served, the other tabs are closed
        after = resident(server.pid)
        server.send_signal(signal.SIGINT)
    print(f"before {before:.0f} MiB, highest {highest:.0f} MiB, after {arguments.tabs} tabs {after:.0f} MiB")
    return int(after - before > KEPT)


def use_tabs(address: str, count: int, pid: int | None = None) -> float:
    """Open tabs, let each analyse until it sends a line, and close them; return the peak memory."""
    place = urlsplit(address)
    with contextlib.ExitStack() as stack:
        tabs: list[ClientConnection] = []
        while len(tabs) < count:
            tab = stack.enter_context(
                connect(
                    f"ws://{place.netloc}/socket?{place.query}",
                    origin=Origin(f"http://{place.netloc}"),
                    max_size=None,
                    open_timeout=PATIENCE,
                )
            )
            until(tab, "engine", "ready")
            tabs.append(tab)
        for tab in tabs:
            tab.send(json.dumps({"type": "analyse", "on": True}))
        for tab in tabs:
            until(tab, "lines")
        return resident(pid) if pid is not None else 0.0


def until(tab: ClientConnection, kind: str, state: str | None = None) -> None:
    """Read until a message of this type and state arrives."""
    while True:
        message = json.loads(tab.recv(PATIENCE))
        if message["type"] == kind and message.get("state") == state:
            return


def resident(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
