"""Reads files of games in Portable Game Notation (PGN): the careful reader, which knows the forms that people write.

`read_texts` finds the start and end of each game and keeps its text, so that broken games can be copied unchanged.
Where possible, the quick reader (`bulk`) does this, with the same result. `read_game` reads the valid part of a game
and records each error. `parse` refuses a game with an error.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

import chess
import chess.pgn

from knightadder.core.board.fen import FenError
from knightadder.pgn.bulk import GameBlock, blocks_in, read_blocks
from knightadder.pgn.splitting import REMARKS
from knightadder.pgn.splitting import GameText as GameText
from knightadder.pgn.tokens import Token, TokenType, escaped, tokens
from knightadder.rules import POINTS, read_fen
from knightadder.text import tell

_SHOWN = 200  # maximum length of an error's text
# Some programs write these tags into each game, without a value for a usual game.
START_TAGS = ("FEN", "Variant")
_MOVETEXT = {
    TokenType.OPEN,
    TokenType.CLOSE,
    TokenType.RESULT,
    TokenType.MOVE,
    TokenType.NUMBER,
    TokenType.BLACK_NUMBER,
    TokenType.NAG,
    TokenType.MARK,
}
_CHESS = {TokenType.TAG, TokenType.BAD_TAG, TokenType.MOVE, TokenType.NUMBER, TokenType.BLACK_NUMBER}


def known_value(text: str) -> str:
    """Return the value of a tag; empty if it is unknown, as in ``?``, ``-`` and ``????.??.??``."""
    value = text.strip()
    return value if value.strip("?.-") else ""


class BrokenGame(ValueError):
    """Raised if a game cannot be used; the text gives the reason in a few words."""


class PgnGame(chess.pgn.Game):
    """A game with additional data from its file."""

    def __init__(self) -> None:
        super().__init__()
        self.marker: str | None = None  # the result at the end of the moves, which may differ from the tag
        self.notes: list[str] = []  # the changes that were needed to read the game


class GameBuilder(chess.pgn.GameBuilder[PgnGame]):
    """Builds the game that `read_game` reads. A subclass may raise an error to refuse a game that is too large."""

    def __init__(self) -> None:
        super().__init__(Game=PgnGame)
        self.begin_game()
        self._has_result = False

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        """Keep a tag."""
        super().visit_header(tagname, tagvalue)
        self._has_result = self._has_result or tagname == "Result"

    def visit_result(self, result: str) -> None:
        """Store the result at the end of the moves. If the tag Result is missing, it gets this result."""
        self.game.marker = result
        if not self._has_result:
            self.game.headers["Result"] = result


def read_texts(file: Path) -> Iterator[GameText]:
    """Read the texts of the games of a file; OptionError if the file cannot be read.

    A game ends with its result. If the result is missing, it ends before the next tags, or at an empty line that is
    followed by move 1. So other empty lines within the moves do not end a game, and a comment without an end spoils
    only one game.
    """
    return _texts(read_blocks(file))


def texts_of(content: bytes) -> Iterator[GameText]:
    """Read decompressed content game by game; UnicodeError if it begins like UTF-16 but is not."""
    return _texts(blocks_in(io.BytesIO(content)))


def _texts(found: Iterable[GameBlock | GameText]) -> Iterator[GameText]:
    for each in found:
        if isinstance(each, GameBlock):
            yield from map(each.game_text, range(len(each.games)))
        else:
            yield each


def read_games(file: Path) -> Iterator[tuple[GameText, PgnGame | BrokenGame]]:
    """Yield the text of each game of a file, with the game or the error of `parse`; text between games is left out."""
    for text in read_texts(file):
        try:
            game = parse(text)
        except BrokenGame as fault:
            yield text, fault
        else:
            if game is not None:
                yield text, game


def parse(text: GameText, moveless: bool = False) -> PgnGame | None:
    """Parse a game; None if the text is only text between games. `moveless` accepts a game without moves.

    Comments to the end of a line become comments in braces, and glyphs such as ± become their numbers. BrokenGame if
    the game or its annotations are broken, if it has no moves, or if it is not chess.
    """
    game = read_game(text)
    if game is None:
        return None
    if game.errors:
        raise game.errors[0]
    if game.next() is None and not moveless:
        raise BrokenGame("no moves")
    return game


def read_game(text: GameText, builder: GameBuilder | None = None) -> PgnGame | None:
    """Read the valid part of a game, and its errors; None if the text is only text between games.
    After an error, the rest of the line is left out. BrokenGame if it is not chess, or begins in an illegal position.
    """
    reading = _Reading(builder or GameBuilder())
    for _, found in _lines_of(text):
        for token in found:
            reading.add(token)
    return reading.end()


def sound_games(file: Path, name: str | None = None) -> Iterator[PgnGame | None]:
    """Read the games of a file for a command; report broken games, and changes that were needed to read a game.
    A broken game is yielded as None. `name` is the file's name for the user. OptionError if the file cannot be read.
    """
    for text, game in read_games(file):
        if isinstance(game, BrokenGame):
            tell_left_out(name or file, text, game)
            yield None
        else:
            tell_notes(name or file, text, game.notes)
            yield game


def tell_notes(file: object, text: GameText, notes: Iterable[str]) -> None:
    """Report the changes that were needed to read a game."""
    for note in notes:
        tell(f"{text.place(file)}: {note}")


def tell_left_out(file: object, text: GameText, why: object) -> None:
    """Report on standard error that a game of a file is left out. All commands use the same words."""
    tell(f"{text.place(file)}, is left out: {why}")


def moves_of(game: chess.pgn.Game) -> list[chess.Move]:
    """Return the moves of the main line of a game, up to the first null move, which is not a legal move."""
    return list(takewhile(bool, game.mainline_moves()))


def result_of(game: PgnGame) -> str:
    """Return the result from the tag or the end of the moves; ``*`` if it is unknown or they contradict each other."""
    results = {result for result in (game.headers.get("Result"), game.marker) if result in POINTS}
    return results.pop() if len(results) == 1 else "*"


def text_of(game: chess.pgn.Game, columns: int | None = 80) -> str:
    """Return a game in Portable Game Notation, without an empty line at its end; `columns` is None for no wrapping.
    The moves end with their original result, or else with the result of the tag, which is not changed.
    """
    marker = game.marker if isinstance(game, PgnGame) else None
    tag = game.headers.get("Result")
    return game.accept(_Exporter(marker or (tag if tag in POINTS else None) or "*", columns))


def remarks(text: GameText) -> str:
    """Return the escaped lines of a game, and the comments to the end of a line before it, each with its end."""
    result = ""
    begun = False
    for _, found in _lines_of(text):
        for token in found:
            begun = begun or token.kind not in REMARKS
            if token.kind is TokenType.ESCAPE:
                result += token.text.rstrip("\n") + "\n"
            elif token.kind is TokenType.REMARK and not begun:
                result += f"; {token.text}\n"
    return result


def headers_of(text: GameText) -> chess.pgn.Headers | None:
    """Read a game's headers, even if the game is broken; None if the text is only text between games."""
    tags = tags_of(text)
    return None if tags is None else chess.pgn.Headers({**chess.pgn.Headers(), **tags})


