"""Tunes the values of the classical evaluation's terms to positions of games (Texel's method)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, positive_number
from knightadder.digests import content_digest
from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by
from knightadder.files import check_new, check_outputs, reading, replacing, write_whole
from knightadder.foreign import parse_json
from knightadder.progress import progress
from knightadder.runs import going_on

if TYPE_CHECKING:
    from knightadder.workshop.tune.texel_training import State

_VALUES = "values.json"
_VALIDATION = 20  # one in this many positions is kept for validation


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``texel``."""
    command = commands.add_parser(
        "texel",
        help="tune the classical evaluation to the results of games",
        description="Tune the values of the classical evaluation's terms to the results of games (Texel's "
        "method). `knightadder datagen` makes the positions. The state and the loss curve are kept "
        "in a folder; the same command continues an interrupted run. The command writes the values "
        "of the epoch with the lowest validation error. It replaces the engine's own values only "
        "with --install.",
    )
    command.add_argument(
        "data", type=Path, nargs="+", metavar="FILE", help="file of packed positions, made by `datagen --merge`"
    )
    declare(command, "--state", required=True)
    declare(command, "--restart")
    declare(command, "--epochs", default=40)
    declare(command, "--positions", help="maximum number of positions to use from each file")
    declare(command, "--rate", default=1.0, metavar="CP", help="size of the first step, in centipawns")
    declare(
        command,
        "--result-share",
        default=0.7,
        help="share of the game's result in the target, from 0 to 1; the search's score has the rest",
    )
    command.add_argument(
        "--k",
        type=positive_number,
        metavar="K",
        help="scale of the logistic function from centipawns to expected results (default: fitted to the starting "
        "values); doubling the scale halves the tuned values",
    )
    command.add_argument(
        "--start", type=Path, metavar="FILE", help="file with the starting values (default: the engine's own)"
    )
    declare(command, "--out", help=f"write the tuned values to this file (default: {_VALUES} in the folder of --state)")
    declare(command, "--force")
    command.add_argument(
        "--install",
        action="store_true",
        help="also replace the engine's own values, after copying them to the folder of --state",
    )
    declare(command, "--seed")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    import numpy as np

    from knightadder.core.api.tracing import Tracer
    from knightadder.core.evaluation import terms
    from knightadder.core.evaluation.classical import fill_tables
    from knightadder.core.evaluation.evaluate import PESTO
    from knightadder.core.tables import new_tables

    with needed_by("tune texel"):
        from knightadder.workshop.tune import texel
        from knightadder.workshop.tune.texel_training import (
            FILES,
            State,
            TrainingSettings,
            open_journal,
            plot_losses,
            read_positions,
            train,
        )

    if arguments.out:
        check_outputs({"--out": arguments.out}, arguments.data, "the positions")
        check_outputs({"--out": arguments.out}, [arguments.state / name for name in FILES], "the state of the run")
        check_new(arguments.out, arguments.force, made=arguments.state)
    file = arguments.start or terms.VALUES_FILE
    with reading(file):
        content = file.read_bytes()
    try:
        start = terms.values_in(parse_json(content))
    except ValueError as error:
        raise OptionError(f"cannot read the values to start from: {file}: {error}") from None
    records = read_positions(arguments.data, arguments.positions)
    if len(records) <= texel.BLOCK:
        raise OptionError(f"{len(records)} positions are too few: at least {texel.BLOCK + 1} are needed")
    np.random.default_rng(arguments.seed).shuffle(records)
    settings = TrainingSettings(arguments.epochs, arguments.rate, arguments.result_share, arguments.seed)
    folder, out = arguments.state, arguments.out or arguments.state / _VALUES
    with open_journal(folder, records, start, arguments.k, settings, arguments.restart) as journal:
        state = State(start.astype(float), texel.Adam(start.shape))
        state.go_on(journal, folder)

        tables = new_tables(PESTO)  # the engine's own values may belong to different terms
        fill_tables(tables, start)
        blocks = []
        try:
            with progress(-(-len(records) // texel.BLOCK), unit="blocks") as update:
                for block in texel.trace_blocks(Tracer(tables), records):
                    blocks.append(block)
                    update(len(blocks), "traced")
        except ValueError as error:
            raise OptionError(f"cannot use {', '.join(map(str, arguments.data))}: {error}") from None
        held_back = max(1, len(blocks) // _VALIDATION)
        validation, training = blocks[:held_back], blocks[held_back:]

        def keep() -> None:
            state.note_losses(training, validation, settings.result_share)
            journal.add(state.epoch, state.entry())

        if not state.losses:
            state.scale = arguments.k or texel.fit_scale(training, state.values)
            keep()
        print(f"{len(records)} positions, K = {state.scale:.5f}")
        with going_on(lambda: f"The state is in {folder}"):
            while state.epoch < settings.epochs:
                train(training, start, state, settings)
                keep()
                plot_losses(state.losses, folder)
                first, second = state.losses[-1]
                print(
                    f"epoch {state.epoch}/{settings.epochs}  training {first:.6f}  validation {second:.6f}", flush=True
                )
            if state.best_epoch < state.epoch:
                print(_overfitting(state))
            best = np.rint(texel.settle(training, state.best_values)).astype(np.int64)
            with replacing(out, force=arguments.force or not arguments.out) as beside:
                terms.write_values(best, beside)
            print(f"The values are in {out}")
            if arguments.install:
                copy = _install(out, terms.VALUES_FILE, folder)
                print(f"The engine uses them now; its former values are in {copy}")
    return 0


def _overfitting(state: State) -> str:
    """Return a note on the best epoch and on overfitting if the last epoch does not validate best, else no text."""
    best, last = state.losses[state.best_epoch], state.losses[-1]
    name = f"epoch {state.best_epoch}" if state.best_epoch else "the start"
    why = "overfitting: the training error still fell" if last[0] < best[0] else "the training error rose too"
    return (
        f"The validation error was lowest after {name}, {best[1]:.6f}, and is {last[1]:.6f} after epoch {state.epoch} "
        f"({why}). The values are those of {name}."
    )


def _install(values: Path, target: Path, folder: Path) -> Path:
    """Replace the engine's values, and return a copy of the old values in a folder; OptionError if that fails."""
    # The copy is named after its content, so that a second run overwrites no earlier copy.
    copy = folder / f"replaced-{content_digest(target)[:8]}.json"
    with reading(target):
        write_whole(copy, target.read_bytes())
    with reading(values):
        write_whole(target, values.read_bytes())
    return copy
