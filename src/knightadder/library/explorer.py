"""The class `Explorer`: answers from an index of games, which `knightadder book index` makes.

`explorer_file` describes the content of the file. For each answer, the core counts the games in the position's list
that pass the filter. This takes a few milliseconds for a million games.
"""

from __future__ import annotations

import contextlib
import operator
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import chess
import chess.pgn
import chess.polyglot
import numpy as np

from knightadder.closing import Closing, Unique
from knightadder.core.api.index_queries import FILTER, INDEXED, PLAYED, count_games, filter_games
from knightadder.core.board.moves import CASTLING, DOUBLE_PUSH, EN_PASSANT, new_move
from knightadder.core.board.pgn_reader import RESULTS
from knightadder.core.layout import MAX_MOVES
from knightadder.elo_formula import elo_of_score
from knightadder.engine.book import encode
from knightadder.engine.errors import EngineError, OptionError
from knightadder.files import reading
from knightadder.foreign import NotNegative, converted
from knightadder.frozen import typed_command
from knightadder.library.boards import Move, Position, legal_board_of, name_of, whole
from knightadder.library.dates import date_limits, date_text
from knightadder.library.explorer_file import (
    APPLICATION,
    VERSION,
    GameChunk,
    chunks,
    find_lists,
    short_keys,
    unpack_chunk,
)
from knightadder.library.explorer_results import ExplorerGame, ExplorerMove
from knightadder.library.game_filter import DECIDED, SPEEDS
from knightadder.library.game_filter import GameFilter as GameFilter
from knightadder.library.loading import load_core
from knightadder.library.position_parts import first_plies, read_material, read_pieces, wanted_men
from knightadder.pgn.game_records import moves_by_code
from knightadder.pgn.games import text_of
from knightadder.rules import read_fen
from knightadder.text import counted, one_line, plain_name, utf8

if TYPE_CHECKING:
    from knightadder.library.explorer_file import Games, Moves
    from knightadder.library.near_duplicates import Text

MOST_GAMES = 5  # default number of games to show for each position

_SPEED_NAMES = (None, *SPEEDS)
_SUGGESTED = 5
_KEPT = 8  # number of positions whose lists stay in memory; a list of a million games takes six megabytes


