"""Files: reading with one-line errors, locking, and writing completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import glob
import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TextIO

from knightadder.engine.errors import OptionError
from knightadder.foreign import parse_toml
from knightadder.signals import terminating_interrupts

STANDARD = Path("-")  # the name of standard input, or output, in arguments
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # suffixes of compressed files
_OPEN_FILES = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))  # folders with names of this process's files
_PATIENCE = 2.0  # seconds to wait for another program that has a file open, such as a virus scanner
_PAUSE = 0.05  # seconds between two tries
_WRITABLE = 0o222  # the bits of a file's mode that allow to write; Windows has one such flag for each file
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # errors of some network file systems


@contextlib.contextmanager
def doing(what: str, file: Path | str) -> Iterator[None]:
    """Turn an OSError in a ``with`` block into an OptionError such as ``cannot read FILE: Permission denied``."""
    try:
        yield
    except OSError as error:
        raise OptionError(f"cannot {what} {file}: {error.strerror or error}") from None


def reading(file: Path | str) -> contextlib.AbstractContextManager[None]:
    """Turn an OSError in a ``with`` block that reads a file into an OptionError."""
    return doing("read", file)


def writing(file: Path | str) -> contextlib.AbstractContextManager[None]:
    """Turn an OSError in a ``with`` block that writes a file into an OptionError."""
    return doing("write", file)


def check_name(name: Path) -> None:
    """Raise OSError if the system refuses a name, for example because it is too long. The file may be missing."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        name.lstat()


def existing_folders(names: Iterable[str]) -> list[str]:
    """Return the names that are not empty; OptionError if one of them is not a folder."""
    folders = [name for name in names if name]
    for name in folders:
        if not os.path.isdir(name):
            raise OptionError(f"there is no folder {name}")
    return folders


def read_toml(file: Path) -> dict[str, Any]:
    """Return the values of a TOML file; OptionError if it cannot be read, or is not TOML."""
    with reading(file):
        data = file.read_bytes()
    try:
        return parse_toml(data)
    except ValueError as error:
        raise OptionError(f"{file}: {error}") from None


def make_folder(folder: Path, parents: bool = True) -> None:
    """Make a folder, by default with its missing parents, unless it exists; OptionError if that fails."""
    with doing("use", folder):
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"cannot use {folder}: it is not a folder")
        folder.mkdir(parents=parents, exist_ok=True)


def is_special(file: Path) -> bool:
    """Return whether a file is written to directly, and is neither locked nor replaced: a device, a pipe, or another
    name of an open file, such as ``/dev/stdout``, even if the open file is a regular file.
    """
    if not file.exists() or file.is_dir():
        return False
    return not file.is_file() or file.absolute().parent in _OPEN_FILES


def without_links(file: Path) -> Path:
    """Return the absolute path of a file, without links. ``Path.resolve`` may fail for a link to itself."""
    return Path(os.path.realpath(file))


def message_stream(*outputs: Path | None) -> TextIO:
    """Return the stream for messages: standard error if one of the outputs is standard output, such as ``-`` or
    ``/dev/stdout``. Then standard output contains only data.
    """
    return sys.stderr if any(output and _is_standard_output(output) for output in outputs) else sys.stdout


def _is_standard_output(file: Path) -> bool:
    if file == STANDARD:
        return True
    try:
        return os.path.samestat(file.stat(), os.fstat(1))
    except OSError:  # one of them does not exist
        return False


