"""Reads PGN from any source: keeps the valid part, and reports an error to the user in one line."""

from __future__ import annotations

from dataclasses import dataclass

import chess
import chess.pgn

from knightadder.pgn.game_files import UNREADABLE, decompressed
from knightadder.pgn.games import (
    BrokenGame,
    GameBuilder,
    GameText,
    headers_of,
    is_prose,
    known_value,
    read_game,
    texts_of,
)
from knightadder.rules import POINTS
from knightadder.text import counted
from knightadder.web.gametree import MAX_NODES, GameTree
from knightadder.web.messages import MAX_PGN, MessageError

_MAX_GAMES = 500  # maximum number of games offered from a file
_MAX_ASIDES = 4  # maximum number of comments and variations in a game, as a multiple of `MAX_NODES`
_MAX_NESTING = 100  # maximum depth of nested variations
_LONGEST = 120  # maximum length of each value in a title, in characters
_MAX_NAG = 255  # highest glyph number in the PGN standard


@dataclass(frozen=True, slots=True)
class Title:
    """The description of a game in a list of games; unknown names are ``?``, other unknown values are empty."""

    white: str
    black: str
    result: str
    event: str
    date: str


@dataclass(frozen=True, slots=True)
class LoadedPgn:
    """A game read from a PGN, its index, and the titles of all games in the text."""

    tree: GameTree
    titles: list[Title]
    index: int
    problem: str | None  # the first error, which cut the game or a variation short
    left_out: list[str]  # lines for the user about everything else that was not loaded


def load_pgn(content: bytes, index: int = 0) -> LoadedPgn:
    """Return a game, by its index from 0, from a PGN of one or more games, as `pgn.game_files` reads it.
    MessageError if no part of it can be loaded, or if it is not among the first 500 games.
    """
    games, there_are_more = _games(content)
    if index >= len(games):
        if there_are_more:
            raise MessageError(f"only the first {_MAX_GAMES} games of a PGN can be chosen")
        raise MessageError("this PGN has no game" if not games else f"this PGN has only {counted(len(games), 'game')}")
    try:
        game = read_game(games[index][0], _Builder())
    except BrokenGame as error:
        raise MessageError(f"this game cannot be read: {error}") from None
    assert game is not None  # `_games` leaves remarks out
    problem = str(game.errors[0]) if game.errors else None
    if is_prose(games[index][0]):
        raise MessageError("this is not PGN: no tags and no moves")
    if not game.variations and problem is not None:
        raise MessageError(f"this game cannot be read: {problem}")
    left_out = [*game.notes]
    tag, end = game.headers.get("Result", "*"), game.marker or "*"
    if end not in ("*", tag):
        left_out.append(f"The moves end with {end}, but the tag Result says {tag!r:.20}")
        if tag not in POINTS:  # the page writes the tag's result after the moves, so the tag must be a result
            game.headers["Result"] = end
    if _drop_null_moves(game):
        left_out.append("Null moves cannot be analysed, so their lines end before them")
    if there_are_more and index == 0:  # reported when the file is opened, not for each chosen game
        left_out.append(f"The PGN has more than {_MAX_GAMES} games; only the first {_MAX_GAMES} can be chosen")
    return LoadedPgn(GameTree(game), [title for _, title in games], index, problem, left_out)


def _games(content: bytes) -> tuple[list[tuple[GameText, Title]], bool]:
    """Return the texts of the first games with their titles, and whether there are more than `_MAX_GAMES`."""
    games: list[tuple[GameText, Title]] = []
    try:
        for text in texts_of(decompressed(content, max(MAX_PGN, len(content)))):
            headers = headers_of(text)
            if headers is None:
                continue
            if len(games) == _MAX_GAMES:
                return games, True
            games.append((text, _title(headers)))
    except UNREADABLE as error:  # the file is damaged or too large
        raise MessageError(f"this PGN cannot be read: {error}") from None
    return games, False


class _Builder(GameBuilder):
    """Refuses a game that is too large for the board."""

    def __init__(self) -> None:
        super().__init__()
        self._nodes = 1
        self._asides = 0
        self._depth = 0

    def _count_aside(self) -> None:
        self._asides += 1
        if self._asides > _MAX_ASIDES * MAX_NODES:
            raise MessageError(f"the game has more than {_MAX_ASIDES * MAX_NODES} comments and variations")

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise MessageError(f"the game has more than {MAX_NODES} moves")
        super().visit_move(board, move)

    def visit_comment(self, comment: str) -> None:
        self._count_aside()
        super().visit_comment(comment)

    def visit_nag(self, nag: int) -> None:
        if 0 < nag <= _MAX_NAG:  # $0 says nothing
            super().visit_nag(nag)

    def begin_variation(self) -> None:
        self._count_aside()
        self._depth += 1
        if self._depth > _MAX_NESTING:
            raise MessageError(f"the game has variations that are nested more than {_MAX_NESTING} deep")
        super().begin_variation()

    def end_variation(self) -> None:
        self._depth -= 1
        super().end_variation()


def _title(headers: chess.pgn.Headers) -> Title:
    white, black = (headers.get(name, "?")[:_LONGEST] for name in ("White", "Black"))
    result, event, date = (known_value(headers.get(name, ""))[:_LONGEST] for name in ("Result", "Event", "Date"))
    return Title(white, black, result.replace("*", ""), event, date.replace(".??", ""))


def _drop_null_moves(game: chess.pgn.Game) -> bool:
    """Cut each line off at a null move, which cannot be analysed; return whether there was one."""
    found = False
    todo: list[chess.pgn.GameNode] = [game]
    while todo:
        node = todo.pop()
        moves = [child for child in node.variations if child.move]
        found = found or len(moves) < len(node.variations)
        node.variations = moves
        todo += moves
    return found
