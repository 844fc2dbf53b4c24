"""Feeds random and damaged input to the engine and the file readers, and keeps every input that makes them fail.

A finding is a traceback, a crash, or an answer that differs from python-chess's. Each finding is reported once, and its
input is kept in the folder of ``--out``. Engines run in separate processes. Positions and files are read in this
process; if it crashes, the input is in the file ``current`` in that folder.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import io
import logging
import lzma
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn

from knightadder.cli import main as knightadder

_POSITIONS = 1000  # number of positions in a round
_LINES = 200  # number of lines in a conversation with an engine
_FILES = 50  # number of files of games in a round
_SECONDS = 120.0  # seconds until a child process counts as hanging

_TOML = b"""[[engine]]
name = "A"
cmd = "true"
args = "-x 'two words'"
tc = "40/1:30+0.5"
margin = 100
option.Hash = 16
option."Clear Hash" = true
env = {A = "1", B = 2.5}
[[engine]]
name = "B"
cmd = "true"
nodes = 5
usual = true
"""
_BOT = b"""token-file = "token"
variants = ["standard", "chess960"]
speeds = ["blitz"]
games = 2
min-rating = 1500
correspondence_seconds = 1.5
ponder = true
options = {UCI_ShowWDL = false}
"""
_CSV = b"""PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl
1,1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1,b8c8 f5d6,1200,80,90,5,fork,https://lichess.org/1#2
"""
_EPD = b"""# mates
1q2k3/8/8/5N2/8/8/6PP/7K w - - bm Nd6+; id "a;b"; dm 3; hmvc 4; fmvn 20;
r3k2r/8/8/8/8/8/8/R3K2R\tw\tKQkq\t- 3 9 am O-O Ra7; c0 "O-O-O=10, Ke2=3"; c8 "10 3"; c9 "e1c1 e1e2";
4k3/8/8/8/8/8/8/1R2K3 w B - pv b1b8 e8e7; Elo 1500;

4k3/8/8/3pP3/8/8/8/4K3 w KQ d6 bm exd6
"""
_JUNK = (b"1e999", b"9" * 400, b"[" * 3000, b"\x00", b"\xff\xfe", b"\x1b[2J", b"NaN", b"-1", b'"', b"\n\n", b"{", b"}")

_INSERTED = (
    *("1-0", "0-1", "*", "1/2-1/2", " 1. ", " e4 ", "\n\n1. e4 ", '\n[Event "x"]\n', " -- ", "\n% so\n"),
    *("\n\n\n", "{", "}", "(", ")", " 17. ", "\n; so\n", " ± "),
)

_UCI_WORDS = """uci isready ucinewgame stop ponderhit quit go position startpos fen moves e2e4 e7e5 depth 1 2 nodes 50
 movetime 1
 wtime btime 9999999999999 -1 infinite perft setoption name value Hash Threads MultiPV SyzygyPath EvalFile UCI_Elo Skill
 Level true false searchmoves mate ponder eval d bench 0 e1g1 a7a8q 0000 \x00 \x1b 8/8/8/8/8/8/8/8 w KQkq - 1e999"""
_XBOARD_WORDS = """xboard protover 2 new variant normal 3check quit force go playother level 40 5 0 st sd nps time
 otim usermove
 e2e4 e7e5 Nf3 O-O ? ping draw result 1-0 {mate} setboard edit . hint bk undo remove hard easy post nopost analyze exit
 name rating ics computer pause memory cores egtpath option Hash= -1 999999999999 \x00 accepted rejected"""


class Findings:
    """The findings: each kind is kept once, with its input."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.kinds = folder, Counter[str]()
        folder.mkdir(parents=True, exist_ok=True)

    def note(self, data: bytes) -> None:
        """Save an input that this process is about to read, in case the process crashes."""
        (self._folder / "current").write_bytes(data)

    def add(self, kind: str, what: str, data: bytes) -> None:
        """Report a finding, unless a similar finding was reported."""
        self.kinds[what] += 1
        if self.kinds[what] == 1:
            file = self._folder / f"{kind}-{len(self.kinds)}"
            file.write_bytes(data)
            print(f"{kind}: {what}\n  input: {file}", flush=True)


