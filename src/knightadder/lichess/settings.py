"""The bot's settings: from a TOML file and from the command line, which takes precedence."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from knightadder.engine.errors import OptionError
from knightadder.engine.options import Options, value_text
from knightadder.engine.settlement import Settlement
from knightadder.files import read_toml
from knightadder.frozen import typed_command
from knightadder.lichess.challenges import MODES, OPPONENTS, SPEEDS, VARIANTS, Policy

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_ON_INTERRUPT = ("finish", "resign")

# UCI options that the bot sets itself, for each game or each move.
_OWN_OPTIONS = {"move overhead", "ponder", "uci_chess960", "multipv"}


@dataclass(frozen=True, slots=True)
class BotSettings(Policy):
    """All settings. The names are the same in the file and, with hyphens, on the command line; its help describes them.

    Without a token file, the token comes from the environment variable ``LICHESS_TOKEN``. 0 means no limit for the
    number of games and for the nodes per move. If the measured move overhead is higher than `move_overhead`, the
    measured one is used. See `Settlement` for draws and resigning. In messages, ``{me}`` and ``{opponent}`` are
    replaced by names.
    """

    url: str = "https://lichess.org"
    token_file: str = ""
    concurrency: int = 1
    games: int = 0
    on_interrupt: str = "finish"
    hash: int = 64
    threads: int = 1
    syzygy: str = ""
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    nodes: int = 0
    ponder: bool = False
    move_overhead: int = 100
    correspondence_seconds: float = 30.0
    draw_score: int = 10
    resign_score: int = 900
    resign_moves: int = 4
    abort_after: float = 30.0
    greeting: str = "Hello {opponent}! I am Knightadder, a chess engine in Python. Good luck!"
    goodbye: str = "Good game, {opponent}!"

    def __post_init__(self) -> None:
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise OptionError(f"url: {self.url} is not the address of a server, such as https://lichess.org")
        if address.scheme == "http" and address.hostname not in _LOOPBACK:
            raise OptionError(f"url: {self.url} would send the token unencrypted; use https")
        for name, known in (("variants", VARIANTS), ("speeds", SPEEDS), ("modes", MODES)):
            chosen = getattr(self, name)
            if not chosen:
                raise OptionError(f"{name}: expected at least one of {', '.join(known)}")
            for word in chosen:
                _one_of(name, word, known)
        _one_of("opponents", self.opponents, OPPONENTS)
        _one_of("on_interrupt", self.on_interrupt, _ON_INTERRUPT)
        for name, least, most in (
            ("min_rating", 0, 10_000),
            ("max_rating", 0, 10_000),
            ("concurrency", 1, 32),
            ("games", 0, 1_000_000),
            ("nodes", 0, 10**15),
            ("move_overhead", 0, 5000),
            ("correspondence_seconds", 0.1, 86_400),
            ("abort_after", 1, 86_400),
        ):
            if not least <= getattr(self, name) <= most:
                raise OptionError(f"{name}: expected a number from {least} to {most}, not {getattr(self, name)}")
        if 0 < self.max_rating < self.min_rating:
            raise OptionError(f"min_rating: {self.min_rating} is above max_rating, {self.max_rating}")
        for option in self.options:
            if option.lower() in _OWN_OPTIONS:
                raise OptionError(f"options: the bot sets {option} itself")
        checked = Options()
        for option, value in self.engine_options().items():
            checked.set(option, value_text(value))
        for option, number in self.settlement().items():
            Settlement().set(option, str(number))

    def engine_options(self) -> dict[str, str | int | bool]:
        """Return the UCI options for an engine."""
        options: dict[str, str | int | bool] = {"Hash": self.hash, "Threads": self.threads}
        if self.syzygy:
            options["SyzygyPath"] = self.syzygy
        return {**options, **self.options}

    def settlement(self) -> dict[str, int]:
        """Return the options for a `Settlement`."""
        return {"Draw Score": self.draw_score, "Resign Score": self.resign_score, "Resign Moves": self.resign_moves}


def read_settings(file: Path | None, arguments: Mapping[str, Any]) -> BotSettings:
    """Combine the settings of a TOML file and of the command line; both use the names of `BotSettings`."""
    values: dict[str, Any] = {}
    if file:
        values = {_checked_name(name, file): value for name, value in read_toml(file).items()}
    merged = {**values, **arguments}
    if "options" in values:
        table = _checked("options", values["options"])
        merged["options"] = {**table, **arguments.get("options", {})}
    return BotSettings(**{name: _checked(name, value) for name, value in merged.items()})


def _checked_name(name: str, file: Path) -> str:
    plain = name.replace("-", "_")
    if plain not in {setting.name for setting in fields(BotSettings)}:
        command = typed_command(["lichess", "--help"])
        raise OptionError(f"{file}: unknown setting {name}; `{command}` lists the settings")
    return plain


def _checked(name: str, value: Any) -> Any:
    default = getattr(_DEFAULTS, name)
    if isinstance(default, tuple):
        if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
            return tuple(value)
    elif isinstance(default, float):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif type(value) is type(default):
        if name == "options" and not all(isinstance(entry, str | int | bool) for entry in value.values()):
            raise OptionError("options: each value must be a text, a whole number, true or false")
        return value
    kinds = {tuple: "a list of words", float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
    raise OptionError(f"{name}: expected {kinds.get(type(default), 'a table')}")


def _one_of(name: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise OptionError(f"{name}: expected {' or '.join(known)}, not {word}")


_DEFAULTS = BotSettings()
