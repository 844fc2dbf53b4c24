"""The search as a whole: mates, draws, limits, repeatability, lines that can be played."""

from __future__ import annotations

import queue
import random

import chess
import pytest
from core_helpers import DATA, random_placement, random_positions

from knightadder.engine.engine import Engine
from knightadder.engine.info import CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.native.program import INTERPRETED


def search(engine: Engine, fen: str | None, limits: Limits) -> tuple[Result, Info]:
    """Search a position with an empty table, and give the result and its last information."""
    engine.new_game()
    engine.set_position(fen)
    results: queue.SimpleQueue[Result] = queue.SimpleQueue()

    def listen(_: Info | CurrentMove | Message) -> None:
        """Leave out progress."""

    engine.go(limits, listen, results.put)
    result = results.get(timeout=200)
    engine.wait()
    assert result.info is not None
    return result, result.info


@pytest.fixture
def classical(engine: Engine) -> Engine:
    """Give the engine with the classical evaluation: on the evaluation depends how many nodes a mate takes."""
    engine.set_option("EvalType", "classical")
    return engine


def play_line(fen: str, line: tuple[str, ...]) -> chess.Board:
    """Play a line, making sure that all moves are legal and nothing follows the end of the game."""
    board = chess.Board(fen)
    for name in line:
        assert not board.is_game_over(), (fen, line)
        board.push(board.parse_uci(name))
    return board


def read_mates(moves: int, count: int) -> list[str]:
    lines = (DATA / f"mate-in-{moves}.epd").read_text(encoding="utf-8").splitlines()
    return [line.split(" bm ")[0] + " 0 1" for line in lines[:count]]


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize(
    ("fen", "moves"),
    [(fen, 1) for fen in read_mates(1, 2 if INTERPRETED else 30)]
    + [(fen, moves) for moves in (2, 3) for fen in read_mates(moves, 0 if INTERPRETED else 30)],
)
def test_mates(classical: Engine, fen: str, moves: int) -> None:
    result, info = search(classical, fen, Limits(mate=moves, nodes=20_000_000))
    assert info.score == Score(mate=moves)
    board = play_line(fen, info.pv)
    # The last moves are left out where quiescence search found them.
    assert len(info.pv) <= 2 * moves - 1
    assert board.is_checkmate() == (len(info.pv) == 2 * moves - 1)
    assert result.best_move == info.pv[0]


def test_mates_behind_quiet_sacrifices_are_proved_quickly(engine: Engine) -> None:
    for fen, moves, nodes in (
        ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1", 2, 2_000),  # WAC.001: Qg6
        ("8/8/8/8/1p1N4/1Bk1K3/3N4/b7 w - - 0 1", 3, 100_000),
        ("1q3r1k/5pp1/3p1N1p/3P2NQ/n1P5/7P/r4PP1/5RK1 w - - 0 1", 3, 100_000),
    ):
        result, info = search(engine, fen, Limits(mate=moves, nodes=nodes))
        assert info.score == Score(mate=moves)
        assert play_line(fen, info.pv).is_checkmate()
        assert result.best_move == info.pv[0]


def _mates(board: chess.Board, moves: int) -> bool:
    """Say by trying all moves whether the side to move mates in at most so many."""
    for move in list(board.legal_moves):
        board.push(move)
        if board.is_check() or moves > 1:
            mates = board.is_checkmate() or (moves > 1 and any(board.legal_moves))
            for reply in list(board.legal_moves) if mates else []:
                board.push(reply)
                mates = moves > 1 and _mates(board, moves - 1)
                board.pop()
                if not mates:
                    break
        else:
            mates = False
        board.pop()
        if mates:
            return True
    return False


def test_a_mate_in_two_is_found_exactly_where_there_is_one(engine: Engine) -> None:
    found = 0
    for fen in [*read_mates(2, 10), *read_mates(3, 10)]:
        board = chess.Board(fen)
        while board.legal_moves.count() > 12:  # on to positions that all moves can be tried in
            board.push(min(board.legal_moves, key=lambda move: (not board.gives_check(move), move.uci())))
        if board.is_game_over() or not board.is_valid():
            continue
        _, info = search(engine, board.fen(), Limits(mate=2, nodes=20_000))
        mate = info.score.mate
        assert (mate is not None and 0 < mate <= 2) == _mates(board, 2), board.fen()
        found += 1
    assert found > 10


@pytest.mark.nojit
@pytest.mark.parametrize(
    "fen",
    [
        "8/8/7b/2rk3R/6Q1/K2B2q1/8/8 b - - 0 1",  # only the move that the first iterations prefer loses at once
        "5Q2/8/3k4/1K6/8/r6Q/3q4/8 b - - 0 1",
        "1k6/7r/7p/Q1K5/4p3/7P/R7/8 b - - 0 1",
        "8/2pP4/5Q1K/6p1/8/5k2/7R/6r1 b - - 0 1",
        "RQ5k/2Pp4/pr5q/8/6N1/P7/8/2nK4 b - - 0 1",
    ],
)
def test_a_stop_before_all_moves_were_tried_claims_no_lost_position(without_tablebases: Engine, fen: str) -> None:
    board = chess.Board(fen)
    # The interpreted core searches 300 nodes a second, and the first of these stops show the fault as well.
    limits = [Limits(nodes=nodes) for nodes in range(100, 200 if INTERPRETED else 1000, 50)]
    claimed = {search(without_tablebases, fen, limit)[1].score.mate for limit in limits}
    for mate in claimed:
        assert mate is None or mate < 0
        for move in list(board.legal_moves) if mate is not None and mate >= -2 else []:
            board.push(move)
            assert _mates(board, -mate), (mate, move)
            board.pop()


