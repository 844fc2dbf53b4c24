"""Queries about one position: its value, its legal moves, its exchanges, and its perft counts.

All functions may be called from any thread. Those that take long release the GIL.
"""

from bisect import bisect_left
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, cached_property

import chess
import numpy as np
from chess.engine import Cp, PovScore

from knightadder.core.evaluation.evaluate import CLASSICAL
from knightadder.engine.evaluator import evaluation_of
from knightadder.engine.explain.breakdown import Breakdown, Term, break_down
from knightadder.engine.explain.worths import piece_worths
from knightadder.engine.game import Game
from knightadder.engine.limits import MAX_PERFT_DEPTH
from knightadder.engine.notation import squares_of
from knightadder.engine.threads import run_in_thread
from knightadder.engine.wdl import material_of_sets, win_draw_loss
from knightadder.library.boards import Move, Position, bitboards_of, board_of, fen_of, name_of, whole
from knightadder.library.drawing import board_with_numbers, panel
from knightadder.library.frames import Cell, Tabular
from knightadder.library.scores import score_text
from knightadder.library.shared import Stock, tables_of
from knightadder.library.waiting import result_of

# The bounds of exchange values: losing a queen for nothing, and winning a queen with a promotion.
_LEAST, _MOST = -900, 1700
_STEP = 100  # all values are multiples of this, in centipawns

_SIZE = 400  # size of a board in pixels


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """The static value of a position. Jupyter shows it as a board with the worth of each piece.

    Attributes
    ----------
    centipawns : int
        The value from White's view, as the search uses it: corrected for known endings, and reduced as the fifty-move
        rule comes closer.
    turn : chess.Color
        The side to move.
    in_check : bool
        Whether that side is in check. A static value then means little, and the search does not use one.
    breakdown : Breakdown or None
        The terms of the value; ``None`` for an evaluation other than the classical one.
    fen : str
        The position.
    evaluation : str
        The name of the evaluation.
    """

    centipawns: int
    turn: chess.Color
    in_check: bool
    breakdown: Breakdown | None
    fen: str
    evaluation: str

    @property
    def score(self) -> PovScore:
        """The value as a score from the side to move's view."""
        return PovScore(Cp(self.centipawns if self.turn else -self.centipawns), self.turn)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms that count in the position; none for an evaluation other than the classical one."""
        return self.breakdown.terms if self.breakdown else ()

    @property
    def pieces(self) -> dict[chess.Square, int]:
        """The worth of each piece except the kings, in centipawns from White's view.

        It is the value minus the value without the piece, so a useful black piece has a negative worth. The worths are
        computed at the first access. They do not add up to the value, because pieces work together.
        """
        return self._pieces.copy()

    @cached_property
    def _pieces(self) -> dict[chess.Square, int]:
        with _games(self.evaluation).lend() as game:
            game.set_up(self.fen)
            return piece_worths(game, self.centipawns)

    def to_dict(self) -> dict[str, Cell]:
        """Return the evaluation as plain values. ``cp`` and ``score`` (text in pawns) are from White's view."""
        return {
            "fen": self.fen,
            "evaluation": self.evaluation,
            "score": score_text(self.score),
            "cp": self.centipawns,
            "turn": chess.COLOR_NAMES[self.turn],
            "in_check": self.in_check,
        }

    def svg(self, *, orientation: chess.Color = chess.WHITE, size: int | None = _SIZE) -> str:
        """Draw the board as an SVG image with the worth of each piece, in pawns.

        Parameters
        ----------
        orientation : chess.Color
            The side at the bottom.
        size : int or None
            Width and height in pixels; ``None`` fills the available space.
        """
        numbers = {square: f"{worth / 100:+.2f}" for square, worth in self.pieces.items()}
        return board_with_numbers(chess.BaseBoard(self.fen.split()[0]), numbers, orientation, size)

    def __repr__(self) -> str:
        return f"<Evaluation: {score_text(self.score)}, {self.evaluation}, {self.fen}>"

    def _repr_html_(self) -> str:
        board = chess.BaseBoard(self.fen.split()[0])
        men = board.occupied, board.pawns, board.knights, board.bishops, board.rooks, board.queens
        wins, draws, _ = win_draw_loss(self.centipawns, material_of_sets(men))
        rows = [(score_text(self.score), self.evaluation)]
        return panel(self.svg(size=_SIZE), _SIZE, (wins + draws / 2) / 1000, rows)


