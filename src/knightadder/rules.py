"""The start and end of a game by the rules of chess, for games of people and for matches between engines.

This module uses python-chess instead of the engine's own code, because matches also test the engine's code. In
addition, the engine's FEN reader checks the start of a game, because it refuses more positions than python-chess.
"""

from __future__ import annotations

from chess import SQUARE_NAMES, Board, Move, Outcome, Status, Termination, scan_forward, square_file, square_rank

from knightadder.core.board.fen import WRONG_SIDE_IN_CHECK, FenError, notes_on, parse_fen, refusal, write_fen

# White's points by the result of a game, as PGN writes it.
POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


def read_fen(fen: str, chess960: bool = False, what: str = "position") -> tuple[Board, tuple[str, ...]]:
    """Return the position of a FEN, and a line for each impossible castling right or en passant square left out of it.

    With `chess960`, the rules of Chess960 are used even if the castling rights do not need them. FenError, with the FEN
    and with `what` as the name of the position, if the FEN cannot be read or the engine cannot play the position.
    """
    try:
        setup = parse_fen(fen)
        board = Board(write_fen(setup, True), chess960=True)
        if board.was_into_check():
            raise FenError(WRONG_SIDE_IN_CHECK)
    except FenError as error:
        raise FenError(refusal(fen, error, what)) from None
    board.chess960 = chess960 or board.has_chess960_castling_rights()
    return board, setup.notes


def impossible_in(board: Board) -> tuple[str, ...]:
    """Return a line for each impossible castling right and en passant square of a board."""
    wrong = scan_forward(board.castling_rights & ~board.clean_castling_rights())
    squares = sorted(wrong, key=lambda square: (square_rank(square), -square_file(square)))
    rights = "".join(_letter(board, square) for square in squares)
    ep = board.ep_square
    return notes_on(rights, SQUARE_NAMES[ep] if ep is not None and board.status() & Status.INVALID_EP_SQUARE else "")


def _letter(board: Board, square: int) -> str:
    """Return the letter of a castling right. Without a rook on its side, it is on a corner, perhaps the king's."""
    color = square_rank(square) == 0
    king = board.king(color)
    kingside = square_file(square) == 7 or (king is not None and square_file(square) > square_file(king))
    letter = SQUARE_NAMES[square][0] if board.chess960 else "k" if kingside else "q"
    return letter.upper() if color else letter


def leave_out_impossible(board: Board) -> tuple[str, ...]:
    """Remove impossible castling rights and en passant squares, as `read_fen` does; return a line for each."""
    notes = impossible_in(board)
    board.castling_rights = board.clean_castling_rights()
    if board.status() & Status.INVALID_EP_SQUARE:
        board.ep_square = None
    return notes


def mates(board: Board, move: Move) -> bool:
    """Return whether a legal move is checkmate."""
    board.push(move)
    is_mate = board.is_checkmate()
    board.pop()
    return is_mate


def outcome_of(board: Board) -> Outcome | None:
    """Return how the game has ended, from a position with its history; None while the game continues. Draws by
    repetition and by the fifty-move rule need no claim.
    """
    if not any(board.generate_legal_moves()):
        if board.is_check():
            return Outcome(Termination.CHECKMATE, not board.turn)
        return Outcome(Termination.STALEMATE, None)
    if board.is_insufficient_material():
        return Outcome(Termination.INSUFFICIENT_MATERIAL, None)
    if board.halfmove_clock >= 100:
        return Outcome(Termination.FIFTY_MOVES, None)
    if board.halfmove_clock >= 8 and board.is_repetition(3):
        return Outcome(Termination.THREEFOLD_REPETITION, None)
    return None
