"""Reads a line of Extended Position Description (EPD): four fields of a FEN, and operations such as ``bm Qg6;``."""

from __future__ import annotations

import re

# Four fields, and optionally the two counters of a full FEN, which some programs write.
_POSITION = re.compile(r"\s*(\S+)\s+([wb])\s+([-\w]+)\s+([-\w]+)(?=\s|;|$)(?:\s+(\d+)\s+(\d+)(?=\s|;|$))?")
_OPERATION = re.compile(r'\s*([A-Za-z]\w*)((?:"[^"]*"|[^";])*)(?:;|$)')


def split_epd(line: str) -> tuple[str, str]:
    """Split a line of EPD into a FEN and the text of its operations; ValueError if it does not begin with a position.
    The FEN's counters come from the text after the position, or from ``hmvc`` and ``fmvn``; else they are 0 and 1.
    """
    match = _POSITION.match(line)
    if not match:
        raise ValueError("not a position")
    rest = line[match.end() :]
    if match[5]:
        clock, number = match[5], match[6]
    else:
        operations = operations_of(rest)
        clock, number = (operations.get(code, "") for code in ("hmvc", "fmvn"))
    counters = f"{clock if clock.isdecimal() else 0} {number if number.isdecimal() else 1}"
    return " ".join((*match.group(1, 2, 3, 4), counters)), rest


def operations_of(text: str) -> dict[str, str]:
    """Return the operands of the operations in a text, without quotation marks, by operation code."""
    return {code: operand.strip().strip('"') for code, operand in _OPERATION.findall(text)}
