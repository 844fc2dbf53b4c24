"""Quiescence search: its value equals that of a plain one over the same moves; its limits.

No user can call it by itself, so it runs as plain Python here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import chess
import numpy as np
import pytest
from core_helpers import NO_LIMIT, TABLES, encode, is_noisy, new_game, random_positions, set_up

from knightadder.core.api import playing as core_game
from knightadder.core.api.static_eval import evaluate_position
from knightadder.core.evaluation.endings import KNOWN_WIN
from knightadder.core.layout import MAX_PLY
from knightadder.core.search.quiescence import quiesce
from knightadder.core.search.transposition import INFINITE, MATE
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

WIDE = int(INFINITE)
BOARDS = random_positions(9 if INTERPRETED else 150)
BUDGET = 100 if INTERPRETED else 300  # nodes of the plain search


def quiescence(record: np.record, alpha: int = -WIDE, beta: int = WIDE) -> int:
    """Return the engine's value."""
    return int(quiesce(TABLES, record, np.int64(0), np.int64(alpha), np.int64(beta)))


class Incomparable(Exception):
    """The plain search would take too long, or the value depends on the order of moves."""


class Plain:
    """Stand pat or a capture or promotion that does not lose material; in check every move, without alpha and beta.

    The engine leaves out quiet evasions once a move does not lose. Where there is more than one, it depends on their
    order which of them it tries, so such positions are not compared.
    """

    def __init__(self, board: chess.Board) -> None:
        self.board, self.game, self.nodes = board.copy(stack=False), new_game(), 0

    def value(self, ply: int = 0) -> int:
        self.nodes += 1
        if self.nodes > BUDGET:
            raise Incomparable
        board = self.board
        in_check = board.is_check()
        best = ply - int(MATE)
        self.game.set_up(board.fen(en_passant="legal"))
        record = self.game.record
        if not in_check:
            best = evaluate_position(TABLES, record)
        moves = list(board.legal_moves)
        noisy = [m for m in moves if is_noisy(board, m)]
        if not in_check:
            noisy = [m for m in noisy if core_game.see(TABLES, record, encode(board, m), 0)]
        for move in noisy:
            best = max(best, self.value_after(move, ply))
        if in_check and best <= -KNOWN_WIN:
            quiet = [m for m in moves if not is_noisy(board, m)]
            if len(quiet) > 1:
                raise Incomparable
            for move in quiet:
                best = max(best, self.value_after(move, ply))
        return best

    def value_after(self, move: chess.Move, ply: int) -> int:
        self.board.push(move)
        value = -self.value(ply + 1)
        self.board.pop()
        return value


@cache
def plain_values() -> list[tuple[chess.Board, int]]:
    """Give the positions that can be compared, with their plain values."""
    known = []
    for board in BOARDS:
        plain = Plain(board)
        with suppress(Incomparable):
            known.append((board, plain.value(), plain.nodes))
    assert INTERPRETED or sum(nodes > 3 for *_, nodes in known) > 20
    return [(board, value) for board, value, _ in known]


@pytest.fixture
def no_pruning() -> Iterator[None]:
    """Switch off what makes values differ from those of a plain search."""
    tuned = TABLES.parameters
    kept = tuned.delta_margin, tuned.quiescence_moves
    tuned.delta_margin, tuned.quiescence_moves = 2 * INFINITE, 256
    yield
    tuned.delta_margin, tuned.quiescence_moves = kept


@pytest.mark.usefixtures("no_pruning")
def test_value_equals_a_plain_search() -> None:
    game = new_game()
    for board, expected in plain_values():
        assert quiescence(set_up(game, board)) == expected, board.fen()


@pytest.mark.usefixtures("no_pruning")
def test_narrow_windows_bound_the_value() -> None:
    game = new_game()
    for board, value in plain_values():
        record = set_up(game, board)
        for alpha in (value - 100, value - 1, value, value + 100):
            set_up(game, board)
            bound = quiescence(record, alpha, alpha + 1)
            assert (bound > alpha) == (value > alpha)
            assert bound <= value if bound > alpha else bound >= value  # fail-soft bounds are true ones


@pytest.mark.parametrize(
    "fen",
    ["4k3/8/8/8/8/B1B5/8/K7 w - - 0 1", "4k3/8/8/8/8/8/8/K6N b - - 0 1", "k7/8/8/8/8/8/8/K5NN w - - 0 1"],
)
def test_what_nobody_can_win_is_a_draw_whatever_corrections_say(fen: str) -> None:
    record = set_up(new_game(), fen)
    record.pawn_correction[:] = 1000
    assert quiescence(record) == 0


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", -int(MATE)),  # mated
        ("8/8/8/8/8/8/8/K1k5 w - - 0 1", 0),
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 100 80", 0),  # the game is over: the queen cannot be taken any more
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 100 80", -int(MATE)),  # ... but mate comes first
    ],
)
def test_known_values(fen: str, expected: int) -> None:
    assert quiescence(set_up(new_game(), fen)) == expected


@pytest.mark.parametrize(("times", "drawn"), [(1, False), (2, True)])
def test_a_repetition_is_a_draw(times: int, drawn: bool) -> None:
    game = new_game("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1")
    for name in ("e1d1", "e8d8", "d1e1", "d8e8") * times:
        game.push(game.find(name))
    assert (quiescence(game.record) == 0) is drawn


def test_it_ends_at_the_greatest_ply() -> None:
    record = set_up(new_game(), None)
    record.stack[MAX_PLY] = record.stack[0]
    assert quiesce(TABLES, record, np.int64(MAX_PLY), np.int64(-WIDE), np.int64(WIDE)) == 0


def test_the_node_limit_stops_it() -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    record = set_up(new_game(), board)
    record.node_limit = 10
    quiescence(record)
    assert record.stopped
    assert record.nodes == 10
    record = set_up(new_game(), board)
    record.stopped = record.nodes = 0
    record.node_limit = NO_LIMIT
    quiescence(record)
    assert not record.stopped
