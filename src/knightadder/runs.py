"""Files of long runs: a run may be interrupted at any moment, and the same command continues it.

Every long command keeps its state beside its output. It forgets the state with ``--restart``.

A file belongs to one run, which its header describes, and only one process at a time uses it. Each write happens
completely or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from knightadder.closing import Closing
from knightadder.engine.errors import OptionError
from knightadder.foreign import parse_json

T = TypeVar("T")

REMEDY = "give --restart to forget it"

PACKAGE = Path(__file__).parent

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # errors of some network file systems


# --- which run -----------------------------------------------------------------------------------------------------


def source_digest(
    package: Path = PACKAGE,
    folders: Sequence[str] = ("core", "engine", "data"),
    suffixes: Sequence[str] = (".py", ".json", ".nnue"),
) -> str:
    """Return a digest of the sources and the network that decide how the engine plays.

    Unlike the key of the compiled code, it is the same on all machines.

    Parameters
    ----------
    package : Path
        The folder of the package; this one by default.
    folders : sequence of str
        The folders in it to digest.
    suffixes : sequence of str
        Suffixes of the files to digest: sources, values that they read, and networks.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    OptionError
        If a file cannot be read.
    """
    files = {
        file.relative_to(package).as_posix(): file
        for folder in folders
        for file in (package / folder).rglob("*")
        if file.suffix in suffixes
    }
    return digest_of(files)


def digest_of(files: Mapping[str, Path]) -> str:
    """Return a digest of files and their names: 16 hexadecimal digits; raises the same errors as `source_digest`."""
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        digest.update(f"{name}\0{content_digest(file)}\0".encode())
    return digest.hexdigest()[:16]


def content_digest(file: Path) -> str:
    """Return a digest of a file's content, the hexadecimal SHA-256; OptionError if the file cannot be read."""
    with reading(file), file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_same_run(file: Path, found: object, wanted: Mapping[str, Any], remedy: str = REMEDY) -> None:
    """Raise an error if a file belongs to another run.

    Parameters
    ----------
    file : Path
        The file, for the message.
    found : object
        Its header.
    wanted : mapping
        The header of this run, which identifies the run; must be serialisable as JSON.
    remedy : str
        What else to do, for the message.

    Raises
    ------
    OptionError
        If the headers differ.
    """
    if not isinstance(found, dict):
        raise OptionError(f"{file} is not of such a run, so it is not used")
    differing = [key for key in wanted if found.get(key) != wanted[key]]
    if differing:
        raise OptionError(
            f"{file} belongs to another run, with other {', '.join(differing)}: go on with the same, or {remedy}"
        )


def state_beside(output: Path | None) -> Path | None:
    """Return the file with the state of an unfinished run, which lies beside its output; None if this is no file."""
    if output is None or (output.exists() and not output.is_file()):
        return None
    return output.with_name(f"{output.name}.unfinished")


# --- one process at a time -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep other processes from a file, or a folder, while a ``with`` block runs.

    The operating system releases the lock when the process ends, for any reason. File systems without locks get none.

    Raises
    ------
    OptionError
        If another process has locked it, or its folder cannot be used.
    """
    import filelock  # imported here, since most commands lock nothing

    if file.exists() and not file.is_file() and not file.is_dir():
        yield  # no lock for a device or a pipe
        return
    place = file.resolve()  # so links to a file share its lock
    place = place.parent / f".{place.name}.lock"
    lock = filelock.FileLock(place)
    try:
        if not place.parent.is_dir():  # otherwise filelock would create it
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise OptionError(f"{file} is in use by another run") from None
    except NotImplementedError:
        pass
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None
    try:
        yield
    finally:
        if lock.is_locked:
            with contextlib.suppress(OSError):  # some systems cannot remove an open file; it may stay
                place.unlink()
            lock.release()


# --- reading -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn an OSError in a ``with`` block that reads a file into an OptionError of one line."""
    try:
        yield
    except OSError as error:
        raise OptionError(f"cannot read {file}: {error.strerror}") from None


# --- whole or not at all -------------------------------------------------------------------------------------------


def check_new(file: Path, force: bool) -> None:
    """Refuse a file that cannot be written, before hours of work.

    Parameters
    ----------
    file : Path
        The file that the run is going to write.
    force : bool
        Whether an existing one may be overwritten.

    Raises
    ------
    OptionError
        If it is a folder, exists and may not be overwritten, or its folder does not exist.
    """
    if file.is_dir():
        raise OptionError(f"cannot write {file}: it is a folder")
    if file.exists() and not force:
        raise OptionError(f"{file} is there already: give --force to overwrite it")
    if not file.parent.is_dir():
        raise OptionError(f"cannot write {file}: there is no folder {file.parent}")


