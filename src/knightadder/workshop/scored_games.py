"""Games with the engines' scores as comments, as match programs write them in PGN."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knightadder.engine.info import Score

# The mover's score as cutechess and similar programs write it, in pawns or as M and the plies to mate, and the depth.
_COMMENT = re.compile(r"\s*(?:([+-]?\d+\.\d+)|([+-]?)M(\d+))/\d+\b")
# Values of the tag Termination for games whose result says nothing about the moves.
_UNPLAYED = {"time forfeit", "rules infraction", "abandoned", "unterminated"}


def score_in(comment: str) -> Score | None:
    """Return the score in a move's comment (``+0.31/12 0.052s``, ``-M4/20``), for the mover; None if there is none."""
    match = _COMMENT.match(comment)
    if not match:
        return None
    pawns, sign, mate = match.groups()
    return Score(cp=round(float(pawns) * 100)) if pawns else Score.of_mate(int(mate), sign != "-")


def played_out(headers: Mapping[str, str]) -> bool:
    """Return whether a game with these headers ended without a fault such as a loss on time."""
    return headers.get("Termination", "").lower() not in _UNPLAYED
