"""Questions about one position, answered by python-chess and by slow and plain code as well."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import chess
import chess.variant
import pytest
from chess.engine import Cp
from random_boards import random_boards

from knightadder.core.evaluation.endings import FEW_PIECES
from knightadder.core.evaluation.network_file import read_network
from knightadder.engine.engine import Engine
from knightadder.engine.errors import OptionError, PositionError
from knightadder.engine.evaluator import BUILT_IN_FILE
from knightadder.engine.options import DEFAULT_EVALUATION, EVALUATION_NAMES
from knightadder.library.arrays import pack
from knightadder.library.positions import divide, evaluate, legal_moves, perft, see
from knightadder.workshop.train.integer_model import integer_values

SVG = "{http://www.w3.org/2000/svg}"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ILLEGAL = chess.Board("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")
SEE_SUITE = Path(__file__).parent.parent / "data" / "see.epd"


# --- the static value ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluation", ["classical", "pesto", "nnue"])
def test_evaluate_agrees_with_what_the_engine_prints(evaluation: str, shared_engine: Engine) -> None:
    shared_engine.set_option("EvalType", evaluation)
    for board in random_boards(1, 40):
        value = evaluate(board, evaluation)
        assert value.turn == board.turn and value.in_check == board.is_check()
        shared_engine.set_position(board.fen())
        printed = shared_engine.evaluation().splitlines()[-1]
        if not board.is_check():
            assert printed == f"Evaluation: {value.centipawns / 100:+.2f} (white side, {evaluation})"


def test_the_default_is_that_of_the_engine() -> None:
    boards = random_boards(4, 20)
    by_name = {name: [evaluate(board, name) for board in boards] for name in EVALUATION_NAMES}
    assert [evaluate(board) for board in boards] == by_name[DEFAULT_EVALUATION]
    values = {tuple(value.centipawns for value in found) for found in by_name.values()}
    assert len(values) == len(by_name)


def test_values_of_the_network_are_those_of_the_integer_model() -> None:
    boards = [board for board in random_boards(3, 200) if phase(board) > FEW_PIECES]
    for board in boards:
        board.halfmove_clock = 0
    assert len(boards) > 50
    expected = integer_values(read_network(BUILT_IN_FILE), pack(boards))
    assert [evaluate(board, "nnue").score.relative for board in boards] == [Cp(int(value)) for value in expected]
    assert evaluate(boards[0], "nnue").terms == ()


def phase(board: chess.Board) -> int:
    """Give the game phase: 24 with all pieces, 0 with none."""
    weights = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
    return sum(weights.get(piece.piece_type, 0) for piece in board.piece_map().values())


def test_evaluate_has_no_side() -> None:
    for board in random_boards(2, 40):
        value, mirrored = evaluate(board), evaluate(board.mirror())
        assert mirrored.centipawns == -value.centipawns
        assert mirrored.score.relative == value.score.relative
        assert value.score.white() == Cp(value.centipawns)


def test_evaluate_names_its_terms() -> None:
    value = evaluate(chess.Board(KIWIPETE), "classical")
    assert value.breakdown is not None
    assert abs(value.breakdown.value - value.centipawns) <= 1
    assert {"piece value", "knight square"} <= {term.name for term in value.terms}
    total = sum(term.total.middle_game for term in value.terms)
    assert total == value.breakdown.white.middle_game - value.breakdown.black.middle_game
    pesto = evaluate(chess.Board(KIWIPETE), "pesto")
    assert pesto.breakdown is None and pesto.terms == ()


def test_evaluate_knows_drawn_endings_and_the_fifty_move_rule() -> None:
    assert abs(evaluate(chess.Board("4k3/8/8/8/8/8/8/4KN2 w - - 0 1")).centipawns) < 100
    fresh, stale = (evaluate(chess.Board(f"4k3/pp6/8/8/8/8/PPP5/3QK3 w - - {plies} 90")) for plies in (0, 90))
    assert fresh.centipawns > stale.centipawns > 0
    assert fresh.terms == stale.terms


@pytest.mark.parametrize("evaluation", ["classical", "pesto"])
def test_a_piece_is_worth_what_the_value_loses_without_it(evaluation: str) -> None:
    compared = 0
    for board in random_boards(3, 30) + random_boards(4, 10, chess960=True):
        value = evaluate(board, evaluation)
        assert set(value.pieces) == set(chess.SquareSet(board.occupied & ~board.kings))
        for square, worth in value.pieces.items():
            rest = board.copy(stack=False)
            rest.remove_piece_at(square)
            rest.castling_rights = rest.clean_castling_rights()
            if board.ep_square is not None and square == board.ep_square ^ 8:
                rest.ep_square = None
            if rest.is_valid():
                assert worth == value.centipawns - evaluate(rest, evaluation).centipawns, (board.fen(), square)
                compared += 1
    assert compared > 500


def test_a_change_to_the_worths_does_not_change_the_evaluation() -> None:
    value = evaluate("startpos", "pesto")
    known = value.pieces
    value.pieces.clear()
    assert value.pieces == known != {}


def test_an_evaluation_draws_itself_with_the_worths() -> None:
    value = evaluate(chess.Board(KIWIPETE))
    for side, corner in ((chess.WHITE, "a8"), (chess.BLACK, "h1")):
        svg = ElementTree.fromstring(value.svg(orientation=side, size=300))
        assert svg.get("width") == "300"
        squares = {rect.get("class", "").split()[2]: rect for rect in svg.iter(f"{SVG}rect") if rect.get("class")}
        assert min(squares, key=lambda name: [float(squares[name].get(axis)) for axis in "yx"]) == corner
        labels = list(svg.iter(f"{SVG}text"))
        assert len(labels) == len(value.pieces)
        boxes = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("rx")]
        for box, label in zip(boxes, labels, strict=True):  # each text is in the middle of its box
            left, top, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
            assert left + width / 2 == pytest.approx(float(label.get("x")), abs=0.01)
            assert top + height / 2 < float(label.get("y")) < top + height
        for square, worth in value.pieces.items():
            place = squares[chess.square_name(square)]
            left, top, width = (float(place.get(key)) for key in ("x", "y", "width"))
            [text] = [
                label.text
                for label in labels
                if float(label.get("x")) == pytest.approx(left + width / 2, abs=0.01)
                and top < float(label.get("y")) < top + width
            ]
            assert text == f"{worth / 100:+.2f}"


@pytest.mark.parametrize(("fen", "least"), [(KIWIPETE, 30), ("4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1", 99)])
def test_jupyter_shows_an_evaluation_as_a_board_with_a_bar(fen: str, least: int) -> None:
    value = evaluate(fen, "classical")
    html = value._repr_html_()
    assert value.svg() in html
    cells = [cell.text for cell in ElementTree.fromstring(html).iter("td")]
    assert cells == [f"{value.centipawns / 100:+.2f}", "classical"]
    [percent] = re.findall(r"White: (\d+) %", html)
    assert int(percent) >= least


# --- moves -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chess960", [False, True])
def test_legal_moves_are_those_of_python_chess(chess960: bool) -> None:
    for board in random_boards(3, 150, chess960):
        moves = legal_moves(board)
        assert len(moves) == len(set(moves))
        assert set(moves) == set(board.legal_moves)


def test_castling_is_written_as_the_board_writes_it() -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    assert chess.Move.from_uci("e1g1") in legal_moves(chess.Board(fen))
    assert chess.Move.from_uci("e1h1") in legal_moves(chess.Board(fen, chess960=True))


# --- exchanges -------------------------------------------------------------------------------------------------------

VALUES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}


def swap_off(board: chess.Board, move: chess.Move) -> int:
    """Play an exchange out on the board, as the documentation says that it goes."""
    if board.is_castling(move):
        return 0
    after = board.copy(stack=False)
    gain = 0
    if board.is_en_passant(move):
        gain = VALUES[chess.PAWN]
        after.remove_piece_at(chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square)))
    elif board.is_capture(move):
        gain = VALUES[board.piece_type_at(move.to_square)]
    piece = after.remove_piece_at(move.from_square)
    if move.promotion:
        gain += VALUES[move.promotion] - VALUES[chess.PAWN]
        piece = chess.Piece(move.promotion, board.turn)
    after.set_piece_at(move.to_square, piece)
    return gain - best_capture(after, not board.turn, move.to_square)


def best_capture(board: chess.Board, side: chess.Color, target: chess.Square) -> int:
    """Give what a side wins at most by capturing on a square, or by leaving it."""
    attackers = board.attackers(side, target)
    if not attackers:
        return 0
    source = min(attackers, key=lambda square: board.piece_type_at(square))
    victim = VALUES[board.piece_type_at(target)]
    if board.piece_type_at(source) == chess.KING:
        return 0 if board.attackers(not side, target) else victim
    board.set_piece_at(target, board.remove_piece_at(source))
    return max(0, victim - best_capture(board, not side, target))


@pytest.mark.parametrize("chess960", [False, True])
def test_see_of_every_move_of_random_positions(chess960: bool) -> None:
    values = set()
    for board in random_boards(4, 60, chess960):
        for move in board.legal_moves:
            value = see(board, move)
            assert value == swap_off(board, move), (board.fen(), move)
            values.add(value)
    assert {-900, -500, -300, -100, 0, 100, 300, 500, 900} <= values


def test_see_of_moves_as_text() -> None:
    fen = "3r2k1/8/4p3/3p4/8/3R4/8/3Q2K1 w - - 0 1"
    assert see(fen, "Rxd5") == see(fen, "d3d5") == see(fen, chess.Move.from_uci("d3d5")) == -400


def test_see_of_the_suite() -> None:
    agreed = 0
    for line in SEE_SUITE.read_text(encoding="utf-8").splitlines():
        fen, san, value = (field.strip() for field in line.split(";")[:3])
        board = chess.Board(fen)
        try:
            move = board.parse_san(san)
        except chess.AmbiguousMoveError:
            continue
        assert see(board, move) == swap_off(board, move)
        agreed += see(board, move) == int(value)
    assert agreed >= 69  # the others turn on a later promotion


@pytest.mark.parametrize(
    ("fen", "move", "value"),
    [
        ("3r3k/4P3/8/8/8/8/8/K7 w - - 0 1", "e7d8q", 500 + 800),
        ("3r2k1/4P3/8/8/8/8/8/K7 w - - 0 1", "e7e8q", -100),
        ("q3k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7a8q", 900 + 800),  # the most
        ("k7/8/8/3p4/8/8/8/K3Q3 w - - 0 1", "e1e4", -900),  # the least
        ("4k3/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5d6", 100),
        ("4k3/2p5/8/3pP3/8/8/8/K2R4 w - d6 0 1", "e5d6", 100),  # the rook retakes through the captured pawn's square
        ("r3k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 0),
    ],
)
def test_see_at_its_limits(fen: str, move: str, value: int) -> None:
    assert see(chess.Board(fen), chess.Move.from_uci(move)) == value


# --- perft -----------------------------------------------------------------------------------------------------------


def test_perft_counts_what_is_known() -> None:
    assert [perft(chess.Board(), depth) for depth in range(5)] == [1, 20, 400, 8_902, 197_281]
    assert perft(chess.Board(KIWIPETE), 3) == 97_862
    assert perft(chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), 3) == 0


@pytest.mark.parametrize("chess960", [False, True])
def test_divide_agrees_with_python_chess(chess960: bool) -> None:
    for board in random_boards(5, 10, chess960):
        counts = {}
        for move in list(board.legal_moves):
            board.push(move)
            counts[move] = board.legal_moves.count()
            board.pop()
        assert divide(board, 2) == counts
        assert perft(board, 2) == sum(counts.values())


@pytest.mark.parametrize(
    ("depth", "error", "message"),
    [
        (-1, ValueError, "depth must be at least 0, not -1"),
        (61, ValueError, "depth must be at most 60, not 61"),
        (10**99, ValueError, "depth must be at most 60, not a number of many digits"),
        (2.5, TypeError, "depth must be a whole number, not 2.5"),  # once the end of the process
        (True, TypeError, "depth must be a whole number, not True"),
        ("3", TypeError, "depth must be a whole number, not '3'"),
        (None, TypeError, "depth must be a whole number, not None"),
    ],
)
def test_perft_refuses_other_depths(depth: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        perft(chess.Board(), depth)
    with pytest.raises(error, match=message.replace("least 0", "least 1")):
        divide(chess.Board(), depth)


# --- all of them -----------------------------------------------------------------------------------------------------


def test_a_fen_or_startpos_stands_for_a_board() -> None:
    start, castling = chess.Board(), chess.Board("rk5r/8/8/8/8/8/8/RK5R w HAha - 0 1", chess960=True)
    for text, board in [("startpos", start), (chess.STARTING_FEN, start), (castling.shredder_fen(), castling)]:
        assert evaluate(text) == evaluate(board)
        assert legal_moves(text) == legal_moves(board)
        assert divide(text, 2) == divide(board, 2)
        assert perft(text, 2) == perft(board, 2)
        for move in board.legal_moves:
            assert see(text, move) == see(board, move)
    assert chess.Move.from_uci("b1h1") in legal_moves(castling.fen())


def test_illegal_positions_moves_and_evaluations_are_refused() -> None:
    for question in (evaluate, legal_moves, lambda board: perft(board, 1), lambda board: perft(board, 0)):
        with pytest.raises(PositionError, match="not to move is in check"):
            question(ILLEGAL)
        with pytest.raises(PositionError, match="White has 0 kings"):
            question(chess.Board(None))
        with pytest.raises(PositionError, match="atomic is not supported"):
            question(chess.variant.AtomicBoard())
        with pytest.raises(
            PositionError, match=r"^illegal position: a FEN must have 4 to 6 fields, not 2 \(start position\)$"
        ):
            question("start position")
        for other in (None, 5, chess.BaseBoard(), b"startpos"):
            with pytest.raises(TypeError, match=r"^position must be a chess\.Board, a FEN or 'startpos', not"):
                question(other)
    for name in ("e2e5", "0000", "e7e5"):
        with pytest.raises(PositionError, match=f"illegal move: {name}"):
            see(chess.Board(), chess.Move.from_uci(name))
    for wrong in (chess.Move(70, 80), chess.Move(12, 28, 99), chess.Move(12, 28, drop=1)):
        with pytest.raises(PositionError, match="illegal move: "):
            see(chess.Board(), wrong)
    for other in (b"e2e4", None, 5):
        with pytest.raises(TypeError, match=r"move must be a chess\.Move or text, not"):
            see(chess.Board(), other)
    for name in ("stockfish", "", ["classical"], 3):
        with pytest.raises(OptionError, match="evaluation must be classical or pesto or nnue, not"):
            evaluate(chess.Board(), name)


def test_a_board_whose_sets_contradict_each_other_is_read_as_its_fen() -> None:
    board = chess.Board()
    board.occupied ^= chess.BB_A2
    assert evaluate(board) == evaluate(board.fen()) != evaluate("startpos")
    assert len(legal_moves(board)) == len(legal_moves(board.fen()))


def test_threads_do_not_disturb_each_other() -> None:
    boards = random_boards(6, 60)

    def ask(board: chess.Board) -> tuple[object, ...]:
        moves = legal_moves(board)
        return evaluate(board), moves, see(board, moves[0]), divide(board, 2)

    alone = [ask(board) for board in boards]
    shuffled = list(range(len(boards))) * 3
    random.Random(7).shuffle(shuffled)
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda number: ask(boards[number]), shuffled))
    assert together == [alone[number] for number in shuffled]
