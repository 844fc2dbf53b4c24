"""Makes games for the explorer's benchmark: hundreds per second, with ratings, dates, time controls and players.

A game begins with an opening and continues with random moves, a few of which are played much more often in each
position. Nine more games are derived from each game by inserting two moves early in the game; the core replays the
game, and moves that are no longer legal are left out. So games share openings and then diverge, as people's games do.
Moves of pieces are written with both squares, which PGN allows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder import pack
from knightadder.cli import exit_status
from knightadder.core.api.playing import play_all
from knightadder.core.board.moves import new_move
from knightadder.engine.game import Game
from knightadder.library.loading import load_core
from knightadder.opening_names import named_lines
from knightadder.pgn.bulk import tables
from knightadder.pgn.game_records import squares_of

COPIES = 9  # number of games derived from each game
LENGTH = 170  # plies of most games; the other games are about half as long
SPREAD = 0.9  # spread of random moves: the smaller, the more different moves are played in a position
CONTROLS = ("60+0", "120+1", "180+0", "180+2", "300+3", "600+0", "600+5", "900+10", "1800+0", "1/86400")
EVENTS = ("Rated Bullet game", "Rated Blitz game", "Rated Rapid game", "Open", "League")
RESULTS = ("1-0", "1/2-1/2", "0-1")


class Moves(NamedTuple):
    """The moves of a game as the core plays them, and their texts."""

    squares: list[int]
    texts: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, metavar="GAMES.pgn")
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    begin = process_time()
    write(arguments.file, arguments.games, arguments.seed)
    print(f"{arguments.games} games in {process_time() - begin:.0f} s of the processor")
    return 0


def write(file: Path, games: int, seed: int = 1) -> None:
    """Write `games` games to a file; the same seed makes the same games."""
    random = Random(seed)
    with file.open("w", encoding="utf-8") as stream:
        for number, texts in zip(range(1, games + 1), lines(random), strict=False):
            stream.write(pgn(number, texts, random, games))


def lines(random: Random) -> Iterator[list[str]]:
    """Yield the texts of the moves of endless games."""
    load_core()
    game = Game(tables())
    start = pack([chess.STARTING_FEN])
    while True:
        base = played(game, start, random)
        yield base.texts
        for _ in range(COPIES):
            yield copied(game, start, base, random).texts


def played(game: Game, start: NDArray[np.void], random: Random) -> Moves:
    """Play an opening, and random moves after it."""
    squares = openings()[min(int(random.expovariate(1 / 250)), len(openings()) - 1)]
    moves = Moves([], [])
    board = start_board()
    for move in squares:
        append(moves, board, move)
    game.set_up_packed(start, 0, np.array(squares, np.int64))
    length = max(12, round(random.gauss(LENGTH, 25)))
    while len(moves.squares) < length and (legal := game.legal_moves()):
        first = hash((len(legal), sum(legal))) % len(legal)
        code = legal[(first + int(random.expovariate(SPREAD))) % len(legal)]
        append(moves, board, int(squares_of(np.array([code], np.uint16))[0]))
        game.push(code)
    return moves


def copied(game: Game, start: NDArray[np.void], base: Moves, random: Random) -> Moves:
    """Return a copy of a game with two moves inserted early, without the moves that are then illegal."""
    at = 2 * random.randint(3, 9)
    head = base.squares[:at]
    more: list[int] = []
    for _ in range(2):
        game.set_up_packed(start, 0, np.array(head + more, np.int64))
        legal = game.legal_moves()
        if not legal:
            return base
        more.append(int(squares_of(np.array([random.choice(legal)], np.uint16))[0]))
    squares, rest = head + more, np.array(base.squares[at:], np.int64)
    game.set_up_packed(start, 0, np.array(squares, np.int64))
    while len(rest):
        length = play_all(tables(), game.record, rest)
        squares += rest[:length].tolist()
        rest = rest[length + 2 :]  # two plies, so that the same side is to move
    board = start_board()
    moves = Moves([], [])
    for move in squares:
        append(moves, board, move)
    return moves


def append(moves: Moves, board: list[str], move: int) -> None:
    """Add a move, and make it on a board of letters; en passant leaves the captured pawn, which changes no text."""
    source, target, promotion = move & 63, move >> 6 & 63, move >> 12
    piece, name = board[source], chess.SQUARE_NAMES[target]
    board[target], board[source] = piece, ""
    if piece == "P":
        text = name if source & 7 == target & 7 else f"{chess.FILE_NAMES[source & 7]}x{name}"
    else:
        text = piece + chess.SQUARE_NAMES[source] + name
    if piece == "K" and abs((source & 7) - (target & 7)) > 1:
        right = target > source
        text = "O-O" if right else "O-O-O"
        rank = source & 56
        board[target] = board[rank | (7 if right else 0)] = ""
        board[rank | (6 if right else 2)], board[rank | (5 if right else 3)] = "K", "R"
    if promotion:
        board[target] = " PNBRQ"[promotion]
        text += f"={board[target]}"
    moves.squares.append(move)
    moves.texts.append(text)


def start_board() -> list[str]:
    """Return the letters of the pieces on the squares, uppercase for both sides."""
    return [*"RNBQKBNR", *"P" * 8, *[""] * 32, *"P" * 8, *"RNBQKBNR"]


@cache
def openings() -> list[list[int]]:
    """Return the moves of all named openings, the shortest first."""
    found = []
    for _, text in named_lines():
        board = chess.Board()
        moves = [board.push_san(word) for word in text.split() if not word[0].isdigit()]
        found.append([new_move(move.from_square, move.to_square, 0) for move in moves])
    return sorted(found, key=len)


def pgn(number: int, texts: list[str], random: Random, games: int) -> str:
    """Return a game as PGN, with the tags of a server's games."""
    white, black = (int(random.random() ** 2 * (games // 8 + 2)) for _ in range(2))
    elos = [max(600, round(random.gauss(1700 + player % 700, 120))) for player in (white, black)]
    result = random.choices(RESULTS, (48, 6, 46))[0]
    date = f"{random.randint(2013, 2025)}.{random.randint(1, 12):02}.{random.randint(1, 28):02}"
    tags = {
        "Event": random.choice(EVENTS),
        "Site": f"https://example.org/{number:08x}",
        "Date": date,
        "Round": "-",
        "White": f"player{white}",
        "Black": f"player{black}",
        "Result": result,
        "UTCTime": f"{number % 24:02}:{number % 60:02}:{number % 59:02}",
        "WhiteElo": elos[0],
        "BlackElo": elos[1],
        "TimeControl": random.choice(CONTROLS),
        "Termination": "Normal",
    }
    head = "".join(f'[{name} "{value}"]\n' for name, value in tags.items())
    words = [text if ply % 2 else f"{ply // 2 + 1}. {text}" for ply, text in enumerate(texts)]
    return f"{head}\n{' '.join(words)} {result}\n\n"


if __name__ == "__main__":
    sys.exit(exit_status("made_games", main))
