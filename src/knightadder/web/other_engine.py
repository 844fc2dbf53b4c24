"""The second engine of a tab: an external UCI engine, which analyses the shown position beside Knightadder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import chess.engine

from knightadder.engine.errors import EngineError, OptionError
from knightadder.frozen import typed_command
from knightadder.uci.client import resolve_command
from knightadder.uci.uci_engine import UciEngine
from knightadder.web.views import LINES_EVERY, View, lines_view
from knightadder.worker_engine import line_of

if TYPE_CHECKING:
    from chess.engine import InfoDict

    from knightadder.library.results import Line

_SILENT = 10.0  # seconds without a line before the page says that the engine is silent


class CompanionEngine(UciEngine):
    """An external UCI engine; it gives as many of the wanted lines as it can."""

    def __init__(self, command: str, options: Mapping[str, str]) -> None:
        super().__init__(command, options)
        self._program = command
        with contextlib.suppress(OptionError):  # its first search says that the program is missing
            self._program = Path(resolve_command(command)[0]).name

    @property
    def title(self) -> str:
        """The name that the engine reports; before its first start, the name of its program."""
        return self.name or self._program

    def _adapted(self, engine: chess.engine.UciProtocol, more: Mapping[str, Any]) -> Mapping[str, Any]:
        option = engine.options.get("MultiPV")
        most = 1 if option is None else option.max or more["multipv"]
        return {**more, "multipv": min(more["multipv"], most)}


@dataclass(frozen=True, slots=True, eq=False)
class NodePosition:
    """A position to analyse, with the number of its node."""

    node: int
    board: chess.Board


class OtherEngine:
    """The second engine. It is off at first, and started when it is switched on.

    All methods run in the event loop and do not wait for the engine. `make` returns the engine without starting it; it
    is None if there is no second engine. `send` takes a message for the page, and must not block.
    """

    def __init__(self, make: Callable[[], CompanionEngine] | None, send: Callable[[View], None]) -> None:
        self._engine = None if make is None else make()
        self._send = send
        self._on = False
        self._paused = False
        self._count = 1
        self._problem: str | None = None
        self._place: NodePosition | None = None
        self._found: dict[int, Line] = {}
        self._work: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None  # until the page gets lines, or a note that none came

    def show(self) -> None:
        """Send the state to the page, if there is a second engine."""
        if self._engine is None:
            return
        state = {"name": self._engine.title, "on": self._on, "problem": self._problem}
        self._send({"type": "other_engine", **state})
        if self._found:
            self._show_lines()

    def switch(self, on: bool, count: int) -> None:
        """Switch the engine on or off, with this number of lines; EngineError if there is no second engine."""
        if self._engine is None:
            command = typed_command(["play", "--engine"])
            raise EngineError(f"there is no second engine: start the board with `{command}`")
        self._on, self._count, self._problem = on, count, None
        self._begin()
        self.show()

    def follow(self, node: int, board: chess.Board | None) -> None:
        """Analyse this position from now on, while the engine is on and not paused; None stops the analysis."""
        before = self._place
        if board is None or self._paused:
            self._place = None
        elif before is None or (before.node, before.board) != (node, board):
            self._place = NodePosition(node, board.copy())
        if self._place is not before:
            self._begin()

    def pause(self) -> None:
        """Stop the analysis until `resume`."""
        self._paused, self._place = True, None
        self._begin()

    def resume(self) -> None:
        """Send the state to a new page; the analysis goes on with the next position."""
        self._paused = False
        self.show()

    async def close(self) -> None:
        """Terminate the engine."""
        self.pause()
        if self._engine is not None:
            await asyncio.to_thread(self._engine.close)

    def _begin(self) -> None:
        """Stop the analysis, and begin a new one if the engine is on and there is a position."""
        if self._work is not None:
            self._work.cancel()
            self._work = None
        self._stop_timer()
        self._found = {}
        if self._on and self._place is not None and self._engine is not None:
            self._work = asyncio.create_task(self._analyse(self._engine, self._place, self._found))
            self._timer = asyncio.get_running_loop().call_later(_SILENT, self._tell_silence)

    async def _analyse(self, engine: CompanionEngine, place: NodePosition, found: dict[int, Line]) -> None:
        """Collect the lines of a position in `found`. The analysis is over when `_found` is a new dictionary."""
        loop = asyncio.get_running_loop()

        def on_info(info: InfoDict) -> None:  # in the engine's thread
            if info.get("pv") and "score" in info:
                loop.call_soon_threadsafe(self._take, place, found, info)

        try:
            fen = place.board.fen()
            search = engine.begin(place.board, None, on_info, place=fen, multipv=self._count)
            await asyncio.wrap_future(search)
        except EngineError as error:
            if self._found is found:
                self._on, self._problem = False, str(error)
                self._stop_timer()
                self.show()

    def _take(self, place: NodePosition, found: dict[int, Line], info: InfoDict) -> None:
        """Receive a line of analysis, and send it to the page soon, unless it comes after the end of its analysis."""
        if self._found is not found:
            return
        rank = info.get("multipv", 1)
        if not found:
            self._stop_timer()
            self._problem = None
            self.show()
        found[rank] = line_of(rank, info, place.board.fen())
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LINES_EVERY, self._show_lines)

    def _show_lines(self) -> None:
        self._stop_timer()
        if self._place is not None and self._found:
            lines = lines_view(self._place.node, self._place.board, self._found)
            self._send({**lines, "type": "other_lines"})

    def _tell_silence(self) -> None:
        self._timer = None
        self._problem = f"no line within {_SILENT:g} seconds"
        self.show()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
