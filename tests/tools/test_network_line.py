"""The tool that makes a line of networks, with tiny networks that learn from a few games."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import network_line
import pytest

from knightadder.cli import main
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


EXPERIMENTS = """
games = ["games"]

[train]
width = 16
batch = 100
epochs = 1

[errors]
labels = "{labels}"

[[network]]
name = "steep"
train = {{ exponent = 2.5 }}
"""


def rows(folder: Path) -> list[dict[str, str]]:
    """Return the cells of the networks in the table, by column."""
    lines = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    columns, _, *found = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(columns, row, strict=True)) for row in found]


def test_a_line_of_networks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each network learns from all games, plays against the best one, and says in its file where it comes from."""
    (tmp_path / "line.toml").write_text(LINE)
    assert network_line.main([str(tmp_path), "--concurrency", "1"]) == 0
    [first] = rows(tmp_path)
    assert (first["Network"], first["Shape"]) == ("first", "(768hm → 16)x2 → 1x1")
    assert int(first["Positions played"]) >= 5000
    assert "validation" in first["Losses"]
    assert first["Against"] == "default"
    assert sum(map(int, first["W-D-L"].split("-"))) == 2

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
    assert (second["Shape"], second["Positions played"]) == ("(768 → 32)x2 → 1x1", "0")
    assert second["Games"] == "games-first"
    origin = load_network(tmp_path / "network-second.nnue").description
    assert re.match(r"second: .*--width 32 .*--no-mirror from games-first \(\d+ positions, settings ", origin)

    # A finished line stays as it is, but does not accept other options for what was made.
    assert network_line.main([str(tmp_path)]) == 0
    assert rows(tmp_path) == [kept, second]
    (tmp_path / "line.toml").write_text(LINE.replace("5000", "6000") + SECOND)
    assert network_line.main([str(tmp_path)]) == 2
    assert "network first has different options" in capfd.readouterr().err


def test_settings_are_compared_on_given_games(tmp_path: Path) -> None:
    """Without games and matches of its own, a line shows the losses and the error of each network."""
    assert main(["datagen", str(tmp_path / "games"), "--positions", "2000", "--nodes", "20"]) == 0
    (tmp_path / "labels.txt").write_text(f"{chess.STARTING_FEN};1.0\n{chess.STARTING_FEN};0.0\n")
    (tmp_path / "line.toml").write_text(EXPERIMENTS.format(labels=(tmp_path / "labels.txt").as_posix()))
    assert network_line.main([str(tmp_path)]) == 0
    [steep] = rows(tmp_path)
    assert steep["Games"] == "games" and "--exponent 2.5" in steep["Settings"] and "validation" in steep["Losses"]
    assert 0.25 <= float(steep["Error"]) < 0.5
    assert not steep["W-D-L"] and not steep["Against"]
    assert re.fullmatch(r"train [\d.]+, errors [\d.]+", steep["Hours"])
    assert network_line.main([str(tmp_path)]) == 0
    assert rows(tmp_path) == [steep]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[datagen", "line.toml: "),
        ("[train]\nwidth = 16", "each network needs a name of its own"),
        ('[[network]]\nname = "a"\n[[network]]\nname = "a"', "each network needs a name of its own"),
        ('[[network]]\nname = "a"\nwidth = 3', "width"),
        ('games = "games"\n[[network]]\nname = "a"', "line.toml: "),
        ('[[network]]\nname = "a"', "has no games to learn from"),
    ],
)
def test_bad_line(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong description is one clear line."""
    (tmp_path / "line.toml").write_text(text)
    assert network_line.main([str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line