def lock_of(file: Path) -> Path:
    """Return the file that exists while a file or folder is locked; links to a file share its lock."""
    place = without_links(file)
    # The folder that contains a folder may not be writable, for example if the folder is a mounted disk.
    return place / ".lock" if os.path.isdir(place) else place.with_name(f".{place.name}.lock")


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Lock a file or folder while a ``with`` block runs; OptionError if another process has locked it. The system
    releases the lock when the process ends, for any reason. On a file system without locks, nothing is locked.
    """
    import filelock  # imported late, because most commands lock nothing

    if is_special(file):
        yield
        return
    place = lock_of(file)
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
            with contextlib.suppress(OSError):  # some systems cannot remove an open file; then it stays
                place.unlink()
            lock.release()


# --- writing completely or not at all ------------------------------------------------------------------------------


def _exists(file: Path) -> OptionError:
    return OptionError(f"{file} already exists: give --force to overwrite it")


def check_new(file: Path, force: bool, made: Path | None = None) -> None:
    """Raise OptionError, before hours of work, if a file cannot be written, or exists and may not be overwritten. A
    special file is not overwritten. The run makes the folder `made`, so this folder may be missing.
    """
    check_uncompressed(file)
    if file.is_dir():
        raise OptionError(f"cannot write {file}: it is a folder")
    if is_special(file):
        return
    target = without_links(file)
    if file.exists():
        if not force:
            raise _exists(file)
        _check_unprotected(file)
        if sys.platform == "win32":  # elsewhere, an open file can be replaced
            with writing(file):
                move(target, target)  # fails now if it would fail at the end
    if made and not made.exists() and without_links(file.parent) == without_links(made):
        return
    if not file.parent.is_dir():
        raise OptionError(f"cannot write {file}: there is no folder {file.parent}")
    with writing(file):
        check_name(_temporary_name(target))
    check_writable(target.parent, file)


def _check_unprotected(file: Path) -> None:
    """Raise OptionError if an existing file is write-protected: Windows does not replace such a file."""
    with writing(file):
        if file.exists() and not file.stat().st_mode & _WRITABLE:
            raise PermissionError(errno.EACCES, "it is write-protected")


def move(source: Path, target: Path) -> None:
    """Rename a file or folder, which replaces a file; OSError if that fails. Windows refuses this while another program
    has one of them open, for example a virus scanner for a moment, so it is tried again for a while.
    """
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            source.replace(target)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) is None:  # elsewhere, an open file can be replaced
                raise
            if time.monotonic() > end:
                reason = f"{error.strerror}; perhaps another program has it open"
                raise PermissionError(error.errno, reason) from None
        time.sleep(_PAUSE)


def check_uncompressed(file: Path) -> None:
    """Raise OptionError if the name of an output file promises compression: no command compresses its output."""
    if file.suffix.lower() in COMPRESSED:
        raise OptionError(f"cannot write {file}: the output is not compressed, so give a name without {file.suffix}")


def check_writable(folder: Path, file: Path) -> None:
    """Raise OptionError if no file can be created in a folder; the message names `file`, the output to be written."""
    with writing(file), tempfile.TemporaryFile(dir=folder):
        pass


def check_outputs(outputs: Mapping[str, Path | None], read: Iterable[str | Path] = (), what: str = "the games") -> None:
    """Raise OptionError if two options name the same output file or folder, or if an output is a file that a run reads.
    `outputs` are the outputs by option; `what` describes the content of the files in `read`.
    """
    taken = [(Path(file), f"this file contains {what}") for file in read]
    for option, file in outputs.items():
        if file is None or is_special(file):
            continue
        for other, reason in taken:
            if _is_same(file, other):
                raise OptionError(f"{option} {file}: {reason}, so it is not overwritten")
        taken.append((file, f"this is also the file of {option}"))


def _is_same(file: Path, other: Path) -> bool:
    """Return whether two names are the same file, which may be missing."""
    if file.exists() and other.exists():
        return file.samefile(other)
    return without_links(file) == without_links(other)


def _temporary_name(target: Path) -> Path:
    """Return the name of the temporary file that replaces a file, whose name has no links."""
    return target.with_name(f".{target.name}.{os.getpid()}")


@contextlib.contextmanager
def replacing(file: Path, tidy: bool = True, force: bool = True) -> Iterator[Path]:
    """Replace a file, so that at any time either the old or the new file exists; OptionError if that fails. In the
    ``with`` block, SIGTERM has the effect of Ctrl-C.

    Yields the file to write: a temporary file in the same folder, which is removed if the ``with`` block fails; or
    `file` itself if it is a device or pipe. Data is appended to an open file, such as ``/dev/stdout``. With `tidy`,
    temporary files of killed processes are removed, for which the whole folder is listed. Without `force`, a file with
    different content is not replaced.
    """
    direct = is_special(file)
    if direct and file.is_file():
        with terminating_interrupts(), writing(file), tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / file.name
            with (Path(folder) / file.name).open("rb") as whole, file.open("ab") as stream:
                shutil.copyfileobj(whole, stream)
        return
    target = without_links(file)  # a link stays, and its target is replaced
    beside = file if direct else _temporary_name(target)
    with terminating_interrupts():
        try:
            if direct:
                yield beside
                return
            _check_unprotected(file)
            if tidy:
                remove_left_behind(target.parent, glob.escape(target.name))
            with _held(beside):
                yield beside
            if not force and file.exists() and not filecmp.cmp(file, beside, shallow=False):
                raise _exists(file)
            with beside.open("rb+") as stream:
                os.fsync(stream.fileno())
            with contextlib.suppress(OSError):
                shutil.copymode(file, beside)
            move(beside, target)
        except OSError as error:
            if isinstance(error, BrokenPipeError) and not direct:
                raise  # standard output was closed; this error does not concern the file
            raise OptionError(f"cannot write {file}: {error.strerror}") from None
        finally:
            if not direct:
                with contextlib.suppress(OSError):
                    beside.unlink()


def remove_left_behind(folder: Path, names: str) -> None:
    """Remove the temporary files that killed processes left while they replaced files whose names match a pattern. A
    living process, on any machine, keeps its temporary file locked.
    """
    for entry in folder.glob(f".{names}.*"):
        if entry.suffix[1:].isdecimal():
            with contextlib.suppress(OSError):  # the file is in use, or another run has removed it
                with entry.open("rb+") as stream:
                    _lock(stream)
                    if os.name == "posix":
                        entry.unlink()
                if os.name != "posix":  # Windows cannot remove an open file
                    entry.unlink()


@contextlib.contextmanager
def _held(beside: Path) -> Iterator[None]:
    while True:
        with beside.open("wb") as stream:
            with contextlib.suppress(OSError):  # another run is checking the file, or the file system has no locks
                _lock(stream)
            # On Windows, an open file cannot be removed.
            if os.name != "posix" or _is_still(stream, beside):
                yield
                return


def _is_still(stream: IO[bytes], file: Path) -> bool:
    """Return whether an open file still exists under its name: another run may have removed it before it was locked."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), file.stat())
    except FileNotFoundError:
        return False


