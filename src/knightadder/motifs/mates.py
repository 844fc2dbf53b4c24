"""Named mates: patterns in the last position of a solution, with Lichess's names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import chess
from chess import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, square_distance, square_file, square_rank

from knightadder.motifs.line import PlayedLine


@dataclass(frozen=True, slots=True)
class _Mate:
    """A checkmate: the board, the square of the mated king, and the square of the piece that moved last."""

    board: chess.Board
    king: chess.Square
    mover: chess.Square

    @property
    def loser(self) -> chess.Color:
        return self.board.turn

    @property
    def winner(self) -> chess.Color:
        return not self.board.turn

    def by(self, *kinds: chess.PieceType) -> bool:
        """Return whether the piece that moved last gives check and has one of the given types."""
        return self.mover in self.board.checkers() and self.board.piece_type_at(self.mover) in kinds

    def around(self) -> chess.SquareSet:
        return chess.SquareSet(chess.BB_KING_ATTACKS[self.king])

    def is_on_edge(self) -> bool:
        return bool(chess.BB_SQUARES[self.king] & (chess.BB_BACKRANKS | chess.BB_FILE_A | chess.BB_FILE_H))

    def is_in_corner(self) -> bool:
        return bool(chess.BB_SQUARES[self.king] & chess.BB_CORNERS)

    def is_beside(self, square: chess.Square) -> bool:
        """Return whether a square is beside the king on its rank or file."""
        return square_distance(square, self.king) == 1 and _is_straight(square, self.king)

    def guards(self, square: chess.Square, kind: chess.PieceType) -> chess.SquareSet:
        """Return the winner's pieces of a type that guard a square."""
        return self.board.attackers(self.winner, square) & self.board.pieces(kind, self.winner)

    def is_blocked(self, square: chess.Square) -> bool:
        """Return whether a piece of the loser stands on a square."""
        return self.board.color_at(square) == self.loser


def _is_straight(first: chess.Square, second: chess.Square) -> bool:
    return square_file(first) == square_file(second) or square_rank(first) == square_rank(second)


def _beyond(king: chess.Square, files: int, ranks: int) -> chess.Square | None:
    """Return the square `files` files and `ranks` ranks away from the king; None if it is off the board."""
    file, rank = square_file(king) + files, square_rank(king) + ranks
    return chess.square(file, rank) if 0 <= file <= 7 and 0 <= rank <= 7 else None


def _is_anastasia(mate: _Mate) -> bool:
    """A rook or queen mates along the edge; a piece of the king's side and a knight behind it shut the king in."""
    file = square_file(mate.king)
    if file not in (0, 7) or mate.is_in_corner() or not mate.by(ROOK, QUEEN) or square_file(mate.mover) != file:
        return False
    inwards = 1 if file == 0 else -1
    return mate.is_blocked(mate.king + inwards) and mate.board.piece_at(mate.king + 3 * inwards) == chess.Piece(
        KNIGHT, mate.winner
    )


def _is_arabian(mate: _Mate) -> bool:
    """A rook beside a king in the corner mates; the knight that guards the rook also takes the king's last square."""
    return (
        mate.is_in_corner()
        and mate.by(ROOK)
        and mate.is_beside(mate.mover)
        and any(
            abs(square_file(knight) - square_file(mate.king)) == abs(square_rank(knight) - square_rank(mate.king)) == 2
            for knight in mate.guards(mate.mover, KNIGHT)
        )
    )


def _is_back_rank(mate: _Mate) -> bool:
    """A rook or queen mates along the back rank; the king's own pieces shut it in."""
    rank = square_rank(mate.king)
    if rank != (7 if mate.winner == chess.WHITE else 0):
        return False
    in_front = mate.around() & chess.BB_RANKS[6 if rank == 7 else 1]
    along = mate.board.checkers() & chess.BB_RANKS[rank] & (mate.board.rooks | mate.board.queens)
    return bool(along) and all(
        mate.is_blocked(square) and not mate.board.attackers(mate.winner, square) for square in in_front
    )


def _mates_by_bishops(mate: _Mate) -> bool:
    """Return whether two bishops alone mate: no other piece guards a square beside the king."""
    board = mate.board
    bishops = board.pieces(BISHOP, mate.winner)
    watched = mate.around() | chess.SquareSet.from_square(mate.king)
    return len(bishops) > 1 and all(board.attackers(mate.winner, square).issubset(bishops) for square in watched)


def _is_boden(mate: _Mate) -> bool:
    """Two bishops mate on crossing diagonals, from both sides of the king."""
    return _mates_by_bishops(mate) and _are_on_both_sides(mate)


def _is_double_bishop(mate: _Mate) -> bool:
    """Two bishops mate on neighbouring diagonals, from one side of the king."""
    return _mates_by_bishops(mate) and not _are_on_both_sides(mate)


def _are_on_both_sides(mate: _Mate) -> bool:
    files = [square_file(bishop) for bishop in mate.board.pieces(BISHOP, mate.winner)]
    return min(files) < square_file(mate.king) < max(files)


