"""Play matches between UCI engines. Each opening is played twice, with colours exchanged. Two engines play each other.
More engines play a round robin; with --gauntlet, the first engine plays all others. docs/matches.md describes the keys.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from knightadder.arguments import KEY_VALUES, KeyValues, declare, positive
from knightadder.engine.errors import EngineError, OptionError
from knightadder.extras import install_command, needed_by
from knightadder.files import check_outputs
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.runs import going_on, state_beside
from knightadder.text import tell
from knightadder.workshop.book_argument import add_openings, book_file, read_book
from knightadder.workshop.match.speed import REFERENCE
from knightadder.workshop.match.time_control import PATIENCE

if TYPE_CHECKING:
    from knightadder.workshop.match.competitors import Competitor
    from knightadder.workshop.match.journal import Fixture, MatchLog, Record
    from knightadder.workshop.match.referee import DrawRule, ResignRule
    from knightadder.workshop.match.standings import Standings
    from knightadder.workshop.match.statistics.sprt import Sprt
    from knightadder.workshop.opening_book import BookLine, OpeningBook

    # A function that shows the last game, and the place where games are played.
    Show: TypeAlias = Callable[[Record | None, str], None]

_EXAMPLES = """\
examples:
  knightadder match --engine name=new --engine name=old dir=../old/src --each nodes=200000 --sprt elo0=0 elo1=5
  knightadder match --engine --engine name=other cmd="other --uci" --each tc=8+0.08 option.Hash=64 --games 100
  knightadder match --engine name=A option.Hash=16 --engine name=B option.Hash=64 --each depth=8 --games 20 --pgn ab.pgn
  knightadder match --engine --engines opponents.toml --gauntlet --each tc=2+0.02 --games 40 --state gauntlet.jsonl
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``match``."""
    command = commands.add_parser(
        "match",
        help="play matches between UCI engines, and show the result with its error margin",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    engines = command.add_argument_group(
        "engines",
        "keys: name; cmd, args and dir (command, arguments, folder); tc (time control); st (seconds per move);\n"
        "nodes and depth (search limits); margin (milliseconds by which an engine may exceed its clock);\n"
        "option.NAME (UCI option); env.NAME (environment variable)",
    )
    declare(
        engines,
        "--engine",
        action="append",
        default=[],
        help="one engine, described by keys; without the key cmd, it is this program; may be given several times",
    )
    engines.add_argument(
        "--each",
        default=[],
        help="keys that apply to all engines; an engine ignores UCI options that it does not have",
        **KEY_VALUES,
    )
    engines.add_argument(
        "--engines", type=Path, metavar="FILE", help="TOML file with more engines: one table [[engine]] for each engine"
    )
    engines.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="use only this engine of the --engines file; may be given several times",
    )

    games = command.add_argument_group("games")
    length = games.add_mutually_exclusive_group()
    length.add_argument(
        "--games", type=positive, metavar="N", help="number of games for each pair of engines; must be even"
    )
    length.add_argument("--rounds", type=positive, metavar="N", help="number of game pairs for each pair of engines")
    games.add_argument(
        "--gauntlet", action="store_true", help="let the first engine play each other engine, instead of a round robin"
    )
    add_workers(games, default=1, help="number of games at the same time")
    games.add_argument("--affinity", action="store_true", help="reserve separate processor cores for each game")
    games.add_argument(
        "--reference-nps",
        type=positive,
        metavar="NPS",
        help="with --cluster: speed of the machine that the time limits are meant for, in nodes per second of "
        f"`knightadder bench`; slower machines get more time (default: {REFERENCE})",
    )
    add_openings(games)
    declare(games, "--chess960", help="play Chess960")
    games.add_argument(
        "--sprt",
        help="stop when a sequential probability ratio test (SPRT) is decided; its keys are elo0, elo1, alpha, "
        "beta and model",
        **KEY_VALUES,
    )

    rules = command.add_argument_group("adjudication")
    rules.add_argument(
        "--draw",
        help="end a game as a draw when both engines' scores stay near zero; keys: movenumber (move from which "
        "this applies), movecount (number of moves), score (maximum, in centipawns)",
        **KEY_VALUES,
    )
    rules.add_argument(
        "--resign",
        help="end a game as lost when an engine's scores stay very bad; keys: movecount (number of moves), score (in "
        "centipawns), twosided (whether the opponent's scores must agree)",
        **KEY_VALUES,
    )
    rules.add_argument("--max-moves", type=positive, metavar="N", help="end a game as a draw after N full moves")
    declare(
        rules, "--syzygy", metavar="FOLDER", help="end a game when the Syzygy tablebases in this folder know its result"
    )
    rules.add_argument(
        "--patience",
        type=positive,
        default=PATIENCE,
        metavar="SECONDS",
        help="kill an engine that does not answer within this time, in seconds; at its start, it has five times as "
        f"long (default: {PATIENCE})",
    )

    output = command.add_argument_group("output")
    declare(
        output,
        "--state",
        metavar="FILE",
        help="file that stores the finished games, so that the same command can continue an interrupted match "
        "(default: the name of --pgn with .unfinished; this file is removed at the end)",
    )
    declare(output, "--restart")
    output.add_argument("--pgn", type=Path, metavar="FILE", help="append the finished games to this PGN file")
    output.add_argument(
        "--log-engine", type=Path, metavar="FOLDER", help="folder for logs of all lines that the engines read and write"
    )
    output.add_argument(
        "--check-pv",
        choices=("last", "all", "none"),
        default="last",
        help="check the last, all or none of the principal variations of each search (default: last)",
    )
    declare(output, "--interval")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status: 1 if the first engine committed a fault."""
    match, standings = play(arguments)
    return 1 if any(standings.faults[match.competitors[0].name].values()) else 0


