"""Indexing games: which ones count, additions to an index, and what cannot be done."""

from __future__ import annotations

import bz2
import gzip
import io
import sqlite3
import sys
from pathlib import Path
from random import Random

import chess
import chess.pgn
import pytest
from random_games import random_game

from knightadder import Explorer, GameFilter
from knightadder.books import indexer
from knightadder.cli import main
from knightadder.library import explorer_file

GAMES = """\
[Event "a"]
[White "Müller"]
[WhiteElo "2400"]
[BlackElo "?"]
[Date "2001.05.06"]
[Result "1-0"]

1. e4 { [%eval 0.3] } e5 (1... c5) 2. Nf3 1-0

[Event "b"]
[Result "*"]

1. d4 *

[Event "c"]
[UTCDate "2020.01.01"]
[BlackElo "-5"]
[WhiteElo "LONG"]
[Result "0-1"]

1. e4 e5 2. Ke3 0-1

[Event "d"]
[UTCDate "2020.01.01"]
[Result "0-1"]

1. e4 c5 2. -- d6 0-1
""".replace("LONG", "9" * 5000)


def run(*arguments: object) -> int:
    return main(["book", "index", *map(str, arguments)])


def played(file: Path, *moves: str) -> dict[str, int]:
    board = chess.Board()
    for move in moves:
        board.push_san(move)
    with Explorer(file) as explorer:
        return {each.san: each.games for each in explorer.moves(board)}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, "utf-8")
    return file


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


def test_broken_and_unfinished_games_are_left_out_and_told(games, out, capsys) -> None:
    assert run(games, "--out", out) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out}: 2 games; 2 games added; left out: 1 without a result, 1 broken\n"
    assert printed.err.startswith(f"knightadder: {games}, game 3, line 15, is left out: illegal san: 'Ke3'")
    assert printed.err.count("\n") == 1
    assert played(out) == {"e4": 2}
    assert played(out, "e4") == {"e5": 1, "c5": 1}
    assert played(out, "e4", "c5") == {}  # a null move is no move
    with Explorer(out) as explorer:
        best, other = explorer.games("startpos")
        assert (best.white, best.white_elo, best.black_elo, best.date) == ("Müller", 2400, None, "2001-05-06")
        assert (other.event, other.white, other.date) == ("d", "?", "2020-01-01")


def test_any_encoding_and_compression_that_annotate_reads(tmp_path, out) -> None:
    text = '[White "Müller"]\n[Result "1-0"]\n\n1. e4 1-0\n'
    files = {
        "latin.pgn": text.encode("latin-1"),
        "utf16.pgn": text.replace("e4", "d4").encode("utf-16"),
        "bom.pgn": text.replace("e4", "c4").encode("utf-8-sig"),
        "games.pgn.gz": gzip.compress(text.replace("e4", "f4").encode()),
        "games.pgn.bz2": bz2.compress(text.replace("e4", "b4").encode()),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert run(*(tmp_path / name for name in files), "-o", out) == 0
    assert played(out) == {"e4": 1, "d4": 1, "c4": 1, "f4": 1, "b4": 1}
    with Explorer(out) as explorer:
        assert {game.white for game in explorer.games("startpos")} == {"Müller"}


def test_games_are_added_to_an_index_once(tmp_path, out, capsys) -> None:
    random = Random(3)
    all_games = [random_game(number, random, 24) for number in range(60)]
    texts = [str(game) for game in all_games]
    parts = [texts[:25], texts[20:45], texts[:10] + texts[40:]]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.pgn").write_text("\n\n".join(part))
    (tmp_path / "all.pgn").write_text("\n\n".join(texts))
    whole = tmp_path / "whole.sqlite"
    assert run(tmp_path / "all.pgn", "-o", whole, "--plies", 20) == 0
    assert run(tmp_path / "0.pgn", "-o", out, "--plies", 20) == 0
    assert run(tmp_path / "1.pgn", "-o", out) == 0
    assert run(tmp_path / "2.pgn", tmp_path / "0.pgn", "-o", out, "--plies", 20) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"{out}: 45 games; 20 games added; left out: 5 already there"
    assert lines[3] == f"{out}: 60 games; 15 games added; left out: 40 already there"
    assert answers(out, all_games) == answers(whole, all_games)


def answers(file: Path, games: list[chess.pgn.Game]) -> list[object]:
    """Return what an index says of all positions of games; the numbers of games depend on the order of the files."""
    found: list[object] = []
    with Explorer(file) as explorer:
        for board in (node.board() for game in games for node in [game, *game.mainline()]):
            best = explorer.games(board, most=100)
            found.append((explorer.moves(board), sorted(explorer.pgn(game.number) for game in best)))
    return found


@pytest.mark.parametrize("tag", ["UTCTime", "Time", "StartTime", "EndTime"])
def test_a_game_that_was_played_again_on_the_same_day_counts(tmp_path, out, tag) -> None:
    game = '[Event "rated"]\n[Date "2024.01.01"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n[{} "{}"]\n\n1. e4 1-0\n\n'
    games = tmp_path / "games.pgn"
    games.write_text("".join(game.format(tag, time) for time in ("10:00:00", "10:05:00", "10:00:00")))
    assert run(games, "--out", out) == 0
    assert played(out) == {"e4": 2}


def test_a_name_with_a_zero_character(tmp_path, out) -> None:
    games = tmp_path / "games.pgn"
    games.write_text('[White "An\0na"]\n[Black "\0"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    assert run(games, "--out", out) == 0
    with Explorer(out) as explorer:
        assert [each.san for each in explorer.moves(chess.Board(), GameFilter(player="ANNA", color=True))] == ["e4"]


def test_runs_are_merged(tmp_path, out, monkeypatch) -> None:
    random = Random(4)
    games = [random_game(number, random, 14) for number in range(40)]
    file, whole = tmp_path / "games.pgn", tmp_path / "whole.sqlite"
    file.write_text("\n\n".join(map(str, games)))
    assert run(file, "-o", whole) == 0
    monkeypatch.setattr(indexer, "_KEPT", 3)
    monkeypatch.setattr(explorer_file, "_MERGED", 2)
    monkeypatch.setattr(explorer_file, "_COMMON", 4)
    assert run(file, "-o", out) == 0
    assert answers(out, games) == answers(whole, games)
    database = sqlite3.connect(out)
    [[runs]] = database.execute("SELECT count(*) FROM runs")
    database.close()
    assert runs < 5  # of 14 parts


def test_how_many_plies(games, out, capsys) -> None:
    assert run(games, "-o", out, "--plies", 1) == 0
    assert played(out) == {"e4": 2}
    assert played(out, "e4") == {}
    before = out.read_bytes()
    assert run(games, "-o", out, "--plies", 2) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"knightadder: {out} was made with --plies 1: leave out --plies, or give a different --out"
    )
    assert out.read_bytes() == before


def test_standard_input_among_the_files(games, out, capsys, monkeypatch) -> None:
    more = '[Event "e"]\n[Result "1-0"]\n\n1. d4 1-0\n\n[Event "f"]\n\n1. Ke2 *\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(more.encode())))
    assert run(games, "-", "-o", out) == 0
    assert played(out) == {"e4": 2, "d4": 1}
    assert "knightadder: standard input, game 2, line 6, is left out: illegal san" in capsys.readouterr().err


def test_what_cannot_be_done_is_said_in_a_line_and_harms_nothing(games, tmp_path, out, capsys) -> None:
    def complaint(*arguments: object) -> str:
        assert run(*arguments) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err.removeprefix("knightadder: ").splitlines()[-1]

    missing = tmp_path / "missing.pgn"
    assert complaint(missing, "-o", out) == f"cannot read {missing}: No such file or directory"
    assert complaint(tmp_path, "-o", out) == f"cannot read {tmp_path}: it is a folder"
    expected = f"--out {games}: this file contains the games, so it is not overwritten"
    assert complaint(games, "-o", games) == expected
    nowhere = tmp_path / "no" / "games.sqlite"
    assert complaint(games, "-o", nowhere) == f"cannot use {nowhere}: No such file or directory"
    empty = tmp_path / "empty.pgn"
    empty.write_text('[Result "*"]\n\n1. e4 *\n')
    expected = "no game can be indexed: 0 games added; left out: 1 without a result"
    assert complaint(empty, "-o", out) == expected
    assert not out.exists()
    out.write_text("not mine")
    assert "is not an index of games" in complaint(games, "-o", out)
    assert out.read_text() == "not mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty.pgn", "games.pgn", "games.sqlite"]


