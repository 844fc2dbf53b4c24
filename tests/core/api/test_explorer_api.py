"""What the core counts and finds for the explorer, on a few games; `test_explorer_filters` has the counts of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knightadder.core.api.index_queries import (
    ANY,
    FILTER,
    INDEXED,
    PLAYED,
    WANTED,
    count_games,
    filter_games,
    find_positions,
)
from knightadder.core.layout import MAX_MOVES
from knightadder.pgn.bulk import new_reader, read_bytes, tables

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

# Players, date, ratings, result (1 is White's win, 2 a draw) and speed.
GAMES = np.array(
    [(1, 2, 100, 2000, 1800, 1, 1), (2, 1, 200, 1600, 0, 2, 2), (3, 2, 0, 0, 0, 3, 0), (1, 3, 300, 2200, 2100, 3, 2)],
    [(name, INDEXED[name]) for name in ("white", "black", "date", "white_elo", "black_elo", "result", "speed")],
).astype(INDEXED)
ALL = {"white": -1, "black": -1, "speeds": 255, "results": 255}


def record(dtype: np.dtype, **values: int) -> Any:
    made = np.zeros(1, dtype)[0]
    for name, value in values.items():
        made[name] = value
    return made


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"white": 1}, [0, 3]),
        ({"white": 1, "either": 1}, [0, 1, 3]),
        ({"black": 2}, [0, 2]),
        ({"since": 150}, [1, 3]),
        ({"until": 200}, [0, 1]),
        ({"least_rating": 1900}, [0, 3]),
        ({"most_rating": 1900}, [0, 1]),
        ({"speeds": 1 << 2}, [1, 3]),
        ({"results": 1 << 3 | 1 << 2}, [1, 2, 3]),
    ],
)
def test_filters(values, expected) -> None:
    found = np.zeros(len(GAMES), np.uint8)
    assert filter_games(GAMES, record(FILTER, **ALL | values), found) == len(expected)
    assert np.flatnonzero(found).tolist() == expected


@pytest.mark.parametrize(("by_date", "best"), [(0, [3, 0]), (1, [3, 1])])
def test_counts_of_moves_and_the_best_games(by_date, best) -> None:
    slots, played = np.zeros(1 << 16, np.int32), np.zeros(MAX_MOVES, PLAYED)
    kept, counts = np.zeros(2, np.int64), np.zeros(2, np.int64)
    ids, moves = np.array([0, 1, 2, 3, 99], np.uint32), np.array([7, 7, 9, 7, 7], np.uint16)  # there is no game 99
    asked = GAMES, record(FILTER, **ALL), 0, by_date
    assert count_games(*asked, ids, moves, 0, slots, played, kept, counts) == 4
    assert counts.tolist() == [2, 2] and kept.tolist() == best
    row, other = played[:2]
    assert (row["move"], row["results"].tolist()) == (7, [0, 1, 1, 1])
    assert (row["rated"], row["ratings"], row["last"]) == (2, 3900, 300)  # Black's, who is to move
    assert (row["opposed"], row["opponents"], row["points"]) == (3, 5800, 0 + 1 + 2)
    assert (other["move"], other["results"].tolist(), other["rated"]) == (9, [0, 0, 0, 1], 0)
    assert count_games(*asked, ids, moves, 9, slots, played, np.zeros(0, np.int64), np.zeros(2, np.int64)) == 1


def test_positions_are_found_and_wrong_moves_end_a_game() -> None:
    text = '[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
    text += '[Result "1-0"]\n[FEN "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"]\n\n1. O-O Ke7 1-0\n'
    block = read_bytes(text.encode(), 1)
    assert block is not None

    def find(moves, men=None, **squares) -> list[int]:
        wanted, plies = record(WANTED), np.zeros(2, np.int32)
        wanted["squares"][:] = ANY
        wanted["men"][0] = ANY
        if men:
            wanted["men"][:] = 0
            for piece, count in men.items():
                wanted["men"][piece] = count
        for name, piece in squares.items():
            wanted["squares"][8 * (int(name[1]) - 1) + ord(name[0]) - ord("a")] = piece
        count = find_positions(tables(), new_reader(), block.text, block.games, moves, wanted, plies)
        assert count == (plies >= 0).sum()
        return plies.tolist()

    assert find(block.moves, e4=1, f3=2) == [3, -1]
    assert find(block.moves, f1=4, h1=0) == [-1, 1]
    assert find(block.moves, men={4: 2}) == [-1, 0]
    wrong = block.moves.copy()
    wrong[1] = 30 | 31 << 6  # from an empty square
    assert find(wrong, f3=2) == [-1, -1]
