"""The engines of a match, read from the command line or a TOML file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from knightadder.arguments import KeyValues
from knightadder.digests import PACKAGE, digest_of, source_digest
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.options import value_text
from knightadder.files import read_toml
from knightadder.foreign import whole_or_none
from knightadder.frozen import FROZEN, own_command
from knightadder.uci.client import UciClient, resolve_command, split_words
from knightadder.uci.trace import Trace
from knightadder.workshop.match.time_control import PATIENCE, Allowance, TimeControl

_CONTROLS = ("tc", "st", "nodes", "depth")
_MARGINS = ("margin", "timemargin")  # the second is cutechess's name
_NODE_TIME = "nodestime"  # the UCI option by which a clock counts nodes
_UNLIMITED = "inf"  # a time control without a clock, as in cutechess
_COMMON_KEYS = (*_CONTROLS, *_MARGINS, "option.", "env.")
_KEYS = ("name", "cmd", "args", "dir", *_COMMON_KEYS)

# Files with these suffixes count as programs even if they are not executable.
_PROGRAMS = (".bat", ".cmd", ".exe", ".jar", ".js", ".py", ".sh")

# At its start, an engine has this many times as long for an answer as in a game: an engine that compiles at its first
# start takes long on a busy machine.
_START_FACTOR = 5


@dataclass(frozen=True, slots=True)
class Competitor:
    """An engine of a match: its name in tables and PGN, its command, its working directory and its limits.
    `common_options` are given for all engines; an engine ignores those that it does not have.
    """

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    common_options: dict[str, str] = field(default_factory=dict)
    allowance: Allowance = field(default_factory=Allowance)
    own: bool = False  # whether the engine is this program; each machine of a cluster then runs its own installation

    @property
    def settings(self) -> dict[str, str]:
        """All UCI options to set, by their names in lower case; the engine's own options replace the common options."""
        both = self.common_options, self.options
        return {name.lower(): value for options in both for name, value in options.items()}

    @property
    def threads(self) -> int:
        """The value of the option ``Threads``; 1 if it is not set."""
        return whole_or_none(self.settings.get("threads", "1")) or 1

    def start(
        self,
        chess960: bool = False,
        patience: float = PATIENCE,
        trace_folder: Path | None = None,
        processors: Collection[int] = (),
        known: Callable[[UciClient], object] = lambda client: None,
    ) -> UciClient:
        """Start the engine, set its options, wait until it is ready, and return it.
        In a game, an engine has `patience` seconds for each answer; here it has five times as long. It runs on the
        given processors, or on any if there are none. `known` is called with the engine before the first wait, so that
        another thread can kill it.
        """
        timeout = _START_FACTOR * patience
        try:
            client = UciClient(self._command_here(), self.folder, self._variables(), processors)
            try:
                known(client)
                if trace_folder is not None:
                    client.trace = Trace(trace_folder, self.name, client.process.pid)
                client.handshake(timeout)
                client.wait_ready(timeout)  # before the options, to tell start errors from option errors
                needed = {*client.options, _NODE_TIME}  # an engine without nodestime would use real time
                common = {name: value for name, value in self.common_options.items() if name.lower() in needed}
                client.set_options({**common, **self.options, **({"UCI_Chess960": "true"} if chess960 else {})})
                client.remarks = client.wait_ready(timeout)
            except BaseException:  # even Ctrl-C, which does not reach the engine's process
                client.kill()
                client.close()
                raise
        except EngineError as error:
            raise type(error)(f"{self.name}: {error}") from None
        return client

    def _command_here(self) -> Sequence[str]:
        """Return the command for this machine, where the program may be in a different place."""
        if self.own:
            return [*resolve_command(None), *self.command[len(own_command()) :]]
        program, *words = self.command
        return self.command if Path(program).exists() else (Path(program).name, *words)

    def _is_knightadder(self) -> bool:
        return self.own or self.command[1:3] == ("-m", PACKAGE.name)

    def _variables(self) -> dict[str, str]:
        if self.folder is None or not self._is_knightadder():
            return self.environment
        # With PYTHONSAFEPATH, Python would not look for the package in the folder.
        return {"PYTHONSAFEPATH": "", **self.environment}

    @property
    def weakened(self) -> bool:
        """Whether the strength is limited. Stockfish's move then often differs from its last principal variation."""
        return self.settings.get("uci_limitstrength", "").lower() == "true"

    def identity(self) -> dict[str, Any]:
        """Return the data that identifies the engine, in a form that JSON can hold."""
        return {
            "name": self.name,
            "command": list(self.command),
            "dir": str(self.folder or ""),
            "environment": self.environment,
            "options": {**self.common_options, **self.options},
            "limits": str(self.allowance),
            "margin": self.allowance.margin,
        }

    def sources(self) -> str:
        """Return a digest of the files that determine how the engine plays; OptionError if a file cannot be read.

        These are the programs in the command, the networks in options such as ``EvalFile`` and, for Knightadder, its
        sources and built-in network; but not programs that a wrapper script starts, or programs on another machine.
        """
        folder = self.folder or Path()
        files = {str(place): folder / word for place, word in enumerate(self.command) if _is_program(folder / word)}
        for name, value in {**self.common_options, **self.options}.items():
            if name.lower().startswith("evalfile") and os.path.isfile(folder / value):
                files[name] = folder / value
        return f"{digest_of(files)} {self.package_digest()}".rstrip()

    def package_digest(self) -> str:
        """Return a digest of Knightadder's sources and network; empty for other engines."""
        return source_digest(self._package()) if self._is_knightadder() else ""

    def _package(self) -> Path:
        """Return the folder of the package that ``python -m knightadder`` runs."""
        variables = {**os.environ, **self._variables()}
        folders = [Path(entry) for entry in variables.get("PYTHONPATH", "").split(os.pathsep) if entry]
        if not variables.get("PYTHONSAFEPATH"):
            folders.insert(0, Path())  # Python first looks in the working directory
        packages = ((self.folder or Path()) / folder / PACKAGE.name for folder in folders)
        return next((package for package in packages if (package / "core").is_dir()), PACKAGE)


