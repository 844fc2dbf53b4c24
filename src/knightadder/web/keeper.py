"""Saves a tab's games among the user's games: games against the engine automatically, other games on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from knightadder.engine.errors import OptionError
from knightadder.pgn.games import text_of
from knightadder.web.messages import MessageError
from knightadder.web.views import View, place_view

if TYPE_CHECKING:
    import chess.pgn

    from knightadder.web.desk import Desk
    from knightadder.web.saved_games import SavedGames, SavedPlace


_PATIENCE = 2.0  # seconds for which a tab waits while another program uses the file


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
            self._begin(self._keep(desk, _text(desk)))

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
        """Save the game of a desk, and tell the page; OptionError or MessageError if it is not saved yet.
        While another program uses the file, the game is saved later, and the caller does not wait for that.
        """
        games = self._checked()
        saving = self._begin(self._save(desk, _text(desk), _state(desk)))
        try:
            await asyncio.wait_for(asyncio.shield(saving), _PATIENCE)
        except TimeoutError:
            saving.add_done_callback(self._tell_late)
            raise MessageError(
                f"another program uses the games in {games.file}: the game is saved as soon as possible"
            ) from None

    async def _save(self, desk: Desk, text: str, state: tuple[chess.pgn.GameNode, str] | None) -> None:
        await self._write(desk, text, once=True)
        desk.entry.kept = state
        self._send({"type": "saved"})

    def _tell_late(self, saving: asyncio.Task[None]) -> None:
        if error := saving.exception():
            self._send({"type": "error", "about": "save_game", "text": str(error)})

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # the event loop itself does not keep the task alive
        task.add_done_callback(self._tasks.discard)
        return task

    async def _write(self, desk: Desk, text: str, once: bool = False) -> None:
        games = self._checked()
        async with self._writing:  # so that games are saved in the order of the calls
            entry, headers = desk.entry, dict(desk.tree.game.headers)
            entry.place = await asyncio.to_thread(games.put, text, headers, entry.place, once)
        self._send(place_view(desk))

    async def open(self, number: int) -> tuple[bytes, SavedPlace]:
        """Return the PGN of a saved game, and its place; OptionError or MessageError if the game cannot be read."""
        games = self._checked()
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await asyncio.to_thread(games.get, number)
        except TimeoutError:
            raise MessageError(f"another program uses the games in {games.file}: try again later") from None
        if found is None:
            raise MessageError("that game is no longer in your games")
        return found[0].encode(), found[1]

    async def newest(self, desk: Desk) -> bytes | None:
        """Find the stored game of a desk from before a restart of the server; return its PGN if it is newer.
        The server may have ended before the page learned of the last moves and saves, or before a game against the
        engine, its last moves or its end were saved: then they are saved now.
        """
        games, entry = self._games, desk.entry
        if games is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await asyncio.to_thread(games.newest, entry.place)
        except (TimeoutError, OptionError):  # the page's game is shown; saving it keeps both
            return None
        text = _text(desk)
        if found is None:
            unsaved = not entry.place.number
        else:
            pgn, place, deleted = found
            if deleted:
                return None
            stored, shown = _moves(pgn), _moves(text)
            if place != entry.place and _begins(shown, stored):
                entry.place = place
                return pgn.encode()
            if not _begins(stored, shown):
                return None
            entry.place = place
            unsaved = stored != shown
        if unsaved and desk.has_played_moves():
            self._begin(self._keep(desk, text))
        return None

    async def close(self) -> None:
        """Wait until everything has been saved, or could not be."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _checked(self) -> SavedGames:
        if self._games is None:
            raise MessageError("this board keeps no games")
        return self._games


def _state(desk: Desk) -> tuple[chess.pgn.GameNode, str] | None:
    """Return what decides whether a game against the engine must be saved again: its last move and its result."""
    return None if desk.game is None else (desk.tip, desk.game.result)


def _text(desk: Desk) -> str:
    return text_of(desk.tree.game)


def _moves(pgn: str) -> list[str]:
    """Return the words of a game's moves and comments; the last one is the result."""
    return pgn.partition("\n\n")[2].split() or ["*"]


def _begins(moves: list[str], others: list[str]) -> bool:
    """Return whether the game with these moves is the other one, or an unfinished game with its first moves."""
    return moves == others or (moves[-1] == "*" and moves[:-1] == others[: len(moves) - 1])