def test_what_an_ordinary_search_has_seen_hides_no_mate(engine: Engine) -> None:
    fen = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"
    search(engine, fen, Limits(depth=10))
    infos: list[Info] = []
    results: queue.SimpleQueue[Result] = queue.SimpleQueue()
    engine.go(
        Limits(mate=2, nodes=20_000), lambda info: infos.append(info) if isinstance(info, Info) else None, results.put
    )
    assert results.get(timeout=200).best_move == "g3g6"
    engine.wait()
    assert infos[-1].score == Score(mate=2)


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize(
    ("fen", "score"),
    [
        ("k7/8/1K6/8/8/8/8/7R w - - 99 100", Score(mate=1)),  # a mate on the hundredth ply counts
        ("k7/8/2K5/8/8/8/8/7R w - - 97 100", Score(mate=2)),
        ("k7/8/2K5/8/8/8/8/7R w - - 98 100", Score(cp=0)),  # ... one on the hundred and first comes too late
        ("1k6/8/2K5/8/8/8/8/7R b - - 97 100", Score(cp=0)),
        ("7k/5Q2/8/8/8/8/8/K7 w - - 99 100", Score(cp=0)),
    ],
)
def test_mates_and_the_fifty_move_rule(without_tablebases: Engine, fen: str, score: Score) -> None:
    # Tablebases would know of the mate that comes too late.
    _, info = search(without_tablebases, fen, Limits(depth=5 if INTERPRETED else 8))
    assert info.score == score


def test_the_fifty_move_rule_in_a_long_fight(classical: Engine) -> None:
    # A queen against pawns and knights that only a pawn move, which costs the win, would keep from the draw: no mate
    # can come in the twenty-four plies that are left.
    _, info = search(classical, "8/1p2KP2/1p4q1/1Pp5/2P5/N1Pp1k2/3P4/1N6 b - - 76 40", Limits(depth=16))
    assert info.score.mate is None


@pytest.mark.boundscheck
@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        pytest.param("k7/P7/8/2K5/8/8/8/8 w - - 0 1", 8, id="stalemate or the loss of the pawn"),
        pytest.param("6k1/6p1/8/7Q/8/3r4/2q5/K7 w - - 0 1", 10, id="perpetual check"),
        pytest.param(
            "8/8/8/4k3/8/3K4/4p3/8 w - - 0 1", 4, id="insufficient material", marks=pytest.mark.nojit
        ),  # the others are too deep for the interpreted core
    ],
)
def test_draws(engine: Engine, fen: str, depth: int) -> None:
    _, info = search(engine, fen, Limits(depth=depth))
    assert info.score == Score(cp=0)


def mates_at_once(board: chess.Board) -> bool:
    """Say whether a move mates, by python-chess."""
    for move in board.legal_moves:
        board.push(move)
        mate = board.is_checkmate()
        board.pop()
        if mate:
            return True
    return False


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize(
    ("pieces", "mate"),
    [
        ("KNNk", "8/8/8/8/1N6/2N5/8/k1K5 w - - 0 1"),
        ("KNkn", "8/8/8/8/1N6/1K6/8/kn6 w - - 0 1"),
        ("KBkn", "8/8/8/8/8/B7/n1K5/k7 w - - 0 1"),
        ("KBkb", "8/8/8/8/3B4/2K5/8/kb6 w - - 0 1"),
    ],
)
def test_material_that_cannot_force_mate_is_a_draw_unless_a_move_mates(
    without_tablebases: Engine, pieces: str, mate: str
) -> None:
    generator = random.Random(5)
    boards = [random_placement(pieces, generator) for _ in range(3 if INTERPRETED else 40)]
    for board in (chess.Board(mate), *boards):
        if board.is_game_over():
            continue
        _, info = search(without_tablebases, board.fen(), Limits(depth=4 if INTERPRETED else 8))
        assert info.score == (Score(mate=1) if mates_at_once(board) else Score(cp=0)), board.fen()
        assert info.seldepth <= 4, board.fen()


def test_a_bare_king_sees_a_fork_that_draws(without_tablebases: Engine) -> None:
    # The king attacks both pieces and takes one of them. The other cannot mate.
    result, info = search(without_tablebases, "8/8/8/8/5K2/8/2N1k3/4B3 b - - 0 1", Limits(depth=3))
    assert (result.best_move, info.score) == ("e2d1", Score(cp=0))


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("nodes", [1, 2, 30, 200] if INTERPRETED else [1, 2, 100, 1023, 12_345, 200_000])
def test_node_limits_are_exact(engine: Engine, nodes: int) -> None:
    result, info = search(engine, None, Limits(nodes=nodes))
    assert info.nodes == nodes
    assert chess.Move.from_uci(str(result.best_move)) in chess.Board().legal_moves


@pytest.mark.nojit
@pytest.mark.parametrize("fen", [None, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"])
def test_searches_are_repeatable(engine: Engine, fen: str | None) -> None:
    limits = Limits(nodes=300) if INTERPRETED else Limits(depth=10)
    (_, first), (_, second) = (search(engine, fen, limits) for _ in range(2))
    assert (first.nodes, first.score, first.pv) == (second.nodes, second.score, second.pv)


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("board", random_positions(3 if INTERPRETED else 40), ids=lambda board: board.fen())
def test_lines_can_be_played(engine: Engine, board: chess.Board) -> None:
    fen = board.fen(en_passant="legal")
    result, info = search(engine, fen, Limits(depth=2 if INTERPRETED else 8))
    after = play_line(fen, info.pv)
    assert result.best_move == info.pv[0]
    if after.is_checkmate():
        mate = (len(info.pv) + 1) // 2
        assert info.score == Score(mate=mate if after.turn != board.turn else -mate)
