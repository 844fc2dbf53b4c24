"""Play games against other engines over UCI and give the score, the Elo difference, and every fault.

Openings come in pairs, each played with both colours. The clock is kept here, around python-chess's ``play``: its own
work is charged to the engines, equally, and a flag falls only when the clock is more than ``--margin`` below zero; the
lowest reading of our clock is printed. A new game is announced, and answered with ``readyok``, before the clock starts.
Games end by mate, stalemate, third repetition, fifty moves, insufficient material, a fault, or, if asked for, when both
engines' scores agree for some moves.

Each game is appended to a PGN file and to a log of JSON lines beside it, and a run that was broken off goes on from
that log when it is started again with the same arguments.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import logging
import math
import random
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn
from uci_process import resolve_command

from knightadder import __version__

START_PATIENCE = 120.0  # seconds to start and be ready: the first start of an engine may compile for long
ANSWER_PATIENCE = 10.0  # seconds beyond its clock before an engine counts as hung
NORMAL_95 = 1.959964


@dataclass(frozen=True, slots=True)
class EngineSetup:
    """How to start an engine: its name in tables and PGN, its command, its UCI options."""

    name: str
    command: list[str]
    options: dict[str, str | int | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Seconds for the game and seconds added after each move."""

    base: float
    increment: float

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read ``base+increment`` in seconds, such as ``2+0.02``."""
        base, _, increment = text.partition("+")
        return cls(float(base), float(increment or 0))


@dataclass(frozen=True, slots=True)
class Rules:
    """What a game is played by.

    Attributes
    ----------
    time_control : TimeControl
        Of both sides.
    margin : float
        Seconds that a clock may be below zero before the flag falls.
    resign : tuple of int, optional
        (centipawns, moves): the game is decided when both engines have given one side that much for so many moves.
    """

    time_control: TimeControl
    margin: float
    resign: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game to play: opponent, number of the opening, and whether Knightadder has White."""

    opponent: str
    opening: int
    white: bool


@dataclass(frozen=True, slots=True)
class Record:
    """A finished game.

    Attributes
    ----------
    fixture : Fixture
        Which game.
    score : float
        Our points: 1, 0.5 or 0.
    reason : str
        How it ended.
    fault : str or None
        "time", "illegal", "crash" or "silent".
    our_fault : bool
        Whether the fault was ours.
    plies : int
        Length without the opening.
    lowest_clock : float
        Lowest reading of our clock after a move, in seconds, before the increment.
    """

    fixture: Fixture
    score: float
    reason: str
    fault: str | None
    our_fault: bool
    plies: int
    lowest_clock: float


