"""Options of the library's engine: their descriptions, and the values that callers set."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import TypeAlias

import numpy as np

from knightadder.engine import options
from knightadder.engine.errors import OptionError
from knightadder.files import existing_folders
from knightadder.library.boards import paths_of

Setting: TypeAlias = str | int | bool
Folders: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

# Options that each call sets from its arguments or its board, or that the results depend on.
_OWN = {"multipv", "ponder", "uci_analysemode", "uci_chess960", "uci_showwdl"}


@dataclass(frozen=True, slots=True)
class Option(options.Option):
    """An option of the engine. All attributes except ``value`` are named as in python-chess's ``chess.engine.Option``.

    Attributes
    ----------
    name : str
    type : str
        ``"spin"`` (a whole number), ``"check"`` (a switch), ``"combo"`` (one of several words), ``"string"`` or
        ``"button"`` (an action, which any value triggers).
    default : str, int, bool or None
        The value in a new engine; ``None`` for a button.
    min, max : int or None
        The bounds of a whole number, both included.
    var : tuple of str
        The words to choose from.
    value : str, int, bool or None
        The current value; ``None`` for a button.
    """

    value: Setting | None = None


def options_of(values: options.Options) -> dict[str, Option]:
    """Describe the options that a caller can set, with their values, by name."""
    return {
        option.name: Option(**asdict(option), value=None if option.default is None else values[option.name])
        for option in options.OPTIONS
        if option.name.lower() not in _OWN
    }


def texts_of(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Return options as UCI writes them; TypeError for anything but a mapping, OptionError if an option is invalid."""
    if not isinstance(settings, Mapping):
        raise TypeError(f"options must be a mapping of names to values, not {settings!r:.60}")
    return {name: _text(name, value) for name, value in settings.items()}


def _text(name: str, value: Setting) -> str:
    if not isinstance(name, str):
        raise OptionError(f"unknown option: {name!r:.60}")
    if not isinstance(value, str | Integral | np.bool_):
        raise OptionError(f"option {name}: expected text, a whole number, True or False, not {value!r:.60}")
    if name.lower() in _OWN:
        raise OptionError(f"option {name}: the library sets this option from the arguments of each call")
    text = options.value_text(value)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise OptionError(f"option {name}: no file can have the name {text}") from None
    return os.pathsep.join(folders_of(text)) if name.lower() == "syzygypath" else text


def folders_of(folders: Folders | None) -> list[str]:
    """Return the names of folders, given as one path or several; OptionError if one does not exist."""
    if folders is None:
        return []
    if isinstance(folders, str | os.PathLike):
        folders = os.fsdecode(folders).split(os.pathsep)
    return existing_folders(paths_of("folders", folders))
