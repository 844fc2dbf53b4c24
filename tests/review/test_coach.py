"""A mistake is explained by what the engine's lines prove."""

import chess
import chess.pgn
import pytest
from chess.engine import Cp, InfoDict, Limit, Mate, PovScore
from fake_analyst import FakeAnalyst, evaluate
from game_texts import read_game

from knightadder import Analysis, Engine, PositionError, explain
from knightadder.review.coach import KINDS, fault_of, with_explanation
from knightadder.review.game_evaluation import ScoredLine, SearchedPosition
from knightadder.review.notes import annotate
from knightadder.review.review import review


def searched(board, score, line):
    end, moves = board.copy(), []
    for san in line.split():
        moves.append(end.push_san(san))
    pov = PovScore(score, board.turn)
    return SearchedPosition(pov, 9, (ScoredLine(pov, tuple(moves)),) if moves else ())


# Kind, sentence, position, the mistake after earlier moves, and the scores and lines before and after it.
CASES = [
    ("missedMate", "Misses mate in 1.", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd7", Mate(1), "Rd8#", Cp(0), "h6"),
    ("missedMate", "Misses a forced mate.", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "h3", Mate(9), "h4", Cp(0), "h6"),
    ("backRank", "Allows mate in 1 on the back rank.", "3r2k1/5ppp/8/8/8/8/R4PPP/6K1 w - - 0 1", "Ra7", Cp(0), "h3",
     Mate(1), "Rd1#"),
    ("allowedMate", "Allows mate in 2.", chess.STARTING_FEN, "g4", Cp(0), "e4", Mate(2), "e5 f3 Qh4#"),
    ("draw", "Gives stalemate.", "k7/8/8/1K6/8/8/2Q5/8 w - - 0 1", "Qc7", Cp(900), "Qd3", Cp(0), ""),
    ("draw", "Leaves too little material to win.", "k7/8/8/8/8/1p6/1K6/3N4 w - - 0 1", "Kxb3", Cp(0), "Kc3", Cp(0), ""),
    ("hangs", "Hangs the knight on e5.", "4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1", "Ne5", Cp(200), "Ke2", Cp(200),
     "dxe5 Ke2 Ke7"),
    ("hangs", "Hangs the knight on f3.", "4kr2/8/8/8/8/5N2/6P1/4K3 w - - 0 1", "g4", Cp(0), "Ke2", Cp(300),
     "Rxf3 Ke2 Rf8"),
    ("hangs", "Loses the knight on d5.", "3rk3/8/5n2/3N4/8/8/8/3RK3 w - - 0 1", "Ke2", Cp(0), "Nxf6+ Ke7 Rxd8 Kxd8",
     Cp(300), "Nxd5 Kf3 Ke7"),
    ("fork", "Allows a fork of king and rook on e3.", "3qk3/8/8/8/6n1/8/2R1P3/4K3 w - - 0 1", "Kf1", Cp(300), "Ra2",
     Cp(200), "Ne3+ Kf2 Nxc2"),
    ("skewer", "Allows a skewer of king and queen from d1.", "3q4/8/8/3k4/8/8/8/K3R3 b - - 0 1", "Kd6", Cp(0), "Kc6",
     Cp(500), "Rd1+ Ke7 Rxd8"),
    ("pin", "Allows a pin of the knight on e6.", "3k4/8/4n3/8/8/3P4/8/R5K1 b - - 0 1", "Ke8", Cp(0), "Kd7", Cp(500),
     "Re1 Kf8 Rxe6"),
    ("discovered", "Allows a discovered attack on the queen on d8.", "3q1k2/5ppp/8/8/8/3B4/5PPP/3R2K1 b - - 0 1",
     "Kg8", Cp(0), "Ke7", Cp(500), "Bxh7+ Kxh7 Rxd8"),
    ("trapped", "Lets the bishop on a7 be trapped.", "2k5/ppp5/8/8/3B4/8/5PPP/6K1 w - - 0 1", "Bxa7", Cp(0), "h3",
     Cp(200), "b6 h3 Kb7 h4 Kxa7"),
    ("promotion", "Allows a promotion on a8.", "7r/P3k3/8/8/8/8/8/K7 b - - 0 1", "Ke6", Cp(0), "Ra8", Cp(900),
     "a8=Q Rh1+ Kb2"),
    ("recapture", "Does not take back on f3.", "6k1/8/8/8/6b1/5N2/5PPP/6K1 b - - 0 1", "Bxf3 h3", Cp(0),
     "gxf3 Kg7 Kf1", Cp(300), "Bd5 Kh2 Kg7"),
    ("missedCapture", "Does not take the undefended queen on d5.", "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", "Ke2", Cp(900),
     "Rxd5", Cp(0), "Kf7"),
    ("missedFork", "Misses a fork of king and queen on d6.", "2q1k3/8/8/5N2/8/8/6PP/7K w - - 0 1", "g3", Cp(400),
     "Nd6+ Kd7 Nxc8", Cp(0), "Kd7"),
    ("material", "Loses the exchange.", "4k3/8/8/8/8/4B3/1b3PPP/2R2K2 w - - 0 1", "h3", Cp(100), "Rc8+ Kd7 Rg8",
     Cp(100), "Bxc1 Bxc1 Ke7"),
    ("pawn", "Gives up the pawn on d2 for nothing.", "4k3/8/8/8/3r4/8/3P4/4K3 w - - 0 1", "Kf1", Cp(0), "Ke2",
     Cp(100), "Rxd2 Ke1 Rd8"),
    ("missedMaterial", "Does not take the undefended pawn on d5.", "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "Ke2", Cp(500),
     "Rxd5 Ke7 Ke2", Cp(-300), "Ke7 Kd3 Ke6"),
    ("missedMaterial", "Misses the win of a rook for a pawn.", "8/2k5/3r4/8/4P3/8/8/4K3 w - - 0 1", "Kf1", Cp(300),
     "e5 Kc6 exd6 Kxd6", Cp(100), "Kd7"),
    ("other", "The evaluation goes from +3.00 to +0.00.", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "Kf1", Cp(300), "Kd2",
     Cp(0), "Ke7"),
    ("other", "The evaluation goes from #1 to #.", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8", Mate(1), "Rd8#",
     Mate(-0), ""),
    ("other", "The evaluation goes from +9.00 to #.", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "Rd8", Cp(900), "h3",
     Mate(-0), ""),
    # A tablebase win is no evaluation in pawns. Who has it has a forced mate.
    ("other", "The evaluation goes from a tablebase win for White to +0.00.", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", "Kf1",
     Cp(19_980), "Kd2", Cp(0), "Ke4"),
    ("other", "The evaluation goes from +0.00 to a tablebase win for White.", "8/8/8/4k3/8/8/4P3/4K3 b - - 0 1", "Kf6",
     Cp(0), "Ke4", Cp(15_265), "Kd2"),
    ("other", "The evaluation goes from #9 to a tablebase win for White.", "8/8/8/8/8/8/k6P/3K4 w - - 0 1", "Kd2",
     Mate(9), "h4", Cp(-19_970), "Kb3"),
    ("other", "The evaluation goes from a tablebase win for White to #9.", "8/8/8/8/8/8/k6P/3K4 b - - 0 1", "Ka1",
     Cp(-19_970), "Kb3", Mate(9), "h4"),
    ("other", "The evaluation stays a tablebase win for White.", "8/8/8/8/8/8/k6P/3K4 w - - 0 1", "Kd2",
     Cp(19_990), "h4", Cp(-19_970), "Kb3"),
    # The motif is in what was played, too.
    ("missedMaterial", "Misses the win of material worth 8 pawns.", "8/P6k/8/8/8/8/7p/K7 w - - 0 1", "a8=N", Cp(900),
     "a8=Q", Cp(900), "h1=Q"),
    ("material", "Loses material worth 8 pawns.", "7r/P3k3/8/3p4/8/1q6/8/K7 b - - 0 1", "Qb2+", Cp(0),
     "Kd7 a8=Q Rxa8+", Cp(900), "Kxb2 Kd6 a8=Q Rxa8"),
    # The new piece is taken at once.
    ("material", "Loses material worth 2 pawns.", "3r4/P5k1/8/8/8/3b4/8/3R2K1 b - - 0 1", "Kg6", Cp(0), "Ra8", Cp(300),
     "a8=Q Rxa8 Rxd3 Ra1+ Kg2"),
    # A piece is named by its square after the mistake, not by its square in the line.
    ("pin", "Allows a pin of the knight on d8.", "3n4/4k3/8/8/8/3P4/8/R5K1 b - - 0 1", "Kf7", Cp(0), "Kd7", Cp(500),
     "d4 Ne6 d5 Ke7 Re1 Kf7 Rxe6"),
    ("pin", "Allows a pin of the bishop on d7 and the knight on e7.", "4k3/p2bn3/1r6/1B6/8/6N1/5PPP/4R1K1 b - - 0 1",
     "Rh6", Cp(0), "Rc6", Cp(500), "Nf5 a6 Nxh6"),
    # What is taken back was traded. A trade that may follow wins nothing.
    ("pawn", "Loses a pawn.", "4k3/p7/1p6/2P4p/8/8/8/4K2R b - - 0 1", "Kd7", Cp(0), "bxc5", Cp(100), "cxb6 axb6 Rxh5"),
    ("hangs", "Hangs the queen on f3.",
     "6rk/6b1/2Q1R2p/2P5/5p1p/4P2K/8/3qB3 b - - 1 35", "Qf3+", Cp(0), "Bf6 Re8", Cp(652),
     "Qxf3 Rf8 Bxh4 fxe3 Qxe3 Kg8 Re8"),
    # A piece that captures and is taken was exchanged; here the next knight is lost.
    ("material", "Loses a bishop.", "rnr3k1/1b1nqpp1/p2p1b1p/1P1Np3/2P1P3/4BN1P/1P1QBPP1/R2R2K1 b - - 3 18", "Bxd5",
     Cp(-243), "Qe8 b4", Cp(528), "Qxd5 Nc6 bxc6 Nb8 Qxd6 Nxc6 Qxe7 Bxe7"),
    # A piece hangs even if its side takes a pawn or two before the line ends.
    ("hangs", "Hangs the rook on d8.", "k6r/2p5/4bpp1/4p3/2r1Pb2/P1B4p/2P2K2/3R1N1R w - - 5 44", "Rd8+", Cp(-502),
     "Rd3 g5 Ng3 Bg4 Re1", Cp(1818), "Rxd8 Bd2 Bxd2 Rg1 Rxc2 Rxg6 Bf4+ Kg1 Rd1 Rxf6"),
    # Who could take back, but does not in the line, has perhaps lost nothing, unless the evaluation falls much.
    ("other", "The evaluation goes from +1.00 to +1.47.",
     "rnbqkbnr/pppppppp/8/8/3PP3/5N2/PPP2PPP/RNBQKB1R b KQkq - 2 3", "d5", Cp(-100), "d6 Nc3 Nd7", Cp(147),
     "exd5 g6 Bb5+ Nd7 O-O Bg7 Re1 Nf6 c4 O-O Nc3"),
    ("pawn", "Gives up the pawn on d5 for nothing.",
     "rnbqkbnr/pppppppp/8/8/3PP3/5N2/PPP2PPP/RNBQKB1R b KQkq - 2 3", "d5", Cp(-100), "d6 Nc3 Nd7", Cp(200),
     "exd5 g6 Bb5+ Nd7 O-O Bg7 Re1 Nf6 c4 O-O Nc3"),
    ("other", "The evaluation goes from +1.47 to +0.80.",
     "rnbqkbnr/ppp1pppp/8/3p4/3PP3/5N2/PPP2PPP/RNBQKB1R w KQkq - 0 4", "e5", Cp(147),
     "exd5 g6 Bb5+ Nd7 O-O Bg7 Re1 Nf6", Cp(-80), "Bg4 Be2 e6"),
    # A piece is defended even if the defender is pinned, or a check must be answered first.
    ("hangs", "Loses the knight on d4.", "3rr1k1/8/8/8/8/1N2B3/8/4K3 w - - 0 1", "Nd4", Cp(0), "Kf2", Cp(300),
     "Rxd4 Kf2 Rd7"),
    ("missedTactic", "Misses a discovered check.", "2b1k3/1n6/8/8/4B3/8/8/4R1K1 w - - 0 1", "Kf2", Cp(700),
     "Bxb7+ Kf8 Be4", Cp(0), "Nd6"),
    # A line may end in the middle of an exchange: then it proves nothing.
    ("other", "The evaluation goes from +1.00 to -1.00.", "3rk3/8/8/8/8/8/3R4/3RK3 w - - 0 1", "Rd5", Cp(100), "Rd3",
     Cp(100), "Rxd5"),
    # The cheapest piece takes back.
    ("other", "The evaluation goes from -1.00 to +2.50.", "3q2k1/8/4p3/3p4/8/2N5/8/3R2K1 b - - 0 1", "Kg7", Cp(100),
     "Kh7", Cp(250), "Nxd5"),
    # A piece that has just been promoted and can be taken is not named.
    ("material", "Loses material worth 4 pawns.", "r3k3/1P6/8/8/4b3/8/8/K7 b - - 0 1", "Kd7", Cp(800), "Bxb7", Cp(-200),
     "bxa8=Q"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "fen", "played", "before", "best", "after", "reply"), CASES)
def test_a_mistake_is_explained(kind, text, fen, played, before, best, after, reply):
    board = chess.Board(fen)
    *earlier, last = played.split()
    for san in earlier:
        board.push_san(san)
    move = board.parse_san(last)
    end = board.copy()
    end.push(move)
    found = fault_of(board, move, searched(board, before, best), searched(end, after, reply))
    assert (found.text, found.kind) == (text, kind)
    assert kind in KINDS


def test_an_even_exchange_hangs_nothing():
    board = chess.Board("3rk3/8/8/8/8/8/8/3RK3 w - - 0 1")
    move = board.parse_san("Rxd8+")
    end = board.copy()
    end.push(move)
    assert fault_of(board, move, searched(board, Cp(100), "Rd2"), searched(end, Cp(100), "Kxd8 Kd2")).kind == "other"


def test_the_result_of_any_engine_is_explained():
    board = chess.Board("4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1")
    move = board.parse_san("Ne5")
    before = InfoDict(score=PovScore(Cp(20), True), pv=[chess.Move.from_uci("e1e2")])
    after = InfoDict(score=PovScore(Cp(200), False), pv=[chess.Move.from_uci("d6e5")])
    assert explain(board, move, before, after) == "Hangs the knight on e5."
    assert explain(board, move, InfoDict(score=before["score"]), after) == "Hangs the knight on e5."
    assert explain(board, move, before, InfoDict(score=after["score"])) == "The evaluation goes from +0.20 to -2.00."
    with pytest.raises(ValueError, match="illegal move: e1e3"):
        explain(board, chess.Move.from_uci("e1e3"), before, after)
    with pytest.raises(ValueError, match="has no score"):
        explain(board, move, before, InfoDict())
    assert explain(board.fen(), board.san(move), before, after) == "Hangs the knight on e5."
    with pytest.raises(TypeError, match=r"after must be an Analysis, a Line or an InfoDict, not \[{'score'"):
        explain(board, move, before, [after])  # of an analysis with multipv
    with pytest.raises(TypeError, match=r"position must be a chess\.Board, a FEN or 'startpos', not None"):
        explain(None, move, before, after)
    in_check = chess.Board("4k3/8/8/8/8/8/8/4R1K1 b - - 0 1")
    in_check.turn = chess.WHITE
    with pytest.raises(PositionError, match=r"^illegal position: the side that is not to move is in check"):
        explain(in_check, "Kf1", before, after)
    with Engine(hash_mb=1) as engine:
        found = engine.analyse("4k3/8/3p4/8/8/8/8/4K2N w - - 0 1", Limit(depth=1))
    wrong = r"is not a result for the position {} the move: 4k3/8/3p4/"
    with pytest.raises(ValueError, match="^before " + wrong.format("before")):
        explain(board, move, after, after)
    with pytest.raises(ValueError, match="^after " + wrong.format("after")):
        explain(board, move, before, before)
    for result in (found, found.best):
        with pytest.raises(ValueError, match="^before " + wrong.format("before")):
            explain(board, move, result, after)
        with pytest.raises(ValueError, match="^after " + wrong.format("after")):
            explain(board, move, before, result)
    with pytest.raises(ValueError, match="has no line"):
        explain(board, move, before, Analysis((), None, None))


@pytest.mark.parametrize(
    "old", ["goes from +199.80 to +0.00", "goes from #9 to a tablebase win for White", "stays +0.00"]
)
def test_old_evaluations_are_replaced(old):
    sentence = f"oh The evaluation {old}. [%clk 0:01:00]"
    assert with_explanation(sentence, "Gives stalemate.") == "oh Gives stalemate. [%clk 0:01:00]"


def test_marked_moves_are_explained_once():
    game = read_game("1. e4 e5 2. Qf3 Nc6 3. Qf6 { oh } Nxf6 *")
    found = review(game.end().board(), evaluate(game.end().board(), FakeAnalyst(), Limit(depth=1)))
    for _ in range(2):
        annotate(game, found)
        assert [node.comment for node in game.mainline()][
            4
        ] == "oh [%eval -9.00,7] Hangs the queen on f6. Missed chance."
        assert sum("[%eval" in node.comment and len(node.comment) > 20 for node in game.mainline()) == 2
    # Evaluations of an earlier search are replaced. The user's own words stay.
    old = "1. e4 e5 2. Qf3 Nc6 3. Qf6 { oh The evaluation goes from +0.30 to -2.00. ah } Nxf6 *"
    again = read_game(old)
    annotate(again, found)
    assert [node.comment for node in again.mainline()][
        4
    ] == "oh Hangs the queen on f6. ah [%eval -9.00,7] Missed chance."
    plain = read_game("1. e4 e5 2. Qf3 Nc6 3. Qf6 Nxf6 *")
    annotate(plain, found, explain=False)
    assert "Hangs" not in str(plain)
