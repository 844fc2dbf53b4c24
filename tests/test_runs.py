"""What a long run keeps on disk: its own file only, one process at a time, whole or not at all, and going on."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import filelock
import pytest
from full_disk import nearly_full

from knightadder.digests import PACKAGE, content_digest, source_digest
from knightadder.engine.errors import OptionError
from knightadder.files import append_whole, check_new, locked, make_folder, reading, replacing, write_whole
from knightadder.runs import Journal, check_same_run

RUN = {"engines": ["A", "B"], "rules": {"draw": None}}


class FullFile(io.FileIO):
    """A file on a disk that has room for so many bytes more."""

    room = 10**9

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(bytes(data)[: self.room])
        self.room -= written
        return written


# --- which run -----------------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    """Give a small package."""
    for name in (
        "core/a.py",
        "core/deep/b.py",
        "core/values.json",
        "core/c.txt",
        "engine/d.py",
        "data/f.nnue",
        "web/e.py",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["core/a.py", "core/deep/b.py", "core/values.json", "engine/d.py", "core/new.py", "data/f.nnue"]
)
def test_a_changed_source_changes_the_digest(package, name):
    before = source_digest(package)
    (package / name).write_text("changed")
    assert source_digest(package) != before


@pytest.mark.parametrize("name", ["core/c.txt", "web/e.py", "core/a.pyc", "data/f.tsv"])
def test_what_does_not_decide_how_it_plays_is_no_part_of_the_digest(package, name):
    before = source_digest(package)
    (package / name).write_text("changed")
    assert source_digest(package) == before


def test_a_renamed_source_changes_the_digest(package):
    before = source_digest(package)
    (package / "core/a.py").rename(package / "core/z.py")
    assert source_digest(package) != before
    assert source_digest(package, ["core"], [".json"]) != before


def test_the_sources_of_the_engine_are_found():
    assert source_digest() == source_digest(PACKAGE) != source_digest(folders=["core"])
    assert source_digest() != source_digest(folders=["core", "engine"])  # without the network


def test_other_headers_are_refused(tmp_path):
    file = tmp_path / "f"
    check_same_run(file, {"a": 1, "b": 2, "more": 3}, {"a": 1, "b": 2})
    message = re.escape(
        f"{file} belongs to a run with other settings (b, c): use the same, or give --restart to forget it"
    )
    with pytest.raises(OptionError, match=message):
        check_same_run(file, {"a": 1, "b": 3}, {"a": 1, "b": 2, "c": 0})
    for found in (None, [], 5, "a"):
        with pytest.raises(OptionError, match="belongs to a different kind of run, so it is not used"):
            check_same_run(file, found, {"a": 1})


# --- one process at a time -----------------------------------------------------------------------------------------


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path):
    file = tmp_path / "f"
    code = (
        "import sys; from pathlib import Path; from knightadder.files import locked\n"
        "with locked(Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout.readline() == b"locked\n"
        link = tmp_path / "link"
        link.symlink_to(file)
        for name in (file, link):
            with pytest.raises(OptionError, match=f"^{re.escape(str(name))} is in use by another run$"), locked(name):
                pass
        first.kill()  # without a chance to tidy up
        first.wait()
    with locked(file):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["link"]


def test_where_there_are_no_locks_nobody_is_refused(tmp_path, monkeypatch):
    def acquire(*_, **__):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(filelock.FileLock, "acquire", acquire)
    with locked(tmp_path / "f"):
        pass


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(OptionError, match=r"cannot use .*: No such file"), locked(tmp_path / "no" / "f"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_locked_without_a_file_beside_it(tmp_path: Path) -> None:
    """The folder may be a mounted disk, and the folder that contains it read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with locked(folder):
        assert list(tmp_path.iterdir()) == [folder]
        with pytest.raises(OptionError, match=r"is in use by another run$"), locked(folder):
            pass
    with locked(folder):
        pass


# --- whole or not at all -------------------------------------------------------------------------------------------


def test_a_file_is_replaced_at_the_end(tmp_path):
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o640)
    with replacing(file) as beside:
        beside.write_text("new")
        assert file.read_text() == "old"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OptionError])
