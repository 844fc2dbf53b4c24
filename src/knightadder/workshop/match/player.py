"""Plays the games of a match on the workers of a pool; each worker keeps its engines from game to game.

The engines belong to the task that a pool repeats. They are not Dask actors, because an actor is lost with its worker
and its calls are not repeated. A pool repeats the tasks of lost workers, and also works without Dask.

A task is one game, not a pair, so that a finished game counts even if the other game of the pair is interrupted.
"""

from __future__ import annotations

import json
import platform
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.engine.errors import EngineError
from knightadder.foreign import parse_json
from knightadder.uci.client import UciClient
from knightadder.workshop.match.affinity import Affinity
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.game_text import game_text
from knightadder.workshop.match.journal import Fixture, Record
from knightadder.workshop.match.referee import ChessPlayer, Rules, play_game
from knightadder.workshop.match.speed import Speed
from knightadder.workshop.opening_book import BookLine

if TYPE_CHECKING:
    from filelock import BaseFileLock

# A machine that shuts down may kill the engines shortly before the worker. So an engine that was killed by a signal is
# at fault only if its worker is still running after this many seconds.
_FAREWELL_SECONDS = 10.0
_FAREWELLS = {-getattr(signal, name, 0) for name in ("SIGTERM", "SIGKILL", "SIGINT", "SIGHUP")} - {0}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a game on a worker: its record and its PGN."""

    record: Record | None  # None if an engine did not start
    pgn: str = ""
    absent: str = ""  # name of the engine that did not start
    error: str = ""  # reason why the engine did not start
    notes: list[str] = field(default_factory=list)  # lines about the worker for the user

    @classmethod
    def read(cls, data: bytes, fixture: Fixture) -> Outcome:
        """Return the outcome of a game from the result of `GamePlayer`; EngineError if it is not an outcome."""
        try:
            outcome: Outcome = parse_json(data, cls)
            if outcome.record is not None:
                outcome.record.check(fixture)
            return outcome
        except ValueError:
            game = f"round {fixture.round + 1}, {fixture.white} - {fixture.black}"
            raise EngineError(f"a worker returned a damaged game: {game}") from None


class GamePlayer:
    """The task that plays a game: it maps a fixture with its opening to an `Outcome`, as JSON.

    - `versions` maps each engine to the name that it reports; this must match on every machine.
    - `sources` maps each Knightadder engine to its sources' digest; None if all games are played on this machine.
    - `reference` is the speed of ``knightadder bench``, in nodes per second, for which the time limits are meant; None
      if they are not scaled.
    - `trace_folder` and `affinity` (the processors of each game) work only for games on this machine.
    """

    def __init__(
        self,
        competitors: Mapping[str, Competitor],
        versions: Mapping[str, str],
        rules: Rules,
        sources: Mapping[str, str] | None = None,
        reference: int | None = None,
        trace_folder: Path | None = None,
        affinity: Affinity | None = None,
    ) -> None:
        self._competitors = {
            name: replace(each, folder=each.folder and each.folder.absolute()) for name, each in competitors.items()
        }
        self._versions = versions
        self._rules = rules
        self._sources = sources
        self._reference = reference
        self._trace_folder = trace_folder
        self._affinity = affinity
        self._processors: tuple[int, ...] = ()
        self._claim: BaseFileLock | None = None  # lock of the worker's processors
        self._clients: dict[str, UciClient] = {}
        self._absent: dict[str, str] = {}  # errors of engines that did not start, by name
        self._scale: float | None = None
        self._notes: list[str] = []
        self._ended_traces: set[str] = set()  # reasons why traces ended early
        self._playing = self._closed = False

    def __call__(self, item: tuple[Fixture, BookLine]) -> bytes:
        """Play a game; EngineError if the tablebases cannot be used, or the run has ended."""
        self._playing = True
        try:
            if self._affinity is not None and self._claim is None:
                self._processors, self._claim = self._affinity.claim()
            if self._scale is None:
                self._set_scale()
            outcome = self._play(*item)
        finally:
            self._playing = False
            if self._closed:
                self.close()
        if self._closed:  # the game has ended because its engines were killed
            raise EngineError("no more games: the run has ended")
        return json.dumps(asdict(outcome), separators=(",", ":")).encode()

    def close(self) -> None:
        """Terminate the engines. This aborts a running game; its thread then waits until the engines have exited."""
        self._closed = True
        for client in list(self._clients.values()):
            if self._playing:
                client.kill()
            else:
                client.close()
        if not self._playing and self._claim is not None:
            self._claim.release()

    def _set_scale(self) -> None:
        """Measure the speed of this worker and scale the time limits by it, if they are to be scaled."""
        self._scale = 1.0
        if self._reference is not None:
            speed = Speed.measured()
            self._scale, self._notes = speed.factor(self._reference), speed.notes(self._reference)
            self._competitors = {
                name: replace(each, allowance=each.allowance.scaled(self._scale))
                for name, each in self._competitors.items()
            }

    def _play(self, fixture: Fixture, opening: BookLine) -> Outcome:
        notes, self._notes = self._notes, []
        names = fixture.white, fixture.black
        self._seat(*names)
        for name in names:
            if name in self._absent:
                return Outcome(None, absent=name, error=self._absent[name], notes=notes)
        white, black = (self._competitors[name] for name in names)
        first, second = (
            ChessPlayer(self._clients[each.name], each.allowance, each.weakened) for each in (white, black)
        )
        traces = [side.client.trace for side in (first, second) if side.client.trace is not None]
        for trace in traces:
            trace.remark(f"round {fixture.round + 1}, {fixture.white} - {fixture.black}")
        game = play_game(first, second, opening, self._rules)
        for trace in traces:
            trace.remark(f"{game.result}, {game.reason}")
        notes += [trace.error for trace in traces if trace.error and trace.error not in self._ended_traces]
        self._ended_traces.update(trace.error for trace in traces if trace.error)
        if self._sources is not None and game.fault and not self._closed:
            culprit = first if game.fault.white else second
            if not culprit.client.running and culprit.client.process.returncode in _FAREWELLS:
                time.sleep(_FAREWELL_SECONDS)
        record = Record.of(fixture, game, self._versions, self._scale or 1.0)
        return Outcome(record, game_text(fixture, game, white, black, self._rules.chess960), notes=notes)

    def _seat(self, *names: str) -> None:
        """Start the named engines that are not running, and close all other engines."""
        for name, client in list(self._clients.items()):
            if name not in names or not client.running:
                del self._clients[name]
                client.close()
        for name in names:
            if self._closed:
                raise EngineError("no more games: the run has ended")
            if name not in self._clients and name not in self._absent:
                try:
                    self._start(self._competitors[name])
                except EngineError as error:
                    self._clients.pop(name, None)
                    self._absent[name] = str(error)

    def _start(self, competitor: Competitor) -> None:
        """Start an engine, and check that its version is the same as on the other machines."""
        name, elsewhere = competitor.name, ""

        def known(client: UciClient) -> None:
            self._clients[name] = client
            if self._closed:  # `close` may not have seen it
                client.kill()

        if self._sources is not None:
            elsewhere = f" on {platform.node()}"
            if self._sources.get(name) not in (None, competitor.package_digest()):
                raise EngineError(f"{name} has different sources{elsewhere}: all machines need the same version")
        try:
            client = competitor.start(
                self._rules.chess960, self._rules.patience, self._trace_folder, self._processors, known
            )
        except EngineError as error:
            raise EngineError(f"{error}{elsewhere}") from None
        if client.name != self._versions[name]:
            client.close()
            raise EngineError(
                f"{name} reported the name {self._versions[name]} before, but now {client.name}{elsewhere}"
            )


def sources_of(competitors: Mapping[str, Competitor]) -> dict[str, str]:
    """Return the digest of the sources of each Knightadder engine, by name."""
    digests = {name: each.package_digest() for name, each in competitors.items()}
    return {name: digest for name, digest in digests.items() if digest}
