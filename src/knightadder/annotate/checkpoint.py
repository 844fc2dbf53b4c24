"""What is done of an unfinished run, as JSON lines: the first says which run it is, each other one is of a game."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from knightadder.engine.errors import OptionError

_FORMAT = 1


class Checkpoint:
    """The file in which the evaluations of games gather.

    Parameters
    ----------
    file : Path
        The file, which is made if it is missing. A line without its end, cut off by a crash, is dropped.
        Until the checkpoint is closed, no other run can use it.
    run : mapping
        What makes two runs the same, as JSON can hold it.
    restart : bool
        Whether to begin anew, whatever is in the file.

    Raises
    ------
    OptionError
        If the file belongs to another run, is in use by one, or cannot be used.
    """

    def __init__(self, file: Path, run: Mapping[str, Any], restart: bool = False) -> None:
        self._file = file
        self._places: dict[int, int] = {}
        self._held = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            stack.enter_context(_locked(file))
            self._open(_line({"format": _FORMAT, **run}), restart)
            self._held = stack.pop_all()

    def _open(self, header: bytes, restart: bool) -> None:
        file = self._file
        fresh = restart or not file.exists()
        try:
            # Without a buffer, so that what could not be written is not tried again when the file is closed.
            self._stream = file.open("wb+" if fresh else "rb+", buffering=0)
            try:
                if not fresh:
                    self._read(header)
                if not self._stream.tell():
                    self._write(header)
            except BaseException:
                self._stream.close()
                if fresh:
                    file.unlink()
                raise
        except OSError as error:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None

    def _read(self, header: bytes) -> None:
        """Read what there is, and drop a line without its end."""
        end = 0
        reader = io.BufferedReader(self._stream)
        for number, line in enumerate(reader, 1):
            # The first line is cut off only if it is the start of what would be written; else it is not ours to drop.
            if not line.endswith(b"\n") and (number > 1 or header.startswith(line)):
                break
            value = _value(line)
            if number == 1:
                self._check(value, _value(header))
            elif type(value.get("game")) is int and isinstance(value.get("result"), str | list):
                self._places[value["game"]] = end
            else:
                raise OptionError(f"line {number} of {self._file} is damaged: remove the line, or give --restart")
            end += len(line)
        reader.detach()
        self._stream.truncate(end)
        self._stream.seek(end)

    def _check(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Refuse what is of another run, or of none."""
        if "format" not in found:
            raise OptionError(f"{self._file} is not of an unfinished run: remove it, or give --restart")
        differing = [key for key in wanted if found.get(key) != wanted[key]]
        if differing:
            raise OptionError(
                f"{self._file} is of an unfinished run with other {', '.join(differing)}: give --restart to begin anew"
            )

    def __len__(self) -> int:
        """Tell how many games are done."""
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        """Tell whether a game is done."""
        return number in self._places

    def __getitem__(self, number: int) -> Any:
        """Give what is kept of a game; KeyError if it is not done, OptionError if it cannot be read."""
        place = self._places[number]
        try:
            with self._file.open("rb") as stream:
                stream.seek(place)
                return _value(stream.readline())["result"]
        except OSError as error:
            raise OptionError(f"cannot read {self._file}: {error.strerror}") from None

    def add(self, number: int, result: Any) -> None:
        """Keep a game; OptionError if it cannot be written, and then the file is as it was."""
        try:
            place = self._stream.seek(0, io.SEEK_END)
            try:
                self._write(_line({"game": number, "result": result}))
            except OSError:
                with contextlib.suppress(OSError):
                    self._stream.truncate(place)
                raise
        except OSError as error:
            raise OptionError(f"cannot write {self._file}: {error.strerror}") from None
        self._places[number] = place

    def _write(self, line: bytes) -> None:
        while line:  # a disk that is nearly full takes a part
            line = line[self._stream.write(line) :]

    def remove(self) -> None:
        """Remove the file, now that the run is finished."""
        self._stream.close()
        self._file.unlink(missing_ok=True)
        self._held.close()

    def __enter__(self) -> Self:
        """Give the checkpoint itself to a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file at the end of a ``with`` block."""
        self._stream.close()
        self._held.close()


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Keep other runs from a file; the system ends the lock with the process, however it dies."""
    lock = FileLock(file.with_name(f".{file.name}.lock"))
    try:
        if not file.parent.is_dir():  # the library would make it
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        lock.acquire(timeout=0)
    except Timeout:
        raise OptionError(f"{file} is in use by another run") from None
    except OSError as error:
        raise OptionError(f"cannot use {file}: {error.strerror}") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # some systems remove no open file; then it stays, and does no harm
            Path(lock.lock_file).unlink()
        lock.release()


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _value(line: bytes) -> dict[str, Any]:
    """Read a line; it is empty if it is no object of JSON."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