class Explorer(Closing, Unique):
    """An opening explorer: the moves played in a position in the games of an index, and their results.

    It does not matter which moves led to the position. Several threads may share an explorer. It can be used in a
    ``with`` block.

    Parameters
    ----------
    path : path
        An index that ``knightadder book index`` has made. Games added to the file later have no effect.

    Raises
    ------
    OptionError
        If the file is not such an index, or cannot be read. Every method raises it if the file is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        with reading(self._path), self._path.open("rb"):
            pass  # raises an error with the reason, which SQLite does not report
        self._lock = threading.Lock()
        # SQLite must be able to write: if a run that added games was killed, it undoes the incomplete part. The path is
        # not given as a URI, because SQLite refuses the URIs of Windows' network folders.
        with self._reading():
            file = self._path.absolute()
            self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        try:
            self._check()
            self._load()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        try:
            self._database.execute("PRAGMA query_only = ON")
            application, version = (
                self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
        except sqlite3.OperationalError as error:  # the file is locked or cannot be read
            raise OptionError(f"cannot read {self._path}: {error}") from None
        except sqlite3.Error:
            application = version = 0
        index = typed_command(["book", "index"])
        if application != APPLICATION:
            raise OptionError(f"{self._path} is not an index of games: make one with `{index}`")
        if version != VERSION:
            raise OptionError(
                f"{self._path} has index version {version}, but this program needs version {VERSION}: "
                f"remove it, and make it again from the games with `{index}`"
            )

    def _load(self) -> None:
        [(self._plies,)] = self._select("SELECT plies FROM settings", tuple[NotNegative])
        with self._reading():
            facts = [np.empty(0, INDEXED)]
            for first, raw in self._rows("SELECT first, facts FROM games ORDER BY first"):
                if first != sum(map(len, facts)) or not isinstance(raw, bytes):
                    raise ValueError("games are missing")
                facts.append(np.frombuffer(raw, INDEXED))
            self._facts = np.concatenate(facts).view(INDEXED)
        self._forget()

    def _forget(self) -> None:
        """Forget the answers and lists of earlier queries."""
        self._counted: tuple[Any, tuple[list[Any], list[int]]] = None, ([], [])  # the last query and its answer
        self._kept: dict[int, list[tuple[Games, Moves]]] = {}  # lists of positions, the most recently used one last

    @property
    def plies(self) -> int:
        """The number of indexed plies of each game."""
        return int(self._plies)

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return one_line(f"<Explorer: {self._path}, {counted(len(self), 'game')}>")

    def moves(self, position: Position, wanted: GameFilter | None = None) -> list[ExplorerMove]:
        """Return the moves that were played in a position, the most frequent first.

        A game in which the position occurs several times counts once, with its last move there.

        Parameters
        ----------
        position : chess.Board or str
            A board, a FEN or ``"startpos"``.
        wanted : GameFilter, optional
            The filter for the games that count (default: all games).

        Raises
        ------
        PositionError
            If the argument is not a legal chess position.
        OptionError
            If the player in the filter has no games in the index.
        TypeError
            If an argument has a wrong type.
        """
        board = legal_board_of(position)
        rows, _ = self._count(board, wanted, None, MOST_GAMES, False)  # the same as for `games` by default
        legal = {_code_of(board, move): move for move in board.legal_moves} if rows else {}
        found = []
        for row in rows:
            code, (_, white, draws, black) = row["move"], row["results"]
            move = legal.get(int(code))
            if move is not None and white + draws + black:  # otherwise, two positions share a key
                rating = round(row["ratings"] / row["rated"]) if row["rated"] else None
                numbers = int(white), int(draws), int(black)
                found.append(
                    ExplorerMove(move, board.san(move), *numbers, rating, _performance(row), date_text(row["last"]))
                )
        return sorted(found, key=lambda each: (-each.games, each.san))

    def games(
        self,
        position: Position,
        wanted: GameFilter | None = None,
        *,
        move: Move | None = None,
        most: int = MOST_GAMES,
        latest: bool = False,
    ) -> list[ExplorerGame]:
        """Return the best games that reached a position and continued from it. Other arguments and errors are as for
        `moves`.

        Parameters
        ----------
        move : chess.Move or str, optional
            The move with which the games continued (default: any move). Text is in algebraic or UCI notation. An
            illegal move raises a `PositionError`.
        most : int
            Maximum number of games to return.
        latest : bool
            Whether the latest games come first, instead of the games with the highest sum of both ratings. An unknown
            date or rating counts as 0.
        """
        board = legal_board_of(position)
        most = min(whole("most", most, 0), len(self))
        only = None if move is None else board.parse_uci(name_of(board, move))
        _, best = self._count(board, wanted, only, most, latest)
        return self._described((number, None) for number in best)

    def find(
        self,
        pieces: str = "",
        material: str = "",
        wanted: GameFilter | None = None,
        *,
        most: int | None = None,
    ) -> list[ExplorerGame]:
        """Find games by a part of a position. All games are replayed, more than a hundred thousand per second.

        Parameters
        ----------
        pieces : str
            Pieces on squares, such as ``"Nd5 Pe4 pd6"``: the letters of a FEN, uppercase for White, and ``-d4`` for an
            empty square.
        material : str
            All pieces of both sides, such as ``"KRPvKR"``; the first side may be White or Black.
        wanted : GameFilter, optional
            The filter for the games that count (default: all games).
        most : int, optional
            Maximum number of games to return (default: all games).

        Returns
        -------
        list of ExplorerGame
            The games that have such a position, in the order of the index. ``ply`` and ``move`` say where.

        Raises
        ------
        OptionError
            If both search terms are empty, or one of them is invalid.
        ValueError, TypeError
            If ``most`` is negative, or an argument has a wrong type.
        """
        most = len(self) if most is None else whole("most", most, 0)
        for name, text in ("pieces", pieces), ("material", material):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be text, not {text!r:.60}")
        squares, sides = read_pieces(pieces), read_material(material)
        if not squares and sides is None:
            raise OptionError("nothing to search for: give pieces on squares, or material")
        records = [wanted_men(squares, men) for men in ((sides, sides[::-1]) if sides else (None,))]
        passing = np.zeros(len(self), np.uint8)
        load_core()
        filter_games(self._facts, self._filter(wanted), passing)
        found: list[tuple[int, int]] = []
        for first, chunk in self._chunks():
            now = passing[first : first + len(chunk.plies)]
            if now.any():
                found += [(first + index, ply) for index, ply in first_plies(chunk, records) if now[index]]
            if len(found) >= most:
                break
        return self._described(iter(found[:most]))

    def duplicates(self) -> list[list[ExplorerGame]]:
        """Find games that are probably the same, although their moves or headers differ.

        The players have similar names, and one game, of at least twenty plies, is the beginning of the other.
        Memory must have room for the moves of all games that share their first twenty plies with another game.

        Returns
        -------
        list of list of ExplorerGame
            Groups of two or more games, the longest game of each group first.
        """
        from knightadder.library.near_duplicates import LEAST_PLIES, similar_games

        # First, hashes of the beginnings of all games are compared. Then only the games whose beginning occurs twice
        # are kept in memory.
        beginnings = np.fromiter((hash((fen, moves[: 2 * LEAST_PLIES])) for fen, moves, _ in self._texts()), np.int64)
        _, places, counts = np.unique(beginnings, return_inverse=True, return_counts=True)
        texts = [text for text, count in zip(self._texts(), counts[places].tolist(), strict=True) if count > 1]
        names = cache(self._plain_name)
        years = self._facts["date"] >> 9

        def facts(number: int) -> tuple[str, str, int]:
            game = self._facts[number]
            return names(int(game["white"])), names(int(game["black"])), int(years[number])

        groups = similar_games(texts, facts)
        return [self._described((number, None) for number in group) for group in groups]

    def _texts(self) -> Iterator[Text]:
        """Yield the games in the form of `similar_games`."""
        for first, chunk in self._chunks():
            _, games = chunk.for_core()
            fens = [tags.get("FEN", "") for tags in chunk.tags] if b'"FEN"' in chunk.json else [""] * len(games)
            raw, ends = chunk.moves.tobytes(), np.cumsum(2 * chunk.plies).tolist()
            for index, (fen, begin, end) in enumerate(zip(fens, [0, *ends[:-1]], ends, strict=True)):
                yield fen, raw[begin:end], first + index

    def pgn(self, number: int) -> str:
        """Return a game in Portable Game Notation, without comments and variations, by its number
        (`ExplorerGame.number`). An `OptionError` is raised if there is no such game, a `TypeError` if the number is not
        a whole number.
        """
        tags, codes = self._text(operator.index(number))
        with self._reading():
            headers = chess.pgn.Headers(tags)
            game = chess.pgn.Game(headers)
            board = game.board()
            table = moves_by_code(board.chess960)
            node: chess.pgn.GameNode = game
            for code in codes.tolist():
                move = table[code]
                if not board.is_legal(move):
                    raise ValueError("an illegal move")
                board.push(move)
                node = node.add_variation(move)
            return text_of(game)

    # --- lists and counts ------------------------------------------------------------------------------------------

    def _count(
        self, board: chess.Board, wanted: GameFilter | None, move: chess.Move | None, most: int, latest: bool
    ) -> tuple[list[Any], list[int]]:
        """Count the games of a position: return records of its moves, and the numbers of the best games."""
        load_core()
        asked = key_of(board), wanted, move, most, latest
        last, answer = self._counted
        if last == asked:
            return answer
        record = self._filter(wanted)
        slots, played = np.zeros(1 << 16, np.int32), np.zeros(MAX_MOVES, PLAYED)
        best, counts = np.zeros(most, np.int64), np.zeros(2, np.int64)
        only = 0 if move is None else _code_of(board, move)
        for games, moves in self._lists(key_of(board)):
            count_games(
                self._facts, record, int(board.turn), int(latest), games, moves, only, slots, played, best, counts
            )
        answer = list(played[: counts[0]]), best[: counts[1]].tolist()
        self._counted = asked, answer
        return answer

    def _lists(self, key: int) -> list[tuple[Games, Moves]]:
        """Return the lists of a position. The lists of a few positions are kept for the next queries."""
        with self._reading(), self._lock:
            lists = self._kept.pop(key, None)
            if lists is None:
                lists = find_lists(self._database, key)
            self._kept[key] = lists
            if len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]  # the least recently used position
            return lists

    def _filter(self, wanted: GameFilter | None) -> Any:
        """Return a filter as a record of the core; OptionError if there is no such player."""
        wanted = GameFilter() if wanted is None else wanted
        if not isinstance(wanted, GameFilter):
            raise TypeError(f"wanted must be a GameFilter, not {wanted!r:.60}")
        record = np.zeros(1, FILTER)[0]
        record["white"] = record["black"] = -1
        if wanted.player is not None:
            number = self._player(wanted.player)
            record["black" if wanted.color is chess.BLACK else "white"] = number
            record["either"] = wanted.color is None
        record["least_rating"], record["most_rating"] = wanted.min_rating or 0, wanted.max_rating or 0
        record["since"] = date_limits(wanted.since)[0] if wanted.since else 0
        record["until"] = date_limits(wanted.until)[1] if wanted.until else 0
        record["speeds"] = sum(1 << _SPEED_NAMES.index(speed) for speed in set(wanted.speeds)) or 0xFF
        record["results"] = 1 << RESULTS.index(wanted.result) if wanted.result else 0xFF
        return record

    def _player(self, name: str) -> int:
        plain = utf8(plain_name(name)).decode()  # SQLite would refuse characters that UTF-8 lacks
        rows = self._select("SELECT id FROM players WHERE plain = ?", tuple[int], plain)
        if rows:
            return int(rows[0][0])
        words = sorted(re.findall(r"\w{3,}", plain), key=len)
        like = f"%{words[-1]}%" if words else ""
        rows = self._select(f"SELECT name FROM players WHERE plain LIKE ? LIMIT {_SUGGESTED}", tuple[str], like)
        known = f"; do you mean {' or '.join(name for (name,) in rows)}?" if rows else ""
        raise OptionError(f"no game of {name!r:.80} is in {self._path}{known}")

    def _plain_name(self, player: int) -> str:
        rows = self._select("SELECT plain FROM players WHERE id = ?", tuple[str], player)
        return rows[0][0] if rows else ""

    # --- games -----------------------------------------------------------------------------------------------------

    def _described(self, found: Iterator[tuple[int, int | None]]) -> list[ExplorerGame]:
        games = []
        for number, ply in found:
            tags, _ = self._text(number)
            facts = self._facts[number]
            with self._reading():
                move = None if ply is None else _move_number(tags, ply)
                result, speed = DECIDED[facts["result"] - 1], _SPEED_NAMES[facts["speed"]]
            games.append(
                ExplorerGame(
                    number=number,
                    white=tags.get("White", "?"),
                    black=tags.get("Black", "?"),
                    white_elo=int(facts["white_elo"]) or None,
                    black_elo=int(facts["black_elo"]) or None,
                    result=result,
                    date=date_text(facts["date"]),
                    speed=speed,
                    event=tags.get("Event", "?"),
                    site=tags.get("Site", "?"),
                    ply=ply,
                    move=move,
                )
            )
        return games

    def _text(self, number: int) -> tuple[dict[str, str], Moves]:
        if not 0 <= number < len(self):
            raise OptionError(f"{self._path} has no game {number}")
        with self._reading():
            query = "SELECT first, body FROM texts WHERE first <= ? ORDER BY first DESC LIMIT 1"
            [(first, body)] = self._rows(query, number)
            chunk = unpack_chunk(body)
            tags = chunk.tags
            if not 0 <= number - first < len(tags):
                raise ValueError("a game is missing")
            return tags[number - first], chunk.codes(number - first)

    def _chunks(self) -> Iterator[tuple[int, GameChunk]]:
        """Yield the texts of all games in chunks, with the number of the first game in each chunk."""
        with self._reading():
            for first, body in chunks(self._rows):
                chunk = unpack_chunk(body)
                if first + len(chunk.plies) <= len(self):
                    yield first, chunk

    # --- the file --------------------------------------------------------------------------------------------------

    def _rows(self, query: str, *values: int | str) -> list[Any]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _select(self, query: str, row: Any, *values: int | str) -> Sequence[Any]:
        """Return the rows of a query as objects of the type `row`; OptionError if the file is damaged."""
        with self._reading():
            return cast(Sequence[Any], converted(self._rows(query, *values), list[row]))

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise EngineError("the explorer has been closed") from None
        except sqlite3.Error as error:
            raise OptionError(f"cannot read {self._path}: {error}") from None
        except (ValueError, TypeError, IndexError, OverflowError):  # SQLite allows values of any type in any column
            raise OptionError(
                f"{self._path} is damaged: make it again from the games with `{typed_command(['book', 'index'])}`"
            ) from None

    def close(self) -> None:
        """Close the file. Later queries raise an EngineError."""
        with self._lock:
            self._database.close()
            self._forget()


# --- facts about the games of an index ------------------------------------------------------------------------------


def key_of(board: chess.Board) -> int:
    """Return the key of a position in an index: a part of Polyglot's key. Polyglot counts an en passant square if a
    pawn stands beside it. Here the capture must also be legal, as in the FEN of a position.
    """
    if board.ep_square is not None and not board.has_legal_en_passant():
        board = board.copy(stack=False)
        board.ep_square = None
    return int(short_keys(np.array([chess.polyglot.zobrist_hash(board)], np.uint64))[0])


def _move_number(tags: dict[str, str], ply: int) -> int:
    """Return the number of the move after some plies of a game, which may begin with a set-up position."""
    start = read_fen(tags["FEN"])[0].ply() if "FEN" in tags else 0
    return (start + ply) // 2 + 1


def _performance(row: Any) -> int | None:
    games, points = int(row["opposed"]), int(row["points"]) / 2
    if not 0 < points < games:
        return None
    return round(int(row["opponents"]) / games + elo_of_score(points / games))


def _code_of(board: chess.Board, move: chess.Move) -> int:
    """Return the number of a legal move in 16 bits, as in ``core/board/moves.py``."""
    number = encode(board, move)
    source, target = number >> 6 & 63, number & 63
    if board.is_castling(move):
        kind = int(CASTLING)
    elif board.is_en_passant(move):
        kind = int(EN_PASSANT)
    elif board.piece_type_at(source) == chess.PAWN and abs(source - target) == 16:
        kind = int(DOUBLE_PUSH)
    else:
        kind = move.promotion or 0
    return int(new_move(source, target, kind))
