"""Games of the engine against itself: how they go and end, by python-chess."""

from __future__ import annotations

from collections import Counter

import chess
import numpy as np
import pytest
from core_helpers import TABLES, pack_game, random_positions, set_up

from knightadder.core.api import datagen_game, game_reading
from knightadder.core.api.deepening import forget
from knightadder.core.board import packed, viriformat
from knightadder.core.board.position import POSITION
from knightadder.engine.game import Game, copy_game
from knightadder.engine.hashtable import HashTable

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAME = Game(TABLES)
OTHER = Game(TABLES)  # Black's player
OTHER_TABLE = HashTable(1)
ANY = 40_000  # an opening may be as unlevel as it likes, and even have no score
NO_SCORE = -32_768


class Played:
    """A game played from a position: what was written, and what python-chess says of it."""

    def __init__(self, nodes: int = 15, longest: int = 200, most: int = ANY, first_nodes: int = 0) -> None:
        words = np.full(8 + longest + 1, 0xFFFF_FFFF, np.uint32)
        header = words[:8].view(packed.PACKED)
        copy_game(GAME.record, OTHER.record)
        OTHER_TABLE.clear()
        OTHER.record.tt_address, OTHER.record.tt_buckets = OTHER_TABLE.address, OTHER_TABLE.buckets
        self.begin = pack_game(GAME)[0]
        self.length = int(
            datagen_game.play_game(
                TABLES,
                GAME.record,
                OTHER.record,
                nodes,
                first_nodes or nodes,
                most,
                GAME.ply,
                header,
                words[viriformat.HEADER :],
            )
        )
        self.result = int(header["result"][0])
        self.scores: list[int] = []
        self.boards: list[chess.Board] = []
        if self.length:
            place, records = np.zeros(1, np.int64), np.zeros(longest, packed.PACKED)
            used = words[: 8 + self.length + 1]
            count = game_reading.read_games(TABLES, np.zeros(2, POSITION), used, place, 0, 1 << 16, 0, records)
            assert (count, place[0]) == (self.length, len(used))  # each move is legal
            self.scores = records["score"][:count].tolist()
            self.boards = [chess.Board(packed.record_fen(record)) for record in records[:count]]
            assert packed.record_fen(records[0]) == packed.record_fen(self.begin)
        self.last = chess.Board(GAME.fen())


def _play(position: chess.Board | str | None, **arguments: int) -> Played:
    set_up(GAME, position)
    return Played(**arguments)


def _adjudicated(scores: list[int], plies: int) -> int | None:
    """Decide a game by its scores, as the documentation says; `plies` is its whole length."""
    last = scores[-4:]
    if len(last) == 4 and NO_SCORE not in last:
        if min(last) >= 2000:
            return packed.WIN
        if max(last) <= -2000:
            return packed.LOSS
    level = scores[-12:]
    if plies >= 70 and len(level) == 12 and all(abs(score) <= 5 for score in level):
        return packed.DRAW
    return None


def _check(game: Played, longest: int) -> str:
    """See that a game ended no sooner and no later than it must, and as it must; says why it ended."""
    first = game.boards[0].ply()
    for count in range(game.length):
        assert _adjudicated(game.scores[:count], first + count) is None
    assert not any(board.is_game_over() or board.is_fifty_moves() for board in game.boards)
    keys = [board.epd() for board in (*game.boards, game.last)]
    assert all(keys.count(key) < 3 or key == keys[-1] for key in keys)
    decided = _adjudicated(game.scores, first + game.length)
    if decided is not None:
        assert game.result == decided
        return "decided"
    if game.last.is_checkmate():
        assert game.result == (packed.LOSS if game.last.turn else packed.WIN)
        return "mate"
    assert game.result == packed.DRAW
    if game.last.is_game_over() or game.last.is_fifty_moves() or keys.count(keys[-1]) == 3:
        return "drawn"
    assert game.length == longest
    return "long"


def test_games_end_as_they_must() -> None:
    games = [_play(board, nodes=3, longest=50) for board in random_positions(8)]
    reasons = [_check(game, 50) for game in games if game.length]
    assert len(reasons) > 5
    assert len(set(reasons)) > 1


@pytest.mark.parametrize(
    ("fen", "reason", "result"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "mate", packed.WIN),
        ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", "mate", packed.LOSS),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 98 100", "drawn", packed.DRAW),
        ("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "drawn", packed.DRAW),
    ],
)
def test_ends_by_the_rules(fen: str, reason: str, result: int) -> None:
    game = _play(fen, nodes=60)
    assert (_check(game, 200), game.result) == (reason, result)


