"""`knightadder datagen`: whole runs, going on, being broken off, and bad arguments."""

from __future__ import annotations

import math
import multiprocessing
import re

import numpy as np
import pytest

from knightadder import cli
from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import EngineError
from knightadder.workshop.datagen import command as datagen
from knightadder.workshop.datagen import workers as datagen_workers
from knightadder.workshop.datagen.games import Player, Settings
from knightadder.workshop.datagen.parts import Parts

# The games of a chunk are quick when so little is searched.
QUICK = ("--nodes", "5", "--hash", "1", "--concurrency", "1")
SETTINGS = Settings(nodes=5, megabytes=1)


@pytest.fixture
def data(capsys, tmp_path, monkeypatch):
    """Give the function that runs the command in an empty folder; returns status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datagen, "_LINE_SECONDS", math.inf)  # however slow the machine is

    def run(*arguments):
        try:
            status = cli.main(["datagen", *map(str, arguments)])
        except SystemExit as end:  # argparse
            status = end.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def no_games(monkeypatch):
    """See to it that no game is begun."""

    def play_chunks(*_):
        raise AssertionError

    monkeypatch.setattr(datagen_workers, "play_chunks", play_chunks)


def _chunks(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("data.bin.parts/chunk-*.bin"))}


def _records(data):
    return {data[place : place + 25] for place in range(0, len(data), 32)}


def test_runs_that_go_on(data, tmp_path):
    status, out, _ = data("data.bin", "--positions", 1, *QUICK)
    assert status == 0
    first = _chunks(tmp_path)
    assert first == {"chunk-000000.bin": Player(SETTINGS).play_chunk(0).tobytes()}
    records = np.fromfile("data.bin", PACKED)
    assert re.fullmatch(
        rf"data\.bin: {len(records)} positions, \d+ duplicates left out; White won \S+ %, drew \S+ %, lost \S+ %\n", out
    )
    assert len(_records(records.tobytes())) == len(records)
    assert _records(records.tobytes()) == _records(first["chunk-000000.bin"])
    # More positions, by more processes; what there was stays.
    wanted = len(first["chunk-000000.bin"]) // 32 + 1
    status, _, _ = data("data.bin", "--positions", wanted, *QUICK, "--concurrency", 2)
    assert status == 0
    more = _chunks(tmp_path)
    assert set(more) >= {"chunk-000000.bin", "chunk-000001.bin"}
    assert more["chunk-000000.bin"] == first["chunk-000000.bin"]
    assert more["chunk-000001.bin"] == Player(SETTINGS).play_chunk(1).tobytes()
    assert _records(np.fromfile("data.bin", PACKED).tobytes()) == _records(b"".join(more.values()))


def test_nothing_is_played_when_there_is_enough(data, tmp_path, no_games):
    parts = Parts(tmp_path / "data.bin")
    parts.open({"nodes": 5, "hash": 1, "seed": 1, "random-plies": 8, "openings": None})
    parts.save(0, np.zeros(3, PACKED))
    status, out, err = data("data.bin", "--positions", 3, *QUICK)
    assert (status, err) == (0, "")
    assert out.startswith("data.bin: 1 positions, 2 duplicates left out; ")
    assert data("data.bin", "--merge")[1] == out  # whatever the settings were


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        (["--nodes", 6], "nodes"),
        (["--seed", 2, "--hash", 2], "hash, seed"),
        (["--random-plies", 0], "random-plies"),
        (["--openings", "plies=4"], "openings"),
    ],
)
def test_a_folder_of_another_run_is_refused(data, tmp_path, no_games, other, differing):
    parts = Parts(tmp_path / "data.bin")
    parts.open({"nodes": 5, "hash": 1, "seed": 1, "random-plies": 8, "openings": None})
    status, out, err = data("data.bin", "--positions", 9, *QUICK, *other)
    assert (status, out) == (2, "")
    assert err == f"knightadder: data.bin.parts was begun with other {differing}: give another file\n"


def test_ctrl_c_keeps_what_was_played(data, tmp_path, monkeypatch):
    real = datagen_workers.play_chunks

    def broken_off(settings, parts, concurrency, numbers, on_game, on_tick):
        def tick():
            on_tick()
            if parts.chunks():
                raise KeyboardInterrupt

        real(settings, parts, concurrency, numbers, on_game, tick)

    with monkeypatch.context() as patch:
        patch.setattr(datagen_workers, "play_chunks", broken_off)
        status, out, err = data("data.bin", "--positions", 10**9, *QUICK, "--concurrency", 2)
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == "The games are in data.bin.parts; the same command goes on from there"
    assert multiprocessing.active_children() == []
    kept = _chunks(tmp_path)
    assert kept
    player = Player(SETTINGS)
    for name, chunk in kept.items():
        assert chunk == player.play_chunk(int(name[6:12])).tobytes()
    assert not (tmp_path / "data.bin").exists()
    assert data("data.bin", "--merge")[0] == 0
    assert _records((tmp_path / "data.bin").read_bytes()) == _records(b"".join(kept.values()))


def test_a_process_that_is_killed(tmp_path):
    parts = Parts(tmp_path / "data.bin")
    parts.open({})

    def kill(kept):
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(EngineError, match=r"^a process that played games has ended unexpectedly$"):
        datagen_workers.play_chunks(SETTINGS, parts, 2, iter(range(100)), kill)
    assert multiprocessing.active_children() == []


def test_a_chunk_that_cannot_be_written(tmp_path):
    parts = Parts(tmp_path / "data.bin")  # without its folder
    with pytest.raises(EngineError, match=r"^cannot write .*chunk-000007\.bin: "):
        datagen_workers.play_chunks(SETTINGS, parts, 1, iter([7]), lambda kept: None)


def test_a_bad_opening(data, tmp_path):
    (tmp_path / "bad.epd").write_text("nonsense\n")
    status, out, err = data("data.bin", "--positions", 1, *QUICK, "--openings", "file=bad.epd")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == "knightadder: bad: not a position: nonsense"


def test_too_large_a_hash_table(data):
    status, out, err = data("data.bin", "--positions", 1, *QUICK, "--hash", 1 << 40)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == f"knightadder: not enough memory for a hash table of {1 << 40} MB"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.bin", "--merge"], "there are no games in data.bin.parts"),
        (["nowhere/data.bin", "--positions", 1], "cannot use nowhere/data.bin.parts: No such file or directory"),
        ([".", "--merge"], "cannot write .: it is a folder"),
        (["data.bin", "--positions", 1, "--openings", "file=nowhere.epd"], "cannot read nowhere.epd: "),
        (["data.bin", "--positions", 1, "--openings", "games=1"], "--openings games=1: there is no key games; "),
    ],
)
def test_bad_values_give_one_line(data, tmp_path, no_games, arguments, message):
    status, out, err = data(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: {message}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["data.bin"],
        ["data.bin", "--positions", 0],
        ["data.bin", "--positions", 1, "--merge"],
        ["data.bin", "--positions", 1, "--random-plies", -1],
    ],
)
def test_bad_usage(data, no_games, arguments):
    assert data(*arguments)[0] == 2


def test_lines_of_progress(capsys, monkeypatch):
    monkeypatch.setattr(datagen, "_LINE_SECONDS", 0)
    with datagen._display(100, 1000) as (add_game, show):
        add_game(40)
        add_game(2)
        show()
    assert re.fullmatch(r"142/1000 positions  2 games  \d+ positions/s\n", capsys.readouterr().out)
