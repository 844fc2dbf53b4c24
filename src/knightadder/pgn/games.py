"""Reads PGN files game by game, and keeps each game's text, so that broken games can be copied unchanged."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, TextIO, cast

import chess
import chess.pgn

from knightadder.engine.errors import OptionError
from knightadder.pgn.builder import SilentBuilder
from knightadder.rules import problem_of

_HEADER = re.compile(r'\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"')
_WHOLE_HEADER = re.compile(r'\[([A-Za-z0-9][\w+#=:-]*)\s+".*"\]\s*$')

# The beginnings of lines before the moves: a header, or a remark outside a game.
_BEFORE_MOVES = ("[", "%", ";")

# The byte order mark of UTF-8, decoded as Latin-1.
_BYTE_ORDER_MARK = "ï»¿"


class BrokenGame(Exception):
    """A game cannot be used; the text gives the reason in a few words."""


@dataclass(frozen=True, slots=True)
class GameText:
    """The text of a game in its file.

    Attributes
    ----------
    number, line : int
        The game's number and its first line, both from 1.
    text : str
        The whole text, without empty lines before and after it.
    """

    number: int
    line: int
    text: str


def read_texts(file: Path) -> Iterator[GameText]:
    """Read a file game by game.

    A game ends with an empty line after its moves, as the standard says; also where another game's headers begin, so
    that a comment without an end spoils only one game.

    Parameters
    ----------
    file : Path
        In UTF-8; a game that is not is read as Latin-1, the encoding of the standard. Also UTF-16 with a byte order
        mark. A file whose name ends in ``.gz``, ``.bz2`` or ``.xz`` is decompressed.

    Raises
    ------
    OptionError
        If the file cannot be read.
    """
    if file.is_dir():
        raise OptionError(f"cannot read {file}: it is a folder")
    try:
        with _open(file) as stream:
            yield from _texts(stream)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeError) as error:
        raise OptionError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def read_games(file: Path) -> Iterator[tuple[GameText, chess.pgn.Game | BrokenGame]]:
    """Read and parse the games of a file; remarks outside a game are left out.

    Parameters
    ----------
    file : Path
        As for `read_texts`.

    Yields
    ------
    text : GameText
        The game's text.
    game : chess.pgn.Game or BrokenGame
        The game, or why it cannot be used, as `parse` says it.

    Raises
    ------
    OptionError
        If the file cannot be read.
    """
    for text in read_texts(file):
        try:
            game = parse(text)
        except BrokenGame as fault:
            yield text, fault
        else:
            if game is not None:
                yield text, game


def moves_of(game: chess.pgn.Game) -> list[chess.Move]:
    """Give the moves of a game's main line, up to the first null move: that is no move of a game of chess."""
    return list(takewhile(bool, game.mainline_moves()))


@contextlib.contextmanager
def standard_input() -> Iterator[Path]:
    """Copy standard input to a file.

    `read_texts` looks at the beginning of a file twice, and commands read their games several times.

    Yields
    ------
    Path
        The file, which is removed at the end of the ``with`` block.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "games.pgn")
        with file.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield file


@contextlib.contextmanager
def game_files(names: Sequence[str]) -> Iterator[list[tuple[str, Path]]]:
    """Find the files of games that a command names.

    Parameters
    ----------
    names : sequence of str
        Their names; ``-`` is standard input, which is copied to a file.

    Yields
    ------
    list of (str, Path)
        Each file, after its name for the user.
    """
    with contextlib.ExitStack() as stack:
        yield [
            ("stdin", stack.enter_context(standard_input())) if name == "-" else (name, Path(name)) for name in names
        ]


def texts_of(content: bytes) -> Iterator[GameText]:
    """Read the content of a file game by game, as `read_texts` does; UnicodeError if it begins as UTF-16 and is not."""
    return _texts(_decoding(io.BytesIO(content)))


def whole_text(text: GameText) -> str:
    """Give a game's text so that python-chess drops nothing of it: comments to the end of a line stand in braces."""
    headers, moves = _parts(text.text)
    return "\n".join([*headers, "", _with_braces(moves)])


def unclosed_comment(text: GameText) -> int | None:
    """Give the line of the file in which a comment begins that has no closing brace; ``None`` if there is none."""
    _, moves = _parts(text.text)
    found = None
    for number, line in enumerate(moves, text.line + len(text.text.split("\n")) - len(moves)):
        is_open, _ = _scan(line, found is not None)
        # A line may close a comment and begin another.
        found = (number if found is None or "}" in line else found) if is_open else None
    return found


