"""The subcommand `tune`: fits constants of the engine to games. Each method's module declares its own arguments."""

from __future__ import annotations

import argparse

from knightadder.workshop.tune import screening_run, spsa_run, texel_run, wdl_fit


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``tune`` with its own subcommands."""
    command = commands.add_parser("tune", help="tune constants of the engine by playing or reading games")
    kinds = command.add_subparsers(title="what to tune", metavar="WHAT", required=True)
    wdl_fit.add_command(kinds)
    spsa_run.add_command(kinds)
    screening_run.add_command(kinds)
    texel_run.add_command(kinds)
