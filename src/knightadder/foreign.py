"""Reads data that others may have written or damaged: JSON, TOML and whole numbers.

This module reads every JSON file and every answer of a worker or server. If data is malformed, nested too deeply, out
of range or of a wrong type, it raises a ValueError. So each caller has one kind of error to report to the user.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import Annotated, Any, NoReturn, TypeAlias

from msgspec import Meta, convert

MOST = (1 << 63) - 1  # the largest whole number of NumPy, SQLite and the core

NotNegative: TypeAlias = Annotated[int, Meta(ge=0)]

_MOST_RATING = 9_999
_MOST_DIGITS = len(str(MOST))
_WHOLE = re.compile("[-+]?[0-9]+(?:_[0-9]+)*")


def parse_json(data: bytes | str, kind: Any = Any) -> Any:
    """Return the value of a JSON text, which is str or UTF-8 bytes.

    `kind` is the expected type: a dataclass or a type such as ``dict[str, int]`` that msgspec supports. A whole number
    is also accepted where a float is expected. ValueError if the value has a different type, the text is malformed or
    nested too deeply, a number is not finite, or a whole number is beyond `MOST`.
    """
    if not isinstance(data, bytes | str):
        raise ValueError(f"expected JSON, not {type(data).__name__}")  # a faulty worker may return any object
    try:
        value = _DECODER.decode(data if isinstance(data, str) else data.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value if kind is Any else converted(value, kind)


def converted(value: object, kind: Any) -> Any:
    """Convert a decoded JSON value to the type `kind`, see `parse_json`; ValueError if that is impossible."""
    return convert(value, kind)


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the values of a TOML file; ValueError in the same cases as for `parse_json`."""
    try:
        values = tomllib.loads(data.decode("utf-8-sig"), parse_float=parse_finite)
        _check_whole(values)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return values


class TooLarge(ValueError):
    """The text is a number, but the number is too large."""


def parse_whole(text: str) -> int:
    """Return a whole number from ASCII digits with an optional sign; underscores may separate digits, as in Python and
    TOML. ValueError for other text, and `TooLarge` for a number beyond `MOST`.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:_MOST_DIGITS]!r} is not a whole number")
    digits = text.lstrip("-+").replace("_", "")
    if len(digits) > _MOST_DIGITS or int(digits) > MOST:
        raise TooLarge(f"the number {text[:_MOST_DIGITS]}... is too large")
    return int(text)


def parse_finite(text: str) -> float:
    """Return a finite number; ValueError for other text, and `TooLarge` for digits beyond the range of floats."""
    value = float(text)
    if math.isfinite(value):
        return value
    kind = TooLarge if any(map(str.isdigit, text)) else ValueError
    raise kind(f"the number {text[:_MOST_DIGITS]} is not finite")


def whole_or_none(text: str) -> int | None:
    """Return a whole number from ASCII digits; None for other text, or beyond `MOST`."""
    try:
        return parse_whole(text) if text.isdecimal() else None
    except ValueError:
        return None


def rating_or_none(text: str | None) -> int | None:
    """Return the rating in a PGN tag; None if the tag has no rating or an impossibly high rating."""
    rating = whole_or_none(text.strip()) if text else None
    return rating if rating is not None and 0 < rating <= _MOST_RATING else None


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _check_whole(value: object) -> None:
    """Raise ValueError if a value has a whole number beyond `MOST`; RecursionError if it is nested too deeply."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_whole(each)
    elif isinstance(value, int) and abs(value) > MOST:
        raise ValueError("a whole number is too large")


# Not msgspec's parser: it refuses lone surrogates, which file names may contain, and does not limit whole numbers.
_DECODER = json.JSONDecoder(parse_int=parse_whole, parse_float=parse_finite, parse_constant=_refuse)