class Fault(Exception):
    """An engine lost by not keeping the rules: its kind, as in `Record`, and what happened."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Player:
    """A running engine.

    Parameters
    ----------
    setup : EngineSetup
        How it was started.
    transport : asyncio.SubprocessTransport
        Its process.
    protocol : chess.engine.UciProtocol
        Its connection.
    """

    def __init__(
        self, setup: EngineSetup, transport: asyncio.SubprocessTransport, protocol: chess.engine.UciProtocol
    ) -> None:
        self.setup = setup
        self._transport = transport
        self._protocol = protocol

    @classmethod
    async def start(cls, setup: EngineSetup) -> Player:
        """Start an engine and set its options.

        Parameters
        ----------
        setup : EngineSetup
            What to start.

        Returns
        -------
        Player
            The engine, ready for a game.
        """
        async with asyncio.timeout(START_PATIENCE):
            transport, protocol = await chess.engine.popen_uci(setup.command, stderr=subprocess.DEVNULL)
            await protocol.configure(setup.options)
            await protocol.ping()
        return cls(setup, transport, protocol)

    @property
    def full_name(self) -> str:
        """The name that the engine gives itself."""
        return self._protocol.id.get("name", self.setup.name)

    async def new_game(self, game: object) -> None:
        """Announce a game and wait until the engine is ready, which ``play`` would do on the engine's clock."""
        async with asyncio.timeout(START_PATIENCE):
            self._protocol.send_line("ucinewgame")
            await self._protocol.ping()
        self._protocol.game = game
        self._protocol.first_game = False

    async def move(
        self, board: chess.Board, limit: chess.engine.Limit, game: object, patience: float
    ) -> tuple[chess.Move, chess.engine.InfoDict, float]:
        """Have the engine move.

        Parameters
        ----------
        board : chess.Board
            The position with its history.
        limit : chess.engine.Limit
            The clocks.
        game : object
            As given to :meth:`new_game`.
        patience : float
            Seconds to wait at most.

        Returns
        -------
        tuple of (chess.Move, chess.engine.InfoDict, float)
            The move, what the engine said of it, and the seconds taken.

        Raises
        ------
        Fault
            If there is no legal move from the engine.
        """
        start = time.perf_counter()
        try:
            async with asyncio.timeout(patience):
                result = await self._protocol.play(
                    board, limit, game=game, info=chess.engine.Info.BASIC | chess.engine.Info.SCORE
                )
        except TimeoutError:
            raise Fault("silent", "no bestmove") from None
        except chess.engine.EngineTerminatedError as error:
            raise Fault("crash", str(error)) from error
        except chess.engine.EngineError as error:
            raise Fault("illegal", str(error)) from error
        seconds = time.perf_counter() - start
        if result.move is None or not result.move:
            raise Fault("illegal", "bestmove without a move")
        return result.move, result.info, seconds

    async def close(self, kill: bool = False) -> None:
        """End the engine.

        Parameters
        ----------
        kill : bool
            Don't ask it first.
        """
        try:
            if not kill:
                async with asyncio.timeout(5):
                    await self._protocol.quit()
        except (TimeoutError, chess.engine.EngineError):
            pass
        finally:
            if self._transport.get_returncode() is None:
                self._transport.kill()
            self._transport.close()


def rule_result(board: chess.Board) -> tuple[float, str] | None:
    """Decide a game by the rules of chess.

    Parameters
    ----------
    board : chess.Board
        The position with its history.

    Returns
    -------
    tuple of (float, str) or None
        White's points and the reason; None while the game goes on.
    """
    if board.is_checkmate():
        return (0.0 if board.turn else 1.0), "mate"
    if not any(board.generate_legal_moves()):
        return 0.5, "stalemate"
    if board.is_insufficient_material():
        return 0.5, "insufficient material"
    if board.is_fifty_moves():
        return 0.5, "fifty moves"
    if board.is_repetition(3):
        return 0.5, "repetition"
    return None


def agreed_result(scores: Sequence[int], resign: tuple[int, int]) -> tuple[float, str] | None:
    """Decide a game that both engines see decided.

    Parameters
    ----------
    scores : sequence of int
        White's centipawns after each ply, of both engines in turn.
    resign : tuple of int
        Centipawns and moves.

    Returns
    -------
    tuple of (float, str) or None
        White's points and the reason; None while the game goes on.
    """
    centipawns, moves = resign
    last = scores[-2 * moves :]
    if len(last) == 2 * moves and min(last) >= centipawns:
        return 1.0, "agreed win"
    if len(last) == 2 * moves and max(last) <= -centipawns:
        return 0.0, "agreed win"
    return None


def move_comment(info: chess.engine.InfoDict, turn: chess.Color, seconds: float) -> str:
    """Write score from the mover's view, depth and time of a move as match programs do: ``+0.31/12 0.052s``."""
    score = info.get("score")
    if score is None:
        return f"{seconds:.3f}s"
    own = score.pov(turn)
    mate = own.mate()
    text = f"{'+' if mate > 0 else '-'}M{abs(mate)}" if mate else f"{(own.score() or 0) / 100:+.2f}"
    return f"{text}/{info.get('depth', 0)} {seconds:.3f}s"


