"""Evaluates the positions of a game in blocks. The caller chooses the engine and the limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

import chess
import chess.engine
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl

from knightadder.library.boards import board_of, position_of
from knightadder.library.results import Analysis, Line
from knightadder.library.scores import MOST_DEPTH, MOST_SCORE
from knightadder.review.accuracy import Scale, rescale
from knightadder.review.judgement import is_obvious, praise

# Number of positions in a block. Longer blocks are a little faster, because each block searches one more position.
# With shorter blocks, more processes can share a game.
_BLOCK = 16

# Maximum number of moves of a line; readers do not need longer lines.
_LINE_PLIES = 12

# Depth of the first search of the moves other than the best. It usually finds a move that is about as good.
FIRST_LOOK = 6


class Analyst(Protocol):
    """The methods of `knightadder.Engine` that a review needs."""

    def new_game(self) -> None:
        """Clear the tables that earlier searches have filled."""

    def analyse(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> Analysis:
        """Analyse a position, or some of its moves."""


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A line that the engine found: its score, and its moves (at least one)."""

    score: PovScore
    moves: tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class SearchedPosition:
    """The result of a search of a position: the best lines (none if the game is over), and the first line's score."""

    score: PovScore
    depth: int  # in plies; 0 if the game is over
    variations: tuple[ScoredLine, ...]
    wdl: PovWdl | None = None  # expected wins, draws and losses in 1000 games; None if the engine does not report them
    rival: PovScore | None = None  # score of the second-best move, if known: it shows how much better the best move is


@dataclass(frozen=True, slots=True)
class Block:
    """Positions of a game that are evaluated together, independently of the game's other positions."""

    game: int
    first: int  # index of the first position of the block, counted from the first position of the game
    last: int  # index of the last position of the block
    plies: int  # length of the game in plies
    fen: str  # a position at or before the first position of the block
    chess960: bool
    moves: tuple[str, ...]  # in UCI notation, from `fen` to the position after the block, or to the end of the game

    def __len__(self) -> int:
        return self.last - self.first + 1

    def board(self) -> chess.Board:
        """Return the position after the block, or the last position of the game, with its moves."""
        board = chess.Board(self.fen, chess960=self.chess960)
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
        return board


def blocks(number: int, board: chess.Board) -> list[Block]:
    """Divide a game, given its last position with all moves, into blocks; PositionError if it is another variant."""
    board = board_of(board, warn=False)
    moves = tuple(move.uci() for move in board.move_stack)
    plies, found = len(moves), []
    for first, position in zip(range(plies, -1, -1), _backwards(board), strict=True):
        if first % _BLOCK == 0:
            fen, before = position_of(position)
            last = min(first + _BLOCK - 1, plies)
            found.append(Block(number, first, last, plies, fen, board.chess960, before + moves[first : last + 1]))
    return found[::-1]


def evaluate(
    board: chess.Board, analyst: Analyst, limit: chess.engine.Limit, multipv: int = 1, scale: Scale | None = rescale
) -> list[SearchedPosition | None]:
    """Return evaluations of all positions of a game, given its last position with all moves; see `evaluate_block`."""
    return [each for block in blocks(0, board) for each in evaluate_block(block, analyst, limit, multipv, scale)]


def evaluate_block(
    block: Block, analyst: Analyst, limit: chess.engine.Limit, multipv: int = 1, scale: Scale | None = rescale
) -> list[SearchedPosition | None]:
    """Return evaluations of a block's positions, with `limit` for each position; EngineError if a search fails.

    The analyst is cleared first, so that the result depends only on the arguments. An impossible position, for example
    after a null move in check, has None. `scale` converts the analyst's scores to Stockfish's scale, to find the moves
    that may be praised, whose positions also get the score of the second-best move. With None, no move is praised.
    """
    analyst.new_game()
    # Positions are searched from last to first, so that the hash table already contains results for the positions
    # after each move. For the same reason, the position after the block is searched, too.
    end = block.board()
    positions = islice(_backwards(end), len(block) + (block.last < block.plies))
    found = [_evaluate(position, analyst, limit, multipv) for position in positions][::-1]
    if scale is not None:  # last, so that no evaluation depends on which moves were played
        _search_rivals(end, found, analyst, limit, scale)
    return found[: len(block)]


def _search_rivals(
    end: chess.Board,
    found: list[SearchedPosition | None],
    analyst: Analyst,
    limit: chess.engine.Limit,
    scale: Scale,
) -> None:
    """Add the scores of the second-best moves to evaluations, if the played moves may be praised. `end` is the last of
    the positions, and is changed.
    """
    for number in reversed(range(len(found) - 1)):
        move, each = end.pop(), found[number]
        if each is None or not (others := rivals(end, move, each)):
            continue
        look = analyst.analyse(end, chess.engine.Limit(depth=FIRST_LOOK), root_moves=others)
        if stands_out(end, each, look.score, scale):
            found[number] = replace(each, rival=analyst.analyse(end, limit, root_moves=others).score)


def at_the_end(board: chess.Board) -> SearchedPosition:
    """Return the evaluation of a position in which the game is over: checkmate or a draw."""
    lost = board.is_checkmate()
    wdl = PovWdl(Wdl(0, 0, 1000) if lost else Wdl(0, 1000, 0), board.turn)
    return SearchedPosition(PovScore(Mate(0) if lost else Cp(0), board.turn), 0, (), wdl)


