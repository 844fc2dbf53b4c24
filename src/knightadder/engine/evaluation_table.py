"""The classical evaluation of a position as a table: term by term, for both sides, middle game and end game."""

import numpy as np

from knightadder.core.evaluation.score import FULL_PHASE, FULL_SCALE, unpack
from knightadder.core.terms import START, TERMS


def evaluation_table(trace: np.record, terms: np.ndarray) -> str:
    """Write what a value is made of.

    Parameters
    ----------
    trace : TRACE record
        The counts of all terms.
    terms : numpy.ndarray
        The packed values of all terms.

    Returns
    -------
    str
        A line for each group and each term that counts, in pawns: White, Black, and White's total, each for the middle
        game and the end game; then the blend of both by the phase.
    """
    halves = unpack(trace.counts.astype(np.int64) * terms)  # by side, place and half
    rule = "-" * 76
    lines = [f"{'':24}{'White':^17}{'Black':^17}{'Total':^17}", f"{'':24}" + f"{'MG':>8} {'EG':>7} " * 3, rule]
    group = ""
    for term in TERMS:
        place = START[term.name]
        sums = halves[:, place : place + term.size].sum(axis=1)
        if not trace.counts[:, place : place + term.size].any():
            continue
        if term.group != group:
            group = term.group
            members = [other for other in TERMS if other.group == group]
            whole = slice(START[members[0].name], START[members[-1].name] + members[-1].size)
            lines.append(_line(group, halves[:, whole].sum(axis=1)))
        lines.append(_line(f"  {term.name.replace('_', ' ')}", sums))
    totals = halves.sum(axis=1)
    middle, end = totals[0] - totals[1]
    phase, scale = int(trace.phase), int(trace.scale)
    value = (middle * phase + end * scale / FULL_SCALE * (FULL_PHASE - phase)) / FULL_PHASE
    lines += [rule, _line("Total", totals)]
    lines.append(f"Phase {phase} of {FULL_PHASE}, end game scaled by {scale}/{FULL_SCALE}: {value / 100:+.2f}")
    return "\n".join(lines)


def _line(name: str, sums: np.ndarray) -> str:
    """Write the values of both sides and their difference; `sums` has the shape (side, half)."""
    rows = (sums[0], sums[1], sums[0] - sums[1])
    return f"{name:24}" + " ".join(f"{row[0] / 100:8.2f} {row[1] / 100:7.2f}" for row in rows)
