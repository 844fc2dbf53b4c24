"""Queries of `library.explorer` on an index of games: the moves played in a position, filters, parts of positions."""

import numpy as np

from knightadder.native.jit import inlined, kernel, popcount
from knightadder.native.records import record
from knightadder.native.signatures import int32, int64, record_type, uint8, uint16, uint32

from ..board import pgn_reader
from ..board.moves import source_of, target_of
from ..board.pgn_reader import Game, Reader
from ..board.position import make
from ..compilation import core
from ..layout import KING, MAX_MOVES, PAWN
from ..tables import Tables

#: The facts about a game that the filters need. Unknown ratings and dates are 0.
INDEXED = record(
    ("white", np.uint32),  # number of the player
    ("black", np.uint32),
    ("date", np.uint32),  # year << 9 | month << 5 | day
    ("white_elo", np.uint16),
    ("black_elo", np.uint16),
    ("result", np.uint8),  # see `RESULTS`
    ("speed", np.uint8),  # index of its bit in a filter's `speeds`
)
#: A filter of games. A player's number is -1 for any player.
FILTER = record(
    ("white", np.int64),
    ("black", np.int64),
    ("either", np.int64),  # 1 if the players may also have the opposite colours
    ("least_rating", np.int64),  # minimum average rating; 0 = no limit. A limit leaves out games without ratings.
    ("most_rating", np.int64),  # maximum average rating; 0 = no limit
    ("since", np.int64),  # first date; 0 = no limit. A limit leaves out games without a date.
    ("until", np.int64),  # last date; 0 = no limit
    ("speeds", np.int64),  # a bit for each speed to count
    ("results", np.int64),  # a bit for each result to count
)
#: Statistics of the games in which a move was played.
PLAYED = record(
    ("move", np.int64),
    ("results", np.int64, 4),  # numbers of games by result
    ("rated", np.int64),  # number of games in which the mover has a rating
    ("ratings", np.int64),  # sum of the ratings of the movers
    ("opposed", np.int64),  # number of games in which the opponent has a rating
    ("opponents", np.int64),  # sum of the ratings of the opponents
    ("points", np.int64),  # half points that the mover scored against rated opponents
    ("last", np.int64),  # date of the latest game
)
#: A wanted position: the number of each piece (``men[0]`` is `ANY` for any material), and the content of each square: a
#: piece as in ``core/layout.py``, 0 for an empty square, or `ANY`.
WANTED = record(("men", np.int64, 16), ("squares", np.uint8, 64))
ANY = 255  # any content of a square, or any material

Indexed, Filter, Played, Wanted = (record_type(dtype) for dtype in (INDEXED, FILTER, PLAYED, WANTED))


@core.exported(
    int64(
        *(Indexed[::1], Filter, int64, int64, uint32[::1], uint16[::1], int64),
        *(int32[::1], Played[::1], int64[::1], int64[::1]),
    )
)
def count_games(games, wanted, white_moves, by_date, ids, moves, only, slots, played, best, counts):
    """Count the games of a position by the move played in it, and find the best of them; return the number of games.

    Parameters
    ----------
    games : array of INDEXED
        All games of the index.
    wanted : FILTER record
        The filter that a game must pass to count.
    white_moves : int
        1 if White is to move, else 0.
    by_date : int
        1 if the best games are the latest, 0 if they are the games with the highest ratings.
    ids, moves : arrays of uint32 and uint16
        The games that have the position, in increasing order, and the moves played in it.
    only : int
        The only move to count; 0 to count all moves.
    slots : array of 65536 int32
        The index of each move in `played`, plus 1. Must be all zeros at the first call.
    played : array of PLAYED
        Receives the statistics of each move. There is room for `MAX_MOVES` moves; further moves are left out.
    best : array of int64
        The best games found by earlier calls, to which this call adds.
    counts : array of 2 int64
        The numbers of moves and of best games so far.
    """
    found = np.int64(0)
    for index in range(len(ids)):
        number = np.int64(ids[index])
        move = np.int64(moves[index])
        if number >= len(games) or (only and move != only):
            continue
        game = games[number]
        if not _counts(game, wanted):
            continue
        place = np.int64(slots[move])
        if place == 0:
            if counts[0] == MAX_MOVES:
                continue
            counts[0] += 1
            place = counts[0]
            slots[move] = place
            played[place - 1].move = move
        found += 1
        row = played[place - 1]
        result = np.int64(game.result) & 3
        row.results[result] += 1
        mover, opponent = np.int64(game.white_elo), np.int64(game.black_elo)
        points = np.int64(2) if result == 1 else np.int64(1) if result == 2 else np.int64(0)
        if not white_moves:
            mover, opponent = opponent, mover
            points = 2 - points
        if mover:
            row.rated += 1
            row.ratings += mover
        if opponent:
            row.opposed += 1
            row.opponents += opponent
            row.points += points
        row.last = max(row.last, np.int64(game.date))
        _keep(games, by_date, number, best, counts)
    return found


