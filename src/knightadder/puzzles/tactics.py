"""Tactical motifs of a solution.

Each motif is derived from the moves of the solution, not guessed from the first position: a fork counts only if a
forked piece is later taken. So every reported motif is real, but some motifs are not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import chess

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 100}

_SLIDERS = (chess.BISHOP, chess.ROOK, chess.QUEEN)
_SACRIFICE = 2  # points; less is the exchange of a piece for one of about the same value


@dataclass(frozen=True, slots=True)
class PlayedLine:
    """A solution with its boards: those before each move, and after the last one. Between the solver's moves are the
    replies.
    """

    boards: Sequence[chess.Board]
    moves: Sequence[chess.Move]

    @property
    def solver(self) -> chess.Color:
        """The side that solves."""
        return self.boards[0].turn

    def turns(self) -> range:
        """Return the numbers of the solver's moves."""
        return range(0, len(self.moves), 2)

    def followed(self) -> Iterator[tuple[chess.Move, chess.Board, chess.Move, chess.Move]]:
        """Yield each move of the solver but the last, the board after it, the reply, and the solver's next move."""
        for turn in self.turns()[:-1]:
            yield self.moves[turn], self.boards[turn + 1], self.moves[turn + 1], self.moves[turn + 2]

    def takes_later(self, turn: int, square: chess.Square) -> bool:
        """Return whether the solver, after the move of this number, takes the piece that now stands on a square."""
        for number in range(turn + 1, len(self.moves)):
            move = self.moves[number]
            if number % 2 and square in (move.from_square, move.to_square):
                return False  # that piece moves away
            if number % 2 == 0 and move.to_square == square:
                return True
        return False


def has_fork(line: PlayedLine) -> bool:
    """Return whether a piece attacks two targets and then takes one of them.

    A target is the king, a piece worth more than the attacker, or an unprotected piece other than a pawn.
    """
    for move, after, _, then in line.followed():
        forker = after.piece_type_at(move.to_square)
        if forker is None or forker == chess.KING:
            continue
        targets = [at for at in after.attacks(move.to_square) if _is_target(after, at, forker, line.solver)]
        if len(targets) > 1 and then.from_square == move.to_square and then.to_square in targets:
            return True
    return False


def _is_target(board: chess.Board, square: chess.Square, forker: chess.PieceType, solver: chess.Color) -> bool:
    piece = board.piece_at(square)
    if piece is None or piece.color == solver:
        return False
    is_loose = piece.piece_type != chess.PAWN and not board.attackers(not solver, square)
    return VALUES[piece.piece_type] > VALUES[forker] or is_loose


def has_pin(line: PlayedLine) -> bool:
    """Return whether a pin to the king wins a piece, or prevents every guard of a square from capturing there."""
    enemy = not line.solver
    for turn in line.turns():
        move, before, after = line.moves[turn], line.boards[turn], line.boards[turn + 1]
        guards = after.attackers(enemy, move.to_square)
        can_take = any(reply.to_square == move.to_square for reply in after.legal_moves)
        if guards and not can_take and all(after.is_pinned(enemy, guard) for guard in guards):
            return True
        for square in chess.SquareSet(after.occupied_co[enemy]):
            is_pinned = after.is_pinned(enemy, square) and move.to_square in after.pin(enemy, square)
            if is_pinned and not before.is_pinned(enemy, square) and line.takes_later(turn, square):
                return True
    return False


def has_skewer(line: PlayedLine) -> bool:
    """Return whether a line piece attacks a piece that has to move, and takes the less valuable one behind it."""
    for move, after, reply, then in line.followed():
        if after.piece_type_at(move.to_square) not in _SLIDERS or then.from_square != move.to_square:
            continue
        front, behind = after.piece_type_at(reply.from_square), after.piece_at(then.to_square)
        if front is None or behind is None or behind.color == line.solver:
            continue
        attacked = after.attacks(move.to_square)
        if (
            reply.from_square in attacked
            and reply.from_square in chess.SquareSet.between(move.to_square, then.to_square)
            and then.to_square not in attacked
            and VALUES[front] > VALUES[behind.piece_type]
        ):
            return True
    return False


def has_discovered_attack(line: PlayedLine) -> bool:
    """Return whether a piece moves out of the way of a second one, which then takes the piece that it attacks."""
    for turn in line.turns()[:-1]:
        before, move, after = line.boards[turn], line.moves[turn], line.boards[turn + 1]
        then = line.moves[turn + 2]
        target = after.piece_at(then.to_square)
        if target is None or target.color == line.solver or line.moves[turn + 1].from_square == then.to_square:
            continue
        attacker = before.piece_at(then.from_square)
        if (
            attacker is not None
            and attacker.piece_type in _SLIDERS
            and attacker.color == line.solver
            and then.from_square not in (move.from_square, move.to_square)
            and move.from_square in chess.SquareSet.between(then.from_square, then.to_square)
            and then.to_square in after.attacks(then.from_square)
        ):
            return True
    return False


def has_discovered_check(line: PlayedLine) -> bool:
    """Return whether a piece moves out of the way of a second one, which gives check."""
    return any(
        after.checkers() & ~chess.BB_SQUARES[move.to_square]
        for move, before, after in _solver_moves(line)
        if not before.is_castling(move)
    )