def evaluation_of(board: chess.Board, lines: Sequence[Line]) -> SearchedPosition:
    """Return the evaluation of a searched position from its lines (at least one), best first."""
    variations = [ScoredLine(line.score, legal_part(board, line.pv)) for line in lines]
    best = lines[0]
    told = best.wdl if sum(best.wdl.relative) else None
    rival = lines[1].score if len(lines) > 1 else None
    return SearchedPosition(best.score, best.depth, tuple(each for each in variations if each.moves), told, rival)


def rivals(board: chess.Board, move: chess.Move, evaluation: SearchedPosition) -> list[chess.Move]:
    """Return the moves to search before the played move can be praised; empty if it cannot be praised."""
    if evaluation.rival is not None or not is_best(move, evaluation) or is_obvious(board, move):
        return []
    return [other for other in board.legal_moves if other != move]


def is_best(move: chess.Move, evaluation: SearchedPosition) -> bool:
    """Return whether a move is the first move of the best line."""
    return bool(evaluation.variations) and evaluation.variations[0].moves[0] == move


def stands_out(board: chess.Board, evaluation: SearchedPosition, rival: PovScore, scale: Scale = rescale) -> bool:
    """Return whether the best move would be praised if the second-best move had the score `rival`."""
    best = evaluation.variations[0].moves[0]
    return praise(board, best, scale(evaluation.score.relative), scale(rival.relative)) is not None


def _backwards(board: chess.Board) -> Iterator[chess.Board]:
    """Yield the positions of a game from last to first. They are the same board, with moves taken back."""
    board = board.copy()
    yield board
    while board.move_stack:
        board.pop()
        yield board


def _evaluate(board: chess.Board, analyst: Analyst, limit: chess.engine.Limit, multipv: int) -> SearchedPosition | None:
    if not board.is_valid():
        return None
    if not any(board.legal_moves):
        return at_the_end(board)
    return evaluation_of(board, analyst.analyse(board, limit, multipv=multipv).lines)


def legal_part(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[chess.Move, ...]:
    """Return a line, cut to a readable length and before an illegal move, which a hash collision can cause."""
    end = board.copy(stack=False)
    legal = []
    for move in moves[:_LINE_PLIES]:
        if not end.is_legal(move):
            break
        legal.append(move)
        end.push(move)
    return tuple(legal)


# --- JSON ----------------------------------------------------------------------------------------------------------


def to_json(evaluations: Sequence[SearchedPosition | None]) -> list[Any]:
    """Convert evaluations to JSON values: score, depth, lines, WDL and rival, from the side to move's view."""
    return [
        each
        and [
            _score_text(each.score),
            each.depth,
            [
                [_score_text(variation.score), " ".join(move.uci() for move in variation.moves)]
                for variation in each.variations
            ],
            each.wdl and [*each.wdl.relative],
            *([] if each.rival is None else [_score_text(each.rival)]),
        ]
        for each in evaluations
    ]


def from_json(values: Any, board: chess.Board) -> list[SearchedPosition | None]:
    """Convert the result of `to_json` back to evaluations of a game, given its end with all moves; or ValueError."""
    return _read(values, _backwards(board), len(board.move_stack) + 1)


def check_block(values: Any, block: Block) -> None:
    """Raise ValueError if JSON values cannot be the result of `to_json` for a block."""
    _read(values, islice(_backwards(block.board()), block.last < block.plies, None), len(block))


def _read(values: Any, positions: Iterable[chess.Board], count: int) -> list[SearchedPosition | None]:
    """Convert the JSON values of positions, which are given from the last to the first."""
    if not isinstance(values, list) or len(values) != count:
        raise ValueError("expected one evaluation for each position")
    try:
        found = [_from_json(value, position) for value, position in zip(values[::-1], positions, strict=False)]
    except TypeError as error:
        raise ValueError(str(error)) from None
    return found[::-1]


def _from_json(value: Any, board: chess.Board) -> SearchedPosition | None:
    if value is None:
        return None
    score, depth, lines, *rest = value
    if type(depth) is not int or not 0 <= depth <= MOST_DEPTH:
        raise ValueError(f"{depth!r} is not a depth")
    variations = tuple(_variation(line, board) for line in lines)
    wdl, rival, *more = [*rest, None, None][: max(2, len(rest))]
    if more:
        raise ValueError(f"too many values: {more!r}")
    rated = None if rival is None else _score(rival, board.turn)
    return SearchedPosition(_score(score, board.turn), depth, variations, _wdl(wdl, board.turn), rated)


def _wdl(counts: Any, turn: chess.Color) -> PovWdl | None:
    if counts is None:
        return None
    wins, draws, losses = counts
    if any(type(count) is not int or not 0 <= count <= 1000 for count in (wins, draws, losses)):
        raise ValueError(f"expected wins, draws and losses, not {counts!r}")
    return PovWdl(Wdl(wins, draws, losses), turn)


def _variation(line: Any, board: chess.Board) -> ScoredLine:
    score, text = line
    moves = tuple(map(chess.Move.from_uci, text.split())) if isinstance(text, str) else ()
    if not moves or legal_part(board, moves) != moves:
        raise ValueError(f"{text!r} is not a legal line from {board.fen()}")
    return ScoredLine(_score(score, board.turn), moves)


def _score_text(score: PovScore) -> int | str:
    mate = score.relative.mate()
    return f"#{mate}" if mate is not None else score.relative.score(mate_score=0)


def _score(value: Any, turn: chess.Color) -> PovScore:
    is_mate = isinstance(value, str)
    number = int(value.removeprefix("#")) if is_mate else value
    if type(number) is not int or abs(number) > MOST_SCORE:
        raise ValueError(f"{value!r} is not a score")
    return PovScore(Mate(number) if is_mate else Cp(number), turn)
