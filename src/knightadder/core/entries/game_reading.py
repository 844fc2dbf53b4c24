"""Whole games read back: counted, and replayed as positions. ``core/board/viriformat.py`` describes the format.

Nothing of the engine imports this module: its entry points are compiled for those who use it.
"""

import numpy as np
from numba import from_dtype, int64, uint32

from ..board.packed import Packed
from ..board.viriformat import HEADER, read_game
from ..layout import POSITION, Tables
from ..native.jit import entry, inlined

Position = from_dtype(POSITION)


@inlined
def _end(words, at):
    """Return where the moves of the game at a place end, at the zero word; the length of the file if there is none."""
    at += HEADER
    while at < len(words) and words[np.uint64(at)] != 0:
        at += 1
    return min(at, np.int64(len(words)))


@entry(int64(uint32[::1], int64[::1]))
def count_games(words, counts):
    """Count games and moves, without looking at what they are.

    Parameters
    ----------
    words : array of uint32
        A file.
    counts : array of 2 int
        Receives the number of games and of moves.

    Returns
    -------
    int
        Where a game begins that has no end; the length of the file if all have.
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


@entry(int64(Tables, Position[::1], uint32[::1], int64[::1], int64, int64, int64, Packed[::1]))
def read_games(tables, positions, words, place, first_ply, score_below, quiet, records):
    """Replay games and write those of their positions that are wanted, in order, into records.

    Parameters
    ----------
    tables : TABLES record
        The read-only tables.
    positions : array of 2 POSITION
        To work on.
    words : array of uint32
        A file.
    place : array of 1 int
        Where the first game to read begins; where the next one begins afterwards, or the one that is not sound.
    first_ply : int
        Positions before it are not wanted; White's first move of a game from the start position is ply 0.
    score_below : int
        Positions with a score that is not below it, in centipawns either way, are not wanted.
    quiet : int
        1 if positions are not wanted whose side to move is in check, or whose move captures or promotes.
    records : array of PACKED
        Receives the positions, each with the game's result.

    Returns
    -------
    int
        How many were written: of as many games as there is room for. -1 if a game is cut off or not legal.
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
