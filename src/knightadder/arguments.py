"""Command-line arguments: the options that several commands share, and types for argparse. Each type raises
`argparse.ArgumentTypeError` for invalid text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from knightadder.engine.errors import OptionError
from knightadder.engine.options import DEFAULT_EVALUATION, EVALUATION_NAMES
from knightadder.files import existing_folders
from knightadder.foreign import MOST, TooLarge, parse_finite, parse_whole

if TYPE_CHECKING:
    import argparse

_Number = TypeVar("_Number", int, float)
_Default = TypeVar("_Default")


def _reader(
    convert: Callable[[str], _Number], fits: Callable[[_Number], bool], expected: str, endless: bool
) -> Callable[[str], _Number]:
    """Return an argument type. `expected` describes its numbers; `endless` says that it names no maximum."""

    def read(text: str) -> _Number:
        too_large = False
        try:
            if fits(value := convert(text)):
                return value
        except TooLarge:
            too_large = not text.startswith("-")
        except ValueError:
            pass
        raise _refused("a smaller number" if endless and too_large else expected, text)

    return read


def _range(least: float, most: float) -> str:
    return f"of at least {least:g}" if most in (MOST, math.inf) else f"from {least:g} to {most:g}"


def _refused(expected: str, text: str) -> Exception:
    from argparse import ArgumentTypeError  # imported late, because an engine in a chess program needs no argparse

    return ArgumentTypeError(f"expected {expected}, not {text!r:.60}")


def whole(least: int, most: int = MOST) -> Callable[[str], int]:
    """Return an argument type: whole numbers from `least` to `most`."""
    expected = f"a whole number {_range(least, most)}"
    return _reader(parse_whole, lambda value: least <= value <= most, expected, most == MOST)


def number(least: float, most: float = math.inf) -> Callable[[str], float]:
    """Return an argument type: finite numbers from `least` to `most`."""
    expected = f"a number {_range(least, most)}"
    return _reader(parse_finite, lambda value: least <= value <= most, expected, most == math.inf)


positive_number = _reader(parse_finite, lambda value: value > 0, "a number above 0", endless=True)
positive, not_negative, share, seconds = whole(1), whole(0), number(0, 1), positive_number


#: The declaration of options whose values are words of the form ``key=value``.
KEY_VALUES: dict[str, Any] = {"nargs": "*", "metavar": "KEY=VALUE"}

_GAMES: dict[str, Any] = {
    "type": Path,
    "metavar": "GAMES.pgn",
    "help": "PGN file, which may be compressed (.gz, .bz2, .xz or .zst); - is standard input",
}
_SHARED: dict[str, dict[str, Any]] = {
    "file": _GAMES,
    "files": {"nargs": "+", **_GAMES},
    "--nodes": {"type": positive, "metavar": "N", "help": "stop the search after N nodes"},
    "--depth": {"type": positive, "metavar": "PLIES", "help": "stop the search at this depth, in plies"},
    "--time": {"type": seconds, "metavar": "SECONDS", "help": "stop the search after this time, in seconds"},
    "--threads": {"type": positive, "metavar": "N", "help": "number of search threads"},
    "--hash": {"type": positive, "metavar": "MB", "help": "size of the hash table, in MB"},
    "--multipv": {"type": positive, "metavar": "N", "help": "number of best lines to show"},
    "--syzygy": {
        "metavar": "FOLDERS",
        "help": "folders that contain Syzygy endgame tablebases, separated by colons (by semicolons on Windows)",
    },
    "--eval": {"choices": EVALUATION_NAMES, "help": f"evaluation function to use (default: {DEFAULT_EVALUATION})"},
    "--eval-file": {"type": Path, "metavar": "FILE", "help": "network file to use instead of the built-in network"},
    "--option": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "set a UCI option of the engine; may be given several times",
    },
    "--engine": {
        **KEY_VALUES,
        "default": [],
        "help": "external UCI engine to use: its command, or cmd=COMMAND with option.NAME=VALUE",
    },
    "--chess960": {"action": "store_true", "help": "use the rules of Chess960"},
    "--out": {"type": Path, "metavar": "FILE"},
    "--concurrency": {"type": positive, "metavar": "N", "help": "number of worker processes"},
    "--seed": {"type": not_negative, "default": 1, "metavar": "N", "help": "random seed"},
    "--restart": {"action": "store_true", "help": "discard the results of an unfinished run, and begin again"},
    "--interval": {
        "type": positive,
        "default": 20,
        "metavar": "N",
        "help": "if the output is not a terminal, print a progress line after every N games",
    },
    "--force": {"action": "store_true", "help": "overwrite existing files"},
    "--state": {
        "type": Path,
        "metavar": "FOLDER",
        "help": "folder that stores the state of the run and its loss curve",
    },
    "--epochs": {"type": positive, "metavar": "N", "help": "number of passes over all positions"},
    "--positions": {"type": positive, "metavar": "N"},
    "--rate": {"type": positive_number, "metavar": "X"},
    "--result-share": {
        "type": share,
        "metavar": "S",
        "help": "share of the game's result in the training target, from 0 to 1",
    },
}

# The UCI option that each argument sets, by the name of the argument's attribute.
_OPTIONS = {"threads": "Threads", "hash": "Hash", "syzygy": "SyzygyPath", "eval": "EvalType", "eval_file": "EvalFile"}


def declare(command: argparse._ActionsContainer, *names: str, **changes: Any) -> None:
    """Declare options that several commands share. `changes` replace the usual arguments of ``add_argument``."""
    from argparse import SUPPRESS

    for name in names:
        given = _SHARED[name] | changes
        if given.get("default") not in (None, [], SUPPRESS):
            given["help"] = f"{given['help']} (default: {given['default']})"
        command.add_argument(*(["-o"] if name == "--out" else []), name, **given)


def declare_limits(command: argparse.ArgumentParser, nodes: int | None = None) -> None:
    """Declare ``--nodes``, ``--depth`` and ``--time`` of each search: one of them, by default a number of nodes."""
    limit = command.add_mutually_exclusive_group(required=nodes is None)
    default = "" if nodes is None else f" (default: {nodes}, unless another limit is given)"
    declare(limit, "--nodes", help=f"stop each search after N nodes{default}")
    declare(limit, "--depth", help="stop each search at this depth, in plies")
    declare(limit, "--time", help="stop each search after this time, in seconds")


def declare_player(command: argparse.ArgumentParser) -> None:
    """Declare ``files``, the files with a player's games, and ``--player``, the names of the player."""
    declare(command, "files")
    command.add_argument(
        "--player",
        action="append",
        required=True,
        metavar="NAME",
        help="name of the player as written in the games; repeat the option for each different spelling",
    )


