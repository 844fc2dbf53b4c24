"""How a game begins and ends by the rules of chess, for games that a person or a match plays.

It uses python-chess instead of the engine's own code, since matches also test that code. Only `problem_of` also asks
the engine's reader of FENs, which refuses more positions.
"""

from __future__ import annotations

from chess import Board, Outcome, Status, Termination

from knightadder.core.board.fen import FenError, parse_fen


def board_of(fen: str) -> Board:
    """Return the position of a FEN, with the rules of Chess960 if its castling rights need them; it may be illegal.

    Raises
    ------
    ValueError
        If the FEN cannot be read.
    """
    board = Board(fen)
    if not board.is_valid():
        other = Board(fen, chess960=True)
        if other.is_valid():
            return other
    return board


def problem_of(board: Board) -> str:
    """Return why a position is illegal, such as ``no white king``; the empty string if the engine can play it.

    python-chess allows positions that cannot arise, such as eight pawns with two queens, which the engine refuses.
    """
    flags = board.status()
    if flags:
        return ", ".join(str(flag.name).lower().replace("_", " ") for flag in Status if flag and flag & flags)
    try:
        parse_fen(board.fen())
    except FenError as error:
        return str(error)
    return ""


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
