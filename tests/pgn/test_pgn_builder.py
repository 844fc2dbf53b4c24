"""Reading games: errors are kept with the game, and nothing is logged."""

import io
import logging

import chess.pgn

from knightadder.pgn.builder import SilentBuilder


def test_errors_stay_with_the_game(caplog):
    caplog.set_level(logging.DEBUG)
    game = chess.pgn.read_game(io.StringIO("1. e4 Ke3 1-0"), Visitor=SilentBuilder)
    assert len(game.errors) == 1
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
    assert caplog.records == []