def last_place(text: str) -> str:
    """Return the error of a traceback with the last place in the code, which distinguishes findings."""
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    place = ":".join(places[-1]) if places else "?"
    return f"{place}: {re.sub(r'[0-9]{4,}', 'N', text.strip().splitlines()[-1])[:160]}"


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return data with some bytes changed, removed, repeated, or replaced by troublesome text."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        place = chance.randrange(len(changed) + 1)
        end = min(len(changed), place + chance.choice((1, 1, 4, 16, 200)))
        how = chance.randrange(5)
        if how == 0 and place < len(changed):
            changed[place] ^= 1 << chance.randrange(8)
        elif how == 1:
            del changed[place:end]
        elif how == 2:
            changed[place:place] = changed[place:end]
        elif how == 3:
            changed[place:end] = chance.choice(_JUNK)
        elif changed:
            del changed[place:]
    return bytes(changed)


# --- positions -----------------------------------------------------------------------------------------------------


def random_fen(chance: random.Random) -> str:
    """Return the FEN of a position after random moves, often changed."""
    board = chess.Board.from_chess960_pos(chance.randrange(960)) if chance.random() < 0.2 else chess.Board()
    for _ in range(chance.randrange(80)):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(chance.choice(moves))
    fen = board.fen()
    if chance.random() < 0.7:
        letters = list(fen)
        for _ in range(chance.randrange(1, 4)):
            letters[chance.randrange(len(letters))] = chance.choice("pnbrqkPNBRQK12345678/ wb-abcdefgh0Kx\x00\u0663")
        fen = "".join(letters)
    return fen


def fens(chance: random.Random, findings: Findings) -> int:
    """Compare positions with python-chess. Legal positions must have the same moves; illegal ones raise FenError."""
    import knightadder as library

    for _ in range(_POSITIONS):
        fen = random_fen(chance)
        findings.note(fen.encode(errors="replace"))
        try:
            found = {move.uci() for move in library.legal_moves(fen)}
        except library.PositionError as error:
            if not str(error).isprintable():
                findings.add("fen", "an error of several lines", fen.encode(errors="replace"))
            continue
        except Exception:
            findings.add("fen", last_place(traceback.format_exc()), fen.encode(errors="replace"))
            continue
        with contextlib.suppress(ValueError):
            board = chess.Board(fen)
            board.chess960 = board.has_chess960_castling_rights()
            if board.is_valid() and found != {move.uci() for move in board.legal_moves}:
                findings.add("fen", "legal moves differ from python-chess", fen.encode(errors="replace"))
    return _POSITIONS


# --- protocols -----------------------------------------------------------------------------------------------------


def _conversation(kind: str, words: list[str], chance: random.Random, findings: Findings) -> int:
    lines = []
    for _ in range(_LINES):
        line = " ".join(chance.choices(words, k=chance.choice((1, 1, 2, 3, 5, 9))))
        if line.startswith("position") and chance.random() < 0.7:
            line = f"position fen {random_fen(chance)}"
        if any(word in line for word in ("go", "bench", "perft")):  # limited, because later commands wait for its end
            line = line.replace("9999999999999", "0").replace("50", "1")
        lines.append(line.replace("quit", "isready") if chance.random() < 0.99 else line)
    data = ("\n".join(lines) + "\n").encode(errors="replace") + (b"\xff\xfe\n" if chance.random() < 0.1 else b"")
    _child(kind, [kind] if kind == "xboard" else [], data, data, findings)
    return _LINES


def uci(chance: random.Random, findings: Findings) -> int:
    """Talk to the UCI engine."""
    return _conversation("uci", _UCI_WORDS.split(), chance, findings)


def xboard(chance: random.Random, findings: Findings) -> int:
    """Talk to the XBoard engine."""
    return _conversation("xboard", _XBOARD_WORDS.split(), chance, findings)


