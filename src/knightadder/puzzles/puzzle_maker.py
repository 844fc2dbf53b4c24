"""The task that finds the puzzles of a game, for the workers of a pool."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field

import chess
import chess.engine
import chess.pgn

from knightadder.engine.errors import EngineError, PositionError
from knightadder.foreign import parse_json
from knightadder.library.board_engine import Engine
from knightadder.library.many import analyse_many
from knightadder.motifs.line import boards_along
from knightadder.opening_names import find_opening
from knightadder.pgn.games import BrokenGame, GameText, moves_of, parse
from knightadder.puzzles.finding import SCAN_NODES, Found, find_puzzles
from knightadder.puzzles.puzzle import Puzzle, Solution
from knightadder.puzzles.rating import rate
from knightadder.puzzles.themes import kind_of, themes_of
from knightadder.review.accuracy import scale_of
from knightadder.review.game_evaluation import SearchedPosition, at_the_end, evaluation_of
from knightadder.worker_engine import WorkerEngine

_LICHESS_GAME = re.compile(r"https?://lichess\.org/\w{8}(?=$|\w{4}$|/|#|\?)")
_LAST_OPENING_MOVE = 20  # as on Lichess; later positions have little to do with the opening
_SCAN_HASH_MB = 1
_RATING_HASH_MB = 1  # small, because the table is cleared before each search


@dataclass(frozen=True, slots=True)
class ScannedGame:
    """A game to search for puzzles: its index, from 0, among the games of all files; the file's name; and its text."""

    number: int
    file: str
    text: GameText


class PuzzleMaker:
    """The task. Its result is JSON, see `result_of`. `nodes` is the node limit of the search that decides on a move.
    An external engine finds the puzzles; this engine then only rates them.
    """

    def __init__(self, nodes: int, engine: WorkerEngine) -> None:
        self._nodes, self._engine = nodes, engine
        self._player: Engine | None = None

    def __call__(self, item: ScannedGame) -> bytes:
        """Find the puzzles of a game; EngineError if a search fails."""
        try:
            game = parse(item.text)
        except BrokenGame as fault:
            return _Told(fault=str(fault)).to_json()
        if game is None:
            return _Told([]).to_json()
        seeker, other = self._engine.get(), self._engine.other
        if self._player is None:
            self._player = Engine(hash_mb=_RATING_HASH_MB, options=self._engine.own_options)
        scale = scale_of(other is not None)
        site = game.headers.get("Site", "")
        address = site if site.startswith(("http://", "https://")) else f"{item.file}?game={item.text.number}"
        rows = []
        try:
            end = _end_of(game)
            findings = find_puzzles(end, seeker, self._nodes, scale, None if other else _scan)
            kinds = set()
            for found in findings.puzzles:
                themes = themes_of(found.solution, found.score, found.saves, found.zugzwang)
                if kind_of(themes) in kinds:
                    continue  # one puzzle of each kind is enough
                kinds.add(kind_of(themes))
                rating = rate(found.solution, self._player)
                rows.append(_row(found, themes, rating, _place(address, found), _opening_tags(end, found)))
        except PositionError as error:  # for example, a move number has become too large
            return _Told(fault=str(error)).to_json()
        return _Told(rows, game.notes, reason=findings.reason).to_json()

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        self._engine.close()


def _end_of(game: chess.pgn.Game) -> chess.Board:
    """Return the position at the end of a game, or before its first null move: later positions make no fair puzzles."""
    board = game.board()
    for move in moves_of(game):
        board.push(move)
    return board


def _scan(game: chess.Board) -> list[SearchedPosition | None]:
    """Evaluate the positions of a game by very short searches, all in one call, because each call has an overhead."""
    boards = boards_along(game.root(), game.move_stack)
    open_boards = [board for board in boards if board.is_valid() and any(board.legal_moves)]
    limit = chess.engine.Limit(nodes=SCAN_NODES)
    analyses = iter(analyse_many(open_boards, limit, workers=1, hash_mb=_SCAN_HASH_MB))
    found: list[SearchedPosition | None] = []
    for board in boards:
        if not board.is_valid():
            found.append(None)
        elif any(board.legal_moves):
            found.append(evaluation_of(board, next(analyses).lines))
        else:
            found.append(at_the_end(board))
    return found


def _place(address: str, found: Found) -> str:
    """Return the address of a puzzle as in Lichess's database: the game, ``/black`` if Black moved last, and the ply.
    Addresses of other sites get no side, because those sites would not understand it.
    """
    lichess = _LICHESS_GAME.match(address)
    if lichess:
        address = lichess[0]
    is_whites_task = found.solution.board().turn == chess.WHITE
    side = "/black" if is_whites_task and (lichess or "://" not in address) else ""
    return f"{address}{side}#{found.ply}"


def _opening_tags(end: chess.Board, found: Found) -> tuple[str, ...]:
    """Return the opening tags of the game in which a puzzle was found; none if the puzzle comes too late."""
    board = end.copy()
    while board.ply() > found.ply:
        board.pop()
    opening = find_opening(board) if board.fullmove_number <= _LAST_OPENING_MOVE else None
    return opening.tags() if opening else ()


@dataclass(frozen=True, slots=True)
class GameResult:
    """The puzzles of a game, the changes that were needed to read it, and the reason if there are no puzzles."""

    puzzles: list[Puzzle]
    notes: list[str]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    fen: str
    moves: list[str]
    previous_fen: str | None
    previous: str | None
    chess960: bool
    themes: tuple[str, ...]
    rating: int | None
    game: str
    openings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Told:
    """The result of the task: the puzzles of a game, and the changes that were needed to read it; or its fault."""

    puzzles: list[_Row] | None = None
    notes: list[str] = field(default_factory=list)
    fault: str | None = None
    reason: str | None = None

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def _row(found: Found, themes: tuple[str, ...], rating: int, game: str, openings: tuple[str, ...]) -> _Row:
    solution = found.solution
    return _Row(
        fen=solution.fen,
        moves=[move.uci() for move in solution.moves],
        previous_fen=solution.previous_fen,
        previous=solution.previous.uci() if solution.previous else None,
        chess960=solution.chess960,
        themes=themes,
        rating=rating,
        game=game,
        openings=openings,
    )


def result_of(result: bytes) -> GameResult:
    """Read the result of the task. BrokenGame if the game cannot be used; EngineError if the data is damaged."""
    try:
        value: _Told = parse_json(result, _Told)
        puzzles = [_puzzle(row) for row in value.puzzles or []]
        if value.puzzles is None and value.fault is None:
            raise ValueError
    except ValueError:
        raise EngineError("a worker returned damaged puzzles") from None
    if value.fault is not None:
        raise BrokenGame(value.fault)
    return GameResult(puzzles, value.notes, value.reason)


def _puzzle(row: _Row) -> Puzzle:
    """Return a puzzle; ValueError if it has an illegal position or move."""
    board, moves = chess.Board(row.fen, chess960=row.chess960), [*map(chess.Move.from_uci, row.moves)]
    previous_fen, previous = row.previous_fen, chess.Move.from_uci(row.previous) if row.previous else None
    if previous:
        if previous_fen is None:
            raise ValueError
        (after,) = Solution.of(chess.Board(previous_fen, chess960=board.chess960), [previous]).boards()[1:]
        if after.fen() != board.fen():
            raise ValueError
    solution = Solution.of(board, moves, previous_fen, previous)
    return Puzzle(solution, solution.id, row.themes, row.rating, row.game, row.openings)
