"""Plays the games whose positions are kept, chunk after chunk, each of which depends on nothing but its number."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.entries.datagen import (
    CHECKMATE,
    DRAWN,
    KEPT,
    play_move,
)
from knightadder.core.layout import WORKER
from knightadder.core.native.compiling import compile_entry
from knightadder.core.native.memory import zeroed_bytes
from knightadder.core.tables import new_tables
from knightadder.engine.errors import OptionError
from knightadder.engine.game import Game, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.workshop.openings import Book
from knightadder.workshop.selfplay import (
    DRAW,
    LOSS,
    WIN,
    adjudicate,
)

GAMES = 100  # in a chunk
LONGEST = 800  # plies of a game, its opening not counted; then it is a draw

# An opening is good if a search of so many times the usual nodes finds it level, in centipawns.
VERIFY = 10
LEVEL = 200
MOST_TRIES = 1000  # openings; a book may have no good one


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how the games go.

    Attributes
    ----------
    nodes : int
        Positions searched for a move, after which no further depth is begun.
    megabytes : int
        Size of the hash table.
    seed : int
        Of all chance.
    random_plies : int
        Random moves that begin a game; one more in half of the games.
    book : Book or None
        Where games begin; the start position without one.
    games : int
        Games in a chunk.
    """

    nodes: int = 1000
    megabytes: int = 4
    seed: int = 1
    random_plies: int = 8
    book: Book | None = None
    games: int = GAMES


def compile_player(report: Callable[[str], None]) -> None:
    """Compile what players need besides the engine, and keep it on disk, unless it is there already.

    Parameters
    ----------
    report : callable
        Told that something is compiled.
    """
    if not play_move.signatures:
        report("compiling play_move, or loading it")
    compile_entry(play_move)


class Player:
    """Plays games; nothing is kept from one to the next.

    Raises
    ------
    OptionError
        If the machine has not enough memory for the hash table.
    """

    def __init__(self, settings: Settings) -> None:
        compile_entry(play_move)
        self._settings = settings
        self._tables = new_tables()
        self._game = Game(self._tables)
        self._table = HashTable(settings.megabytes)
        self._memory = zeroed_bytes(WORKER.itemsize)
        self._worker = self._memory.view(WORKER)[0]
        self._never = np.zeros(1, np.uint64)  # the stop flag
        self._records = np.zeros(LONGEST, PACKED)

    def play_chunk(self, number: int, on_game: Callable[[int], None] = lambda kept: None) -> NDArray[np.void]:
        """Play a chunk of games.

        Parameters
        ----------
        number : int
            Of the chunk, from 0.
        on_game : callable
            Told after each game how many positions were kept of it.

        Returns
        -------
        array of PACKED
            The positions kept, game after game, each in the order of its moves.

        Raises
        ------
        OptionError
            If no good opening is found.
        PositionError
            If the book has a bad opening.
        """
        chance = random.Random(f"{self._settings.seed} {number}")
        kept = []
        for _ in range(self._settings.games):
            if not any(self._choose_opening(chance) for _ in range(MOST_TRIES)):
                raise OptionError(f"none of {MOST_TRIES} openings in a row is level")
            kept.append(self._play())
            on_game(len(kept[-1]))
        return np.concatenate(kept)

    def _choose_opening(self, chance: random.Random) -> bool:
        """Set up the beginning of a game; says whether it is a good one."""
        settings, game, book = self._settings, self._game, self._settings.book
        if book is None:
            game.set_up()
        else:
            opening = book.opening(chance.randrange(len(book)))
            game.set_up(opening.fen, opening.moves)
        for _ in range(settings.random_plies + chance.randrange(2)):
            moves = game.legal_moves()
            if not moves or game.drawn:
                return False
            game.push(chance.choice(moves))
        self._begin()
        outcome = play_move(self._tables, self._worker, settings.nodes * VERIFY, game.ply, self._records, 0)
        return outcome not in (CHECKMATE, DRAWN) and abs(int(self._records["score"][0])) <= LEVEL

    def _begin(self) -> None:
        """Forget the last game, and give the worker the position of this one."""
        self._memory.fill(0)
        self._table.clear(threads=1)
        worker = self._worker
        worker.stop_address = self._never.ctypes.data
        worker.tt_address, worker.tt_buckets = self._table.address, self._table.buckets
        copy_game(self._game.record, worker)

    def _play(self) -> NDArray[np.void]:
        """Play the game from its opening on, and return the positions kept, with its result."""
        copy_game(self._game.record, self._worker)
        records, first = self._records, self._game.ply
        all_scores = records["score"]
        scores: list[int] = []
        count, result = 0, None
        while result is None and len(scores) < LONGEST:
            ply = first + len(scores)
            outcome = play_move(self._tables, self._worker, self._settings.nodes, ply, records, count)
            if outcome == CHECKMATE:
                result = WIN if ply & 1 else LOSS
            elif outcome == DRAWN:
                result = DRAW
            else:
                scores.append(int(all_scores[count]))
                count += outcome == KEPT
                result = adjudicate(scores, ply + 1)
        records["result"][:count] = (DRAW if result is None else result) - LOSS
        return records[:count].copy()
