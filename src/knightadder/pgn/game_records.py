"""Games read from files, stored as arrays: tags, moves, clocks, evaluations, comments. See `knightadder.read_games`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import chess
import chess.engine
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.moves import CASTLING, DOUBLE_PUSH, kind_of, new_move, source_of, target_of
from knightadder.core.board.pgn_commands import NO_CLOCK, NO_SCORE
from knightadder.core.board.pgn_reader import GAME, NOTE, RESULTS, TAG
from knightadder.engine.errors import PositionError
from knightadder.pgn.bulk import GameBlock, keys_in, pack_block, read_blocks, read_bytes
from knightadder.pgn.game_files import decoded_part
from knightadder.pgn.games import (
    START_TAGS,
    BrokenGame,
    GameText,
    PgnGame,
    moves_of,
    parse,
    result_of,
    tags_of,
    tell_left_out,
    tell_notes,
)
from knightadder.pgn.tokens import unescaped
from knightadder.rules import POINTS, read_fen
from knightadder.text import counted, one_line, plain_name, tell

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMED = 5  # number of players to suggest if nobody has the given name
_MATE = 32_000  # the score of a mate on the board, as the core encodes it
_LEAST_MATE = 31_000
_CODES = (int(DOUBLE_PUSH) + 1) << 12  # number of 16-bit move codes; the highest bits are the kind
# Headers that distinguish games with the same moves, and headers with the time of day: the first that exists counts.
_IDENTITY = ("Event", "Site", "Date", "Round", "White", "Black", "FEN")
_TIMES = ("UTCTime", "Time", "StartTime", "EndTime")
_BRACKETS = re.compile(r"\[%(clk|eval)\s([^\[\]]*)\]")


class GameRecord:
    """A game of a file. Its attributes are read from the file's text when they are used.

    Attributes
    ----------
    file : str
        The file's name.
    notes : list of str
        The changes that were needed to read the game, such as castling rights left out.
    """

    def __init__(
        self, block: GameBlock, index: int, file: str, careful: tuple[GameText, PgnGame] | None = None
    ) -> None:
        self._block = block
        self._index = index
        self._game = block.games[index]
        self._careful = careful
        self.file = file
        self.notes: list[str] = careful[1].notes if careful else []

    def __repr__(self) -> str:
        return one_line(f"<GameRecord {self.place}: {self.plies} plies, {self.result}>")

    @property
    def number(self) -> int:
        """The game's number in its file, from 1."""
        return self._careful[0].number if self._careful else self._block.number + self._index

    @property
    def line(self) -> int:
        """The game's first line, from 1."""
        return self._careful[0].line if self._careful else int(self._game["line"])

    @property
    def place(self) -> str:
        """The file, the number and the line of the game, for messages."""
        return f"{self.file}, game {self.number}, line {self.line}"

    @cached_property
    def source(self) -> GameText:
        """The game's text, with its place."""
        return self._careful[0] if self._careful else self._block.game_text(self._index)

    @property
    def text(self) -> str:
        """The game's text, as it is in the file."""
        return self.source.text

    @property
    def tags(self) -> dict[str, str]:
        """The tags in the file, by name."""
        return self._tags.copy()

    @cached_property
    def _tags(self) -> dict[str, str]:
        if self._careful:
            source, game = self._careful
            headers = game.headers  # with a corrected FEN, and without a FEN or variant that is unknown
            return {
                name: headers[name] if name in START_TAGS else value
                for name, value in (tags_of(source) or {}).items()
                if name not in START_TAGS or name in headers
            }
        first = self._game["first_tag"]
        tags = self._block.tags[first : first + self._game["tags"]].tolist()
        if not tags:
            return {}
        begin, end = tags[0][0], tags[-1][3]
        raw = self._block.text[begin:end].tobytes()
        if raw.isascii():
            text = raw.decode()
            return {text[a - begin : b - begin]: unescaped(text[c - begin : d - begin]) for a, b, c, d in tags}
        return {
            raw[a - begin : b - begin].decode(): unescaped(decoded_part(raw[c - begin : d - begin], slice(None)))
            for a, b, c, d in tags
        }

    @property
    def headers(self) -> chess.pgn.Headers:
        """The tags as in python-chess. The seven standard tags are never missing."""
        if self._careful:
            return self._careful[1].headers.copy()
        usual = chess.pgn.Headers(Result=RESULTS[self._game["result"]])
        usual.update(self._tags)
        return usual

    @cached_property
    def result(self) -> str:
        """The result from the tag or the end of the moves; ``*`` if it is unknown or they contradict each other."""
        if self._careful:
            return result_of(self._careful[1])
        results = {self._tags.get("Result"), RESULTS[self._game["result"]]}.intersection(POINTS)
        return str(results.pop()) if len(results) == 1 else "*"

    @property
    def digest(self) -> int:
        """A 64-bit number, the same for games with the same players, place, date, time, result and moves."""
        tags = self._tags
        time = next((tags[name] for name in _TIMES if name in tags), "")
        identity = [*(tags.get(name, "") for name in _IDENTITY), time, self.result]
        raw = "\0".join(identity).encode("utf-8", "surrogatepass") + self.codes.tobytes()
        return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little", signed=True)

    @property
    def plies(self) -> int:
        """Number of moves of both sides, up to the first null move."""
        return int(self._game["moves"])

    @property
    def has_null_move(self) -> bool:
        """Whether the main line has a null move. The moves of this record end before that move."""
        return self._careful is not None and not all(self._careful[1].mainline_moves())

    @property
    def _span(self) -> slice:
        first = int(self._game["first_move"])
        return slice(first, first + self.plies)

    @property
    def codes(self) -> NDArray[np.uint16]:
        """The moves in 16 bits, as in ``core/board/moves.py``."""
        return self._block.moves[self._span]

    @property
    def raw_clocks(self) -> NDArray[np.int64]:
        """The clocks after the moves in milliseconds; -1 if there is none."""
        return self._block.clocks[self._span]

    @property
    def raw_scores(self) -> NDArray[np.int16]:
        """The evaluations after the moves in the core's encoding; -32768 if there is none."""
        return self._block.scores[self._span]

    @cached_property
    def chess960(self) -> bool:
        """Whether the game is played by the rules of Chess960."""
        return bool(self._game["chess960"] or (self._game["fen_end"] != 0 and self._start.chess960))

    @cached_property
    def _start(self) -> chess.Board:
        if self._game["fen_end"] == 0:
            return chess.Board(chess960=bool(self._game["chess960"]))
        fen = self._block.text[self._game["fen"] : self._game["fen_end"]].tobytes().decode()
        return read_fen(fen, bool(self._game["chess960"]))[0]

    @property
    def moves(self) -> list[chess.Move]:
        """The moves of the main line."""
        table = moves_by_code(self.chess960)
        return [table[code] for code in self.codes.tolist()]

    @property
    def uci(self) -> list[str]:
        """The moves of the main line in UCI notation."""
        table = _names_by_code(self.chess960)
        return [table[code] for code in self.codes.tolist()]

    @property
    def clocks(self) -> list[float | None]:
        """The mover's clock after each move (``[%clk ...]``), in seconds; ``None`` if there is none."""
        return [None if clock == NO_CLOCK else clock / 1000 for clock in self.raw_clocks.tolist()]

    @property
    def evals(self) -> list[chess.engine.Score | None]:
        """The evaluation after each move (``[%eval ...]``), White's view, up to 300 pawns or 499 moves; or None."""
        return [None if score == NO_SCORE else _score_of(score) for score in self.raw_scores.tolist()]

    @property
    def comments(self) -> list[str]:
        """The comments before the first move and after each move, without the comments in variations."""
        if self._careful:
            game = self._careful[1]
            return [node.comment for node in islice(_nodes(game), self.plies + 1)]
        found = [""] * (self.plies + 1)
        for ply, nag, start, end in self._notes():
            if nag < 0 and (text := self._comment(start, end)):
                found[ply] += f" {text}" if found[ply] else text
        return found

    @property
    def nags(self) -> list[set[int]]:
        """The numbers of annotations (NAGs) before the first move, and after each move."""
        if self._careful:
            game = self._careful[1]
            return [set(node.nags) for node in islice(_nodes(game), self.plies + 1)]
        found: list[set[int]] = [set() for _ in range(self.plies + 1)]
        for ply, nag, _, _ in self._notes():
            if nag >= 0:
                found[ply].add(nag)
        return found

    def board(self) -> chess.Board:
        """Return the position in which the game begins."""
        return self._start.copy()

    def boards(self) -> Iterator[chess.Board]:
        """Yield the position before each move, and the last position; each is a new board."""
        board = self.board()
        for move in self.moves:
            yield board.copy(stack=False)
            board.push(move)
        yield board

    def positions(self) -> NDArray[np.void]:
        """Return the position before each move as an array of ``PACKED``, with the scores and the result."""
        return pack_games([self])

    def keys(self) -> NDArray[np.uint64]:
        """Return the Polyglot key of the position before each move; en passant counts only with a legal capture."""
        return keys_in(self._block, slice(self._index, self._index + 1))

    def game(self) -> PgnGame:
        """Return the game as a new python-chess game, with its variations."""
        game = parse(self.source)
        assert game is not None
        return game

    def _notes(self) -> list[tuple[int, int, int, int]]:
        first = self._game["first_note"]
        notes: list[tuple[int, int, int, int]] = self._block.notes[first : first + self._game["notes"]].tolist()
        return notes

    def _comment(self, start: int, end: int) -> str:
        """Decode a comment. Each of its lines has the encoding of the file's whole line."""
        text = self._block.text
        raw = text[start:end].tobytes()
        if not raw.isascii():
            # The careful reader decodes whole lines, and the rest of a line may not be UTF-8.
            first, last = int(self._game["start"]), int(self._game["end"])
            whole = text[first:last].tobytes()
            start, end = start - first, end - first
            begins = whole.rfind(b"\n", 0, start) + 1
            parts = []
            for line in whole[begins:].splitlines(keepends=True):
                inside = slice(max(start - begins, 0), min(end - begins, len(line)))
                parts.append(decoded_part(line, inside))
                begins += len(line)
                if begins >= end:
                    break
            decoded = "".join(parts)
        else:
            decoded = raw.decode()
        return decoded.replace("\r\n", "\n").removeprefix(" ").removesuffix(" ")


