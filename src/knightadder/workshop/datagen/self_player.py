"""Plays games in chunks; with the same settings, a chunk depends only on its number."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.datagen_game import play_game
from knightadder.core.api.deepening import forget
from knightadder.core.board.packed import PACKED
from knightadder.core.board.viriformat import HEADER
from knightadder.core.evaluation import network
from knightadder.core.evaluation.evaluate import CLASSICAL, NETWORK
from knightadder.core.evaluation.network_file import Network
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine.errors import OptionError
from knightadder.engine.game import Game, array_of, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.search_thread import share_memory
from knightadder.native.records import new_record
from knightadder.workshop.opening_book import OpeningBook

GAMES = 100  # games in a chunk
LONGEST = 800  # maximum plies of a game after its opening; then the game is a draw

# An opening is rejected if a search with VERIFY times the nodes of a move finds one side MOST_AHEAD centipawns ahead.
# The limit is high, because a network must also learn unbalanced positions, which the search often meets.
VERIFY = 4
MOST_AHEAD = 1000
MOST_TRIES = 1000  # maximum number of openings to try, because a book may have no suitable opening


@dataclass(frozen=True, slots=True)
class GameSettings:
    """The settings of the games. Without a network, the classical evaluation is used."""

    nodes: int = 100  # soft limit per move: no new iteration starts after it
    megabytes: int = 1  # size of each player's hash table
    seed: int = 1
    random_plies: int = 8  # number of random plies; half of the games have one more
    chess960: float = 0.2  # share of games from random Chess960 positions, different for each side
    book: OpeningBook | None = None  # openings of the other games, if any
    network: Network | None = None
    games: int = GAMES  # number of games in a chunk


class SelfPlayer:
    """Plays games, and forgets each game before the next; OptionError if there is too little memory."""

    def __init__(self, settings: GameSettings) -> None:
        self._settings = settings
        self._tables = new_tables(CLASSICAL if settings.network is None else NETWORK)
        if settings.network is not None:
            network.fill_tables(self._tables, settings.network)
        self._game = Game(self._tables)
        self._players = [_Player(settings.megabytes) for _ in "WB"]
        self._words = np.zeros(HEADER + LONGEST + 1, np.uint32)
        self._header = self._words[:HEADER].view(PACKED)

    def play_chunk(self, number: int, on_game: Callable[[int], None] = lambda moves: None) -> NDArray[np.uint32]:
        """Play a chunk of games and return them, as ``core/board/viriformat.py`` describes them.
        `on_game` is called after each game with its number of moves, without the opening.
        """
        chance = random.Random(f"{self._settings.seed} {number}")
        games = []
        for _ in range(self._settings.games):
            games.append(self._play(chance))
            on_game(len(games[-1]) - HEADER - 1)
        return np.concatenate(games)

    def openings(self, chance: random.Random) -> Iterator[Game]:
        """Yield endless positions in which games may begin: always the same object, which must not be changed."""
        while True:
            self._play(chance, 1)
            yield self._game

    def _play(self, chance: random.Random, longest: int = LONGEST) -> NDArray[np.uint32]:
        """Play and return a game from the first good opening; it ends after `longest` plies."""
        nodes = self._settings.nodes
        for _ in range(MOST_TRIES):
            if not self._set_up_opening(chance):
                continue
            for player in self._players:
                player.forget()
                copy_game(self._game.record, player.worker)
            moves = play_game(
                self._tables,
                *(player.worker for player in self._players),
                nodes,
                nodes * VERIFY,
                MOST_AHEAD,
                self._game.ply,
                self._header,
                self._words[HEADER : HEADER + longest + 1],
            )
            if moves:
                return self._words[: HEADER + moves + 1].copy()
        raise OptionError(
            f"none of {MOST_TRIES} openings is suitable for a game: try a different book, or fewer --random-plies"
        )

    def _set_up_opening(self, chance: random.Random) -> bool:
        """Set up a random opening; return whether all its random moves were possible."""
        settings, game, book = self._settings, self._game, self._settings.book
        if chance.random() < settings.chess960:
            white, black = (chess.Board.from_chess960_pos(chance.randrange(960)).fen() for _ in "WB")
            ranks = [*black.split("/")[:-1], white.split("/")[-1]]  # White's home rank, followed by the rest of the FEN
            game.set_up("/".join(ranks))
        elif book is None:
            game.set_up()
        else:
            opening = book.opening(chance.randrange(len(book)))
            game.set_up(opening.fen, opening.moves)
        plies = settings.random_plies + chance.randrange(2)
        return game.push_random(plies, chance.getrandbits(64)) == plies


class _Player:
    """One side of the games, with its own tables."""

    def __init__(self, megabytes: int) -> None:
        self._table = HashTable(megabytes)
        self._never = np.zeros(1, np.uint64)  # a stop flag that is never set
        self.worker = new_record(WORKER)
        share_memory(array_of(self.worker), self._table, self._never)

    def forget(self) -> None:
        self._table.clear()
        forget(self.worker)
