"""Reads PGN from any source: keeps the valid part, and reports an error to the user in one line."""

from __future__ import annotations

import io
from dataclasses import dataclass

import chess
import chess.pgn

from knightadder.pgn.builder import SilentBuilder
from knightadder.pgn.games import GameText, texts_of, unclosed_comment, whole_text
from knightadder.rules import problem_of
from knightadder.web.gametree import MAX_NODES, GameTree
from knightadder.web.messages import MessageError

_MAX_GAMES = 500  # games in a file that the user can choose from
_MAX_ASIDES = 4  # comments and variations allowed per move of the longest game; usual games have fewer
_MAX_NESTING = 100  # levels of variations; python-chess keeps a board with all its moves for each level
_MAX_COPIED = 2_000_000  # moves before all variations, which python-chess copies for each; takes some seconds
_MAX_NAG = 255  # the highest in the PGN standard


@dataclass(frozen=True, slots=True)
class LoadedPgn:
    """A game read from a PGN.

    Attributes
    ----------
    tree : GameTree
        The game.
    titles : list of str
        Titles of all games in the text.
    index : int
        Index of the game that was read.
    problem : str or None
        The first error, which cut the game or a variation short; None if there is none.
    left_out : list of str
        What else of the text is not there, each as a line for the user.
    """

    tree: GameTree
    titles: list[str]
    index: int
    problem: str | None
    left_out: list[str]


def load_pgn(content: bytes, index: int = 0) -> LoadedPgn:
    """Return a game from a PGN.

    Parameters
    ----------
    content : bytes
        The PGN, of one game or several, in any encoding that `pgn.games` reads.
    index : int
        Index of the game, from 0.

    Raises
    ------
    MessageError
        If there is no such game or it is not among the first 500, it is too large or of an unsupported variant, or
        nothing of it can be read.
    """
    games, there_are_more = _games(content)
    if index >= len(games):
        if there_are_more:
            raise MessageError(f"only the first {_MAX_GAMES} games of a PGN can be chosen")
        raise MessageError("this PGN has no game" if not games else f"this PGN has only {len(games)} games")
    text = games[index][0]
    game = _read_game(io.StringIO(whole_text(text)))
    problem = str(game.errors[0]) if game.errors else None
    unclosed = unclosed_comment(text)
    if problem is None and unclosed is not None:
        problem = f"the comment that begins in line {unclosed} has no closing brace"
    try:
        variant = game.headers.variant()
        board = game.board()
    except ValueError as error:
        raise MessageError(f"this game cannot be read: {error}") from None
    if variant is not chess.Board:
        raise MessageError(f"this game is of another variant: {variant.uci_variant}")
    illegal = problem_of(board)
    if illegal:
        raise MessageError(f"the game starts from an illegal position: {illegal}")
    if not game.variations and problem is not None:
        raise MessageError(f"this game cannot be read: {problem}")
    if not game.variations and set(game.headers.values()) <= {"?", "????.??.??", "*"}:
        raise MessageError("this is not PGN: no tags and no moves")
    left_out = []
    if _drop_null_moves(game):
        left_out.append("Null moves cannot be analysed, so their lines end before them")
    if there_are_more and index == 0:  # said when the file is opened, not for each game that is chosen
        left_out.append(f"The PGN has more than {_MAX_GAMES} games; only the first {_MAX_GAMES} can be chosen")
    return LoadedPgn(GameTree(game), [title for _, title in games], index, problem, left_out)


def _games(content: bytes) -> tuple[list[tuple[GameText, str]], bool]:
    """Return the texts of the first games with their titles, and whether there are more than `_MAX_GAMES`."""
    games: list[tuple[GameText, str]] = []
    try:
        for text in texts_of(content):
            headers = chess.pgn.read_headers(io.StringIO(text.text))
            if headers is None:
                continue
            if len(games) == _MAX_GAMES:
                return games, True
            games.append((text, _title(headers)))
    except UnicodeError:
        raise MessageError("this file begins as UTF-16, but is not") from None
    return games, False


def _read_game(source: io.StringIO) -> chess.pgn.Game:
    """Return the game that begins here, with its errors in its list ``errors``."""
    builder = _Builder()
    try:
        chess.pgn.read_game(source, Visitor=lambda: builder)
    except (ValueError, LookupError, AssertionError) as error:  # python-chess does not handle all errors itself
        builder.game.errors.append(ValueError(str(error) or "the text makes no sense"))
    return builder.game


class _Builder(SilentBuilder):
    """Builds a game: drops the rest of a line after an error, and refuses a game that is too large.

    After an error in a variation, python-chess adds the moves that follow the variation to it. So this class skips
    the rest of the line.
    """

    def __init__(self) -> None:
        super().__init__()
        self._broken = [False]  # for each open line: whether it had an error
        self._skipping = False  # inside a variation of a line with an error
        self._move = chess.Move.null()
        self._nodes = 1
        self._plies = 0  # from the start to the last move read, inclusive
        self._asides = 0
        self._copied = 0

    def _count_aside(self) -> None:
        """Count a variation or a comment: each costs time, even if it is dropped."""
        self._asides += 1
        if self._asides > _MAX_ASIDES * MAX_NODES:
            raise MessageError(f"the game has more than {_MAX_ASIDES * MAX_NODES} comments and variations")

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        if self._broken[-1]:
            return chess.pgn.SKIP
        try:
            self._move = board.parse_san(san)
        except ValueError as error:
            self.game.errors.append(error)
            self._broken[-1] = True
            return chess.pgn.SKIP
        return None

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:
        return self._move

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise MessageError(f"the game has more than {MAX_NODES} moves")
        self._plies = len(board.move_stack) + 1
        super().visit_move(board, move)

    def visit_comment(self, comment: str) -> None:
        self._count_aside()
        if not self._broken[-1]:
            super().visit_comment(comment)

    def visit_nag(self, nag: int) -> None:
        if not self._broken[-1] and nag <= _MAX_NAG:
            super().visit_nag(nag)

    def begin_variation(self) -> chess.pgn.SkipType | None:  # type: ignore[override]
        self._count_aside()
        if self._broken[-1]:
            self._skipping = True
            return chess.pgn.SKIP
        self._copied += self._plies
        if self._copied > _MAX_COPIED:
            raise MessageError(f"the game has variations with more than {_MAX_COPIED} moves before them, all in all")
        if len(self._broken) > _MAX_NESTING:
            raise MessageError(f"the game has variations that are nested more than {_MAX_NESTING} deep")
        super().begin_variation()
        self._broken.append(False)
        return None

    def end_variation(self) -> None:
        if self._skipping:
            self._skipping = False
            return
        super().end_variation()
        self._broken.pop()


def _title(headers: chess.pgn.Headers) -> str:
    players = f"{headers.get('White', '?')} - {headers.get('Black', '?')}"
    rest = [headers.get("Result", "*"), headers.get("Event", "?"), headers.get("Date", "?").replace(".??", "")]
    return ", ".join([players, *(part for part in rest if part not in ("?", "*", "????"))])[:120]


def _drop_null_moves(game: chess.pgn.Game) -> bool:
    """Cut lines off at a null move, which annotators write but nobody can analyse; return whether there is one."""
    found = False
    todo: list[chess.pgn.GameNode] = [game]
    while todo:
        node = todo.pop()
        moves = [child for child in node.variations if child.move]
        found = found or len(moves) < len(node.variations)
        node.variations = moves
        todo += moves
    return found
