"""`annotate --moves`: the same rows in each format."""

import csv
import errno
import io
import json
import sys

import chess.pgn
import pytest
from chess.engine import Limit
from pyarrow import parquet

from knightadder import annotate_game, cli
from knightadder.extras import install_command

GAMES = """[White "Müller"]
[Black "Meier"]
[Result "1-0"]

1. e4 {[%clk 0:00:10.5]} e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[White "Huber"]

1. e4 e5 2. Ke3 *

[Event "three"]

1. d4 d5 *
"""
NODES = "400"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, encoding="utf-8")
    return file


def annotate(*arguments):
    return cli.main(["annotate", *map(str, arguments), "--nodes", NODES, "--concurrency", "1"])


def expected():
    stream, rows = io.StringIO(GAMES), []
    for number, players in ((1, ("Müller", "Meier")), (2, None), (3, ("", ""))):
        game = chess.pgn.read_game(stream)
        if players:
            found = annotate_game(game, Limit(nodes=int(NODES)))
            about = {"game": number, "white": players[0], "black": players[1]}
            rows += [{**about, **move.to_dict()} for move in found.moves]
    return rows


def test_each_format_has_the_rows_that_the_library_gives(file):
    rows = expected()
    table = file.with_name("moves.json")
    assert annotate(file, "--moves", table) == 0
    assert json.loads(table.read_text("utf-8")) == rows
    assert [row["game"] for row in rows] == [1] * 7 + [3] * 2
    assert rows[0]["clock"] == 10.5
    table = file.with_name("moves.csv")
    assert annotate(file, "--moves", table, "--force") == 0
    with table.open(encoding="utf-8", newline="") as stream:
        read = list(csv.DictReader(stream))
    assert read == [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    table = file.with_name("moves.Parquet")
    assert annotate(file, "--moves", table, "--force") == 0
    found = parquet.read_table(table)
    assert found.to_pylist() == rows
    assert str(found.schema.field("accuracy").type) == "double"


def test_no_game_that_can_be_annotated_gives_an_empty_table(file):
    file.write_text("1. e4 e5 2. Ke3 *\n", "utf-8")
    for name in ("moves.json", "moves.csv", "moves.parquet"):
        assert annotate(file, "--moves", file.with_name(name), "--force") == 1
    assert json.loads(file.with_name("moves.json").read_text("utf-8")) == []
    assert file.with_name("moves.csv").read_text("utf-8").startswith("game,white,black,ply,")
    assert parquet.read_table(file.with_name("moves.parquet")).num_rows == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("moves.txt", "moves.txt: expected a name that ends in .csv, .json or .parquet"),
        ("games.pgn", "expected a name that ends in .csv"),
        ("nowhere/moves.csv", "there is no folder"),
    ],
)
def test_other_names_are_refused_before_the_work(file, capsys, name, message):
    assert annotate(file, "--moves", file.parent / name) == 2
    assert message in capsys.readouterr().err
    assert not file.with_name("games.annotated.pgn").exists()


def test_no_file_is_written_if_one_cannot_be(file, capsys, monkeypatch):
    def write_json(*_):
        raise OSError(errno.ENOSPC, "the disk is full")

    table, summary = file.with_name("moves.csv"), file.with_name("summary.json")
    with monkeypatch.context() as patch:
        patch.setattr("knightadder.review.summary.write_json", write_json)
        assert annotate(file, "--moves", table, "--summary", summary) == 2
    assert f"cannot write {summary}: the disk is full" in capsys.readouterr().err
    assert not any(name.exists() for name in (table, summary, file.with_name("games.annotated.pgn")))
    assert annotate(file, "--moves", table) == 0
    assert "Continuing after" in capsys.readouterr().err


def test_a_table_that_is_there_is_kept(file, capsys):
    table = file.with_name("moves.csv")
    table.write_text("mine", "utf-8")
    assert annotate(file, "--moves", table) == 2
    assert f"{table} already exists: give --force" in capsys.readouterr().err
    assert table.read_text("utf-8") == "mine"


def test_without_pyarrow_there_is_advice(file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    assert annotate(file, "--moves", file.with_name("moves.parquet")) == 2
    needs = "--moves with a name that ends in .parquet needs PyArrow: "
    assert f"{needs}{install_command('parquet')}" in capsys.readouterr().err


def test_an_interrupted_run_writes_the_table_without_another_search(file, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    table = file.with_name("moves.json")
    with monkeypatch.context() as patch:
        patch.setattr("knightadder.review.move_table.moves_table", stop)
        assert annotate(file, "--moves", table) == 130
    assert not table.exists() and file.with_name("games.annotated.pgn.unfinished").exists()
    table.write_text("mine", "utf-8")  # by the user, meanwhile
    assert annotate(file, "--moves", table) == 2
    assert f"{table} already exists: give --force" in capsys.readouterr().err
    table.unlink()
    monkeypatch.setattr("knightadder.annotate.command.open_pool", stop)
    assert annotate(file, "--moves", table) == 0
    assert "Continuing after 2 of 3 games" in capsys.readouterr().err
    assert json.loads(table.read_text("utf-8")) == expected()