def has_double_check(line: PlayedLine) -> bool:
    """Return whether two pieces give check at once."""
    return any(len(after.checkers()) > 1 for _, _, after in _solver_moves(line))


def has_hanging_piece(line: PlayedLine) -> bool:
    """Return whether the first move takes an unprotected piece other than a pawn."""
    move, before, after = next(_solver_moves(line))
    victim = before.piece_type_at(move.to_square)
    return (
        victim not in (None, chess.PAWN)
        and before.is_capture(move)
        and not after.attackers(not line.solver, move.to_square)
    )


def has_sacrifice(line: PlayedLine) -> bool:
    """Return whether the solver gives up material for a time: at least two points after a reply."""
    first = _balance(line.boards[0], line.solver)
    return any(_balance(board, line.solver) <= first - _SACRIFICE for board in line.boards[2::2])


def has_attraction(line: PlayedLine) -> bool:
    """Return whether a capturing piece is checked, or lost, on the square of its capture.

    It is a king that is checked there at once, or a piece worth more than the captured one, which is taken later.
    """
    for turn in line.turns()[:-1]:
        move, reply = line.moves[turn], line.moves[turn + 1]
        after = line.boards[turn + 1]
        bait, taker = after.piece_type_at(move.to_square), after.piece_type_at(reply.from_square)
        if bait is None or taker is None or reply.to_square != move.to_square:
            continue
        if taker == chess.KING:
            if line.boards[turn + 3].is_check():
                return True
        elif (
            VALUES[taker] > VALUES[bait]
            and line.moves[turn + 2].to_square != reply.to_square
            and line.takes_later(turn + 2, reply.to_square)
        ):
            return True
    return False


def has_deflection(line: PlayedLine) -> bool:
    """Return whether a guard takes a piece, and so no longer guards the square where the solver takes or mates."""
    for turn in line.turns()[:-1]:
        move, reply, then = line.moves[turn : turn + 3]
        before, after, end = line.boards[turn + 1 : turn + 4]
        if reply.to_square != move.to_square or then.to_square == reply.to_square:
            continue
        guarded = then.to_square in before.attacks(reply.from_square)
        guards = then.to_square in end.attacks(reply.to_square)
        victim = after.piece_type_at(then.to_square)
        gains = end.is_checkmate() or then.promotion is not None or victim not in (None, chess.PAWN)
        if guarded and not guards and gains:
            return True
    return False


def has_back_rank_mate(line: PlayedLine) -> bool:
    """Return whether a rook or queen mates along the back rank a king that its own pieces shut in."""
    end = line.boards[-1]
    king = end.king(not line.solver)
    if king is None or not end.is_checkmate():
        return False
    rank = chess.square_rank(king)
    if rank != (0 if line.solver == chess.BLACK else 7):
        return False
    in_front = end.attacks(king) & chess.BB_RANKS[1 if rank == 0 else 6]
    along = end.checkers() & chess.BB_RANKS[rank] & (end.rooks | end.queens)
    return bool(along) and not in_front & ~end.occupied_co[not line.solver]


def has_smothered_mate(line: PlayedLine) -> bool:
    """Return whether a knight mates a king that has only its own pieces around it."""
    end = line.boards[-1]
    king = end.king(not line.solver)
    if king is None or not end.is_checkmate():
        return False
    around = end.attacks(king) & ~end.occupied_co[not line.solver]
    return not around and bool(end.checkers() & end.knights)


def has_promotion(line: PlayedLine) -> bool:
    """Return whether the solver promotes a pawn."""
    return any(move.promotion is not None for move, _, _ in _solver_moves(line))


def has_underpromotion(line: PlayedLine) -> bool:
    """Return whether the solver promotes a pawn to a piece other than a queen."""
    return any(move.promotion not in (None, chess.QUEEN) for move, _, _ in _solver_moves(line))


def has_en_passant(line: PlayedLine) -> bool:
    """Return whether the solver takes en passant."""
    return any(before.is_en_passant(move) for move, before, _ in _solver_moves(line))


def has_castling(line: PlayedLine) -> bool:
    """Return whether the solver castles."""
    return any(before.is_castling(move) for move, before, _ in _solver_moves(line))


def _solver_moves(line: PlayedLine) -> Iterator[tuple[chess.Move, chess.Board, chess.Board]]:
    """Yield the solver's moves with the boards before and after."""
    for turn in line.turns():
        yield line.moves[turn], line.boards[turn], line.boards[turn + 1]


def _balance(board: chess.Board, side: chess.Color) -> int:
    """Return how many points of material a side has more than the other."""
    return sum(VALUES[piece.piece_type] * (1 if piece.color == side else -1) for piece in board.piece_map().values())


TACTICS: dict[str, Callable[[PlayedLine], bool]] = {
    "attraction": has_attraction,
    "backRankMate": has_back_rank_mate,
    "castling": has_castling,
    "deflection": has_deflection,
    "discoveredAttack": has_discovered_attack,
    "discoveredCheck": has_discovered_check,
    "doubleCheck": has_double_check,
    "enPassant": has_en_passant,
    "fork": has_fork,
    "hangingPiece": has_hanging_piece,
    "pin": has_pin,
    "promotion": has_promotion,
    "sacrifice": has_sacrifice,
    "skewer": has_skewer,
    "smotheredMate": has_smothered_mate,
    "underPromotion": has_underpromotion,
}
