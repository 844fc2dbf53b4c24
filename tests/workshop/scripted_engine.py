"""A UCI engine that says what a JSON file tells it to: for each position (FEN), the lines that answer ``go``.

The line ``die`` ends it, ``hang`` keeps it silent for ever, ``wait`` until it is told to stop, ``meet 2`` until
there are two such engines; ``talk 3`` lets it give lines without a move for three seconds. Its process id and what it
is sent are written to a file with the same name and ``.log``.
"""

import json
import os
import sys
import time

with open(sys.argv[1], encoding="utf-8") as file:
    script = json.load(file)
fen = ""
with open(sys.argv[1] + ".log", "a", encoding="utf-8") as log:
    print(f"process {os.getpid()}", file=log, flush=True)
    for line in sys.stdin:
        print(line.rstrip(), file=log, flush=True)
        words = line.split()
        if words[0] == "uci":
            print("id name Scripted 1.0")
            print("option name Hash type spin default 16 min 1 max 1024")
            print("option name Threads type spin default 1 min 1 max 8")
            print("uciok", flush=True)
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[:2] == ["position", "fen"]:
            fen = " ".join(words[2:8])
        elif words[0] == "go":
            for answer in script[fen]:
                if answer == "die":
                    sys.exit(3)
                if answer == "hang":
                    time.sleep(3600)
                while answer.startswith("meet"):
                    time.sleep(0.01)
                    with open(sys.argv[1] + ".log", encoding="utf-8") as others:
                        if others.read().count("process ") >= int(answer.split()[1]):
                            break
                if answer.startswith("talk"):
                    end = time.monotonic() + float(answer.split()[1])
                    while time.monotonic() < end:
                        print("info depth 1 currmove a1a2", flush=True)
                        time.sleep(0.01)
                    continue
                if answer == "wait":
                    print(sys.stdin.readline().rstrip(), file=log, flush=True)
                    continue
                if not answer.startswith("meet"):
                    print(answer, flush=True)
        elif words[0] == "quit":
            break