def read_records(
    file: Path, name: str | None = None, update: Callable[[int, int], None] | None = None
) -> Iterator[GameRecord | tuple[GameText, BrokenGame]]:
    """Yield each game of a file, or the text of a broken game and its error; OptionError if the file cannot be read.

    `name` is the file's name for the user. `update` is called now and then with the number of bytes read from the file
    (as stored, perhaps compressed) and the number of games. Text between games is left out.
    """
    shown = name or str(file)
    for found in read_blocks(file, update):
        if isinstance(found, GameBlock):
            for index in range(len(found.games)):
                yield GameRecord(found, index, shown)
            continue
        try:
            game = parse(found)
        except BrokenGame as fault:
            yield found, fault
        else:
            if game is not None:
                yield GameRecord(_block_of(found.number, game), 0, shown, (found, game))


def sound_records(file: Path, name: str | None = None) -> Iterator[GameRecord | None]:
    """Read the games of a file for a command, as `games.sound_games` does. None stands for a broken game."""
    for record in read_records(file, name):
        if isinstance(record, GameRecord):
            if record.notes:
                tell_notes(record.file, record.source, record.notes)
            yield record
        else:
            tell_left_out(name or file, *record)
            yield None


class Copies:
    """Recognises copies of games, so that a game that is in several files counts once."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._count = 0

    def has(self, game: GameRecord) -> bool:
        """Return whether this is a copy of an earlier game."""
        digest = game.digest
        is_copy = digest in self._known
        self._known.add(digest)
        self._count += is_copy
        return is_copy

    def tell(self) -> None:
        """Report how many copies were found, if any."""
        if self._count:
            tell(f"left out as copies of other games: {counted(self._count, 'game')}")


def check_player(names: Sequence[str], players: Counter[str], files: Sequence[tuple[str, Path]]) -> None:
    """Raise PositionError, which suggests other names, if nobody has one of the names. `players` counts the games of
    the files by the names of their players.
    """
    if not {plain_name(name) for name in names}.isdisjoint(map(plain_name, players)):
        return
    spellings: dict[str, str] = {}  # the most frequent spelling of each name
    for name, _ in players.most_common():
        if name.strip("?. "):
            spellings.setdefault(plain_name(name), name)
    most = "; ".join([*spellings.values()][:_NAMED])
    known = f"; most games are of {most}" if most else ""
    raise PositionError(f"there is no game of {' or '.join(names)} in {', '.join(name for name, _ in files)}{known}")


def _nodes(game: PgnGame) -> Iterator[chess.pgn.GameNode]:
    yield game
    yield from game.mainline()


def _block_of(number: int, game: PgnGame) -> GameBlock:
    """Return a game of the careful reader as a block: the game is written anew, in a form that the core can read."""
    board = game.board()
    words = []
    if board.chess960:
        words.append('[Variant "Chess960"]\n')
    if "FEN" in game.headers:
        words.append(f'[FEN "{board.fen(en_passant="fen", shredder=board.chess960)}"]\n')
    words.append("\n1. ")
    plies = len(moves_of(game))
    for node in islice(game.mainline(), plies):
        words.append(board.san_and_push(node.move))
        found = _BRACKETS.findall(node.comment)
        words += [f" {{[%{name} {value}]}} " for name, value in found if value.isascii()] or [" "]
    words.append(game.marker or "*")
    block = read_bytes("".join(words).encode(), number)
    if block is not None:
        return block
    assert not plies
    games = np.zeros(1, GAME)  # no move, because the first move is a null move
    return GameBlock(
        np.zeros(1, np.uint8),
        games,
        np.empty(0, TAG),
        np.empty(0, np.uint16),
        np.empty(0, np.int64),
        np.empty(0, np.int16),
        np.empty(0, NOTE),
        number,
    )


def spans(games: Iterable[GameRecord]) -> Iterator[tuple[GameBlock, slice]]:
    """Yield games as parts of blocks, in their order."""
    for _, group in groupby(games, key=lambda game: id(game._block)):
        together = list(group)
        first = together[0]._index
        assert [game._index for game in together] == list(range(first, first + len(together)))
        yield together[0]._block, slice(first, first + len(together))


def pack_games(games: Sequence[GameRecord]) -> NDArray[np.void]:
    """Return the positions before each move of games, in their order, as an array of PACKED; see `replay_games`.
    The result is the one of `GameRecord.result`, or a draw if it is unknown.
    """
    records = np.concatenate([pack_block(block, which) for block, which in spans(games)])
    results = [round(2 * POINTS.get(game.result, POINTS["1/2-1/2"])) for game in games]  # `LOSS`, `DRAW` or `WIN`
    records["result"] = np.repeat(results, [game.plies for game in games])
    return records


def _score_of(value: int) -> chess.engine.Score:
    """Return the score that the core encodes as this number."""
    if abs(value) < _LEAST_MATE:
        return chess.engine.Cp(value)
    return chess.engine.MateGiven if value == _MATE else chess.engine.Mate(int(moves_to_mate(np.array(value))))


def is_mate(scores: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which of the core's scores are mates."""
    return np.asarray(abs(scores) >= _LEAST_MATE)


