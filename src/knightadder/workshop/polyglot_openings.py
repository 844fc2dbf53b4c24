"""Openings from a Polyglot book: random lines, drawn by the weights of the moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import chess

from knightadder.engine.book import Book

_MOST_LINES = 10_000
MOST_PLIES = 60  # default maximum of plies in a line, because some books contain cycles
_DRAWS = 10_000  # stop after this many draws without a new line: the missing lines are too rare to matter


@dataclass(slots=True)
class _Node:
    """A position of the tree of lines, with the book's moves and the positions after them."""

    moves: list[str]
    weights: list[int]
    following: dict[str, _Node] = field(default_factory=dict)


def draw_lines(file: Path, plies: int | None = None, seed: int = 1) -> list[str]:
    """Draw at most `_MOST_LINES` different lines from a book, in algebraic notation; they depend only on the arguments.

    A line ends after `plies` plies, or where the book has no move. At each position, a move is chosen with a
    probability proportional to its weight, as in Polyglot, so never with weight 0. OptionError if the file cannot be
    read, or is not a Polyglot book.
    """
    random, book = Random(seed), Book(file)
    lines: dict[tuple[str, ...], None] = {}
    again = 0  # draws since the last new line
    try:
        root = _node(book, chess.Board())
        while len(lines) < _MOST_LINES and again < _DRAWS:
            line = _draw(book, root, plies or MOST_PLIES, random)
            again = again + 1 if line in lines else 0
            lines[line] = None
    finally:
        book.close()
    return [_san(line) for line in lines if line]


def _draw(book: Book, node: _Node, plies: int, random: Random) -> tuple[str, ...]:
    """Draw a line, and add the positions that it reaches to the tree."""
    board: chess.Board | None = None
    line: list[str] = []
    while node.moves and len(line) < plies:
        [move] = random.choices(node.moves, node.weights)
        line.append(move)
        if board is not None:
            board.push_uci(move)
        elif move not in node.following:  # the positions after this one are new
            board = _board(line)
        if board is not None:
            node.following[move] = _node(book, board)
        node = node.following[move]
    return tuple(line)


def _node(book: Book, board: chess.Board) -> _Node:
    """Look up a position in the book; moves that would end the game are left out."""
    moves = {move: weight for move, weight in book.moves(board.fen(en_passant="fen")).items() if not _ends(board, move)}
    return _Node(list(moves), list(moves.values()))


def _ends(board: chess.Board, move: str) -> bool:
    board.push_uci(move)
    try:
        return board.is_game_over()
    finally:
        board.pop()


def _board(moves: list[str]) -> chess.Board:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


def _san(moves: tuple[str, ...]) -> str:
    board, words = chess.Board(), []
    for name in moves:
        move = board.parse_uci(name)
        words.append(board.san(move))
        board.push(move)
    return " ".join(words)