async def play_game(
    players: dict[chess.Color, Player], us: chess.Color, fixture: Fixture, start: chess.Board, rules: Rules
) -> tuple[Record, chess.pgn.Game]:
    """Play one game.

    Parameters
    ----------
    players : dict of bool to Player
        The engine of each colour.
    us : bool
        Our colour.
    fixture : Fixture
        Which game it is.
    start : chess.Board
        Position to start from.
    rules : Rules
        Clock and adjudication.

    Returns
    -------
    tuple of (Record, chess.pgn.Game)
        How it ended, and the game itself.
    """
    board = start.copy()
    game = chess.pgn.Game()
    game.setup(board)
    node: chess.pgn.GameNode = game
    control = rules.time_control
    clocks = {chess.WHITE: control.base, chess.BLACK: control.base}
    scores: list[int] = []
    lowest_clock = control.base
    fault: Fault | None = None
    started = datetime.datetime.now()
    result: tuple[float, str] | None = None
    turn = board.turn  # whose fault it is, if there is one
    try:
        for turn in chess.COLORS:
            await players[turn].new_game(game)
        while result is None:
            turn = board.turn
            limit = chess.engine.Limit(
                white_clock=clocks[chess.WHITE],
                black_clock=clocks[chess.BLACK],
                white_inc=control.increment,
                black_inc=control.increment,
            )
            move, info, seconds = await players[turn].move(board, limit, game, clocks[turn] + ANSWER_PATIENCE)
            left = clocks[turn] - seconds
            if turn == us:
                lowest_clock = min(lowest_clock, left)
            node = node.add_variation(move, comment=move_comment(info, turn, seconds))
            board.push(move)
            if left < -rules.margin:
                raise Fault("time", f"flag fell {-left:.3f} s ago")
            clocks[turn] = max(left, 0.0) + control.increment
            score = info.get("score")
            scores.append(score.white().score(mate_score=100_000) if score else 0)
            result = rule_result(board)
            if result is None and rules.resign:
                result = agreed_result(scores, rules.resign)
    except (Fault, TimeoutError, chess.engine.EngineTerminatedError) as error:
        fault = error if isinstance(error, Fault) else Fault("crash", str(error) or "not ready for a game")
        result = (0.0 if turn else 1.0), f"{fault.kind}: {fault}"

    white_points, reason = result
    game.headers["Event"] = "Gauntlet"
    game.headers["Site"] = "?"
    game.headers["Date"] = started.strftime("%Y.%m.%d")
    game.headers["Round"] = f"{fixture.opening + 1}.{1 if fixture.white else 2}"
    game.headers["White"] = players[chess.WHITE].setup.name
    game.headers["Black"] = players[chess.BLACK].setup.name
    game.headers["Result"] = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[white_points]
    game.headers["TimeControl"] = f"{control.base:g}+{control.increment:g}"
    game.headers["Termination"] = reason
    record = Record(
        fixture=fixture,
        score=white_points if us == chess.WHITE else 1.0 - white_points,
        reason=reason,
        fault=fault.kind if fault else None,
        our_fault=fault is not None and turn == us,
        plies=len(board.move_stack),
        lowest_clock=round(lowest_clock, 3),
    )
    return record, game


class Journal:
    """The PGN file and the log of finished games beside it.

    Parameters
    ----------
    pgn : Path
        The PGN file; the log has its name with ``.jsonl`` after it.
    settings : dict
        What makes two runs the same; a log of other settings is refused.
    """

    def __init__(self, pgn: Path, settings: dict[str, Any]) -> None:
        self._pgn = pgn
        self._log = pgn.with_name(pgn.name + ".jsonl")
        self.records: list[Record] = []
        if self._log.exists():
            first, *lines = self._log.read_text(encoding="utf-8").splitlines()
            if json.loads(first) != settings:
                raise SystemExit(f"{self._log} belongs to a run with other settings: {first}")
            for line in lines:
                values = json.loads(line)
                self.records.append(Record(**{**values, "fixture": Fixture(**values["fixture"])}))
        else:
            self._log.write_text(json.dumps(settings) + "\n", encoding="utf-8")

    def add(self, record: Record, game: chess.pgn.Game) -> None:
        """Append a finished game to both files."""
        self.records.append(record)
        with self._pgn.open("a", encoding="utf-8") as file:
            print(game, file=file, end="\n\n")
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record)) + "\n")


