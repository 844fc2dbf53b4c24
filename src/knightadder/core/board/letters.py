"""Characters of ASCII by their codes, and kinds of characters, for the readers of PGN."""

import numpy as np

from knightadder.native.jit import inlined

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
BANG, QUOTE, DOLLAR, PERCENT, OPEN, CLOSE, STAR, PLUS, COMMA, DASH, DOT, SLASH = (
    ord(letter) for letter in '!"$%()*+,-./'
)
ZERO, NINE, COLON, QUESTION, A, Z = (ord(letter) for letter in "09:?AZ")
BRACKET, BACKSLASH, END_BRACKET, BRACE, END_BRACE = (ord(letter) for letter in "[\\]{}")
LOWER = 32  # the bit in which a small letter differs from its capital letter
_LOW_A, _LOW_Z = ord("a"), ord("z")


@inlined
def newline(text, at):
    """Return the length of the line end at a place, or 0 if there is none."""
    letter = np.int64(text[at])
    if letter == NEWLINE:
        return np.int64(1)
    if letter == RETURN and np.int64(text[at + 1]) == NEWLINE:
        return np.int64(2)
    return np.int64(0)


@inlined
def is_blank(letter):
    """Return whether a character is a space or a tab."""
    return letter == SPACE or letter == TAB


@inlined
def is_digit(letter):
    """Return whether a character is a digit."""
    return letter >= ZERO and letter <= NINE


@inlined
def is_alphanumeric(letter):
    """Return whether a character is a letter or a digit."""
    small = letter | LOWER
    return is_digit(letter) or (small >= _LOW_A and small <= _LOW_Z)


@inlined
def is_delimiter(letter):
    """Return whether a character ends the move or annotation sign before it."""
    return (
        is_blank(letter)
        or letter == NEWLINE
        or letter == RETURN
        or letter == BRACE
        or letter == OPEN
        or letter == CLOSE
        or letter == DOLLAR
    )


@inlined
def is_odd(letter):
    """Return whether a character may be rare white space, neither a blank nor a line end."""
    return letter > 127 or (letter < SPACE and letter != NEWLINE and letter != RETURN)