def parse(text: GameText) -> chess.pgn.Game | None:
    """Parse a game.

    Comments to the end of a line become comments in braces.

    Parameters
    ----------
    text : GameText
        The game's text.

    Returns
    -------
    chess.pgn.Game or None
        The game, with at least one move; ``None`` if the text has only remarks outside a game.

    Raises
    ------
    BrokenGame
        If the game or its annotations are broken, or it is not chess.
    """
    for line in _parts(text.text)[0]:
        if line.startswith("[") and not _WHOLE_HEADER.match(line):
            raise BrokenGame(f"malformed header: {line.strip()[:60]}")
    builder = SilentBuilder()
    stream = io.StringIO(whole_text(text))
    try:
        game = chess.pgn.read_game(stream, Visitor=lambda: builder)
    except Exception as error:  # raised by python-chess, as at a closing bracket after an illegal move
        first = builder.game.errors[0] if builder.game.errors else error
        raise BrokenGame(f"{first!s:.200}") from None
    if game is None:
        return None
    if game.errors:
        raise BrokenGame(f"{game.errors[0]!s:.200}")
    board = game.board()
    if board.uci_variant != "chess":
        raise BrokenGame(f"{board.uci_variant} is not played here")
    if problem_of(board):
        raise BrokenGame(f"illegal position: {board.fen()}")
    if game.next() is None:
        raise BrokenGame("no moves")
    return game


def remarks(text: GameText) -> str:
    """Give the remarks before a game's headers, unchanged, each with its line end."""
    lines = text.text.split("\n")
    count = next((at for at, line in enumerate(lines) if not line.startswith(("%", ";"))), len(lines))
    return "".join(f"{line}\n" for line in lines[:count])


def headers_of(text: GameText) -> Mapping[str, str]:
    """Read a game's headers, even if the game is broken."""
    return chess.pgn.read_headers(io.StringIO(text.text)) or {}


def _open(file: Path) -> io.TextIOWrapper:
    return _decoding(_decompressed(file))


def _decoding(stream: BinaryIO) -> io.TextIOWrapper:
    try:
        start = stream.read(4)
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.TextIOWrapper(stream, encoding="utf-16")
    # Latin-1 decodes any bytes without loss; each game is decoded again later, because joined files mix encodings.
    return io.TextIOWrapper(stream, encoding="latin-1")


def _decompressed(file: Path) -> BinaryIO:
    openers: dict[str, Callable[[Path], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(file.suffix.lower())
    return cast(BinaryIO, opener(file)) if opener else file.open("rb")


def _texts(stream: io.TextIOWrapper) -> Iterator[GameText]:
    for number, (line, text) in enumerate(_split(stream), 1):
        yield GameText(number, line, text if stream.encoding == "utf-16" else _decoded(text))


def _decoded(text: str) -> str:
    raw = text.encode("latin-1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _split(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Split lines into games: give the number of each one's first line, and its text."""
    lines: list[str] = []
    tags: set[str] = set()
    first, in_moves, in_comment = 1, False, False

    def game() -> tuple[int, str]:
        text = "".join(lines).strip("\n")
        lines.clear()
        tags.clear()
        return first, text

    for number, line in enumerate(stream, 1):
        if not lines:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        empty = not line.strip()
        header = _HEADER.match(line)
        if lines and ((header and (in_moves or header[1] in tags)) or (empty and in_moves and not in_comment)):
            yield game()
            in_moves = in_comment = False
        if empty and not lines:
            continue
        if not lines:
            first = number
        lines.append(line)
        if header and not in_moves:
            tags.add(header[1])
        elif not empty and (in_moves or not line.startswith(_BEFORE_MOVES)):
            in_moves = True
            in_comment, _ = _scan(line, in_comment)
    if lines:
        yield game()


def _scan(line: str, is_open: bool) -> tuple[bool, int | None]:
    """Scan a line of moves for comments.

    Parameters
    ----------
    line : str
        The line.
    is_open : bool
        Whether a comment in braces is open at its beginning.

    Returns
    -------
    is_open : bool
        Whether one is open at its end.
    remark : int or None
        Where a comment begins that runs to the end of the line.
    """
    if line.startswith("%") and not is_open:
        return False, None
    for at, letter in enumerate(line):
        if is_open:
            is_open = letter != "}"
        elif letter == "{":
            is_open = True
        elif letter == ";":
            return False, at
    return is_open, None


def _parts(text: str) -> tuple[list[str], list[str]]:
    """Split a game into header lines, without the empty ones, and lines of moves."""
    lines = text.split("\n")
    moves = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith(_BEFORE_MOVES)), None)
    return [line for line in lines[:moves] if line.strip()], [] if moves is None else lines[moves:]


def _with_braces(lines: list[str]) -> str:
    """Convert comments to the end of a line, which python-chess drops, into comments in braces."""
    result = []
    is_open = False
    for line in lines:
        was_open = is_open
        is_open, at = _scan(line, is_open)
        if at is not None:
            remark = line[at + 1 :].strip().replace("}", ")")
            line = f"{line[:at]}{{ {remark} }}" if remark else line[:at]
        # An empty line would end the game.
        if line.strip() or was_open:
            result.append(line)
    return "\n".join(result)
