"""Explains a bad move in one sentence.

The sentence is proved by the engine's lines before and after the move, in which the code for puzzle themes finds
motifs. If the lines prove nothing, the sentence only gives the evaluations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import chess
import chess.engine
from chess.engine import InfoDict

from knightadder.library.boards import Move, Position, legal_board_of, name_of
from knightadder.library.results import Analysis, Line
from knightadder.library.scores import TABLEBASE_WINS, score_text
from knightadder.motifs.line import PlayedLine, boards_along
from knightadder.motifs.mates import named_mates
from knightadder.motifs.tactics import (
    VALUES,
    MotifPlace,
    balance,
    find_discovered_attack,
    find_fork,
    find_pin,
    find_skewer,
    find_trapped_piece,
    has_discovered_check,
    has_double_check,
)
from knightadder.review.game_evaluation import ScoredLine, SearchedPosition, legal_part
from knightadder.text import counted

#: The kinds of mistakes and their names for the user, in the order in which `fault_of` checks them.
KINDS = {
    "missedMate": "Missed a forced mate",
    "backRank": "Allowed a mate on the back rank",
    "allowedMate": "Allowed a forced mate",
    "draw": "Ended the game as a draw",
    "hangs": "Left a piece to be taken",
    "fork": "Allowed a fork",
    "trapped": "Let a piece be trapped",
    "skewer": "Allowed a skewer",
    "pin": "Allowed a pin",
    "discovered": "Allowed a discovered attack",
    "promotion": "Let a pawn promote",
    "recapture": "Did not take back",
    "missedCapture": "Did not take a loose piece",
    "missedFork": "Missed a fork",
    "missedTactic": "Missed another tactic",
    "material": "Lost material in another way",
    "pawn": "Lost a pawn",
    "missedMaterial": "Missed a win of material in another way",
    "other": "Spoiled the position without losing material",
}

_PIECE = 2  # a loss of at least this many points is more than a pawn
# In a line, a side may not take back because another move is about as good. So if it could take back, the line proves a
# loss only if the evaluation falls by at least this many centipawns.
_DEAR = 100
_MATE = 100_000  # in centipawns, more than all other scores
_MINOR = (chess.KNIGHT, chess.BISHOP)
_MOST_NAMED = 3  # maximum number of pieces of a side that are named; more pieces are given as points
_NUMBERS = ("no", "a", "two", "three")

_EXPLANATION = re.compile(
    r"\b(Misses|Allows|Gives|Leaves too little|Hangs|Loses|Lets|Does not take) [a-z0-9 ,]+\.(?!\S)"
)
_SCORE = r"(?:\S+|a tablebase win for (?:White|Black))"
_EVALUATIONS = re.compile(rf"\bThe evaluation (?:goes from {_SCORE} to|stays) {_SCORE}\.(?!\S)")


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of a bad move: its kind, a key of `KINDS`, and a sentence about it."""

    kind: str
    text: str


def explain(board: Position, move: Move, before: Analysis | Line | InfoDict, after: Analysis | Line | InfoDict) -> str:
    """Explain a bad move in one sentence, such as ``Hangs the knight on d5.``

    The sentence says only what the engine's lines show. If they show no loss of material and no mate, the sentence
    gives the evaluations before and after the move, from White's view.

    Parameters
    ----------
    board : chess.Board or str
        The position before the move: a board, a FEN or ``"startpos"``. If a board contains the earlier moves, the
        explanation can mention a capture that was not answered by a recapture.
    move : chess.Move or str
        The bad move. Text is in algebraic or UCI notation.
    before, after : Analysis, Line or chess.engine.InfoDict
        Results of Knightadder, or of an external engine in python-chess, for the positions before and after the move.
        They must have a score and a line.

    Raises
    ------
    PositionError
        If the position or the move is illegal.
    ValueError, TypeError
        If a result has no score or belongs to another position, or an argument has a wrong type.
    """
    board = legal_board_of(board)
    played = board.parse_uci(name_of(board, move))
    end = board.copy(stack=False)
    end.push(played)
    return fault_of(board, played, _searched(board, "before", before), _searched(end, "after", after)).text


