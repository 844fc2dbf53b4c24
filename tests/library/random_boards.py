"""Boards of random games for the library's tests."""

import random
from collections.abc import Iterator

import chess

STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
)


def random_boards(seed: int, count: int, chess960: bool = False) -> list[chess.Board]:
    """Give boards of random games, which are not over, with the moves that led to them."""
    return list(_boards(random.Random(seed), count, chess960))


def _boards(chance: random.Random, count: int, chess960: bool) -> Iterator[chess.Board]:
    while count:
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board(chance.choice(STARTS))
        for _ in range(chance.randrange(80)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(chance.choice(moves))
        if any(board.legal_moves):
            count -= 1
            yield board
