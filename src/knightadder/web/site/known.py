"""What is known about a position without a search: the moves of an opening book, and of endgame tablebases."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import chess
from starlette.routing import Route

from knightadder.web.site.asked import position_route
from knightadder.web.views import View

if TYPE_CHECKING:
    from knightadder.engine.book import Book
    from knightadder.engine.game import Game
    from knightadder.engine.tablebases.registry import Tablebases

_RESULTS = {2: "win", 1: "cursed win", 0: "draw", -1: "blessed loss", -2: "loss"}


class Known:
    """Looks positions up in a book, in folders of Syzygy tablebases, and in the tables that come with the engine."""

    def __init__(self, book: Book | None = None, folders: Sequence[str] = ()) -> None:
        self._book = book
        self._folders = folders
        # A thread of its own, for one call after the other: the first loads the compiled core, which may take minutes.
        self._thread = ThreadPoolExecutor(1, "tablebases")
        self._tables: tuple[Tablebases, Game] | None = None

    def routes(self) -> list[Route]:
        """Return the route ``/known?fen=…``."""
        return [position_route("/known", self._view)]

    async def _view(self, board: chess.Board, _: Mapping[str, str]) -> View:
        tables = await asyncio.get_running_loop().run_in_executor(self._thread, self.tablebase_moves, board)
        return {"book": self.book_moves(board), "tables": tables}

    def book_moves(self, board: chess.Board) -> list[View]:
        """Return the book's moves with their shares in per cent, largest first."""
        moves = {} if self._book is None else self._book.moves(board.fen(), board.chess960)
        total = sum(moves.values())
        return [{"san": board.san(board.parse_uci(uci)), "percent": 100 * n / total} for uci, n in moves.items()]

    def tablebase_moves(self, board: chess.Board) -> list[View]:
        """Return the legal moves, best first, with their results and distances to zeroing in plies.
        The list is empty if a table is missing. ``dtz`` is None if only the DTZ table is missing.
        """
        from knightadder.engine.notation import to_uci

        tablebases, game = self._tables or self._open()
        game.set_up(board.fen())
        known = [] if tablebases.wdl(game) is None else game.legal_moves()
        rows = [(tablebases.wdl_after(game, move), tablebases.dtz_after(game, move), move) for move in known]
        if any(wdl is None for wdl, _, _ in rows):
            return []
        # Wins come first, then draws, then losses; shorter wins and longer losses lead.
        rows.sort(key=lambda row: (-(row[0] or 0), row[1] or 0))
        return [
            {"san": board.san(board.parse_uci(to_uci(move, board.chess960))), "result": _RESULTS[wdl or 0], "dtz": dtz}
            for wdl, dtz, move in rows
        ]

    def _open(self) -> tuple[Tablebases, Game]:
        from knightadder.engine.game import Game
        from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
        from knightadder.library.shared import tables_of

        tables = tables_of(None)
        self._tables = Tablebases(tables, [*self._folders, SHIPPED]), Game(tables)
        return self._tables
