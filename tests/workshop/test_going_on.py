"""Long commands that are killed: the same command goes on, loses nothing, and does nothing twice."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_process import TIMEOUT

from knightadder import Explorer, cli
from knightadder.books import indexer
from knightadder.runs import Journal
from knightadder.workshop.datagen.parts import Parts

# A command that kills itself as soon as the second part of its work is kept.
_KILLED = """
import os, signal, sys
from knightadder import cli
from knightadder.books import indexer
from knightadder.runs import Journal
from knightadder.workshop.datagen.parts import Parts
kept = 0
def dying(keep):
    def add(self, *arguments):
        global kept
        keep(self, *arguments)
        kept += 1
        if kept == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return add
for kind in Journal, Parts:
    kind.add = dying(kind.add)
indexer._KEPT, indexer.Indexer.keep = 1, dying(indexer.Indexer.keep)
sys.exit(cli.main(sys.argv[1:]))
"""

GAMES = "".join(
    f'[Event "{number}"]\n\n1. e4 e5 2. Nf3 Nc6 3. {move} Nf6 4. c3 Bc5 5. O-O O-O {result}\n\n'
    for number, (move, result) in enumerate([("Bb5", "1-0"), ("Bc4", "0-1"), ("Be2", "1/2-1/2"), ("Bd3", "1-0")])
)
PLAYERS = ["--engine", "name=A", "--engine", "name=B", "--each", "nodes=20", "option.Hash=1"]
COMMANDS = {
    "match": (["match", *PLAYERS, "--rounds", "2", "--max-moves", "6", "--pgn", "out.pgn"], "out.pgn"),
    # One process, because several may play different chunks ahead: which of them depends on which were ready first.
    "datagen": (
        ["datagen", "games", "--positions", "25000", "--nodes", "2", "--concurrency", "1", "--merge", "out.bin"],
        "out.bin",
    ),
    "tune": (["tune", "spsa", "--iterations", "4", "--nodes", "20", "--hash", "1", "--state", "out.jsonl"], None),
    "annotate": (["annotate", "in.pgn", "--nodes", "50", "--out", "out.pgn"], "out.pgn"),
    "explorer": (["book", "index", "in.pgn", "--out", "out.sqlite"], "out.sqlite"),
    "puzzles": (["puzzles", "in.pgn", "--nodes", "50", "--out", "out.csv"], "out.csv"),
}


def essence(file: str | None, out: str) -> list[str]:
    """Return what has to be the same: a file, games without dates and times, or what was printed at last."""
    if file is None:
        return re.findall(r"^ *Parameter\(.*", out, re.MULTILINE)
    if file.endswith(".pgn"):
        lines = Path(file).read_text().splitlines()
        return sorted(re.sub(r"[0-9.]+s", "", line) for line in lines if "[Date" not in line)
    if file.endswith(".sqlite"):
        with Explorer(file) as explorer:
            return [explorer.pgn(number) for number in range(len(explorer))] + list(
                map(str, explorer.moves("startpos"))
            )
    return [Path(file).read_bytes().hex()]


def _number(part: Any) -> int:
    """Return the number of a part: a step of a journal, a chunk of games, or a game."""
    return int(part.headers["Event"] if hasattr(part, "headers") else getattr(part, "number", part))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of each part is added that a command keeps."""
    numbers: list[int] = []

    def noted(keep: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, part, *rest: (keep(self, part, *rest), numbers.append(_number(part)))[0]

    for kind in (Journal, Parts):
        monkeypatch.setattr(kind, "add", noted(kind.add))
    read = indexer._read_game
    monkeypatch.setattr(indexer, "_read_game", lambda game: (read(game), numbers.append(_number(game)))[0])
    return numbers


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills otherwise")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_goes_on(
    name: str,
    tmp_path: Path,
    kept: list[int],
    inline_pool: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, output = COMMANDS[name]

    def run(*more: str) -> tuple[list[str], set[int]]:
        kept.clear()
        assert cli.main([*arguments, *more]) == 0
        assert len(kept) == len(set(kept))  # nothing twice
        assert not list(Path.cwd().glob("*.unfinished"))
        return essence(output, capsys.readouterr().out), set(kept)

    for folder in (tmp_path / "whole", tmp_path / "killed"):
        folder.mkdir()
        (folder / "in.pgn").write_text(GAMES)
    monkeypatch.chdir(tmp_path / "whole")
    result, numbers = run()
    assert result and len(numbers) > 2
    monkeypatch.chdir(tmp_path / "killed")
    killed = subprocess.run([sys.executable, "-c", _KILLED, *arguments], capture_output=True, timeout=TIMEOUT)
    assert killed.returncode == -signal.SIGKILL
    same, rest = run()
    assert same == result  # nothing lost
    assert len(rest) == len(numbers) - 2
    if name in ("datagen", "tune"):  # the others have forgotten the finished run anyway
        assert run("--restart", *["--force"] * bool(output)) == (result, numbers)
