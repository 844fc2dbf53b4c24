"""The subcommand ``tablebases``: lists, verifies and downloads Syzygy endgame tablebases."""

from __future__ import annotations

import argparse
from pathlib import Path

from knightadder.tablebases.names import MOST_MEN

_LICHESS = "https://tablebase.lichess.ovh/tables/standard/"

_DOWNLOAD = f"""\
Fetch the Syzygy tables with up to {MOST_MEN} men, about 1 GB. Undamaged files in the folder are kept, and an
interrupted download continues. Each file is checked by the checksum that it contains.
"""
_URL_HELP = (
    "address of the files, or of the folders 3-4-5-wdl and 3-4-5-dtz that contain them "
    f"(default: the mirror of Lichess, {_LICHESS})"
)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``tablebases`` with its own subcommands."""
    command = commands.add_parser("tablebases", help="list, verify or download endgame tablebases")
    kinds = command.add_subparsers(title="commands", metavar="COMMAND", required=True)

    kind = kinds.add_parser("list", help="list which Syzygy tables are present and which are missing")
    _add_folders(kind)
    kind.set_defaults(run=_list)

    kind = kinds.add_parser("verify", help="find damaged tables by their checksums")
    _add_folders(kind)
    kind.set_defaults(run=_verify)

    kind = kinds.add_parser(
        "download", help=f"fetch the tables with up to {MOST_MEN} men, about 1 GB", description=_DOWNLOAD
    )
    kind.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder for the downloaded files; created if it does not exist"
    )
    kind.add_argument(
        "--men",
        type=int,
        choices=range(3, MOST_MEN + 1),
        default=MOST_MEN,
        help=f"maximum number of men in a table, kings included (default: {MOST_MEN})",
    )
    kind.add_argument(
        "--wdl-only",
        action="store_true",
        help="do not fetch the DTZ tables, which make up more than half of the download",
    )
    kind.add_argument("--url", default=_LICHESS, help=_URL_HELP)
    kind.set_defaults(run=_download)


def _add_folders(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="folder that contains tables (default: the tables that come with the engine)",
    )


def _list(arguments: argparse.Namespace) -> int:
    from knightadder.tablebases import listing

    return listing.run(arguments)


def _verify(arguments: argparse.Namespace) -> int:
    from knightadder.tablebases import verify

    return verify.run(arguments)


def _download(arguments: argparse.Namespace) -> int:
    from knightadder.tablebases import download

    return download.run(arguments)
