"""Repertoires from PGN files with variations, and the positions in which games leave a repertoire."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import chess
import chess.pgn

from knightadder.drills.drill import Drill, position_key, shown_line
from knightadder.opening_names import opening_at
from knightadder.pgn.game_records import GameRecord
from knightadder.pgn.games import sound_games
from knightadder.rules import POINTS
from knightadder.text import one_line, plain_name

_BAD = {chess.pgn.NAG_MISTAKE, chess.pgn.NAG_BLUNDER, chess.pgn.NAG_DUBIOUS_MOVE}
_COMMAND = re.compile(r"\[%[^\]]*\]")


def read_repertoire(files: Iterable[tuple[str, Path]], white: bool) -> list[Drill]:
    """Return a drill for each position of a side's repertoire, with all the side's moves that the files contain there.
    Each file comes with its name for the user.

    Moves of the side marked ``?``, ``??`` or ``?!`` are not part of the repertoire. A line ends before a null move.
    Broken games are reported and left out. OptionError if a file cannot be read.
    """
    found: dict[str, Drill] = {}
    for name, file in files:
        for game in filter(None, sound_games(file, name)):
            for key, drill in _drills(game, white):
                known = found.setdefault(key, drill)
                [line] = drill.good
                if line[0] == known.good[0][0]:
                    found[key] = replace(known, comment=known.comment or drill.comment)
                elif all(line[0] != other[0] for other in known.good):
                    found[key] = replace(known, good=(*known.good, line))
    return list(found.values())


def _drills(game: chess.pgn.Game, white: bool) -> Iterator[tuple[str, Drill]]:
    """Yield a drill for each move of the side in a game with its variations, the main line first."""
    root = game.board()
    start = opening_at(root)
    nameless = "Start position" if root.fen() == chess.STARTING_FEN else "From a set-up position"
    # Nodes with their boards, the moves before them, and their openings. A node itself finds its board only by playing
    # all moves before it.
    nodes: list[tuple[chess.pgn.GameNode, chess.Board, str, str]] = [(game, root, "", start.name if start else "")]
    while nodes:
        node, board, before, opening = nodes.pop()
        children = [child for child in node.variations if child.move]
        if board.turn == white:
            children = [child for child in children if not child.nags & _BAD]
            for child in children:
                drill = Drill(
                    "repertoire",
                    board.fen(),
                    (shown_line(board, chain([child.move], child.mainline_moves())),),
                    "Repertoire",
                    opening.partition(":")[0] or nameless,
                    board.chess960,
                    before=before,
                    comment=one_line(_COMMAND.sub("", child.comment), 1000),
                )
                yield position_key(board), drill
        for child in reversed(children):
            after = board.copy(stack=False)
            after.push(child.move)
            named = opening_at(after)
            san = board.san(child.move) if before and not board.turn else board.variation_san([child.move])
            nodes.append((child, after, f"{before} {san}".lstrip(), named.name if named else opening))


# --- games ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Departure:
    """A position in which games left a repertoire."""

    before: str  # moves to the position, in the first of the games
    own: bool  # whether the player left the repertoire; else the opponents played a move that it does not answer
    wanted: tuple[str, ...]  # moves of the repertoire
    played: Counter[str] = field(default_factory=Counter)  # moves played, with the number of games
    points: list[float] = field(default_factory=list)  # the player's scores in the games with a result

    @property
    def games(self) -> int:
        """Number of games."""
        return self.played.total()


def departures(
    games: Iterable[GameRecord], names: Sequence[str], repertoires: Mapping[bool, Mapping[str, Sequence[str]]]
) -> tuple[int, list[Departure]]:
    """Return how many games reached a position of a repertoire, and the departures, the most frequent first.
    `names` are all spellings of the player's name. `repertoires` contains UCI moves by colour and `position_key`.
    """
    wanted = {plain_name(name) for name in names}
    found: dict[tuple[bool, str], Departure] = {}
    reached = 0
    for game in games:
        for white, tag in ((True, "White"), (False, "Black")):
            if plain_name(game.tags.get(tag, "")) in wanted and (repertoire := repertoires.get(white)):
                left = _leave(game, white, repertoire)
                if left is None:
                    continue
                reached += 1
                key, departure, played = left
                if played:
                    kept = found.setdefault((departure.own, key), departure)
                    kept.played[played] += 1
                    scored = POINTS.get(game.result)
                    if scored is not None:
                        kept.points.append(scored if white else 1 - scored)
    return reached, sorted(found.values(), key=lambda each: (-each.games, each.before))


def _leave(game: GameRecord, white: bool, repertoire: Mapping[str, Sequence[str]]) -> tuple[str, Departure, str] | None:
    """Find where a game finally leaves a repertoire; return the position's key, the departure, and the move played.
    None if the game never reached the repertoire. The move is empty if the game ended within the repertoire.
    """
    board, reached = game.board(), False
    inside = board.turn != white and _answers_a_move(board, repertoire)  # if the opponent begins
    # The position, the move played there, and the moves of the repertoire if the player left it.
    left: tuple[chess.Board, chess.Move, Sequence[str] | None] | None = None
    for move in game.moves:
        if board.turn == white:
            moves = repertoire.get(position_key(board))
            if moves is not None:
                reached, inside = True, board.uci(move) in moves
                left = None if inside else (board.copy(), move, moves)
            elif inside and board.move_stack:
                reached, inside = True, False
                past = board.copy()
                left = (past, past.pop(), None)
        board.push(move)
    if left is None:
        return ("", Departure("", False, ()), "") if reached else None
    position, played, wanted = left
    sans = tuple(position.san(position.parse_uci(each)) for each in wanted or ())
    before = position.root().variation_san(position.move_stack) if position.move_stack else "the start"
    return position_key(position), Departure(before, wanted is not None, sans), position.san(played)


def _answers_a_move(board: chess.Board, repertoire: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a repertoire has an answer to a move in a position."""
    for move in board.legal_moves:
        after = board.copy(stack=False)
        after.push(move)
        if position_key(after) in repertoire:
            return True
    return False
