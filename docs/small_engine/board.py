"""The board of the small engine: sets of squares as bits, positions, and moves."""

from functools import cache

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
WHITE, BLACK = 0, 1
LETTERS = "pnbrqk"
SQUARES = [file + rank for rank in "12345678" for file in "abcdefgh"]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

# Sets of squares: bit 0 is a1, bit 1 is b1, bit 8 is a2, bit 63 is h8.


def squares(bits):
    """Yield the squares of a set, the lowest first."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def draw(bits):
    """Print a set as a board."""
    for rank in reversed(range(8)):
        print(*("x" if bits >> 8 * rank + file & 1 else "." for file in range(8)))


def step(square, right, up):
    """Give the set of the one square that lies so far away; the empty set outside the board."""
    file, rank = square % 8 + right, square // 8 + up
    return 1 << 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else 0


def line(square, right, up, blockers=0):
    """Give the squares in one direction, up to and including the first blocker."""
    bits, distance = 0, 1
    while (bit := step(square, right * distance, up * distance)) and not bits & blockers:
        bits, distance = bits | bit, distance + 1
    return bits


def _table(steps):
    return [sum(step(square, *way) for way in steps) for square in range(64)]


STRAIGHT, DIAGONAL = ((1, 0), (0, 1), (-1, 0), (0, -1)), ((1, 1), (-1, 1), (-1, -1), (1, -1))
KING_ATTACKS = _table(STRAIGHT + DIAGONAL)
KNIGHT_ATTACKS = _table([(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)])
PAWN_ATTACKS = [_table([(-1, 1), (1, 1)]), _table([(-1, -1), (1, -1)])]  # White's, Black's
LINES = {ways: [sum(line(square, *way) for way in ways) for square in range(64)] for ways in (STRAIGHT, DIAGONAL)}


@cache
def _slide(square, blockers, ways):
    return sum(line(square, *way, blockers) for way in ways)


def attacks(piece, square, occupied):
    """Give the squares that a piece attacks; pawns have a table of their own."""
    if piece == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if piece == KING:
        return KING_ATTACKS[square]
    bits = 0
    if piece != BISHOP:
        bits = _slide(square, occupied & LINES[STRAIGHT][square], STRAIGHT)
    if piece != ROOK:
        bits |= _slide(square, occupied & LINES[DIAGONAL][square], DIAGONAL)
    return bits


def name(move):
    """Write a move (start, target, and the new piece of a promotion or None) as UCI does: e2e4, e7e8q."""
    start, target, promotion = move
    return SQUARES[start] + SQUARES[target] + ("" if promotion is None else LETTERS[promotion])


class Position:
    """A position: two colours and six types as sets, and what else the rules need."""

    __slots__ = ("castling", "colors", "en_passant", "quiet_plies", "turn", "types")

    def key(self):
        """Give all that makes two positions equal by the rule of repetition."""
        return (*self.types, self.colors[WHITE], self.turn, self.castling, self.en_passant)

    def piece_at(self, bit):
        """Give the type of the piece on a square, given as a set; None if it is empty."""
        for piece, bits in enumerate(self.types):
            if bits & bit:
                return piece
        return None

    def attacked(self, square, by):
        """Tell whether a side attacks a square."""
        pawns, knights, bishops, rooks, queens, kings = self.types
        occupied = self.colors[WHITE] | self.colors[BLACK]
        return self.colors[by] & (
            PAWN_ATTACKS[1 - by][square] & pawns
            | KNIGHT_ATTACKS[square] & knights
            | KING_ATTACKS[square] & kings
            | attacks(ROOK, square, occupied) & (rooks | queens)
            | attacks(BISHOP, square, occupied) & (bishops | queens)
        )

    def in_check(self, side):
        """Tell whether a side's king is attacked."""
        return self.attacked((self.types[KING] & self.colors[side]).bit_length() - 1, 1 - side)


