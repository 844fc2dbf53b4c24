"""A small search on python-chess, for moves that cannot wait until the core is compiled.

It is alpha-beta with iterative deepening and a quiescence search over captures. It sees some thousand positions a
second, so simplicity counts more than strength.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import chess

MATE = 30_000
_INFINITY = MATE + 1
_MAX_DEPTH = 64  # plies; far more than this search can reach, unless a mate ends every line

# Centipawns, near those of the Simplified Evaluation Function (Tomasz Michniewski).
_VALUES = {chess.PAWN: 100, chess.KNIGHT: 320, chess.BISHOP: 330, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}
_CENTRE_WEIGHTS = {chess.PAWN: 3, chess.KNIGHT: 10, chess.BISHOP: 5, chess.ROOK: 1, chess.QUEEN: 2}
_PAWN_ADVANCE = 2  # times the square of the rank
_KING_HOME, _KING_CENTRE = -10, 10  # times the nearness to the centre, with queens on the board and without


def _nearness(square: chess.Square) -> int:
    """Give 0 in the corners to 6 in the centre."""
    file, rank = chess.square_file(square), chess.square_rank(square)
    return min(file, 7 - file) + min(rank, 7 - rank)


# Piece-square tables from White's view.
_TABLES = {
    piece: [_VALUES[piece] + weight * (_nearness(square) - 3) for square in chess.SQUARES]
    for piece, weight in _CENTRE_WEIGHTS.items()
}
for _square in chess.SQUARES:
    _TABLES[chess.PAWN][_square] += _PAWN_ADVANCE * chess.square_rank(_square) ** 2


@dataclass(frozen=True, slots=True)
class Line:
    """The result of one iteration: its depth in plies, the score for the side to move, and the principal variation."""

    depth: int
    score: int
    moves: list[chess.Move]


class Stopped(Exception):
    """The search has been told to stop."""


def evaluate(board: chess.Board) -> int:
    """Give the static evaluation in centipawns for the side to move: material and piece-square tables."""
    score = 0
    king_weight = _KING_HOME if board.queens else _KING_CENTRE
    for colour, sign, flip in ((chess.WHITE, 1, 0), (chess.BLACK, -1, 56)):
        for piece, table in _TABLES.items():
            score += sign * sum(table[square ^ flip] for square in chess.scan_forward(board.pieces_mask(piece, colour)))
        king = board.king(colour)
        assert king is not None
        score += sign * king_weight * _nearness(king)
    return score if board.turn else -score


class StandbySearch:
    """One search.

    Parameters
    ----------
    board : chess.Board
        The position with the moves that led to it; changed during the search.
    must_stop : callable
        Asked at every node whether to stop.

    Attributes
    ----------
    nodes : int
        Positions visited so far.
    best_line : list of chess.Move
        The best line so far, also from an iteration that was stopped; empty before the first move has been searched.
    """

    def __init__(self, board: chess.Board, must_stop: Callable[[], bool]) -> None:
        self.nodes = 0
        self.best_line: list[chess.Move] = []
        self._board = board
        self._must_stop = must_stop
        self._root_moves: Sequence[chess.Move] = ()

    def deepen(self, root_moves: Sequence[chess.Move], depth: int | None = None) -> Iterator[Line]:
        """Search deeper and deeper; give the result of every completed iteration.

        Parameters
        ----------
        root_moves : sequence of chess.Move
            The moves to choose from, at least one.
        depth : int, optional
            Plies of the last iteration.
        """
        self._root_moves = root_moves
        for plies in range(1, min(depth or _MAX_DEPTH, _MAX_DEPTH) + 1):
            try:
                score, moves = self._search(plies, -_INFINITY, _INFINITY, 0)
            except Stopped:
                return
            yield Line(plies, score, moves)

    def _search(self, depth: int, alpha: int, beta: int, ply: int) -> tuple[int, list[chess.Move]]:
        """Give the score for the side to move, and the line that leads to it."""
        if self._must_stop():
            raise Stopped
        self.nodes += 1
        board = self._board
        if ply and (board.is_repetition(2) or board.is_fifty_moves() or board.is_insufficient_material()):
            return 0, []
        best, line = -_INFINITY, []
        if depth > 0 or board.is_check():
            moves = list(board.legal_moves) if ply else list(self._root_moves)
            if not moves:
                return (ply - MATE if board.is_check() else 0), []
        else:
            captures = list(board.generate_legal_captures())
            if not captures and not any(board.generate_legal_moves()):
                return 0, []
            best = evaluate(board)
            if best >= beta:
                return best, []
            moves = [move for move in captures if not self._loses(move)]
        expected = self.best_line[ply] if ply < len(self.best_line) else None
        moves.sort(key=lambda move: (move == expected, self._gain(move)), reverse=True)
        for move in moves:
            board.push(move)
            score, reply = self._search(depth - 1, -beta, -max(alpha, best), ply + 1)
            board.pop()
            if -score > best:
                best, line = -score, [move, *reply]
                if ply == 0:
                    self.best_line = line
                if best >= beta:
                    break
        return best, line

    def _gain(self, move: chess.Move) -> int:
        """Order captures by the most valuable victim, then by the least valuable attacker (MVV-LVA)."""
        gain = _VALUES[move.promotion] if move.promotion else 0
        if self._board.is_capture(move):
            gain += 10 * self._victim(move) - self._attacker(move) + _VALUES[chess.QUEEN]
        return gain

    def _loses(self, move: chess.Move) -> bool:
        """Say whether a capture seems to lose material: a piece takes a lesser one that is protected."""
        board = self._board
        return self._attacker(move) > self._victim(move) and board.is_attacked_by(not board.turn, move.to_square)

    def _attacker(self, move: chess.Move) -> int:
        return _VALUES[self._board.piece_type_at(move.from_square) or chess.PAWN]

    def _victim(self, move: chess.Move) -> int:
        return _VALUES[self._board.piece_type_at(move.to_square) or chess.PAWN]  # none stands there en passant
