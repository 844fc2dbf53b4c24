"""Writes games in Portable Game Notation (PGN), with the engine's score of each move."""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import chess
import chess.pgn

from knightadder.closing import Closing
from knightadder.engine.errors import OptionError
from knightadder.files import append_whole, appending, check_uncompressed
from knightadder.pgn.games import text_of
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.referee import MatchGame, PlayedMove

_TERMINATIONS = {
    "time": "time forfeit",
    "illegal": "rules infraction",
    "crash": "abandoned",
    "silent": "abandoned",
}

_LONGEST = 1 << 20  # maximum size of a game in bytes: an incomplete game is looked for in this last part of a file
# The last line of a game: not a header line, but a line that ends with a result. Programs that wrap lines may put only
# the result on it.
_HEADER_LINE = re.compile(rb'^(?:\xef\xbb\xbf)?\[\w+[ \t]+"', re.MULTILINE)
_LAST_LINE = re.compile(rb"^(?:[^\[\n].*)?(?:1-0|0-1|1/2-1/2|\*)[ \t\r]*$", re.MULTILINE)


def _move_comment(move: PlayedMove) -> str:
    """Return a move's score (for the side that moved), depth, time and nodes: ``+0.31/12 0.052s n=20011``."""
    if move.info is None:
        return f"{move.seconds:.3f}s"
    nodes = f" n={move.info.nodes}" if move.info.nodes else ""
    return f"{move.info.text()}/{move.info.depth} {move.seconds:.3f}s{nodes}"


def game_text(fixture: Fixture, game: MatchGame, white: Competitor, black: Competitor, chess960: bool = False) -> str:
    """Return a game as PGN, without an empty line at the end."""
    board = chess.Board(game.opening.fen, chess960=chess960)
    text = chess.pgn.Game()
    text.setup(board)
    headers = text.headers
    headers["Event"] = _event(fixture)
    headers["Site"] = "?"
    headers["Date"] = datetime.date.today().strftime("%Y.%m.%d")
    headers["Round"] = str(fixture.round + 1)
    headers["White"] = fixture.white
    headers["Black"] = fixture.black
    headers["Result"] = game.result
    if game.opening.name:
        headers["Opening"] = game.opening.name
    if white.allowance == black.allowance:
        headers["TimeControl"] = str(white.allowance)
    else:
        headers["WhiteTimeControl"], headers["BlackTimeControl"] = str(white.allowance), str(black.allowance)
    if game.fault:
        headers["Termination"] = _TERMINATIONS[game.fault.kind]
    else:
        headers["Termination"] = "adjudication" if "adjudication" in game.reason else "normal"
    node: chess.pgn.GameNode = text
    for uci in game.opening.moves:
        node = node.add_variation(board.push_uci(uci), comment="book")
    for move in game.moves:
        node = node.add_variation(board.push_uci(move.uci), comment=_move_comment(move))
    node.comment = f"{node.comment}, {game.reason}" if node.comment else game.reason
    return text_of(text, columns=None)


def _event(fixture: Fixture) -> str:
    return f"{fixture.white} against {fixture.black}"


def _check_games(file: Path, events: Iterable[bytes]) -> None:
    """Raise OptionError if a file has contents, but does not begin with a game, or the beginning of a game."""
    with file.open("rb") as stream:
        begin = stream.read(_LONGEST).strip()
    if not _HEADER_LINE.search(begin) and not any(event.startswith(begin) for event in events):
        raise OptionError(f"{file} is not a PGN file, so no games are appended to it: choose a different name")


class PgnFile(Closing):
    """A file to which games are appended, each completely or not at all; without a file, nothing is saved.

    After a crash, the last game of this match may be incomplete, or missing in the log. It is then removed, because it
    is played again, and `report` is called with a message. Other games are kept.

    `played` contains the games in the log; `logged` is the length of the file after the last of them, 0 if unknown.
    OptionError if the file has contents without a game.
    """

    def __init__(
        self,
        file: Path | None,
        fixtures: Iterable[Fixture],
        report: Callable[[str], None] = print,
        played: Collection[Fixture] = (),
        logged: int = 0,
    ) -> None:
        self._file, self._report = file, report
        self._new = file is not None and not file.exists()
        self._held = contextlib.ExitStack()
        if file is None:
            return
        check_uncompressed(file)
        with contextlib.ExitStack() as stack:
            self._stream = stack.enter_context(appending(file))
            if file.is_file():  # false for a device or a pipe
                events = {f'[Event "{_event(fixture)}"]'.encode() for fixture in fixtures}
                _check_games(file, events)
                self._mend(file, events)
                if logged:
                    self._remove_unlogged(file, logged, events, played)
            self._held = stack.pop_all()

    def _mend(self, file: Path, events: Iterable[bytes]) -> None:
        """Make sure that the file ends with a complete game and an empty line."""
        size = self._stream.seek(0, os.SEEK_END)
        with file.open("rb") as stream:
            stream.seek(max(0, size - _LONGEST))
            tail = stream.read()
        lines = [line for line in _LAST_LINE.finditer(tail) if line[0].rfind(b"}") >= line[0].rfind(b"{")]
        half = tail[lines[-1].end() :].lstrip() if lines else tail.lstrip()
        if half and any(half.startswith(event) or event.startswith(half) for event in events):
            size -= len(half)
            self._stream.truncate(size)
            tail = tail[: -len(half)]
            self._report(f"{file} ended with an incomplete game, which was removed")
        if size and not tail.endswith(b"\n\n"):
            append_whole(self._stream, b"\n" if tail.endswith(b"\n") else b"\n\n")

    def _remove_unlogged(self, file: Path, logged: int, events: Iterable[bytes], played: Collection[Fixture]) -> None:
        """Remove a game of this match that is in the file but not in the log. A game with the number of one in the log
        belongs to another match of the same engines.
        """
        with file.open("rb") as stream:
            stream.seek(max(0, logged - 2))
            gap, rest = stream.read(2), stream.read()
        if gap == b"\n\n" and any(map(rest.startswith, events)) and rest.count(b"[Event ") == 1:
            headers = chess.pgn.read_headers(io.StringIO(rest.decode(errors="replace")))
            assert headers is not None
            games = {(str(each.round + 1), each.white, each.black) for each in played}
            if (headers.get("Round"), headers.get("White"), headers.get("Black")) not in games:
                self._stream.truncate(logged)
                self._report(f"{file} ended with a game that is not in the log, which was removed")

    @contextlib.contextmanager
    def appended(self, text: str) -> Iterator[int]:
        """Append a game, and remove it if the ``with`` block fails; yield the file's length, 0 for a device or pipe.
        After Ctrl-C, the game may be in the log already, so it stays; the next start removes it if it is not.
        """
        file = self._file
        if file is None:
            yield 0
            return
        data = f"{text}\n\n".encode()
        end = append_whole(self._stream, data)
        try:
            yield end + len(data) if file.is_file() else 0
        except Exception:
            if file.is_file():
                self._stream.truncate(end)
            raise

    def close(self) -> None:
        """Close the file. A new file without games is removed."""
        if self._new and self._file is not None:
            with contextlib.suppress(OSError):
                if not self._file.stat().st_size:
                    self._stream.close()  # some systems cannot remove an open file
                    self._file.unlink()
        self._held.close()
