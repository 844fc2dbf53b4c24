"""Boards, moves and limits on their way from python-chess to the engine."""

import contextlib
import math
import random
import warnings
from collections.abc import Callable, Sized
from fractions import Fraction

import chess
import chess.variant
import numpy as np
import pytest
from chess.engine import Limit

import knightadder
from knightadder.engine.errors import PositionError
from knightadder.engine.limits import Limits
from knightadder.library.boards import Position, board_of, limits_of, position_of


def random_game(seed: int, chess960: bool) -> chess.Board:
    """Play random moves, half of them back to where the piece came from, so that positions repeat."""
    chance = random.Random(seed)
    board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
    for _ in range(chance.randrange(120)):
        moves = list(board.legal_moves)
        if not moves:
            break
        last = board.move_stack[-2] if len(board.move_stack) > 1 else chess.Move.null()
        back = chess.Move(last.to_square, last.from_square)
        board.push(back if back in moves and chance.random() < 0.5 else chance.choice(moves))
    return board


def rebuilt(board: chess.Board) -> chess.Board:
    fen, moves = position_of(board)
    other = chess.Board(fen, chess960=board.chess960)
    for name in moves:
        other.push_uci(name)
    return other


@pytest.mark.parametrize("chess960", [False, True])
def test_position_of_gives_the_same_position_with_the_history_that_counts(chess960: bool) -> None:
    repetitions = 0
    for seed in range(150):
        board = random_game(seed, chess960)
        other = rebuilt(board)
        assert other.fen() == board.fen()
        for count in (2, 3, 4, 5):
            assert other.is_repetition(count) == board.is_repetition(count)
            repetitions += board.is_repetition(count)
    assert repetitions > 10  # or this says nothing about them


def test_position_of_keeps_no_more_moves_than_since_the_last_pawn_move() -> None:
    board = chess.Board()
    for san in ["e4", "e5", "Nf3", "Nc6", "Bb5"]:
        board.push_san(san)
    fen, moves = position_of(board)
    assert moves == ("g1f3", "b8c6", "f1b5")
    assert fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert board.move_stack  # the caller's board is as it was


def test_position_of_begins_after_a_null_move() -> None:
    board = chess.Board()
    board.push_san("Nf3")
    board.push(chess.Move.null())
    board.push_san("Ng1")
    assert position_of(board)[1] == ("f3g1",)


def test_position_of_begins_after_the_illegal_position_that_a_null_move_in_check_leaves() -> None:
    board = chess.Board("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1")
    board.push(chess.Move.null())
    board.push_san("Kd1")
    assert position_of(board) == ("4k3/8/8/8/8/8/4R3/3K4 b - - 2 2", ())
    board.push_san("Kd7")
    assert position_of(board) == ("4k3/8/8/8/8/8/4R3/3K4 b - - 2 2", ("e8d7",))


@pytest.mark.parametrize("more", ["", "Nc3 Nb8 Nb1", "Nc3 Nc6 Nb1 Nb8"])
@pytest.mark.parametrize(
    ("attribute", "value"), [("turn", chess.BLACK), ("castling_rights", chess.BB_EMPTY), ("halfmove_clock", 9)]
)
def test_position_of_gives_no_moves_that_do_not_lead_to_the_board(attribute: str, value: int, more: str) -> None:
    board = chess.Board()
    for san in ["Nf3", "Nc6"]:
        board.push_san(san)
    setattr(board, attribute, value)  # python-chess keeps the moves
    for san in more.split():
        with contextlib.suppress(chess.IllegalMoveError):  # the move of the other side
            board.push_san(san)
    assert rebuilt(board).fen() == board.fen()


def test_position_of_gives_no_moves_of_pieces_that_are_not_there() -> None:
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
    board.push_san("Ra7")
    board.turn = chess.BLACK
    for name in ["e8g8", "a1a2", "f8f7"]:
        board.push_uci(name)
    assert position_of(board) == (board.fen(), ())


def test_board_of_gives_a_board_back_as_it_is() -> None:
    board = chess.Board()
    board.push_san("e4")
    assert board_of(board) is board


@pytest.mark.parametrize("chess960", [False, True])
def test_board_of_reads_fens(chess960: bool) -> None:
    for seed in range(100):
        board = random_game(seed, chess960)
        for text in (board.fen(), board.shredder_fen(), f" {board.fen(en_passant='fen')} "):
            read = board_of(text)
            assert read.fen() == board.fen()
            assert read.chess960 == board.has_chess960_castling_rights()
            moves = set(board.legal_moves) if read.chess960 == chess960 else set(chess.Board(board.fen()).legal_moves)
            assert set(read.legal_moves) == moves


def analyse(position: Position) -> str:
    with knightadder.Engine() as engine:
        return engine.analyse(position, Limit(nodes=100)).fen


