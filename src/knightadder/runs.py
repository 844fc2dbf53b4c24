"""Long runs: a run may be interrupted at any moment, and the same command continues it.

Every long command keeps its state beside its output, in a file or a folder, and discards the state with ``--restart``.
The state belongs to one run, described by the state's header, and only one process at a time uses it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from knightadder.closing import Closing
from knightadder.engine.errors import EngineError, OptionError
from knightadder.files import append_whole, appending, check_name, doing, is_special, lock_of, reading, write_whole
from knightadder.foreign import parse_json

T = TypeVar("T")

REMEDY = "give --restart to forget it"


def check_same_run(file: Path, found: object, wanted: Mapping[str, Any], remedy: str = REMEDY) -> None:
    """Raise OptionError if a file with header `found` belongs to a different run than the run with header `wanted`."""
    if not isinstance(found, dict):
        raise OptionError(
            f"{file} belongs to a different kind of run, so it is not used: choose a different name, or remove it"
        )
    differing = [key for key in wanted if found.get(key) != wanted[key]]
    if differing:
        raise OptionError(
            f"{file} belongs to a run with other settings ({', '.join(differing)}): use the same, or {remedy}"
        )


def state_beside(output: Path | None) -> Path | None:
    """Return the file for the state of an unfinished run, beside the output; None for a folder or a special output.
    OptionError if its name, or the longer name of its lock, is too long.
    """
    if output is None:
        return None
    state = Path(f"{output}.unfinished")
    lock = lock_of(state)
    with doing("use", state):
        check_name(lock)
    return None if output.is_dir() or is_special(output) else state


def is_resumed(state: Path | None, restart: bool) -> bool:
    """Return whether a run continues an unfinished one, which may have written some of its outputs already."""
    return state is not None and state.exists() and not restart


@contextlib.contextmanager
def going_on(kept: Callable[[], str]) -> Iterator[None]:
    """If Ctrl-C or an error ends a ``with`` block, print the text of `kept`, unless it is empty: where the state is."""
    try:
        yield
    except (KeyboardInterrupt, EngineError, OSError):  # an OSError if standard output cannot be written
        if what := kept():
            print(f"{what}; the same command continues from there", file=sys.stderr)
        raise


def claim_folder(file: Path, run: Mapping[str, Any], restart: bool, others: Iterable[Path]) -> None:
    """Check that a file in the folder of a run describes the same run as `run`; write the file if it is missing. With
    `restart`, begin anew without the other files. OptionError if the folder belongs to another run, or cannot be used.
    """
    if file.exists():
        found = read_header(file)
        if not (restart and isinstance(found, dict) and "format" in found):
            check_same_run(file.parent, found, run)
            return
        for other in others:
            with reading(other):
                other.unlink(missing_ok=True)
    write_whole(file, (json.dumps(run, indent=2) + "\n").encode())


def read_header(file: Path) -> Any:
    """Return the value of a file of JSON, None if it is damaged; OptionError if it cannot be read."""
    with reading(file):
        return _parsed(file.read_bytes())


class Journal(Closing):
    """The finished steps of a run, as JSON lines: the first line identifies the run, each further line is a numbered
    step.

    A repeated step counts once. An incomplete last line, left by a crash, is dropped. The file of a different run is
    overwritten if it is of the same kind and has no steps yet, or with `restart`. A file without steps is removed at
    the end. Without a file, nothing is saved. OptionError if the file belongs to another run, is in use, is damaged, or
    cannot be used.
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
            try:
                self._read(file, _line(run), restart)
            except BaseException:
                if not os.fstat(self._stream.fileno()).st_size:  # for example on a full disk
                    self._discard(file)
                raise
            self._held = stack.pop_all()

    def _read(self, file: Path, header: bytes, restart: bool) -> None:
        """Find the lines of the file; cut off an incomplete last line, and write the header if it is missing."""
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
        """Cut the file to a size if it is longer; a device cannot be cut."""
        if self._stream.seek(0, os.SEEK_END) > size:
            self._stream.truncate(size)

    def _read_header(self, file: Path, header: bytes, restart: bool) -> int | None:
        """Return the length of the header in the file; None if the header has to be written."""
        line = self._reader.readline()
        if header.startswith(line) and line != header:  # the file is empty, or its header is incomplete
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
        return OptionError(f"{self._file}, line {line} is damaged: remove this line to repeat its part, or {REMEDY}")

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return the entry of a step; KeyError if it is not finished, OptionError if it cannot be read."""
        line, place = self._places[number]
        with reading(str(self._file)):
            self._reader.seek(place)
            value = _parsed(self._reader.readline())
        if not isinstance(value, dict):
            raise self._damaged(line)
        return value

    def entries(self, read: Callable[[dict[str, Any]], T]) -> list[T]:
        """Return all entries, converted by `read`, sorted by number; OptionError if a line is damaged: `read` raises a
        ValueError, TypeError, AttributeError, LookupError or ArithmeticError.
        """
        entries = []
        for number in sorted(self._places):
            value = self[number]
            try:
                entries.append(read(value))
            except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
                raise self._damaged(self._places[number][0]) from None
        return entries

    def tell_continuing(self, total: int) -> None:
        """Say that a run continues, if some of its games are finished."""
        if self._places:
            print(f"Continuing after {len(self)} of {total} games", file=sys.stderr)

    def kept(self, total: int) -> str:
        """Return, for `going_on`, how many of a run's games are in the file; an empty text if none is."""
        return f"{len(self)} of {total} games are in {self._file}" if self._places else ""

    def add(self, number: int, entry: Mapping[str, Any]) -> None:
        """Append a step; OptionError if it cannot be written, which leaves the file unchanged."""
        if self._file is None:
            return
        place = append_whole(self._stream, _line({"number": number, **entry}))
        self._places[number] = (len(self._places) + 2, place)

    def remove(self) -> None:
        """Remove the file after the end of the run; OptionError if that fails."""
        if self._file is None:
            return
        with contextlib.closing(self), doing("remove", self._file):
            self._discard(self._file)

    def _discard(self, file: Path) -> None:
        self._reader.close()  # some systems cannot remove an open file
        self._stream.close()
        if not is_special(file):
            file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file and release its lock. A file without steps is removed."""
        if self._file is not None and not self._places:
            with contextlib.suppress(OSError):
                self._discard(self._file)
        self._held.close()


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parsed(text: bytes) -> object:
    try:
        value: object = parse_json(text)
    except ValueError:
        return None
    return value
