"""What is said of a game, and how it is written into it; python-chess reads it again."""

import re

import chess
import chess.engine
import chess.pgn
import pytest
from chess.engine import Cp, Mate, PovScore
from fake_analyst import FakeAnalyst, evaluate, positions
from game_texts import read_game

from knightadder import __version__
from knightadder.opening_names import Opening
from knightadder.pgn.games import text_of
from knightadder.review.accuracy import rescale, side_accuracies
from knightadder.review.game_evaluation import ScoredLine, SearchedPosition
from knightadder.review.judgement import Judgement
from knightadder.review.notes import annotate
from knightadder.review.review import review

SCHOLAR = """\
[Event "friendly"]
[White "A"]
[Black "B"]
[Result "1-0"]

{ before } 1. e4 { [%clk 0:01:00] good } e5 $10 2. Qh5 Nc6 (2... Nf6 $5 { x } 3. Qxe5+) 3. Bc4 Nf6 4. Qxf7# { mate } 1-0
"""


def reviewed(game, multipv=1, analyst=None):
    board = game.end().board()
    return review(board, evaluate(board, analyst or FakeAnalyst(), chess.engine.Limit(nodes=1), multipv))


def evaluations(end, scores, best=None):
    """Give evaluations with these scores of White's view, of which the best moves, if any is told, are these."""
    best = best or {}
    found = []
    for number, (board, score) in enumerate(zip(positions(end), scores, strict=True)):
        move = best.get(number) or next(iter(board.legal_moves), None)
        pov = PovScore(score if board.turn else -score, board.turn)
        found.append(SearchedPosition(pov, 12, (ScoredLine(pov, (move,)),) if move else ()))
    return found


def test_marks_accuracy_and_opening():
    board = read_game("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *").end().board()
    scores = [Cp(15), Cp(20), Cp(30), Cp(25), Cp(-60), Cp(-90), Cp(200)]
    found = review(board, evaluations(board, scores))
    assert found.judgements == (None, None, None, None, None, Judgement.BLUNDER)
    assert [found.count(white, Judgement.BLUNDER) for white in (True, False)] == [0, 1]
    assert (found.white, found.black) == side_accuracies([*map(rescale, scores)])
    assert found.opening == Opening("C70", "Ruy Lopez: Morphy Defense")


def test_marks_count_for_the_side_that_moved_also_where_black_begins():
    game = read_game('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"]\n\n1... Kd7 2. e4 Kd6 *')
    board = game.end().board()
    found = review(board, evaluations(board, [Cp(0), Cp(300), Cp(300), Cp(500)]))
    assert found.judgements == (Judgement.BLUNDER, None, Judgement.INACCURACY)
    assert [found.count(white, Judgement.BLUNDER) for white in (True, False)] == [0, 1]
    assert [found.count(white, Judgement.INACCURACY) for white in (True, False)] == [0, 1]
    assert found.black.centipawn_loss == rescale(Cp(500)).score() / 2
    assert found.opening is None


def test_a_loss_in_a_decided_position_is_no_blunder():
    # So far from equality, Stockfish's scores change little: from 593 to 702 in this case.
    board = read_game("1. e4 e5 *").end().board()
    scores = [Cp(-421), Cp(-1103), Cp(-1103)]
    assert review(board, evaluations(board, scores)).judgements[0] is Judgement.INACCURACY


def test_the_best_move_is_never_marked():
    board = read_game("1. e4 e5 *").end().board()
    scores = [Cp(0), Cp(-500), Cp(-500)]
    assert review(board, evaluations(board, scores)).judgements[0] is Judgement.BLUNDER
    best = {0: chess.Move.from_uci("e2e4")}
    assert review(board, evaluations(board, scores, best)).judgements[0] is None


def test_a_game_with_a_null_move_has_marks_but_no_accuracy():
    board = read_game("1. e4 -- 2. d4 a5 *").end().board()
    found = review(board, evaluations(board, [Cp(0), Cp(0), Cp(400), Cp(-500), Cp(0)]))
    assert found.judgements == (None, None, Judgement.BLUNDER, Judgement.BLUNDER)
    assert (found.white, found.black) == (None, None)


def test_a_missed_chance_is_named_once_in_the_comment_on_its_move():
    game = read_game("1. e4 e5 2. Qh5 g6 3. Qh3 { mine } d6 *")
    board = game.end().board()
    found = review(board, evaluations(board, [Cp(0), Cp(0), Cp(0), Cp(-900), Cp(0), Cp(0), Cp(0)]))
    annotate(game, found)
    annotate(game, found)
    assert [node.comment.count("Missed chance.") for node in game.mainline()] == [0, 0, 0, 1, 0, 0]
    plain = read_game("1. e4 e5 2. Qh5 g6 3. Qh3 d6 *")
    annotate(plain, found, explain=False)
    assert "Missed" not in str(plain)


