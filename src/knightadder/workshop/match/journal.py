"""The log of a match: a record of each game, by the game's number."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from knightadder.engine.errors import OptionError
from knightadder.foreign import NotNegative, converted
from knightadder.runs import REMEDY, Journal
from knightadder.workshop.match.referee import FAULTS, MatchGame

FORMAT = 2

_DETAIL = {"engine", "kind", "line", "position"}


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game to play: the number of its opening, from 0, and the engines' names."""

    round: int
    white: str
    black: str


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a finished game. `lowest` is the least time, in seconds, that each engine with a clock had left."""

    fixture: Fixture
    white_points: float
    reason: str
    plies: NotNegative  # number of plies after the opening
    fault: str | None = None  # kind of the fault that ended the game
    culprit: str | None = None  # engine at fault
    warnings: dict[str, dict[str, NotNegative]] = field(default_factory=dict)  # number of warnings by engine and kind
    details: list[dict[str, str]] = field(default_factory=list)  # the first warnings: engine, kind, line and position
    lowest: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # the name that each engine reports
    scale: float = 1.0  # factor of the time limits

    @classmethod
    def of(cls, fixture: Fixture, game: MatchGame, versions: Mapping[str, str], scale: float = 1.0) -> Self:
        """Return the record of a game; `versions` contains all engines of the match."""
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
            versions={name: versions[name] for name in names.values()},
            scale=scale,
        )

    @classmethod
    def read(cls, values: Mapping[str, Any], fixture: Fixture) -> Self:
        """Return the record from the result of `dataclasses.asdict`; ValueError if it does not belong to the game."""
        if not {each.name for each in fields(cls)} - {"scale"} <= values.keys():  # older logs lack the scale
            raise ValueError("not a record")
        record: Self = converted(values, cls)
        record.check(fixture)
        return record

    def check(self, fixture: Fixture) -> None:
        """Raise ValueError unless this can be the record of a game."""
        names = {fixture.white, fixture.black}
        fault = self.fault, self.culprit
        if (
            self.fixture != fixture
            or fixture.round < 0
            or self.white_points not in (0.0, 0.5, 1.0)
            or not {*self.warnings, *self.lowest, *self.versions} <= names
            or any(detail.keys() != _DETAIL for detail in self.details)
            or (fault != (None, None) and not (self.fault in FAULTS and self.culprit in names))
        ):
            raise ValueError("not a record of this game")


class MatchLog(Journal):
    """The log of a match and its records; without a file, nothing is saved.

    The number of a game follows from its round and its place among the `pairings`, and `setup` identifies the match.
    `records` contains the games of the file by number, then the added games in the order of addition.
    """

    def __init__(
        self,
        file: Path | None,
        setup: Mapping[str, Any],
        pairings: Collection[tuple[str, str]],
        restart: bool = False,
    ) -> None:
        self._players = [pair for first, second in pairings for pair in ((first, second), (second, first))]
        self.pgn_end = 0  # length of the PGN file after the last game of the log; 0 if unknown
        super().__init__(file, {"format": FORMAT, **setup}, restart)
        try:
            self.records = self.entries(self._read_record)
        except OptionError:
            self.close()
            raise

    def _read_record(self, values: dict[str, Any]) -> Record:
        number, place = divmod(values["number"], len(self._players))
        self.pgn_end = max(self.pgn_end, converted(values.pop("pgn", 0), NotNegative))
        return Record.read(values, Fixture(number, *self._players[place]))

    def add_game(self, record: Record, pgn_end: int = 0) -> None:
        """Append a game, with the length of the PGN file after it; OptionError if it cannot be written."""
        fixture = record.fixture
        number = fixture.round * len(self._players) + self._players.index((fixture.white, fixture.black))
        self.add(number, asdict(record) | {"pgn": pgn_end})
        self.records.append(record)

    def check_versions(self, versions: Mapping[str, str]) -> None:
        """Raise OptionError if an engine reports another name than in earlier games; `versions` has the new names."""
        known = {name: version for record in self.records for name, version in record.versions.items()}
        for name, version in versions.items():
            if known.get(name, version) != version:
                raise OptionError(f"{name} was {known[name]} and is now {version}: use the same version, or {REMEDY}")