@pytest.mark.parametrize(
    ("fen", "sign"), [("7k/8/q7/8/8/8/8/6K1 w - - 0 40", -1), ("6k1/8/8/8/8/Q7/8/7K b - - 0 40", 1)]
)
def test_scores_are_from_whites_view(fen: str, sign: int) -> None:
    game = _play(fen, nodes=60, longest=2)
    assert game.scores[0] * sign > 0
    assert game.scores[1] * sign > 0


@pytest.mark.parametrize(
    "fen",
    [
        "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",  # mate
        "8/8/8/8/8/1k6/1p6/1K6 w - - 0 1",  # stalemate
        "8/8/4k3/8/8/4K3/8/8 w - - 0 1",
        "7k/R7/5K2/8/8/8/8/8 w - - 100 80",
    ],
)
def test_no_game_begins_where_it_is_over(fen: str) -> None:
    assert _play(fen).length == 0


def test_the_history_counts() -> None:
    set_up(GAME, None)
    GAME.set_up(None, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2)
    assert Played().length == 0


def test_no_game_begins_where_one_side_is_too_far_ahead() -> None:
    fen = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert _play(fen, most=300, longest=1).length == 0
    assert _play(fen, most=3000, longest=1).length == 1


def test_nodes_are_a_soft_limit() -> None:
    for nodes in (20, 60):
        game = _play(None, nodes=nodes, longest=1)
        assert game.length == 1
        assert nodes <= GAME.record.nodes <= 8 * nodes


def test_a_score_that_is_not_exact_is_none() -> None:
    """Eight nodes, eight times the one wanted, are not enough to search the first move to the first depth here."""
    game = _play("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", nodes=1, longest=1)
    assert game.scores == [NO_SCORE]


def test_each_player_learns_from_its_own_searches_only() -> None:
    set_up(GAME, None)
    OTHER.record.history[:] = 0
    OTHER.record.pawn_correction[:] = 0
    assert Played(nodes=200, longest=1).length == 1
    assert GAME.record.history.any()
    assert GAME.record.pawn_correction.any()
    assert not OTHER.record.history.any()
    assert not OTHER.record.pawn_correction.any()
    assert OTHER_TABLE.permille_full() == 0
    assert OTHER.record.stack[0] == GAME.record.stack[0]
    assert OTHER.record.key_count == GAME.record.key_count


def test_a_player_forgets_all_that_it_has_learnt() -> None:
    """A game after another one is the same as a first one: the games of a chunk depend on nothing before them."""
    learnt = ("history", "captures", "continuation", "continuation_correction", "pawn_correction")
    games = []
    for _ in range(2):
        record = set_up(GAME, None)
        for player in (record, OTHER.record):
            forget(player)
            assert not any(player[name].any() for name in (*learnt, "minor_correction", "non_pawn_correction"))
        games.append(Played(nodes=60, longest=30))
        assert all(record[name].any() for name in learnt)
    first, again = games
    assert (again.scores, again.boards) == (first.scores, first.boards)


def test_random_moves_are_legal_and_chosen_by_type_of_man_first() -> None:
    board = chess.Board("r3k2r/pPp2ppp/8/3pP3/8/8/P1P2PPP/R3K2R w KQkq d6 0 2")
    moves = {_after(board, move): move for move in board.legal_moves}
    kinds: Counter[int] = Counter()
    seen = set()
    for seed in range(600):
        set_up(GAME, board)
        assert datagen_game.play_randomly(TABLES, GAME.record, 1, seed) == 1
        move = moves[GAME.fen()]
        seen.add(move)
        kinds[board.piece_type_at(move.from_square) or 0] += 1
    assert set(kinds) == {chess.PAWN, chess.ROOK, chess.KING}
    assert all(160 < count < 240 for count in kinds.values())
    assert seen == set(moves.values())


def _after(board: chess.Board, move: chess.Move) -> str:
    after = board.copy()
    after.push(move)
    return after.fen(en_passant="legal")


def test_random_moves_stop_where_the_game_is_over() -> None:
    set_up(GAME, "7k/8/5KQ1/8/8/8/8/8 b - - 99 80")
    assert datagen_game.play_randomly(TABLES, GAME.record, 5, 1) == 0  # stalemate
    set_up(GAME, "7k/8/4K3/8/8/8/8/Q7 b - - 99 80")
    assert GAME.push_random(5, 1) == 1  # the fifty-move rule
    assert (GAME.side_to_move, GAME.ply) == (0, 160)
