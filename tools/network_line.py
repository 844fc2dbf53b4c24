r"""Makes a line of networks: games, training, errors and a match for each, in a table.

    python tools/network_line.py FOLDER --concurrency 2

The file ``line.toml`` in the folder describes the line. Its tables ``datagen``, ``train`` and ``match`` contain options
of these subcommands for all networks, and ``errors`` contains options of benchmarks/network_errors.py. Each table
``network`` is one network, and may have additional options:

    [datagen]
    nodes = 100
    chess960-share = 0.2

    [train]
    width = 512
    buckets = 8
    scale = 216
    length = 4_000_000_000
    later-share = 0.65

    [errors]
    labels = "labels.txt"

    [match]
    each = ["tc=8+0.08", "option.Hash=64", "option.nodestime=1000"]
    games = 600
    openings = ["file=book.epd", "order=random", "seed=1"]

    [[network]]
    name = "14"
    datagen = { positions = 150_000_000, seed = 14 }

    [[network]]
    name = "15"
    datagen = { positions = 500_000_000, seed = 15 }
    train = { width = 384 }

The best network so far plays the games; the first best network is the file ``teacher``, or else the built-in network.
Each network starts with random weights, and learns from the games of all networks before it. Then it plays a match
against the best network, and replaces it by scoring more than half. A network without ``positions`` plays no games.
Without ``errors`` or ``match``, that step is left out. The list ``games``, of the line or of a network, names
additional folders of games to learn from. So a line can also compare settings of ``train`` on the same games.

The folder contains everything: the games, the runs, the networks and ``table.md``. The same command continues an
interrupted line, or a line to which networks were added. With ``--gpu``, tools/train_on_gpu.py trains.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from knightadder.cli import EXIT_OK, build_parser, exit_status
from knightadder.digests import content_digest
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.evaluator import BUILT_IN_FILE, load_network
from knightadder.files import locked, reading, write_whole
from knightadder.foreign import NotNegative, converted, parse_json, parse_toml
from knightadder.parallel.executor import add_workers
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.match import command as match_command
from knightadder.workshop.match.match_report import elo_text
from knightadder.workshop.match.statistics.elo import elo_interval

ROOT = Path(__file__).parents[1]

_COLUMNS = (
    "Network",
    "Shape",
    "Positions played",
    "Games",
    "Settings",
    "Losses",
    "Error",
    "Against",
    "W-D-L",
    "Elo (95 %)",
    "Hours",
)
_STEPS = ("datagen", "train", "errors", "match")
Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A network to make: its name, the options of its steps, and additional folders of games."""

    name: str
    games: list[str] = field(default_factory=list)
    datagen: Options = field(default_factory=dict)
    train: Options = field(default_factory=dict)
    errors: Options = field(default_factory=dict)
    match: Options = field(default_factory=dict)


@dataclass(slots=True)
class Made:
    """The state of a network. `score` has the wins, draws and losses of the match, and the Elo difference as text."""

    plan: Plan
    teacher: str  # file of the best network before it
    commit: str  # commit of the sources
    played: NotNegative = 0
    losses: str = ""  # last line of the training
    error: str = ""  # as benchmarks/network_errors.py prints it
    score: tuple[NotNegative, NotNegative, NotNegative, str] | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # duration of each step so far

    @property
    def better(self) -> bool:
        """Whether the network has scored more than half."""
        return self.score is not None and self.score[0] > self.score[2]


