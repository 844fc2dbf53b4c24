"""The log of a match: JSON lines, the first of them saying which match it is; a match goes on from its log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.referee import Game

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game to play: the number of its opening, from 0 on, and the engines' names."""

    round: int
    white: str
    black: str


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of a finished game.

    Attributes
    ----------
    fixture : Fixture
        Which game.
    white_points : float
        1, 0.5 or 0.
    reason : str
        How it ended.
    plies : int
        Length without the opening.
    fault : str or None
        Kind of the fault that it ended with.
    culprit : str or None
        Whose fault.
    warnings : dict of str to dict of str to int
        How often each engine, by name, said what cannot be, by kind.
    details : list of dict
        The first few warnings: engine, kind, line, position.
    lowest : dict of str to float
        For engines with a clock, the least that was left of their time after a move, in seconds.
    """

    fixture: Fixture
    white_points: float
    reason: str
    plies: int
    fault: str | None = None
    culprit: str | None = None
    warnings: dict[str, dict[str, int]] = field(default_factory=dict)
    details: list[dict[str, str]] = field(default_factory=list)
    lowest: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, fixture: Fixture, game: Game) -> Self:
        """Keep what is kept of a game."""
        names = {True: fixture.white, False: fixture.black}
        warnings: dict[str, dict[str, int]] = {}
        for (white, kind), count in game.warning_counts.items():
            warnings.setdefault(names[white], {})[kind] = count
        return cls(
            fixture=fixture,
            white_points=game.white_points,
            reason=game.reason,
            plies=len(game.moves),
            fault=game.fault.kind if game.fault else None,
            culprit=names[game.fault.white] if game.fault else None,
            warnings=warnings,
            details=[
                {"engine": names[each.white], "kind": each.kind, "line": each.line, "position": each.position}
                for each in game.warnings
            ],
            lowest={names[white]: round(seconds, 4) for white, seconds in game.lowest.items()},
        )


class Journal:
    """The log file, with the games that it already has.

    Parameters
    ----------
    file : Path, optional
        The file, which is made if it is missing; without one nothing is kept.
    setup : mapping
        What makes two matches the same, as JSON can hold it.

    Attributes
    ----------
    records : list of Record
        All games.

    Raises
    ------
    OptionError
        If the file belongs to another match, is no log, or cannot be written.
    """

    def __init__(self, file: Path | None, setup: Mapping[str, Any]) -> None:
        self.records: list[Record] = []
        self._stream = None
        if file is None:
            return
        header = json.loads(json.dumps({"format": FORMAT, **setup}))
        try:
            # A line without its end was cut off by a crash, and its game is played again.
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            whole, _, _ = text.rpartition("\n")
            lines = whole.split("\n") if whole else []
            if lines:
                self._check(file, lines[0], header)
                self.records = [_record(line) for line in lines[1:]]
            if not lines or whole + "\n" != text:
                kept = whole + "\n" if lines else json.dumps(header) + "\n"
                file.write_text(kept, encoding="utf-8", newline="\n")
            self._stream = file.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise OptionError(f"cannot use {file}: {error.strerror}") from None
        except OptionError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OptionError(f"{file} is not the log of a match") from None

    @staticmethod
    def _check(file: Path, line: str, wanted: Mapping[str, Any]) -> None:
        """Refuse the log of another match."""
        found = json.loads(line)
        differing = [key for key in wanted if found.get(key) != wanted[key]]
        if differing:
            raise OptionError(f"{file} belongs to another match, with other {', '.join(differing)}: give another --log")

    def add(self, record: Record) -> None:
        """Append a game."""
        self.records.append(record)
        if self._stream:
            self._stream.write(json.dumps(asdict(record)) + "\n")
            self._stream.flush()

    def __enter__(self) -> Self:
        """Give the log itself to a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file at the end of a ``with`` block."""
        if self._stream:
            self._stream.close()


def _record(line: str) -> Record:
    """Read a game."""
    values = json.loads(line)
    return Record(**{**values, "fixture": Fixture(**values["fixture"])})
