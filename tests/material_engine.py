"""A UCI engine that sees what `FakeAnalyst` sees. Arguments: ``no-hash``, ``small-hash``, ``large-hash``, ``no-wdl``,
``silent`` (no scores), ``huge`` (numbers beyond all limits).
"""

import sys

import chess
import chess.engine
from fake_analyst import FakeAnalyst

board, lines, show_wdl = chess.Board(), 1, False
factor = 1_000_000 if "huge" in sys.argv else 1

for text in sys.stdin:
    words = text.split()
    if words[0] == "uci":
        print("id name Material 2.1")
        print("option name MultiPV type spin default 1 min 1 max 9")
        if "no-hash" not in sys.argv:
            least, most = (64, 512) if "large-hash" in sys.argv else (1, 8) if "small-hash" in sys.argv else (1, 64)
            print(f"option name Hash type spin default {least} min {least} max {most}")
        if "no-wdl" not in sys.argv:
            print("option name UCI_ShowWDL type check default false")
        print("uciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif text.startswith("setoption name MultiPV value"):
        lines = int(words[-1])
    elif text.startswith("setoption name UCI_ShowWDL value"):
        show_wdl = words[-1] == "true"
    elif words[0] == "position":
        board = chess.Board(" ".join(words[2:8])) if words[1] == "fen" else chess.Board()
        for move in words[words.index("moves") + 1 :] if "moves" in words else []:
            board.push_uci(move)
    elif words[0] == "go":
        chosen = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else None
        found = FakeAnalyst().analyse(board, chess.engine.Limit(nodes=1), multipv=500).lines
        found = [line for line in found if chosen is None or line.move.uci() in chosen][:lines]
        for depth in (6, 7):
            for rank, line in enumerate(found, 1):
                score = line.score.relative
                value = f"mate {factor * score.mate()}" if score.is_mate() else f"cp {factor * score.score()}"
                wdl = f" wdl 0 {factor * 1000} 0" if show_wdl else ""
                if "silent" not in sys.argv:
                    print(f"info depth {factor * depth} multipv {rank} score {value}{wdl} nodes 9 pv {line.move.uci()}")
        # The beginning of an iteration that does not end: its line is not one of those of the iteration before.
        if "silent" not in sys.argv and len(found) > 1:
            print(f"info depth 8 multipv 1 score cp 7 nodes 10 pv {found[1].move.uci()}")
        print(f"bestmove {found[0].move.uci()}", flush=True)
    elif words[0] == "quit":
        break
