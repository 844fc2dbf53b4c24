"""The subcommand `lichess`: its arguments, the account, logging, and Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.arguments import declare, named_values, not_negative
from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by
from knightadder.files import check_outputs, writing
from knightadder.signals import handling
from knightadder.text import counted

if TYPE_CHECKING:
    from types import FrameType

    from knightadder.lichess.bot import Bot
    from knightadder.lichess.bot_api import Lichess
    from knightadder.lichess.settings import BotSettings

_UNAUTHORIZED = 401

_EPILOG = """\
All options except --config, --log, --verbose and --upgrade may also be given in the TOML file of --config, with
underscores instead of hyphens; UCI options go into its table [options]. The command line takes precedence. The token is
read from the environment variable LICHESS_TOKEN, unless --token-file names a file. After Ctrl-C, the bot accepts no
more challenges and exits when all games are over; a second Ctrl-C resigns the running games. Correspondence games are
neither finished nor resigned: the next start continues them. docs/lichess.md describes how to make a bot account.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``lichess``."""
    command = commands.add_parser(
        "lichess",
        help="play on Lichess as a bot",
        description="Play on Lichess with a bot account: accept challenges until Ctrl-C.",
        epilog=_EPILOG,
        argument_default=argparse.SUPPRESS,  # an argument that is not given must not override the settings file
    )
    command.set_defaults(run=run)
    command.add_argument("--config", type=Path, default=None, metavar="FILE.toml", help="TOML file with settings")
    command.add_argument("--log", type=Path, default=None, metavar="FILE", help="also append the log to this file")
    command.add_argument("--verbose", action="store_true", default=False, help="log every move and chat message")
    command.add_argument(
        "--upgrade", action="store_true", default=False, help="turn the account into a bot account, and exit"
    )
    command.add_argument(
        "--token-file",
        metavar="FILE",
        help="file that contains the access token (default: use the variable LICHESS_TOKEN)",
    )
    command.add_argument("--url", help="address of the Lichess server (default: https://lichess.org)")

    group = command.add_argument_group("challenges")
    group.add_argument(
        "--variants",
        type=_words,
        metavar="LIST",
        help="accept challenges to these variants (default: standard,fromPosition,chess960)",
    )
    group.add_argument(
        "--speeds",
        type=_words,
        metavar="LIST",
        help="accept challenges at these speeds (default: bullet,blitz,rapid,classical)",
    )
    group.add_argument(
        "--modes",
        type=_words,
        metavar="LIST",
        help="accept challenges to rated or casual games (default: rated,casual)",
    )
    group.add_argument("--opponents", metavar="WHO", help="accept challenges from all, humans or bots (default: all)")
    group.add_argument("--min-rating", type=int, metavar="N", help="accept only challengers rated N or higher")
    group.add_argument("--max-rating", type=int, metavar="N", help="accept only challengers rated N or lower")
    declare(group, "--concurrency", help="maximum number of games at the same time (default: 1)")
    group.add_argument("--games", type=int, metavar="N", help="exit after N games (default: 0, no limit)")
    group.add_argument(
        "--on-interrupt", metavar="WHAT", help="after Ctrl-C, finish or resign the running games (default: finish)"
    )

    group = command.add_argument_group("engine")
    declare(group, "--hash", help="size of each engine's hash table, in MB (default: 64)")
    declare(group, "--threads", help="number of search threads of each engine (default: 1)")
    declare(group, "--syzygy")
    declare(group, "--option", dest="options", default=argparse.SUPPRESS)
    declare(
        group,
        "--nodes",
        type=not_negative,
        help="stop each search after N nodes, even if time is left (default: 0, no limit)",
    )
    group.add_argument(
        "--ponder", action=argparse.BooleanOptionalAction, help="think during the opponent's time (default: no)"
    )
    group.add_argument(
        "--move-overhead",
        type=int,
        metavar="MS",
        help="minimum time to reserve for the network delay of each move, in milliseconds (default: 100)",
    )
    group.add_argument(
        "--correspondence-seconds",
        type=float,
        metavar="S",
        help="thinking time per move in correspondence games, in seconds (default: 30)",
    )

    group = command.add_argument_group("manners")
    group.add_argument(
        "--draw-score",
        type=int,
        metavar="CP",
        help="offer and accept draws while the score is at most CP centipawns from zero (0: never; default: 10)",
    )
    group.add_argument(
        "--resign-score",
        type=int,
        metavar="CP",
        help="resign when the engine is CP centipawns behind (0: never; default: 900)",
    )
    group.add_argument(
        "--resign-moves",
        type=int,
        metavar="N",
        help="resign after N moves in a row whose scores are as bad as --resign-score (0: never; default: 4)",
    )
    group.add_argument(
        "--abort-after",
        type=float,
        metavar="S",
        help="abort a game if the opponent makes no first move within S seconds (default: 30)",
    )
    group.add_argument(
        "--greeting",
        metavar="TEXT",
        help="chat message at the start of a game; {me} and {opponent} stand for the players' names",
    )
    group.add_argument("--goodbye", metavar="TEXT", help="chat message at the end of a game")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status."""
    with needed_by("playing on Lichess", "lichess"):
        from knightadder.lichess.bot_api import Lichess
    from knightadder.lichess.api_errors import Refused
    from knightadder.lichess.settings import read_settings
    from knightadder.lichess.timers import Timer
    from knightadder.lichess.token import read_token

    given = {
        name: value
        for name, value in vars(arguments).items()
        if name not in ("run", "config", "log", "verbose", "upgrade", "options")
    }
    settings = read_settings(arguments.config, {**given, "options": named_values(getattr(arguments, "options", []))})
    read = [file for file in (arguments.config, settings.token_file) if file]
    check_outputs({"--log": arguments.log}, read, "the settings or the token")
    clock, ending = Timer(), threading.Event()
    token = read_token(settings.token_file)
    with (
        _logging(arguments.log, arguments.verbose),
        contextlib.closing(Lichess(settings.url, token, clock, ending)) as lichess,
    ):
        try:
            account = lichess.account()
        except Refused as error:
            if error.status == _UNAUTHORIZED:
                raise OptionError(f"{settings.url} does not accept the token; it needs the scope bot:play") from None
            raise
        lichess.introduce(str(account["username"]))
        if arguments.upgrade:
            return _upgrade(lichess, account)
        if account.get("title") != "BOT":
            raise OptionError(
                f"{account['username']} is not a bot account: --upgrade makes it a bot account if it has never played"
            )
        return _play(lichess, account, settings, clock, ending)


