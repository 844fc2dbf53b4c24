"""`knightadder datagen`: whole runs, going on, being broken off, and bad arguments."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from command_line import run_command
from random_network import random_network

from knightadder.core.evaluation.network_file import network_bytes
from knightadder.workshop.datagen import chunk_player
from knightadder.workshop.datagen import parts as parts_module
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.datagen.self_player import GameSettings, SelfPlayer

# The games of a chunk are quick when so little is searched.
QUICK = ("--nodes", "5", "--hash", "1", "--concurrency", "1")
SETTINGS = GameSettings(nodes=5, megabytes=1)
SAME = {
    "nodes": 5,
    "hash": 1,
    "seed": 1,
    "random-plies": 8,
    "double-chess960": 0.2,
    "random-moves": "by type of men",
    "openings": None,
}


@pytest.fixture
def data(capsys, tmp_path, monkeypatch):
    """Give the function that runs the command in an empty folder; returns status, output and errors."""
    monkeypatch.chdir(tmp_path)

    return lambda *arguments: run_command(capsys, "datagen", *arguments)


@pytest.fixture
def no_games(monkeypatch):
    """See to it that no game is begun."""

    def play_chunks(*_):
        raise AssertionError

    monkeypatch.setattr(chunk_player, "play_chunks", play_chunks)


def _chunks(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("games/chunk-*.vf"))}


def _positions(data):
    return {data[place : place + 25] for place in range(0, len(data), 32)}


def _moves(chunks):
    """Count the moves in chunks of a hundred games."""
    return sum((len(chunk) - 100 * 36) // 4 for chunk in chunks.values())


def _expected(chunks):
    """Give the positions that are to be merged from chunks."""
    words = np.frombuffer(bytearray(b"".join(chunks.values())), np.uint32)
    return _positions(Reader().read(words, Filter()).tobytes())


def test_runs_that_go_on(data, tmp_path):
    status, out, _ = data("games", "--positions", 1, *QUICK)
    assert status == 0
    first = _chunks(tmp_path)
    assert first == {"chunk-000000.vf": SelfPlayer(SETTINGS).play_chunk(0).tobytes()}
    moves = _moves(first)
    assert out == f"games: 1 chunk, {moves} positions\n"
    # More positions, by more processes; what there was stays.
    status, out, _ = data("games", "--positions", moves + 1, "--merge", "data.bin", *QUICK, "--concurrency", 2)
    assert status == 0
    more = _chunks(tmp_path)
    assert set(more) >= {"chunk-000000.vf", "chunk-000001.vf"}
    assert more["chunk-000000.vf"] == first["chunk-000000.vf"]
    assert more["chunk-000001.vf"] == SelfPlayer(SETTINGS).play_chunk(1).tobytes()
    merged = (tmp_path / "data.bin").read_bytes()
    assert len(_positions(merged)) == len(merged) // 32
    # Not those of chunks that were only played because there were two processes.
    wanted = {name: more[name] for name in ("chunk-000000.vf", "chunk-000001.vf")}
    assert _positions(merged) == _expected(wanted)
    assert re.fullmatch(
        r"games: \d+ chunks, \d+ positions\n"
        rf"data\.bin: {len(merged) // 32} positions of {_moves(wanted)}, \d+ duplicates left out; "
        r"White won \S+ %, drew \S+ %, lost \S+ %\n",
        out,
    )
    # Without a number, all that there are.
    assert data("games", "--merge", "data.bin", "--force")[0] == 0
    assert _positions((tmp_path / "data.bin").read_bytes()) == _expected(more)


def test_a_network_evaluates_and_is_one_of_the_settings(data, tmp_path):
    network = random_network()
    (tmp_path / "a.nnue").write_bytes(network_bytes(network))
    assert data("games", "--positions", 1, *QUICK, "--eval-file", "a.nnue")[0] == 0
    chunk = SelfPlayer(replace(SETTINGS, network=network)).play_chunk(0).tobytes()
    assert _chunks(tmp_path) == {"chunk-000000.vf": chunk}
    assert chunk != SelfPlayer(SETTINGS).play_chunk(0).tobytes()
    status, out, err = data("games", "--positions", 1, *QUICK)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "network" in err


def test_a_network_that_is_too_large_is_refused_before_any_game(data, tmp_path, no_games):
    (tmp_path / "a.nnue").write_bytes(network_bytes(random_network(528)))
    status, out, err = data("games", "--positions", 1, *QUICK, "--eval-file", "a.nnue")
    message = "knightadder: a.nnue: the network must have at most 512 neurons and 8 buckets, not 528 and 1\n"
    assert (status, out, err) == (2, "", message)
    assert not (tmp_path / "games").exists()


def test_nothing_is_played_when_there_is_enough(data, tmp_path, no_games):
    parts = Parts(tmp_path / "games")
    with parts.open(SAME):
        parts.add(parts.save(0, np.zeros(12, np.uint32), 1))
    assert data("games", "--positions", 3, *QUICK) == (0, "games: 1 chunk, 3 positions\n", "")


def test_the_merged_file_may_be_in_the_folder_that_the_games_will_have(data, tmp_path):
    assert data("games", "--positions", 1, *QUICK, "--merge", "games/data.bin")[0] == 0
    assert (tmp_path / "games" / "data.bin").stat().st_size


def test_the_games_are_not_overwritten(data, tmp_path):
    assert data("games", "--positions", 1, *QUICK)[0] == 0
    before = {file: file.read_bytes() for file in (tmp_path / "games").iterdir()}
    for name in ("settings.json", "chunks.jsonl", "chunk-000000.vf"):
        message = f"knightadder: --merge games/{name}: this file contains the games, so it is not overwritten\n"
        assert data("games", "--merge", f"games/{name}") == (2, "", message)
    assert {file: file.read_bytes() for file in (tmp_path / "games").iterdir()} == before
    (tmp_path / "mine.pgn").write_text("1. e4 e5 *\n")
    message = "knightadder: --merge mine.pgn: this file contains the games, so it is not overwritten\n"
    assert data("others", "--from-pgn", "mine.pgn", "--merge", "mine.pgn") == (2, "", message)
    assert (tmp_path / "mine.pgn").read_text() == "1. e4 e5 *\n"


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        (["--nodes", 6], "nodes"),
        (["--seed", 2, "--hash", 2], "hash, seed"),
        (["--random-plies", 0], "random-plies"),
        (["--chess960-share", 1], "double-chess960"),
        (["--openings", "plies=4"], "openings"),
    ],
)
def test_a_folder_of_another_run_is_refused(data, tmp_path, no_games, other, differing):
    with Parts(tmp_path / "games").open(SAME):
        pass
    status, out, err = data("games", "--positions", 9, *QUICK, *other)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: games belongs to a run with other settings ({differing}): use the same, or ")
    assert err.endswith(" give --restart to forget it\n")


def test_what_is_said_of_the_games_that_there_are(data, tmp_path, no_games, monkeypatch):
    parts = Parts(tmp_path / "games")
    with parts.open(SAME), monkeypatch.context() as patch:
        patch.setattr(parts_module, "engine_version", lambda: "0.0.9-abc")
        for number in range(2):
            parts.add(parts.save(number, np.zeros(12, np.uint32), 1))
    parts.file(1).write_bytes(b"short")
    status, out, err = data("games", "--positions", 3, *QUICK)
    assert (status, out) == (0, "games: 1 chunk, 3 positions\n")
    assert err.splitlines() == [
        "knightadder: games/chunk-000001.vf is damaged: its games are played again",
        "knightadder: games has games of different versions of the engine: 0.0.9-abc",
    ]


def test_chunks_that_a_merge_leaves_out_are_told(data, tmp_path, no_games):
    parts = Parts(tmp_path / "games")
    with parts.open(SAME):
        for number in range(3):
            parts.add(parts.save(number, SelfPlayer(replace(SETTINGS, games=1)).play_chunk(number), 1))
    parts.file(0).unlink()
    parts.file(1).write_bytes(b"short")
    status, out, err = data("games", "--merge", "data.bin")
    assert status == 0 and out.startswith("data.bin: ")
    assert err.splitlines() == [
        f"knightadder: games/chunk-00000{number}.vf is damaged or missing: its games are left out" for number in (1, 0)
    ]


def test_a_gap_is_filled_though_there_are_enough(data, tmp_path):
    parts = Parts(tmp_path / "games")
    with parts.open(SAME):
        words = SelfPlayer(SETTINGS).play_chunk(1)
        parts.add(parts.save(1, words, 100))
    assert data("games", "--positions", 1, "--merge", "data.bin", *QUICK)[0] == 0
    chunks = _chunks(tmp_path)
    assert chunks["chunk-000000.vf"] == SelfPlayer(SETTINGS).play_chunk(0).tobytes()
    assert list(chunks) == ["chunk-000000.vf", "chunk-000001.vf"]
    wanted = {"chunk-000000.vf": chunks["chunk-000000.vf"]}
    assert _positions((tmp_path / "data.bin").read_bytes()) == _expected(wanted)


def test_a_bad_opening(data, tmp_path):
    (tmp_path / "bad.epd").write_text("nonsense\n")
    status, out, err = data("games", "--positions", 1, *QUICK, "--openings", "file=bad.epd")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == "knightadder: bad.epd, line 1: not a position"
    # One of many is found at once, too, since chance might choose it only after hours.
    sound = "4k3/8/8/8/8/8/4P3/4K3 w - -\n"
    (tmp_path / "bad.epd").write_text(500 * sound + "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - -\n")
    status, out, err = data("others", "--positions", 1, *QUICK, "--openings", "file=bad.epd")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("knightadder: bad.epd, line 501: illegal position: White has more pieces")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["games"], "nothing to do: give --positions, --from-pgn or --merge"),
        (["games", "--merge", "data.bin"], "there is no folder games"),
        (["nowhere/games", "--positions", 1], "cannot use nowhere/games: No such file or directory"),
        (["games", "--merge", "."], "cannot write .: it is a folder"),
        (
            ["games", "--positions", 1, "--merge", "nowhere/data.bin"],
            "cannot write nowhere/data.bin: there is no folder nowhere",
        ),
        (["games", "--positions", 1, "--eval-file", "nowhere.nnue"], "cannot read nowhere.nnue: "),
        (["games", "--positions", 1, "--openings", "file=nowhere.epd"], "cannot read nowhere.epd: "),
        (["games", "--positions", 1, "--openings", "games=1"], "--openings games=1: unknown key games; "),
    ],
)
def test_bad_values_give_one_line(data, tmp_path, no_games, arguments, message):
    status, out, err = data(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: {message}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
