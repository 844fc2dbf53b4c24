"""Whole games in the format of ``core/board/viriformat.py``: counting them, and replaying them as positions."""

import numpy as np

from knightadder.native.jit import inlined
from knightadder.native.signatures import int64, record_type, uint32

from ..board.packed import Packed
from ..board.position import POSITION
from ..board.viriformat import HEADER, read_game
from ..compilation import core
from ..tables import Tables

Position = record_type(POSITION)


@inlined
def _end(words, at):
    """Return the index of the zero word that ends the game beginning at `at`, or the file's length if there is none."""
    at += HEADER
    while at < len(words) and words[at] != 0:
        at += 1
    return min(at, np.int64(len(words)))


@core.exported(int64(uint32[::1], int64[::1]))
def count_games(words, counts):
    """Count the games and moves of a file, an array of uint32, into `counts`, without decoding them. Return the index
    of the incomplete game at the end, or the length of the file if all games are complete.
    """
    at = np.int64(0)
    counts[0] = counts[1] = 0
    while at < len(words):
        end = _end(words, at)
        if end == len(words):
            break
        counts[0] += 1
        counts[1] += end - at - HEADER
        at = end + 1
    return at


@core.exported(int64(Tables, Position[::1], uint32[::1], int64[::1], int64, int64, int64, Packed[::1]))
def read_games(tables, positions, words, place, first_ply, score_below, quiet, records):
    """Replay games, and write the wanted positions with the game's result.

    The function returns the number of positions written, from as many games as fit; -1 if a game is incomplete or
    illegal.

    Parameters
    ----------
    tables : TABLES record
    positions : array of 2 POSITION
        Working memory.
    words : array of uint32
        The content of a file.
    place : array of 1 int
        Index of the first game to read. Receives the index of the next game, or of a faulty game.
    first_ply : int
        First wanted ply. White's first move of a game from the start position is ply 0.
    score_below : int
        Only positions with a smaller absolute score, in centipawns, are wanted.
    quiet : int
        1 to leave out positions in check, and positions in which the move played is a capture or a promotion; else 0.
    records : array of PACKED
        Receives the positions in order.
    """
    count = np.int64(0)
    while place[0] < len(words):
        at = place[0]
        end = _end(words, at)
        if end == len(words):
            return np.int64(-1)
        if count + end - at - HEADER > len(records):
            break
        count = read_game(tables, positions, words, at, end, first_ply, score_below, quiet, records, count)
        if count < 0:
            return count
        place[0] = end + 1
    return count
