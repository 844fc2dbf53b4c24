"""Base classes of objects that are closed at the end of a ``with`` block, and of objects that cannot be copied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn, Self


class Closing(ABC):
    """An object that is closed at the end of a ``with`` block."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Unique:
    """An object that cannot be copied or pickled, because a copy would share its threads and files."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: make another one where it is needed")
