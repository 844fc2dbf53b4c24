"""How a game begins and ends by the rules of chess, for games that a person or a match plays.

It uses python-chess instead of the engine's own code, since matches also test that code. Only `problem_of` also asks
the engine's reader of FENs, which refuses more positions.
"""

from __future__ import annotations

from chess import Board, Outcome, Status, Termination

from knightadder.core.board.fen import WRONG_SIDE_IN_CHECK, FenError, parse_fen, write_fen


def board_of(fen: str, chess960: bool = False) -> Board:
    """Return the position of a FEN, without castling rights and an en passant square that cannot be.

    Parameters
    ----------
    fen : str
        The FEN.
    chess960 : bool
        Whether to use the rules of Chess960 even if the castling rights do not need them.

    Raises
    ------
    FenError
        If the FEN cannot be read, or the engine cannot play the position. Whether the side that is not to move is in
        check remains to be asked of `problem_of`.
    """
    board = Board(write_fen(parse_fen(fen), True), chess960=True)
    board.chess960 = chess960 or board.has_chess960_castling_rights()
    return board


def leave_out_impossible(board: Board) -> None:
    """Take away the castling rights and the en passant square that cannot be; for boards of which nobody knows yet."""
    board.castling_rights = board.clean_castling_rights()
    if board.status() & Status.INVALID_EP_SQUARE:
        board.ep_square = None


def left_out_of(fen: str) -> tuple[str, ...]:
    """Return a line for each impossible castling right or en passant square that is left out of a FEN."""
    try:
        return parse_fen(fen).notes
    except FenError:  # which is told where the position is read
        return ()


def problem_of(board: Board) -> str:
    """Return why a position is illegal, such as ``White has 0 kings``; the empty string if the engine can play it.

    Impossible castling rights and en passant squares are no problem: the engine leaves them out.
    """
    try:
        parse_fen(board.fen(en_passant="fen"))
    except FenError as error:
        return str(error)
    return WRONG_SIDE_IN_CHECK if board.was_into_check() else ""


def outcome_of(board: Board) -> Outcome | None:
    """Return how this position ends the game; draws by repetition and by fifty moves need no claim.

    Parameters
    ----------
    board : chess.Board
        The position with its history.

    Returns
    -------
    chess.Outcome or None
        Mate, stalemate, insufficient material, fifty moves or threefold repetition; None while the game goes on.
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
