"""Won endings, played by the engine against itself until mate, without tablebases."""

from __future__ import annotations

import queue

import chess
import pytest

from knightadder.engine.engine import Engine
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits


def play(engine: Engine, board: chess.Board, nodes: int) -> chess.Board:
    """Let the engine play both sides until the game is over."""
    engine.new_game()
    start = board.fen()
    while not board.is_game_over() and not board.is_repetition() and board.halfmove_clock < 100:
        results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        engine.set_position(start, [move.uci() for move in board.move_stack])

        def listen(_: Info | CurrentMove | Message) -> None:
            """Leave out progress."""

        engine.go(Limits(nodes=nodes), listen, results.put)
        move = results.get(timeout=200).best_move
        engine.wait()
        assert move is not None
        board.push_uci(move)
    return board


@pytest.mark.parametrize(
    ("fen", "nodes"),
    [
        ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", 2000),
        ("8/8/8/3k4/8/8/8/KR6 w - - 0 1", 2000),
        ("8/8/8/3k4/8/8/8/KBB5 w - - 0 1", 5000),
        ("8/5k1B/8/8/8/8/3B4/4K3 w - - 8 1", 1000),
        ("7k/8/5K2/5N2/8/8/8/5B2 w - - 0 1", 20_000),  # in the wrong corner
        ("kb6/n7/8/8/4K3/8/8/8 b - - 0 1", 20_000),
    ],
)
def test_won_endings_end_in_mate(without_tablebases: Engine, fen: str, nodes: int) -> None:
    board = play(without_tablebases, chess.Board(fen), nodes)
    assert board.is_checkmate(), board.fen()
