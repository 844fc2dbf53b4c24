"""Tactical motifs of a solution.

Each motif is derived from the moves of the solution, not guessed from the first position. For example, a fork counts
only if a forked piece is later taken. So every reported motif is real, but some motifs are not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import chess

from knightadder.motifs.line import PlayedLine

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 100}

_SLIDERS = (chess.BISHOP, chess.ROOK, chess.QUEEN)
_SACRIFICE = 2  # minimum loss of material, in points; a smaller loss is an exchange of similar pieces


@dataclass(frozen=True, slots=True)
class MotifPlace:
    """The place of a motif in a line: the index of the solver's move, and the squares of the attacked pieces."""

    turn: int
    squares: tuple[chess.Square, ...]


def find_fork(line: PlayedLine) -> MotifPlace | None:
    """Find a piece that attacks two targets and is not taken, if the solver then takes one of the targets.
    A target is the king, a piece worth more than the attacker, or an unprotected piece other than a pawn.
    """
    for number, (move, after, reply, then) in enumerate(line.followed()):
        forker = after.piece_type_at(move.to_square)
        if forker in (None, chess.KING) or reply.to_square == move.to_square:
            continue
        assert forker is not None
        targets = [at for at in after.attacks(move.to_square) if _is_target(after, at, forker, line.solver)]
        if len(targets) > 1 and then.to_square in targets and then.to_square != reply.from_square:
            return MotifPlace(2 * number, tuple(targets))
    return None


def _is_target(board: chess.Board, square: chess.Square, forker: chess.PieceType, solver: chess.Color) -> bool:
    piece = board.piece_at(square)
    if piece is None or piece.color == solver:
        return False
    is_loose = piece.piece_type != chess.PAWN and not board.attackers(not solver, square)
    return VALUES[piece.piece_type] > VALUES[forker] or is_loose


def find_pin(line: PlayedLine) -> MotifPlace | None:
    """Find a pin to the king that wins a piece, or prevents every guard of a square from capturing there."""
    enemy = not line.solver
    for turn in line.turns():
        move, before, after = line.moves[turn], line.boards[turn], line.boards[turn + 1]
        guards = after.attackers(enemy, move.to_square)
        can_take = any(reply.to_square == move.to_square for reply in after.legal_moves)
        if guards and not can_take and all(after.is_pinned(enemy, guard) for guard in guards):
            return MotifPlace(turn, tuple(guards))
        for square in chess.SquareSet(after.occupied_co[enemy]):
            is_pinned = after.is_pinned(enemy, square) and move.to_square in after.pin(enemy, square)
            if is_pinned and not before.is_pinned(enemy, square) and line.takes_later(turn, square):
                return MotifPlace(turn, (square,))
    return None


def find_skewer(line: PlayedLine) -> MotifPlace | None:
    """Find a line piece that attacks a piece that has to move, and wins the less valuable piece behind it."""
    for turn in line.turns()[:-1]:
        move, reply, then = line.moves[turn : turn + 3]
        after, end = line.boards[turn + 1], line.boards[turn + 3]
        taker = after.piece_type_at(move.to_square)
        if taker not in _SLIDERS or then.from_square != move.to_square:
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
            and (VALUES[behind.piece_type] > VALUES[taker] or not is_unsafe(end, then.to_square))
        ):
            return MotifPlace(turn, (reply.from_square, then.to_square))
    return None


def find_discovered_attack(line: PlayedLine) -> MotifPlace | None:
    """Find a piece that moves out of the way of a second piece, which thereby attacks a piece and later takes it."""
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
            return MotifPlace(turn, (then.to_square,))
    return None


def has_discovered_check(line: PlayedLine) -> bool:
    """Return whether a piece moves out of the way of a second piece, which then gives check."""
    return any(
        after.checkers() & ~chess.BB_SQUARES[move.to_square]
        for move, before, after in line.solver_moves()
        if not before.is_castling(move)
    )


def has_double_check(line: PlayedLine) -> bool:
    """Return whether two pieces give check at the same time."""
    return any(len(after.checkers()) > 1 for _, _, after in line.solver_moves())


def has_hanging_piece(line: PlayedLine) -> bool:
    """Return whether the first move takes an unprotected piece other than a pawn."""
    move, before, after = next(line.solver_moves())
    victim = before.piece_type_at(move.to_square)
    return (
        victim not in (None, chess.PAWN)
        and before.is_capture(move)
        and not after.attackers(not line.solver, move.to_square)
    )


def has_sacrifice(line: PlayedLine) -> bool:
    """Return whether the solver gives up at least two points of material without regaining them on the next move.
    Material lost to the promotion of a pawn is not a sacrifice.
    """
    if any(move.promotion for move in line.moves[1::2]):
        return False
    first = balance(line.boards[0], line.solver)
    return any(balance(board, line.solver) <= first - _SACRIFICE for board in line.boards[3::2])


