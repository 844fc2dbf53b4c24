"""The `knightadder` command: the UCI engine, and commands for the terminal.

Only the subcommands import slow modules, so that the engine starts quickly in a graphical interface.
"""

import contextlib
import errno
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder import __version__
from knightadder.arguments import declare, engine_options, positive
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.engine.limits import BENCH_DEPTH, MAX_PERFT_DEPTH, Limits
from knightadder.engine.loader import check_processor
from knightadder.progress import steps
from knightadder.text import one_line, tell

if TYPE_CHECKING:
    import argparse

    import chess
    from rich.table import Table

    from knightadder.engine.engine import Engine
    from knightadder.engine.info import CurrentMove, Info, Message
    from knightadder.engine.options import Options
    from knightadder.library.results import Line

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as in shells

_EXAMPLES = """\
examples:
  knightadder                              speak UCI on standard input and output, for a chess program
  knightadder xboard                       speak the protocol of XBoard and WinBoard
  knightadder play                         play and analyse on a board in the browser
  knightadder analyse startpos --depth 16
  knightadder analyse "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1" --time 5 --multipv 3
  knightadder annotate games.pgn --nodes 200000
  knightadder puzzles games.pgn --out puzzles.csv
  knightadder report games.pgn --player "Anna Muster" -o anna.html
  knightadder drills repertoire white.pgn --side white    then: knightadder play --drills
  knightadder perft 5 --divide
  knightadder bench                        search fixed positions, and show nodes per second
  knightadder book index games.pgn --out games.sqlite    then: knightadder book ask games.sqlite --moves e4 e5
  knightadder suite wac.epd --time 1       solve the positions of a test suite
  knightadder match --engine name=new --engine name=old dir=../old/src --each nodes=200000 --sprt elo0=0 elo1=5
  knightadder train games --state run      train a network from games made by datagen
  knightadder tablebases download syzygy   fetch the endgame tablebases with up to five men, about 1 GB
  knightadder lichess --token-file token   play on Lichess with a bot account
  knightadder warmup                       compile the core now if its sources have changed
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 done, 1 failed, 2 bad arguments or position, 130 interrupted."""
    _prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in ([], ["uci"]):  # a chess program need not wait for the parser
        return _uci()
    if arguments == ["xboard"]:
        return _xboard()
    if arguments and arguments[0].startswith("genfens "):  # OpenBench passes whole UCI lines
        arguments = arguments[0].split()

    def run() -> int:
        parsed = build_parser().parse_args(arguments)
        check_processor()
        with _messages_apart(parsed):
            status: int = parsed.run(parsed)
        return status

    status = exit_status("knightadder", run)
    if argv is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is exiting and needs no further Ctrl-C
    return status


def exit_status(name: str, run: Callable[[], int]) -> int:
    """Call `run` and return its value, or the exit status of its error (see `main`). The error becomes a line on
    standard error that begins with the program's name.
    """
    said = ""
    try:
        status = run()
        sys.stdout.flush()
        return status
    except EngineError as error:
        said, status = str(error), EXIT_BAD_INPUT if isinstance(error, PositionError | OptionError) else EXIT_FAILED
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        status = EXIT_FAILED
    except OSError as error:  # such as a full disk; errors of the user's files are reported by the commands
        said, status = _current_folder_fault() or _system_fault(error), EXIT_FAILED
    try:
        print(end="", flush=True)
    except OSError as error:
        _drop_output()
        if said and said == _system_fault(error):  # this was the error
            closed = sys.platform == "win32" and error.errno == errno.EINVAL  # Windows reports a closed pipe so
            said = "" if closed else f"cannot write standard output: {error.strerror}"
    if said:
        print(f"{name}: {said}", file=sys.stderr)
    return status


def _system_fault(error: OSError) -> str:
    """Return a message about an error of the system, such as a file name that is too long."""
    return one_line(str(error) if error.filename is None else f"{error.strerror}: {error.filename}")


def _current_folder_fault() -> str:
    """Return a message if the current folder is gone: then no relative name is a file. Otherwise return no text."""
    try:
        os.getcwd()
    except OSError as error:
        return f"cannot use the current folder: {error.strerror}"
    return ""