def _lock(stream: IO[bytes]) -> None:
    """Lock an open file until it is closed; OSError if another process has locked it. Windows needs no lock."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_whole(file: Path, data: bytes | memoryview, tidy: bool = True, force: bool = True) -> None:
    """Write a file as `replacing` does; OptionError if it cannot be written."""
    with replacing(file, tidy, force) as beside:
        beside.write_bytes(data)


@contextlib.contextmanager
def appending(file: Path) -> Iterator[io.FileIO]:
    """Lock a file, created if missing, and yield it for `append_whole`; an OSError becomes an OptionError."""
    with locked(file), doing("use", file), file.open("ab", buffering=0) as stream:
        yield stream


def append_whole(stream: io.FileIO, data: bytes) -> int:
    """Append to a file opened by `appending`, and return the position of the data in the file; 0 for a pipe or device.
    After an error or Ctrl-C, the file is cut to its old size; OptionError if it cannot be written.
    """
    rest = memoryview(data)
    with writing(str(stream.name)):
        end = stream.seek(0, os.SEEK_END) if stream.seekable() else None
        try:
            while rest:
                rest = rest[stream.write(rest) :]
        except BaseException:
            if end is not None:
                with contextlib.suppress(OSError):
                    stream.truncate(end)
            raise
    return end or 0