class Line:
    """A line of networks in a folder; OptionError if its files cannot be read, or contradict each other."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self._folder, self._arguments = folder, arguments
        self._teacher, self._plans = _read_plans(folder / "line.toml")
        self._list = folder / "networks.json"
        self._made: list[Made] = _read_made(self._list)
        for made, plan in zip(self._made, self._plans, strict=False):
            if not self._finished(made) and made.plan.name == plan.name:
                made.plan = plan  # options may change until the network is finished; each step checks its own state
            if made.plan != plan:
                raise OptionError(
                    f"network {made.plan.name} has different options: add a new network for the changed options"
                )
        if len(self._made) > len(self._plans):
            raise OptionError(f"line.toml no longer has network {self._made[-1].plan.name}")

    def go_on(self) -> None:
        """Do all missing steps; EngineError if a step fails."""
        for number, plan in enumerate(self._plans):
            if number == len(self._made):
                self._made.append(Made(plan, str(self._best()), _commit()))
            made = self._made[number]
            if not self._finished(made):
                self._save()
                self._play(made)
                self._train(made)
                self._compare(made)
                self._match(made)

    def _finished(self, made: Made) -> bool:
        """Return whether all steps of a network are done."""
        plan = made.plan
        if plan.match:
            return made.score is not None
        return self.network(plan.name).exists() and (bool(made.error) or not plan.errors)

    def _best(self) -> Path:
        """Return the file of the best network so far."""
        better = [self.network(made.plan.name) for made in self._made if made.better]
        return better[-1] if better else self._teacher

    def network(self, name: str) -> Path:
        """Return the file of a network."""
        return self._folder / f"network-{name}.nnue"

    def _games(self, name: str) -> Path:
        return self._folder / f"games-{name}"

    def _all_games(self, made: Made) -> list[Path]:
        """Return the folders of games that a network learns from; OptionError if there are none."""
        before = self._made[: self._made.index(made) + 1]
        folders = [self._folder / each for each in made.plan.games]
        folders += [self._games(each.plan.name) for each in before if each.played]
        if not folders:
            raise OptionError(f"network {made.plan.name} has no games to learn from: give games or positions")
        return folders

    def _play(self, made: Made) -> None:
        """Play the games."""
        if "positions" not in made.plan.datagen:
            return
        games = self._games(made.plan.name)
        with self._timed(made, "datagen"):
            words = [str(games), "--eval-file", made.teacher, *_words(made.plan.datagen), *self._workers()]
            _run([sys.executable, "-m", "knightadder", "datagen", *words])
        made.played = _moves(games)
        self._save()

    def _train(self, made: Made) -> None:
        """Train the network, from all games so far."""
        out = self.network(made.plan.name)
        if out.exists():
            return
        games = map(str, self._all_games(made))
        settings = [*games, *_words(made.plan.train), "--out", str(out), "--name", self._origin(made)]
        state = self._folder / f"run-{made.plan.name}"
        with self._timed(made, "train"):
            if self._arguments.gpu:
                # An interrupted training may have written the weights.
                weights = ["--weights", str(out.with_suffix(".npz")), "--force"]
                printed = _run([sys.executable, str(ROOT / "tools" / "train_on_gpu.py"), *settings, *weights])
            else:
                printed = _run([sys.executable, "-m", "knightadder", "train", "--state", str(state), *settings])
        made.losses = next((line for line in reversed(printed.splitlines()) if "validation" in line), "")
        self._save()

    def _origin(self, made: Made) -> str:
        """Return the line of the network's file that tells how the network was made."""
        games = [
            f"{games.name} ({_moves(games)} positions, settings {content_digest(games / 'settings.json')[:8]})"
            for games in self._all_games(made)
        ]
        trainer = "train_on_gpu.py" if self._arguments.gpu else "knightadder train"
        return (
            f"{made.plan.name}: {trainer} {shlex.join(_words(made.plan.train))} from {', '.join(games)}; {made.commit}"
        )

    def _compare(self, made: Made) -> None:
        """Compute the error against a reference engine."""
        if not made.plan.errors or made.error:
            return
        program, games = ROOT / "benchmarks" / "network_errors.py", self._all_games(made)[0]
        with self._timed(made, "errors"):
            network = str(self.network(made.plan.name))
            printed = _run([sys.executable, str(program), str(games), network, *_words(made.plan.errors)])
        made.error = printed.rpartition(": ")[2].split()[0]
        self._save()

    def _match(self, made: Made) -> None:
        """Play the match against the best earlier network."""
        if not made.plan.match:
            return
        name, best = made.plan.name, Path(made.teacher)
        words = [*_words(made.plan.match), *self._workers(), f"--pgn={self._folder / f'match-{name}.pgn'}"]
        for player, file in ((name, self.network(name)), ("best", best)):
            words += ["--engine", f"name={player}", f"option.EvalFile={file.resolve()}"]
        with self._timed(made, "match"):
            _, standings = match_command.play(build_parser().parse_args(["match", *words]), rows=False)
        [score] = standings.scores.values()
        made.score = score.wins, score.draws, score.losses, elo_text(elo_interval(score.counts))
        self._save()

    def _workers(self) -> list[str]:
        """Return the options that say where the work is done."""
        given = self._arguments
        if given.cluster:
            return [f"--cluster={given.cluster}"]
        return [f"--concurrency={given.concurrency}"] if given.concurrency else []

    @contextmanager
    def _timed(self, made: Made, step: str) -> Iterator[None]:
        """Add the duration of a ``with`` block to the duration of a step, even after an error."""
        begun = time.monotonic()
        try:
            yield
        finally:
            made.seconds[step] = made.seconds.get(step, 0.0) + time.monotonic() - begun
            self._save()

    def _save(self) -> None:
        """Write the list and the table."""
        write_whole(self._list, json.dumps([asdict(made) for made in self._made], indent=1).encode() + b"\n")
        write_whole(self._folder / "table.md", self.table().encode())

    def table(self) -> str:
        """Return the table of the networks, in Markdown."""
        rows = [_COLUMNS, ["---"] * len(_COLUMNS), *map(self._row, self._made)]
        return "".join(f"| {' | '.join(row)} |\n" for row in rows)

    def _row(self, made: Made) -> list[str]:
        shape, file = "", self.network(made.plan.name)
        if file.exists():
            network = load_network(file)
            kings = f"x{network.king_buckets}" if network.king_buckets > 1 else ""
            shape = f"(768{kings}{'hm' * network.mirrored} → {network.width})x2 → 1x{network.buckets}"
        wins, draws, losses, elo = made.score or (0, 0, 0, "")
        hours = ", ".join(f"{step} {made.seconds[step] / 3600:.2f}" for step in _STEPS if step in made.seconds)
        games = ", ".join(folder.name for folder in self._all_games(made)) if made.losses else ""
        settings = shlex.join(_words(made.plan.train))
        against, score = (Path(made.teacher).stem, f"{wins}-{draws}-{losses}") if made.score else ("", "")
        learnt = games, settings, made.losses, made.error
        return [made.plan.name, shape, str(made.played), *learnt, against, score, elo, hours]


