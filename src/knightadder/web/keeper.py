"""Saves a tab's games among the user's games: games against the engine automatically, other games on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from knightadder.engine.errors import OptionError
from knightadder.pgn.games import text_of
from knightadder.web.messages import MessageError
from knightadder.web.views import View, place_view

if TYPE_CHECKING:
    import chess.pgn

    from knightadder.web.desk import Desk
    from knightadder.web.saved_games import SavedGames, SavedPlace


class Keeper:
    """Writes to the user's games in a thread, one game at a time.
    `games` is None if the board keeps no games. `send` takes a message for the page, and must not block.
    """

    def __init__(self, games: SavedGames | None, send: Callable[[View], None]) -> None:
        self._games = games
        self._send = send
        self._writing = asyncio.Lock()
        self._told: str | None = None  # the last reported problem, which is not reported again
        self._tasks: set[asyncio.Task[None]] = set()

    def keep(self, desk: Desk) -> None:
        """Save the game against the engine as it is now, if it has moves; the caller need not wait."""
        game = desk.game
        if self._games is None or game is None or desk.tip.ply() <= game.start_ply:
            return
        if desk.entry.kept != _state(desk):
            desk.entry.kept = _state(desk)
            task = asyncio.create_task(self._keep(desk, _text(desk)))
            self._tasks.add(task)  # the event loop itself does not keep the task alive
            task.add_done_callback(self._tasks.discard)

    async def _keep(self, desk: Desk, text: str) -> None:
        try:
            await self._write(desk, text)
            self._told = None
        except OptionError as error:
            desk.entry.kept = None  # so that the next call tries again
            if self._told != (problem := f"this game is not saved: {error}"):
                self._told = problem
                self._send({"type": "notice", "text": problem})

    async def save(self, desk: Desk) -> None:
        """Save the game of a desk; OptionError if that fails."""
        await self._write(desk, _text(desk), once=True)
        desk.entry.kept = _state(desk)

    async def _write(self, desk: Desk, text: str, once: bool = False) -> None:
        games = self._checked()
        async with self._writing:  # so that games are saved in the order of the calls
            entry, headers = desk.entry, dict(desk.tree.game.headers)
            entry.place = await asyncio.to_thread(games.put, text, headers, entry.place, once)
        self._send(place_view(desk))

    async def open(self, number: int) -> tuple[bytes, SavedPlace]:
        """Return the PGN of a saved game, and its place; OptionError or MessageError if the game cannot be read."""
        found = await asyncio.to_thread(self._checked().get, number)
        if found is None:
            raise MessageError("that game is no longer in your games")
        return found[0].encode(), found[1]

    async def close(self) -> None:
        """Wait until everything has been saved."""
        await asyncio.gather(*self._tasks)

    def _checked(self) -> SavedGames:
        if self._games is None:
            raise MessageError("this board keeps no games")
        return self._games


def _state(desk: Desk) -> tuple[chess.pgn.GameNode, str] | None:
    """Return what decides whether a game against the engine must be saved again: its last move and its result."""
    return None if desk.game is None else (desk.tip, desk.game.result)


def _text(desk: Desk) -> str:
    return text_of(desk.tree.game)
