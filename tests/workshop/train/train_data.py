"""Helpers of these tests: games of random moves, their positions, and a network's value in plain Python."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import chess
import numpy as np

from knightadder.core.board.packed import PACKED
from knightadder.core.evaluation.evaluate import PESTO
from knightadder.core.evaluation.network_file import Network
from knightadder.core.tables import new_tables
from knightadder.library.arrays import pack
from knightadder.workshop.datagen.parts import Parts

TABLES = new_tables(PESTO)
VALUES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}


def material(board: chess.Board) -> int:
    """Count the material, in centipawns from White's view."""
    return sum(VALUES[man.piece_type] * (1 if man.color else -1) for man in board.piece_map().values())


def boards_of_games(seed: int, count: int) -> list[chess.Board]:
    """Give positions of random games."""
    chance, boards, board = random.Random(seed), [], chess.Board()
    while len(boards) < count:
        moves = list(board.legal_moves)
        if not moves or board.ply() > 120:
            board = chess.Board()
            continue
        board.push(chance.choice(moves))
        boards.append(board.copy(stack=False))
    return boards


def packed(boards: list[chess.Board], seed: int = 1) -> np.ndarray:
    """Pack positions, with their material as scores and results by chance."""
    chance = random.Random(seed)
    records = pack(boards)
    records["score"] = [material(board) for board in boards]
    records["result"] = [chance.randrange(3) for _ in boards]
    return records


def placements(seed: int, count: int) -> np.ndarray:
    """Place men at random, legal or not, and pack that; the score is the material."""
    chance = np.random.default_rng(seed)
    worth = np.array([100, 300, 300, 500, 900, 0, 0, 0])
    records = np.zeros(count, PACKED)
    for record in records:
        codes = np.concatenate([[5, 13], chance.integers(0, 5, chance.integers(0, 20))])
        codes[2:] += 8 * chance.integers(0, 2, len(codes) - 2)
        chance.shuffle(codes)
        squares = chance.choice(64, len(codes), replace=False)
        record["occupied"] = np.bitwise_or.reduce(np.uint64(1) << squares.astype(np.uint64))
        halves = np.zeros(32, np.uint8)
        halves[: len(codes)] = codes
        record["pieces"] = halves[::2] | halves[1::2] << 4
        record["stm_ep"] = 64 | 128 * chance.integers(0, 2)
        record["score"] = (worth[codes & 7] * np.where(codes & 8, -1, 1)).sum()
        record["result"] = 1
    return records


def games_folder(folder: Path, chunks: int, games: int = 20, seed: int = 1) -> Path:
    """Write games of random moves as datagen keeps them; the scores are the material."""
    start = pack([chess.STARTING_FEN]).tobytes()
    chance, parts = random.Random(seed), Parts(folder)
    with parts.open({}):
        for number in range(chunks):
            data = b""
            for _ in range(games):
                board = chess.Board()
                data += start[:30] + bytes([chance.randrange(3), 0])
                for _ in range(60):
                    plain = [
                        move
                        for move in board.legal_moves
                        if not (move.promotion or board.is_castling(move) or board.is_en_passant(move))
                    ]
                    if not plain:
                        break
                    move = chance.choice(plain)
                    data += struct.pack("<Hh", move.from_square | move.to_square << 6, material(board))
                    board.push(move)
                data += bytes(4)
            parts.add(parts.save(number, np.frombuffer(bytearray(data), np.uint32), games))
    return folder


def plain_features(board: chess.Board, side: chess.Color, mirrored: bool, king_buckets: int = 1) -> list[int]:
    """List a side's features, as the description of the file says."""
    king = board.king(side)
    assert king is not None
    first = 0
    if king_buckets == 4:
        name = chess.square_name(king if side == chess.WHITE else chess.square_mirror(king))
        name = "abcddcba"[chess.square_file(king)] + name[1]
        first = 768 * {"a1": 0, "b1": 0, "c1": 1, "d1": 1}.get(name, 2 if name[1] == "2" else 3)
    features = []
    for square, man in board.piece_map().items():
        seen = square if side == chess.WHITE else chess.square_mirror(square)
        if mirrored and chess.square_file(king) >= 4:
            seen = chess.square(7 - chess.square_file(seen), chess.square_rank(seen))
        features.append(first + 384 * (man.color != side) + 64 * (man.piece_type - 1) + seen)
    return features


def plain_value(network: Network, board: chess.Board) -> int:
    """Compute what an engine computes, number by number, in Python's integers."""
    weights, biases, outputs, output_biases = (part.tolist() for part in network.parts())
    bucket = (len(board.piece_map()) - 2) // -(-32 // network.buckets)
    total = 0
    for half, side in enumerate((board.turn, not board.turn)):
        sums = list(biases)
        for feature in plain_features(board, side, network.mirrored, network.king_buckets):
            sums = [one + other for one, other in zip(sums, weights[feature], strict=True)]
        assert all(-(1 << 15) <= number < 1 << 15 for number in sums)
        total += sum(min(max(number, 0), 255) ** 2 * w for number, w in zip(sums, outputs[bucket][half], strict=True))
    return (total // 255 + output_biases[bucket]) * network.scale // (255 * 64)
