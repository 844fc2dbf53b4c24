"""Conversations with the engine, held while the documents are built.

The directive ``session`` has the protocol as its argument and the lines of the chess program as its content. The page
shows each of them behind an arrow, and below it what the engine answered. With ``:times:``, each line begins with the
milliseconds since the engine was started. A line such as ``(0.3 seconds later)`` waits before it is shown.
"""

import queue
import re
import subprocess
import sys
import threading
import time
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from knightadder.engine.loader import compile_core

_TIMEOUT = 60.0  # seconds to wait for an answer
_PAUSE = re.compile(r"\(([\d.]+) seconds? later\)")
# After a command, the engine is asked whether it is ready, and this answer ends what it said to the command.
_SYNC = {"uci": ("isready", "readyok"), "xboard": ("ping 999", "pong 999")}
_LAST_WORDS = {"uci": "uciok", "isready": "readyok", "protover": "feature done=1"}


class _Engine:
    """A running engine, whose lines are read with their times."""

    def __init__(self, protocol):
        self._began = time.monotonic()
        command = [sys.executable, "-m", "knightadder", protocol]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lines = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put((self.elapsed(), line.rstrip("\n")))
        self._lines.put(None)

    def elapsed(self):
        """Give the milliseconds since the start."""
        return round(1000 * (time.monotonic() - self._began))

    def send(self, line):
        """Send a line."""
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def read_until(self, last):
        """Yield the lines with their times, up to the first one that begins with a word; all if the engine exits."""
        while (item := self._lines.get(timeout=_TIMEOUT)) is not None:
            yield item
            if last is not None and item[1].startswith(last):
                return

    def read_so_far(self):
        """Yield the lines that have been read already, with their times."""
        while not self._lines.empty():
            yield self._lines.get()

    def close(self):
        """End the engine."""
        self._process.stdin.close()
        self._process.wait(_TIMEOUT)


def hold(protocol, lines):
    """Yield the lines of a conversation: milliseconds, whether the chess program says it, and the text."""
    compile_core()  # or the page would show how that goes on
    engine = _Engine(protocol)
    question, answer = _SYNC[protocol]
    for line in lines:
        pause = _PAUSE.fullmatch(line)
        if pause:
            time.sleep(float(pause[1]))
            for at, text in engine.read_so_far():
                yield at, False, text
            yield engine.elapsed(), True, line
            continue
        yield engine.elapsed(), True, line
        engine.send(line)
        name = line.split()[0]
        last = _LAST_WORDS.get(name)
        if protocol == "uci" and (name == "stop" or (name == "go" and "infinite" not in line)):
            last = "Nodes searched" if "perft" in line else "bestmove"
        if name == "quit":
            engine.close()
        elif last is None:
            engine.send(question)
            last = answer
        for at, text in engine.read_until(None if name == "quit" else last):
            if text != answer or name == "isready":
                yield at, False, text


class SessionDirective(SphinxDirective):
    """Show a conversation."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"times": directives.flag}

    def run(self):
        """Hold the conversation, and give its text as a block."""
        shown = []
        for milliseconds, said, text in hold(self.arguments[0], self.content):
            time_of = f"{milliseconds:>6}  " if "times" in self.options else ""
            shown.append(f"{time_of}{'→' if said else ' '} {text}".rstrip())
        block = nodes.literal_block("\n".join(shown), "\n".join(shown), language="text")
        self.set_source_info(block)
        return [block]


def setup(app):
    """Register the extension with Sphinx."""
    app.add_directive("session", SessionDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
