"""The analysis of many positions: the same as that of one engine after the other, whatever the number of threads."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import chess
import chess.engine
import chess.variant
import numpy as np
import pytest
from chess.engine import Cp, Limit, Mate
from distributed import Client
from local_cluster import local_cluster
from random_boards import random_boards

from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.engine.options import EVALUATION_NAMES
from knightadder.library import arrays, many
from knightadder.library.arrays import PACKED, evaluate_iter, evaluate_many, pack
from knightadder.library.board_engine import Engine
from knightadder.library.many import analyse_iter, analyse_many
from knightadder.library.results import Analysis
from knightadder.parallel import pool as pools

MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"
IN_TABLEBASES = [
    "8/8/8/3k4/8/3K4/3P4/8 w - - 0 1",
    "8/8/8/3k4/8/3K4/3R4/8 b - - 0 1",
    "8/8/8/3k2p1/8/3K4/3R4/8 w - - 0 1",
]
FENS = [chess.STARTING_FEN, MATED, STALEMATED, MATE_IN_TWO, *IN_TABLEBASES]
BOARDS = random_boards(21, 12) + random_boards(22, 6, chess960=True)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash_mb=2) as engine:
        yield engine


def essence(analysis: Analysis) -> tuple[object, ...]:
    """Give all of an analysis that does not depend on time."""
    lines = [
        (line.rank, line.depth, line.seldepth, line.score, line.bound, line.wdl, line.nodes, line.tbhits, line.pv)
        for line in analysis.lines
    ]
    return analysis.best_move, analysis.ponder, lines


@pytest.mark.parametrize(
    ("limit", "multipv"),
    [(Limit(nodes=3000), 1), (Limit(nodes=3000), 3), (Limit(nodes=1), 1), (Limit(depth=5), 1), (Limit(depth=4), 3)],
)
def test_analyses_are_those_of_an_engine(limit: Limit, multipv: int, engine: Engine) -> None:
    positions = [*FENS, *BOARDS]
    found = analyse_many(positions, limit, multipv=multipv, hash_mb=2, workers=2)
    assert len(found) == len(positions)
    for position, analysis in zip(positions, found, strict=True):
        engine.new_game()
        board = chess.Board(position) if isinstance(position, str) else position
        assert essence(analysis) == essence(engine.analyse(board, limit, multipv=multipv)), position


@pytest.mark.parametrize("evaluation", EVALUATION_NAMES)
def test_they_use_the_evaluation_that_is_chosen(evaluation: str) -> None:
    [analysis] = analyse_many([BOARDS[0]], Limit(nodes=3000), hash_mb=2, evaluation=evaluation)
    with Engine(hash_mb=2, evaluation=evaluation) as engine:
        assert essence(analysis) == essence(engine.analyse(BOARDS[0], Limit(nodes=3000)))


def test_the_history_of_a_board_counts(engine: Engine) -> None:
    board = chess.Board("6k1/5ppp/8/8/8/8/q4PPP/3Q2K1 b - - 0 1")
    moves = ["a2a3", "d1d2", "a3a2", "d2d1"]
    for name in moves * 2:  # White's next move can repeat the position a third time
        board.push_uci(name)
    before = board.copy()
    [analysis] = analyse_many([board], Limit(depth=6))
    engine.new_game()
    assert essence(analysis)[:2] == essence(engine.analyse(board, Limit(depth=6)))[:2]
    [without] = analyse_many([board.fen()], Limit(depth=6))
    assert analysis.best.nodes != without.best.nodes
    assert board == before and board.move_stack == before.move_stack


def test_the_number_of_threads_makes_no_difference() -> None:
    alone, together = (
        [essence(analysis) for analysis in analyse_many(BOARDS, Limit(nodes=2000), workers=workers)]
        for workers in (1, 5)
    )
    assert alone == together
    order = list(reversed(range(len(BOARDS))))
    backwards = analyse_many([BOARDS[number] for number in order], Limit(nodes=2000), workers=1)
    assert [essence(analysis) for analysis in backwards] == [alone[number] for number in order]


def test_games_that_are_over() -> None:
    mated, stalemated = analyse_many([MATED, STALEMATED], Limit(depth=3))
    for analysis, score in ((mated, Mate(0)), (stalemated, Cp(0))):
        assert analysis.best_move is None and analysis.ponder is None
        assert analysis.pv == ()
        assert analysis.score.relative == score


def test_a_mate_ends_the_search_that_looks_for_it() -> None:
    [analysis] = analyse_many([MATE_IN_TWO], Limit(mate=2, depth=30))
    assert analysis.score.white() == Mate(2)
    assert analysis.best.depth < 30


@pytest.mark.parametrize("seconds", [0, 0.02])
def test_time_ends_a_search(seconds: float) -> None:
    found = analyse_many(BOARDS[:3], Limit(time=seconds), workers=2)  # or it would go on for ever
    for board, analysis in zip(BOARDS[:3], found, strict=True):
        assert analysis.best.move == analysis.best_move in board.legal_moves


def test_moves_are_written_as_the_board_writes_them() -> None:
    fen = "5k2/8/8/8/8/8/8/4K2R w K - 0 1"
    standard, chess960 = analyse_many([chess.Board(fen), chess.Board(fen, chess960=True)], Limit(depth=4), multipv=99)
    assert chess.Move.from_uci("e1g1") in [line.move for line in standard.lines]
    assert chess.Move.from_uci("e1h1") in [line.move for line in chess960.lines]
    [own] = analyse_many(["5k2/8/8/8/8/8/8/5K1R w K - 0 1"], Limit(depth=4), multipv=99)  # possible only in Chess960
    assert chess.Move.from_uci("f1h1") in [line.move for line in own.lines]


def test_results_are_told_as_they_come() -> None:
    told: dict[int, Analysis] = {}
    threads = set()

    def on_result(index: int, analysis: Analysis) -> None:
        assert index not in told
        told[index] = analysis
        threads.add(threading.current_thread())

    found = analyse_many(BOARDS, Limit(nodes=300), workers=3, on_result=on_result)
    assert [told[index] for index in range(len(BOARDS))] == found
    assert threads == {threading.current_thread()}


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("analysis")]


def test_an_exception_ends_all_searches() -> None:
    def interrupt(index: int, analysis: Analysis) -> None:
        raise KeyboardInterrupt

    endless = Limit(time=1e6)
    with pytest.raises(KeyboardInterrupt):
        analyse_many([MATED, *BOARDS], endless, workers=3, on_result=interrupt)
    assert not running()


def test_an_illegal_position_is_named() -> None:
    for bad, message in (
        ("nonsense", "illegal position 1: a FEN must have 4 to 6 fields, not 1"),
        (chess.Board(None), "illegal position 1: White has 0 kings"),
        (chess.variant.AtomicBoard(), "illegal position 1: atomic is not supported"),
    ):
        with pytest.raises(PositionError, match=message):
            analyse_many(["startpos", bad, "more nonsense"], Limit(depth=1))


def with_illegal_positions() -> list[chess.Board | str]:
    """Give positions of which those with odd numbers are illegal."""
    wrong_move = chess.Board()
    wrong_move.push(chess.Move.from_uci("g1f5"))
    two_queens = "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1"  # with eight pawns: only the core refuses it
    wrong = ["nonsense", wrong_move, chess.Board(None), "", two_queens, "4k3/8/8/8/8/8/8/4RK2 w - - 0 1"]
    return [position for each in wrong for position in (chess.STARTING_FEN, each)]


@pytest.mark.parametrize("threads", [1, 2])
def test_illegal_positions_may_have_an_analysis_of_their_own(threads: int) -> None:
    positions, none = with_illegal_positions(), Analysis((), None, None)
    found = analyse_many(positions, Limit(nodes=200), illegal=none, workers=threads)
    [expected] = analyse_many(positions[:1], Limit(nodes=200))
    assert [analysis is none for analysis in found] == [False, True] * 6
    assert {essence(analysis)[0] for analysis in found[::2]} == {expected.best_move}
    pairs = list(analyse_iter(positions, Limit(nodes=200), illegal=none, workers=threads))
    assert [position for position, _ in pairs] == positions
    assert [analysis is none for _, analysis in pairs] == [False, True] * 6


def test_illegal_records_may_have_an_analysis_of_their_own() -> None:
    records = np.concatenate([pack(["startpos"]), np.zeros(1, PACKED)])
    none = Analysis((), None, None)
    assert [analysis == none for analysis in analyse_many(records, Limit(nodes=9), illegal=none)] == [False, True]
    assert dict(analyse_iter(records, Limit(nodes=9), illegal=none))[""] == none
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        found = analyse_many(records, Limit(nodes=9), illegal=none, executor=executor)
    assert [analysis == none for analysis in found] == [False, True]


def test_the_analysis_for_illegal_positions_is_one() -> None:
    with pytest.raises(TypeError, match=r"^illegal must be an Analysis, not -32768$"):
        analyse_many(["nonsense"], Limit(nodes=1), illegal=-32768)  # type: ignore[arg-type]


def test_an_illegal_move_on_a_board_is_named() -> None:
    board = chess.Board()
    for name in ("g1f3", "g8f6", "f3f5"):
        board.push(chess.Move.from_uci(name))
    with pytest.raises(PositionError, match="illegal move on the board of position 1: f3f5"):
        analyse_many([chess.Board(), board, chess.Board()], Limit(depth=1), workers=1)
    assert not running()


@pytest.mark.parametrize(
    ("limit", "options", "message"),
    [
        (Limit(), {}, "a limit must set"),
        (Limit(white_clock=1, black_clock=1), {}, "has no clock"),
        (Limit(nodes=0), {}, "nodes must be at least 1, not 0"),
        (Limit(nodes=1, depth=0), {}, "depth must be at least 1, not 0"),
        (Limit(mate=-1), {}, "mate must be at least 1, not -1"),
        (Limit(depth=1), {"workers": 0}, "workers must be at least 1, not 0"),
        (Limit(depth=1), {"multipv": 0}, "multipv must be at least 1, not 0"),
        (Limit(depth=1), {"hash_mb": -1}, "hash_mb must be at least 1, not -1"),
        (Limit(depth=1), {"hash_mb": 33_554_432}, "not enough memory"),
        (Limit(depth=1), {"hash_mb": 1 << 40}, "hash_mb must be at most 33554432, not 1099511627776"),
        (Limit(depth=1), {"multipv": 257}, "multipv must be at most 256, not 257"),
        (Limit(depth=1), {"multipv": 10**400}, "multipv must be at most 256, not a number of many digits"),
        (Limit(depth=1), {"evaluation": "guess"}, "evaluation must be classical or pesto or nnue, not guess"),
    ],
)
def test_settings_that_cannot_be(limit: Limit, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):  # OptionError is one
        analyse_many([chess.STARTING_FEN], limit, **options)
    assert issubclass(OptionError, ValueError)


@pytest.mark.parametrize("name", ["workers", "multipv", "hash_mb"])
@pytest.mark.parametrize("number", [2.0, True, "2", float("nan")])
def test_numbers_are_whole(name: str, number: object) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a whole number, not "):
        analyse_many([chess.STARTING_FEN], Limit(depth=1), **{name: number})


def test_numbers_without_an_end_are_as_good_as_none() -> None:
    limit = Limit(nodes=2**64, mate=2**64, depth=2**64, time=10**400)
    [analysis] = analyse_many([MATED], limit, workers=10**400)
    assert analysis.best_move is None
    [(_, analysis)] = analyse_iter([MATED], limit, workers=10**400)
    assert analysis.best_move is None


def test_other_types_are_refused() -> None:
    for wrong in (chess.STARTING_FEN, [3], 3, chess.Board()):
        for call in (analyse_many, lambda *arguments: list(analyse_iter(*arguments))):
            with pytest.raises(
                TypeError, match=r"^(expected several positions|position 0 must be a chess\.Board, a FEN)"
            ):
                call(wrong, Limit(depth=1))
    for call in (analyse_many, analyse_iter):
        with pytest.raises(TypeError, match=r"^limit must be a chess\.engine\.Limit, not None"):  # it would never end
            call([chess.STARTING_FEN], None)
        with pytest.raises(TypeError, match=r"^executor must be a concurrent\.futures\.Executor or .*Client, not 4"):
            call([chess.STARTING_FEN], Limit(depth=1), executor=4)


def test_tablebases_of_a_folder_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for call in (analyse_many, analyse_iter):
        with pytest.raises(OptionError, match=r"^there is no folder .*nowhere$"):
            call([IN_TABLEBASES[1]], Limit(depth=2), syzygy_path=[tmp_path, tmp_path / "nowhere"])
    [analysis] = analyse_many([IN_TABLEBASES[1]], Limit(depth=2), syzygy_path=tmp_path)
    assert analysis.best.tbhits > 0  # by those that come with the engine


# --- positions as they come ----------------------------------------------------------------------------------------


def endless() -> Iterator[chess.Board]:
    """Give positions for ever, with the same board each time."""
    board = chess.Board()
    while True:
        for move in list(board.legal_moves):
            board.push(move)
            yield board
            board.pop()


def test_an_endless_generator_is_analysed_as_it_comes() -> None:
    taken = []

    def counted() -> Iterator[chess.Board]:
        for board in endless():
            taken.append(board.fen())
            yield board

    expected = analyse_many([board.fen() for board in islice(endless(), 50)], Limit(nodes=300), workers=2)
    stream = analyse_iter(counted(), Limit(nodes=300), workers=2)
    assert not taken
    pairs = list(islice(stream, 50))
    found = [analysis for _, analysis in pairs]
    assert [position.fen() for position, _ in pairs if isinstance(position, chess.Board)] == taken[:50]
    assert [essence(analysis) for analysis in found] == [essence(analysis) for analysis in expected]
    assert [analysis.fen for analysis in found] == taken[:50]
    assert len(taken) <= 50 + 2 * 2 * pools._AHEAD * many._MOST_POSITIONS + many._MOST_POSITIONS
    stream.close()
    assert not running()


def test_each_position_comes_with_its_analysis() -> None:
    given = [*BOARDS, *FENS, "startpos"]
    pairs = list(analyse_iter(iter(given), Limit(nodes=300), workers=3))
    assert [position for position, _ in pairs] == given
    assert [essence(analysis) for _, analysis in pairs] == [
        essence(analysis) for analysis in analyse_many(given, Limit(nodes=300))
    ]


@pytest.mark.parametrize("kind", ["U", "S", "packed"])
def test_arrays_are_positions_too(kind: str) -> None:
    array = pack(FENS) if kind == "packed" else np.array(["startpos", *FENS[1:]], kind)
    expected = [essence(analysis) for analysis in analyse_many(FENS, Limit(nodes=300))]
    assert [essence(analysis) for analysis in analyse_many(array, Limit(nodes=300))] == expected
    assert [essence(analysis) for _, analysis in analyse_iter(array, Limit(nodes=300))] == expected


def test_errors_of_positions_that_come_are_named_by_their_index() -> None:
    good = [board.fen() for board in islice(endless(), 70)]
    for bad, message in (
        (3, "position 70 must be a chess"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "illegal position 70: White has"),
    ):
        stream = analyse_iter([*good, bad], Limit(nodes=1), workers=1)
        with pytest.raises((TypeError, PositionError), match=message):
            list(stream)
        assert not running()
    moved = chess.Board()
    moved.push(chess.Move.from_uci("g1g3"))
    with pytest.raises(PositionError, match="illegal move on the board of position 70: g1g3"):
        list(analyse_iter([*good, moved], Limit(nodes=1)))


def test_leaving_the_loop_ends_the_searches() -> None:
    stream = analyse_iter([MATED, *BOARDS], Limit(time=1e6), workers=3)
    assert next(stream)[0] == MATED
    stream.close()
    assert not running()


# --- by executors --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask() -> Iterator[Client]:
    with local_cluster() as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_an_executor_finds_the_same(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = request.getfixturevalue(kind)
    monkeypatch.setattr(many, "_MOST_POSITIONS", 3)  # several blocks
    given, limit = [*BOARDS, *FENS], Limit(nodes=300)
    expected = [essence(each) for each in analyse_many(given, limit, multipv=2, evaluation="classical")]
    told: dict[int, Analysis] = {}
    found = analyse_many(
        given, limit, multipv=2, evaluation="classical", syzygy_path=tmp_path, executor=executor,
        on_result=lambda index, analysis: told.update({index: analysis}),
    )  # fmt: skip
    assert [essence(analysis) for analysis in found] == expected
    assert [told[index] for index in range(len(given))] == found
    stream = analyse_iter(endless(), limit, executor=executor, workers=2)
    boards = [board.fen() for board in islice(endless(), 10)]
    assert [essence(each) for _, each in islice(stream, 10)] == [essence(each) for each in analyse_many(boards, limit)]
    stream.close()
    values = evaluate_many([*FENS, *BOARDS])
    monkeypatch.setattr(arrays, "_BLOCK", 7)
    for same in ([*FENS, *BOARDS], iter([*FENS, *BOARDS]), pack([*FENS, *BOARDS])):
        assert evaluate_many(same, executor=executor).tolist() == values.tolist()
    assert [value for _, value in evaluate_iter(FENS, executor=executor)] == values[: len(FENS)].tolist()


def test_a_closed_client_says_so(dask: Client) -> None:
    with Client(dask.scheduler.address, set_as_default=False) as client:
        pass
    with pytest.raises(EngineError, match=r"^the client of the cluster has been closed$"):
        analyse_many(["startpos"], Limit(nodes=1), executor=client)


def test_errors_of_an_executors_workers_are_those_of_threads(processes: Executor) -> None:
    moved = chess.Board()
    moved.push(chess.Move.from_uci("g1g3"))
    with pytest.raises(PositionError, match="illegal move on the board of position 2: g1g3"):
        analyse_many(["startpos", "startpos", moved], Limit(nodes=1), executor=processes)
    with pytest.raises(PositionError, match="illegal position 1: a FEN must have"):
        evaluate_many(["startpos", "nonsense"], executor=processes)
    with pytest.raises(TypeError, match="position 1 must be a chess"):
        evaluate_many(["startpos", 5], executor=processes)