def _child(kind: str, arguments: list[str], data: bytes, kept: bytes, findings: Findings) -> None:
    """Run the command with input, and look for a crash or a traceback. `kept` is the input to keep with a finding."""
    command = [sys.executable, "-m", "knightadder", *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        findings.add(kind, "no end", kept)
        return
    if done.returncode < 0:
        findings.add(kind, f"killed by signal {-done.returncode}", kept)
    for text in (done.stdout, done.stderr):
        if b"Traceback" in text:
            findings.add(kind, last_place(text.decode(errors="replace")), kept)


# --- files ---------------------------------------------------------------------------------------------------------


def _pgn(chance: random.Random) -> bytes:
    games = []
    for _ in range(2):
        game = chess.pgn.Game({"White": "A", "Black": "B", "Result": "1-0", "WhiteElo": "1500", "Date": "2020.01.01"})
        node: chess.pgn.GameNode = game
        for _ in range(chance.randrange(1, 30)):
            moves = list(node.board().legal_moves)
            if not moves:
                break
            node = node.add_variation(chance.choice(moves), comment=chance.choice(("", "good", "[%eval 0.3]")))
        games.append(str(game))
    return "\n\n".join(games).encode()


def _run(arguments: list[str]) -> None:
    """Run a command in this process. It must return a status; every other exception is raised."""
    complaints = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(complaints),
        contextlib.suppress(SystemExit),
    ):
        knightadder(arguments)
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", complaints.getvalue()):
        raise AssertionError("control characters in a complaint")


def _seeds(chance: random.Random, folder: Path) -> dict[str, tuple[bytes, Callable[[Path], list[str]]]]:
    """Return, for each kind of file, a valid file and the command that reads it."""
    from knightadder.digests import PACKAGE

    games, index, book = folder / "games.pgn", folder / "games.sqlite", folder / "book.bin"
    if not index.exists():
        games.write_bytes(b"\n\n".join(_pgn(chance) for _ in range(10)))
        _run(["book", "index", str(games), "-o", str(index)])
        _run(["book", "make", str(games), "-o", str(book), "--min-games", "1"])
    table = next((PACKAGE / "data").rglob("KQvK.rtbw"))
    kinds: dict[str, tuple[bytes, Callable[[Path], list[str]]]] = {
        "pgn": (_pgn(chance), lambda file: ["book", "index", str(file), "-o", str(folder / "new.sqlite")]),
        "epd": (_EPD, lambda file: ["suite", str(file), "--depth", "1", "--engine", "cmd=no such program"]),
        "index": (index.read_bytes(), lambda file: ["book", "ask", str(file)]),
        "grown": (index.read_bytes(), lambda file: ["book", "index", str(games), "-o", str(file)]),
        "toml": (_TOML, lambda file: ["match", "--engines", str(file), "--games", "2", "--openings", "plies=x"]),
        "table": (table.read_bytes(), lambda file: ["tablebases", "verify", str(file.parent)]),
    }
    return kinds


