"""The ``info`` lines of any engine, and checks that they are legal and consistent.

The warnings are the same as in fastchess (https://github.com/Disservin/fastchess): a principal variation (PV) with an
illegal move, a PV that continues after the end of the game, an announced mate that the PV does not show, and a best
move that differs from the PV's first move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from knightadder.engine.info import Bound, Score
from knightadder.library.scores import MOST_SCORE
from knightadder.text import one_line

ILLEGAL = "illegal PV move"
PAST_THREEFOLD = "PV continues after a threefold repetition"
PAST_FIFTY = "PV continues after a draw by the fifty-move rule"
PAST_MATE = "PV continues after mate"
PAST_STALEMATE = "PV continues after stalemate"
MATE_TOO_SHORT = "PV of a mate is incomplete"
MATE_TOO_LONG = "PV of a mate is too long"
MATE_NOT_MATE = "PV of a mate ends without mate"
NOT_HEAD = "best move is not the first move of the last PV"
MATE_SIGN = "both engines say that they give mate, or both that they get mated"

_MATE = 2 * MOST_SCORE + 1  # the value of a mate in no moves: the longest mate is greater than all centipawns
_SHOWN = 80  # maximum length of an engine's line in a warning
_BOUNDS = {"lowerbound": Bound.LOWER, "upperbound": Bound.UPPER}


@dataclass(frozen=True, slots=True)
class InfoLine:
    """An ``info`` line with a score, from any engine. (`knightadder.engine.info.Info` is the report of this engine.)"""

    depth: int  # 0 if missing
    nodes: int  # 0 if missing
    score: Score  # from the engine's view
    bound: Bound
    pv: tuple[str, ...]
    line: str

    def value(self) -> int:
        """Return the score as a number: in centipawns; a mate is greater, in absolute value, than all centipawns."""
        mate = self.score.mate
        if mate is not None:
            return _MATE - mate if mate > 0 else -_MATE - mate
        return self.score.cp or 0

    def text(self) -> str:
        """Return the score as in PGN comments: ``+0.31``, or ``-M4`` if the engine is mated in four plies."""
        mate = self.score.mate
        if mate is not None:
            return f"{'+' if mate > 0 else '-'}M{self.score.mate_plies}"
        return f"{(self.score.cp or 0) / 100:+.2f}"


def parse_info(line: str) -> InfoLine | None:
    """Return an ``info`` line about the first principal variation; None for any other line, or without a score."""
    words = line.split()
    if words[:1] != ["info"] or words[1:2] == ["string"]:
        return None
    numbers = {"depth": 0, "nodes": 0, "multipv": 1}
    score: Score | None = None
    bound = Bound.EXACT
    pv: tuple[str, ...] = ()
    position = 1
    try:
        while position < len(words):
            word = words[position]
            if word in numbers:
                numbers[word] = int(words[position + 1])
                position += 1
            elif word == "score":
                value = min(max(int(words[position + 2]), -MOST_SCORE), MOST_SCORE)
                score = Score(cp=value) if words[position + 1] == "cp" else Score(mate=value)
                position += 2
            elif word in _BOUNDS:
                bound = _BOUNDS[word]
            elif word == "pv":
                end = position + 1
                while end < len(words) and _looks_like_a_move(words[end]):
                    end += 1
                pv = tuple(words[position + 1 : end])
                position = end - 1
            elif word == "string":
                break
            position += 1
    except (IndexError, ValueError):
        return None
    if score is None or numbers["multipv"] > 1:
        return None
    return InfoLine(numbers["depth"], numbers["nodes"], score, bound, pv, line)


def last_info(lines: Sequence[str]) -> InfoLine | None:
    """Return the last ``info`` line with a score."""
    for line in reversed(lines):
        if " score " in line:
            info = parse_info(line)
            if info is not None:
                return info
    return None


def check_pv(board: chess.Board, info: InfoLine) -> str | None:
    """Return the kind of the first error in a principal variation, or None. The board is not changed."""
    made = 0
    try:
        for word in info.pv:
            if made and board.halfmove_clock >= 8:  # the root does not count, because such draws must be claimed
                if board.halfmove_clock >= 100 and board.is_fifty_moves():
                    return PAST_FIFTY
                if board.is_repetition(3):
                    return PAST_THREEFOLD
            try:
                board.push_uci(word)
            except ValueError:
                if any(board.generate_legal_moves()):
                    return ILLEGAL
                return PAST_MATE if board.is_check() else PAST_STALEMATE
            made += 1
        mate = info.score.mate
        if mate and info.bound is Bound.EXACT and info.pv:
            wanted = info.score.mate_plies
            if made < wanted:
                return MATE_TOO_SHORT
            if made > wanted:
                return MATE_TOO_LONG
            if not board.is_checkmate():
                return MATE_NOT_MATE
        return None
    finally:
        for _ in range(made):
            board.pop()


def check_best_move(best: str, lines: Sequence[str]) -> str | None:
    """Return an error if the best move is not the first move of the last principal variation that did not fail low."""
    for line in reversed(lines):
        if " pv " in line and " upperbound" not in line:
            info = parse_info(line)
            if info is not None and info.pv:
                return None if info.pv[0] == best else NOT_HEAD
    return None


def warning_text(kind: str, line: str, position: str, chess960: bool = False) -> str:
    """Return a warning as one short line: the kind, the move number, and the illegal move with its place in the PV.
    Without an illegal move, the beginning of the engine's line is shown. `position` is a UCI command.
    """
    fen, _, moves = position.removeprefix("position fen ").partition(" moves ")
    info = parse_info(line)
    detail = one_line(line.removeprefix("info "), _SHOWN)
    try:
        board = chess.Board(fen, chess960=chess960)
        for word in moves.split():
            board.push_uci(word)
    except ValueError:  # the log is damaged
        return f"{kind}: {detail}"
    number = board.fullmove_number
    if kind == ILLEGAL and info is not None:
        for place, word in enumerate(info.pv, 1):
            try:
                board.push_uci(word)
            except ValueError:
                detail = f"{word}, move {place} of its PV"
                break
    return f"{kind} at move {number}: {detail}"


def _looks_like_a_move(word: str) -> bool:
    return 4 <= len(word) <= 5 and word[0] in "abcdefgh" and word[1] in "12345678"
