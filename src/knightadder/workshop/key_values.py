"""Words of the form ``key=value``, as in arguments such as ``--engine`` or ``--openings``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Self, TypeVar

from knightadder.engine.errors import OptionError
from knightadder.foreign import parse_whole

_Number = TypeVar("_Number", int, float)
_Default = TypeVar("_Default")


class KeyValues(dict[str, str]):
    """Values by key."""

    @classmethod
    def read(cls, words: Iterable[str], keys: Collection[str], what: str) -> Self:
        """Return the values of words; if a key is given several times, the last one counts.

        A key that ends with a dot allows any name after it; `what` is the argument that has the words, for messages.
        OptionError if a word is not of that form, or its key is not allowed.
        """
        values = cls()
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise OptionError(f"{what} {word}: expected KEY=VALUE")
            first, dot, _ = key.partition(".")
            if first + dot not in keys or key.endswith("."):
                names = ", ".join(f"{each}NAME" if each.endswith(".") else each for each in keys)
                raise OptionError(f"{what} {word}: unknown key {key}; the keys are {names}")
            values[key] = value
        return values

    def named(self, prefix: str) -> dict[str, str]:
        """Return the values whose keys have a prefix, by key without the prefix."""
        return {key.removeprefix(prefix): value for key, value in self.items() if key.startswith(prefix)}

    def number(self, key: str, default: _Default, least: float = 0) -> float | _Default:
        """Return a finite number, or the default if there is no such key; OptionError if it is not a number, or too
        small.
        """
        return self._number(float, "a number", key, default, least)

    def whole(self, key: str, default: _Default, least: int = 0) -> int | _Default:
        """Return a whole number; parameters and errors are those of `number`."""
        return self._number(parse_whole, "a whole number", key, default, least)

    def _number(
        self, convert: Callable[[str], _Number], kind: str, key: str, default: _Default, least: float
    ) -> _Number | _Default:
        if key not in self:
            return default
        try:
            value = convert(self[key])
        except ValueError:
            raise OptionError(f"{key}={self[key]}: expected {kind}") from None
        if not least <= value < float("inf"):
            raise OptionError(f"{key}={self[key]}: expected {least:g} or more")
        return value

    def choice(self, key: str, choices: Sequence[str], default: _Default) -> str | _Default:
        """Return one of several words, or the default if there is no such key; OptionError if it is another word."""
        if key not in self:
            return default
        if self[key] not in choices:
            raise OptionError(f"{key}={self[key]}: expected {' or '.join(choices)}")
        return self[key]