def has_attraction(line: PlayedLine) -> bool:
    """Return whether a capture attracts a piece: a king, which is then checked, or a piece that is taken there later.
    Such a piece is worth more than the piece that it captured.
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
    """Return whether a guard takes a piece or answers a check, and thereby leaves a square unguarded.
    The solver must then take, promote or mate on that square.
    """
    for turn in line.turns()[:-1]:
        move, reply, then = line.moves[turn : turn + 3]
        before, after, end = line.boards[turn + 1 : turn + 4]
        if then.to_square in (reply.to_square, move.to_square):
            continue
        if reply.to_square != move.to_square and not before.is_check():
            continue
        guarded = then.to_square in before.attacks(reply.from_square)
        guards = then.to_square in end.attacks(reply.to_square)
        victim, taker = after.piece_type_at(then.to_square), after.piece_type_at(then.from_square)
        # A king that only flees from a check is not deflected from the squares around it.
        flees = before.piece_type_at(reply.from_square) == chess.KING and not after.is_capture(then)
        gains = (end.is_checkmate() and not flees) or then.promotion is not None
        if victim not in (None, chess.PAWN) and taker is not None:
            assert victim is not None
            gains = gains or VALUES[victim] <= VALUES[taker]  # guards do not protect a piece from a cheaper taker
        if guarded and not guards and gains:
            return True
    return False


def has_advanced_pawn(line: PlayedLine) -> bool:
    """Return whether a pawn of the solver moves to its sixth rank or beyond."""
    return any(_advances_pawn(before, move) for move, before, _ in line.solver_moves())


def _advances_pawn(board: chess.Board, move: chess.Move) -> bool:
    rank = chess.square_rank(move.to_square)
    return board.piece_type_at(move.from_square) == chess.PAWN and (rank if board.turn == chess.WHITE else 7 - rank) > 4


def has_attack_on_f2_f7(line: PlayedLine) -> bool:
    """Return whether the solver takes on f2 or f7 beside a king that stands on its home square."""
    target, king = (chess.F7, chess.E8) if line.solver == chess.WHITE else (chess.F2, chess.E1)
    return any(
        move.to_square == target and before.is_capture(move) and before.king(not line.solver) == king
        for move, before, _ in line.solver_moves()
    )


def has_kingside_attack(line: PlayedLine) -> bool:
    """Return whether the solver attacks a king on g or h, as after kingside castling."""
    return _attacks_castled_king(line, (6, 7), 7, 20)


def has_queenside_attack(line: PlayedLine) -> bool:
    """Return whether the solver attacks a king on the queen's side, as after queenside castling."""
    return _attacks_castled_king(line, (0, 1, 2), 0, 18)


def _attacks_castled_king(line: PlayedLine, files: Sequence[int], corner_file: int, pieces: int) -> bool:
    """Return whether a king on one of `files` of its back rank is checked, and the attack scores two points.

    A check scores a point, and so does a capture near the corner; a move far from the corner loses a point. With fewer
    than `pieces` pieces on the board, the position is an endgame, which does not count.
    """
    start, back_rank = line.boards[0], 7 if line.solver == chess.WHITE else 0
    king = start.king(not line.solver)
    if king is None or chess.square_rank(king) != back_rank or chess.square_file(king) not in files:
        return False
    if chess.popcount(start.occupied) < pieces:
        return False
    corner = chess.square(corner_file, back_rank)
    checks = steps = 0
    for move, before, after in line.solver_moves():
        distance = chess.square_distance(corner, move.to_square)
        checks += after.is_check()
        if before.is_capture(move) and distance <= 3:
            steps += 1
        elif distance >= 5:
            steps -= 1
    return checks > 0 and checks + steps >= 2


def has_exposed_king(line: PlayedLine) -> bool:
    """Return whether a king is checked before the last move, and has none of its pawns in front of it or beside it."""
    start = line.boards[0]
    king = start.king(not line.solver)
    if king is None:
        return False
    file, rank = chess.square_file(king), chess.square_rank(king)
    forward = -1 if line.solver == chess.WHITE else 1
    if (rank if forward == 1 else 7 - rank) > 2:
        return False  # the king has left its shelter
    near = chess.SquareSet(chess.BB_KING_ATTACKS[king]) & (chess.BB_RANKS[rank] | chess.BB_RANKS[rank + forward])
    near -= chess.SquareSet(chess.BB_FILES[file] & chess.BB_RANKS[rank])
    if near & start.pieces(chess.PAWN, not line.solver):
        return False
    return any(line.boards[turn + 1].is_check() for turn in line.turns()[1:-1])


