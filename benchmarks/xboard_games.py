"""Games under the real XBoard on a hidden display: every game must be legal, and end by the rules.

XBoard is the referee: it checks the legality of moves and the truth of claims, but does not adjudicate. So the engines
decide how games end. The matches are chosen so that all kinds of ends occur: mates, resignations of a weak level, draws
by the rules, and draws by agreement between two copies of this engine. python-chess checks each game again. This needs
Linux, and Debian's packages xboard, xvfb, polyglot, fairymax, toga2 and gnuchess. Exit status 1 if this engine is at
fault in a game, or a game is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

import knightadder
from knightadder.engine.errors import EngineError
from knightadder.uci.client import resolve_command

OURS, THEIRS = "Knightadder", "Opponent"
CLOCK = ("-tc", "0:10", "-inc", "0.2")
# Without clocks, these games end on any machine. This engine does not resign, so the games end by the rules.
UNTIMED, NO_RESIGNATION = ("-tc", "60", "-inc", "-1", "-mps", "40", "-depth", "4"), "Resign Score=0"
# XBoard checks claims, moves and clocks, but adjudicates nothing. It makes no long pauses and asks no questions.
REFEREE = shlex.split(
    "-mode TwoMachines -testLegality true -testClaims true -autoCallFlag true -checkMates false -materialDraws false "
    "-trivialDraws false -ruleMoves 0 -repeatsToDraw 0 -adjudicateLossThreshold 0 -adjudicateDrawMoves 0 -xponder "
    "-matchPause 1000 -popupExitMessage false -popupMoveErrors false -saveSettingsOnExit false -usePolyglotBook false "
    "-debug"
)
PATIENCE = 300  # seconds per game, including pauses and the first start
DRAWN_ENDINGS = (
    "8/8/4k3/8/3R4/8/4K3/6r1 w - - 90 100",  # the fifty-move rule is near
    "k7/8/8/8/8/8/6q1/7K w - - 0 60",  # after the only move, neither side can mate
    "7k/8/8/8/8/8/2r5/K5R1 w - - 0 70",
    "k7/8/8/8/P7/8/8/K7 w - - 0 50",
)
# How a game may end: a pattern for XBoard's text, and a check with python-chess.
ENDS = {
    "stalemate": (r"stalemate", chess.Board.is_stalemate),
    "mate": (r"mates?\b|checkmate", chess.Board.is_checkmate),
    "repetition": (r"repetition", lambda board: board.is_repetition(3)),
    "fifty moves": (r"fifty|50", chess.Board.is_fifty_moves),
    "insufficient material": (r"insufficient", chess.Board.is_insufficient_material),
    "agreed draw": (r"agreed", lambda board: not board.is_game_over()),
    "resignation": (r"resigns", lambda board: not board.is_game_over()),
    "flag": (r"forfeits on time", lambda board: not board.is_game_over()),
}


@dataclass(frozen=True, slots=True)
class Match:
    """A match: the two engines' commands, our options, the start positions, and additional options of XBoard."""

    title: str
    first: str
    second: str
    options: str = ""
    positions: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def both_ours(self) -> bool:
        """Whether this engine plays itself."""
        return self.first == self.second


