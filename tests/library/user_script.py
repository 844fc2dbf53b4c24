"""A script as a user may write it, with all of the library; mypy checks it, and `test_types.py` runs it."""

from __future__ import annotations

import asyncio
import io
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import chess
import chess.engine
import chess.pgn
import numpy as np
from chess.engine import Limit, PovScore, PovWdl
from numpy.typing import NDArray

import knightadder
from knightadder import (
    PACKED,
    Analysis,
    AnnotatedGame,
    AnnotatedMove,
    Bound,
    Breakdown,
    Engine,
    EngineError,
    EnginePool,
    Evaluation,
    Explorer,
    ExplorerGame,
    ExplorerMove,
    GameArrays,
    GameFilter,
    GameRecord,
    Games,
    Line,
    Opening,
    Option,
    OptionError,
    PlayResult,
    PoolBusyError,
    PositionError,
    PositionWarning,
    Side,
    SimpleAnalysisResult,
    SimpleEngine,
    Stream,
    Tapered,
    Term,
    UciProtocol,
    analyse_iter,
    analyse_many,
    annotate_game,
    divide,
    evaluate,
    evaluate_iter,
    evaluate_many,
    explain,
    legal_moves,
    pack,
    perft,
    popen,
    read_games,
    see,
    to_frame,
    unpack,
    unpack_fens,
)

LIMIT = Limit(nodes=200)


def search() -> Analysis:
    with Engine(hash_mb=2, threads=1, evaluation="nnue", options={"Move Overhead": 50}) as engine:
        result: PlayResult = engine.play("startpos", LIMIT, root_moves=legal_moves("startpos"))
        assert_type(result.move, chess.Move | None)
        analysis = engine.analyse(chess.Board(), LIMIT, multipv=2, root_moves=["e4", "d2d4"])
        lines: tuple[Line, ...] = analysis.lines
        assert_type(lines[0].score, PovScore)
        assert_type(lines[0].wdl, PovWdl)
        assert_type(lines[0].bound, Bound)
        assert_type(lines[0].san, str)
        assert_type(analysis.to_info(), list[chess.engine.InfoDict])
        messages: list[str] = engine.configure({"Skill Level": 20, "UCI_LimitStrength": False})
        option: Option = engine.options["Hash"]
        print(messages, option.value, option.min)
        with engine.stream("startpos", LIMIT) as stream:
            running: Stream = stream
            for line in running:
                print(line.depth, line.move)
        engine.new_game()
        return analysis


def search_as_python_chess_does() -> None:
    theirs: chess.engine.SimpleEngine = SimpleEngine.popen_uci("stockfish", timeout=60)
    assert_type(theirs.play(chess.Board(), LIMIT), chess.engine.PlayResult)
    with SimpleEngine(options={"Hash": 2}) as engine:
        assert_type(engine.analyse(chess.Board(), LIMIT, root_moves=["e4"]), chess.engine.InfoDict)
        assert_type(engine.analyse(chess.Board(), LIMIT, multipv=2), list[chess.engine.InfoDict])
        with engine.analysis(chess.Board(), LIMIT) as analysis:
            assert_type(analysis, SimpleAnalysisResult)
            print([info["depth"] for info in analysis])


async def search_as_python_chess_does_in_coroutine() -> chess.engine.PlayResult:
    _, engine = await popen(options={"Hash": 2})
    assert_type(engine, UciProtocol)
    theirs: chess.engine.UciProtocol = engine
    with await theirs.analysis(chess.Board(), LIMIT) as analysis:
        print([info["depth"] async for info in analysis])
    result = await engine.play(chess.Board(), LIMIT, root_moves=["e4", chess.Move.from_uci("d2d4")])
    await engine.quit()
    return result


async def search_by_a_pool() -> Analysis | None:
    async with EnginePool(2, waiting=10, timeout=60, hash_mb=2) as pool:
        assert_type(pool.play("startpos", LIMIT), PlayResult)
        with pool.lend() as engine:
            assert_type(engine, Engine)
        try:
            return await pool.analyse_async("startpos", LIMIT)
        except PoolBusyError as error:
            print(error)
            return None


async def search_in_coroutine() -> PlayResult:
    with Engine(hash_mb=2) as engine:
        analysis = await engine.analyse_async("startpos", LIMIT)
        assert_type(analysis, Analysis)
        return await engine.play_async("startpos", LIMIT)


