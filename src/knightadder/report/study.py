"""The task that studies a game of the player, for the workers of a pool."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import chess
import chess.engine

from knightadder.engine.errors import EngineError, PositionError
from knightadder.foreign import parse_json
from knightadder.motifs.line import boards_along
from knightadder.pgn.games import BrokenGame, GameText, PgnGame, moves_of, parse
from knightadder.review.accuracy import Scale, scale_of, win_percent
from knightadder.review.game_evaluation import SearchedPosition, evaluate, evaluation_of, from_json, to_json
from knightadder.review.judgement import LARGE
from knightadder.review.move_table import AnnotatedMove, moves_table
from knightadder.review.review import Review, review
from knightadder.worker_engine import WorkerEngine

_CHOICES = 5  # number of moves to compare in the position of a mistake


@dataclass(frozen=True, slots=True)
class GameOfPlayer:
    """A game of the player."""

    number: int  # index from 0; a game between two of the player's names counts as two items
    file: str  # name of the game's file
    white: bool  # whether the player has White
    text: GameText


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake or blunder: the move, and the best moves, each with the player's win percentage and its line."""

    move: AnnotatedMove  # the move, with the position before it and its fault
    choices: tuple[tuple[chess.Move, float, tuple[chess.Move, ...]], ...]


@dataclass(frozen=True, slots=True)
class StudiedGame:
    """A game of the player with the engine's results."""

    item: GameOfPlayer
    game: PgnGame
    review: Review
    moves: tuple[AnnotatedMove, ...]
    mistakes: tuple[Mistake, ...]  # the player's mistakes and blunders


@dataclass(frozen=True, slots=True)
class _Told:
    """The result of the task: the game's evaluations and, by ply, more lines at each mistake; or the game's fault."""

    evaluations: list[Any] = field(default_factory=list)
    choices: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None


class GameStudy:
    """The task: studies a game with `limit` for each position. Its result is JSON, see `studied`."""

    def __init__(self, limit: chess.engine.Limit, engine: WorkerEngine) -> None:
        self._limit, self._engine = limit, engine

    def __call__(self, item: GameOfPlayer) -> bytes:
        """Study a game; EngineError if a search fails."""
        try:
            board = _end_of(_read(item))
        except BrokenGame as fault:
            return json.dumps(asdict(_Told(fault=str(fault)))).encode()
        analyst = self._engine.get()
        try:
            scale = scale_of(self._engine.other is not None)
            evaluations = evaluate(board, analyst, self._limit, scale=scale)
            choices = self._choices(item, board, review(board, evaluations, scale))
        except PositionError as fault:  # for example, a move number has become too large
            return json.dumps(asdict(_Told(fault=str(fault)))).encode()
        return json.dumps(asdict(_Told(to_json(evaluations), choices))).encode()

    def _choices(self, item: GameOfPlayer, board: chess.Board, found: Review) -> dict[str, Any]:
        """Search the positions of the player's mistakes with more lines."""
        analyst = self._engine.get()
        boards = boards_along(board.root(), board.move_stack)
        analyst.new_game()
        choices = {}
        for ply in _large_mistakes(item, found):
            lines = analyst.analyse(boards[ply], self._limit, multipv=_CHOICES).lines
            choices[str(ply)] = to_json([evaluation_of(boards[ply], lines)])[0]
        return choices

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        self._engine.close()


def studied(item: GameOfPlayer, result: bytes, is_other: bool) -> StudiedGame:
    """Read the result of a `GameStudy`; `is_other` says whether an external engine has evaluated the game.
    BrokenGame if the game cannot be used; EngineError if the data is not a result of the task for this game.
    """
    try:
        told: _Told = parse_json(result, _Told)
        if told.fault is not None:
            raise BrokenGame(told.fault)
        game = _read(item)
        board = _end_of(game)
        scale = scale_of(is_other)
        evaluations = from_json(told.evaluations, board)
        found = review(board, evaluations, scale)
        moves = moves_table(game, found)
        mistakes = []
        for ply in _large_mistakes(item, found):
            before = chess.Board(moves[ply].fen, chess960=board.chess960)
            [more] = from_json([told.choices[str(ply)]], before)
            if more is None:
                raise ValueError("a position has no evaluation")
            mistakes.append(Mistake(moves[ply], _choices_of(more, before.turn, scale)))
    except BrokenGame:
        raise
    except (ValueError, KeyError):
        raise EngineError(f"a worker returned a damaged study of {item.text.place(item.file)}") from None
    return StudiedGame(item, game, found, moves, tuple(mistakes))


def _read(item: GameOfPlayer) -> PgnGame:
    game = parse(item.text)
    if game is None:
        raise BrokenGame("no moves")
    return game


def _end_of(game: PgnGame) -> chess.Board:
    """Return the position after the moves; BrokenGame if there is a null move: such a game was not played."""
    moves = moves_of(game)
    if len(moves) < game.end().ply() - game.ply():
        raise BrokenGame("a null move")
    board = game.board()
    for move in moves:
        board.push(move)
    return board


def _large_mistakes(item: GameOfPlayer, found: Review) -> list[int]:
    """Return the plies of the player's mistakes and blunders, counted from 0."""
    return [ply for ply in found.plies(item.white) if found.judgements[ply] in LARGE]


def _choices_of(
    position: SearchedPosition, side: chess.Color, scale: Scale
) -> tuple[tuple[chess.Move, float, tuple[chess.Move, ...]], ...]:
    return tuple((each.moves[0], win_percent(scale(each.score.pov(side))), each.moves) for each in position.variations)
