"""The file in which an unfinished run gathers what it has."""

import pytest

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


@pytest.mark.parametrize("content", ["some notes\n", "[1, 2]\n", '"x"\n', "\x80\n"])
def test_a_file_of_another_kind_is_left_alone(file, content):
    file.write_text(content)
    with pytest.raises(OptionError, match="is not of an unfinished run: remove it"):
        Checkpoint(file, RUN)
    assert file.read_text() == content


def test_a_place_that_cannot_be_used(tmp_path):
    with pytest.raises(OptionError, match=r"cannot use .*: No such file"):
        Checkpoint(tmp_path / "nowhere" / "x", RUN)
    with pytest.raises(OptionError, match=r"cannot use .*: Is a directory"):
        Checkpoint(tmp_path, RUN)


def test_a_full_disk():
    try:
        checkpoint = Checkpoint.__new__(Checkpoint)
        checkpoint._file, checkpoint._places = "/dev/full", {}
        checkpoint._stream = open("/dev/full", "rb+", buffering=0)  # noqa: SIM115
    except OSError:
        pytest.skip("there is no /dev/full")
    with pytest.raises(OptionError, match="cannot write /dev/full: No space left"), checkpoint:
        checkpoint.add(1, "x")