def _messages_apart(arguments: "argparse.Namespace") -> contextlib.AbstractContextManager[object]:
    """Print on standard error in a ``with`` block if the file of an argument, such as --out, is standard output."""
    from knightadder.files import STANDARD, message_stream

    paths = [value for value in vars(arguments).values() if isinstance(value, Path)]
    # The commands for which - is an output write their data to standard output themselves; for others, it is an input.
    return contextlib.redirect_stdout(message_stream(*(path for path in paths if path != STANDARD)))


def _prepare_streams() -> None:
    """Replace missing standard streams by the null device: a parent process may have closed them. Characters that the
    encoding of an output lacks are shown as escapes, because names and paths may contain any.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Write nothing more to standard output, not even in the final flush."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser() -> "argparse.ArgumentParser":
    """Return the parser, with all subcommands and their arguments."""
    import argparse

    from knightadder.annotate import command as annotate
    from knightadder.books import command as book
    from knightadder.command_parser import CommandParser
    from knightadder.drills import command as drills
    from knightadder.lichess import command as lichess
    from knightadder.puzzles import command as puzzles
    from knightadder.report import command as report
    from knightadder.tablebases import command as tablebases
    from knightadder.web import command as play
    from knightadder.workshop import genfens
    from knightadder.workshop.datagen import command as datagen
    from knightadder.workshop.match import command as match
    from knightadder.workshop.suite import command as suite
    from knightadder.workshop.train import command as train
    from knightadder.workshop.tune import command as tune

    parser: argparse.ArgumentParser = CommandParser(
        prog="knightadder",
        description="A chess engine in plain Python, compiled by Numba. Without arguments it speaks UCI.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    for name, speak, text in (
        ("uci", _uci, "speak UCI (the default without arguments)"),
        ("xboard", _xboard, "speak the protocol of XBoard and WinBoard"),
    ):
        command = commands.add_parser(name, help=text)
        declare(command, "--hash", default=16, help="initial size of the hash table, in MB")
        declare(command, "--threads", default=1, help="initial number of search threads")
        command.set_defaults(run=speak)

    command = commands.add_parser(
        "analyse", aliases=["analyze"], help="analyse a position until a limit is reached or Ctrl-C is pressed"
    )
    command.add_argument("fen", nargs="+", metavar="FEN", help='FEN of the position, or "startpos"')
    declare(command, "--depth", "--time", "--nodes")
    declare(command, "--multipv", default=1)
    declare(command, "--threads", help="number of search threads (default: 1)")
    declare(command, "--hash", help="size of the hash table, in MB (default: 16)")
    declare(command, "--syzygy", "--eval", "--eval-file", "--option", "--chess960")
    command.set_defaults(run=_analyse)

    command = commands.add_parser(
        "perft", help="count all move sequences of a given length, to check the move generator"
    )
    command.add_argument("depth", type=positive, metavar="DEPTH", help="length of the move sequences, in plies")
    command.add_argument("--fen", nargs="+", metavar="FEN", help="FEN of the position (default: the start position)")
    command.add_argument("--divide", action="store_true", help="show a separate count for each first move")
    declare(command, "--chess960")
    command.set_defaults(run=_perft)

    command = commands.add_parser(
        "bench", help="search fixed positions to a fixed depth and show nodes and nodes per second"
    )
    command.add_argument(
        "depth",
        type=positive,
        nargs="?",
        default=BENCH_DEPTH,
        metavar="DEPTH",
        help="depth of each search, in plies (default: %(default)s)",
    )
    command.set_defaults(run=_bench)

    command = commands.add_parser("warmup", help="compile the core if its source code has changed")
    command.set_defaults(run=_warmup)

    play.add_command(commands)
    annotate.add_command(commands)
    puzzles.add_command(commands)
    report.add_command(commands)
    drills.add_command(commands)
    suite.add_command(commands)
    match.add_command(commands)
    tune.add_command(commands)
    datagen.add_command(commands)
    genfens.add_command(commands)
    train.add_command(commands)
    book.add_command(commands)
    tablebases.add_command(commands)
    lichess.add_command(commands)
    return parser


# --- subcommands ---------------------------------------------------------------------------------------------------


def _uci(arguments: "argparse.Namespace | None" = None) -> int:
    from knightadder.protocols import uci_conversation

    return uci_conversation.main(_first_options(arguments)) or EXIT_OK


def _xboard(arguments: "argparse.Namespace | None" = None) -> int:
    from knightadder.protocols import xboard

    return xboard.main(_first_options(arguments)) or EXIT_OK


def _first_options(arguments: "argparse.Namespace | None") -> "Options":
    """Return the engine options set by a command's arguments; OptionError if an argument is refused."""
    from knightadder.engine.options import Options

    options = Options()
    if arguments is not None:
        options.begin_with("Hash", arguments.hash)
        options.begin_with("Threads", arguments.threads)
    return options