def test_a_failure_leaves_the_old_index(games, out, capsys, monkeypatch) -> None:
    assert run(games, "-o", out) == 0
    before = out.read_bytes()
    with Explorer(out) as explorer:
        count = len(explorer)
    games.write_text('[Result "1-0"]\n\n1. g4 1-0\n')
    for place, name in ((indexer, "_read_game"), (explorer_file, "add_run")):
        with monkeypatch.context() as changed:
            changed.setattr(place, name, _interrupt)
            assert run(games, "-o", out) == 130
        assert f"{count} games are in {out}; the same command continues from there\n" in capsys.readouterr().err
        assert out.read_bytes() == before
        assert sorted(file.name for file in out.parent.iterdir()) == ["games.pgn", "games.sqlite"]
    with sqlite3.connect(out) as database:
        database.execute("DROP TABLE texts")
    database.close()
    assert run(games, "-o", out) == 2
    complaint = f"{out} is damaged (no such table: texts): remove it, and index all games again\n"
    assert capsys.readouterr().err.endswith(complaint)


def test_a_truncated_file_of_games_is_not_a_damaged_index(games, out, capsys) -> None:
    cut = games.with_name("cut.pgn.gz")
    cut.write_bytes(gzip.compress(games.read_bytes())[:-20])
    complaint = f"knightadder: cannot read {cut}: Compressed file ended before the end-of-stream marker was reached\n"
    assert run(cut, "-o", out) == 2
    assert capsys.readouterr().err == complaint
    assert not out.exists()  # rather than an index without games
    assert run(games, "-o", out) == 0
    capsys.readouterr()
    assert run(cut, "-o", out) == 2
    assert capsys.readouterr().err.endswith(complaint)
    assert sum(played(out).values()) == 2


def test_games_read_before_a_truncated_file_are_kept(games, out, capsys) -> None:
    cut = games.with_name("cut.pgn.gz")
    cut.write_bytes(gzip.compress(games.read_bytes())[:-20])
    assert run(games, cut, "-o", out) == 2
    assert f"2 games are in {out}; the same command continues from there" in capsys.readouterr().err
    assert sum(played(out).values()) == 2


def test_a_run_that_was_killed_at_its_start_is_repeated(games, out) -> None:
    out.touch()  # a killed run, or a full disk, leaves an empty file
    assert run(games, "-o", out, "--plies", 2) == 0
    assert played(out, "e4", "e5") == {}


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