def with_explanation(comment: str, text: str) -> str:
    """Return a comment with an explanation, which replaces one that gives evaluations. Other explanations are kept."""
    if _EVALUATIONS.search(comment):
        return _EVALUATIONS.sub(text, comment, count=1)
    return comment if _EXPLANATION.search(comment) else f"{comment} {text}".lstrip()


def _searched(board: chess.Board, name: str, result: Analysis | Line | InfoDict) -> SearchedPosition:
    if isinstance(result, Analysis | Line):
        score, moves = result.score, list(result.pv)
    elif not isinstance(result, dict):
        raise TypeError(f"{name} must be an Analysis, a Line or an InfoDict, not {result!r:.60}")
    elif "score" in result:
        score, moves = result["score"], result.get("pv", [])
    else:
        raise ValueError("the engine's result has no score")
    line = legal_part(board, moves)
    elsewhere = not isinstance(result, dict) and result.fen.split()[:2] != board.fen().split()[:2]
    if elsewhere or (moves and not line):
        raise ValueError(f"{name} is not a result for the position {name} the move: {board.fen()}")
    return SearchedPosition(score, 0, (ScoredLine(score, line),) if line else ())


def fault_of(board: chess.Board, move: chess.Move, before: SearchedPosition, after: SearchedPosition) -> Fault:
    """Find the fault of a bad move. `before` and `after` are the results for the positions before and after it."""
    end = board.copy(stack=False)
    end.push(move)
    could, can = before.score.pov(board.turn).mate() or 0, after.score.pov(board.turn).mate() or 0
    best, reply = _Outcome(board, before, board), _Outcome(end, after, board)
    won = [_tablebase_winner(position.score) for position in (before, after)]
    if could > 0 and can <= 0 and won[1] != board.turn and not end.is_checkmate():
        return Fault("missedMate", f"Misses {_mate(best)}.")
    if can < 0 <= could and won[0] != (not board.turn):
        kind, where = ("backRank", " on the back rank") if reply.is_mate_on_back_rank() else ("allowedMate", "")
        return Fault(kind, f"Allows {_mate(reply)}{where}.")
    if end.is_stalemate():
        return Fault("draw", "Gives stalemate.")
    if end.is_insufficient_material():
        return Fault("draw", "Leaves too little material to win.")
    lost, missed = -reply.gain, best.gain
    difference = _difference(best, reply, board.turn)
    scores = [each.score.pov(board.turn).score(mate_score=_MATE) for each in (before, after)]
    is_dear = scores[0] - scores[1] >= _DEAR
    found = []
    if lost >= 1 and min(lost, _PIECE) <= difference and (is_dear or not reply.could_take_back()):
        found.append((lost, _allowed(board, move, best, reply)))
    if missed >= 1 and min(missed, _PIECE) <= difference and lost > -_PIECE and (is_dear or not best.could_take_back()):
        found.append((missed, _missed(board, move, best, reply)))
    if found:
        return max(found, key=lambda each: each[0])[1]
    first, second = _told(before.score), _told(after.score)
    change = f"stays {second}" if first == second else f"goes from {first} to {second}"
    return Fault("other", f"The evaluation {change}.")


def _tablebase_winner(score: chess.engine.PovScore) -> chess.Color | None:
    """Return the side that wins by tablebases; None if the score is an evaluation or a mate."""
    centipawns = score.white().score() or 0
    return centipawns > 0 if abs(centipawns) in TABLEBASE_WINS else None


def _told(score: chess.engine.PovScore) -> str:
    winner = _tablebase_winner(score)
    return score_text(score) if winner is None else f"a tablebase win for {chess.COLOR_NAMES[winner].capitalize()}"


def _difference(best: _Outcome, reply: _Outcome, mover: chess.Color) -> int:
    """Return how much more material the mover has after the best line than after the reply to the mistake.
    The lines are compared at their ends, or after the same number of moves.
    """
    plies = min(len(best.boards) - 1, len(reply.boards))
    pairs = [(-1, -1), (plies, plies - 1)] if plies else [(-1, -1)]
    return max(balance(best.boards[one], mover) - balance(reply.boards[other], mover) for one, other in pairs)


# --- lines -----------------------------------------------------------------------------------------------------------


