"""The classical evaluation of a position as a table."""

from dataclasses import replace
from itertools import groupby

from knightadder.core.evaluation.score import FULL_PHASE, FULL_SCALE
from knightadder.engine.explain.breakdown import Breakdown, Tapered


def evaluation_table(value: Breakdown) -> str:
    """Return a table of the terms of a value in pawns, with the tapered value below it. Each group, and each term that
    counts, has a line with White's value, Black's value and their difference, for the middlegame and the endgame.
    """
    rule = "-" * 76
    lines = [f"{'':24}{'White':^17}{'Black':^17}{'Total':^17}", f"{'':24}" + f"{'MG':>8} {'EG':>7} " * 3, rule]
    for group, members in groupby(value.terms, lambda term: term.group):
        part = replace(value, terms=tuple(members))
        lines.append(_line(group, part.white, part.black))
        lines += [_line(f"  {term.name}", term.white, term.black) for term in part.terms]
    phase, scale = round(value.phase * FULL_PHASE), round(value.scale * FULL_SCALE)
    lines += [rule, _line("Total", value.white, value.black)]
    lines.append(f"Phase {phase} of {FULL_PHASE}, end game scaled by {scale}/{FULL_SCALE}: {value.value / 100:+.2f}")
    return "\n".join(lines)


def _line(name: str, white: Tapered, black: Tapered) -> str:
    rows = (white, black, white - black)
    return f"{name:24}" + " ".join(f"{row.middle_game / 100:8.2f} {row.end_game / 100:7.2f}" for row in rows)