def _is_dovetail(mate: _Mate) -> bool:
    """A queen beside the king mates diagonally; the king's own pieces stand on the squares that she does not reach."""
    if mate.is_on_edge() or not mate.by(QUEEN) or square_distance(mate.mover, mate.king) > 1:
        return False
    if _is_straight(mate.mover, mate.king):
        return False
    queen = chess.SquareSet.from_square(mate.mover)
    return all(
        not (attackers := mate.board.attackers(mate.winner, square))
        or (attackers == queen and mate.board.piece_at(square) is None)
        for square in mate.around() - queen
    )


def _is_epaulette(mate: _Mate) -> bool:
    """A rook or queen mates a king at the edge of the board from the front; the king's own pieces are on both sides."""
    if not mate.by(ROOK, QUEEN):
        return False
    for files, ranks in ((1, 0), (0, 1)):
        sides = _beyond(mate.king, files, ranks), _beyond(mate.king, -files, -ranks)
        if any(side is None or not mate.is_blocked(side) for side in sides):
            continue
        is_on_edge = None in (_beyond(mate.king, ranks, files), _beyond(mate.king, -ranks, -files))
        in_front = chess.BB_FILES[square_file(mate.king)] if files else chess.BB_RANKS[square_rank(mate.king)]
        if is_on_edge and chess.BB_SQUARES[mate.mover] & in_front:
            return True
    return False


def _is_hook(mate: _Mate) -> bool:
    """A rook beside the king mates; a knight beside the king guards the rook, and a pawn the knight."""
    return (
        mate.by(ROOK)
        and square_distance(mate.mover, mate.king) == 1
        and any(
            square_distance(knight, mate.king) == 1 and mate.guards(knight, PAWN)
            for knight in mate.guards(mate.mover, KNIGHT)
        )
    )


def _is_kill_box(mate: _Mate) -> bool:
    """A rook beside the king mates; the queen that guards it diagonally closes a box of three by three squares."""
    return (
        mate.by(ROOK)
        and square_distance(mate.mover, mate.king) == 1
        and any(
            square_distance(queen, mate.mover) == square_distance(queen, mate.king) == 2
            and not _is_straight(queen, mate.mover)
            for queen in mate.guards(mate.mover, QUEEN)
        )
    )


def _is_opera(mate: _Mate) -> bool:
    """A rook beside a king on its back rank mates along that rank, guarded by a bishop."""
    rank = 7 if mate.winner == chess.WHITE else 0
    return (
        square_rank(mate.king) == square_rank(mate.mover) == rank
        and mate.by(ROOK)
        and mate.is_beside(mate.mover)
        and bool(mate.guards(mate.mover, BISHOP))
    )


def _is_smothered(mate: _Mate) -> bool:
    """A knight mates a king that has only its own pieces around it."""
    return bool(mate.board.checkers() & mate.board.knights) and all(map(mate.is_blocked, mate.around()))


def _is_swallowtail(mate: _Mate) -> bool:
    """A guarded queen mates from beside the king; the king's own pieces stand diagonally behind it."""
    if not mate.by(QUEEN) or not mate.is_beside(mate.mover):
        return False
    files = square_file(mate.king) - square_file(mate.mover)
    ranks = square_rank(mate.king) - square_rank(mate.mover)
    behind = [_beyond(mate.king, files + side * ranks, ranks + side * files) for side in (1, -1)]
    return all(square is not None and mate.is_blocked(square) for square in behind)


def _is_vukovic(mate: _Mate) -> bool:
    """A guarded rook beside a king at the edge mates; a knight behind the rook shuts it in."""
    if not mate.is_on_edge() or not mate.by(ROOK) or not mate.is_beside(mate.mover):
        return False
    knights = mate.board.pieces(KNIGHT, mate.winner)
    others = mate.board.attackers(mate.winner, mate.mover) - knights
    files = square_file(mate.mover) - square_file(mate.king)
    ranks = square_rank(mate.mover) - square_rank(mate.king)
    behind = _beyond(mate.king, 2 * files, 2 * ranks)
    return bool(others) and behind is not None and behind in knights


MATES: dict[str, Callable[[_Mate], bool]] = {
    "anastasiaMate": _is_anastasia,
    "arabianMate": _is_arabian,
    "backRankMate": _is_back_rank,
    "bodenMate": _is_boden,
    "doubleBishopMate": _is_double_bishop,
    "dovetailMate": _is_dovetail,
    "epauletteMate": _is_epaulette,
    "hookMate": _is_hook,
    "killBoxMate": _is_kill_box,
    "operaMate": _is_opera,
    "smotheredMate": _is_smothered,
    "swallowstailMate": _is_swallowtail,
    "vukovicMate": _is_vukovic,
}


def named_mates(line: PlayedLine) -> list[str]:
    """Return the names of the mate at the end of a line; empty if there is no mate, or the mate has no name."""
    end = line.boards[-1]
    king = end.king(end.turn)
    if king is None or not end.is_checkmate():
        return []
    mate = _Mate(end, king, line.moves[-1].to_square)
    return [name for name, is_it in MATES.items() if is_it(mate)]