def _bench(arguments: "argparse.Namespace") -> int:
    with contextlib.closing(_load(_options())) as engine:
        from knightadder.engine.bench import run_bench

        nodes, seconds = run_bench(engine, arguments.depth, on_line=lambda line: print(line, flush=True))
    print(f"{nodes} nodes {int(nodes / max(seconds, 1e-9))} nps")
    return EXIT_OK


def _perft(arguments: "argparse.Namespace") -> int:
    from concurrent.futures import ThreadPoolExecutor

    from knightadder.library.waiting import result_of

    if arguments.depth > MAX_PERFT_DEPTH:
        raise OptionError(f"perft: expected a depth from 1 to {MAX_PERFT_DEPTH}")
    options = _options(chess960=arguments.chess960)
    with contextlib.closing(_load(options)) as engine, ThreadPoolExecutor(1) as pool:
        _set_position(engine, arguments.fen or ["startpos"])
        start = time.perf_counter()
        try:
            # In a different thread, because compiled code cannot be interrupted.
            counts = result_of(pool.submit(engine.perft, arguments.depth))
        except KeyboardInterrupt:
            engine.stop()
            raise
        seconds = time.perf_counter() - start
    if arguments.divide:
        for move in sorted(counts):
            print(f"{move}: {counts[move]}")
        print()
    nodes = sum(counts.values())
    print(f"{nodes} nodes, {seconds:.3f} s, {nodes / max(seconds, 1e-9) / 1e6:.1f} M nodes/s")
    return EXIT_OK


def _analyse(arguments: "argparse.Namespace") -> int:
    import chess

    options = _options(chess960=arguments.chess960, multipv=arguments.multipv)
    with contextlib.closing(_load(options)) as engine:
        for name, value in engine_options(arguments).items():
            for line in engine.set_option(name, value):
                tell(line)
        _set_position(engine, arguments.fen)
        board = chess.Board(engine.fen(), chess960=arguments.chess960)
        endless = arguments.depth is None and arguments.time is None and arguments.nodes is None
        ended = not any(board.legal_moves)  # a finished game needs no endless search
        limits = Limits(
            depth=1 if ended else arguments.depth,
            nodes=None if ended else arguments.nodes,
            movetime=None if arguments.time is None else max(1, round(arguments.time * 1000)),
            infinite=endless and not ended,
        )
        with _display(board, engine.options.multipv > 1) as show:
            best = _search(engine, limits, board, show)
    print(_verdict(board, best))
    return EXIT_OK


def _warmup(_: "argparse.Namespace") -> int:
    start = time.perf_counter()
    _load(_options()).close()
    from knightadder.core.compilation import core

    file = core.image_file()
    kept = core.read(file) is not None
    where = f"the compiled core is {file}" if kept else f"the compiled core cannot be kept in {file.parent}"
    print(f"Ready after {time.perf_counter() - start:.1f} s; {where}")
    return EXIT_OK


# --- loading the engine --------------------------------------------------------------------------------------------


def _options(chess960: bool = False, multipv: int = 1) -> "Options":
    from knightadder.engine.options import Options

    options = Options()
    options.set("UCI_Chess960", "true" if chess960 else "false")
    options.set("MultiPV", str(multipv))
    return options


