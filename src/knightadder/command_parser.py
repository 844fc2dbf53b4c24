"""The parser of the command line: argparse's, with errors that name similar words and show the right usage."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from knightadder.files import check_name


class CommandParser(argparse.ArgumentParser):
    """A parser whose subparsers report unknown options themselves, so that their own usage is shown.

    An argument of the type `Path` is a name that the system accepts. An unknown option or subcommand is reported with
    the most similar known word. The help of a subcommand begins with its line in the list of subcommands, unless it has
    a longer description.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.register("action", "parsers", _Subcommands)
        self.register("type", Path, _usable_path)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments as argparse does. Unknown arguments end the program, in this parser or a subparser."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            suggested = "".join(_suggestion(word, self._option_string_actions) for word in unknown[:1])
            self.error(f"unrecognized arguments: {' '.join(unknown)}{suggested}")
        return parsed, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message as argparse does, but raise an OSError if standard output cannot be written."""
        if file is sys.stdout:
            print(message, end="", flush=True)
        else:
            super()._print_message(message, file)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _suggestion(str(value), map(str, action.choices or ()))
            raise


class _Subcommands(argparse._SubParsersAction):  # type: ignore[type-arg]
    def add_parser(self, name: str, *, help: str, **options: Any) -> argparse.ArgumentParser:  # type: ignore[override]
        options.setdefault("description", f"{help[0].upper()}{help[1:]}.")
        parser: argparse.ArgumentParser = super().add_parser(name, help=help, **options)
        return parser


def _usable_path(text: str) -> Path:
    """Return a path; ArgumentTypeError if the system refuses it, for example because the name is too long."""
    path = Path(text)
    try:
        check_name(path)  # the command reports a file that is missing
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot use {path}: {error.strerror}") from None
    return path


def _suggestion(word: str, known: Iterable[str]) -> str:
    """Return a question that names the known word most similar to a word; empty if no word is similar."""
    found = difflib.get_close_matches(word.partition("=")[0], list(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""
