"""What the classical evaluation of a position is made of: term by term, for both sides, middle game and end game."""

from dataclasses import dataclass

import numpy as np

from knightadder.core.evaluation.score import FULL_PHASE, FULL_SCALE, unpack
from knightadder.core.evaluation.terms import START, TERMS


@dataclass(frozen=True, slots=True)
class Tapered:
    """A value with two halves, in centipawns.

    Attributes
    ----------
    middle_game, end_game : int
        What it is while all pieces are on the board, and when all but kings and pawns have gone.
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
        What it belongs to, such as ``"Pawns"``, and what it is called, such as ``"isolated pawn"``.
    white, black : Tapered
        What it is worth to each side.
    meaning : str
        What is counted.
    """

    group: str
    name: str
    white: Tapered
    black: Tapered
    meaning: str = ""

    @property
    def total(self) -> Tapered:
        """Its worth from White's view."""
        return self.white - self.black


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A value and its terms, before what is known of endings and of the fifty-move rule.

    Attributes
    ----------
    terms : tuple of Term
        Those that count in the position.
    phase : float
        How much of the middle game is left, from 0 to 1: the weight of that half; the end game has the rest.
    scale : float
        How much of the end game's half counts, from 0 to 1.
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
        """The blend of both halves in centipawns, from White's view."""
        total = self.white - self.black
        return total.middle_game * self.phase + total.end_game * self.scale * (1 - self.phase)


def break_down(trace: np.record, values: np.ndarray) -> Breakdown:
    """Say what a value is made of.

    Parameters
    ----------
    trace : TRACE record
        How often each value of the terms counts, for both sides.
    values : numpy.ndarray
        The packed values of all terms.
    """
    halves = unpack(trace.counts.astype(np.int64) * values)  # by side, place and half
    terms = []
    for term in TERMS:
        places = slice(START[term.name], START[term.name] + term.size)
        if trace.counts[:, places].any():
            white, black = (Tapered(*sums) for sums in halves[:, places].sum(axis=1).tolist())
            terms.append(Term(term.group, term.name.replace("_", " "), white, black, term.meaning))
    return Breakdown(tuple(terms), int(trace.phase) / FULL_PHASE, int(trace.scale) / FULL_SCALE)
