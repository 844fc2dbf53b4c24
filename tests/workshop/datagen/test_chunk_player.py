"""Chunks that workers play: the same bytes by any number of them, also if some are killed; damaged ones are refused."""

from __future__ import annotations

import os
import signal
from itertools import islice

import pytest
from distributed import Client
from local_cluster import local_cluster

from knightadder import cli
from knightadder.engine.errors import EngineError
from knightadder.workshop.datagen.chunk_player import ChunkPlayer, play_chunks
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.self_player import GameSettings

SETTINGS = GameSettings(nodes=5, megabytes=1)
SAME = ("--nodes", "5", "--hash", "1", "--positions", "30000")


class OnePlayer:
    """Plays in this process, and may change what it has played."""

    def __init__(self, change=bytes):
        self._player, self._change = ChunkPlayer(SETTINGS), change

    def run(self, numbers):
        for number in numbers:
            yield number, self._change(self._player(number))


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path / "games")
    with parts.open({}):
        yield parts


def test_chunks_are_saved_until_there_are_enough(parts):
    chunks = list(islice(play_chunks(OnePlayer(), parts, range(3, 100), 100), 2))
    assert [chunk.number for chunk in chunks] == list(parts.chunks) == [3, 4]
    player = ChunkPlayer(SETTINGS)
    assert [parts.file(number).read_bytes() for number in (3, 4)] == [player(3), player(4)]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data[:-1], "buffer size must be a multiple"),
        (lambda data: data[:-4], "the game at byte"),
        (lambda data: data[:32] + b"\x00\x10" + data[34:], "the game at byte 0 is damaged"),  # a move from a1 to a1
        (lambda data: data + data, "expected 100 games, got [0-9]+"),
        (lambda data: b"", "expected 100 games, got [0-9]+"),
        (lambda data: None, ""),
    ],
)
def test_what_is_no_chunk_is_refused(parts, change, fault):
    with pytest.raises(EngineError, match=rf"^a worker returned a damaged chunk 7: .*{fault}"):
        list(play_chunks(OnePlayer(change), parts, [7], 100))
    assert parts.chunks == {}
    assert not parts.file(7).exists()


@pytest.fixture
def merged(tmp_path, monkeypatch, capsys):
    """Give the function that merges the games of a run with these arguments."""
    monkeypatch.chdir(tmp_path)

    def run(name, *arguments):
        assert cli.main(["datagen", name, *SAME, "--merge", f"{name}.bin", *arguments]) == 0
        return (tmp_path / f"{name}.bin").read_bytes()

    return run


def test_the_file_is_the_same_by_one_process_two_and_a_cluster_whose_workers_are_killed(merged, monkeypatch, capsys):
    by_one = merged("one", "--concurrency", "1")
    assert merged("two", "--concurrency", "2") == by_one
    add = Parts.add
    with local_cluster() as cluster:
        with Client(cluster) as client:  # asked now, because those that are killed do not answer
            processes = list(client.run(os.getpid).values())

        def add_and_kill(parts, chunk):
            add(parts, chunk)
            if processes:
                os.kill(processes.pop(), signal.SIGKILL)

        monkeypatch.setattr(Parts, "add", add_and_kill)
        assert merged("cluster", "--cluster", cluster.scheduler_address) == by_one
    assert processes == []
    assert capsys.readouterr().err in ("", "knightadder: the cluster has no workers: waiting for one\n")
