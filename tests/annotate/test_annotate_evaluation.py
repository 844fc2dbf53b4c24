"""Evaluating the positions of a game, with an analyst that the tests understand."""

import io
import json

import chess
import chess.engine
import chess.pgn
import pytest
from chess.engine import Cp, Mate, PovScore
from fake_analyst import FakeAnalyst

from knightadder.annotate.evaluation import (
    Evaluation,
    Variation,
    evaluate,
    from_json,
    positions,
    to_json,
)
from knightadder.engine.errors import PositionError
from knightadder.library.results import Analysis

LIMIT = chess.engine.Limit(nodes=1)


def game_of(text):
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors
    return game


def evaluated(text, multipv=1, analyst=None):
    boards = positions(game_of(text))
    return boards, evaluate(boards, analyst or FakeAnalyst(), LIMIT, multipv)


def test_positions_have_the_moves_before_them():
    boards = positions(game_of("1. e4 e5 (1... c5 2. Nf3) 2. Nf3 *"))
    assert [len(board.move_stack) for board in boards] == [0, 1, 2, 3]
    assert boards[0] == chess.Board()
    assert boards[-1].fen() == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"


def test_each_position_is_evaluated_once_from_the_last_to_the_first():
    analyst = FakeAnalyst()
    boards, found = evaluated("1. e4 d5 2. exd5 *", analyst=analyst)
    assert analyst.seen == [board.fen() for board in reversed(boards)]
    assert analyst.limits == [LIMIT] * 4
    assert analyst.games == 1
    # Who can take a pawn has it; the scores are from the view of the side to move.
    assert [each.score for each in found] == [
        PovScore(Cp(0), chess.WHITE),
        PovScore(Cp(0), chess.BLACK),
        PovScore(Cp(100), chess.WHITE),
        PovScore(Cp(0), chess.BLACK),
    ]
    assert found[2] == Evaluation(
        PovScore(Cp(100), chess.WHITE), 7, (Variation(PovScore(Cp(100), chess.WHITE), (chess.Move.from_uci("e4d5"),)),)
    )


def test_several_lines():
    _, found = evaluated("1. e4 d5 *", multipv=3)
    assert [len(each.variations) for each in found] == [3, 3, 3]
    assert [variation.score.relative.score() for variation in found[-1].variations] == [100, 0, 0]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1. f3 e5 2. g4 Qh4# 0-1", PovScore(Mate(0), chess.WHITE)),
        ('[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Qf7 *', PovScore(Cp(0), chess.BLACK)),
    ],
)
def test_where_the_game_is_over_nothing_is_searched(text, score):
    analyst = FakeAnalyst()
    boards, found = evaluated(text, analyst=analyst)
    assert found[-1] == Evaluation(score, 0, ())
    assert len(analyst.seen) == len(boards) - 1


def test_a_position_that_cannot_occur_has_no_evaluation():
    boards, found = evaluated("1. e4 f6 2. Qh5+ -- 3. Nc3 g6 *")
    assert [each is None for each in found] == [not board.is_valid() for board in boards]
    assert [number for number, each in enumerate(found) if each is None] == [4]


class LongWinded(FakeAnalyst):
    """Gives lines that are long, and that end with a move that cannot be."""

    def __init__(self, moves):
        super().__init__()
        self.moves = moves

    def analyse(self, board, limit, *, multipv=1):
        line = super().analyse(board, limit).lines[0]
        moves = tuple(map(chess.Move.from_uci, self.moves))
        return Analysis(
            (type(line)(*(moves if name == "pv" else getattr(line, name) for name in line.__slots__)),), None, None
        )


def test_lines_are_cut_to_a_readable_length():
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"] * 9
    _, (first, _) = evaluated("1. e4 *", analyst=LongWinded(shuffle))
    assert [move.uci() for move in first.variations[0].moves] == shuffle[:12]


def test_lines_end_where_they_cannot_go_on():
    _, (first, second) = evaluated("1. e4 *", analyst=LongWinded(["e2e4", "e7e5", "e4e5"]))
    assert [move.uci() for move in first.variations[0].moves] == ["e2e4", "e7e5"]
    assert second.variations == ()


def test_what_is_raised_after_a_position_ends_the_work():
    def enough():
        raise KeyboardInterrupt

    analyst = FakeAnalyst()
    with pytest.raises(KeyboardInterrupt):
        evaluate(positions(game_of("1. e4 e5 *")), analyst, LIMIT, 1, enough)
    assert len(analyst.seen) == 1


def test_through_json_and_back():
    boards, found = evaluated("1. f3 e5 2. g4 Qh4# 0-1", multipv=2)
    again = from_json(json.loads(json.dumps(to_json(found))), boards[0].turn)
    assert again == found
    assert found[3].score == PovScore(Mate(1), chess.BLACK)
    # Also where Black begins, a position has no evaluation, and castling is that of Chess960.
    line = Variation(PovScore(Mate(-3), chess.BLACK), (chess.Move.from_uci("e8h8"), chess.Move.null()))
    some = [
        Evaluation(PovScore(Cp(-5), chess.BLACK), 9, (line,)),
        None,
        Evaluation(PovScore(Cp(0), chess.BLACK), 0, ()),
    ]
    assert from_json(json.loads(json.dumps(to_json(some))), chess.BLACK) == some


def test_the_engine_itself():
    from knightadder import Engine

    with Engine() as engine:
        boards = positions(game_of("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0"))
        found = evaluate(boards, engine, chess.engine.Limit(nodes=500), 2)
        again = evaluate(boards, engine, chess.engine.Limit(nodes=500), 2)
        # It knows nothing of the first time.
        assert found == again
        assert found[-2].score == PovScore(Mate(1), chess.WHITE)
        assert found[-2].variations[0].moves == (chess.Move.from_uci("h5f7"),)
        assert all(len(each.variations) == 2 and each.depth for each in found[:-1])
        with pytest.raises(PositionError):
            evaluate([chess.variant.AtomicBoard()], engine, chess.engine.Limit(nodes=1))