def has_quiet_move(line: PlayedLine) -> bool:
    """Return whether a move before the last neither takes nor attacks anything, without a check before or after it.
    Moves of the king or of an advanced pawn do not count as quiet.
    """
    for turn in line.turns()[:-1]:
        move, before, after = line.moves[turn], line.boards[turn], line.boards[turn + 1]
        if before.is_check() or after.is_check() or before.is_capture(move):
            continue
        if before.piece_type_at(move.from_square) == chess.KING or _advances_pawn(before, move):
            continue
        if not after.attacks(move.to_square) & after.occupied_co[not line.solver]:
            return True
    return False


def find_trapped_piece(line: PlayedLine) -> MotifPlace | None:
    """Find an attacked piece that the solver takes, and that would have been lost after any move."""
    for turn in line.turns()[1:]:
        target, reply, before = line.moves[turn].to_square, line.moves[turn - 1], line.boards[turn - 1]
        square = reply.from_square if reply.to_square == target else target
        if line.boards[turn].piece_type_at(target) not in (None, chess.PAWN) and _is_trapped(before, square):
            return MotifPlace(turn, (square,))
    return None


def _is_trapped(board: chess.Board, square: chess.Square) -> bool:
    """Return whether the side to move has an attacked piece here that can neither escape nor take an equal piece."""
    kind = board.piece_type_at(square)
    if kind in (None, chess.PAWN, chess.KING) or board.is_check() or board.is_pinned(board.turn, square):
        return False
    if not is_unsafe(board, square):
        return False
    for move in board.generate_legal_moves(chess.BB_SQUARES[square]):
        victim = board.piece_type_at(move.to_square)
        if victim is not None and VALUES[victim] >= VALUES[kind]:
            return False
        after = board.copy(stack=False)
        after.push(move)
        if not is_unsafe(after, move.to_square):
            return False
    return True


def is_unsafe(board: chess.Board, square: chess.Square) -> bool:
    """Return whether the piece on a square is attacked, and unguarded or worth more than an attacker."""
    piece = board.piece_at(square)
    assert piece is not None
    attackers = board.attackers(not piece.color, square)
    kinds = [kind for attacker in attackers if (kind := board.piece_type_at(attacker)) is not None]
    if not kinds:
        return False
    cheaper = any(VALUES[kind] < VALUES[piece.piece_type] for kind in kinds)
    return cheaper or not _is_guarded(board, square)


def _is_guarded(board: chess.Board, square: chess.Square) -> bool:
    """Return whether the piece on a square is guarded, directly or through a piece that attacks it."""
    color = board.color_at(square)
    assert color is not None
    if board.attackers(color, square):
        return True
    for attacker in board.attackers(not color, square):
        if board.piece_type_at(attacker) in _SLIDERS:
            without = board.copy(stack=False)
            without.remove_piece_at(attacker)
            if without.attackers(color, square):
                return True
    return False


def has_capturing_defender(line: PlayedLine) -> bool:
    """Return whether the solver takes a guard, and then takes the guarded piece, or mates on the guarded square."""
    for turn in line.turns()[:-1]:
        first, then = line.moves[turn], line.moves[turn + 2]
        start, middle, end = line.boards[turn], line.boards[turn + 2], line.boards[turn + 3]
        if start.is_check() or line.boards[turn + 1].is_check() or first.to_square == then.from_square:
            continue
        if not start.is_capture(first) or start.piece_at(first.to_square) is None:
            continue
        if first.to_square not in start.attackers(not line.solver, then.to_square):
            continue
        if end.is_checkmate() or (line.moves[turn + 1].to_square != then.to_square and _takes_unguarded(middle, then)):
            return True
    return False


def _takes_unguarded(board: chess.Board, move: chess.Move) -> bool:
    """Return whether a move takes an unguarded piece that is worth no more than the capturing piece."""
    victim, taker = board.piece_type_at(move.to_square), board.piece_type_at(move.from_square)
    if victim is None or taker in (None, chess.KING) or not board.is_capture(move):
        return False
    assert taker is not None
    return VALUES[victim] <= VALUES[taker] and not _is_guarded(board, move.to_square)


def has_clearance(line: PlayedLine) -> bool:
    """Return whether a piece leaves a square to which, or over which, a line piece then moves."""
    for turn in line.turns()[:-1]:
        first, then = line.moves[turn], line.moves[turn + 2]
        start, middle, end = line.boards[turn], line.boards[turn + 2], line.boards[turn + 3]
        if first.promotion or first.to_square in (then.from_square, then.to_square) or middle.is_check():
            continue
        if middle.piece_type_at(then.from_square) not in _SLIDERS or middle.is_capture(then):
            continue
        if end.is_check() and line.boards[turn + 1].piece_type_at(line.moves[turn + 1].from_square) == chess.KING:
            continue
        path = chess.SquareSet.between(then.from_square, then.to_square) | chess.BB_SQUARES[then.to_square]
        gives = not start.is_capture(first) or is_unsafe(line.boards[turn + 1], first.to_square)
        if first.from_square in path and gives:
            return True
    return False