def test_the_old_file_stays_when_the_new_one_is_not_finished(tmp_path, error):
    file = tmp_path / "f"
    file.write_text("old")
    with pytest.raises(error), replacing(file) as beside:
        beside.write_text("half")
        raise error
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_sigterm_leaves_nothing_half_written(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "f") as beside, replacing(tmp_path / "g"):
        beside.write_text("half")
        signal.raise_signal(signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


_WRITER = """
import sys
from pathlib import Path
from knightadder.files import replacing
with replacing(Path(sys.argv[1])) as beside:
    beside.write_text("half")
    print(beside, flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_has_left_behind_is_removed_by_the_next_one(tmp_path):
    file = tmp_path / "f[1]"
    others = [tmp_path / name for name in (".f[1].lock", ".f[1].x1", ".f1.12", "f[1].12")]
    for other in others:
        other.touch()
    command = [sys.executable, "-c", _WRITER, str(file)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as alive,
    ):
        left = [Path(process.stdout.readline().rstrip("\n")) for process in (killed, alive)]
        killed.kill()
        killed.wait()
        assert all(each.exists() for each in left)
        write_whole(file, b"new")
        assert sorted(tmp_path.iterdir()) == sorted([file, left[1], *others])
        alive.stdin.close()
    assert file.read_text() == "half"
    assert sorted(tmp_path.iterdir()) == sorted([file, *others])


def refusing(monkeypatch, times):
    """Be Windows, and refuse to rename a file that many times, as it does while another program has the file open."""

    def replace(source, target):
        refused.append(source)
        if len(refused) <= times:
            error = PermissionError(errno.EACCES, "Access is denied")
            error.winerror = 32
            raise error
        real(source, target)

    real, refused = Path.replace, []
    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr("sys.platform", "win32")


def test_a_file_that_another_program_has_open_for_a_moment_is_replaced(tmp_path, monkeypatch):
    file = tmp_path / "f"
    file.write_text("old")
    refusing(monkeypatch, 2)
    check_new(file, force=True)
    refusing(monkeypatch, 2)
    write_whole(file, b"new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_another_program_has_open_is_refused_before_the_work(tmp_path, monkeypatch):
    file = tmp_path / "f"
    file.write_text("old")
    monkeypatch.setattr("knightadder.files._PATIENCE", 0)
    refusing(monkeypatch, 1000)
    message = re.escape(f"cannot write {file}: Access is denied; perhaps another program has it open")
    for write in (lambda: check_new(file, force=True), lambda: write_whole(file, b"new")):
        with pytest.raises(OptionError, match=f"^{message}$"):
            write()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_elsewhere_a_refusal_is_final(tmp_path, monkeypatch):
    tries = []

    def replace(source, target):
        tries.append(source)
        raise PermissionError(errno.EACCES, "Permission denied")

    file = tmp_path / "f"
    file.write_text("old")
    monkeypatch.setattr(Path, "replace", replace)
    check_new(file, force=True)
    assert not tries
    with pytest.raises(OptionError, match=r"Permission denied$"):
        write_whole(file, b"new")
    assert len(tries) == 1


def test_a_write_protected_file_is_refused_before_the_work(tmp_path):
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o444)
    for write in (lambda: check_new(file, force=True), lambda: write_whole(file, b"new")):
        with pytest.raises(OptionError, match=f"^{re.escape(f'cannot write {file}: it is write-protected')}$"):
            write()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path):
    file, link = tmp_path / "f", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_what_cannot_be_written_is_one_line(tmp_path):
    for file in (tmp_path / "no" / "f", tmp_path):
        with pytest.raises(OptionError, match=f"^cannot write {re.escape(str(file))}: "):
            write_whole(file, b"x")
    assert list(tmp_path.iterdir()) == []


def test_messages_name_the_file_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to(tmp_path / "no" / "f")
    for name in (os.path.join("no", "f"), "link"):
        with pytest.raises(OptionError, match=f"^cannot write {re.escape(name)}: No such file"):
            write_whole(Path(name), b"x")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="POSIX has such names")
def test_a_pipe_is_written_to_by_its_name():
    reader, writer = os.pipe()
    file = Path(f"/dev/fd/{writer}")
    check_new(file, force=True)
    write_whole(file, b"x")
    os.close(writer)
    with open(reader, "rb") as stream:
        assert stream.read() == b"x"


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="POSIX has such names")
def test_a_journal_does_not_remove_the_name_of_an_open_file(tmp_path):
    with open(tmp_path / "log", "ab") as stream:
        file = Path(f"/dev/fd/{stream.fileno()}")
        with Journal(file, RUN) as journal:
            journal.add(1, {"n": 1})
            journal.remove()
        assert file.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has such a device")
def test_a_device_is_written_to_and_not_replaced():
    write_whole(Path("/dev/null"), b"x")
    with pytest.raises(OptionError, match="cannot write /dev/full: No space left on device"):
        write_whole(Path("/dev/full"), b"x")
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("room", [0, 1, 4])
def test_a_full_disk_leaves_nothing_half_written(tmp_path, room):
    file = tmp_path / "f"
    file.write_bytes(b"old")
    with FullFile(file, "ab") as stream:
        stream.room = room
        with pytest.raises(OptionError, match=f"^cannot write {re.escape(str(file))}: No space left"):
            append_whole(stream, b"a line")
        assert file.read_bytes() == b"old"
        stream.room = 100
        append_whole(stream, b"+new")
    assert file.read_bytes() == b"old+new"


def test_what_is_written_in_parts_is_whole(tmp_path):
    class Slow(io.FileIO):
        def write(self, data):
            return super().write(bytes(data)[:2])

    with Slow(tmp_path / "f", "ab") as stream:
        append_whole(stream, b"a line")
    assert (tmp_path / "f").read_bytes() == b"a line"


# --- reading -------------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    for file in (tmp_path / "none", tmp_path):
        with pytest.raises(OptionError, match=f"^cannot read {re.escape(str(file))}: "), reading(file):
            file.read_text()
        with pytest.raises(OptionError, match=f"^cannot read {re.escape(str(file))}: "):
            content_digest(file)


def test_the_digest_of_a_file_is_that_of_its_content(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    # FIPS 180-4's example
    assert content_digest(tmp_path / "f") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# --- the journal ---------------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    """Give a journal with two steps."""
    file = tmp_path / "run.jsonl"
    with Journal(file, RUN) as journal:
        journal.add(4, {"x": 1})
        journal.add(2, {"x": 2})
    return file


def _steps(file, run=RUN):
    with Journal(file, run) as journal:
        return journal.entries(lambda entry: (entry["number"], entry["x"]))


def test_what_is_written_is_read_again(log):
    before = log.read_bytes()
    assert _steps(log) == [(2, 2), (4, 1)]
    with Journal(log, RUN) as journal:
        assert (len(journal), 2 in journal, 3 in journal) == (2, True, False)
        assert journal[4] == {"number": 4, "x": 1}
        with pytest.raises(KeyError):
            journal[3]
    assert log.read_bytes() == before
    assert json.loads(before.splitlines()[0]) == RUN


def test_it_goes_on_at_the_end(log):
    with Journal(log, RUN) as journal:
        journal.add(3, {"x": 9})
        assert journal[3]["x"] == 9
    assert _steps(log) == [(2, 2), (3, 9), (4, 1)]
    assert [entry.name for entry in log.parent.iterdir()] == [log.name]


def test_a_number_counts_once(log):
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines, lines[1], b'{"number":2,"x":7}\n']))
    assert _steps(log) == [(2, 2), (4, 1)]


@pytest.mark.parametrize("cut", [1, 10])
def test_a_line_that_was_cut_off_is_dropped(log, cut):
    log.write_bytes(log.read_bytes()[:-cut])
    with Journal(log, RUN) as journal:
        assert len(journal) == 1
        journal.add(2, {"x": 5})
    assert _steps(log) == [(2, 5), (4, 1)]


def test_a_header_that_was_cut_off_is_written_again(log):
    log.write_bytes(log.read_bytes()[:10])
    with Journal(log, RUN) as journal:
        assert len(journal) == 0
        assert json.loads(log.read_bytes()) == RUN


@pytest.mark.parametrize("room", [0, 5])
def test_a_disk_that_is_full_from_the_start_is_left_without_an_empty_file(tmp_path, monkeypatch, room):
    file = tmp_path / "out.unfinished"
    nearly_full(monkeypatch, file, room)
    with pytest.raises(OptionError, match="No space left on device"):
        Journal(file, RUN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows does not remove an open file")
def test_a_file_that_is_removed_meanwhile_hides_no_error(tmp_path, monkeypatch):
    file = tmp_path / "out.unfinished"

    def fail(*_):
        file.unlink()
        raise OptionError("the true error")

    monkeypatch.setattr(Journal, "_read", fail)
    with pytest.raises(OptionError, match=r"^the true error$"):
        Journal(file, RUN)


def test_a_run_that_did_nothing_leaves_no_file(tmp_path):
    with pytest.raises(OptionError), Journal(tmp_path / "run.jsonl", RUN):
        raise OptionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"",
        b"\0\0\0",
        b"\xff\xfe",
        b"5",
        b"[]",
        b"{}",
        b'{"number":true}',
        b'{"number":"4"}',
        b'{"number":4.0}',
        b"[" * 100_000,
        b'{"number":' + b"9" * 10_000 + b"}",
    ],
)
def test_a_damaged_line_is_named(log, line):
    before = log.read_bytes().splitlines()
    before.insert(2, line)
    log.write_bytes(b"\n".join([*before, b""]))
    damaged = log.read_bytes()
    message = f"{log}, line 3 is damaged: remove this line to repeat its part, or give --restart to forget it"
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        Journal(log, RUN)
    assert log.read_bytes() == damaged


@pytest.mark.parametrize("read", [lambda entry: entry["y"], lambda entry: int("x"), lambda entry: entry.nothing])
def test_an_entry_that_is_not_what_it_should_be_is_named(log, read):
    with Journal(log, RUN) as journal, pytest.raises(OptionError, match="line 3 is damaged"):
        journal.entries(read)


def test_another_run_is_refused_and_left_alone(log):
    before = log.read_bytes()
    with pytest.raises(OptionError, match=r"belongs to a run with other settings \(rules\): "):
        Journal(log, {**RUN, "rules": {"draw": 1}})
    assert log.read_bytes() == before


@pytest.mark.parametrize("rest", [b"", b'{"number": 1'])
def test_a_run_of_the_same_kind_that_did_nothing_is_taken_over(tmp_path, rest):
    file = tmp_path / "run.jsonl"
    other = {**RUN, "rules": {"draw": 1}}
    with Journal(file, other):
        header = file.read_bytes()
    file.write_bytes(header + rest)
    with Journal(file, RUN) as journal:
        journal.add(1, {"x": 1})
        assert journal[1] == {"number": 1, "x": 1}  # and not what was there before
    assert _steps(file) == [(1, 1)]
    with pytest.raises(OptionError, match="belongs to a run with"):
        Journal(file, other)


@pytest.mark.parametrize("text", ["nonsense\n", "nonsense", "[1]\n", '{"x": 1}\n', "[" * 100_000 + "\n", "5", "\0"])
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(OptionError, match=r"file belongs to a (different kind of )?run.*"):
        Journal(file, RUN)
    assert file.read_text() == text


def test_places_that_cannot_be_used(tmp_path):
    for file in (tmp_path / "no" / "such" / "folder", tmp_path, Path("/"), Path()):
        with pytest.raises(OptionError, match=f"^cannot use {re.escape(str(file))}: "):
            Journal(file, RUN)


def test_a_file_is_not_used_as_a_folder(tmp_path):
    file = tmp_path / "games.pgn"
    file.touch()
    with pytest.raises(OptionError, match=rf"^cannot use {re.escape(str(file))}: it is not a folder$"):
        make_folder(file)


def test_without_a_file_nothing_is_kept():
    with Journal(None, RUN) as journal:
        journal.add(1, {})
        assert len(journal) == 0
        assert journal.entries(dict) == []


def test_beginning_anew(log):
    with Journal(log, {"other": 1}, restart=True) as journal:
        assert len(journal) == 0
        assert json.loads(log.read_bytes()) == {"other": 1}


def test_a_file_of_something_else_is_not_begun_anew(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text('[Event "mine"]\n')
    with pytest.raises(
        OptionError,
        match=r"belongs to a different kind of run, so it is not used: choose a different name, or remove it$",
    ):
        Journal(file, RUN, restart=True)
    assert file.read_text() == '[Event "mine"]\n'


def test_a_second_journal_of_the_same_file_is_refused(log):
    with Journal(log, RUN), pytest.raises(OptionError, match="is in use by another run"):
        Journal(log, RUN)
    with pytest.raises(OptionError, match="belongs to a run with"):
        Journal(log, {"other": 1})
    assert len(_steps(log)) == 2  # neither keeps the lock


def test_a_finished_run_leaves_nothing(log):
    with Journal(log, RUN) as journal:
        journal.remove()
    assert list(log.parent.iterdir()) == []