def one_position() -> None:
    value: Evaluation = evaluate("startpos", "classical")
    breakdown: Breakdown | None = value.breakdown
    terms: tuple[Term, ...] = value.terms
    first: Tapered = terms[0].white
    print(value.centipawns, value.pieces[chess.E2], value.svg(size=100)[:4], breakdown is not None, first)
    print(see("startpos", chess.Move.from_uci("e2e4")), perft("startpos", 2), divide("startpos", 1))


def game() -> Iterator[chess.Board]:
    board = chess.Board()
    for name in ("e2e4", "e7e5", "g1f3"):
        board.push_uci(name)
        yield board


def many_positions() -> None:
    records: NDArray[np.void] = pack(["startpos", chess.Board()])
    assert records.dtype == PACKED
    assert_type(unpack(records), list[chess.Board])
    assert_type(unpack_fens(records), list[str])
    assert_type(evaluate_many(records, illegal=-32768), NDArray[np.int16])
    for position, value in evaluate_iter(game(), "pesto"):
        print(position, value + 1)
        if TYPE_CHECKING:  # mypy complains of this comment if it knows no type here
            value.upper()  # type: ignore[attr-defined]
    with ThreadPoolExecutor(1) as executor:
        for _, analysis in analyse_iter(game(), LIMIT, executor=executor):
            assert_type(analysis, Analysis)
        analyses = analyse_many(np.array(["startpos"]), LIMIT, executor=executor, on_result=lambda index, _: index)
    print(to_frame(analyses)["score"].tolist(), to_frame([evaluate("startpos"), *analyses]).shape)
    print(analyses[0].to_frame().columns.tolist(), analyses[0].best.to_dict()["cp"], analyses[0].to_dict()["fen"])


def games() -> None:
    read = chess.pgn.read_game(io.StringIO("1. e4 e5 *"))
    assert read is not None
    annotated: AnnotatedGame = annotate_game(read, LIMIT)
    first: AnnotatedMove = annotated.moves[0]
    white: Side = annotated.white
    opening: Opening | None = annotated.opening
    print(
        str(annotated),
        first.san,
        white.accuracy,
        opening.name if opening else "",
        annotated.to_dict()["white_accuracy"],
    )
    board, move = chess.Board(), chess.Move.from_uci("g2g4")
    with Engine(hash_mb=2) as engine:
        before = engine.analyse(board, LIMIT)
        board.push(move)
        after = engine.analyse(board, LIMIT)
    reason: str = explain(chess.Board(), move, before, after)
    print(reason)


def games_of_files() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "games.pgn")
        file.write_text("1. e4 {[%eval 0.3]} e5 *\n")
        games: Games = read_games([file], progress=True)
        records: list[GameRecord] = list(games)
        arrays: GameArrays = games.to_arrays()
        print(games.to_frame("positions", tags=["White"]).shape, arrays.scores, unpack_fens(arrays.positions))
    print([assert_type(record.moves, list[chess.Move]) for record in records], records[0].tags.get("White"))


def explored(file: str) -> None:
    with Explorer(file) as explorer:
        moves: list[ExplorerMove] = explorer.moves(chess.Board())
        best: list[ExplorerGame] = explorer.games("startpos", GameFilter(player="Anna"), most=2)
    print([(move.san, move.games, move.score) for move in moves], to_frame(best))


def errors() -> None:
    try:
        explored("missing.sqlite")
    except OptionError as error:
        print(error)
    try:
        evaluate("nonsense")
    except PositionError as error:
        print(error)
    with warnings.catch_warnings(record=True, category=PositionWarning) as caught:
        evaluate("4k3/8/8/8/8/8/8/4K3 w K - 0 1")
    print(len(caught))
    try:
        Engine(options={"Colour": "red"})
    except OptionError as error:
        print(error)
    except EngineError:
        raise


if __name__ == "__main__":
    print(knightadder.__version__, search(), asyncio.run(search_in_coroutine()))
    search_as_python_chess_does()
    print(asyncio.run(search_by_a_pool()))
    print(asyncio.run(search_as_python_chess_does_in_coroutine()))
    one_position()
    many_positions()
    games()
    games_of_files()
    errors()
