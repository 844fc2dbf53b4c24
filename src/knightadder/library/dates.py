"""Dates of games as numbers that sort like dates: year << 9 | month << 5 | day. Unknown parts are 0."""

import re

from knightadder.engine.errors import OptionError

_DATE = re.compile(r"(\d{4})(?:[-./](\d{1,2})(?:[-./](\d{1,2}))?)?")


def date_code(text: str) -> int:
    """Return the date of a PGN tag as a number that sorts like dates; unknown parts of the date are 0. Some programs
    write ``2024-03-15`` instead of ``2024.03.15``.
    """
    year, month, day = _parts(_DATE.match(text))
    if not 1 <= month <= 12:
        return year << 9
    return year << 9 | month << 5 | (day if day <= 31 else 0)


def _parts(match: re.Match[str] | None) -> tuple[int, ...]:
    """Return year, month and day of a match of `_DATE`; 0 for each part that is missing."""
    return tuple(int(part or 0) for part in match.groups()) if match else (0, 0, 0)


def date_text(code: int) -> str | None:
    """Return the known parts of a date as text; None if not even the year is known."""
    year, month, day = int(code) >> 9, int(code) >> 5 & 15, int(code) & 31
    if not year:
        return None
    return f"{year:04}" + (f"-{month:02}" + (f"-{day:02}" if day else "") if month else "")


def date_limits(text: str) -> tuple[int, int]:
    """Return the first and the last date code of a year, month or day; OptionError if the text is none of these."""
    match = _DATE.fullmatch(str(text).strip())
    year, month, day = _parts(match)
    if not year or not (match and (match[2] is None or 1 <= month <= 12) and (match[3] is None or 1 <= day <= 31)):
        raise OptionError(f"expected a date such as 2024, 2024-03 or 2024-03-15, not {text!r:.60}")
    last = year << 9 | (month or 15) << 5 | (day or 31)
    first_day, first_month = (0 if day <= 1 else day), (0 if month <= 1 and day <= 1 else month)
    return year << 9 | first_month << 5 | first_day, last
