"""Helpers of the core's tests: random positions, moves in the core's encoding."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import chess
import numpy as np

from knightadder.core.board import moves, packed
from knightadder.core.evaluation.evaluate import PESTO
from knightadder.core.tables import new_tables
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable

DATA = Path(__file__).parent.parent / "data"

TABLES = new_tables(PESTO)  # which takes less time where the core is interpreted
TABLE = HashTable(1)
NO_LIMIT = (1 << 63) - 1
NEVER = np.zeros(1, np.uint64)  # a stop flag that nobody sets

# Random games from the start position hardly ever promote, castle or capture en passant; these do.
STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/p1p1p1p1/8/1P1P1P1P/1p1p1p1p/8/P1P1P1P1/4K3 w - - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
)


def random_game(board: chess.Board, generator: random.Random, plies: int = 60) -> Iterator[chess.Move]:
    """Play random moves, rare ones and checks more often; yields each move before it is made."""
    for _ in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            return
        if generator.random() < 0.3:
            rare = [
                move
                for move in legal
                if move.promotion or board.is_castling(move) or board.is_en_passant(move) or board.gives_check(move)
            ]
            legal = rare or legal
        move = generator.choice(legal)
        yield move
        board.push(move)


def start_boards(seed: int, chess960: bool) -> Iterator[chess.Board]:
    """Yield positions to start random games from, without end; castling moves are king takes rook in all of them."""
    generator = random.Random(seed)
    number = 0
    while True:
        if chess960:
            yield chess960_start(generator, double=number % 2 == 1)
        else:
            yield chess.Board(STARTS[number % len(STARTS)], chess960=True)
        number += 1


def chess960_start(generator: random.Random, double: bool) -> chess.Board:
    """Give a start position of Chess960, or of double Chess960, in which each side has one of its own."""
    board = chess.Board.from_chess960_pos(generator.randrange(960))
    if double:
        other = chess.Board.from_chess960_pos(generator.randrange(960))
        for square in chess.SquareSet(chess.BB_RANK_8):
            board.set_piece_at(square, other.piece_at(square))
        board.castling_rights = board.castling_rights & chess.BB_RANK_1 | other.castling_rights & chess.BB_RANK_8
    return board


def random_positions(count: int, chess960: bool = False) -> list[chess.Board]:
    """Positions of random games that are not over; a smaller number gives the first of them."""
    pool, more = _pool(chess960)
    pool.extend(islice(more, max(count - len(pool), 0)))
    return [board.copy() for board in pool[:count]]


@cache
def _pool(chess960: bool) -> tuple[list[chess.Board], Iterator[chess.Board]]:
    """Give the positions so far, and more: they take longer to find than most tests to use."""
    return [], _find_positions(chess960)


def _find_positions(chess960: bool) -> Iterator[chess.Board]:
    generator = random.Random(2)
    for board in start_boards(2, chess960):
        for _ in random_game(board, generator):
            # Checks and en passant squares are what goes wrong first.
            telling = board.is_check() or board.has_legal_en_passant()
            if generator.random() < (0.3 if telling else 0.05):
                yield board.copy(stack=False)


def random_placement(pieces: str, generator: random.Random) -> chess.Board:
    """Place kings and some more pieces at random, so that the position is legal."""
    while True:
        board = chess.Board(None)
        for square, piece in zip(generator.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = generator.random() < 0.5
        if board.is_valid():
            return board


def boards_of_table(name: str, count: int, seed: int = 0) -> Iterator[chess.Board]:
    """Yield positions with a table's pieces, either side to move, in both colours."""
    generator = random.Random(f"{name} {seed}")
    white, black = name.split("v")
    for _ in range(count):
        board = random_placement(white + black.lower(), generator)
        yield board if generator.random() < 0.5 else board.mirror()


def encode(board: chess.Board, move: chess.Move) -> int:
    """Give a move of a Chess960 board in the core's encoding."""
    kind = move.promotion or 0
    if board.is_castling(move):
        kind = int(moves.CASTLING)
    elif board.is_en_passant(move):
        kind = int(moves.EN_PASSANT)
    elif board.piece_type_at(move.from_square) == chess.PAWN and abs(move.from_square - move.to_square) == 16:
        kind = int(moves.DOUBLE_PUSH)
    return move.from_square | move.to_square << 6 | kind << 12


def is_noisy(board: chess.Board, move: chess.Move) -> bool:
    """Say whether a move captures or promotes."""
    return board.is_capture(move) or move.promotion is not None


def new_game(board: chess.Board | str | None = None) -> Game:
    """Set up a game whose record is also fit for searching without a limit."""
    game = Game(TABLES)
    set_up(game, board)
    return game


def pack_game(game: Game, score: int = 0, result: int = packed.DRAW) -> np.ndarray:
    """Pack a game's position in plain Python, as an array of one record."""
    records = np.zeros(1, packed.PACKED)
    packed.pack(game.record.stack[0], records[0], game.ply, score, result)
    return records


def set_up(game: Game, board: chess.Board | str | None) -> np.record:
    """Set a game's position, and an empty transposition table, and return its record."""
    game.set_up(board.fen(en_passant="legal") if isinstance(board, chess.Board) else board)
    game.record.node_limit = NO_LIMIT
    game.record.stop_address = NEVER.ctypes.data  # the record may outlive the game
    TABLE.clear()
    game.record.tt_address, game.record.tt_buckets = TABLE.address, TABLE.buckets
    return game.record
