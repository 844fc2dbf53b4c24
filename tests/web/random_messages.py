"""Messages of a page by chance."""

import json

import chess

_FENS = [
    chess.STARTING_FEN,
    "4k3/4P3/8/8/8/8/4p3/4K3 w - - 0 1",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
]
_PGNS = ["1. e4 {a} (1. d4 d5) e5 2. Qh5 Ke7 3. Qxe5#", "1. e4 e4"]


def random_message(chance, moves, node):
    """Give the text of a message.

    Parameters
    ----------
    chance : random.Random
        Chooses.
    moves : list of str
        Moves to choose from, in UCI's notation.
    node : int
        The node that the message is about.
    """
    kind, fields = chance.choice(
        [
            ("play", {"node": node, "move": chance.choice(moves) + chance.choice(["", "q"])}),
            ("play", {"node": node, "move": chance.choice(moves)}),
            ("play_line", {"node": node, "moves": [chance.choice(moves), "e7e5"]}),
            ("go_to", {"node": node}),
            ("delete", {"node": node}),
            ("promote", {"node": node}),
            ("analyse", {"on": chance.random() < 0.7, "lines": chance.randint(1, 5)}),
            ("evaluate", {}),
            ("worths", {"node": node}),
            ("load_fen", {"fen": chance.choice(_FENS)}),
            ("load_pgn", {"pgn": chance.choice(_PGNS)}),
            ("new_game", {"color": "random", "initial": 3600, "start": chance.choice(["chess960", "here"])}),
            ("take_back", {}),
            ("offer_draw", {}),
            ("configure", {"threads": 1, "hash": 16}),
            ("hint", {"node": node}),
            ("draw", {"node": node, "shapes": ["Gd2d4", "Rd4"]}),
            ("resign", {}),
            ("undo", {}),
            ("undo", {}),
            ("redo", {}),
            ("choose_game", {"index": 0}),
        ]
    )
    return json.dumps({"type": kind, **fields})
