"""Explanations of mistakes in games are true: python-chess's attackers, pins, mates and counts of pieces check them.

`tests/data/mistakes.tsv` has moves of games between weakened engines that were marked as bad, with the lines of a
search of 30,000 nodes before and after each. This file shares no code with the explanations.
"""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import chess
import pytest
from chess.engine import Cp, InfoDict, Mate, PovScore

from knightadder import explain

ROWS = (Path(__file__).parents[1] / "data" / "mistakes.tsv").read_text("utf-8").splitlines()
POINTS = {"pawn": 1, "knight": 3, "bishop": 3, "rook": 5, "queen": 9}
KINDS = {name: number for number, name in enumerate(chess.PIECE_NAMES) if name}
NUMBERS = {"a": 1, "the": 1, "two": 2, "three": 3}


class Told:
    """A row of the file: a position, a bad move, and the engine's scores and lines before and after it, as boards."""

    def __init__(self, row):
        fen, previous, move, *results = row.split("\t")
        self.board = chess.Board(fen)
        self.previous = self.board.parse_uci(previous)
        self.took = self.board.is_capture(self.previous)
        self.board.push(self.previous)
        self.mover = self.board.turn
        self.move = self.board.parse_uci(move)
        self.end = self.board.copy()
        self.end.push(self.move)
        self.scores, self.lines = [], []
        for start, score, line in zip((self.board, self.end), results[::2], results[1::2], strict=True):
            value = Mate(int(score[1:])) if score.startswith("#") else Cp(int(score))
            self.scores.append(PovScore(value, start.turn))
            boards = [start]
            for uci in line.split():
                boards.append(boards[-1].copy())
                boards[-1].push_uci(uci)
            self.lines.append(boards)
        results = [
            InfoDict(score=score, pv=[*boards[-1].move_stack[len(boards[0].move_stack) :]])
            for score, boards in zip(self.scores, self.lines, strict=True)
        ]
        self.sentence = explain(self.board, self.move, *results)

    def attack(self, verb):
        """Give the side that attacks, and its line: what the mover missed, or what it allowed the opponent."""
        return (self.mover, self.lines[0]) if verb == "Misses" else (not self.mover, self.lines[1])


def lead(board, side):
    return sum(
        points * (len(board.pieces(KINDS[name], side)) - len(board.pieces(KINDS[name], not side)))
        for name, points in POINTS.items()
    )


def ends(boards):
    """Give the last board of a line, and the boards after each capture on the square of its last move."""
    last = boards[-1]
    found = [last]
    for move in last.generate_legal_captures() if len(boards) > 1 else ():
        if move.to_square == last.peek().to_square:
            found.append(last.copy())
            found[-1].push(move)
    return found


def moves_of(side, boards):
    """Give the moves of a side in a line, each with the boards before and after it, and its captures afterwards."""
    played = [(before, after.peek(), after) for before, after in pairwise(boards) if before.turn == side]
    for number, (before, move, after) in enumerate(played):
        yield before, move, after, [then for old, then, _ in played[number + 1 :] if old.is_capture(then)]


def kind(board, square):
    piece = board.piece_at(square)
    return piece and chess.piece_name(piece.piece_type)


def pieces(text):
    """Read "a rook and two pawns"."""
    found = Counter()
    for number, name in re.findall(r"(\w+) (pawn|knight|bishop|rook|queen)", text):
        found[name] += NUMBERS[number]
    return found


def misses_mate(told, count):
    boards = told.lines[0]
    assert boards[-1].is_checkmate() and len(boards) == 2 * int(count)
    assert told.scores[0].pov(told.mover) == Mate(int(count))
    assert (told.scores[1].pov(told.mover).mate() or 0) <= 0


def allows_mate(told, count, where):
    boards = told.lines[1]
    assert boards[-1].is_checkmate() and len(boards) == 2 * int(count)
    assert (told.scores[0].pov(told.mover).mate() or 0) >= 0
    if where:
        rank = chess.square_rank(boards[-1].king(told.mover))
        assert rank == (0 if told.mover else 7)
        assert any(chess.square_rank(square) == rank for square in boards[-1].checkers())


def forced_mate(told, verb):
    side, boards = told.attack(verb)
    assert told.scores[0 if verb == "Misses" else 1].pov(side).mate() > 0
    assert not boards[-1].is_checkmate()  # the line is not complete


