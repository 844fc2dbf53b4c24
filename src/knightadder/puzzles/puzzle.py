"""A puzzle: a position, its solution (the only good moves, with the replies between them), and other data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import chess

from knightadder.motifs.line import boards_along


@dataclass(frozen=True, slots=True)
class Solution:
    """The solution of a puzzle: the position to solve, and the moves. The first and the last move are the solver's."""

    fen: str
    moves: tuple[chess.Move, ...]  # the solver's moves and, between them, the replies
    previous_fen: str | None = None  # the position before the opponent's last move, if known
    previous: chess.Move | None = None  # the opponent's last move, if known
    chess960: bool = False

    @classmethod
    def of(
        cls,
        board: chess.Board,
        moves: Sequence[chess.Move],
        previous_fen: str | None = None,
        previous: chess.Move | None = None,
    ) -> Solution:
        """Return the solution of a position, without a reply at its end; ValueError if it is illegal or has no move.
        Castling may be given as the king's step, or as king takes rook.
        """
        moves = moves[: len(moves) - (len(moves) + 1) % 2]
        if not moves:
            raise ValueError("there is no solution")
        end, legal = board.copy(), []
        for move in moves:
            if not end.is_legal(move):
                raise ValueError(f"illegal move {move.uci()} in {end.fen()}")
            legal.append(end.push_uci(move.uci()))
        return cls(board.fen(), tuple(legal), previous_fen, previous, board.chess960)

    def board(self) -> chess.Board:
        """Return a new board with the position to solve, after the opponent's last move if it is known."""
        if self.previous is None:
            return chess.Board(self.fen, chess960=self.chess960)
        board = chess.Board(self.previous_fen or chess.STARTING_FEN, chess960=self.chess960)
        board.push(self.previous)
        return board

    def boards(self) -> list[chess.Board]:
        """Return the boards before each move, and the board after the last move."""
        return boards_along(self.board(), self.moves)

    def steps(self) -> Iterator[tuple[chess.Board, chess.Move]]:
        """Yield the positions in which the solver moves, each with the right move."""
        for number, board in enumerate(self.boards()[:-1]):
            if number % 2 == 0:
                yield board, self.moves[number]

    @property
    def id(self) -> str:
        """Eight letters and digits that depend only on the position and the solution."""
        text = f"{self.fen} {' '.join(move.uci() for move in self.moves)}"
        return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A puzzle: its solution, name, themes and rating."""

    solution: Solution
    id: str
    themes: tuple[str, ...] = ()  # Lichess's names, in alphabetical order
    rating: int | None = None  # in Elo; None if unknown
    game: str = ""  # address of the game, with the ply of the position; may be empty
    openings: tuple[str, ...] = ()  # Lichess's tags of the game's opening and variation
    deviation: int | None = None  # uncertainty of the rating, as in Glicko; None if unknown
