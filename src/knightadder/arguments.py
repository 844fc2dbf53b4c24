"""Command-line arguments: the options that several commands have, and types for argparse.

Each type raises ValueError for invalid text.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.engine.errors import OptionError
from knightadder.engine.options import EVALUATION_NAMES
from knightadder.foreign import parse_whole

if TYPE_CHECKING:
    import argparse


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    value = parse_whole(text)
    if value < 1:
        raise ValueError(text)
    return value


def not_negative(text: str) -> int:
    """Return a whole number of at least 0."""
    value = parse_whole(text)
    if value < 0:
        raise ValueError(text)
    return value


def positive_number(text: str) -> float:
    """Return a positive, finite number."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds."""
    return positive_number(text)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


_SHARED: dict[str, dict[str, Any]] = {
    "--nodes": {"type": positive, "metavar": "N", "help": "stop after N nodes"},
    "--depth": {"type": positive, "metavar": "PLIES", "help": "stop at this depth"},
    "--time": {"type": seconds, "metavar": "SECONDS", "help": "stop after this time"},
    "--threads": {"type": positive, "metavar": "N", "help": "number of search threads"},
    "--hash": {"type": positive, "metavar": "MB", "help": "size of the hash table"},
    "--multipv": {"type": positive, "metavar": "N", "help": "number of best lines to show"},
    "--syzygy": {
        "metavar": "FOLDERS",
        "help": "folders of Syzygy endgame tablebases, as for the UCI option SyzygyPath",
    },
    "--eval": {"choices": EVALUATION_NAMES, "help": "evaluation to use"},
    "--eval-file": {"type": Path, "metavar": "FILE", "help": "network file to use instead of the built-in network"},
    "--option": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "set a UCI option of the engine; may be given several times",
    },
    "--engine": {
        "nargs": "*",
        "default": [],
        "metavar": "KEY=VALUE",
        "help": "a different UCI engine; keys: cmd, option.NAME",
    },
    "--chess960": {"action": "store_true", "help": "use the rules of Chess960"},
    "--concurrency": {"type": positive, "metavar": "N", "help": "number of worker processes"},
    "--seed": {"type": not_negative, "default": 1, "metavar": "N", "help": "random seed"},
    "--restart": {"action": "store_true", "help": "begin again, and forget what an unfinished run has done"},
    "--interval": {
        "type": positive,
        "default": 20,
        "metavar": "N",
        "help": "number of games between two lines of progress, where there is no terminal",
    },
    "--force": {"action": "store_true", "help": "overwrite existing files"},
    "--state": {"type": Path, "metavar": "FOLDER", "help": "folder for the state and the loss curve of the run"},
    "--epochs": {"type": positive, "metavar": "N", "help": "number of passes over the positions"},
    "--positions": {"type": positive, "metavar": "N"},
    "--rate": {"type": positive_number, "metavar": "X"},
    "--result-share": {"type": share, "metavar": "S", "help": "share of the game's result in the target"},
}

# UCI options by the attributes of the arguments that stand for them.
_OPTIONS = {"threads": "Threads", "hash": "Hash", "syzygy": "SyzygyPath", "eval": "EvalType", "eval_file": "EvalFile"}


def declare(command: argparse._ActionsContainer, *names: str, **changes: Any) -> None:
    """Declare options, such as ``--nodes``, that mean the same in several commands; a help text ends with its default.

    The changes are arguments of ``add_argument`` that differ from their usual declaration.
    """
    from argparse import SUPPRESS  # here, since a chess program that starts the engine needs no argparse

    for name in names:
        given = _SHARED[name] | changes
        if given.get("default") not in (None, [], SUPPRESS):
            given["help"] = f"{given['help']} (default: {given['default']})"
        command.add_argument(name, **given)


def engine_options(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the UCI options that a command's arguments stand for; OptionError if an ``--option`` has no ``=``."""
    given = vars(arguments)
    options = {name: str(given[key]) for key, name in _OPTIONS.items() if given.get(key) is not None}
    return {**options, **named_values(given.get("option", ()))}


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
