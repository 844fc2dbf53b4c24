"""The tool that makes a line of networks, with tiny networks that learn from a few games."""

from __future__ import annotations

import re
from pathlib import Path

import network_line
import pytest

from knightadder.engine.evaluator import load_network

LINE = """
[datagen]
nodes = 20

[train]
width = 16
epochs = 1

[match]
each = ["nodes=20", "option.Hash=1"]
games = 2

[[network]]
name = "first"
datagen = { positions = 5000 }
"""
SECOND = """
[[network]]
name = "second"
train = { width = 32, no-mirror = true }
"""


def rows(folder: Path) -> list[list[str]]:
    """Return the cells of the networks in the table."""
    lines = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_a_line_of_networks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each network learns from all games, plays against the best one, and says in its file where it comes from."""
    (tmp_path / "line.toml").write_text(LINE)
    assert network_line.main([str(tmp_path), "--concurrency", "1"]) == 0
    [first] = rows(tmp_path)
    assert first[:2] == ["first", "(768hm → 16)x2 → 1x1"]
    assert int(first[2]) >= 5000
    assert "validation" in first[4]
    assert first[5] == "default"
    assert sum(map(int, first[6].split("-"))) == 2

    # A network without games of its own is added. Its options are mended after a failure, and only it is made.
    (tmp_path / "line.toml").write_text(LINE + SECOND.replace("32", "33"))
    games = (tmp_path / "match-first.pgn").read_bytes()
    assert network_line.main([str(tmp_path), "--concurrency", "1"]) == 1
    (tmp_path / "line.toml").write_text(LINE + SECOND)
    capfd.readouterr()
    assert network_line.main([str(tmp_path), "--concurrency", "1"]) == 0
    assert "knightadder datagen" not in capfd.readouterr().out
    assert (tmp_path / "match-first.pgn").read_bytes() == games
    kept, second = rows(tmp_path)
    assert kept == first
    assert second[:3] == ["second", "(768 → 32)x2 → 1x1", "0"]
    origin = load_network(tmp_path / "network-second.nnue").description
    assert re.match(r"second: .*--width 32 .*--no-mirror from games-first \(\d+ positions, settings ", origin)

    # A finished line stays as it is, but does not accept other options for what was made.
    assert network_line.main([str(tmp_path)]) == 0
    assert rows(tmp_path) == [kept, second]
    (tmp_path / "line.toml").write_text(LINE.replace("5000", "6000") + SECOND)
    assert network_line.main([str(tmp_path)]) == 2
    assert "network first has different options" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[datagen", "line.toml: "),
        ("[train]\nwidth = 16", "each network needs a name of its own"),
        ('[[network]]\nname = "a"\n[[network]]\nname = "a"', "each network needs a name of its own"),
        ('[[network]]\nname = "a"\nwidth = 3', "width"),
        ('[[network]]\nname = "a"', "has no games to learn from"),
    ],
)
def test_bad_line(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong description is one clear line."""
    (tmp_path / "line.toml").write_text(text)
    assert network_line.main([str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line
