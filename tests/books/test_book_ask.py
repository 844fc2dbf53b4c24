"""What `book ask` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chess
import pytest

from knightadder.cli import main

GAMES = """\
[White "Anna"]
[Black "Ben\x1b[31m"]
[WhiteElo "2400"]
[BlackElo "2300"]
[Date "2001.??.??"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[White "Carla"]
[BlackElo "2501"]
[Date "1999.??.??"]
[Result "1/2-1/2"]

1. Nf3 e5 2. e4 Nc6 1/2-1/2

[Result "0-1"]

1. e4 e5 2. Bc4 0-1
"""


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    games, out = tmp_path / "games.pgn", tmp_path / "games.sqlite"
    games.write_text(GAMES)
    assert main(["book", "index", str(games), "--out", str(out)]) == 0
    capsys.readouterr()

    def ask(*arguments: str, status: int = 0) -> list[str]:
        assert main(["book", "ask", str(out), *arguments]) == status
        printed = capsys.readouterr()
        return (printed.err if status else printed.out).splitlines()

    return ask


def cells(lines: list[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if "│" in line]


def test_the_moves_of_the_start_position_and_the_best_games(ask) -> None:
    lines = ask()
    assert lines[0] == chess.STARTING_FEN
    assert cells(lines) == [
        ["e4", "2", "50 %", "0 %", "50 %", "50 %", "2400", "", "2001"],
        ["Nf3", "1", "0 %", "100 %", "0 %", "50 %", "", "2501", "1999"],
        ["All", "3", "33 %", "33 %", "33 %", "50 %", "", "", ""],
    ]
    assert lines[-3:] == [
        r"Anna (2400) - Ben\x1b[31m (2300)  1-0  2001",
        "Carla - ? (2501)  1/2-1/2  1999",
        "? - ?  0-1",
    ]


@pytest.mark.parametrize("moves", [["e4", "e5"], ["1.", "e4", "e5"], ["1.e4 e5"], ["e2e4", "e7e5"]])
def test_moves_lead_to_the_position(ask, moves: list[str]) -> None:
    lines = ask("--moves", *moves)
    assert lines[0] == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2  C20 King's Pawn Game"
    assert [row[:2] for row in cells(lines)] == [["Bc4", "1"], ["Nf3", "1"], ["All", "2"]]


def test_a_position_by_fen_in_one_argument_or_several_then_moves(ask) -> None:
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    for words in ([fen], fen.split()):
        lines = ask(*words, "--moves", "Nf3")
        assert [row[:2] for row in cells(lines)] == [["Nc6", "1"], ["All", "1"]]  # by the other order of moves


def test_a_position_that_no_game_has(ask) -> None:
    assert ask("8/8/8/4k3/8/8/8/K7 w - - 0 1") == [
        "8/8/8/4k3/8/8/8/K7 w - - 0 1",
        "No game of the index continues from this position.",
    ]


def test_filters_and_the_games_behind_a_move(ask, tmp_path: Path) -> None:
    assert [row[:2] for row in cells(ask("--since", "2000", "--color", "white", "--player", "anna"))] == [
        ["e4", "1"],
        ["All", "1"],
    ]
    assert ask("--max-rating", "2400", "--result", "1-0")[-1] == r"Anna (2400) - Ben\x1b[31m (2300)  1-0  2001"
    games = tmp_path / "found.pgn"
    assert ask("--games", "2", "--latest", "--pgn", str(games))[-2].startswith("Anna")
    assert games.read_text().count("[Result ") == 2
    games.write_text("mine")
    assert ask("--pgn", str(games), status=2) == [f"knightadder: {games} already exists: give --force to overwrite it"]
    assert games.read_text() == "mine"
    ask("--pgn", str(games), "--force")
    assert games.read_text().count("[Result ") == 3
    assert ask("--pgn", f"{games}.gz", status=2) == [
        f"knightadder: cannot write {games}.gz: the output is not compressed, so give a name without .gz"
    ]
    assert ask("--player", "Ann", status=2)[-1].endswith("do you mean Anna?")
    assert ask("--since", "May", status=2) == [
        "knightadder: expected a date such as 2024, 2024-03 or 2024-03-15, not 'May'"
    ]
    index = tmp_path / "games.sqlite"
    assert ask("--pgn", str(index), status=2) == [
        f"knightadder: --pgn {index}: this file contains the games, so it is not overwritten"
    ]


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the names of open files")
def test_the_table_does_not_stand_among_games_on_standard_output(ask, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "knightadder", "book", "ask", tmp_path / "games.sqlite", "--pgn", "/dev/stdout"]
    out = tmp_path / "out.pgn"
    out.write_text("; kept\n\n")
    with out.open("ab") as stream:
        done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True, check=True, timeout=200)
    assert done.stderr.startswith(chess.STARTING_FEN) and done.stderr.endswith("? - ?  0-1\n")
    kept, *games = out.read_text().split("\n\n")
    assert kept == "; kept"
    assert games[1::2] == ["1. e4 e5 2. Nf3 1-0", "1. Nf3 e5 2. e4 Nc6 1/2-1/2", "1. e4 e5 2. Bc4 0-1"]


def test_find_by_pieces_or_material(tmp_path: Path, capsys: pytest.CaptureFixture[str], ask) -> None:
    def find(*arguments: str, status: int = 0) -> str:
        assert main(["book", "find", str(tmp_path / "games.sqlite"), *arguments]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    assert find("--pieces", "Pe4 Nf3") == (
        "Anna (2400) - Ben\\x1b[31m (2300)  1-0  2001  move 2\nCarla - ? (2501)  1/2-1/2  1999  move 2\n"
    )
    assert find("--material", "KvK") == "No game of the index has such a position.\n"
    assert find("--pieces", "Xe4", status=2) == (
        "knightadder: expected a piece on a square, such as Nd5, pd6 or -e4, not 'Xe4'\n"
    )


def test_bad_input_is_one_line(ask, tmp_path: Path) -> None:
    assert ask("no", "FEN", status=2) == [
        "knightadder: illegal position: a FEN must have 4 to 6 fields, not 2 (no FEN)"
    ]
    for move in ("Ke3", "0000"):
        assert ask("--moves", "e4", move, status=2)[0].startswith(f"knightadder: illegal move: {move!r} in rnbqkbnr/pp")
    assert main(["book", "ask", str(tmp_path / "games.pgn")]) == 2