def play(position: Position) -> chess.Move | None:
    with knightadder.Engine() as engine:
        return engine.play(position, Limit(nodes=100), ponder=True).move


WRONG = "4k3/8/8/8/8/8/8/R3K3 w KQ e6 0 1"


@pytest.mark.parametrize("position", [WRONG, chess.Board(WRONG)], ids=["fen", "board"])
@pytest.mark.parametrize(
    "call",
    [
        lambda position: knightadder.evaluate(position).fen,
        lambda position: knightadder.legal_moves(position),
        lambda position: knightadder.see(position, chess.Move.from_uci("a1a2")),
        lambda position: knightadder.perft(position, 0),
        lambda position: knightadder.perft(position, 2),
        lambda position: analyse(position),
        lambda position: play(position),
    ],
    ids=["evaluate", "legal_moves", "see", "perft 0", "perft", "analyse", "play"],
)
def test_what_is_left_out_of_a_position_is_said_once_at_the_callers_line(
    call: Callable[[Position], object], position: Position
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(position)
    (warning,) = caught
    assert warning.category is knightadder.PositionWarning and warning.filename == __file__
    notes = "impossible castling right K left out; impossible en passant square e6 left out"
    assert str(warning.message) == f"position: {notes}"
    assert not isinstance(found, str) or found == "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"


@pytest.mark.parametrize("position", [WRONG, chess.Board(WRONG)], ids=["fen", "board"])
@pytest.mark.parametrize(
    "call",
    [
        knightadder.pack,
        knightadder.evaluate_many,
        lambda positions: knightadder.analyse_many(positions, Limit(depth=1), hash_mb=1),
        lambda positions: list(knightadder.analyse_iter(positions, Limit(depth=1), hash_mb=1)),
    ],
    ids=["pack", "evaluate_many", "analyse_many", "analyse_iter"],
)
@pytest.mark.filterwarnings("error")
def test_functions_for_many_positions_do_not_warn(call: Callable[[list[Position]], Sized], position: Position) -> None:
    assert len(call([position] * 3)) == 3


def test_nothing_is_said_of_an_en_passant_square_that_no_pawn_can_use() -> None:
    assert len(knightadder.legal_moves("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1")) == 5  # warnings are errors here


def test_board_of_refuses_what_is_no_position() -> None:
    with pytest.raises(PositionError, match=r"^illegal position 3: atomic is not supported$"):
        board_of(chess.variant.AtomicBoard(), "position 3")
    for text in ("", "start", "8/8/8/8/8/8/8/8 w - - 0 1", "9" * 10_000, f"{chess.STARTING_FEN}\x1b"):
        with pytest.raises(PositionError, match=r"^illegal position: ") as caught:
            board_of(text)
        assert len(str(caught.value)) < 230 and str(caught.value).isprintable()
    for other in (None, 5, b"startpos", chess.BaseBoard(), [chess.STARTING_FEN]):
        with pytest.raises(TypeError, match=r"^position must be a chess\.Board, a FEN or 'startpos', not "):
            board_of(other)


@pytest.mark.parametrize("method", ["fen", "clean_castling_rights", "is_legal", "parse_uci", "parse_san"])
def test_an_alarm_is_no_fault_of_the_board(method: str) -> None:
    class Board(chess.Board):
        """A board on which the handler of a signal raises an error, in the middle of a method."""

        armed = False

    def alarm(board: Board, *arguments: object, **options: object) -> object:
        if board.armed:
            raise TimeoutError("time is up")
        return getattr(chess.Board, method)(board, *arguments, **options)

    setattr(Board, method, alarm)
    board = Board()
    board.armed = True
    limit, nothing = Limit(nodes=1), knightadder.Analysis((), None, None)
    with knightadder.Engine(hash_mb=1) as engine, pytest.raises(TimeoutError, match="time is up"):
        if method.startswith(("is_legal", "parse")):
            engine.play(board, limit, root_moves=["e4"])
        else:
            knightadder.analyse_many([board], limit, illegal=nothing)
            knightadder.evaluate(board)


def test_limits_of_translates_seconds_into_milliseconds() -> None:
    limit = Limit(
        time=1.5,
        depth=7,
        nodes=900,
        mate=3,
        white_clock=60,
        black_clock=0.25,
        white_inc=1,
        black_inc=0.1,
        remaining_moves=9,
    )
    assert limits_of(chess.Board(), limit) == Limits(
        wtime=60_000, btime=250, winc=1000, binc=100, movestogo=9, depth=7, nodes=900, mate=3, movetime=1500
    )


def test_limits_of_gives_a_time_of_nothing_its_shortest() -> None:
    assert limits_of(chess.Board(), Limit(time=0)).movetime == 1


def test_limits_of_without_a_limit_goes_on_until_stopped() -> None:
    assert limits_of(chess.Board(), None).unlimited


@pytest.mark.parametrize("name", ["depth", "nodes", "mate", "remaining_moves"])
def test_limits_of_takes_whole_numbers_only(name: str) -> None:
    for wrong in (2.0, 2.5, math.nan, math.inf, True, "5", [5], Fraction(5)):
        with pytest.raises(TypeError, match=f"^{name} must be a whole number, not "):
            limits_of(chess.Board(), Limit(time=1, **{name: wrong}))
    for little in (0, -1, -(10**4999)):
        with pytest.raises(ValueError, match=f"^{name} must be at least 1, not "):
            limits_of(chess.Board(), Limit(time=1, **{name: little}))
    field = "movestogo" if name == "remaining_moves" else name
    assert getattr(limits_of(chess.Board(), Limit(time=1, **{name: np.int64(7)})), field) == 7


@pytest.mark.parametrize("huge", [2**63, 2**64, 10**400])
def test_limits_that_never_come_fit_in_what_the_core_counts_by(huge: int) -> None:
    limits = limits_of(
        chess.Board(),
        Limit(
            time=huge, depth=huge, nodes=huge, mate=huge, white_clock=huge, black_clock=-huge, white_inc=huge,
            black_inc=-huge, remaining_moves=huge,
        ),
    )  # fmt: skip
    numbers = [
        limits.wtime, limits.btime, limits.winc, limits.binc, limits.movestogo, limits.depth, limits.nodes,
        limits.mate, limits.movetime,
    ]  # fmt: skip
    assert all(type(number) is int and abs(number) < 2**63 for number in numbers)
    assert min(number for number in numbers if number > 0) >= 10_000
    assert limits.nodes >= 10**15 and limits.movetime / 1000 >= 40 * 86_400


@pytest.mark.parametrize("name", ["time", "white_clock", "black_clock", "white_inc", "black_inc"])
def test_limits_of_takes_finite_times_only(name: str) -> None:
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match=f"^{name} must be a finite number of seconds, not "):
            limits_of(chess.Board(), Limit(depth=1, **{name: wrong}))
    for wrong in ("5", True, [5], 1j):
        with pytest.raises(TypeError, match=f"^{name} must be a number of seconds, not "):
            limits_of(chess.Board(), Limit(depth=1, **{name: wrong}))
    for kind in (int, float, np.float32, np.int16, Fraction):
        limits_of(chess.Board(), Limit(depth=1, **{name: kind(3)}))
    with pytest.raises(ValueError, match=r"^time must be at least 0, not -1"):
        limits_of(chess.Board(), Limit(time=-1))


