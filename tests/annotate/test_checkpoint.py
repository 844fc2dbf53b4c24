"""The file in which an unfinished run gathers what it has."""

import re

import pytest
from full_disk import nearly_full

from knightadder.annotate.checkpoint import Checkpoint
from knightadder.engine.errors import OptionError

RUN = {"content": "abc", "limit": {"nodes": 5}}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "out.pgn.unfinished"


def test_what_is_kept_is_there_again(file):
    with Checkpoint(file, RUN) as checkpoint:
        assert len(checkpoint) == 0
        checkpoint.add(3, [["x"], None])
        checkpoint.add(1, "a fault")
        assert checkpoint[3] == [["x"], None]
        checkpoint.add(2, [])
    with Checkpoint(file, RUN) as checkpoint:
        assert len(checkpoint) == 3
        assert [number in checkpoint for number in range(5)] == [False, True, True, True, False]
        assert [checkpoint[number] for number in (1, 2, 3)] == ["a fault", [], [["x"], None]]
        checkpoint.add(4, 4)
        checkpoint.remove()
    assert not file.exists()


def test_a_line_that_was_cut_off_is_dropped(file):
    with Checkpoint(file, RUN) as checkpoint:
        checkpoint.add(1, "one")
        checkpoint.add(2, "two")
    whole = file.read_bytes()
    for cut in range(1, len(whole.splitlines()[-1]) + 1):
        file.write_bytes(whole[:-cut])
        with Checkpoint(file, RUN) as checkpoint:
            assert len(checkpoint) == 1
            checkpoint.add(2, "two")
        assert file.read_bytes() == whole


def test_a_first_line_that_was_cut_off(file):
    with Checkpoint(file, RUN):
        pass
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])
    with Checkpoint(file, RUN) as checkpoint:
        assert len(checkpoint) == 0
    assert file.read_bytes() == whole


def test_another_run_is_refused_unless_it_is_to_begin_anew(file):
    with Checkpoint(file, RUN) as checkpoint:
        checkpoint.add(1, "one")
    before = file.read_bytes()
    with pytest.raises(OptionError, match="unfinished run with other limit: give --restart"):
        Checkpoint(file, {**RUN, "limit": {"nodes": 6}})
    with pytest.raises(OptionError, match="with other content, depth"):
        Checkpoint(file, {**RUN, "content": "abd", "depth": 1})
    assert file.read_bytes() == before
    with Checkpoint(file, {**RUN, "limit": {"nodes": 6}}, restart=True) as checkpoint:
        assert len(checkpoint) == 0


@pytest.mark.parametrize(
    "content", ["some notes\n", "notes", "[1, 2]\n", '"x"\n', "\x80\n", "{}\n", '{"fork', "[" * 100_000 + "\n", "\n"]
)
def test_a_file_of_another_kind_is_left_alone(file, content):
    file.write_text(content)
    with pytest.raises(OptionError, match="is not of an unfinished run: remove it"):
        Checkpoint(file, RUN)
    assert file.read_text() == content


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "notes",
        "[1, 2]",
        '{"game":2}',
        '{"result":[]}',
        '{"game":"2","result":[]}',
        '{"game":[2],"result":[]}',
        '{"game":true,"result":[]}',
        '{"game":2,"result":3}',
        '{"game":2,"result":null}',
        '{"game":2,"result":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"game":' + "9" * 5000 + ',"result":[]}',
        '{"game":2,"result":"\udcff"}',
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_lost(file, line):
    with Checkpoint(file, RUN) as checkpoint:
        checkpoint.add(1, "one")
        checkpoint.add(3, "three")
    first, second, third = file.read_bytes().splitlines(keepends=True)
    content = b"".join([first, second, line.encode("utf-8", "surrogateescape") + b"\n", third])
    file.write_bytes(content)
    with pytest.raises(OptionError, match=rf"^line 3 of {re.escape(str(file))} is damaged: remove the line, or give"):
        Checkpoint(file, RUN)
    assert file.read_bytes() == content
    file.write_bytes(content.replace(line.encode("utf-8", "surrogateescape") + b"\n" + third, third))
    with Checkpoint(file, RUN) as checkpoint:
        assert [checkpoint[number] for number in (1, 3)] == ["one", "three"]


def test_a_place_that_cannot_be_used(tmp_path):
    with pytest.raises(OptionError, match=r"cannot use .*: No such file"):
        Checkpoint(tmp_path / "nowhere" / "x", RUN)
    with pytest.raises(OptionError, match=r"cannot use .*: Is a directory"):
        Checkpoint(tmp_path, RUN)


@pytest.mark.parametrize("restart", [False, True])
def test_one_run_at_a_time(file, restart):
    with Checkpoint(file, RUN) as checkpoint:
        checkpoint.add(1, "one")
        before = file.read_bytes()
        with pytest.raises(OptionError, match=r"out\.pgn\.unfinished is in use by another run"):
            Checkpoint(file, RUN, restart)
        assert file.read_bytes() == before
        checkpoint.add(2, "two")
    with Checkpoint(file, RUN) as checkpoint:
        assert len(checkpoint) == 2
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("room", [0, 1, 10])
def test_a_disk_that_is_full_leaves_whole_lines(file, room, monkeypatch):
    with Checkpoint(file, RUN) as checkpoint:
        checkpoint.add(1, "one")
    whole = file.read_bytes()
    nearly_full(monkeypatch, file, room)
    with Checkpoint(file, RUN) as checkpoint, pytest.raises(OptionError, match=r"cannot write .*: No space left"):
        checkpoint.add(2, "two")
    assert (len(checkpoint), 2 in checkpoint) == (1, False)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("room", [0, 10])
def test_a_disk_that_is_full_from_the_beginning(file, room, monkeypatch):
    nearly_full(monkeypatch, file, room)
    with pytest.raises(OptionError, match=r"cannot use .*: No space left"):
        Checkpoint(file, RUN)
    assert not file.exists()
