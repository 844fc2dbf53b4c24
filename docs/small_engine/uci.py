"""The small engine under UCI: `python -m small_engine` in the folder `docs` starts it."""

import sys
import threading
import time
from itertools import pairwise

from .board import START, WHITE, children, from_fen, name
from .search import DEEPEST, MATE, Search


class Engine:
    """What a conversation remembers: the position, the game that led there, and the search."""

    def __init__(self):
        self.set_position(["startpos"])
        self.thread, self.stopped = None, threading.Event()

    def set_position(self, words):
        """Carry out `position startpos | fen FEN [moves ...]`."""
        setup, _, moves = " ".join(words).partition("moves")
        self.position = from_fen(START if setup.startswith("startpos") else setup.removeprefix("fen "))
        self.path = []
        for word in moves.split():
            self.path.append(self.position.key())
            self.position = {name(move): child for move, child in children(self.position)}[word]

    def go(self, words):
        """Carry out `go`, in a thread of its own, so that `stop` can be read meanwhile."""
        limits = {word: int(value) for word, value in pairwise(words) if value.isdigit()}
        ours = "w" if self.position.turn == WHITE else "b"
        seconds = limits.get("movetime", 1e12) / 1000
        if ours + "time" in limits:
            seconds = limits[ours + "time"] / 30_000 + limits.get(ours + "inc", 0) / 2000
        self.stopped.clear()
        self.thread = threading.Thread(
            target=self.think, args=(limits, time.perf_counter() + seconds, "infinite" in words)
        )
        self.thread.start()

    def think(self, limits, end, infinite):
        """Search, and write what is found."""

        def is_over():
            nodes = limits.get("nodes", 1 << 60)
            return self.stopped.is_set() or time.perf_counter() > end or search.nodes >= nodes

        search = Search(path=self.path, stop=is_over)
        best = next((name(move) for move, _ in children(self.position)), "0000")
        for depth, value, variation, seconds in search.deepen(self.position, limits.get("depth", DEEPEST)):
            if not variation:
                break
            best = name(variation[0])
            score = f"cp {value}" if abs(value) < MATE - DEEPEST else f"mate {mate_in(value)}"
            progress = f"nodes {search.nodes} time {seconds * 1000:.0f}"
            print("info depth", depth, "score", score, progress, "pv", *map(name, variation), flush=True)
        if infinite:
            self.stopped.wait()  # UCI allows no move before `stop`
        print("bestmove", best, flush=True)

    def finish(self):
        """End a search, and wait for its move."""
        if self.thread:
            self.stopped.set()
            self.thread.join()


def mate_in(value):
    """Turn the value of a mate into moves."""
    return (MATE - value + 1) // 2 if value > 0 else -(MATE + value) // 2


def main():
    """Read commands until `quit`."""
    engine = Engine()
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                print("id name Small engine", "id author the Knightadder authors", "uciok", sep="\n", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position", *words]:
                engine.finish()
                engine.set_position(words)
            case ["go", *words]:
                engine.finish()
                engine.go(words)
            case ["stop"]:
                engine.finish()
            case ["quit"]:
                break
    engine.finish()
