"""Random files of games: written by python-chess with all that it can write, then spaced oddly, and damaged."""

from __future__ import annotations

from random import Random

import chess
import chess.engine
import chess.pgn

from tests.random_games import random_game

_WORDS = ("so", "Ünkle [x] (1-0)", "1. e4", "$5 !?", "two\nlines", " spaced ", "[%csl Ga1]", "½ — ♘", "a; b")
_DAMAGE = (
    "",
    "",
    "\n",
    "\n\n",
    " ",
    "  ",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ";",
    "%",
    "*",
    "1-0",
    "$3",
    "!",
    "0",
    "x",
)
_MORE_DAMAGE = (
    "e4",
    "N",
    "O-O",
    "--",
    "1.",
    "2...",
    "\r",
    "\t",
    "é",
    "\u00a0",
    "\ufeff",
    "=",
    "+",
    "½",
    "…",
    '[Event "',
)
_BETWEEN = (b"\n\n", b"\n\n", b"\n\n", b"\n\n", b"\n", b"\n\n\n\n", b" \n\n", b"\n \n", b"\r\n\r\n", b" ")


def annotated_game(number: int, random: Random, plies: int = 40) -> chess.pgn.Game:
    """Return a random game; most of these have comments, clocks, evaluations, signs and variations."""
    game = random_game(number, random, random.randrange(plies))
    if random.random() < 0.2:
        return game
    _decorate(game, random, depth=0)
    if random.random() < 0.2:
        game.headers[random.choice(("White", "Opening", "Annotator"))] = random.choice(("Müller", "?", "", "a [b] (c)"))
    return game


def _decorate(node: chess.pgn.GameNode, random: Random, depth: int) -> None:
    while True:
        chance = random.random()
        if chance < 0.1:
            node.comment = random.choice(_WORDS)
        if isinstance(node, chess.pgn.ChildNode):
            if chance < 0.4:
                node.set_clock(random.choice((random.randrange(9000), random.randrange(900_000) / 100, 0)))
            if 0.2 < chance < 0.5:
                moves = random.choice((-30, -2, -1, 1, 2, 499))
                score = random.choice((chess.engine.Cp(random.randrange(-2000, 2000)), chess.engine.Mate(moves)))
                node.set_eval(chess.engine.PovScore(score, chess.WHITE), random.choice((None, 20)))
            if chance > 0.9:
                node.nags.update(random.sample(range(1, 140), random.randint(1, 2)))
        if not node.variations:
            return
        legal = list(node.board().legal_moves)
        if chance > 0.85 and depth < 3 and len(legal) > 1:
            other = random.choice(legal)
            if not node.has_variation(other):
                child: chess.pgn.GameNode = node.add_variation(other, starting_comment=random.choice(("", "", "or")))
                for _ in range(random.randrange(4)):
                    if legal := list(child.board().legal_moves):
                        child = child.add_variation(random.choice(legal))
                _decorate(node.variations[-1], random, depth + 1)
        node = node.variations[0]


def written(game: chess.pgn.Game, random: Random) -> str:
    """Write a game, with lines of any length."""
    exporter = chess.pgn.StringExporter(columns=random.choice((None, 80, 30)))
    return game.accept(exporter)


def spaced(text: str, random: Random) -> str:
    """Change the white space and the signs of a game's moves in ways that mean the same."""
    tags, empty, moves = text.rpartition("]\n\n")
    for old, new in (
        (". ", "."),
        (" ", "  "),
        (" ", "\t"),
        (" {", "{"),
        ("} ", "}"),
        (" $1 ", "! "),
        (" $6 ", "?! "),
        (" (", "("),
    ):
        if random.random() < 0.15:
            moves = moves.replace(old, new)
    text = tags + empty + moves
    return text.replace("\n", "\r\n") if random.random() < 0.1 else text


def damaged(text: str, random: Random) -> str:
    """Replace some characters of a text at random."""
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        at = random.randrange(len(text))
        end = at + random.choice((0, 0, 1, 1, 2, 30))
        text = text[:at] + random.choice(_DAMAGE + _MORE_DAMAGE) + text[end:]
    return text


def random_file(random: Random, games: int, damage: float = 0.3, odd: bool = True) -> bytes:
    """Return a file of random games, some of them damaged.

    With `odd`, white space is not always where programs put it, and some games are in Windows-1252 instead of UTF-8.
    """
    parts = []
    for number in range(games):
        text = written(annotated_game(number, random), random)
        if odd:
            text = spaced(text, random)
        if random.random() < damage:
            text = damaged(text, random)
        parts.append(text.encode("cp1252" if odd and random.random() < 0.1 else "utf-8", "ignore"))
        parts.append(random.choice(_BETWEEN) if odd else b"\n\n")
    return b"".join(parts)