def test_limits_of_takes_nothing_else() -> None:
    for other in (5, "depth 3", {}, Limits(depth=3)):
        with pytest.raises(TypeError, match=r"limit must be a chess\.engine\.Limit, not "):
            limits_of(chess.Board(), other)
    for moves in ([5], [None]):
        with pytest.raises(TypeError, match=r"a root move must be a chess\.Move or text, not "):
            limits_of(chess.Board(), Limit(depth=1), moves)
    for moves in (3, "e2e4"):
        with pytest.raises(TypeError, match=r"^root_moves must be several moves, not "):
            limits_of(chess.Board(), Limit(depth=1), moves)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("halfmove_clock", "x"),
        ("halfmove_clock", None),
        ("halfmove_clock", 2.5),
        pytest.param("fullmove_number", 10**4999, id="more digits than Python writes"),
        ("ep_square", 70),
        ("castling_rights", "KQ"),
        ("kings", None),
        ("move_stack", [None, "e2e4"]),
    ],
)
def test_position_of_refuses_boards_that_can_be_none(name: str, value: object) -> None:
    board = chess.Board()
    for move in ("g1f3", "g8f6"):
        board.push_uci(move)
    setattr(board, name, value)
    with pytest.raises(PositionError, match=r"^illegal position: "):
        position_of(board)


def test_position_of_keeps_no_more_moves_than_the_fifty_move_rule_counts() -> None:
    board = chess.Board()
    for name in ["g1f3", "g8f6", "f3g1", "f6g8"] * 40:
        board.push_uci(name)
    fen, moves = position_of(board)
    assert (len(moves), fen.split()[4]) == (100, "60")
    assert rebuilt(board).fen() == board.fen()


def test_limits_of_names_root_moves_as_the_board_does() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    castling = board.parse_san("O-O")
    assert limits_of(board, Limit(depth=1), [castling]).searchmoves == ("e1g1",)


def test_limits_of_refuses_illegal_root_moves_and_none_at_all() -> None:
    with pytest.raises(PositionError, match="illegal move: e2e5"):
        limits_of(chess.Board(), Limit(depth=1), [chess.Move.from_uci("e2e5")])
    with pytest.raises(PositionError, match="root_moves is empty"):
        limits_of(chess.Board(), Limit(depth=1), [])
