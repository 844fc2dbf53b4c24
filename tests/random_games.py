"""Random games as PGN, and what they play in each position, counted without an index."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import chess
import chess.pgn

# Where castling, promotion and capturing en passant are near, and few pieces transpose and repeat often; and Chess960.
STARTS = (
    (chess.STARTING_FEN, False),
    ("r3k2r/1p4p1/8/2P2P2/2p2p2/8/1P4P1/R3K2R w KQkq - 0 1", False),
    ("4k3/1P4P1/8/8/8/8/1p4p1/4K3 w - - 0 1", False),
    ("1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1", True),
    ("8/5k2/8/r3pP1K/8/8/8/8 w - e6 0 1", False),  # the capture en passant is not legal
)


def random_game(number: int, random: Random, plies: int) -> chess.pgn.Game:
    """Return a game with random moves, result, ratings and date, some of them missing."""
    fen, chess960 = random.choice(STARTS)
    board = chess.Board(fen, chess960=chess960)
    while len(board.move_stack) < plies and (legal := list(board.legal_moves)):
        special = [move for move in legal if move.promotion or board.is_castling(move) or board.is_en_passant(move)]
        likely = special if special and random.random() < 0.5 else legal[-3:]  # so that positions come again
        board.push(random.choice(likely))
    game = chess.pgn.Game.from_board(board)
    game.headers["Event"] = f"Game {number}"
    game.headers["Result"] = random.choice(("1-0", "1/2-1/2", "0-1"))
    game.headers["White"], game.headers["Black"] = random.choices(("Anna", "Ben", "Carla"), k=2)
    for name in ("WhiteElo", "BlackElo"):
        if random.random() < 0.7:
            game.headers[name] = str(random.randint(1000, 2800))
    if random.random() < 0.7:
        game.headers["Date"] = f"{random.randint(1900, 2025)}.??.??"
    return game


def count(games: list[chess.pgn.Game], plies: int) -> dict[str, dict[str, list[chess.pgn.Headers]]]:
    """Return the headers of the games by position (EPD) and move (SAN); a game counts by its last move there."""
    found: dict[str, dict[str, list[chess.pgn.Headers]]] = defaultdict(lambda: defaultdict(list))
    for game in games:
        last = {}
        for node in list(game.mainline())[:plies]:
            board = node.parent.board()
            last[board.epd()] = board.san(node.move)
        for epd, san in last.items():
            found[epd][san].append(game.headers)
    return found