def tags_of(text: GameText) -> dict[str, str] | None:
    """Read the tags of a game, even if it is broken; None if the text is only text between games."""
    tags, empty = dict[str, str](), True
    for _, found in _lines_of(text):
        for token in found:
            if token.kind is TokenType.TAG:
                tags[token.name] = token.text
            empty = empty and token.kind in REMARKS
            if token.kind in (TokenType.MOVE, TokenType.NUMBER):
                return tags
    return None if empty else tags


def is_prose(text: GameText) -> bool:
    """Return whether a text has no tag, no move and no move number."""
    return not any(token.kind in _CHESS for _, found in _lines_of(text) for token in found)


def _lines_of(text: GameText) -> Iterator[tuple[str, list[Token]]]:
    return tokens(io.StringIO(text.text, newline="\n"), text.line)


# --- the content of a game -----------------------------------------------------------------------------------------


class _Line:
    """The main line or a variation that is being read."""

    def __init__(self, board: chess.Board, begun: int) -> None:
        self.board = board
        self.begun = begun  # number of the line of the file in which it begins
        self.moved = False
        self.broken = False


class _Reading:
    """Reads the tokens of a game into a builder."""

    def __init__(self, builder: GameBuilder) -> None:
        self._builder = builder
        self._game = builder.game
        self._lines: list[_Line] = []
        self._skipped = 0  # number of open variations in a broken line
        self._empty = True
        self._last_number = 0
        self._gap = 0  # number of an empty line in the moves, until a move number follows; else 0
        self._result: str | None = None

    def add(self, token: Token) -> None:
        """Read a token; BrokenGame if the moves begin and the game is not chess."""
        kind = token.kind
        self._empty = self._empty and kind in REMARKS
        if kind is TokenType.TAG:
            if self._lines:
                self._fail(f"the tag {token.name:.40} stands among the moves, in line {token.line}", stop=True)
            elif token.name not in START_TAGS or known_value(token.text):
                self._builder.visit_header(token.name, token.text)
        elif kind is TokenType.BAD_TAG:
            self._fail(f"malformed header: {token.text:.60}")
        elif kind is TokenType.EMPTY_LINE:
            if self._lines and self._lines[0].moved and self._result is None:
                self._gap = self._gap or token.line
        elif kind is TokenType.COMMENT or kind is TokenType.REMARK:
            if kind is TokenType.COMMENT or not self._empty:  # a remark before the tags is not part of the game
                self._comment(token.text if kind is TokenType.COMMENT else token.text.replace("}", ")"))
        elif kind is TokenType.UNCLOSED:
            self._fail(f"the comment that begins in line {token.text} has no closing brace")
        elif kind is TokenType.WORD:
            self._begin()
            # The word may be a move that cannot be read; the position after it is then unknown.
            stop = token.text[0] != "$" and any(letter.isalnum() for letter in token.text)
            self._fail(f"cannot read {token.text[:40]!r} in line {token.line}", stop)
        elif kind in _MOVETEXT:
            self._begin()
            self._add_movetext(token)

    def end(self) -> PgnGame | None:
        if self._empty:
            return None
        self._begin()
        if len(self._lines) > 1 or self._skipped:
            self._fail(f"the variation that begins in line {self._lines[-1].begun} has no end")
        return self._game

    def _begin(self) -> None:
        if self._lines:
            return
        headers = self._game.headers
        try:
            variant = headers.variant()
            if variant is not chess.Board:
                raise BrokenGame(f"{variant.uci_variant} is not supported")
            board = chess.Board(chess960=headers.is_chess960())
            if "FEN" in headers:
                board, notes = read_fen(headers["FEN"], headers.is_chess960())
                if notes:
                    self._game.notes += notes
                    headers["FEN"] = board.fen(en_passant="fen")
        except BrokenGame:
            raise
        except FenError as error:
            raise BrokenGame(str(error)) from None
        except ValueError as error:  # the variant is unknown
            raise BrokenGame(f"{error!s:.{_SHOWN}}") from None
        self._lines.append(_Line(board, 0))

    def _fail(self, text: str, stop: bool = False) -> None:
        """Record an error; with `stop`, the rest of the current line cannot be read."""
        self._game.errors.append(BrokenGame(text[:_SHOWN]))
        if stop and self._lines:
            self._lines[-1].broken = True

    def _comment(self, text: str) -> None:
        if not self._skipped and not (self._lines and self._lines[-1].broken):
            self._builder.visit_comment(text.removeprefix(" ").removesuffix(" "))

    def _add_movetext(self, token: Token) -> None:
        kind, line = token.kind, self._lines[-1]
        if self._skipped:
            self._skipped += (kind is TokenType.OPEN) - (kind is TokenType.CLOSE)
        elif kind is TokenType.OPEN:
            self._open(token)
        elif kind is TokenType.CLOSE:
            if len(self._lines) > 1:
                self._lines.pop()
                self._builder.end_variation()
            else:
                self._fail(f"a closing parenthesis without an opening one, in line {token.line}")
        elif line.broken:
            return
        elif kind is TokenType.RESULT:
            self._end_moves(token)
        elif kind is TokenType.NAG:
            self._builder.visit_nag(int(token.text))
        elif kind is TokenType.MARK:
            self._builder.visit_comment(token.text)
        elif self._result is not None:
            self._fail(f"moves after the result, in line {token.line}", stop=True)
        elif kind is TokenType.MOVE:
            self._play(token)
        elif len(self._lines) == 1:
            self._number(token)

    def _open(self, token: Token) -> None:
        line = self._lines[-1]
        if line.broken:
            self._skipped = 1
        elif not line.moved:
            self._fail(f"a variation without a move before it, in line {token.line}")
        else:
            self._builder.begin_variation()
            board = line.board.copy(stack=1)
            board.pop()
            self._lines.append(_Line(board, token.line))

    def _play(self, token: Token) -> None:
        line = self._lines[-1]
        if self._gap and len(self._lines) == 1 and not self._last_number:
            self._fail(f"the empty line {self._gap} stands among moves without numbers", stop=True)
            return
        try:
            move = line.board.parse_san(token.text)
        except ValueError as error:
            self._fail(str(error), stop=True)
            return
        self._builder.visit_move(line.board, move)
        line.board.push(move)
        line.moved = True

    def _number(self, token: Token) -> None:
        """Check that move numbers continue after an empty line. If not, the empty line may be the end of a game."""
        number = int(token.text) if token.text and len(token.text) < 6 else 0
        if self._gap and number not in (self._last_number, self._last_number + 1):
            self._fail(f"move {self._last_number} before the empty line {self._gap}, but {number} after it", stop=True)
        self._gap = 0
        self._last_number = number

    def _end_moves(self, token: Token) -> None:
        result = token.text
        if len(self._lines) > 1:
            self._builder.visit_comment(result)  # kept as a comment, because a variation has no result
        elif self._result not in (None, result):
            self._fail(f"two results: {self._result} and {result}, in line {token.line}")
        else:
            self._result = result
            self._builder.visit_result(result)


class _Exporter(chess.pgn.StringExporter):
    """Writes a given result after the moves, whatever the tag says, and escapes tag values; python-chess doesn't."""

    def __init__(self, result: str, columns: int | None) -> None:
        super().__init__(columns=columns)
        self._marker = result

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        super().visit_header(tagname, escaped(tagvalue))

    def visit_result(self, result: str) -> None:
        super().visit_result(self._marker)
