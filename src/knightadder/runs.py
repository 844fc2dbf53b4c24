"""What a long run keeps on disk, so that it may be broken off at any moment and the same command goes on from there.

A file belongs to one run, which a header describes, and only one process at a time uses it. What is written is there
whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from knightadder.engine.errors import OptionError

T = TypeVar("T")

PACKAGE = Path(__file__).parent

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of some network file systems


# --- which run -----------------------------------------------------------------------------------------------------


def source_digest(
    package: Path = PACKAGE, folders: Sequence[str] = ("core", "engine"), suffixes: Sequence[str] = (".py", ".json")
) -> str:
    """Digest the sources that decide how the engine plays.

    Unlike the key of the compiled code it is the same on all machines.

    Parameters
    ----------
    package : Path
        The folder of the package; this one by default.
    folders : sequence of str
        The packages in it that count.
    suffixes : sequence of str
        How the names of the files that count end: sources, and values that they read.

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
    """Digest the contents of files, and what they are called; 16 hexadecimal digits, errors as of `source_digest`."""
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        try:
            with file.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()[:16]


def check_same_run(file: Path, found: object, wanted: Mapping[str, Any], remedy: str) -> None:
    """Refuse a file of another run.

    Parameters
    ----------
    file : Path
        The file, for the message.
    found : object
        Its header.
    wanted : mapping
        The header of this run: what makes two runs the same, as JSON can hold it.
    remedy : str
        What else the user can do than to go on with the same: ``give another --log``.

    Raises
    ------
    OptionError
        If the headers differ.
    """
    if not isinstance(found, dict):
        raise OptionError(f"{file} is not of such a run: {remedy}")
    differing = [key for key in wanted if found.get(key) != wanted[key]]
    if differing:
        raise OptionError(
            f"{file} belongs to another run, with other {', '.join(differing)}: go on with the same, or {remedy}"
        )


# --- one process at a time -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep other processes from a file, or a folder, while a ``with`` block runs.

    The operating system ends the lock with the process, however it dies. Where locks do not work there is none.

    Raises
    ------
    OptionError
        If another process has locked it, or its folder cannot be used.
    """
    import filelock  # only here, since most commands lock nothing

    if file.exists() and not file.is_file() and not file.is_dir():
        yield  # a device or a pipe
        return
    place = file.resolve()  # links to a file share its lock
    place = place.parent / f".{place.name}.lock"
    lock = filelock.FileLock(place)
    try:
        if not place.parent.is_dir():  # the library would make it
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
            with contextlib.suppress(OSError):  # some systems remove no open file; then it stays, and does no harm
                place.unlink()
            lock.release()


# --- whole or not at all -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Replace a file, so that at any time either the old or the new one is there.

    Yields
    ------
    Path
        What to write instead: a file beside it, which takes its place at the end of the ``with`` block, and is removed
        if that fails. What is no regular file, such as ``/dev/stdout``, is given itself.

    Raises
    ------
    OptionError
        If the file cannot be written.
    """
    file = file.resolve()  # a link stays one
    direct = file.exists() and not file.is_file()
    beside = file if direct else file.with_name(f".{file.name}.{os.getpid()}")
    try:
        yield beside
        if not direct:
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


def write_whole(file: Path, data: bytes | memoryview) -> None:
    """Write a file as `replacing` does; OptionError if it cannot be written."""
    with replacing(file) as beside:
        beside.write_bytes(data)


def append_whole(stream: io.FileIO, data: bytes) -> None:
    """Append to a file, or leave it as it was.

    Parameters
    ----------
    stream : FileIO
        The file, opened for appending and without a buffer.
    data : bytes
        What to append.

    Raises
    ------
    OSError
        If it cannot be written. The file is cut back then, as after Ctrl-C.
    """
    end = stream.seek(0, os.SEEK_END) if stream.seekable() else None
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[stream.write(rest) :]
    except BaseException:
        if end is not None:
            with contextlib.suppress(OSError):
                stream.truncate(end)
        raise


# --- what is done --------------------------------------------------------------------------------------------------


