"""Evaluating the positions of a game, with an analyst that the tests understand."""

import dataclasses
import itertools
import json
import pickle

import chess
import chess.engine
import chess.pgn
import chess.variant
import pytest
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl
from fake_analyst import FakeAnalyst, evaluate, positions
from game_texts import read_game

from knightadder.engine.errors import PositionError
from knightadder.library.boards import position_of
from knightadder.library.results import Analysis
from knightadder.pgn.games import text_of
from knightadder.review.accuracy import rescale, unchanged
from knightadder.review.game_evaluation import ScoredLine, SearchedPosition, blocks, evaluate_block, from_json, to_json
from knightadder.review.judgement import Judgement
from knightadder.review.notes import annotate
from knightadder.review.review import review

LIMIT = chess.engine.Limit(nodes=1)


def evaluated(text, multipv=1, analyst=None):
    board = read_game(text).end().board()
    return positions(board), evaluate(board, analyst or FakeAnalyst(), LIMIT, multipv)


def test_the_board_of_a_game_is_left_as_it_is():
    board = read_game("1. e4 e5 (1... c5 2. Nf3) 2. Nf3 *").end().board()
    before = board.copy()
    found = evaluate(board, FakeAnalyst(), LIMIT)
    assert from_json(to_json(found), board) == found
    assert board == before and board.move_stack == before.move_stack


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
    assert found[2] == SearchedPosition(
        PovScore(Cp(100), chess.WHITE),
        7,
        (ScoredLine(PovScore(Cp(100), chess.WHITE), (chess.Move.from_uci("e4d5"),)),),
        PovWdl(Wdl(0, 1000, 0), chess.WHITE),
        rival=PovScore(Cp(0), chess.WHITE),  # of all other moves, since the best one was played and gains so much
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
    wdl = Wdl(0, 0, 1000) if score.is_mate() else Wdl(0, 1000, 0)
    assert found[-1] == SearchedPosition(score, 0, (), PovWdl(wdl, score.turn))
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

    def analyse(self, board, limit, **more):
        line = super().analyse(board, limit).lines[0]
        moves = tuple(map(chess.Move.from_uci, self.moves))
        return Analysis(
            (type(line)(*(moves if name == "pv" else getattr(line, name) for name in line.__slots__)),), None, None
        )


class Winning(FakeAnalyst):
    """Gives the best move of each position 9 pawns, and the best of some moves 4 pawns."""

    def analyse(self, board, limit, *, multipv=1, root_moves=None):
        line = super().analyse(board, limit, root_moves=root_moves).best
        score = PovScore(Cp(900 if root_moves is None else 400), board.turn)
        return Analysis((dataclasses.replace(line, score=score),), None, None)


@pytest.mark.parametrize("scale", [rescale, unchanged])
def test_a_move_is_praised_by_the_scale_of_the_engine(scale):
    board = chess.Board()
    board.push(Winning().analyse(board, LIMIT).best.move)
    found = review(board, evaluate(board, Winning(), LIMIT, scale=scale), scale)
    # Between +4 and +9 of Stockfish, the chances differ much more than between +4 and +9 of this engine.
    assert found.judgements[0] is (Judgement.GREAT if scale is unchanged else None)


def test_lines_are_cut_to_a_readable_length():
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"] * 9
    _, (first, _) = evaluated("1. e4 *", analyst=LongWinded(shuffle))
    assert [move.uci() for move in first.variations[0].moves] == shuffle[:12]


def test_lines_end_where_they_cannot_go_on():
    _, (first, second) = evaluated("1. e4 *", analyst=LongWinded(["e2e4", "e7e5", "e4e5"]))
    assert [move.uci() for move in first.variations[0].moves] == ["e2e4", "e7e5"]
    assert second.variations == ()


@pytest.mark.parametrize("plies", [1, 15, 16, 140])
def test_a_long_game_is_evaluated_in_blocks(plies):
    """Each position once, and besides the one after each block, so that the hash table knows it."""
    board = chess.Board()
    for move in itertools.islice(itertools.cycle(["g1f3", "g8f6", "f3g1", "f6g8"]), plies):
        board.push_uci(move)
    boards = positions(board)
    told = [position_of(each) for each in boards]  # with all that may be repeated

    class Witness(FakeAnalyst):
        def analyse(self, board, limit, **more):
            searched.append(board.ply())
            assert position_of(board) == told[board.ply()]
            return super().analyse(board, limit, **more)

    divided = blocks(3, board)
    assert [ply for block in divided for ply in range(block.first, block.last + 1)] == list(range(plies + 1))
    assert {(block.game, block.plies) for block in divided} == {(3, plies)}
    for block in divided:
        analyst, searched = Witness(), []
        found = evaluate_block(block, analyst, LIMIT)
        assert searched == list(reversed(range(block.first, min(block.last + 1, plies) + 1)))
        assert analyst.games == 1
        assert [each.score.turn for each in found] == [each.turn for each in boards[block.first : block.last + 1]]
        assert len(found) == len(block) <= 16


def test_a_block_has_its_first_position_and_its_kind_of_castling():
    board = chess.Board("4k2r/8/8/8/8/8/8/4K3 b k - 3 9", chess960=True)
    for move in ("e8h8", "e1e2", "0000", "e2e1"):
        board.push_uci(move)
    seen = []

    class Historian(FakeAnalyst):
        def analyse(self, board, limit, **more):
            seen.append((board.root().fen(), board.chess960, board.move_stack.copy()))
            return super().analyse(board, limit, **more)

    [block] = blocks(1, board)
    evaluate_block(pickle.loads(pickle.dumps(block)), Historian(), LIMIT)
    assert seen[0] == (board.root().fen(), True, board.move_stack)


def test_through_json_and_back():
    board = read_game("1. f3 e5 2. g4 Qh4# 0-1").end().board()
    found = evaluate(board, FakeAnalyst(), LIMIT, 2)
    again = from_json(json.loads(json.dumps(to_json(found))), board)
    assert again == found
    assert found[3].score == PovScore(Mate(1), chess.BLACK)
    # Also where Black begins, a position has no evaluation, and castling is that of Chess960.
    board = chess.Board("4k2r/8/8/8/8/8/8/4K3 b k - 0 1", chess960=True)
    line = ScoredLine(PovScore(Mate(-3), chess.BLACK), (chess.Move.from_uci("e8h8"), chess.Move.from_uci("e1e2")))
    for name in ("h8h7", "e1e2"):
        board.push_uci(name)
    some = [
        SearchedPosition(PovScore(Cp(-5), chess.BLACK), 9, (line,)),
        None,
        SearchedPosition(PovScore(Cp(0), chess.BLACK), 0, ()),
    ]
    assert from_json(json.loads(json.dumps(to_json(some))), board) == some


@pytest.mark.parametrize(
    "damage",
    [
        None,
        {},
        "text",
        [],
        [None],
        [None, None, None],
        [None, 3],
        [None, [1, 2]],
        [None, "abc"],
        [None, [None, 5, []]],
        [None, ["", 5, []]],
        [None, ["#x", 5, []]],
        [None, ["#" + "9" * 5000, 5, []]],
        [None, [True, 5, []]],
        [None, [1.5, 5, []]],
        [None, [10**400, 5, []]],
        [None, [3, -1, []]],
        [None, [3, "5", []]],
        [None, [3, 10**9, []]],
        [None, [3, 5, 7]],
        [None, [3, 5, [[3]]]],
        [None, [3, 5, [[3, 7]]]],
        [None, [3, 5, [[3, ""]]]],
        [None, [3, 5, [[3, "e7e5 e2e4"]]]],
        [None, [3, 5, [[3, "0000"]]]],
        [None, [3, 5, [[3, "nonsense"]]]],
        [None, [3, 5, [["#", "e7e5"]]]],
        [None, [3, 5, [], [1, 2]]],
        [None, [3, 5, [], [1, 2, -1]]],
        [None, [3, 5, [], [True, 2, 3]]],
        [None, [3, 5, [], 7]],
        [None, [3, 5, [], [1, 2, 997], 4, 5]],
        [None, [3, 5, [], [1, 2, 997], "x"]],
    ],
)
def test_what_is_no_evaluation_of_the_game_is_refused(damage):
    board = read_game("1. e4 *").end().board()
    assert from_json([None, [3, 5, [["#3", "e7e5 d2d4"]]]], board)[1].depth == 5
    with pytest.raises(ValueError, match=r"."):
        from_json(damage, board)


def test_the_work_grows_with_the_length_of_a_game_and_no_faster(monkeypatch):
    copy, push, pop = chess.Board.copy, chess.Board.push, chess.Board.pop
    work = 0

    def count(method, cost):
        def counted(board, *args, **more):
            nonlocal work
            result = method(board, *args, **more)
            work += cost(result)
            return result

        return counted

    def work_of(moves):
        """Count the moves that are copied, made and taken back for a game of so many times four moves."""
        nonlocal work
        game = read_game(" ".join(["Nf3 Nf6 Ng1 Ng8"] * moves))
        work = 0
        board = game.end().board()
        analysed = [each for block in blocks(1, board) for each in evaluate_block(block, FakeAnalyst(), LIMIT)]
        found = from_json(to_json(analysed), board)
        annotate(game, review(board, found))
        text_of(game)
        return work

    review(chess.Board(), [None])  # reads the table of openings
    monkeypatch.setattr(chess.Board, "copy", count(copy, lambda board: 1 + len(board.move_stack)))
    monkeypatch.setattr(chess.Board, "push", count(push, lambda _: 1))
    monkeypatch.setattr(chess.Board, "pop", count(pop, lambda _: 1))
    short, medium, long = (
        work_of(40),
        work_of(80),
        work_of(120),
    )  # from the first on longer than the history that matters
    assert long - medium == medium - short > 0


def test_the_engine_itself():
    from knightadder import Engine

    with Engine() as engine:
        board = read_game("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0").end().board()
        found = evaluate(board, engine, chess.engine.Limit(nodes=500), 2)
        again = evaluate(board, engine, chess.engine.Limit(nodes=500), 2)
        # It knows nothing of the first time.
        assert found == again
        assert found[-2].score == PovScore(Mate(1), chess.WHITE)
        assert found[-2].variations[0].moves == (chess.Move.from_uci("h5f7"),)
        assert all(len(each.variations) == 2 and each.depth for each in found[:-1])
        with pytest.raises(PositionError):
            evaluate(chess.variant.AtomicBoard(), engine, chess.engine.Limit(nodes=1))
