"""The search of the small engine. Each technique can be left out, to measure what it saves."""

import time
from collections import defaultdict
from copy import copy

from .board import KING, PAWN, make, moves
from .evaluate import VALUES, evaluate

TECHNIQUES = ("alpha-beta", "captures", "quiescence", "table", "killers", "history", "null move", "reductions")
MATE, DEEPEST = 30_000, 60
EXACT, LOWER, UPPER = "exact", "lower", "upper"  # what a value in the table says about the true one


class Stopped(Exception):
    """The search has to end now."""


class Search:
    """A search: `path` has the keys of the game's positions; `stop` is asked now and then whether to end."""

    def __init__(self, use=TECHNIQUES, path=(), stop=lambda: False):
        self.use, self.path, self.stop = frozenset(use), list(path), stop
        self.nodes = 0
        self.table = {}  # key: depth, value, bound, move
        self.killers = defaultdict(list)  # ply: the last two quiet moves that refuted something there
        self.history = defaultdict(int)  # move: how often it did, deep refutations counting more

    def deepen(self, position, depth=DEEPEST):
        """Search depth after depth; yield the depth, the value, the best moves and the seconds of each."""
        began = time.perf_counter()
        for reached in range(1, depth + 1):
            try:
                value, variation = self.search(position, reached, -MATE, MATE)
            except Stopped:
                return
            yield reached, value, variation, time.perf_counter() - began

    def search(self, position, depth, alpha, beta, ply=0, may_pass=True):
        """Give the value for the side to move, and the best moves of both sides."""
        if depth <= 0:
            return self.quiesce(position, alpha, beta, ply), []
        self.count()
        key = position.key()
        if ply and (position.quiet_plies >= 100 or key in self.path[-position.quiet_plies :] or is_bare(position)):
            return 0, []
        known_depth, value, bound, hash_move = self.table.get(key, (-1, 0, EXACT, None))
        decides = bound == EXACT or (value >= beta if bound == LOWER else value <= alpha)
        if ply and known_depth >= depth and decides and abs(value) < MATE - DEEPEST:
            return value, [hash_move]
        checked = position.in_check(position.turn)
        self.path.append(key)
        try:
            may_pass = may_pass and "null move" in self.use and depth > 2 and not checked and has_pieces(position)
            if may_pass and evaluate(position) >= beta:
                value = -self.search(passed(position), depth - 3, -beta, 1 - beta, ply + 1, False)[0]
                if value >= beta:
                    return value, []
            best, variation, floor, number = -MATE, [], alpha, 0
            for move, child in self.ordered(position, hash_move, ply):
                number += 1
                quiet = is_quiet(position, move)
                late = "reductions" in self.use and number > 3 and depth > 2 and quiet and not checked
                if late:  # first less deeply, and only to see whether it is better than the best
                    value, line = self.search(child, depth - 2, -alpha - 1, -alpha, ply + 1)
                if not late or -value > alpha:
                    value, line = self.search(child, depth - 1, -beta, -alpha, ply + 1)
                if -value > best:
                    best, variation = -value, [move, *line]
                if "alpha-beta" in self.use:
                    alpha = max(alpha, best)
                if alpha >= beta:
                    if quiet:
                        self.killers[ply] = [move, *self.killers[ply]][:2]
                        self.history[move] += depth * depth
                    break
            if number == 0:
                return (ply - MATE if checked else 0), []
        finally:
            self.path.pop()
        if "table" in self.use:
            bound = LOWER if best >= beta else UPPER if best <= floor else EXACT
            self.table[key] = depth, best, bound, variation[0]
        return best, variation

    def quiesce(self, position, alpha, beta, ply):
        """Search captures and promotions only, until none is worth it."""
        self.count()
        best = evaluate(position)
        if "quiescence" not in self.use or (best >= beta and "alpha-beta" in self.use):
            return best
        for _, child in self.ordered(position, None, ply, noisy_only=True):
            best = max(best, -self.quiesce(child, -beta, -max(alpha, best), ply + 1))
            if best >= beta and "alpha-beta" in self.use:
                break
        return best

    def ordered(self, position, hash_move, ply, noisy_only=False):
        """Yield the legal moves and the positions after them, the most promising first."""

        def promise(move):
            if move == hash_move:
                return 1_000_000
            if not is_quiet(position, move):  # the most valuable victim first, by the least valuable attacker
                won = [piece for piece in (position.piece_at(1 << move[1]), move[2]) if piece is not None]
                attacker = position.piece_at(1 << move[0])
                return 100_000 + 10 * sum(VALUES[piece] for piece in won) - attacker if "captures" in self.use else 0
            if "killers" in self.use and move in self.killers[ply]:
                return 90_000
            return min(self.history[move], 80_000) if "history" in self.use else 0

        for move in sorted(moves(position, noisy_only), key=promise, reverse=True):
            child = make(position, move)
            if not child.in_check(position.turn):
                yield move, child

    def count(self):
        """Count a node, and see now and then whether to stop."""
        self.nodes += 1
        if self.nodes % 256 == 0 and self.stop():
            raise Stopped


def is_quiet(position, move):
    """Tell whether a move neither captures nor promotes; en passant is taken for quiet."""
    return move[2] is None and position.piece_at(1 << move[1]) is None


def has_pieces(position):
    """Tell whether the side to move has more than pawns and a king."""
    return position.colors[position.turn] & ~(position.types[PAWN] | position.types[KING])


def is_bare(position):
    """Tell whether neither side can mate: at most one knight or bishop is left."""
    pawns, knights, bishops, rooks, queens, _ = position.types
    return not pawns | rooks | queens and (knights | bishops).bit_count() < 2


def passed(position):
    """Give the position after a null move: the other side is to move, and nothing else has changed."""
    child = copy(position)
    child.turn, child.en_passant = 1 - position.turn, None
    return child