async def play_all(
    ours: EngineSetup,
    opponents: dict[str, EngineSetup],
    openings: list[chess.Board],
    rules: Rules,
    journal: Journal,
    concurrency: int,
) -> None:
    """Play what the journal doesn't have yet.

    Parameters
    ----------
    ours : EngineSetup
        Our engine; each worker keeps one running for all its games.
    opponents : dict of str to EngineSetup
        By name; started anew for each game.
    openings : list of chess.Board
        A pair of games from each against each opponent.
    rules : Rules
        Clock and adjudication.
    journal : Journal
        Where finished games go.
    concurrency : int
        Games at once.
    """
    played = {record.fixture for record in journal.records}
    total = len(openings) * len(opponents) * 2

    def missing() -> Iterator[Fixture]:
        for opening in range(len(openings)):
            for opponent in opponents:
                for white in (True, False):
                    fixture = Fixture(opponent, opening, white)
                    if fixture not in played:
                        yield fixture

    fixtures = missing()

    async def work() -> None:
        own: Player | None = None
        try:
            for fixture in fixtures:
                own = own or await Player.start(ours)
                other = await Player.start(opponents[fixture.opponent])
                players = {fixture.white: own, not fixture.white: other}
                try:
                    record, game = await play_game(players, fixture.white, fixture, openings[fixture.opening], rules)
                    journal.add(record, game)
                finally:
                    await other.close()
                if record.fault and record.our_fault:
                    await own.close(kill=True)
                    own = None
                colour = "white" if fixture.white else "black"
                print(
                    f"{len(journal.records)}/{total}  {fixture.opponent}, {colour}: "
                    f"{record.score:g} ({record.reason}, {record.plies} plies)",
                    flush=True,
                )
        finally:
            if own:
                await own.close()

    await asyncio.gather(*(work() for _ in range(concurrency)))


def elo(score: float) -> float:
    """Elo difference of an expected score per game.

    Parameters
    ----------
    score : float
        From 0 to 1.

    Returns
    -------
    float
        Elo, infinite at 0 and 1.
    """
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return -400.0 * math.log10(1.0 / score - 1.0)