def loses_a_piece(told, verb, name, square):
    at = chess.parse_square(square)
    before, after = told.lines[1][:2]
    assert before.color_at(at) == told.mover and kind(before, at) == name
    assert before.attackers(not told.mover, at)
    assert after.peek().to_square == at
    assert bool(after.attackers(told.mover, at)) == (verb == "Loses")  # a pinned piece defends, too
    assert all(lead(end, told.mover) <= lead(told.board, told.mover) - 2 for end in ends(told.lines[1])[:1])


def gives_a_pawn(told, square):
    at = chess.parse_square(square)
    before, after = told.lines[1][:2]
    taken = at if not before.is_en_passant(after.peek()) else None
    assert before.color_at(at) == told.mover and kind(before, at) == "pawn"
    assert before.is_capture(after.peek()) and (taken is None or after.peek().to_square == taken)
    assert any(lead(end, told.mover) == lead(told.board, told.mover) - 1 for end in ends(told.lines[1]))


def fork(told, verb, names, square):
    side, boards = told.attack(verb)
    wanted = Counter()
    for word in re.split(r", | and ", names):
        number, _, name = word.rpartition(" ")
        wanted[name.rstrip("s") if number else name] += NUMBERS.get(number, 1)
    assert wanted.total() > 1 and not wanted["pawn"]
    for _, move, after, taken in moves_of(side, boards):
        attacked = Counter(kind(after, at) for at in after.attacks(move.to_square) if after.color_at(at) != side)
        if chess.square_name(move.to_square) == square and all(attacked[name] >= wanted[name] for name in wanted):
            assert any(later.to_square in after.attacks(move.to_square) for later in taken)
            return
    pytest.fail("there is no fork")


def skewer(told, verb, front, behind, square):
    (side, boards), at = told.attack(verb), chess.parse_square(square)
    for _, move, after, taken in moves_of(side, boards):
        if move.to_square == at:
            for later in taken:
                between = chess.SquareSet.between(at, later.to_square) & after.occupied
                if [kind(after, each) for each in between] == [front] and kind(after, later.to_square) == behind:
                    return
    pytest.fail("there is no skewer")


