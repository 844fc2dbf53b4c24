"""The terms of a position's classical evaluation, for both sides, in the middlegame and the endgame."""

from dataclasses import dataclass

import numpy as np

from knightadder.core.evaluation.score import FULL_PHASE, FULL_SCALE, unpack
from knightadder.core.evaluation.terms import START, TERMS


@dataclass(frozen=True, slots=True)
class Tapered:
    """A value for the middlegame and one for the endgame, in centipawns.

    Attributes
    ----------
    middle_game, end_game : int
        The value with all pieces on the board, and with only kings and pawns.
    """

    middle_game: int
    end_game: int

    def __add__(self, other: "Tapered") -> "Tapered":
        return Tapered(self.middle_game + other.middle_game, self.end_game + other.end_game)

    def __sub__(self, other: "Tapered") -> "Tapered":
        return Tapered(self.middle_game - other.middle_game, self.end_game - other.end_game)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the evaluation.

    Attributes
    ----------
    group, name : str
        The group of the term, such as ``"Pawns"``, and its name, such as ``"isolated pawn"``.
    white, black : Tapered
        The value of the term for each side.
    meaning : str
        A description of what the term counts.
    """

    group: str
    name: str
    white: Tapered
    black: Tapered
    meaning: str = ""

    @property
    def total(self) -> Tapered:
        """The value of the term from White's view."""
        return self.white - self.black


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A value and its terms, before corrections for known endings and the fifty-move rule.

    Attributes
    ----------
    terms : tuple of Term
        The terms that count in the position.
    phase : float
        The game phase from 0 to 1: the weight of the middlegame value. The endgame value has the weight 1 - `phase`.
    scale : float
        The share of the endgame value that counts, from 0 to 1.
    """

    terms: tuple[Term, ...]
    phase: float
    scale: float

    @property
    def white(self) -> Tapered:
        """The sum of White's terms."""
        return sum((term.white for term in self.terms), Tapered(0, 0))

    @property
    def black(self) -> Tapered:
        """The sum of Black's terms."""
        return sum((term.black for term in self.terms), Tapered(0, 0))

    @property
    def value(self) -> float:
        """The tapered value in centipawns, from White's view."""
        total = self.white - self.black
        return total.middle_game * self.phase + total.end_game * self.scale * (1 - self.phase)


def break_down(trace: np.record, values: np.ndarray) -> Breakdown:
    """Return the terms of a classical value, from the counts of a TRACE record and the packed values of all terms."""
    halves = unpack(trace.counts.astype(np.int64) * values)  # indexed by side, term, and middlegame or endgame
    terms = []
    for term in TERMS:
        places = slice(START[term.name], START[term.name] + term.size)
        if trace.counts[:, places].any():
            white, black = (Tapered(*sums) for sums in halves[:, places].sum(axis=1).tolist())
            terms.append(Term(term.group, term.name.replace("_", " "), white, black, term.meaning))
    return Breakdown(tuple(terms), int(trace.phase) / FULL_PHASE, int(trace.scale) / FULL_SCALE)