def files(chance: random.Random, findings: Findings) -> int:
    """Read damaged files: games, suites, indexes, descriptions of engines, settings, tablebases, puzzles, books."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        seeds, count = _seeds(chance, folder), 0
        for _ in range(20):
            for kind, (data, command) in seeds.items():
                inner = folder / kind
                inner.mkdir(exist_ok=True)
                file = inner / ("KQvK.rtbw" if kind == "table" else f"file.{kind}")
                content = damaged(data, chance)
                file.write_bytes(content)
                findings.note(content)
                try:
                    _run(command(file))
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    findings.add(kind, last_place(traceback.format_exc()), content)
            count += len(seeds) + _readers(chance, findings, folder)
        return count


def _readers(chance: random.Random, findings: Findings, folder: Path) -> int:
    """Read damaged files with the functions behind commands that would search or play; return the number of files."""
    from knightadder.digests import PACKAGE
    from knightadder.engine.errors import EngineError
    from knightadder.engine.evaluator import load_network
    from knightadder.lichess.settings import read_settings
    from knightadder.puzzles.reading import read_puzzles
    from knightadder.runs import Journal
    from knightadder.web.loaded_pgn import load_pgn
    from knightadder.workshop.book_argument import read_book
    from knightadder.workshop.datagen.parts import Parts
    from knightadder.workshop.match.competitors import read_competitors
    from knightadder.workshop.problems import read_problems

    chunks = b'{"number": 0, "games": 1, "moves": 2, "size": 3, "crc": 4, "engine": "a"}\n' * 2
    journal = b'{"format":1}\n{"number":0,"results":[0,1]}\n{"number":1,"results":[0,1]}\n'
    network = next((PACKAGE / "data").rglob("*.nnue")).read_bytes()

    def read_chunks(file: Path) -> None:
        file.rename(folder / "chunks.jsonl")
        Parts(folder).load()

    def read_journal(file: Path) -> None:
        with Journal(file, {"format": 1}) as kept:
            kept.entries(lambda entry: [int(each) for each in entry["results"]])

    def read_openings(file: Path) -> None:
        book = read_book([f"file={file}", "order=sequential"])
        for number in range(len(book)):
            with contextlib.suppress(EngineError):
                book.opening(number)

    games = _pgn(chance)
    readers: dict[str, tuple[bytes, Callable[[Path], object]]] = {
        "csv": (_CSV, read_puzzles),
        "suite": (_EPD, lambda file: read_problems(file, chance.random() < 0.5, chance.random() < 0.5)),
        "epd": (_EPD, read_puzzles),
        "book.epd": (_EPD, read_openings),
        "toml": (_TOML, lambda file: read_competitors([], file=file)),
        "bot": (_BOT, lambda file: read_settings(file, {})),
        "pgn": (games, read_openings),
        "solutions": (games, read_puzzles),
        "pgn.gz": (gzip.compress(games), read_openings),
        "pgn.bz2": (bz2.compress(games), read_openings),
        "pgn.xz": (lzma.compress(games), read_openings),
        "upload": (gzip.compress(games), lambda file: load_pgn(file.read_bytes())),
        "bin": ((folder / "book.bin").read_bytes()[:1600], lambda file: read_book([f"file={file}", "plies=4"])),
        "jsonl": (journal, read_journal),
        "list": (chunks, read_chunks),
        "nnue": (network, load_network),
    }
    for kind, (data, read) in readers.items():
        file, content = folder / f"read.{kind}", damaged(data, chance)
        file.write_bytes(content)
        findings.note(content)
        try:
            read(file)
        except EngineError as error:
            if not str(error).isprintable():
                findings.add(kind, "an error of several lines", content)
        except Exception:
            findings.add(kind, last_place(traceback.format_exc()), content)
    return len(readers)


# --- games ---------------------------------------------------------------------------------------------------------


def _game(chance: random.Random, number: int) -> chess.pgn.Game:
    """Return a random game with variations, comments and glyphs."""
    game = chess.pgn.Game({"Event": f"Game {number}", "White": chance.choice(("Müller, A", "O'Neil", 'the \\"Fox\\"'))})
    node: chess.pgn.GameNode = game
    board = chess.Board()
    for _ in range(chance.randrange(3, 40)):
        moves = list(board.legal_moves)
        if not moves:
            break
        before, move = node, chance.choice(moves)
        node = before.add_variation(move)
        if chance.random() < 0.1 and len(moves) > 1:
            other = chance.choice([each for each in moves if each != move])
            before.add_variation(other, comment=chance.choice(("", "(so)", "1. e4 wins")))
        if chance.random() < 0.3:
            node.comment = chance.choice(("[%clk 0:01:02]", "a [b] c", "long " * 30, "; semi", "1-0 maybe"))
        if chance.random() < 0.1:
            node.nags.add(chance.randrange(1, 20))
        board.push(move)
    game.headers["Result"] = chance.choice(("1-0", "0-1", "1/2-1/2", "*"))
    return game


def _damaged_text(text: str, chance: random.Random) -> str:
    """Return the text of a game with one change, of a kind that programs, editors and mail make."""
    lines = text.split("\n")
    at, line = chance.randrange(len(text)), chance.randrange(len(lines))
    other = sorted((at, chance.randrange(len(text))))
    how = chance.randrange(10)
    if how == 0:
        return text[: other[0]] + text[other[1] :]
    if how == 1:
        return text[:at] + chance.choice('{}()[]"\n\t;%$*!?± x1.-0\ufeff\x00<>') + text[at + chance.randrange(2) :]
    if how == 2:
        return text[:at] + chance.choice(_INSERTED) + text[at:]
    if how == 3:
        return text[:at]
    if how == 4:
        lines.insert(line, chance.choice(("", lines[chance.randrange(len(lines))])))
    elif how == 5:
        del lines[line]
    elif how == 6:
        chance.shuffle(lines)
    elif how == 7:
        return text.replace("\n\n", "\n", 1)
    elif how == 8:
        return text.replace(*chance.choice((("\n", " "), ("\n", "\n  "), (" ", "\t"))))
    else:
        return text.replace(" ", "\n\n", chance.randrange(1, 5))
    return "\n".join(lines)


def _line(game: chess.pgn.Game | None) -> tuple[str, str] | None:
    """Return the moves of a game and its event; None if python-chess found errors in it, or no move."""
    if game is None or game.errors or not game.variations:
        return None
    return " ".join(move.uci() for move in game.mainline_moves()), game.headers["Event"]


def _as_python_chess(text: str) -> list[tuple[str, str]]:
    """Return the valid games of a file, as python-chess reads it."""
    stream = io.StringIO(text)
    found: list[tuple[str, str]] = []
    while True:
        try:
            game = chess.pgn.read_game(stream)
        except (ValueError, AssertionError):  # python-chess does not handle all errors itself
            continue
        if game is None:
            return found
        if line := _line(game):
            found.append(line)


def games(chance: random.Random, findings: Findings) -> int:
    """Read files of three games, of which the middle one is damaged. No game may be lost or invented silently.

    The other two games must be found unchanged, and every letter of the file must belong to a game. If no game is
    reported as broken, the games must be those that were written, or those that python-chess finds in the file or in
    the games' texts.
    """
    from knightadder.pgn.games import BrokenGame, parse, texts_of

    logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)
    for number in range(_FILES):
        written = [_game(chance, 3 * number + each) for each in range(3)]
        first, middle, last = map(str, written)
        text = "\n\n".join((first, _damaged_text(middle, chance), last)) + "\n"
        content = text.encode()
        findings.note(content)
        found, alone, broken = [], [], 0
        try:
            parts = list(texts_of(content))
            for part in parts:
                try:
                    game = parse(part)
                except BrokenGame:
                    broken += 1
                else:
                    found += [line] if (line := _line(game)) else []
                    alone += _as_python_chess(part.text)
        except Exception:
            findings.add("game", last_place(traceback.format_exc()), content)
            continue
        wanted = [_line(game) for game in written]
        if _letters("".join(part.text for part in parts)) != _letters(text):
            findings.add("game", "a part of the file is in no game", content)
        if found[:1] != wanted[:1] or found[-1:] != wanted[-1:]:
            findings.add("game", "a sound game is not found", content)
        if not broken and found not in (wanted, alone, _as_python_chess(text)):
            findings.add("game", "the games differ from python-chess's, and no game is reported as broken", content)
    return _FILES


def _letters(text: str) -> str:
    return "".join(text.replace("\ufeff", "").split())


KINDS = {"fens": fens, "uci": uci, "xboard": xboard, "files": files, "games": games}


def main() -> int:
    """Run the script; the status is 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"kind of input: {', '.join(KINDS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=60, help="duration in seconds (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument(
        "--out", type=Path, default=Path("findings"), help="folder for the inputs of findings (default: findings)"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.kinds) - set(KINDS)
    if unknown:
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    chance, findings = random.Random(arguments.seed), Findings(arguments.out)
    end, counts = time.monotonic() + arguments.seconds, Counter[str]()
    while time.monotonic() < end:
        for kind in arguments.kinds or KINDS:
            counts[kind] += KINDS[kind](chance, findings)
            if time.monotonic() >= end:
                break
    done = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"{done}: {len(findings.kinds)} findings")
    return 1 if findings.kinds else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