def _is_program(file: Path) -> bool:
    """Return whether the file is an existing program or script, rather than, for example, a log of the engine."""
    named_so = file.suffix.lower() in _PROGRAMS
    return os.path.isfile(file) and (named_so or (os.name == "posix" and os.access(file, os.X_OK)))


def read_competitors(
    engines: Sequence[Sequence[str]],
    each: Sequence[str] = (),
    file: Path | None = None,
    only: Sequence[str] = (),
) -> list[Competitor]:
    """Return the engines of a match: two or more, with different names, each with a limit; OptionError if that fails.

    - `engines` contains the ``key=value`` words of each engine; an engine without ``cmd`` is this program.
    - `each` contains words for all engines; an engine's own words take precedence.
    - `file` is a TOML file with an array of tables ``engine`` with the same keys; ``option`` and ``env`` are tables.
    - `only` names the engines to use from the file; by default, engines with ``usual = false`` are left out.
    """
    common = KeyValues.read(each, _COMMON_KEYS, "--each")
    described = [KeyValues.read(words, _KEYS, "--engine") for words in engines]
    if file is not None:
        described += _read_file(file, only)
    competitors = [_competitor(own, common) for own in described]
    names = [competitor.name for competitor in competitors]
    if len(names) < 2:
        raise OptionError("a match needs two engines: give --engine twice")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise OptionError(f"two engines are called {double}: give each a name=")
    return competitors


def _read_file(file: Path, only: Sequence[str]) -> list[KeyValues]:
    """Return the engines of a TOML file as ``key=value`` words."""
    entries = read_toml(file).get("engine", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OptionError(f"{file}: expected a table [[engine]] for each engine")
    unknown = set(only) - {str(entry.get("name")) for entry in entries}
    if unknown:
        raise OptionError(f"--only {' '.join(sorted(unknown))}: there is no such engine in {file}")
    chosen = [entry for entry in entries if (entry.get("name") in only if only else entry.get("usual", True))]
    return [KeyValues.read(_words(entry), _KEYS, str(file)) for entry in chosen]


def _words(entry: Mapping[str, Any]) -> Iterable[str]:
    """Return a table of a TOML file as ``key=value`` words."""
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from (f"{key}.{name}={value_text(inner)}" for name, inner in value.items())
        elif key != "usual":
            yield f"{key}={value_text(value)}"


def _competitor(own: KeyValues, common: KeyValues) -> Competitor:
    """Return an engine from its own words and the words for all engines."""
    folder = Path(own["dir"]) if "dir" in own else None
    if folder is not None and not folder.is_dir():
        raise OptionError(f"dir={folder}: there is no such folder")
    if folder is not None and "cmd" not in own and FROZEN:
        raise OptionError(f"dir={folder}: this executable plays only its own version; give the program there with cmd=")
    command = [*resolve_command(own.get("cmd"), folder), *split_words(own.get("args", ""))]
    name = own.get("name") or ("Knightadder" if "cmd" not in own else Path(command[0]).stem)
    if re.search(r"[|\"]", name) or not name.isprintable():
        raise OptionError(
            f"name={name}: a name must not contain vertical bars, quotation marks, line ends or control characters"
        )
    # An engine's own limits replace the common limits.
    limiting = own if any(key in own for key in _CONTROLS) else common
    if not any(key in limiting for key in _CONTROLS):
        raise OptionError(f"{name} has no limit: give tc=, st=, nodes= or depth= with this engine or with --each")
    if limiting.get("tc") == _UNLIMITED and not any(key in limiting for key in _CONTROLS[1:]):
        raise OptionError(f"{name} would think forever: with tc={_UNLIMITED}, also give st=, nodes= or depth=")
    margin = own if any(key in own for key in _MARGINS) else common
    competitor = Competitor(
        name=name,
        command=tuple(command),
        folder=folder,
        environment={**common.named("env."), **own.named("env.")},
        options=own.named("option."),
        common_options=common.named("option."),
        own="cmd" not in own,
    )
    allowance = Allowance(
        TimeControl.parse(limiting["tc"]) if limiting.get("tc", _UNLIMITED) != _UNLIMITED else None,
        limiting.number("st", None, 0.001),
        limiting.whole("nodes", None, 1),
        limiting.whole("depth", None, 1),
        margin.whole("timemargin", margin.whole("margin", 50)) / 1000,
        whole_or_none(competitor.settings.get(_NODE_TIME, "0")) or 0,
    )
    return replace(competitor, allowance=allowance)