def has_interference(line: PlayedLine) -> bool:
    """Return whether a piece comes between a piece and its guard, and the solver then takes the unguarded piece."""
    for turn in line.turns()[1:]:
        move, middle = line.moves[turn], line.boards[turn]
        square = move.to_square
        if middle.piece_at(square) is None or not middle.is_capture(move) or _is_guarded(middle, square):
            continue
        # Either the solver's last move or the reply may have come between the piece and its guard.
        for back, cause in ((2, line.moves[turn - 2]), (1, line.moves[turn - 1])):
            if line.moves[turn - 1].to_square == square:
                continue
            start = line.boards[turn - back]
            for guard in start.attackers(not line.solver, square):
                if start.piece_type_at(guard) in _SLIDERS and cause.to_square in chess.SquareSet.between(square, guard):
                    return True
    return False


def has_intermezzo(line: PlayedLine) -> bool:
    """Return whether the solver could recapture immediately, but first plays a different move, and then recaptures."""
    for turn in line.turns()[1:]:
        move, first, reply = line.moves[turn], line.moves[turn - 2], line.moves[turn - 1]
        if not line.boards[turn].is_capture(move) or first.to_square == move.to_square:
            continue
        if reply.from_square in line.boards[turn - 1].attackers(not line.solver, move.to_square):
            continue
        start = line.boards[turn - 2]
        if not start.move_stack:
            continue
        before = start.copy(stack=1)
        taken = before.pop()
        if taken.to_square == move.to_square and before.is_capture(taken) and start.is_legal(move):
            return True
    return False


def has_x_ray_attack(line: PlayedLine) -> bool:
    """Return whether a line piece recaptures on a square that it attacked through the piece that took there."""
    return any(
        first.to_square == reply.to_square == then.to_square
        and after.piece_type_at(reply.from_square) != chess.KING
        and reply.from_square in chess.SquareSet.between(then.from_square, then.to_square)
        for first, after, reply, then in line.followed()
    )


def has_promotion(line: PlayedLine) -> bool:
    """Return whether the solver promotes a pawn."""
    return any(move.promotion is not None for move, _, _ in line.solver_moves())


def has_underpromotion(line: PlayedLine) -> bool:
    """Return whether the solver promotes a pawn to a piece other than a queen."""
    return any(move.promotion not in (None, chess.QUEEN) for move, _, _ in line.solver_moves())


def has_en_passant(line: PlayedLine) -> bool:
    """Return whether the solver takes en passant."""
    return any(before.is_en_passant(move) for move, before, _ in line.solver_moves())


def has_castling(line: PlayedLine) -> bool:
    """Return whether the solver castles."""
    return any(before.is_castling(move) for move, before, _ in line.solver_moves())


def balance(board: chess.Board, side: chess.Color) -> int:
    """Return a side's lead in points of material; negative if the side is behind."""
    return sum(VALUES[piece.piece_type] * (1 if piece.color == side else -1) for piece in board.piece_map().values())


TACTICS: dict[str, Callable[[PlayedLine], bool]] = {
    "advancedPawn": has_advanced_pawn,
    "attackingF2F7": has_attack_on_f2_f7,
    "attraction": has_attraction,
    "capturingDefender": has_capturing_defender,
    "castling": has_castling,
    "clearance": has_clearance,
    "deflection": has_deflection,
    "discoveredAttack": lambda line: has_discovered_check(line) or find_discovered_attack(line) is not None,
    "discoveredCheck": has_discovered_check,
    "doubleCheck": has_double_check,
    "enPassant": has_en_passant,
    "exposedKing": has_exposed_king,
    "fork": lambda line: find_fork(line) is not None,
    "hangingPiece": has_hanging_piece,
    "interference": has_interference,
    "intermezzo": has_intermezzo,
    "kingsideAttack": has_kingside_attack,
    "pin": lambda line: find_pin(line) is not None,
    "promotion": has_promotion,
    "queensideAttack": has_queenside_attack,
    "quietMove": has_quiet_move,
    "sacrifice": has_sacrifice,
    "skewer": lambda line: find_skewer(line) is not None,
    "trappedPiece": lambda line: find_trapped_piece(line) is not None,
    "underPromotion": has_underpromotion,
    "xRayAttack": has_x_ray_attack,
}