def engine_options(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the UCI options that a command's arguments set; OptionError if an ``--option`` has no ``=``, or a folder
    of ``--syzygy`` does not exist.
    """
    given = vars(arguments)
    if given.get("syzygy"):
        existing_folders(given["syzygy"].split(os.pathsep))
    options = {name: str(given[key]) for key, name in _OPTIONS.items() if given.get(key) is not None}
    return {**options, **named_values(given.get("option", ()))}


def network_digest(arguments: argparse.Namespace) -> str | None:
    """Return the digest of the file of ``--eval-file``, which a run that goes on must find unchanged; None without one.
    OptionError if the file cannot be read.
    """
    if not arguments.eval_file:
        return None
    from knightadder.digests import content_digest  # imported late, because most commands need no digest

    return content_digest(arguments.eval_file)


def search_limit(arguments: argparse.Namespace, nodes: int) -> dict[str, Any]:
    """Return the limit of each search as arguments of ``chess.engine.Limit``: by default a number of nodes."""
    chosen = {name: getattr(arguments, name) for name in ("nodes", "depth", "time")}
    return {name: value for name, value in chosen.items() if value is not None} or {"nodes": nodes}


def named_values(texts: Iterable[str]) -> dict[str, str]:
    """Return the values of ``--option NAME=VALUE`` by name; OptionError for a text without ``=``."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"--option {text}: expected NAME=VALUE")
        values[name.strip()] = value.strip()
    return values


class KeyValues(dict[str, str]):
    """Values by key, from words of the form ``key=value``, as in the arguments ``--engine`` and ``--openings``."""

    @classmethod
    def read(cls, words: Iterable[str], keys: Collection[str], what: str) -> Self:
        """Return the values of words, the last one of each key; a key that ends with a dot allows any name after it.
        OptionError for any other word; it names the argument, `what`.
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
        """Return the values whose keys have a prefix, by their keys without the prefix."""
        return {key.removeprefix(prefix): value for key, value in self.items() if key.startswith(prefix)}

    def number(self, key: str, default: _Default, least: float = 0) -> float | _Default:
        """Return a finite number, or the default if the key is missing; OptionError for text, or a number too small."""
        return self._number(parse_finite, "a number", key, default, least)

    def whole(self, key: str, default: _Default, least: int = 0) -> int | _Default:
        """Return a whole number; parameters and errors are as for `number`."""
        return self._number(parse_whole, "a whole number", key, default, least)

    def _number(
        self, convert: Callable[[str], _Number], kind: str, key: str, default: _Default, least: float
    ) -> _Number | _Default:
        if key not in self:
            return default
        try:
            value = convert(self[key])
        except TooLarge:
            raise OptionError(f"{key}={self[key]}: expected a smaller number") from None
        except ValueError:
            raise OptionError(f"{key}={self[key]}: expected {kind}") from None
        if value < least:
            raise OptionError(f"{key}={self[key]}: expected {least:g} or more")
        return value

    def choice(self, key: str, choices: Sequence[str], default: _Default) -> str | _Default:
        """Return one of several words, or the default if the key is missing; OptionError for a different word."""
        if key not in self:
            return default
        if self[key] not in choices:
            raise OptionError(f"{key}={self[key]}: expected {' or '.join(choices)}")
        return self[key]