def moves_to_mate(scores: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the moves to mate of scores that are mates, negative if Black mates."""
    return np.asarray(np.sign(scores) * ((_MATE - abs(scores) + 1) // 2))


def squares_of(codes: NDArray[np.integer], chess960: bool | NDArray[np.bool_] = False) -> NDArray[np.int64]:
    """Convert moves from 16-bit codes to from-square | (to-square << 6) | (promotion << 12).
    Castling is the king's step; if `chess960` is true (one value, or one for each move), it is king takes rook.
    """
    moves = codes.astype(np.int64)
    kind, source, target = kind_of(moves), source_of(moves), target_of(moves)
    step = np.where(target > source, 6, 2) | source & 56
    target = np.where((kind == CASTLING) & ~np.asarray(chess960), step, target)
    promotion = np.where((kind >= chess.KNIGHT) & (kind <= chess.QUEEN), kind, 0)
    return np.asarray(new_move(source, target, promotion))


@cache
def _moves() -> list[chess.Move]:
    """Return a list of all moves, indexed by the numbers that `squares_of` returns."""
    kinds = (None, None, *range(chess.KNIGHT, chess.QUEEN + 1))
    return [
        chess.Move(source, target, promotion)
        for promotion in kinds
        for target in chess.SQUARES
        for source in chess.SQUARES
    ]


@cache
def move_names() -> list[str]:
    """Return a list of all moves in UCI notation, indexed by the numbers that `squares_of` returns."""
    return [move.uci() for move in _moves()]


@cache
def moves_by_code(chess960: bool) -> list[chess.Move]:
    """Return a list of all moves, indexed by their 16-bit codes."""
    table = _moves()
    return [table[squares] for squares in squares_of(np.arange(_CODES), chess960).tolist()]


@cache
def _names_by_code(chess960: bool) -> list[str]:
    """Return a list of all moves in UCI notation, indexed by their 16-bit codes."""
    return [move.uci() for move in moves_by_code(chess960)]