def _read_plans(file: Path) -> tuple[Path, list[Plan]]:
    """Return the first teacher, and the networks to make; OptionError if the file is wrong."""
    with reading(file):
        text = file.read_bytes()
    try:
        content = parse_toml(text)
        teacher = content.pop("teacher", None)
        networks = content.pop("network", [])
        games = content.pop("games", [])
        shared = {step: dict(content.pop(step, {})) for step in _STEPS}
        if content:
            raise ValueError(f"unknown: {', '.join(content)}")
        plans = [
            Plan(
                str(each.pop("name")),
                converted(each.pop("games", games), list[str]),
                **{step: {**shared[step], **each.pop(step, {})} for step in _STEPS},
                **each,
            )
            for each in networks
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise OptionError(f"{file}: {error}") from None
    names = [plan.name for plan in plans]
    if not names or len({*names, "best"}) <= len(names):
        raise OptionError(f"{file}: each network needs a name of its own, which must not be best")
    return (file.parent / teacher if teacher else BUILT_IN_FILE), plans


def _read_made(file: Path) -> list[Made]:
    """Return the networks in the list of networks made so far; OptionError if the list is damaged."""
    if not file.exists():
        return []
    with reading(file):
        data = file.read_bytes()
    try:
        made: list[Made] = parse_json(data, list[Made])
    except ValueError as error:
        raise OptionError(f"{file} is damaged: {error}") from None
    return made


def _moves(games: Path) -> int:
    """Return the number of moves in a folder of games."""
    parts = Parts(games)
    parts.load()
    return parts.moves


def _words(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line: true for an option without a value, a list for several values."""
    words: list[str] = []
    for name, value in options.items():
        words += [f"--{name}", *map(str, value if isinstance(value, list) else [] if value is True else [value])]
    return words


def _commit() -> str:
    """Return the commit of the sources."""
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "no commit"


def _run(command: list[str]) -> str:
    """Run a command, show and return its output; EngineError if it fails."""
    print(shlex.join(command), flush=True)
    printed = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    if process.returncode:
        raise EngineError(f"{command[3] if command[1] == '-m' else command[1]} ended with status {process.returncode}")
    return "".join(printed)


def run(arguments: argparse.Namespace) -> int:
    """Make the missing networks, print the table, and return the exit status."""
    folder: Path = arguments.folder
    with locked(folder):
        line = Line(folder, arguments)
        line.go_on()
        print(line.table(), end="")
    return EXIT_OK


def main(words: Sequence[str] | None = None) -> int:
    """Make a line of networks as the command line says, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the line, with line.toml")
    parser.add_argument("--gpu", action="store_true", help="train on a graphics card")
    add_workers(parser, help="number of processes that play (default: one for each processor core)")
    arguments = parser.parse_args(words)
    return exit_status("network_line", lambda: run(arguments))


if __name__ == "__main__":
    sys.exit(main())
