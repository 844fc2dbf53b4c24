"""Tunes the parameters of the search by games between two sets of values; each pair of games moves all parameters."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from knightadder.arguments import positive
from knightadder.workshop.tune.spsa import R_END, Spsa, Tunable
from knightadder.workshop.tune.trials import Results, add_arguments, parameter_named, print_table, run_method

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter

_MOST_MOVED = 3  # parameters shown in a progress line


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``spsa``."""
    command = commands.add_parser(
        "spsa",
        help="tune search parameters by games",
        description="Tune search parameters by games between two sets of them; prints lines for parameters.py.",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--parameters", metavar="NAME[,NAME...]", help="what to tune")
    which.add_argument("--all", action="store_true", help="tune all parameters, as by default")
    command.add_argument("--iterations", type=positive, required=True, metavar="N", help="pairs of games")
    command.add_argument(
        "--r-end",
        type=_rate,
        default=R_END,
        metavar="R",
        help=f"the last step, in perturbations; {R_END:g} suits tens of thousands of pairs, fewer need more",
    )
    add_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status; raises the errors of `run_method`."""
    from knightadder.core.search.parameters import PARAMETERS

    parameters = _choose(PARAMETERS, arguments.parameters)
    spsa = Spsa(
        [Tunable.of(parameter) for parameter in parameters], arguments.iterations, arguments.r_end, arguments.seed
    )
    about = {
        "parameters": [list(astuple(tunable)) for tunable in spsa.tunables],
        "iterations": arguments.iterations,
        "r-end": arguments.r_end,
    }
    return run_method(
        spsa, about, arguments, lambda: _summary(spsa), lambda results: _print_results(parameters, spsa, results)
    )


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


def _choose(parameters: Sequence[Parameter], names: str | None) -> list[Parameter]:
    """Return the parameters with these names, or all of them."""
    if names is None:
        return list(parameters)
    wanted = [parameter_named(parameters, name) for name in names.split(",")]
    return [parameter for parameter in parameters if parameter in wanted]


# --- showing -------------------------------------------------------------------------------------------------------


def _summary(spsa: Spsa) -> str:
    """Return a line with the parameters that moved most in their ranges."""
    moved = sorted(
        zip(spsa.tunables, spsa.theta, strict=True),
        key=lambda pair: -abs(pair[1] - pair[0].start) / max(pair[0].high - pair[0].low, 1),
    )
    return ", ".join(f"{tunable.name} {tunable.start} -> {theta:.2f}" for tunable, theta in moved[:_MOST_MOVED])


def _print_results(parameters: Sequence[Parameter], spsa: Spsa, results: Results) -> None:
    """Print the values of all parameters, and the source lines that set them."""
    rows = []
    for tunable, theta in zip(spsa.tunables, spsa.theta, strict=True):
        change = f"{theta - tunable.start:+.2f}"
        rows.append([tunable.name, f"{tunable.start}", f"{theta:.2f}", change, f"{tunable.low}", f"{tunable.high}"])
    print_table(results, ("Parameter", "Start", "Now", "Change", "Low", "High"), rows)
    for parameter, theta in zip(parameters, spsa.theta, strict=True):
        name, _, low, high, meaning = parameter
        print(f'    Parameter("{name}", {round(theta)}, {low}, {high}, {json.dumps(meaning, ensure_ascii=False)}),')
