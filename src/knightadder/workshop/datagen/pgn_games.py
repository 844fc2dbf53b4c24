"""Training data from PGN files of matches, whose moves were searched far more than those of ``knightadder datagen``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.viriformat import NO_SCORE, encode
from knightadder.digests import content_digest
from knightadder.pgn.game_records import GameRecord, sound_records
from knightadder.rules import POINTS
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.scored_games import played_out, score_in

#: The settings of a folder with games from PGN files.
SETTINGS = {"source": "pgn"}

_MATE = 32_000  # mate score as in the core
_MOST = 30_000  # greatest score in centipawns; some engines encode mates as greater scores


@dataclass(slots=True)
class AddedGames:
    """Counts of one file: games added, moves added, and games left out."""

    games: int = 0
    moves: int = 0
    left_out: int = 0


def add_file(parts: Parts, file: Path, name: str | None = None) -> AddedGames | None:
    """Add the games of a PGN file as one chunk and return the counts; None if the games have been added already.

    Games are left out if they are unfinished, unreadable, lost by a fault or without scores. A game begins with its
    first move that has a score. `name` is the file's name for the user. OptionError if the file cannot be read or the
    folder cannot be written.
    """
    source = f"pgn-{content_digest(file)[:12]}"
    if any(chunk.engine == source for chunk in parts.chunks.values()):
        return None
    counts = AddedGames()
    games = []
    for game in sound_records(file, name):
        words = None if game is None else _convert(game)
        if words is None:
            counts.left_out += 1
        else:
            games.append(words)
    if games:
        chunk = parts.save(next(parts.missing()), np.concatenate(games), len(games), source)
        parts.add(chunk)
        counts.games, counts.moves = chunk.games, chunk.moves
    return counts


def _convert(game: GameRecord) -> NDArray[np.uint32] | None:
    """Return a game in viriformat; None if `add_file` leaves it out."""
    if game.result not in POINTS or not played_out(game.tags) or game.has_null_move:
        return None
    white = game.board().turn
    scores = [_score(comment, (ply % 2 == 0) == white) for ply, comment in enumerate(game.comments[1:])]
    first = next((ply for ply, score in enumerate(scores) if score != NO_SCORE), None)
    if first is None:
        return None
    header = game.positions()[first : first + 1]
    header["score"] = 0
    words = [encode(code, score) for code, score in zip(game.codes[first:].tolist(), scores[first:], strict=True)]
    return np.array([*header.view(np.uint32), *words, 0], np.uint32)


def _score(comment: str, white: bool) -> int:
    """Return the score in a move's comment, from White's view; `NO_SCORE` if there is none."""
    score = score_in(comment)
    if score is None:
        return int(NO_SCORE)
    if score.mate is None:
        value = max(-_MOST, min(_MOST, score.cp or 0))
    else:
        value = _MATE - score.mate_plies if score.mate > 0 else score.mate_plies - _MATE
    return value if white else -value