def check_not_games(file: Path, games: Iterable[str], option: str = "--out") -> None:
    """Refuse to overwrite a file of games that a run reads.

    Parameters
    ----------
    file : Path
        The file that the run is going to write.
    games : iterable of str
        Names of the files that it reads.
    option : str
        The option that names `file`, for the message.

    Raises
    ------
    OptionError
        If `file` is one of them, whatever its name.
    """
    if file.is_file() and any(other.exists() and file.samefile(other) for other in map(Path, games)):
        raise OptionError(f"{option} {file}: the file of games is not overwritten")


@contextlib.contextmanager
def replacing(file: Path, tidy: bool = True) -> Iterator[Path]:
    """Replace a file, so that at any time either the old or the new file exists.

    Parameters
    ----------
    file : Path
        The file.
    tidy : bool
        Whether to remove what killed processes have left of it before, see `remove_left_behind`, for which the whole
        folder is read.

    Yields
    ------
    Path
        The file to write: a temporary file in the same folder, which replaces `file` at the end of the ``with`` block
        and is removed if that fails. If `file` is not a regular file, such as ``/dev/stdout``, `file` itself.

    Raises
    ------
    OptionError
        If the file cannot be written.
    """
    file = file.resolve()  # keeps a link, and replaces its target
    direct = file.exists() and not file.is_file()
    beside = file if direct else file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if direct:
            yield beside
            return
        if tidy:
            remove_left_behind(file.parent, glob.escape(file.name))
        with _held(beside):
            yield beside
        with beside.open("rb+") as stream:
            os.fsync(stream.fileno())
        with contextlib.suppress(OSError):
            shutil.copymode(file, beside)
        beside.replace(file)
    except OSError as error:
        raise OptionError(f"cannot write {file}: {error.strerror}") from None
    finally:
        if not direct:
            with contextlib.suppress(OSError):
                beside.unlink()


def remove_left_behind(folder: Path, names: str) -> None:
    """Remove the temporary files of processes that were killed while they replaced files whose names match a pattern.

    A process keeps its file open and locked. That ends with the process, whatever its number and machine.
    """
    for entry in folder.glob(f".{names}.*"):
        if entry.suffix[1:].isdecimal():
            with contextlib.suppress(OSError):  # in use, or another run has removed it
                with entry.open("rb+") as stream:
                    _lock(stream)
                    if os.name == "posix":
                        entry.unlink()
                if os.name != "posix":  # where an open file cannot be removed
                    entry.unlink()


@contextlib.contextmanager
def _held(beside: Path) -> Iterator[None]:
    """Create a temporary file, and keep it open and locked in a ``with`` block."""
    while True:
        with beside.open("wb") as stream:
            with contextlib.suppress(OSError):  # another run looks at it now, or the file system has no locks
                _lock(stream)
            # On Windows, nobody can remove it while it is open.
            if os.name != "posix" or _is_still(stream, beside):
                yield
                return


def _is_still(stream: IO[bytes], file: Path) -> bool:
    """Return whether an open file still has its name: another run may have removed it before it was locked."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), file.stat())
    except FileNotFoundError:
        return False


def _lock(stream: IO[bytes]) -> None:
    """Lock an open file until it is closed; OSError if another process has locked it. Windows needs no lock."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_whole(file: Path, data: bytes | memoryview, tidy: bool = True) -> None:
    """Write a file as `replacing` does; OptionError if it cannot be written."""
    with replacing(file, tidy) as beside:
        beside.write_bytes(data)


@contextlib.contextmanager
def appending(file: Path) -> Iterator[io.FileIO]:
    """Lock a file, created if missing, and open it for appending.

    Yields
    ------
    FileIO
        The file, without a buffer, for `append_whole`.

    Raises
    ------
    OptionError
        If it is in use by another run or cannot be used; also in place of an OSError in the ``with`` block.
    """
    with locked(file):
        try:
            with file.open("ab", buffering=0) as stream:
                yield stream
        except OSError as error:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None


def append_whole(stream: io.FileIO, data: bytes) -> int:
    """Append to a file, or leave it as it was.

    Parameters
    ----------
    stream : FileIO
        The file, opened for appending and without a buffer.
    data : bytes
        What to append.

    Returns
    -------
    int
        Where it begins in the file; 0 in a pipe or device.

    Raises
    ------
    OptionError
        If it cannot be written. The file is then cut to its old size, as after Ctrl-C.
    """
    rest = memoryview(data)
    end = None
    try:
        end = stream.seek(0, os.SEEK_END) if stream.seekable() else None
        while rest:
            rest = rest[stream.write(rest) :]
    except BaseException as error:
        if end is not None:
            with contextlib.suppress(OSError):
                stream.truncate(end)
        if isinstance(error, OSError):
            raise OptionError(f"cannot write {stream.name}: {error.strerror}") from None
        raise
    return end or 0


# --- what is done --------------------------------------------------------------------------------------------------