@contextmanager
def hidden_display() -> Iterator[str]:
    """Run an X server without a screen, and yield its name."""
    reader, writer = os.pipe()
    command = [*resolve_command("Xvfb"), "-displayfd", str(writer), "-screen", "0", "1280x960x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as server:
        try:
            os.close(writer)
            with os.fdopen(reader) as answer:
                number = answer.readline().strip()
            if not number:
                raise EngineError("Xvfb does not start")
            yield f":{number}"
        finally:
            server.terminate()


def under_polyglot(command: str, folder: Path, name: str, option: str = "") -> str:
    """Return a command that runs a UCI engine under Polyglot for XBoard."""
    settings = folder / f"{name}.ini"
    engine = shlex.join(resolve_command(command))
    settings.write_text(f"[PolyGlot]\nEngineDir = .\nEngineCommand = {engine}\nBook = false\n[Engine]\n{option}\n")
    return shlex.join([*resolve_command("polyglot"), str(settings)])


def matches(folder: Path) -> list[Match]:
    """Return all matches; write the files that Polyglot needs into the folder."""
    ours = shlex.join([sys.executable, "-m", "knightadder"])
    cecp = f"{ours} xboard"
    fairy_max = shlex.join(resolve_command("fairymax"))
    gnu_chess = under_polyglot("gnuchess --uci", folder, "gnuchess", "OwnBook = false")
    toga = under_polyglot("toga2", folder, "toga", "OwnBook = false")
    return [
        Match("against Fairy-Max", cecp, fairy_max),
        Match("pondering, against GNU Chess", cecp, gnu_chess, more=("-ponder",)),
        Match(
            "weak, against Toga II, 20 moves in 10 s", cecp, toga, "Skill Level=0", more=("-inc", "-1", "-mps", "20")
        ),
        Match("drawn endings, against itself", cecp, cecp, "Draw Score=0", DRAWN_ENDINGS),
        Match("peaceful, against itself", cecp, cecp, "Draw Score=1000"),
        Match("Chess960, against itself", cecp, cecp, more=("-variant", "fischerandom")),
        Match("to depth 4, against Fairy-Max", cecp, fairy_max, NO_RESIGNATION, more=UNTIMED),
        Match(
            "to depth 4, against GNU Chess, black first",
            cecp,
            gnu_chess,
            NO_RESIGNATION,
            more=(*UNTIMED, "-firstPlaysBlack", "true"),
        ),
        Match("as UCI engine under Polyglot", under_polyglot(ours, folder, "knightadder"), fairy_max),
    ]


def play(match: Match, games: int, folder: Path, environment: dict[str, str]) -> tuple[list[chess.pgn.Game], list[str]]:
    """Play a match with alternating colours; return its games, and this engine's lines besides moves and analysis.
    `folder` is a new folder for files, and `environment` contains the display.
    """
    pgn, debug, positions = folder / "games.pgn", folder / "debug.txt", folder / "positions.fen"
    command = [*resolve_command("xboard"), *REFEREE, *CLOCK, "-mg", str(games), "-sgf", str(pgn)]
    command += [*match.more, "-nameOfDebugFile", str(debug), "-fcp", match.first, "-scp", match.second]
    command += ["-fn", OURS, "-sn", OURS if match.both_ours else THEIRS]
    if match.options:
        command += ["-firstOptions", match.options]
        command += ["-secondOptions", match.options] if match.both_ours else []
    if match.positions:
        positions.write_text("".join(f"{fen}\n" for fen in match.positions))
        command += ["-lpf", str(positions), "-lpi", "-1", "-rewindIndex", str(len(match.positions))]
    with (folder / "xboard.log").open("w") as log:
        try:
            subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=PATIENCE * games, check=False)
        except subprocess.TimeoutExpired:
            print(f"XBoard was stopped after {PATIENCE * games} s")
    said = "(?:first|second)" if match.both_ours else "first"
    line = re.compile(rf"\d+ <{said} ?: (resign|offer draw|1-0|0-1|1/2-1/2|Error|Illegal|tellusererror)(.*)")
    text = debug.read_text(errors="replace") if debug.exists() else ""
    words = ["".join(found.groups()) for found in map(line.match, text.splitlines()) if found]
    played = []
    if pgn.exists():
        with pgn.open() as file:
            played = list(iter(lambda: chess.pgn.read_game(file), None))
    return played, words


def loser(game: chess.pgn.Game) -> str | None:
    """Return the name of the engine that lost; None after a draw."""
    side = {"1-0": "Black", "0-1": "White"}.get(game.headers["Result"])
    return None if side is None else game.headers[side]