def elo_interval(pairs: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Elo difference with its 95 % confidence interval, from games in pairs.

    The games of a pair share an opening, so their sum is one observation (the pentanomial model); an unfinished pair
    counts as it is.

    Parameters
    ----------
    pairs : sequence of sequences of float
        Points of the one or two games of each pair.

    Returns
    -------
    tuple of float
        Elo, lower end, upper end.

    Examples
    --------
    >>> counts = {(0, 0): 10, (0, 0.5): 40, (0.5, 0.5): 100, (1, 0.5): 60, (1, 1): 20}
    >>> pairs = [pair for pair, count in counts.items() for _ in range(count)]
    >>> [round(value, 3) for value in elo_interval(pairs)]
    [30.288, 8.491, 52.326]
    """
    games = sum(len(pair) for pair in pairs)
    mean = sum(sum(pair) for pair in pairs) / games
    variance = sum((sum(pair) - mean * len(pair)) ** 2 for pair in pairs) / games**2
    if not variance:  # one pair, or all the same: nothing is known of the spread
        return elo(mean), -math.inf, math.inf
    # Student's t from the normal quantile (Abramowitz and Stegun 26.7.5).
    z, freedom = NORMAL_95, len(pairs) - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    error = t * math.sqrt(variance)
    return elo(mean), elo(mean - error), elo(mean + error)


def table(label: str, control: str, book: str, opponents: Sequence[str], records: Sequence[Record]) -> str:
    """Write the rows of ``docs/strength-log.md``, one an opponent.

    Parameters
    ----------
    label : str
        Our version.
    control, book : str
        Time control and name of the opening book.
    opponents : sequence of str
        Their names.
    records : sequence of Record
        All games.

    Returns
    -------
    str
        A Markdown table.
    """
    today = datetime.date.today().isoformat()
    rows = [
        "| Date | Version | Time | Book | Opponent | Games | W-D-L | Score | Elo (95 %) | Our faults | Theirs |",
        "|---|---|---|---|---|--:|--:|--:|--:|---|---|",
    ]
    for opponent in opponents:
        games = [record for record in records if record.fixture.opponent == opponent]
        if not games:
            continue
        pairs: dict[int, list[float]] = {}
        for record in games:
            pairs.setdefault(record.fixture.opening, []).append(record.score)
        points = [record.score for record in games]
        middle, low, high = elo_interval(list(pairs.values()))
        faults = []
        for ours in (True, False):
            kinds = [record.fault for record in games if record.fault and record.our_fault is ours]
            faults.append(", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))) or "0")
        rows.append(
            f"| {today} | {label} | {control} | {book} | {opponent} | {len(games)} "
            f"| {points.count(1)}-{points.count(0.5)}-{points.count(0)} | {sum(points) / len(games):.1%} "
            f"| {middle:+.0f} [{low:+.0f}, {high:+.0f}] | {faults[0]} | {faults[1]} |"
        )
    return "\n".join(rows)


def read_opponents(path: Path, only: list[str]) -> dict[str, EngineSetup]:
    """Read the opponents' file.

    Parameters
    ----------
    path : Path
        TOML with an array of tables ``opponents``: name, command, options, and ``usual = false`` for those that play
        only when named.
    only : list of str
        Names to take; empty for the usual ones.

    Returns
    -------
    dict of str to EngineSetup
        By name.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["opponents"]
    unknown = set(only) - {entry["name"] for entry in entries}
    if unknown:
        raise SystemExit(f"no such opponent in {path}: {', '.join(sorted(unknown))}")
    return {
        entry["name"]: EngineSetup(entry["name"], resolve_command(entry["command"]), entry.get("options", {}))
        for entry in entries
        if (entry["name"] in only if only else entry.get("usual", True))
    }


def main() -> int:
    """Play and print the table; exit status 1 if our engine committed a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path, help="opening positions, EPD or FEN a line")
    parser.add_argument("pgn", type=Path, help="PGN file to write or go on with")
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of our engine")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="its UCI option, repeatable"
    )
    parser.add_argument("--opponents", type=Path, default=Path(__file__).with_name("opponents.toml"), help="TOML file")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="an opponent's name, repeatable")
    parser.add_argument(
        "--games", type=int, default=40, help="games against each, an even number (default: %(default)s)"
    )
    parser.add_argument("--tc", default="2+0.02", help="seconds and increment (default: %(default)s)")
    parser.add_argument("--margin", type=int, default=50, help="ms below zero that are no loss (default: %(default)s)")
    parser.add_argument("--resign", nargs=2, type=int, metavar=("CP", "MOVES"), help="decide games both see decided")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of openings (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=2, help="games at once (default: %(default)s)")
    parser.add_argument("--label", default=__version__, help="our version in the table (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.games % 2:
        parser.error("--games must be even: openings are played with both colours")

    # Lines that python-chess doesn't know are no fault; an illegal ponder move is, and stays visible.
    logging.getLogger("chess.engine").setLevel(logging.ERROR)
    opponents = read_opponents(arguments.opponents, arguments.only)
    options: dict[str, str | int | bool | None] = {"Hash": 64}
    options.update(option.split("=", 1) for option in arguments.option)
    ours = EngineSetup("Knightadder", resolve_command(arguments.engine), options)
    lines = [line for line in arguments.book.read_text(encoding="utf-8").splitlines() if line.strip()]
    chosen = random.Random(arguments.seed).sample(lines, arguments.games // 2)
    openings = [chess.Board.from_epd(line)[0] for line in chosen]
    rules = Rules(
        TimeControl.parse(arguments.tc),
        arguments.margin / 1000,
        tuple(arguments.resign) if arguments.resign else None,
    )
    settings = {
        "opponents": list(opponents),
        "book": arguments.book.name,
        "seed": arguments.seed,
        "games": arguments.games,
        "rules": asdict(rules),
        "options": options,
    }
    journal = Journal(arguments.pgn, json.loads(json.dumps(settings)))
    try:
        asyncio.run(play_all(ours, opponents, openings, rules, journal, arguments.concurrency))
    except KeyboardInterrupt:
        print("broken off; the same command goes on from here")
    if not journal.records:
        return 0
    print(table(arguments.label, arguments.tc, arguments.book.stem, list(opponents), journal.records))
    lowest = min(record.lowest_clock for record in journal.records)
    print(f"lowest reading of our clock: {lowest:.3f} s; the flag falls below {-rules.margin:.3f} s")
    return 1 if any(record.fault and record.our_fault for record in journal.records) else 0


if __name__ == "__main__":
    sys.exit(main())
