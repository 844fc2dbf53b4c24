"""What is done of an unfinished run, as JSON lines: the first says which run it is, each other one is of a game."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from knightadder.engine.errors import OptionError

_FORMAT = 1


class Checkpoint:
    """The file in which the evaluations of games gather.

    Parameters
    ----------
    file : Path
        The file, which is made if it is missing. A line without its end, cut off by a crash, is dropped.
    run : mapping
        What makes two runs the same, as JSON can hold it.
    restart : bool
        Whether to begin anew, whatever is in the file.

    Raises
    ------
    OptionError
        If the file belongs to another run, or cannot be used.
    """

    def __init__(self, file: Path, run: Mapping[str, Any], restart: bool = False) -> None:
        self._file = file
        self._places: dict[int, int] = {}
        header = json.loads(json.dumps({"format": _FORMAT, **run}))
        try:
            self._stream: BinaryIO = file.open("wb+" if restart or not file.exists() else "rb+")
            try:
                self._read(header)
            except BaseException:
                self._stream.close()
                raise
        except OSError as error:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None
        except OptionError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OptionError(f"{file} is not of an unfinished run: remove it, or give --restart") from None

    def _read(self, header: dict[str, Any]) -> None:
        end = 0
        for line in self._stream:
            if not line.endswith(b"\n"):
                break
            value = json.loads(line)
            if end == 0:
                self._check(value, header)
            else:
                self._places[value["game"]] = end
            end += len(line)
        self._stream.seek(end)
        self._stream.truncate()
        if end == 0:
            self._write(header)

    def _check(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Refuse what is of another run."""
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
            self._stream.seek(place)
            return json.loads(self._stream.readline())["result"]
        except (OSError, ValueError) as error:
            raise OptionError(f"cannot read {self._file}: {error}") from None

    def add(self, number: int, result: Any) -> None:
        """Keep a game; OptionError if it cannot be written."""
        try:
            self._places[number] = self._stream.seek(0, 2)
            self._write({"game": number, "result": result})
        except OSError as error:
            raise OptionError(f"cannot write {self._file}: {error.strerror}") from None

    def _write(self, value: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
        self._stream.flush()

    def remove(self) -> None:
        """Remove the file, now that the run is finished."""
        self._stream.close()
        self._file.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        """Give the checkpoint itself to a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file at the end of a ``with`` block."""
        self._stream.close()
