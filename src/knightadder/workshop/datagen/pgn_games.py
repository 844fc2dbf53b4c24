"""Games of PGN files as data: matches search far more nodes per move than ``knightadder datagen``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import chess
import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.packing import pack_fen
from knightadder.core.board.packed import DRAW, LOSS, WIN
from knightadder.core.board.viriformat import NO_SCORE
from knightadder.core.tables import new_tables
from knightadder.digests import content_digest
from knightadder.pgn.games import PgnGame, result_of, sound_games
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.scored_games import played_out, score_in

#: The settings of a folder that holds games of PGN files.
SETTINGS = {"source": "pgn"}

_MATE = 32_000  # mate score as in the core
_MOST = 30_000  # centipawns; greater scores are mates in some engines' own encoding
_RESULTS = {"1-0": WIN, "1/2-1/2": DRAW, "0-1": LOSS}


@dataclass(slots=True)
class AddedGames:
    """Counts for a file: games and moves added, and games left out."""

    games: int = 0
    moves: int = 0
    left_out: int = 0


def add_file(parts: Parts, file: Path) -> AddedGames | None:
    """Add the games of a PGN file as one chunk and return the counts; None if the games have been added already.

    Games that are unfinished, unreadable, lost by a fault or without scores are left out. A game begins with its first
    move that has a score. OptionError if the file cannot be read or the folder cannot be written.
    """
    source = f"pgn-{content_digest(file)[:12]}"
    if any(chunk.engine == source for chunk in parts.chunks.values()):
        return None
    converter, counts = Converter(), AddedGames()
    games = []
    for game in sound_games(file):
        words = None if game is None else converter.convert(game)
        if words is None:
            counts.left_out += 1
        else:
            games.append(words)
    if games:
        chunk = parts.save(next(parts.missing()), np.concatenate(games), len(games), source)
        parts.add(chunk)
        counts.games, counts.moves = chunk.games, chunk.moves
    return counts


class Converter:
    """Converts games to viriformat."""

    def __init__(self) -> None:
        self._tables = new_tables()

    def convert(self, game: PgnGame) -> NDArray[np.uint32] | None:
        """Return a game in viriformat; None if it has to be left out, see `add_file`."""
        result = _RESULTS.get(result_of(game))
        if result is None or not played_out(game.headers) or not all(game.mainline_moves()):  # a null move is no move
            return None
        board = game.board()
        header, moves = None, []
        for node in game.mainline():
            score = _score(node.comment, board.turn)
            if header is None and score != NO_SCORE:
                header = pack_fen(self._tables, board.fen(en_passant="legal"), 0, result).view(np.uint32)
            if header is not None:
                moves.append(_encode(board, node.move) | (score & 0xFFFF) << 16)
            board.push(node.move)
        return None if header is None else np.array([*header, *moves, 0], np.uint32)


def _score(comment: str, white: bool) -> int:
    """Return the score in a move's comment, from White's view; `NO_SCORE` if there is none."""
    score = score_in(comment)
    if score is None:
        return int(NO_SCORE)
    if score.mate is None:
        value = max(-_MOST, min(_MOST, score.cp or 0))
    else:
        value = _MATE + 1 - 2 * score.mate if score.mate > 0 else -_MATE - 2 * score.mate
    return value if white else -value


def _encode(board: chess.Board, move: chess.Move) -> int:
    """Return a move in the encoding of ``core/board/viriformat.py``."""
    target, special = move.to_square, 0
    if move.promotion:
        special = 12 | move.promotion - chess.KNIGHT
    elif board.is_en_passant(move):
        special = 4
    elif board.is_castling(move):
        special = 8
        rooks = board.clean_castling_rights() & (chess.BB_RANK_1 if board.turn else chess.BB_RANK_8)
        target = chess.msb(rooks) if board.is_kingside_castling(move) else chess.lsb(rooks)
    return move.from_square | target << 6 | special << 12