def from_fen(fen):
    """Read a position."""
    board, turn, castling, en_passant, quiet_plies = fen.split()[:5]
    position = Position()
    position.types, position.colors = [0] * 6, [0] * 2
    square = 56  # a8; a FEN begins there, and each rank begins at the a-file
    for letter in board:
        if letter == "/":
            square -= 16
        elif letter.isdigit():
            square += int(letter)
        else:
            position.types[LETTERS.index(letter.lower())] |= 1 << square
            position.colors[letter.islower()] |= 1 << square
            square += 1
    position.turn = WHITE if turn == "w" else BLACK
    # The rights are the rooks that may still castle.
    position.castling = sum(1 << {"K": 7, "Q": 0, "k": 63, "q": 56}[letter] for letter in castling.strip("-"))
    position.en_passant = None if en_passant == "-" else SQUARES.index(en_passant)
    position.quiet_plies = int(quiet_plies)
    return position


# A move from or to one of these squares ends the rights of these rooks.
_ENDS = {0: 1 << 0, 7: 1 << 7, 4: 1 << 0 | 1 << 7, 56: 1 << 56, 63: 1 << 63, 60: 1 << 56 | 1 << 63}


def make(position, move):
    """Give the position after a move, which may leave the king in check; the old position stays as it is."""
    start, target, promotion = move
    us, them = position.turn, 1 - position.turn
    start_bit, target_bit = 1 << start, 1 << target
    child = Position()
    child.types, child.colors = types, colors = position.types[:], position.colors[:]
    piece, victim = position.piece_at(start_bit), position.piece_at(target_bit)
    if victim is not None:
        types[victim] ^= target_bit
        colors[them] ^= target_bit
    types[piece] ^= start_bit
    types[piece if promotion is None else promotion] ^= target_bit
    colors[us] ^= start_bit | target_bit
    child.en_passant = None
    if piece == PAWN:
        if target == position.en_passant:
            passed = 1 << (target ^ 8)  # the square behind or before it on the same file
            types[PAWN] ^= passed
            colors[them] ^= passed
        elif abs(target - start) == 16 and PAWN_ATTACKS[us][(start + target) // 2] & types[PAWN] & colors[them]:
            child.en_passant = (start + target) // 2
    elif piece == KING and abs(target - start) == 2:
        corner, beside = (target + 1, target - 1) if target > start else (target - 2, target + 1)
        types[ROOK] ^= 1 << corner | 1 << beside
        colors[us] ^= 1 << corner | 1 << beside
    child.turn = them
    child.castling = position.castling & ~(_ENDS.get(start, 0) | _ENDS.get(target, 0))
    child.quiet_plies = 0 if piece == PAWN or victim is not None else position.quiet_plies + 1
    return child


def moves(position, noisy_only=False):
    """Yield all moves, or only captures and promotions; some may leave the king in check."""
    us, them = position.turn, 1 - position.turn
    own, enemy = position.colors[us], position.colors[them]
    occupied = own | enemy
    forward, first_rank, last_rank = (8, 1, 7) if us == WHITE else (-8, 6, 0)
    passed = 0 if position.en_passant is None else 1 << position.en_passant
    for start in squares(position.types[PAWN] & own):
        targets = PAWN_ATTACKS[us][start] & (enemy | passed)
        ahead = 1 << start + forward
        promotes = (start + forward) // 8 == last_rank
        if not ahead & occupied and (promotes or not noisy_only):
            targets |= ahead
            if start // 8 == first_rank and not 1 << start + 2 * forward & occupied:
                targets |= 1 << start + 2 * forward
        for target in squares(targets):
            for promotion in (QUEEN, KNIGHT, ROOK, BISHOP) if promotes else (None,):
                yield start, target, promotion
    wanted = enemy if noisy_only else ~own
    for piece in range(KNIGHT, KING + 1):
        for start in squares(position.types[piece] & own):
            for target in squares(attacks(piece, start, occupied) & wanted):
                yield start, target, None
    if not noisy_only and not position.in_check(us):
        for rook in squares(position.castling & own):
            king = 4 if us == WHITE else 60
            way = 1 if rook > king else -1
            between = sum(1 << square for square in range(min(rook, king) + 1, max(rook, king)))
            if not between & occupied and not position.attacked(king + way, them):
                yield king, king + 2 * way, None


def children(position, noisy_only=False):
    """Yield each legal move and the position after it."""
    for move in moves(position, noisy_only):
        child = make(position, move)
        if not child.in_check(position.turn):
            yield move, child


def perft(position, depth):
    """Count the sequences of so many legal moves."""
    if depth == 0:
        return 1
    return sum(1 if depth == 1 else perft(child, depth - 1) for _, child in children(position))
