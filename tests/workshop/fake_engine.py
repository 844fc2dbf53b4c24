"""A UCI engine for tests of matches: it plays legal moves by chance, and misbehaves as its arguments say.

Arguments are ``key=value``: ``complaint`` (what it says of every option), ``seed``, ``game`` (the seed of each game
anew), ``score`` (its view of every position, such as ``cp 20``, or ``none``), ``pv`` (the line that it announces
instead of its move), ``early`` (a line that it announces before), and ``do`` with ``at``: what to do at that ``go``,
counted from 1 over the life of the process, or at ``every`` one. ``do`` is ``crash``, ``killed``, ``illegal``, ``none``
or ``silent``.
"""

import os
import random
import signal
import sys
import time

import chess

arguments = dict(word.split("=", 1) for word in sys.argv[1:])
chance = random.Random(int(arguments.get("seed", "1")))
board = chess.Board()
asked = 0


def say(text):
    print(text, flush=True)


for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        say("id name Fake 1.0\nid author nobody")
        say("option name Hash type spin default 16 min 1 max 1024\noption name Clear Hash type button")
        say("option name EvalType type combo default nnue var nnue var classical")
        say("option name UCI_Chess960 type check default false\nuciok")
    elif words[0] == "setoption" and "complaint" in arguments:
        say(f"info string {arguments['complaint']}")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "ucinewgame" and "game" in arguments:
        chance.seed(int(arguments["game"]))
    elif words[0] == "position":
        end = words.index("moves") if "moves" in words else len(words)
        board = chess.Board(" ".join(words[2:end]), chess960=board.chess960)
        for move in words[end + 1 :]:
            board.push_uci(move)
    elif line.startswith("setoption name UCI_Chess960 value true"):
        board = chess.Board(chess960=True)
    elif words[0] == "go":
        asked += 1
        action = arguments.get("do", "") if arguments.get("at", "1") in ("every", str(asked)) else ""
        if action == "crash":
            print("Traceback\nOops: broken", file=sys.stderr, flush=True)
            sys.exit(3)
        if action == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "silent":
            time.sleep(3600)
        move = board.uci(chance.choice(sorted(board.legal_moves, key=str)))
        score = arguments.get("score", "cp 20")
        if "early" in arguments:
            say(f"info depth 1 nodes 10 score {score} pv {arguments['early']}")
        if score != "none":
            say(f"info depth 1 nodes 20 score {score} pv {arguments.get('pv', move)}")
        say("bestmove " + {"illegal": "a1a1", "none": "(none)"}.get(action, move))
    elif words[0] == "quit":
        break
