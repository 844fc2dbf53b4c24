"""Tunes the parameters of the search by games between two sets of values; each pair of games changes all parameters."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, positive
from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by
from knightadder.files import check_new, check_outputs
from knightadder.workshop.tune.spsa import R_END, Spsa, Tunable
from knightadder.workshop.tune.trials_run import add_arguments, parameter_named, print_table, run_method

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter

_MOST_MOVED = 3  # maximum number of parameters in a progress line
_PATH_STEP = 10  # number of path points between two pictures: a whole run draws about fifty pictures


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``spsa``."""
    command = commands.add_parser(
        "spsa",
        help="tune search parameters by playing games",
        description="Tune search parameters by playing games between two sets of values. Print the tuned values "
        "as lines for parameters.py.",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--parameters", metavar="NAME[,NAME...]", help="names of the parameters to tune")
    which.add_argument("--all", action="store_true", help="tune all parameters (the default)")
    command.add_argument("--iterations", type=positive, required=True, metavar="N", help="number of game pairs to play")
    command.add_argument(
        "--r-end",
        action="append",
        default=[],
        metavar="[NAME=]R",
        help="size of the last step as a share of the perturbation, for all parameters or one parameter; may be given "
        f"several times (default: {R_END:g}, for tens of thousands of pairs; fewer pairs need a greater value)",
    )
    command.add_argument(
        "--c-end",
        action="append",
        default=[],
        metavar="NAME=C",
        help="size of a parameter's last perturbation, in the parameter's unit; may be given several times "
        "(default: a twentieth of its range)",
    )
    command.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.png",
        help="picture file that shows how the values change; redrawn during the run",
    )
    declare(command, "--force")
    add_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status; raises the errors of `run_method`."""
    from knightadder.core.search.parameters import PARAMETERS

    check_outputs({"--state": arguments.state, "--plot": arguments.plot})
    draw: Callable[[Spsa, Path], None] | None = None
    if arguments.plot:
        # An interrupted run has drawn its picture already.
        check_new(arguments.plot, arguments.force or bool(arguments.state and arguments.state.is_file()))
        with needed_by("--plot"):
            from knightadder.workshop.tune.spsa_picture import draw

    parameters = _choose(PARAMETERS, arguments.parameters)
    names = [parameter.name for parameter in parameters]
    r_end, r_ends = _read_ends("--r-end", arguments.r_end, names, 1.0)
    c_end, c_ends = _read_ends("--c-end", arguments.c_end, names, math.inf)
    if c_end is not None:
        raise OptionError(f"--c-end {c_end:g}: expected NAME=C, since each parameter has a different unit")
    if r_end is None:
        r_end = R_END
    tunables = [Tunable.of(each, c_ends.get(each.name), r_ends.get(each.name)) for each in parameters]
    spsa = Spsa(tunables, arguments.iterations, r_end, arguments.seed)
    about = {
        "parameters": [[each.name, each.start, each.low, each.high, each.c_end] for each in tunables],
        "iterations": arguments.iterations,
        "r-end": r_end,
        "r-ends": r_ends or None,  # None equals a missing entry, so older runs can continue
    }
    drawn = 0

    def summary() -> str:
        nonlocal drawn
        if draw and len(spsa.path) >= drawn + _PATH_STEP:
            drawn = len(spsa.path)
            with contextlib.suppress(OptionError):  # a full disk must not stop the games; the last picture reports it
                draw(spsa, arguments.plot)
        return _summary(spsa)

    def show() -> None:
        _print_results(parameters, spsa)
        if draw:
            draw(spsa, arguments.plot)

    return run_method(spsa, about, arguments, summary, show)


def _read_ends(
    what: str, texts: Sequence[str], names: Sequence[str], most: float
) -> tuple[float | None, dict[str, float]]:
    """Return the number for all parameters, if given, and numbers by parameter; OptionError if a number is wrong."""
    common, own = None, {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not 0 < value <= most or math.isinf(value):
            bound = f" up to {most:g}" if math.isfinite(most) else ""
            raise OptionError(f"{what} {text}: expected a number above 0{bound}")
        if not equals:
            common = value
        elif name in names:
            own[name] = value
        else:
            raise OptionError(f"{what} {text}: {name} is not among the parameters to tune")
    return common, own


def _choose(parameters: Sequence[Parameter], names: str | None) -> list[Parameter]:
    """Return the parameters with these names, or all of them."""
    if names is None:
        return list(parameters)
    wanted = [parameter_named(parameters, name) for name in names.split(",")]
    return [parameter for parameter in parameters if parameter in wanted]


# --- showing -------------------------------------------------------------------------------------------------------


def _summary(spsa: Spsa) -> str:
    """Return a line with the parameters that moved most, relative to their ranges."""
    moved = sorted(
        zip(spsa.tunables, spsa.theta, strict=True),
        key=lambda pair: -abs(pair[1] - pair[0].start) / max(pair[0].high - pair[0].low, 1),
    )
    return ", ".join(f"{tunable.name} {tunable.start} -> {theta:.2f}" for tunable, theta in moved[:_MOST_MOVED])


def _print_results(parameters: Sequence[Parameter], spsa: Spsa) -> None:
    rows = []
    for tunable, theta in zip(spsa.tunables, spsa.theta, strict=True):
        change = f"{theta - tunable.start:+.2f}"
        rows.append([tunable.name, f"{tunable.start}", f"{theta:.2f}", change, f"{tunable.low}", f"{tunable.high}"])
    print_table(spsa, ("Parameter", "Start", "Now", "Change", "Low", "High"), rows)
    for parameter, theta in zip(parameters, spsa.theta, strict=True):
        name, _, low, high, meaning = parameter
        print(f'    Parameter("{name}", {round(theta)}, {low}, {high}, {json.dumps(meaning, ensure_ascii=False)}),')