def play(arguments: argparse.Namespace, rows: bool = True) -> tuple[Match, Standings]:
    """Play a match, show its progress, and print its results, with rows for the strength log if wanted."""
    from knightadder.workshop.match.journal import MatchLog
    from knightadder.workshop.match.standings import Standings
    from knightadder.workshop.match.statistics.elo import HAS_SCIPY

    outputs = {"--state": arguments.state, "--pgn": arguments.pgn, "--log-engine": arguments.log_engine}
    check_outputs(outputs, filter(None, [book_file(arguments.openings)]), "the openings")
    check_outputs(outputs, filter(None, [arguments.engines]), "the engines")
    match, state = Match(arguments), _state(arguments)
    if not HAS_SCIPY:
        tell(f"SciPy is not installed, so Elo errors and ratings are left out: {install_command('workshop')}")
    with MatchLog(state, match.setup(), match.pairings, arguments.restart) as journal:
        standings = Standings(match.pairings, journal.records)
        try:
            with (
                going_on(lambda: f"The games so far are in {state}" if state and journal.records else ""),
                _display(standings, match, arguments.interval) as show,
            ):
                match.play(journal, standings, arguments, show)
                if arguments.state is None:
                    journal.remove()
        finally:
            if standings.games:
                _print_tables(standings, match)
                if rows:
                    print(_rows(standings, match))
    return match, standings


def _state(arguments: argparse.Namespace) -> Path | None:
    """Return the file of the finished games, by default beside the PGN file; None for no file."""
    state: Path | None = arguments.state
    return state or state_beside(arguments.pgn)


