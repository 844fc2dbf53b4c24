"""The subcommand ``play``: serves the web board and opens it in the browser."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, engine_options, whole
from knightadder.drills.command import declare_file, open_box
from knightadder.engine.errors import OptionError
from knightadder.text import tell

if TYPE_CHECKING:
    from knightadder.drills.box import DrillBox
    from knightadder.library.board_engine import Engine
    from knightadder.web.other_engine import CompanionEngine
    from knightadder.web.saved_games import SavedGames
    from knightadder.web.site.training import Training

_PORT = 8642


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``play``."""
    command = commands.add_parser(
        "play",
        help="play and analyse on a board in the browser",
        description="Serve a board for games against the engine and for analysis, and open it in the browser.",
    )
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: 127.0.0.1, which no other machine can reach)",
    )
    command.add_argument(
        "--port",
        type=whole(0, 65_535),
        default=_PORT,
        help=f"port to listen on; 0 chooses a free port (default: {_PORT})",
    )
    command.add_argument("--no-browser", action="store_true", help="print the address, but do not open a browser")
    declare(command, "--threads", default=1, help="number of search threads for each browser tab")
    declare(command, "--hash", default=64, help="size of each browser tab's hash table, in MB")
    declare(command, "--syzygy", "--eval", "--eval-file")
    declare(
        command,
        "--engine",
        help="second UCI engine for the analysis: its command, or cmd=COMMAND with option.NAME=VALUE",
    )
    command.add_argument("--book", type=Path, metavar="FILE", help="Polyglot opening book whose moves the board shows")
    command.add_argument(
        "--puzzles",
        type=Path,
        metavar="FILE",
        help="file with puzzles to solve, made by `knightadder puzzles` or downloaded from Lichess",
    )
    command.add_argument(
        "--puzzles-progress",
        type=Path,
        metavar="FILE",
        help="file that stores your puzzle answers and your rating (default: puzzles.sqlite in the user's data folder)",
    )
    command.add_argument(
        "--explorer",
        type=Path,
        metavar="FILE",
        help="index of games for the opening explorer, made by `knightadder book index`",
    )
    command.add_argument(
        "--drills", action="store_true", help="open the drills page, to learn from your mistakes and repertoires"
    )
    declare_file(command)
    command.add_argument(
        "--games-file",
        type=Path,
        metavar="FILE",
        help="file that stores your games (default: games.sqlite in the user's data folder)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand until Ctrl-C; return the exit status. OptionError if the server cannot start as wanted."""
    from knightadder.engine.book import Book
    from knightadder.engine.options import Options
    from knightadder.library.engine_options import folders_of
    from knightadder.library.explorer import Explorer
    from knightadder.web.resources import Resources
    from knightadder.web.site.guard import is_loopback
    from knightadder.web.site.known import Known
    from knightadder.web.site.server import make_app
    from knightadder.web.site.serving import make_server
    from knightadder.web.tab_engine import LOADING_THREAD

    options = engine_options(arguments)
    for name, value in options.items():  # so that a bad value is refused now, not when the first tab opens
        Options().set(name, value)
    if arguments.eval_file:
        from knightadder.engine.evaluator import load_network

        load_network(arguments.eval_file)
    training = _training(arguments.puzzles, arguments.puzzles_progress) if arguments.puzzles else None
    drills = _drills(arguments.drills_file) if arguments.drills or arguments.drills_file else None
    known = Known(Book(arguments.book) if arguments.book else None, folders_of(arguments.syzygy))

    def make_engine() -> Engine:
        from knightadder.library.board_engine import Engine

        return Engine(options=options)

    make_other = _other_engine(arguments.engine) if arguments.engine else None
    logging.getLogger("chess.engine").setLevel(logging.CRITICAL)  # the page says what is wrong with the second engine
    resources = Resources(arguments.threads, arguments.hash)
    listening = _listen(arguments.host, arguments.port)
    with (
        contextlib.closing(listening),
        Explorer(arguments.explorer) if arguments.explorer else contextlib.nullcontext() as explorer,
    ):
        token, ticket = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        address = _address(arguments.host, listening.getsockname()[1])
        print(f"The board is at {address}?token={token} (Ctrl-C stops it)", flush=True)
        if not is_loopback(arguments.host):
            print("Anyone who knows this address can use the board. The connection is not encrypted.", file=sys.stderr)
        if not arguments.no_browser:
            # The socket already listens, so the browser waits for the server.
            _open_browser(f"{address}?token={ticket}")
        saved = _saved_games(arguments.games_file)
        app = make_app(
            make_engine, token, arguments.host, training, explorer, known, resources, drills, make_other, saved, ticket
        )
        server = make_server(app)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    if any(thread.name == LOADING_THREAD for thread in threading.enumerate()):
        # The compiler cannot be interrupted, and a normal exit while it runs would crash.
        sys.stdout.flush()
        os._exit(0)
    return 0


def _other_engine(words: list[str]) -> Callable[[], CompanionEngine]:
    """Return a function that makes a tab's second engine; OptionError if the engine's program does not exist."""
    from knightadder.uci.client import resolve_command
    from knightadder.uci.uci_engine import read_engine
    from knightadder.web.other_engine import CompanionEngine

    command, options = read_engine(words)
    if command is None:
        raise OptionError("--engine: the command of the second engine is missing")
    resolve_command(command)  # so that a missing program is refused now, not when it is switched on
    return lambda: CompanionEngine(command, options)


def _drills(file: Path | None) -> DrillBox | None:
    """Open the file of drills; if it cannot be used, report it and return None: the board works without drills."""
    try:
        return open_box(file)
    except OptionError as error:
        tell(f"{error}; the board starts without drills")
        return None


def _saved_games(file: Path | None) -> SavedGames | None:
    """Open the file of the user's games; if it cannot be used, report it and return None: the board works without."""
    from knightadder.user_file import user_file
    from knightadder.web.saved_games import SavedGames

    try:
        return SavedGames(file or user_file("games.sqlite"))
    except OptionError as error:
        tell(f"{error}; the board keeps no games")
        return None


def _training(file: Path, progress_file: Path | None) -> Training:
    """Open a file of puzzles, and the user's progress if its file can be used; OptionError if there are no puzzles."""
    from knightadder.puzzles.collection import open_puzzles
    from knightadder.puzzles.user_progress import PuzzleProgress
    from knightadder.web.site.training import Training

    puzzles, complaints = open_puzzles(file)
    for complaint in complaints:
        tell(complaint)
    if not len(puzzles):
        raise OptionError(f"there is no puzzle in {file}")
    try:
        return Training(puzzles, PuzzleProgress(progress_file), file)
    except OptionError as error:
        tell(f"{error}; your answers are not kept")
        return Training(puzzles, None, file)


def _listen(host: str, port: int) -> socket.socket:
    """Open and return the listening socket; OptionError, with advice, if listening fails."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:  # UnicodeError: the text cannot be a host name
        raise OptionError(f"cannot listen on {host}: {getattr(error, 'strerror', error)}") from None
    try:
        if os.name == "posix":  # on Windows this option would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise OptionError(
            f"cannot listen on {host}, port {port}: {error.strerror}; --port 0 chooses a free one"
        ) from None
    return listening


def _address(host: str, port: int) -> str:
    """Return the address of the board for a browser on this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def _open_browser(address: str) -> None:
    import webbrowser

    # In a thread, because a text browser would block until the user quits it.
    threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True).start()