class _Outcome:
    """The best line of a position, and the mover's gain in points of material at its end. `lost` and `won` are the
    mover's losses and gains since the position before the mistake, without equal exchanges. If a pawn is promoted in
    the line, they are unknown.
    """

    def __init__(self, start: chess.Board, position: SearchedPosition, before: chess.Board) -> None:
        self.moves = moves = position.variations[0].moves if position.variations else ()
        self.boards = boards = boards_along(start.copy(stack=False), moves)
        self._before = before
        self.line = _solution(boards, moves)
        settled = _settled(boards)
        mover = before.turn
        self.gain = balance(settled, mover) - balance(before, mover)
        self.lost, self.won = (_counts(before, side) - _counts(settled, side) for side in (mover, not mover))
        self.has_promotion = any(move.promotion for move in moves)
        _cancel(self.lost, self.won)

    def first_capture(self) -> tuple[chess.PieceType, chess.Square, bool] | None:
        """Return the piece that the first move takes, its square, and whether a piece (perhaps pinned) defended it."""
        if self.line is None:
            return None
        start, move, end = self.line.boards[0], self.line.moves[0], self.line.boards[1]
        if not start.is_capture(move):
            return None
        square = _captured_square(start, move)
        kind = start.piece_type_at(square)
        assert kind is not None
        return kind, square, bool(end.attackers(end.turn, move.to_square))

    def could_take_back(self) -> bool:
        """Return whether the first move is a capture, and the other side loses nothing by the exchange on its square,
        but moves elsewhere.
        """
        if not self.moves or not self.boards[0].is_capture(self.moves[0]):
            return False
        square, end = self.moves[0].to_square, self.boards[1]
        if len(self.moves) > 1 and self.moves[1].to_square == square:
            return False
        return balance(_exchanged(end, square), end.turn) >= balance(self._before, end.turn)

    def is_traded(self) -> bool:
        """Return whether the first move takes a piece of at most the taker's value, and the reply takes the taker."""
        if len(self.moves) < 2 or self.moves[0].to_square != self.moves[1].to_square:
            return False
        start, end = self.boards[:2]
        taken = start.piece_type_at(_captured_square(start, self.moves[0]))
        taker = end.piece_type_at(self.moves[0].to_square)
        return taken is not None and taker is not None and VALUES[taken] <= VALUES[taker]

    def captures(self, color: chess.Color) -> set[chess.Square]:
        if self.line is None:
            return set()
        pairs = zip(self.line.boards, self.line.moves, strict=False)
        return {
            _captured_square(board, move) for board, move in pairs if board.turn == color and board.is_capture(move)
        }

    def is_mate_on_back_rank(self) -> bool:
        return self.line is not None and "backRankMate" in named_mates(self.line)


def _solution(boards: Sequence[chess.Board], moves: Sequence[chess.Move]) -> PlayedLine | None:
    """Return the line without a reply at its end; None if no move is left."""
    count = len(moves) - (len(moves) + 1) % 2
    return PlayedLine(boards[: count + 1], moves[:count]) if count > 0 else None


def _settled(boards: list[chess.Board]) -> chess.Board:
    """Return the board at the end of a line. If the line's first side also moved last, the exchange is played out."""
    end = boards[-1]
    if len(boards) % 2 == 0:
        return _exchanged(end, end.peek().to_square)
    return end


def _exchanged(board: chess.Board, square: chess.Square) -> chess.Board:
    """Return the board after all captures on a square; a side captures only if it gains material."""
    takes = _captures_on(board, square)
    if not takes:
        return board
    end = board.copy(stack=False)
    end.push(min(takes, key=lambda move: VALUES[board.piece_type_at(move.from_square) or chess.PAWN]))
    end = _exchanged(end, square)
    return end if balance(end, board.turn) > balance(board, board.turn) else board


def _captured_square(board: chess.Board, move: chess.Move) -> chess.Square:
    """Return the square of the piece that a move takes; en passant, this is not the target square."""
    if board.is_en_passant(move):
        return chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
    return move.to_square


def _captures_on(board: chess.Board, square: chess.Square) -> list[chess.Move]:
    return [*board.generate_legal_moves(to_mask=chess.BB_SQUARES[square] & board.occupied_co[not board.turn])]


def _counts(board: chess.Board, color: chess.Color) -> Counter[chess.PieceType]:
    return Counter({kind: chess.popcount(board.pieces_mask(kind, color)) for kind in chess.PIECE_TYPES})