def stations(boards, name, square):
    """Give the square of a piece on each board of a line, by its square on the first; None after it was taken."""
    at = chess.parse_square(square)
    assert kind(boards[0], at) == name
    found = [at]
    for before, after in pairwise(boards):
        move = after.peek()
        if at == move.from_square:
            at = move.to_square
        elif at is not None and after.piece_at(at) != before.piece_at(at):
            rook = chess.square((move.from_square + move.to_square) % 8 // 2, chess.square_rank(move.from_square))
            at = rook if before.is_castling(move) else None
        found.append(at)
    return found


def pin(told, verb, pieces):
    side, boards = told.attack(verb)
    places = [stations(boards, *each) for each in re.findall(rf"the {PIECE} on {SQUARE}", pieces)]
    assert places and any(
        board.turn != side and all(at[number] is not None and board.is_pinned(not side, at[number]) for at in places)
        for number, board in enumerate(boards[1:], 1)
    )


def discovery(told, verb, name, square):
    side, boards = told.attack(verb)
    places = dict(zip(map(id, boards), stations(boards, name, square), strict=True))
    for before, move, after, taken in moves_of(side, boards):
        at = places[id(after)]
        is_new = at is not None and after.attackers(side, at) - before.attackers(side, at) - {move.to_square}
        if is_new and any(later.to_square == at for later in taken):
            return
    pytest.fail("there is no discovered attack")


def discovered_check(told, verb, which):
    side, boards = told.attack(verb)
    checks = [(move, after.checkers()) for _, move, after, _ in moves_of(side, boards) if after.is_check()]
    if which == "double":
        assert any(len(checkers) == 2 for _, checkers in checks)
    else:
        assert any(checkers - chess.SquareSet([move.to_square]) for move, checkers in checks)


def trapped(told, name, square):
    boards = told.lines[1]
    for number, at in enumerate(stations(boards, name, square)[:-2]):
        board = boards[number]
        if at is None or board.turn != told.mover or not board.attackers(not told.mover, at):
            continue
        move = boards[number + 1].peek()
        where = move.to_square if move.from_square == at else at
        if where in [then.to_square for _, then, _, _ in moves_of(not told.mover, boards[number + 1 :])]:
            for move in board.generate_legal_moves(from_mask=chess.BB_SQUARES[at]):
                moved = board.copy()
                moved.push(move)
                assert moved.attackers(not told.mover, move.to_square)
            return
    pytest.fail("it is not attacked and taken")


def promotion(told, verb, square):
    side, boards = told.attack(verb)
    for number, (_, move, _, _) in enumerate(moves_of(side, boards)):
        if move.promotion and chess.square_name(move.to_square) == square:
            rest = boards[2 * number + 1 :]
            assert stations(rest, kind(rest[0], move.to_square), square)[-1] is not None
            return
    pytest.fail("there is no promotion")


def does_not_take_back(told, square):
    at = chess.parse_square(square)
    assert told.took and told.previous.to_square == at
    assert told.lines[0][1].peek().to_square == at and told.move.to_square != at


def does_not_take(told, name, square):
    at = chess.parse_square(square)
    before, after = told.lines[0][:2]
    assert before.color_at(at) != told.mover and kind(before, at) == name
    assert after.peek().to_square == at and told.move != after.peek()
    assert not after.attackers(not told.mover, at)


def exchange(told, verb, given, taken):
    side = told.mover if verb == "Loses" else not told.mover  # the side that gives
    start, boards = told.board, told.lines[1 if verb == "Loses" else 0]
    if given == "material":
        points = int(taken)
        assert any(lead(end, side) == lead(start, side) - points for end in ends(boards))
        return
    lost, won = (
        (Counter({"rook": 1}), Counter({"knight": 1}))
        if given == "the exchange"
        else (pieces(given), pieces(taken or ""))
    )
    worth = sum(POINTS[name] * count for name, count in (lost - won).items()) - sum(
        POINTS[name] * count for name, count in (won - lost).items()
    )
    assert lost.total()
    fitting = [end for end in ends(boards) if lead(end, side) == lead(start, side) - worth]
    assert any(
        all(len(end.pieces(KINDS[name], side)) < len(start.pieces(KINDS[name], side)) for name in lost)
        for end in fitting
    )


def evaluation(told, first, last):
    for text, score in zip((first, last), told.scores, strict=True):
        white = score.white()
        assert text == (f"#{white.mate()}" if white.is_mate() else f"{white.score() / 100:+.2f}")


PIECE, SQUARE = r"(pawn|knight|bishop|rook|queen|king)", r"([a-h][1-8])"
CHECKS = [
    (r"Misses mate in (\d+)", misses_mate),
    (r"Allows mate in (\d+)( on the back rank)?", allows_mate),
    (r"(Misses|Allows) a forced mate", forced_mate),
    (rf"(Hangs|Loses) the {PIECE} on {SQUARE}", loses_a_piece),
    (rf"Gives up the pawn on {SQUARE} for nothing", gives_a_pawn),
    (rf"(Allows|Misses) a fork of (.+) on {SQUARE}", fork),
    (rf"(Allows|Misses) a skewer of {PIECE} and {PIECE} from {SQUARE}", skewer),
    (r"(Allows|Misses) a pin of (.+)", pin),
    (rf"(Allows|Misses) a discovered attack on the {PIECE} on {SQUARE}", discovery),
    (r"(Allows|Misses) a (double|discovered) check", discovered_check),
    (rf"Lets the {PIECE} on {SQUARE} be trapped", trapped),
    (rf"(Allows|Misses) a promotion on {SQUARE}", promotion),
    (rf"Does not take back on {SQUARE}", does_not_take_back),
    (rf"Does not take the undefended {PIECE} on {SQUARE}", does_not_take),
    (r"(Loses|Misses the win of) (material) worth (\d+) pawns?", exchange),
    (r"(Loses|Misses the win of) ((?:the exchange|(?:a|two|three) (?:(?! for ).)+))(?: for (.+))?", exchange),
    (r"The evaluation goes from (\S+) to (\S+)", evaluation),
]


@pytest.mark.parametrize("part", range(4))
def test_each_explanation_is_true(part):
    wrong, kinds = [], Counter()
    for number, row in list(enumerate(ROWS, 1))[part::4]:
        told = Told(row)
        matches = [(match, check) for form, check in CHECKS if (match := re.fullmatch(form + r"\.", told.sentence))]
        assert len(matches) == 1, told.sentence
        [(match, check)] = matches
        kinds[check] += 1
        try:
            check(told, *match.groups())
        except (AssertionError, pytest.fail.Exception) as error:
            wrong.append(f"line {number}: {told.sentence} {error}")
    assert not wrong
    assert kinds[evaluation] < kinds.total() * 0.6  # most of the others are told more


def test_there_are_enough():
    assert len(ROWS) >= 200