def _load(options: "Options") -> "Engine":
    """Load and return the engine, showing the compilation on stderr; EngineError if that fails."""
    from knightadder.engine.loader import load_engine

    with steps() as show:
        engine = load_engine(options, show)
    if engine.problem:
        tell(engine.problem)
    return engine


def _set_position(engine: "Engine", fen: Sequence[str]) -> None:
    """Set up the position of a FEN in one or (without quotes) several arguments; PositionError if it is refused."""
    text = " ".join(fen)
    for note in engine.set_position(None if text == "startpos" else text):
        tell(note)


# --- showing an analysis -------------------------------------------------------------------------------------------


def _search(
    engine: "Engine", limits: Limits, board: "chess.Board", show: "Callable[[Line], None]"
) -> "chess.Move | None":
    """Search, and show each line; return the best move. Ctrl-C stops the search, but not the program."""
    from knightadder.engine.info import Message
    from knightadder.library.stream import Feed, Stream

    feed = Feed(board.fen())

    def report(news: "Info | CurrentMove | Message") -> None:
        if isinstance(news, Message):
            tell(news.text)
        else:
            feed.report(news)

    feed.follow(engine.go(limits, report, feed.finish))
    stream = Stream(feed)
    while True:
        try:
            for line in stream:
                show(line)
            return stream.result().best_move
        except KeyboardInterrupt:
            stream.stop()


@contextlib.contextmanager
def _display(board: "chess.Board", several: bool) -> "Iterator[Callable[[Line], None]]":
    """Yield a function that shows a line: in a table on a terminal, otherwise as a line of text."""
    if not sys.stdout.isatty():
        yield lambda line: print(_text(line, several), flush=True)
        return
    from rich.live import Live

    lines: dict[int, Line] = {}

    def show(line: "Line") -> None:
        lines[line.rank] = line
        live.update(_table(lines, board), refresh=True)

    with Live(auto_refresh=False) as live:
        yield show


def _text(line: "Line", several: bool) -> str:
    rank = f"{line.rank}. " if several else ""
    return (
        f"{rank}depth {line.depth}/{line.seldepth}  {bounded_score(line)} (White's view)  "
        f"{line.nodes} nodes  {line.nps} nps  {line.time:.2f} s  {line.san}"
    )


def _table(lines: "dict[int, Line]", board: "chess.Board") -> "Table":
    """Return a table of the best lines, best first, between the position and the totals of the search."""
    from rich.table import Table
    from rich.text import Text

    newest = max(lines.values(), key=lambda line: line.nodes)
    caption = (
        f"{newest.nodes:,} nodes, {newest.nps / 1e6:.2f} M nodes/s, {newest.time:.1f} s, "
        f"hash {newest.hashfull / 10:.0f} % full; Ctrl-C ends the analysis"
    )
    table = Table(title=board.fen(), caption=caption, title_justify="left", caption_justify="left", expand=True)
    table.add_column("Depth", justify="right", no_wrap=True)
    table.add_column("Score (White)", justify="right", no_wrap=True)
    table.add_column("Line", ratio=1, no_wrap=True, overflow="ellipsis")
    for _, line in sorted(lines.items()):
        table.add_row(f"{line.depth}/{line.seldepth}", bounded_score(line), Text(line.san))
    return table


def bounded_score(line: "Line") -> str:
    """Return the score of a line from White's view, such as ``+0.34`` or ``#-2``; ``>=`` or ``<=`` marks a bound."""
    from knightadder.engine.info import Bound
    from knightadder.library.scores import score_text

    bounds = {Bound.EXACT: "", Bound.LOWER: ">=", Bound.UPPER: "<="}
    if line.score.turn is False:
        bounds = {Bound.EXACT: "", Bound.LOWER: "<=", Bound.UPPER: ">="}
    return bounds[line.bound] + score_text(line.score)


def _verdict(board: "chess.Board", best: "chess.Move | None") -> str:
    if best is None:
        return "Checkmate: there is no move" if board.is_check() else "Stalemate: there is no move"
    return f"Best move: {board.san(best)}"
