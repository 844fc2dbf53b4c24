"""A script as people write it for python-chess and Stockfish: only the line that makes the engine is another one.

`test_simple_engine.py` runs it with the line as it is, and with python-chess's own line; mypy checks it.
"""

import chess
import chess.engine
from chess.engine import INFO_ALL, INFO_SCORE, InfoDict, Limit, Opponent, PovScore

import knightadder

PUZZLE = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


def pawns(info: InfoDict) -> int:
    score: PovScore = info["score"]
    return score.white().score(mate_score=10_000)


def play_game(engine: chess.engine.SimpleEngine, plies: int) -> chess.Board:
    board, game = chess.Board(), object()
    while not board.is_game_over() and board.ply() < plies:
        result = engine.play(board, Limit(nodes=300), game=game, info=INFO_SCORE, options={"Skill Level": 20})
        assert result.move is not None and not result.resigned and not result.draw_offered
        assert "score" in result.info and "pv" not in result.info
        board.push(result.move)
    engine.send_game_result(board)
    return board


def watch(analysis: chess.engine.SimpleAnalysisResult, depth: int) -> list[int]:
    depths = []
    with analysis:
        for info in analysis:
            if "depth" in info and "pv" in info:
                depths.append(info["depth"])
                if info["depth"] >= depth:
                    break
    best = analysis.wait()
    assert best.move == analysis.info["pv"][0] and not analysis.would_block()
    while analysis.next() is not None:
        pass
    assert analysis.empty()
    return depths


engine = knightadder.SimpleEngine.popen_uci("stockfish")
with engine:
    print("name" in engine.id, engine.options["hash"].type, engine.options["MultiPV"].is_managed())
    engine.configure({"Hash": 4, "Threads": 1, "UCI_ShowWDL": True})
    engine.ping()
    engine.send_opponent_information(opponent=Opponent("Eliza", None, 1500, True))
    info = engine.analyse(chess.Board(PUZZLE), Limit(depth=4), game="puzzle", info=INFO_ALL)
    print(info["score"], chess.Board(PUZZLE).variation_san(info["pv"]), sum(info["wdl"]))
    board = play_game(engine, 6)
    print(board.ply(), board.is_valid())
    lines = engine.analyse(board, Limit(depth=5), multipv=3, game="lines")
    print(len(lines), [line["multipv"] for line in lines], pawns(lines[0]) >= pawns(lines[2]))
    choice = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    print(engine.play(chess.Board(), Limit(depth=3), root_moves=choice, ponder=True).move in choice)
    depths = watch(engine.analysis(board, multipv=2, game="watch"), 6)
    print(depths[-1], sorted(set(depths)) == list(range(1, 7)))
    for name, value in {"No Such Option": 1, "MultiPV": 2, "Hash": 0}.items():
        try:
            engine.configure({name: value})
        except chess.engine.EngineError:
            print("refused:", name)
    engine.quit()
    try:
        engine.ping()
    except chess.engine.EngineTerminatedError:
        print("terminated, returned", engine.returncode.result())
