"""The commands ``[%clk ...]`` and ``[%eval ...]`` in comments of PGN, read by compiled code."""

import numpy as np

from knightadder.native.jit import inlined, kernel

from . import letters
from .letters import is_blank, is_digit, is_odd, newline

NO_CLOCK = -1
NO_SCORE = -32_768

_MATE = 32_000
_MAX_MATE = 499  # maximum number of moves to mate in a score
_MAX_CENTIPAWNS = 30_000  # maximum absolute value of a score


@inlined
def is_odd_command(text, at):
    """Return whether a ``[%clk`` or ``[%eval`` command may be followed by rare white space."""
    first = np.int64(text[at + 2])
    end = at + 5 if first == 99 else at + 6  # c
    return np.int64(text[at + 1]) == letters.PERCENT and (first == 99 or first == 101) and is_odd(np.int64(text[end]))


@kernel
def read_command(text, at, clocks, scores, index, stm):
    """Read ``[%clk ...]`` into ``clocks[index]``, or ``[%eval ...]`` into ``scores[index]``, unless that value is
    known. `stm` is the side to move after the move.
    """
    if np.int64(text[at + 1]) != letters.PERCENT:
        return
    if text[at + 2] == 99 and text[at + 3] == 108 and text[at + 4] == 107:  # clk
        if clocks[index] == NO_CLOCK:
            clocks[index] = _read_clock(text, at + 5)
    elif text[at + 2] == 101 and text[at + 3] == 118 and text[at + 4] == 97 and text[at + 5] == 108:  # eval
        if scores[index] == NO_SCORE:
            scores[index] = _read_score(text, at + 6, stm)


@inlined
def _after_space(text, at):
    """Return the place after a white space character, or -1 if there is none."""
    if is_blank(np.int64(text[at])):
        return at + 1
    length = newline(text, at)
    return at + length if length else np.int64(-1)


@inlined
def _read_digits(text, at, max_number):
    """Return a number, at most `max_number`, and the place after its digits."""
    number = np.int64(0)
    while is_digit(np.int64(text[at])):
        number = min(number * 10 + np.int64(text[at]) - letters.ZERO, max_number)
        at += 1
    return number, at


@kernel
def _read_clock(text, at):
    """Return the milliseconds of a clock, hours:minutes:seconds; `NO_CLOCK` if it is malformed."""
    at = _after_space(text, at)
    if at < 0:
        return np.int64(NO_CLOCK)
    total = np.int64(0)
    for place in range(3):
        start = at
        number, at = _read_digits(text, at, np.int64(1_000_000))
        if at == start or (place < 2 and np.int64(text[at]) != letters.COLON):
            return np.int64(NO_CLOCK)
        total = total * 60 + number
        at += 1 if place < 2 else 0
    total *= 1000
    if np.int64(text[at]) == letters.DOT:
        at += 1
        unit = np.int64(100)
        while is_digit(np.int64(text[at])):
            total += unit * (np.int64(text[at]) - letters.ZERO)
            unit //= 10
            at += 1
    return total if np.int64(text[at]) == letters.END_BRACKET else np.int64(NO_CLOCK)


@kernel
def _read_score(text, at, stm):
    """Return a score from White's view, with mates as the core encodes them; `NO_SCORE` if it is malformed."""
    at = _after_space(text, at)
    if at < 0:
        return np.int64(NO_SCORE)
    mate = text[at] == 35  # the character #
    at += 1 if mate else 0
    negative = np.int64(text[at]) == letters.DASH
    at += 1 if negative or np.int64(text[at]) == letters.PLUS else 0
    start = at
    value, at = _read_digits(text, at, np.int64(1_000_000))
    digits = at - start
    if mate:
        moves = min(value, np.int64(_MAX_MATE))
        if digits == 0:
            return np.int64(NO_SCORE)
        if value == 0:
            negative = stm == 0  # the side to move is mated
        plies = 2 * moves
        if moves and (stm == 1) == negative:  # the side that mates is to move
            plies -= 1
        value = np.int64(_MATE) - plies
    else:
        value *= 100
        if np.int64(text[at]) == letters.DOT:
            at += 1
            start = at
            fraction, at = _read_digits(text, at, np.int64(1_000))
            if at - start > 2 or (at == start and digits == 0):
                return np.int64(NO_SCORE)
            value += fraction * 10 if at - start == 1 else fraction
        elif digits == 0:
            return np.int64(NO_SCORE)
        if digits > 10:
            return np.int64(NO_SCORE)
        value = min(value, np.int64(_MAX_CENTIPAWNS))
    if np.int64(text[at]) == letters.COMMA:  # a depth follows
        start = at + 1
        _, at = _read_digits(text, start, np.int64(1))
        if at == start:
            return np.int64(NO_SCORE)
    if np.int64(text[at]) != letters.END_BRACKET:
        return np.int64(NO_SCORE)
    return -value if negative else value
