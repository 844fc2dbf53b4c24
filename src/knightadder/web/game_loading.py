"""Makes the desks of games that are loaded, chosen from a file, opened from the user's games, or restored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from knightadder.web.desk import Desk, GameFile
from knightadder.web.loaded_pgn import LoadedPgn, load_pgn
from knightadder.web.saved_games import SavedPlace

if TYPE_CHECKING:
    from knightadder.web import messages
    from knightadder.web.keeper import Keeper

LoadedDesk: TypeAlias = tuple[Desk, list[str]]  # a desk, and sentences for the user about what was not loaded


class Loading:
    """Makes desks of games. `keeper` knows the stored games."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    async def loaded(self, message: messages.LoadPgn) -> LoadedDesk:
        """Return the desk of a game of a new file."""
        content = message.content()
        loaded = await _load(content, message.index)
        file = GameFile(content, loaded.titles, sent=message.number)
        return Desk(loaded.tree, None, file, message.index), _problems(loaded)

    async def chosen(self, message: messages.ChooseGame, shown: Desk) -> LoadedDesk:
        """Return the desk of another game of the file; `shown` is the desk of the game on the board."""
        file, index = shown.file, message.index
        known = file.desks.get(index)
        if known is not None:
            return known, []
        edited = file.edited.get(index)
        loaded = await (_load(file.content, index) if edited is None else _load(edited, 0))
        desk = await self._newest(Desk(loaded.tree, None, file, index))
        return desk.take_file_of(shown), _problems(loaded)

    async def opened(self, message: messages.OpenSaved) -> LoadedDesk:
        """Return the desk of a stored game."""
        content, place = await self._keeper.open(message.number)
        loaded = await _load(content, 0)
        desk = Desk(loaded.tree)
        desk.entry.place = place
        return desk, _problems(loaded)

    async def restored(self, message: messages.Restore) -> Desk:
        """Return the desk that the tab had before a restart of the server."""
        content, edited, index = message.content(), message.edited_games(), message.index
        places = {each: SavedPlace(*place) for each, place in message.places_of_games().items()}
        loaded = await _load(content, index) if content or index not in edited else None
        titles = [] if loaded is None else loaded.titles
        if index in edited:
            loaded = await _load(edited[index], 0)
        assert loaded is not None
        loaded.tree.go_along(message.path)
        desk = Desk(loaded.tree, None, GameFile(content, titles, edited, places, began=message.began), index)
        return await self._newest(desk, message.path)

    async def _newest(self, desk: Desk, path: Sequence[int] = ()) -> Desk:
        """Return the desk of a game from before a restart, or a desk of the stored game if that is newer.
        `path` leads to the position on the board, but the end of the shown game becomes the end of the newer one.
        """
        content = await self._keeper.newest(desk)
        if content is None:
            return desk
        tree = (await _load(content, 0)).tree
        tree.go_along(path)
        if desk.tree.cursor is desk.tree.game.end():
            tree.cursor = tree.game.end()
        newer = Desk(tree, None, desk.file, desk.index)
        newer.entry = desk.entry
        return newer


async def _load(content: bytes, index: int) -> LoadedPgn:
    """Read a game in a thread, because a long one takes a while and other tabs should not wait for it."""
    return await asyncio.to_thread(load_pgn, content, index)


def _problems(loaded: LoadedPgn) -> list[str]:
    problem = [] if loaded.problem is None else [f"Read up to an error in the PGN: {loaded.problem}"]
    return [*problem, *loaded.left_out]