def evaluate(board: Position, evaluation: str | None = None) -> Evaluation:
    """Return the static value of a position: the engine's evaluation without search.

    Parameters
    ----------
    board : chess.Board or str
        The position: a board, a FEN or ``"startpos"``.
    evaluation : str, optional
        ``"classical"``, which also gives its terms, ``"pesto"`` or ``"nnue"`` (default: the default of the option
        ``EvalType``).

    Raises
    ------
    PositionError
        If the position is illegal.
    OptionError
        If there is no such evaluation, or its network cannot be used.
    """
    tables = tables_of(evaluation)
    board = board_of(board)
    fen = fen_of(board)
    with _games(evaluation).lend() as game:
        _set_up(game, board)
        value = game.evaluate()
        breakdown = break_down(game.trace(), tables.terms) if tables.evaluation == CLASSICAL else None
        name = evaluation_of(tables)
        return Evaluation(value if board.turn else -value, board.turn, game.in_check, breakdown, fen, name)


def legal_moves(board: Position) -> list[chess.Move]:
    """Return the legal moves of a board, a FEN or ``"startpos"``, by the engine's move generator. In Chess960, castling
    is king takes rook, as in python-chess. An illegal position raises a `PositionError`.
    """
    board = board_of(board)
    with _games().lend() as game:
        _set_up(game, board)
        return [chess.Move(*squares_of(move, board.chess960)) for move in game.legal_moves()]


def see(board: Position, move: Move) -> int:
    """Return the value of the exchange that a move starts, for the side that moves (static exchange evaluation).

    After the move, both sides may capture on its target square in turn, each with its least valuable piece and only
    while that pays. X-ray attackers join in. Pins are ignored, and a king captures only undefended pieces. The value is
    the material that the mover wins minus the material that it loses: pawn 100, knight and bishop 300, rook 500, queen
    900. If the move itself promotes, that counts; later promotions do not. Castling is worth 0. A quiet move is worth
    0, or less if its piece is lost.

    Parameters
    ----------
    board : chess.Board or str
        The position: a board, a FEN or ``"startpos"``.
    move : chess.Move or str
        A legal move. Text is in algebraic or UCI notation.

    Returns
    -------
    int
        The value in centipawns.

    Raises
    ------
    PositionError
        If the position or the move is illegal.
    TypeError
        If ``board`` is not a position, or ``move`` is not a move.
    """
    board = board_of(board)
    with _games().lend() as game:
        _set_up(game, board)
        name = name_of(board, move)
        # The core only tells whether an exchange wins at least a certain value. The result is the greatest such value.
        steps = range(_LEAST + _STEP, _MOST + _STEP, _STEP)
        return _LEAST + _STEP * bisect_left(steps, True, key=lambda value: not game.exchange_wins(name, value))


def perft(board: Position, depth: int) -> int:
    """Count the leaves of the tree of legal moves from a position. Ctrl-C ends the count.

    Parameters
    ----------
    board : chess.Board or str
        The position: a board, a FEN or ``"startpos"``.
    depth : int
        Plies, 0 to 60.

    Raises
    ------
    PositionError
        If the position is illegal.
    ValueError, TypeError
        If the depth is out of range or not a whole number.
    """
    if whole("depth", depth, 0, MAX_PERFT_DEPTH) == 0:
        legal_moves(board)  # raises an error for an illegal position
        return 1
    return sum(divide(board, depth).values())


def divide(board: Position, depth: int) -> dict[chess.Move, int]:
    """Count the leaves of the tree of legal moves by first move; see `perft`. The depth must be at least 1."""
    depth = whole("depth", depth, 1, MAX_PERFT_DEPTH)
    board = board_of(board)
    fen = fen_of(board)  # without the moves that led to it
    games, counts, stop = _games(), Future[dict[str, int]](), np.zeros(1, np.uint64)

    def count() -> None:
        # This thread itself returns the game to the pool, because Ctrl-C may end the caller's wait at any moment.
        try:
            with games.lend() as game:
                game.set_up(fen)
                found = game.perft(depth, chess960=board.chess960, stop=stop)
            counts.set_result(found)
        except BaseException as error:
            counts.set_exception(error)

    try:
        run_in_thread(count, "perft")
        found = result_of(counts)
    finally:
        stop[0] = 1
    return {chess.Move.from_uci(name): count for name, count in found.items()}


def _set_up(game: Game, board: chess.Board) -> None:
    """Set up a board's position, without the moves that led to it; PositionError if it is illegal."""
    numbers = bitboards_of(board)
    if numbers is None or not game.set_up_bitboards(numbers, board.fullmove_number):
        game.set_up(fen_of(board))  # raises an error that names the fault


@cache
def _games(evaluation: str | None = None) -> Stock[Game]:
    tables = tables_of(evaluation)
    return Stock(lambda: Game(tables))