class Match:
    """A match as described by the arguments."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from knightadder.workshop.match.affinity import share_processors
        from knightadder.workshop.match.competitors import read_competitors
        from knightadder.workshop.match.referee import Rules, open_tablebases

        if arguments.only and not arguments.engines:
            raise OptionError("--only chooses engines of the file that --engines names: also give --engines")
        self.competitors: list[Competitor] = read_competitors(
            arguments.engine, arguments.each, arguments.engines, arguments.only
        )
        names = [competitor.name for competitor in self.competitors]
        self.gauntlet: bool = arguments.gauntlet
        firsts = names[:1] if self.gauntlet else names
        self.pairings = [(first, second) for i, first in enumerate(firsts) for second in names[i + 1 :]]
        self.sprt = _read_sprt(arguments.sprt)
        if self.sprt and len(names) > 2:
            raise OptionError(f"--sprt compares two engines, not {len(names)}")
        self.rounds = _read_rounds(arguments, self.sprt)
        self.rules = Rules(
            _read_draw(arguments.draw),
            _read_resign(arguments.resign),
            arguments.max_moves,
            arguments.syzygy,
            arguments.chess960,
            float(arguments.patience),
            arguments.check_pv,
        )
        if arguments.reference_nps and not arguments.cluster:
            raise OptionError("--reference-nps needs --cluster: without a cluster, time limits are not scaled")
        timed = any(each.allowance.timed for each in self.competitors)
        self.reference: int | None = (arguments.reference_nps or REFERENCE) if arguments.cluster and timed else None
        if arguments.log_engine and arguments.cluster:
            raise OptionError("--log-engine does not work with --cluster: the engines run on other machines")
        self._trace_folder: Path | None = arguments.log_engine
        if arguments.affinity and arguments.cluster:
            raise OptionError("--affinity does not work with --cluster: the engines run on other machines")
        threads = max(each.threads for each in self.competitors)
        self._processors = share_processors(arguments.concurrency, threads) if arguments.affinity else []
        if arguments.syzygy:
            open_tablebases(arguments.syzygy)  # so that an error shows now, not in a game
        self.book: OpeningBook = read_book(arguments.openings, arguments.chess960)
        # Without a clock, engines repeat the same game from the same opening, which gives a test no new information.
        if self.sprt and not timed:
            if self.rounds is None:
                self.rounds = len(self.book)
            elif self.rounds > len(self.book):
                raise OptionError(
                    f"{self.book.name} has only {len(self.book)} openings, enough for {2 * len(self.book)} games: "
                    "without a clock, further games would only repeat earlier ones"
                )

    @property
    def total(self) -> int | None:
        """Number of games to play; None if a test decides."""
        return None if self.rounds is None else 2 * self.rounds * len(self.pairings)

    @property
    def limits(self) -> str:
        """The limits of the engines, for tables."""
        limits = " / ".join(dict.fromkeys(str(competitor.allowance) for competitor in self.competitors))
        return f"{limits} at {self.reference} nps" if self.reference else limits

    def setup(self) -> dict[str, object]:
        """Return the header that identifies the match: all settings except the number of games."""
        return {
            "engines": [competitor.identity() for competitor in self.competitors],
            "sources of the engines": [competitor.sources() for competitor in self.competitors],
            "openings": [self.book.name, self.book.digest],
            "rules": asdict(self.rules),
            "gauntlet": self.gauntlet,
            "sprt": asdict(self.sprt) if self.sprt else None,
            "scale": self.reference,
        }

    def fixtures(self) -> Iterator[Fixture]:
        """Yield the games in order: all pairings play each opening, with both colours."""
        from knightadder.workshop.match.journal import Fixture

        for number in count() if self.rounds is None else range(self.rounds):
            for first, second in self.pairings:
                yield Fixture(number, first, second)
                yield Fixture(number, second, first)

    def play(self, journal: MatchLog, standings: Standings, arguments: argparse.Namespace, show: Show) -> None:
        """Play the games that are missing in the journal, until the match is decided."""
        from knightadder.workshop.match.affinity import sharing
        from knightadder.workshop.match.game_text import PgnFile
        from knightadder.workshop.match.player import GamePlayer, Outcome, sources_of

        competitors = {competitor.name: competitor for competitor in self.competitors}
        played = {record.fixture for record in journal.records}
        absent: set[str] = set()

        def missing() -> Iterator[tuple[Fixture, BookLine]]:
            for fixture in self.fixtures():
                if not any(map(absent.isdisjoint, self.pairings)):
                    return  # if a test decides, there is no last fixture
                if fixture not in played and absent.isdisjoint((fixture.white, fixture.black)):
                    yield fixture, self.book.opening(fixture.round)

        def on_game(fixture: Fixture, outcome: Outcome) -> None:
            for note in outcome.notes:
                tell(note)
            if outcome.record is not None:
                with pgn_file.appended(outcome.pgn) as end:
                    journal.add_game(outcome.record, end)
                standings.add(outcome.record)
                show(outcome.record, pool.place())
            elif outcome.absent not in absent:
                absent.add(outcome.absent)
                tell(f"{outcome.error}: the games of this engine are left out")

        show(None, "")
        first_round = islice(self.fixtures(), 2 * len(self.pairings))
        with PgnFile(arguments.pgn, first_round, tell, played, journal.pgn_end) as pgn_file:
            if self.verdict(standings) or (self.total is not None and all(each in played for each in self.fixtures())):
                return
            if self.rounds is not None and self.rounds > len(self.book):
                tell(f"{self.book.name} has only {len(self.book)} openings, so they are repeated")
            self.book.check(len(self.book) if self.rounds is None else self.rounds)
            versions = self._try_out()
            journal.check_versions(versions)
            sources = sources_of(competitors) if arguments.cluster else None
            with contextlib.ExitStack() as stack:
                affinity = stack.enter_context(sharing(self._processors))
                player = GamePlayer(
                    competitors, versions, self.rules, sources, self.reference, self._trace_folder, affinity
                )
                pool = stack.enter_context(open_pool(player, arguments.cluster, arguments.concurrency))
                for (fixture, _), data in pool.run(missing()):
                    on_game(fixture, Outcome.read(data, fixture))
                    if self.verdict(standings):
                        return
        if absent:
            raise EngineError(f"{' and '.join(sorted(absent))} could not be started, so some games could not be played")

    def _try_out(self) -> dict[str, str]:
        """Start each engine once, so that errors show before any game; return the names that the engines report."""
        versions = {}
        for competitor in self.competitors:
            with competitor.start(self.rules.chess960, self.rules.patience, self._trace_folder) as client:
                versions[competitor.name] = client.name
                for remark in client.remarks:
                    tell(f"{competitor.name}: {remark}")
                for name in competitor.common_options:
                    if name.lower() not in client.options:
                        tell(f"{competitor.name} has no option {name}, so this option of --each is left out")
        return versions

    def verdict(self, standings: Standings) -> str | None:
        """Return the result of the test; None while it continues, or if there is no test."""
        return self.sprt.verdict(standings.scores[self.pairings[0]].counts) if self.sprt else None


# --- arguments -----------------------------------------------------------------------------------------------------


def _read_sprt(words: Sequence[str] | None) -> Sprt | None:
    if words is None:
        return None
    with needed_by("--sprt"):
        from knightadder.workshop.match.statistics.sprt import MAX_ELO, MODELS, Sprt

    values = KeyValues.read(words, ("elo0", "elo1", "alpha", "beta", "model"), "--sprt")
    usual = Sprt(0.0, 5.0)
    sprt = Sprt(
        values.number("elo0", usual.elo0, -MAX_ELO),
        values.number("elo1", usual.elo1, -MAX_ELO),
        values.number("alpha", usual.alpha),
        values.number("beta", usual.beta),
        values.choice("model", MODELS, usual.model),
    )
    if sprt.elo1 > MAX_ELO:
        raise OptionError(f"--sprt elo1={sprt.elo1:g}: expected {MAX_ELO} or less")
    if not sprt.elo0 < sprt.elo1:
        raise OptionError(f"--sprt: elo0 must be less than elo1, but {sprt.elo0:g} is not less than {sprt.elo1:g}")
    if not (0 < sprt.alpha < 0.5 and 0 < sprt.beta < 0.5):
        raise OptionError(f"--sprt: alpha and beta must be between 0 and 0.5, not {sprt.alpha:g} and {sprt.beta:g}")
    return sprt


def _read_rounds(arguments: argparse.Namespace, sprt: Sprt | None) -> int | None:
    """Return the number of pairs of each pairing; None if a test decides."""
    if arguments.games is not None:
        if arguments.games % 2:
            raise OptionError(
                f"--games {arguments.games}: expected an even number, because each opening is played with both colours"
            )
        return int(arguments.games) // 2
    if arguments.rounds is not None:
        return int(arguments.rounds)
    if sprt is None:
        raise OptionError("nothing says when the match ends: give --games, --rounds or --sprt")
    return None


def _read_draw(words: Sequence[str] | None) -> DrawRule | None:
    from knightadder.workshop.match.referee import DrawRule

    if words is None:
        return None
    values, usual = KeyValues.read(words, ("movenumber", "movecount", "score"), "--draw"), DrawRule()
    return DrawRule(
        values.whole("movenumber", usual.move_number),
        values.whole("movecount", usual.move_count, 1),
        values.whole("score", usual.score),
    )


def _read_resign(words: Sequence[str] | None) -> ResignRule | None:
    from knightadder.workshop.match.referee import ResignRule

    if words is None:
        return None
    values, usual = KeyValues.read(words, ("movecount", "score", "twosided"), "--resign"), ResignRule()
    return ResignRule(
        values.whole("movecount", usual.move_count, 1),
        values.whole("score", usual.score, 1),
        values.choice("twosided", ("true", "false"), str(usual.two_sided).lower()) == "true",
    )


# --- showing -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _display(standings: Standings, match: Match, interval: int) -> Iterator[Show]:
    """Show faults, warnings and the progress: a live table on a terminal, otherwise a line at intervals."""
    from rich.console import Console
    from rich.live import Live

    from knightadder.workshop.match.match_report import progress_line, tables
    from knightadder.workshop.match.search_info import warning_text

    console = Console()
    complained: set[tuple[str, str]] = set()

    def complain(record: Record) -> None:
        fixture = record.fixture
        game = f"round {fixture.round + 1}, {fixture.white} - {fixture.black}"
        if record.fault:
            console.print(f"{game}: {record.culprit}: {record.reason}", markup=False, highlight=False, soft_wrap=True)
        for detail in record.details:
            if (detail["engine"], detail["kind"]) not in complained:  # later warnings of this kind are only in the log
                complained.add((detail["engine"], detail["kind"]))
                text = warning_text(detail["kind"], detail["line"], detail["position"], match.rules.chess960)
                line = f"{game}: {detail['engine']}: {text}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)

    if not sys.stdout.isatty():

        def show_line(record: Record | None, place: str) -> None:
            if record is None:
                return
            complain(record)
            if standings.games % interval == 0:
                print(f"{progress_line(standings, match.total, match.sprt)}  {place}".rstrip(), flush=True)

        yield show_line
        return

    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show_table(record: Record | None, place: str) -> None:
            if record:
                complain(record)
            total = f" of {match.total}" if match.total else ""
            where = f"{place}; " if place else ""
            caption = f"{standings.games}{total} games, {match.limits}, {match.book.name}; {where}Ctrl-C interrupts"
            live.update(tables(standings, match.sprt, caption), refresh=True)

        yield show_table


def _print_tables(standings: Standings, match: Match) -> None:
    """Print all results of a match, what the figures mean, and whether its test is decided."""
    from rich.console import Console

    from knightadder.workshop.match.match_report import legend, tables

    console = Console() if sys.stdout.isatty() else Console(width=200)
    console.print(tables(standings, match.sprt))
    console.print(legend(standings, match.sprt))
    if match.sprt:
        print(f"The test {match.sprt.hypotheses} {match.verdict(standings) or 'is not decided'}.")


def _rows(standings: Standings, match: Match) -> str:
    from knightadder.workshop.match import match_report

    if len(match.pairings) == 1 and not match.gauntlet:
        row = match_report.change_row(standings, match.sprt, match.limits, match.book.name)
        return f"{match_report.heading(match_report.CHANGE_COLUMNS)}\n{row}"
    rows = match_report.opponent_rows(standings, match.limits, match.book.name)
    return "\n".join([match_report.heading(match_report.OPPONENT_COLUMNS), *rows])
