"""The results of a match so far: scores by pairing, faults and warnings by engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from knightadder.workshop.match.journal import Record
from knightadder.workshop.match.statistics.elo import pentanomial


class HeadToHead:
    """Results of one engine against a second engine, from the first engine's view."""

    def __init__(self) -> None:
        self.wins = self.draws = self.losses = 0
        self._rounds: dict[int, list[float]] = {}
        self._points: dict[bool, list[float]] = {True: [], False: []}  # points of each game, by colour (True is White)

    def add(self, number: int, points: float, is_white: bool) -> None:
        """Add a game: the number of its round, the first engine's points, and whether the first engine played White."""
        self.wins += points == 1.0
        self.draws += points == 0.5
        self.losses += points == 0.0
        self._rounds.setdefault(number, []).append(points)
        self._points[is_white].append(points)

    def __str__(self) -> str:
        """Return wins, draws and losses: ``3-4-1``."""
        return f"{self.wins}-{self.draws}-{self.losses}"

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points per game; 0.5 without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    @property
    def draw_ratio(self) -> float:
        """The share of games that were drawn; 0 without games."""
        return self.draws / self.games if self.games else 0.0

    def share_with(self, is_white: bool) -> float:
        """Return the points per game with one colour; 0.5 without games."""
        points = self._points[is_white]
        return sum(points) / len(points) if points else 0.5

    @property
    def white_share(self) -> float:
        """Points per game of the player with White; 0.5 without games."""
        black = self._points[False]
        white = sum(self._points[True]) + len(black) - sum(black)
        return white / self.games if self.games else 0.5

    @property
    def counts(self) -> tuple[int, ...]:
        """Pentanomial counts of the complete pairs, see `knightadder.workshop.match.statistics.elo`."""
        return pentanomial(sum(points) for points in self._rounds.values() if len(points) == 2)


class Standings:
    """All results: scores by pairing, and each engine's faults and warnings by kind, and least time on its clock."""

    def __init__(self, pairings: Sequence[tuple[str, str]], records: Iterable[Record] = ()) -> None:
        self.scores = {pairing: HeadToHead() for pairing in pairings}
        names = list(dict.fromkeys(name for pairing in pairings for name in pairing))
        self.faults: dict[str, Counter[str]] = {name: Counter() for name in names}
        self.warnings: dict[str, Counter[str]] = {name: Counter() for name in names}
        self.lowest: dict[str, float] = {}
        self.games = 0
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Add a game."""
        fixture = record.fixture
        self.games += 1
        if (fixture.white, fixture.black) in self.scores:
            self.scores[fixture.white, fixture.black].add(fixture.round, record.white_points, True)
        else:
            self.scores[fixture.black, fixture.white].add(fixture.round, 1.0 - record.white_points, False)
        if record.fault and record.culprit:
            self.faults[record.culprit][record.fault] += 1
        for name, kinds in record.warnings.items():
            self.warnings[name].update(kinds)
        for name, seconds in record.lowest.items():
            self.lowest[name] = min(seconds, self.lowest.get(name, seconds))

    def totals(self) -> dict[str, tuple[float, int]]:
        """Points and games of each engine."""
        totals = dict.fromkeys(self.faults, (0.0, 0))
        for (first, second), score in self.scores.items():
            points = score.wins + score.draws / 2
            for name, own in ((first, points), (second, score.games - points)):
                totals[name] = totals[name][0] + own, totals[name][1] + score.games
        return totals