def _cancel(lost: Counter[chess.PieceType], won: Counter[chess.PieceType]) -> None:
    """Remove pieces of equal value from both counters."""
    for first in chess.PIECE_TYPES:
        for second in _MINOR if first in _MINOR else (first,):
            equal = min(lost[first], won[second])
            lost[first] -= equal
            won[second] -= equal


# --- sentences -------------------------------------------------------------------------------------------------------


def _mate(outcome: _Outcome) -> str:
    """Describe the mate at the end of a line. Its length is given if the line is complete."""
    if outcome.line is None or not outcome.line.boards[-1].is_checkmate():
        return "a forced mate"
    return f"mate in {len(outcome.line.turns())}"


def _allowed(board: chess.Board, move: chess.Move, best: _Outcome, reply: _Outcome) -> Fault:
    """Explain that a loss of material was allowed."""
    assert reply.line is not None
    # A piece that has just captured, and is taken back, was exchanged.
    is_exchange = board.is_capture(move) and reply.moves[0].to_square == move.to_square
    taken = None if is_exchange else reply.first_capture()
    if taken and not reply.has_promotion and not reply.is_traded() and taken[1] not in best.captures(reply.line.solver):
        kind, square, defended = taken
        # A piece that is left undefended hangs even if its side gets a little for it later.
        won = sum(VALUES[each] * count for each, count in reply.won.items())
        is_given = not won or (not defended and 2 * won < VALUES[kind])
        if kind == chess.PAWN and -reply.gain == 1 and is_given:
            return Fault("pawn", f"Gives up the pawn on {chess.square_name(square)} for nothing.")
        if kind != chess.PAWN and reply.lost[kind] and is_given:
            verb = "Loses" if defended else "Hangs"
            return Fault("hangs", f"{verb} the {chess.piece_name(kind)} on {chess.square_name(square)}.")
    for kind_name, words in _new_motifs(reply.line, _solution(best.boards[1:], best.moves[1:])):
        return Fault(kind_name, f"{_ALLOWS[kind_name]} {words}.")
    kind_name = "material" if -reply.gain >= _PIECE else "pawn"
    return Fault(kind_name, f"Loses {_exchange(reply.lost, reply.won, reply)}.")


_ALLOWS = {
    "fork": "Allows",
    "trapped": "Lets",
    "skewer": "Allows",
    "pin": "Allows",
    "discovered": "Allows",
    "promotion": "Allows",
}


def _missed(board: chess.Board, move: chess.Move, best: _Outcome, reply: _Outcome) -> Fault:
    """Explain that a win of material was missed."""
    assert best.line is not None
    taken = best.first_capture()
    took = reply.captures(board.turn) | ({_captured_square(board, move)} if board.is_capture(move) else set())
    if taken and taken[1] not in took and not best.has_promotion and not best.lost.total():
        kind, square, defended = taken
        if square == _last_capture(board):
            return Fault("recapture", f"Does not take back on {chess.square_name(square)}.")
        if not defended and best.won[kind]:
            name = f"undefended {chess.piece_name(kind)} on {chess.square_name(square)}"
            return Fault("missedMaterial" if kind == chess.PAWN else "missedCapture", f"Does not take the {name}.")
    for kind_name, words in _new_motifs(best.line, _solution([board, *reply.boards], [move, *reply.moves])):
        if kind_name != "trapped":
            return Fault("missedFork" if kind_name == "fork" else "missedTactic", f"Misses {words}.")
    return Fault("missedMaterial", f"Misses the win of {_exchange(best.won, best.lost, best)}.")


def _last_capture(board: chess.Board) -> chess.Square | None:
    """Return the target square of the last move if that move was a capture."""
    if not board.move_stack:
        return None
    before = board.copy(stack=1)
    move = before.pop()
    return move.to_square if move and before.is_capture(move) else None


def _new_motifs(line: PlayedLine, other: PlayedLine | None) -> Iterator[tuple[str, str]]:
    """Yield the motifs of a line that the other line of the same side does not have."""
    known = set(_motifs(other)) if other else set()
    return (motif for motif in _motifs(line) if motif not in known)


