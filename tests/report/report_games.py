"""Games of Anna, who loses her queen once and misses a mate once, and a pool that studies them in this process."""

import contextlib

from fake_analyst import FakeAnalyst, Here

from knightadder import worker_engine
from knightadder.report import command

GAMES = """[Event "one"]
[White "Anna <i>Muster</i>"]
[Black "Bert & Co"]
[Result "0-1"]
[WhiteElo "1500"]
[BlackElo "1600"]
[Date "2026.03.01"]
[TimeControl "60+0"]
[Termination "Time forfeit"]

1. e4 {[%clk 0:01:00]} e5 2. Qf3 {[%clk 0:00:40]} Nc6 3. Qf6 {[%clk 0:00:20]} Nxf6 4. d4 {[%clk 0:00:05]} exd4
5. a3 {[%clk 0:00:02]} 0-1

[Event "two"]
[White "Anna <i>Muster</i>"]
[Black "Carl"]
[Result "1/2-1/2"]
[BlackElo "1400"]
[Link "https://example.org/game?a=1&b=2"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qf3 d6 1/2-1/2

[Event "three"]
[White "Dora"]
[Black "anna  <I>muster</I>"]
[Result "0-1"]
[WhiteElo "1700"]

1. f3 e5 2. g4 Qh4# 0-1

[Event "not of Anna"]
[White "Dora"]
[Black "Carl"]
[Result "1-0"]

1. e4 e5 1-0

[Event "broken"]
[White "Dora"]
[Black "Anna <i>Muster</i>"]

1. e4 e4 *
"""
NAME = "Anna <i>Muster</i>"


class Player(FakeAnalyst):
    """An engine that sees one move ahead, and takes any option."""

    def configure(self, options):
        return []


class Pool(Here):
    """Studies games in this process, and after some games raises an error."""

    ends = None

    def run(self, items):
        for number, found in enumerate(super().run(items)):
            if number == self.ends:
                raise KeyboardInterrupt
            yield found


def use_pool(monkeypatch):
    """Let the command use the pool, and analysts that need no engine."""

    @contextlib.contextmanager
    def open_pool(task, cluster, processes, core=False):
        yield Pool(task)

    monkeypatch.setattr(command, "open_pool", open_pool)
    monkeypatch.setattr(worker_engine, "open_engine", lambda hash_mb: Player())
    return Pool
