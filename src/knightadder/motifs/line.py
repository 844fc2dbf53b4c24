"""A line played out on boards, in which motifs are searched for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import chess


def boards_along(board: chess.Board, moves: Iterable[chess.Move]) -> list[chess.Board]:
    """Return the board before each move, and the board after the last move; each board contains its earlier moves."""
    boards = [board.copy()]
    for move in moves:
        board = boards[-1].copy()
        board.push(move)
        boards.append(board)
    return boards


@dataclass(frozen=True, slots=True)
class PlayedLine:
    """A solution: the solver's moves and the replies, the board before each move, and the board after the last move."""

    boards: Sequence[chess.Board]
    moves: Sequence[chess.Move]

    @property
    def solver(self) -> chess.Color:
        """The side of the solver."""
        return self.boards[0].turn

    def turns(self) -> range:
        """Return the indices of the solver's moves."""
        return range(0, len(self.moves), 2)

    def followed(self) -> Iterator[tuple[chess.Move, chess.Board, chess.Move, chess.Move]]:
        """Yield each move of the solver except the last, the board after it, the reply, and the solver's next move."""
        for turn in self.turns()[:-1]:
            yield self.moves[turn], self.boards[turn + 1], self.moves[turn + 1], self.moves[turn + 2]

    def takes_later(self, turn: int, square: chess.Square) -> bool:
        """Return whether the solver, after move `turn`, takes the piece that then stands on a square."""
        for number in range(turn + 1, len(self.moves)):
            move = self.moves[number]
            if number % 2 and square in (move.from_square, move.to_square):
                return False  # that piece moves away
            if number % 2 == 0 and move.to_square == square:
                return True
        return False

    def solver_moves(self) -> Iterator[tuple[chess.Move, chess.Board, chess.Board]]:
        """Yield the solver's moves with the boards before and after."""
        for turn in self.turns():
            yield self.moves[turn], self.boards[turn], self.boards[turn + 1]