def _motifs(line: PlayedLine) -> Iterator[tuple[str, str]]:
    """Yield the kind of each motif in a line, with words that describe the motif."""
    if place := find_fork(line):
        square = chess.square_name(line.moves[place.turn].to_square)
        yield "fork", f"a fork of {_kinds(_pieces(line, place))} on {square}"
    if place := find_trapped_piece(line):
        yield "trapped", f"{_at_start(line, place.turn - 1, place.squares)} be trapped"
    if place := find_skewer(line):
        square = chess.square_name(line.moves[place.turn].to_square)
        yield "skewer", f"a skewer of {_kinds(_pieces(line, place))} from {square}"
    for kind, words, find in (
        ("pin", "a pin of", find_pin),
        ("discovered", "a discovered attack on", find_discovered_attack),
    ):
        place = find(line)
        if place and chess.PAWN not in _pieces(line, place):
            yield kind, f"{words} {_at_start(line, place.turn + 1, place.squares)}"
    if has_discovered_check(line):
        yield "discovered", "a discovered check"
    if has_double_check(line):
        yield "discovered", "a double check"
    for turn in line.turns():
        if line.moves[turn].promotion and not _is_taken(line, turn):
            yield "promotion", f"a promotion on {chess.square_name(line.moves[turn].to_square)}"


def _at_start(line: PlayedLine, number: int, squares: Iterable[chess.Square]) -> str:
    """Name the pieces on some squares of a line's board by where they stand before the line begins."""
    names = []
    for square in squares:
        origin = _origin(line, number, square)
        kind = line.boards[0].piece_type_at(origin)
        assert kind
        names.append(f"the {chess.piece_name(kind)} on {chess.square_name(origin)}")
    return _listed(names)


def _origin(line: PlayedLine, number: int, square: chess.Square) -> chess.Square:
    """Return the square, before a line begins, of the piece that stands on `square` on the line's board `number`."""
    for board, move in zip(reversed(line.boards[:number]), reversed(line.moves[:number]), strict=True):
        if move.to_square == square:
            square = move.from_square
        elif board.is_castling(move) and board.piece_type_at(square) in (None, chess.KING):  # the rook has come
            rooks = board.castling_rights & board.occupied_co[board.turn]
            square = chess.msb(rooks) if board.is_kingside_castling(move) else chess.lsb(rooks)
    return square


def _is_taken(line: PlayedLine, number: int) -> bool:
    """Return whether the piece that makes a move of a line is taken later in it, or at its end."""
    square = line.moves[number].to_square
    for move in line.moves[number + 1 :]:
        if move.to_square == square:
            return True
        if move.from_square == square:
            square = move.to_square
    end = line.boards[-1]
    return end.turn != line.solver and _exchanged(end, square) is not end


def _pieces(line: PlayedLine, place: MotifPlace) -> Counter[chess.PieceType]:
    board = line.boards[place.turn + 1]
    return Counter(kind for square in place.squares if (kind := board.piece_type_at(square)))


def _kinds(pieces: Counter[chess.PieceType]) -> str:
    """Return the names of piece types as text, the most valuable first."""
    return _listed(
        chess.piece_name(kind) if count == 1 else f"{_NUMBERS[min(count, 3)]} {chess.piece_name(kind)}s"
        for kind, count in sorted(pieces.items(), key=lambda item: -VALUES[item[0]])
    )


def _exchange(given: Counter[chess.PieceType], taken: Counter[chess.PieceType], outcome: _Outcome) -> str:
    """Describe the pieces that a side gives and the pieces that it gets in return."""
    if outcome.has_promotion or max(given.total(), taken.total()) > _MOST_NAMED or not given.total():
        points = abs(outcome.gain)
        return f"material worth {counted(points, 'pawn')}"
    if +given == Counter({chess.ROOK: 1}) and taken.total() == 1 and any(taken[kind] for kind in _MINOR):
        return "the exchange"
    return _articled(given) + (f" for {_articled(taken)}" if taken.total() else "")


def _articled(pieces: Counter[chess.PieceType]) -> str:
    return _listed(
        f"{_NUMBERS[count]} {chess.piece_name(kind)}{'s' if count > 1 else ''}"
        for kind, count in sorted((+pieces).items(), key=lambda item: -VALUES[item[0]])
    )


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
