"""Many PGN games in one call: reading them, and replaying them as positions. See ``core/board/pgn_reader.py``."""

import numpy as np

from knightadder.native.signatures import int16, int64, uint8, uint16, uint64

from ..board import pgn_reader
from ..board.fen_reader import read_fen
from ..board.packed import DRAW, Packed, pack
from ..board.pgn_commands import NO_SCORE
from ..board.pgn_reader import Game, Note, Reader, Tag
from ..board.polyglot import polyglot_key
from ..board.position import make
from ..compilation import core
from ..tables import Tables

read_block = core.exported(
    int64(Tables, Reader, uint8[::1], Game[::1], Tag[::1], uint16[::1], int64[::1], int16[::1], Note[::1])
)(pgn_reader.read_block)


@core.exported(int64(Tables, Reader, uint8[::1]))
def set_up_reader(tables, reader, text):
    """Set up a reader's start position from the FEN `text`; return 0 if that fails."""
    return read_fen(tables, text, np.int64(0), np.int64(len(text)), reader.fen, reader.start)


@core.exported(
    int64(Tables, Reader, uint8[::1], Game[::1], uint16[::1], int16[::1], uint64[::1], Packed[::1], uint64[::1])
)
def replay_games(tables, reader, text, games, moves, scores, numbers, records, keys):
    """Pack the position before each move of the games, compute its key, and return the number of positions.

    Parameters
    ----------
    tables, reader : records
        As for `read_block`.
    text, games, moves, scores : arrays
        The text and the results of `read_block`.
    numbers : array of 781 uint64
        Random numbers for the keys; see `polyglot_key`.
    records : array of PACKED
        Receives a position for each move of the games, unless the array is empty. The score of a position is the one
        that the game gives after the previous move, else 0. The result is a draw, because the tags may contradict the
        end of the moves: the caller sets it.
    keys : array of uint64
        Receives the keys, unless the array is empty.
    """
    count = np.int64(0)
    for number in range(len(games)):
        game = games[number]
        ply = pgn_reader.set_start(tables, reader, text, game)
        now = np.int64(0)
        score = np.int64(0)
        for index in range(game.first_move, game.first_move + game.moves):
            pos = reader.stack[now]
            if len(records):
                pack(pos, records[count], ply, score, np.int64(DRAW))
            if len(keys):
                keys[count] = polyglot_key(pos, numbers)
            make(tables, pos, reader.stack[now ^ 1], np.int64(moves[index]))
            now ^= 1
            ply += 1
            count += 1
            score = np.int64(scores[index]) if scores[index] != NO_SCORE else np.int64(0)
    return count