class Journal(Closing):
    """The finished steps of a run, as JSON lines: the first line identifies the run, the others are numbered steps.

    If a step is there several times, it counts once. An incomplete last line, left by a crash, is dropped. A file of
    another run of the same kind is reused if it has no steps yet.

    Parameters
    ----------
    file : Path, optional
        The file, created if missing; without a file nothing is kept.
    run : mapping
        Identifies the run; must be serialisable as JSON.
    restart : bool
        Whether to forget what is in the file.

    Raises
    ------
    OptionError
        If the file belongs to another run, is in use, is damaged, or cannot be used.
    """

    def __init__(self, file: Path | None, run: Mapping[str, Any], restart: bool = False) -> None:
        self._file = file
        self._places: dict[int, tuple[int, int]] = {}  # step to line number and position of the line in the file
        self._held = contextlib.ExitStack()
        if file is None:
            return
        with contextlib.ExitStack() as stack:
            self._stream = stack.enter_context(appending(file))
            self._reader = stack.enter_context(file.open("rb"))
            self._read(file, _line(run), restart)
            self._held = stack.pop_all()

    def _read(self, file: Path, header: bytes, restart: bool) -> None:
        """Find the lines; cut off an incomplete last line, and write the header if it is missing."""
        end = self._read_header(file, header, restart)
        if end is None:
            self._cut(0)
            append_whole(self._stream, header)
        else:
            self._cut(self._read_steps(end))

    def _read_steps(self, end: int) -> int:
        """Find the lines after the header, which ends at `end`; return the end of the last complete line."""
        self._reader.seek(end)
        for number, line in enumerate(self._reader, 2):
            if not line.endswith(b"\n"):
                break
            value = _parsed(line)
            step = value.get("number") if isinstance(value, dict) else None
            if type(step) is not int:
                raise self._damaged(number)
            self._places.setdefault(step, (number, end))
            end += len(line)
        return end

    def _cut(self, size: int) -> None:
        """Cut the file to a size, unless it is no longer; a device cannot be cut."""
        if self._stream.seek(0, os.SEEK_END) > size:
            self._stream.truncate(size)

    def _read_header(self, file: Path, header: bytes, restart: bool) -> int | None:
        """Return the length of the header in the file; None if the header has to be written."""
        line = self._reader.readline()
        if header.startswith(line) and line != header:  # empty, or an incomplete header
            return None
        found, wanted = _parsed(line), json.loads(header)
        if not line.endswith(b"\n"):
            found = None
        if restart and isinstance(found, dict):
            return None
        if isinstance(found, dict) and found.keys() == wanted.keys() and not self._reader.readline().endswith(b"\n"):
            return len(line) if found == wanted else None
        check_same_run(file, found, wanted)
        return len(line)

    def _damaged(self, line: int) -> OptionError:
        return OptionError(f"{self._file}, line {line} is damaged: remove it to do its part again, or {REMEDY}")

    def __len__(self) -> int:
        """Return the number of finished steps."""
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        """Return whether a step is finished."""
        return number in self._places

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return the entry of a step; KeyError if it is not finished, OptionError if it cannot be read."""
        line, place = self._places[number]
        try:
            self._reader.seek(place)
            value = _parsed(self._reader.readline())
        except OSError as error:
            raise OptionError(f"cannot read {self._file}: {error.strerror}") from None
        if not isinstance(value, dict):
            raise self._damaged(line)
        return value

    def entries(self, read: Callable[[dict[str, Any]], T]) -> list[T]:
        """Return all entries, sorted by number.

        Parameters
        ----------
        read : callable
            Converts the entry of a step, including its ``number``. A ValueError, TypeError, AttributeError, LookupError
            or ArithmeticError means that the line is damaged.

        Raises
        ------
        OptionError
            If a line is damaged.
        """
        entries = []
        for number in sorted(self._places):
            value = self[number]
            try:
                entries.append(read(value))
            except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
                raise self._damaged(self._places[number][0]) from None
        return entries

    def add(self, number: int, entry: Mapping[str, Any]) -> None:
        """Append a step.

        Parameters
        ----------
        number : int
            Number of the step.
        entry : mapping
            Its data; must be serialisable as JSON.

        Raises
        ------
        OptionError
            If it cannot be written; the file is then unchanged.
        """
        if self._file is None:
            return
        place = append_whole(self._stream, _line({"number": number, **entry}))
        self._places[number] = (len(self._places) + 2, place)

    def remove(self) -> None:
        """Remove the file after the end of the run; OptionError if that fails."""
        if self._file is None:
            return
        self._reader.close()  # some systems cannot remove an open file
        self._stream.close()
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise OptionError(f"cannot remove {self._file}: {error.strerror}") from None
        finally:
            self.close()

    def close(self) -> None:
        """Close the file and release its lock."""
        self._held.close()


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> object:
    """Return the value of a line; None if it is damaged."""
    try:
        value: object = parse_json(line)
    except ValueError:
        return None
    return value
