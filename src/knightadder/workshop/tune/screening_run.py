"""Screens changes of search parameters by games in which each side has a random half of the changes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from knightadder.arguments import positive
from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by
from knightadder.text import counted
from knightadder.workshop.tune.trials_run import add_arguments, parameter_named, print_table, run_method, title

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter
    from knightadder.workshop.match.statistics.elo import Interval
    from knightadder.workshop.tune.screening import Factor, Screening

_SYNTAX = "[LABEL:]NAME=OFF:ON[,NAME=OFF:ON...]"
_MOST_SHOWN = 3  # maximum number of factors in a progress line


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``screen``."""
    command = commands.add_parser(
        "screen",
        help="estimate the effects of many search parameter changes in one run",
        description="Estimate the Elo gains of many search parameter changes in one run. In each game, one side "
        "has a random half of the changes, and its opponent has the other half. Confirm promising "
        "changes in a match.",
    )
    command.add_argument(
        "factors",
        nargs="+",
        metavar="FACTOR",
        help=f"a change of one or more parameters, written {_SYNTAX}; OFF is the value without the change, ON the "
        "value with it",
    )
    command.add_argument(
        "--pairs", type=positive, required=True, metavar="N", help="total number of game pairs to play"
    )
    add_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status; raises the errors of `run_method`."""
    from knightadder.core.search.parameters import PARAMETERS

    with needed_by("tune screen"):
        from knightadder.workshop.tune.screening import Screening

    screening = Screening(read_factors(arguments.factors, PARAMETERS), arguments.pairs, arguments.seed)
    # The number of pairs is not included, because a run may continue with more pairs.
    about = {"factors": [list(astuple(factor)) for factor in screening.factors]}
    return run_method(screening, about, arguments, lambda: _summary(screening), lambda: _print_results(screening))


# --- the factors ---------------------------------------------------------------------------------------------------


def read_factors(texts: Sequence[str], parameters: Sequence[Parameter]) -> list[Factor]:
    """Return the factors in ``[LABEL:]NAME=OFF:ON[,NAME=OFF:ON...]``; the names are the default label."""
    factors = [_read_factor(text, parameters) for text in texts]
    for what, names in (
        ("the parameter", [name for factor in factors for name in factor.names]),
        ("the label", [factor.label for factor in factors]),
    ):
        for name in names:
            if names.count(name) > 1:
                raise OptionError(f"{what} {name} is given more than once")
    return factors


def _read_factor(text: str, parameters: Sequence[Parameter]) -> Factor:
    from knightadder.workshop.tune.screening import Factor

    label, colon, rest = text.partition(":")
    if not colon or "=" in label:  # the colon separates two values, so there is no label
        label, rest = "", text
    elif not label:
        raise OptionError(f"{text}: expected {_SYNTAX}")
    names, off, on = zip(*(_read_change(change, text, parameters) for change in rest.split(",")), strict=True)
    return Factor(label or ",".join(names), names, off, on)


def _read_change(change: str, text: str, parameters: Sequence[Parameter]) -> tuple[str, int, int]:
    """Return the name and the two values of a parameter; `text` is the whole factor, for messages."""
    name, _, values = change.partition("=")
    try:
        off, on = map(int, values.split(":"))
    except ValueError:
        raise OptionError(f"{text}: expected {_SYNTAX}, with two whole numbers") from None
    parameter = parameter_named(parameters, name)
    for value in (off, on):
        if not parameter.low <= value <= parameter.high:
            raise OptionError(f"{change}: expected values from {parameter.low} to {parameter.high}")
    if off == on:
        raise OptionError(f"{change}: expected two different values")
    return name, off, on


# --- showing -------------------------------------------------------------------------------------------------------


def _ranked(screening: Screening) -> list[tuple[Factor, Interval]]:
    """Return the factors and their effects, best first; an empty list if there are too few results."""
    estimates = screening.estimates() or []
    return sorted(zip(screening.factors, estimates, strict=False), key=lambda pair: -pair[1].value)


def _summary(screening: Screening) -> str:
    from knightadder.workshop.match.match_report import elo_text

    return ", ".join(f"{factor.label} {elo_text(effect)}" for factor, effect in _ranked(screening)[:_MOST_SHOWN])


def _print_results(screening: Screening) -> None:
    """Print the effects of all factors, or a note that the results do not suffice."""
    from knightadder.workshop.match.match_report import elo_text

    ranked = _ranked(screening)
    if not ranked:
        print(title(screening))
        done, needed = screening.done, screening.needed
        why = f"expected at least {needed} pairs" if done < needed else f"the {done} pairs are too similar"
        print(f"Too few results to estimate the effects of {counted(len(screening.factors), 'factor')}: {why}")
        return
    rows = [
        [factor.label, ", ".join(map(str, factor.off)), ", ".join(map(str, factor.on)), elo_text(effect)]
        for factor, effect in ranked
    ]
    print_table(screening, ("Factor", "Off", "On", "Elo, on against off"), rows)