class Journal:
    """What is done of a run, as JSON lines: the first says which run it is, each other one is of a numbered step.

    A number counts once, however often it is there. A last line without its end was cut off by a crash, and is dropped.
    A file of another run of the same kind that has no step yet is taken over.

    Parameters
    ----------
    file : Path, optional
        The file, which is made if it is missing; without one nothing is kept.
    run : mapping
        What makes two runs the same, as JSON can hold it.
    remedy : str
        What the user can do if the file is of another run: ``give another --log``.
    restart : bool
        Whether to begin anew, whatever is in the file.

    Raises
    ------
    OptionError
        If the file belongs to another run, is in use, is damaged, or cannot be used.
    """

    def __init__(self, file: Path | None, run: Mapping[str, Any], remedy: str, restart: bool = False) -> None:
        self._file, self._remedy = file, remedy
        self._places: dict[int, tuple[int, int]] = {}  # number of the line, and where it begins
        self._held = contextlib.ExitStack()
        if file is None:
            return
        try:
            with contextlib.ExitStack() as stack:
                stack.enter_context(locked(file))
                self._stream = stack.enter_context(file.open("ab", buffering=0))
                self._reader = stack.enter_context(file.open("rb"))
                if restart:
                    self._stream.truncate(0)
                self._read(file, _line(run))
                self._held = stack.pop_all()
        except OSError as error:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None

    def _read(self, file: Path, header: bytes) -> None:
        """Find the lines; cut off a last one without its end."""
        end = self._read_header(file, header)
        self._reader.seek(end)
        for number, line in enumerate(self._reader, 2):
            if end == 0 or not line.endswith(b"\n"):
                break
            value = _parsed(line)
            step = value.get("number") if isinstance(value, dict) else None
            if type(step) is not int:
                raise self._damaged(number)
            self._places.setdefault(step, (number, end))
            end += len(line)
        if self._stream.seek(0, os.SEEK_END) > end:
            self._stream.truncate(end)
        if end == 0:
            append_whole(self._stream, header)

    def _read_header(self, file: Path, header: bytes) -> int:
        """Give the length of the header in the file; 0 if it is to be written."""
        line = self._reader.readline()
        if header.startswith(line) and line != header:  # empty, or cut off
            return 0
        found, wanted = _parsed(line), json.loads(header)
        if not line.endswith(b"\n"):
            found = None
        if isinstance(found, dict) and found.keys() == wanted.keys() and not self._reader.readline().endswith(b"\n"):
            return len(line) if found == wanted else 0
        check_same_run(file, found, wanted, self._remedy)
        return len(line)

    def _damaged(self, line: int) -> OptionError:
        return OptionError(f"{self._file}, line {line} is damaged: remove it to do its part again, or {self._remedy}")

    def __len__(self) -> int:
        """Tell how many steps are done."""
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        """Tell whether a step is done."""
        return number in self._places

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Give what is kept of a step; KeyError if it is not done, OptionError if it cannot be read."""
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
        """Give all that is done, by number.

        Parameters
        ----------
        read : callable
            Turns what is kept of a step, its ``number`` included, into what the run makes of it. A ValueError,
            TypeError, AttributeError, KeyError or IndexError means that the line is not what it should be.

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
            except (ValueError, TypeError, AttributeError, LookupError):
                raise self._damaged(self._places[number][0]) from None
        return entries

    def add(self, number: int, entry: Mapping[str, Any]) -> None:
        """Keep a step.

        Parameters
        ----------
        number : int
            Which step.
        entry : mapping
            What to keep, as JSON can hold it.

        Raises
        ------
        OptionError
            If it cannot be written; the file is as it was then.
        """
        if self._file is None:
            return
        try:
            place = self._stream.seek(0, os.SEEK_END)
            append_whole(self._stream, _line({"number": number, **entry}))
        except OSError as error:
            raise OptionError(f"cannot write {self._file}: {error.strerror}") from None
        self._places[number] = (len(self._places) + 2, place)

    def remove(self) -> None:
        """Remove the file, now that the run is finished; OptionError if that cannot be done."""
        if self._file is None:
            return
        self._reader.close()  # since some systems remove no open file
        self._stream.close()
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise OptionError(f"cannot remove {self._file}: {error.strerror}") from None
        finally:
            self.close()

    def close(self) -> None:
        """Close the file, and let other processes use it."""
        self._held.close()

    def __enter__(self) -> Self:
        """Give the journal itself to a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file at the end of a ``with`` block."""
        self.close()


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> object:
    """Read a line; None if it is damaged."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value