@inlined
def _counts(game, wanted):
    """Return whether a game passes the filter."""
    if not (wanted.results >> (np.int64(game.result) & 3)) & (wanted.speeds >> (np.int64(game.speed) & 7)) & 1:
        return False
    if wanted.white >= 0 or wanted.black >= 0:
        as_asked = _plays(wanted.white, game.white) and _plays(wanted.black, game.black)
        swapped = wanted.either and _plays(wanted.white, game.black) and _plays(wanted.black, game.white)
        if not (as_asked or swapped):
            return False
    if wanted.since or wanted.until:
        date = np.int64(game.date)
        if date == 0 or date < wanted.since or (wanted.until and date > wanted.until):
            return False
    if wanted.least_rating or wanted.most_rating:
        twice = _twice_rating(game)
        if twice == 0 or twice < 2 * wanted.least_rating or (wanted.most_rating and twice > 2 * wanted.most_rating):
            return False
    return True


@inlined
def _plays(wanted, player):
    return wanted < 0 or wanted == np.int64(player)


@inlined
def _twice_rating(game):
    """Return twice the average rating of the players. If one rating is unknown, the other is used; if both are, 0."""
    white, black = np.int64(game.white_elo), np.int64(game.black_elo)
    if white == 0 or black == 0:
        return 2 * (white + black)
    return white + black


@inlined
def _strength(game, by_date):
    return np.int64(game.date) if by_date else np.int64(game.white_elo) + np.int64(game.black_elo)


@inlined
def _keep(games, by_date, number, best, counts):
    """Insert a game into the list of best games. Of two equal games, the one found first comes first."""
    strength = _strength(games[number], by_date)
    place = counts[1]
    if place == len(best):
        place -= 1
        if place < 0 or strength <= _strength(games[best[place]], by_date):
            return
    else:
        counts[1] += 1
    while place > 0 and _strength(games[best[place - 1]], by_date) < strength:
        best[place] = best[place - 1]
        place -= 1
    best[place] = number


@core.exported(int64(Indexed[::1], Filter, uint8[::1]))
def filter_games(games, wanted, found):
    """Mark the games that pass a filter by 1 in `found` (uint8), all others by 0; return the number of marked games."""
    count = np.int64(0)
    for number in range(len(games)):
        passes = _counts(games[number], wanted)
        found[number] = 1 if passes else 0
        count += 1 if passes else 0
    return count


@core.exported(int64(Tables, Reader, uint8[::1], Game[::1], uint16[::1], Wanted, int32[::1]))
def find_positions(tables, reader, text, games, moves, wanted, plies):
    """Find the first position of each game that has the `wanted` pieces, and return the number of games that have one.

    `plies` (int32) receives the number of moves before each position; -1 if there is none. The other arguments are
    those of `replay_games` in ``core/api/pgn_reading.py``.
    """
    found = np.int64(0)
    for number in range(len(games)):
        game = games[number]
        plies[number] = -1
        if pgn_reader.set_start(tables, reader, text, game) < 0:
            continue
        now = np.int64(0)
        for ply in range(game.moves + 1):
            pos = reader.stack[now]
            if _has_men(pos, wanted):
                plies[number] = ply
                found += 1
                break
            if ply == game.moves:
                break
            move = np.int64(moves[game.first_move + ply])
            # A damaged file must not lead to a position without a king.
            piece, victim = np.int64(pos.board[source_of(move)]), np.int64(pos.board[target_of(move)])
            if piece == 0 or piece >> 3 != np.int64(pos.stm) or victim & 7 == KING:
                break
            make(tables, pos, reader.stack[now ^ 1], move)
            now ^= 1
    return found


@kernel
def _has_men(pos, wanted):
    if wanted.men[0] != ANY:
        for color in range(2):
            for kind in range(PAWN, KING):
                if popcount(pos.by_type[kind] & pos.by_color[color]) != wanted.men[color * 8 + kind]:
                    return False
    for square in range(64):
        piece = wanted.squares[square]
        if piece != ANY and piece != pos.board[square]:
            return False
    return True