def _play(lichess: Lichess, account: dict[str, Any], settings: BotSettings, clock: Any, ending: threading.Event) -> int:
    from knightadder.library.board_engine import Engine
    from knightadder.lichess.bot import Bot
    from knightadder.lichess.engines import GameEngines

    with GameEngines(lambda: Engine(options=settings.engine_options())) as engines:
        engines.prepare()
        bot = Bot(lichess, account, engines, settings, clock)
        logging.getLogger(__name__).info("playing as %s on %s", account["username"], settings.url)
        with _interrupts(bot, ending):
            bot.run()
    logging.getLogger(__name__).info("ended after %s", counted(bot.games_played, "game"))
    return 0


def _upgrade(lichess: Lichess, account: dict[str, Any]) -> int:
    """Make the account a bot account, if the user confirms by typing its name."""
    name = str(account["username"])
    if account.get("title") == "BOT":
        print(f"{name} is already a bot account")
        return 0
    print(f"This makes {name} a bot account forever: from then on, only programs may play with the account.")
    print("Lichess allows this only for an account that has never played a game.")
    try:
        answer = input(f"To continue, type the name of the account: {name}\n> ")
    except EOFError:
        answer = ""
    if answer.strip() != name:
        print("Nothing was changed")
        return 1
    lichess.upgrade()
    print(f"{name} is now a bot account")
    return 0


@contextlib.contextmanager
def _interrupts(bot: Bot, ending: threading.Event) -> Iterator[None]:
    """Stop the bot after Ctrl-C or a request to terminate; the third signal stops it immediately."""
    count = 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > 2:
            raise KeyboardInterrupt
        if count == 2:
            ending.set()  # safe here, because the main thread never waits for this event, whose lock is not reentrant
        bot.interrupt()

    with handling(signal.SIGINT, interrupt), handling(signal.SIGTERM, interrupt):
        yield


@contextlib.contextmanager
def _logging(file: Path | None, verbose: bool) -> Iterator[None]:
    """Log to standard error, and to a file if given; one line per event."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if file is not None:
        with writing(file):
            handlers.append(logging.FileHandler(file, encoding="utf-8"))
    logger = logging.getLogger("knightadder")
    level = logger.level
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
    complain, logging.raiseExceptions = logging.raiseExceptions, False  # a full disk must not stop the bot
    try:
        yield
    finally:
        logging.raiseExceptions = complain
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