def judge(game: chess.pgn.Game) -> tuple[str, str | None]:
    """Return how a game ended, and a text about what is wrong with the end, or None."""
    last = game.end()
    board, result, reason = last.board(), game.headers["Result"], last.comment
    kind = next((name for name, (pattern, _) in ENDS.items() if re.search(pattern, reason, re.IGNORECASE)), None)
    if game.errors:
        return "broken", f"not legal: {game.errors[0]}"
    if kind is None or result not in ("1-0", "0-1", "1/2-1/2"):
        return "broken", f"ended by {reason or 'nothing'}, result {result}"
    if not ENDS[kind][1](board):
        return kind, f"{reason}, but not so at {board.fen()}"
    if kind == "mate" and board.outcome() != chess.Outcome(chess.Termination.CHECKMATE, result == "1-0"):
        return kind, f"{reason}, but the result is {result}"
    ours = loser(game) == OURS
    if kind == "flag":
        return f"flag of {'ours' if ours else 'the opponent'}", "lost on time" if ours else None
    if kind == "resignation":
        return f"resignation of {'ours' if ours else 'the opponent'}", None
    return kind, None


def show(match: Match, games: list[chess.pgn.Game], words: list[str], wanted: int, ends: Counter[str]) -> int:
    """Print how the games of a match ended, and the faults; count the ends, and return the number of faults."""
    verdicts = [judge(game) for game in games]
    wrong = [f"game {number}: {fault}" for number, (_, fault) in enumerate(verdicts, 1) if fault is not None]
    if len(games) != wanted:
        wrong.append(f"{len(games)} games instead of {wanted}")
    wrong += [word for word in words if word.startswith(("Error", "Illegal", "tellusererror"))]
    counts = Counter(end for end, _ in verdicts)
    ends.update(counts)
    results = Counter("draws" if loser(game) is None else "losses" if loser(game) == OURS else "wins" for game in games)
    score = (
        "" if match.both_ours else "; " + ", ".join(f"{results[name]} {name}" for name in ("wins", "draws", "losses"))
    )
    print(f"{match.title}: {len(games)} games{score}")
    print("  ends: " + ", ".join(f"{end} {count}" for end, count in sorted(counts.items())))
    for word, count in sorted(Counter(words).items()):
        print(f"  {count} times this engine said: {word}")
    for fault in wrong:
        print(f"  WRONG {fault}")
    return len(wrong)


def main() -> int:
    """Play all matches and count their ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--games", type=int, default=3, help="number of games of each of the nine matches (default: %(default)s)"
    )
    parser.add_argument("--only", help="play only matches with this in their title")
    parser.add_argument("--keep", type=Path, help="folder for games and logs (default: they are not kept)")
    parser.add_argument("--cold", action="store_true", help="begin without a compiled core, so that it is compiled")
    arguments = parser.parse_args()
    if arguments.games < 1:
        parser.error("games must be positive")

    ends: Counter[str] = Counter()
    faults = 0
    try:
        with tempfile.TemporaryDirectory() as temporary, hidden_display() as display:
            folder = arguments.keep or Path(temporary)
            # A temporary HOME hides the user's settings of XBoard.
            environment = {**os.environ, "HOME": temporary, "DISPLAY": display}
            if arguments.cold:
                package = Path(temporary, "package")
                source = Path(knightadder.__file__).parent
                shutil.copytree(source, package / "knightadder", ignore=shutil.ignore_patterns("*.image*"))
                environment["PYTHONPATH"] = str(package)
            folder.mkdir(parents=True, exist_ok=True)
            for number, match in enumerate(matches(folder), 1):
                if arguments.only and arguments.only not in match.title:
                    continue
                own = folder / f"{number}-{match.title.replace(' ', '-')}"
                own.mkdir()
                games, words = play(match, arguments.games, own, environment)
                faults += show(match, games, words, arguments.games, ends)
    except (EngineError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print("in all: " + ", ".join(f"{end} {count}" for end, count in ends.most_common()))
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
