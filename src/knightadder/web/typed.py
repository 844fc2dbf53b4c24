"""Reads what people type: moves and FENs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import chess

from knightadder.core.board.fen import FenError
from knightadder.rules import read_fen
from knightadder.web.messages import MessageError

# Fields that a FEN may lack, with their meaning for the user. python-chess reads a short FEN in the same way.
_MISSING_FIELDS = (("w", "White is to move"), ("-", "neither side may castle"), ("-", ""))


def parse_move(board: chess.Board, text: str) -> chess.Move:
    """Return a legal move from UCI notation, SAN, or forms that people type: ``nf3``, ``o-o``, ``1.e4!``.
    As in SAN, ``bc4`` is a pawn capture if possible, else a bishop move. MessageError if no move fits, or several do.
    """
    plain = re.sub(r"^\d+\.+|[!?]+$|\s", "", text.strip())
    for read, form in ((board.parse_uci, plain.lower()), (board.parse_san, plain)):
        try:
            move = read(form)
        except ValueError:
            continue
        if move:  # false for a null move
            return move
    found = {board.san(move): move for move in board.legal_moves if _folded(plain) in _forms(board, move)}
    if len(found) == 1:
        return found.popitem()[1]
    if found:
        *others, last = found
        raise MessageError(f"the move {text} is ambiguous: it can be {', '.join(others)} or {last}")
    raise MessageError(f"the move {text} is not legal here")


def _folded(move: str) -> str:
    """Return a move without the characters that people write differently or leave out."""
    return re.sub(r"[^a-z1-8]", "", move.lower().replace("0", "o").replace("e.p.", "")).replace("x", "")


def _forms(board: chess.Board, move: chess.Move) -> set[str]:
    """Return the folded forms of a move: SAN, both squares and, for a piece, forms that are shorter than in SAN."""
    san, squares = board.san(move), chess.square_name(move.from_square) + chess.square_name(move.to_square)
    piece = board.piece_type_at(move.from_square)
    letter = "" if piece in (None, chess.PAWN) else chess.piece_symbol(piece)
    promoted = "" if move.promotion is None else chess.piece_symbol(move.promotion)
    forms = {san, letter + squares + promoted}
    if not board.is_castling(move):
        forms |= {letter + squares[2:] + promoted, letter + squares[2:]}
    return {_folded(form) for form in forms}


def parse_line(board: chess.Board, texts: Sequence[str]) -> list[chess.Move]:
    """Return a sequence of moves from this position; MessageError if one is illegal."""
    board = board.copy(stack=False)
    moves = []
    for text in texts:
        moves.append(parse_move(board, text))
        board.push(moves[-1])
    return moves


def board_from_fen(fen: str) -> tuple[chess.Board, tuple[str, ...]]:
    """Return the position of a FEN without its impossible parts, and a description of these and of missing parts.
    The game is Chess960 if the castling rights require it. MessageError if the FEN or the position is unusable.
    """
    fields = fen.split()
    missing = _MISSING_FIELDS[len(fields) - 1 :] if fields else ()
    assumed = " and ".join(meaning for _, meaning in missing if meaning)
    try:
        board, left_out = read_fen(" ".join([*fields, *(field for field, _ in missing)]))
    except FenError as error:
        raise MessageError(str(error)) from None
    return board, (f"the FEN is short, so {assumed}", *left_out) if assumed else left_out