def test_what_is_written():
    game = read_game(SCHOLAR)
    annotate(game, reviewed(game))
    again = read_game(text_of(game))
    assert str(again) == str(game)
    nodes = list(again.mainline())
    # The fake counts wood: after 3... Nf6 there is mate in one, and before a pawn to take.
    assert [node.eval() for node in nodes] == [
        PovScore(Cp(0), chess.WHITE),
        PovScore(Cp(0), chess.WHITE),
        PovScore(Cp(0), chess.WHITE),
        PovScore(Cp(100), chess.WHITE),
        PovScore(Cp(0), chess.WHITE),
        PovScore(Mate(1), chess.WHITE),
        None,
    ]
    assert [node.eval_depth() for node in nodes] == [7] * 6 + [None]
    assert nodes[5].nags == {chess.pgn.NAG_BLUNDER}
    [better] = nodes[4].variations[1:]
    assert better.eval() == PovScore(Cp(0), chess.WHITE)
    headers = again.headers
    assert headers["ECO"] == "C20"
    assert headers["Opening"] == "King's Pawn Game: Wayward Queen Attack"
    assert re.fullmatch(r"Knightadder \d.*", headers["Annotator"])
    assert float(headers["WhiteAccuracy"]) > 75 > 50 > float(headers["BlackAccuracy"])
    assert int(headers["BlackCentipawnLoss"]) > 100 > int(headers["WhiteCentipawnLoss"])


def test_evaluations_are_written_as_lichess_writes_them():
    game = read_game("1. e4 e5 *")
    board = game.end().board()
    annotate(game, review(board, evaluations(board, [Cp(0), Cp(-7), Mate(-3)])))
    assert re.findall(r"\[%eval [^]]*\]", text_of(game)) == ["[%eval -0.07,12]", "[%eval #-3,12]"]


def test_what_the_user_wrote_stays():
    before, game = read_game(SCHOLAR), read_game(SCHOLAR)
    annotate(game, reviewed(game, multipv=3))
    again = read_game(text_of(game))

    def same(old, new):
        assert new.comment.startswith(old.comment)
        assert old.nags <= new.nags
        for variation in old.variations:
            same(variation, new.variation(variation.move))

    same(before, again)
    assert again.headers.items() >= before.headers.items()


def test_marks_and_names_of_the_user_stay():
    game = read_game('[ECO "X99"]\n[Opening "Mine"]\n[Annotator "Me"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6! 4. Qxf7# 1-0')
    annotate(game, reviewed(game))
    assert [game.headers[name] for name in ("ECO", "Opening", "Annotator")] == ["X99", "Mine", "Me"]
    assert list(game.mainline())[5].nags == {chess.pgn.NAG_GOOD_MOVE}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"ECO": "D06", "Opening": "Queen's Gambit"}),
        ({"ECO": "D06"}, {"ECO": "D06", "Opening": "Queen's Gambit"}),
        ({"Opening": "Queen's Gambit"}, {"ECO": "D06", "Opening": "Queen's Gambit"}),
        ({"ECO": "D08", "Opening": "?"}, {"ECO": "D08", "Opening": "?"}),
        ({"ECO": "", "Opening": "QP"}, {"ECO": "", "Opening": "QP"}),
        ({"ECO": "D06", "Opening": "QP"}, {"ECO": "D06", "Opening": "QP"}),
        ({"ECO": "?", "Opening": "?"}, {"ECO": "D06", "Opening": "Queen's Gambit"}),
    ],
)
def test_a_code_and_a_name_of_different_openings_are_never_mixed(before, after):
    game = read_game("1. d4 d5 2. c4 *")
    game.headers.update(before)
    annotate(game, reviewed(game))
    assert {name: game.headers[name] for name in ("ECO", "Opening") if name in game.headers} == after


def test_a_result_that_is_none_stays_in_its_header():
    game = read_game('[Result "1. e5 won?"]\n\n1. e4 *')
    annotate(game, reviewed(game))
    again = read_game(text_of(game))
    assert again.headers["Result"] == "1. e5 won?"
    assert [move.uci() for move in again.mainline_moves()] == ["e2e4"]


def test_to_annotate_twice_is_to_annotate_once():
    game = read_game(SCHOLAR)
    annotate(game, reviewed(game, 2))
    once = text_of(game)
    again = read_game(once)
    annotate(again, reviewed(again, 2))
    assert text_of(again) == once


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Knightadder 0.1.0", False),
        ("Stockfish 16 (Knightadder 0.1.0)", False),
        ("Me, with Knightadder 0.1.0", True),
        ("Knightadder", True),
    ],
)
def test_the_annotator_is_the_one_whose_evaluations_are_there(written, kept):
    game = read_game(f'[Annotator "{written}"]\n\n1. d4 d5 *')
    annotate(game, reviewed(game), "Berserk 13")
    assert game.headers["Annotator"] == (written if kept else f"Berserk 13 (Knightadder {__version__})")


def test_several_lines_without_the_move_that_was_played():
    game = read_game(SCHOLAR)
    annotate(game, reviewed(game, 3))
    before = list(game.mainline())[4]
    moves = [variation.move.uci() for variation in before.variations]
    assert moves[0] == "g8f6"
    assert len(set(moves)) == len(moves) == 3


def test_chess960_with_castling_in_a_line():
    fen = "nqbbk1r1/pppppppp/8/8/8/8/PPPPPPPP/NQBBK1R1 w Gg - 0 1"
    game = read_game(f'[Variant "Chess960"]\n[FEN "{fen}"]\n\n1. e4 e5 *')
    board = game.end().board()
    castling = chess.Move.from_uci("e1g1")
    assert board.root().is_castling(castling)
    annotate(game, review(board, evaluations(board, [Cp(0), Cp(-500), Cp(-500)], {0: castling})))
    again = read_game(text_of(game))
    assert again.variations[1].move == castling
    assert again.variations[1].san() == "O-O"
