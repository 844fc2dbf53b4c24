"""Every command that takes games, the board and a match's openings find the same games in the same files."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess.pgn
import pytest
from fake_analyst import Here

from knightadder import cli
from knightadder.engine.errors import PositionError
from knightadder.puzzles.finding import Findings
from knightadder.text import counted
from knightadder.web.loaded_pgn import load_pgn
from knightadder.web.messages import MessageError
from knightadder.workshop.opening_book import load_book

DATA = Path(__file__).parents[1] / "data" / "pgn"

TAGS = '[Event "{0}"]\n[White "A"]\n[Black "B"]\n[Result "*"]\n\n'
ONE, TWO = TAGS.format("1") + "1. a3 a6 *\n", TAGS.format("2") + "1. b3 b6 *\n"
BOTH = ["a3 a6", "b3 b6"]

# The sound games of each file, up to a null move; then the number of games that are broken.
FILES: dict[str, tuple[list[str], int]] = {
    "no-blank-lines.pgn": (["a3 a6", "b3 b6", "c3 c6"], 0),
    "no-tags.pgn": (["a3 a6", "b3 b6", "c3 c6"], 0),
    "blank-line-between-tags.pgn": (BOTH, 0),
    "comment-with-blank-line.pgn": (BOTH, 0),
    "null-move.pgn": (["a3"], 0),
    "repeated-tag.pgn": (["e4 e5"], 0),
    "repeated-tag-with-fen.pgn": (["e4 e5 Nf3 Nc6"], 0),
    "space-before-first-tag.pgn": (["e4 e5 Nf3 Nc6 Bb5 a6"], 0),
    "indented.pgn": (["e4 e5 Nf3 Nc6"], 0),
    "result-tag-unknown.pgn": (["e4 e5 Nf3 Nc6"], 0),
    "glyphs.pgn": (["e4 e5 Nf3 Nc6 Bb5 Bd6 O-O Nf6 d3 a5"], 0),
    "blank-line-in-moves.pgn": (["e4 e5 Nf3 Nc6 Bb5 a6", "d4 d5"], 0),
}

# More members of the same kinds.
TEXTS: dict[str, tuple[bytes, list[str], int]] = {
    "tabs": (f"{ONE}\n{TWO}".replace("\n[", "\n\t[").replace(" ", "\t").encode(), BOTH, 0),
    "byte order marks": (b"\xef\xbb\xbf" + ONE.encode() + b"\n\xef\xbb\xbf" + TWO.encode(), BOTH, 0),
    "mark before each tag": (f"{ONE}\n{TWO}".replace("[", "\ufeff[").encode(), BOTH, 0),
    "UTF-16": (f"{ONE}\n{TWO}".encode("utf-16"), BOTH, 0),
    "UTF-16 without a mark": (f"{ONE}\n{TWO}".encode("utf-16-le"), BOTH, 0),
    "UTF-16, big end, without a mark": (f"{ONE}\n{TWO}".encode("utf-16-be"), BOTH, 0),
    "UTF-32": (f"{ONE}\n{TWO}".encode("utf-32"), BOTH, 0),
    "two UTF-16 files": (f"{ONE}\n\ufeff{TWO}".encode("utf-16"), BOTH, 0),
    "Windows-1252": (ONE.encode().replace(b"a3", b"{\x93so\x94} a3") + b"\n" + TWO.encode(), BOTH, 0),
    "CRLF": (f"{ONE}\n{TWO}".replace("\n", "\r\n").encode(), BOTH, 0),
    "CR": (f"{ONE}\n{TWO}".replace("\n", "\r").encode(), BOTH, 0),
    "double spacing": (f"{ONE}\n{TWO}".replace("\n", "\r\r\n").encode(), BOTH, 0),
    "end of a DOS file": (f"{ONE}\n{TWO}\x1a".encode(), BOTH, 0),
    "gzip": (gzip.compress(f"{ONE}\n{TWO}".encode()), BOTH, 0),
    "one line": (f"{ONE} {TWO}".replace("\n", " ").encode(), BOTH, 0),
    "one line without spaces": (f"{ONE}{TWO}".replace("\n", "").encode(), BOTH, 0),
    "result on the next line": (f"{ONE}\n{TWO}".replace(" *\n", "\n*\n").encode(), BOTH, 0),
    "result after an empty line": (f"{ONE}\n{TWO}".replace(" *\n", "\n\n*\n").encode(), BOTH, 0),
    "no result": (f"{ONE}\n{TWO}".replace(" *\n", "\n").encode(), BOTH, 0),
    "no result, no empty line": (f"{ONE}{TWO}".replace(" *\n", "\n").encode(), BOTH, 0),
    "neither tags nor results": (b"1. a3 a6\n\n1. b3 b6\n", BOTH, 0),
    "tagless games on lines": (b"1. a3 a6 *\n1. b3 b6 *\n", BOTH, 0),
    "escaped lines": (f"% [Event\n{ONE}% 1. c3 *\n\n{TWO}".encode(), BOTH, 0),
    "comments after the result": (f"{ONE} {{so}}\n; and so\n\n{TWO}".encode(), BOTH, 0),
    "comments before the tags": (f"{{one}}\n{ONE}\n{{two [Event}}\n\n{TWO}".encode(), BOTH, 0),
    "a comment with tags": (
        ONE.replace("a3", "{so:\n[Event 'x']\n\n[Site \"y\"]\n} a3").encode() + TWO.encode(),
        BOTH,
        0,
    ),
    "nested variations": (
        ONE.replace("a6", "a6 (1... a5 2. h3 (2. h4 h5) 2... h6) (1... b6)").encode() + TWO.encode(),
        BOTH,
        0,
    ),
    "parentheses in comments": (ONE.replace("a6", "{ ( (: } a6 {:) }").encode() + TWO.encode(), BOTH, 0),
    "result in a variation": (ONE.replace("a6", "a6 (1... a5 1-0)").encode() + TWO.encode(), BOTH, 0),
    "figurines and dashes": (
        "1. ♘f3 ♞f6 2. g3 g6 3. ♗g2 ♝g7 4. O-O 0-0 ½-½\n".replace("-", "\N{EN DASH}").encode(),
        ["Nf3 Nf6 g3 g6 Bg2 Bg7 O-O O-O"],
        0,
    ),
    "long algebraic": (b"1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Nf3:e5 Nc6xe5 *\n", ["e4 e5 Nf3 Nc6 Nxe5 Nxe5"], 0),
    "en passant": (b"1. e4 a6 2. e5 d5 3. exd6 e.p. cxd6 *\n", ["e4 a6 e5 d5 exd6 cxd6"], 0),
    "numbers as they come": (b"1.a3 1...a6 2 b3 2. ... b6 3.c3 c6 *\n", ["a3 a6 b3 b6 c3 c6"], 0),
    "quotation marks in tags": (f'[Event "the "great" \\"one\\""]\n[Folder "C:\\"]\n{ONE}{TWO}'.encode(), BOTH, 0),
    "clocks": (ONE.replace("a3", "a3 {[%clk 0:03:00]} 1...").encode() + TWO.encode(), BOTH, 0),
    "unknown start": (f'[FEN ""]\n[Variant "?"]\n{ONE}\n[Variant ""]\n[FEN "-"]\n{TWO}'.encode(), BOTH, 0),
    "impossible castling rights": (b'[FEN "4k3/8/8/8/8/8/8/R3K3 w KQkq e6 0 1"]\n\n1. O-O-O *\n', ["O-O-O"], 0),
    # Broken games are told, and spoil no other one.
    "moves after the result": (f"{ONE.replace('*', '1-0 2. c3')}\n{TWO}".encode(), ["b3 b6"], 1),
    "two results": (f"{ONE.replace(' *', ' 1-0 0-1')}\n{TWO}".encode(), ["b3 b6"], 1),
    "another language": (f"{ONE.replace('a3 a6', 'e4 e5 2. Sf3')}\n{TWO}".encode(), ["b3 b6"], 1),
    "prose": (f"Dear chess friends,\n\n{TWO}".encode(), ["b3 b6"], 1),
    "a move that does not go on": (f"{ONE.replace('a6 *', 'a6')}\n17. c3 c6 *\n\n{TWO}".encode(), ["b3 b6"], 1),
    "a comment without an end": (f"{ONE.replace('a6', '{so')}\n{TWO.replace('b6', '{x} b6')}".encode(), ["b3 b6"], 1),
    "a variation without an end": (f"{ONE.replace('a6', 'a6 (1... a5')}\n{TWO}".encode(), ["b3 b6"], 1),
    "a variation without a beginning": (f"{ONE.replace('a6', 'a6)')}\n{TWO}".encode(), ["b3 b6"], 1),
    "a malformed tag": (f"{ONE.replace('[White', '[White ')}\n{TWO}".replace('"A"]', '"A]', 1).encode(), ["b3 b6"], 1),
    "a tag among the moves": (f"{ONE.replace('a6', '[Site x] a6')}\n{TWO}".encode(), ["b3 b6"], 1),
    "a malformed tag and no moves": (f'[White "A]\n\n{TWO}'.encode(), ["b3 b6"], 1),
    "a tag after the moves": (f'{ONE.replace(" *", "")}[Round "1"]\n*\n\n{TWO}'.encode(), ["b3 b6"], 1),
    "moves before the tags": (b"1. a3 a6\n" + TWO.encode(), BOTH, 0),
    "tags only": (f'[Event "x"]\n[White "y"]\n\n{TWO}'.encode(), ["b3 b6"], 1),
    "no moves": (f"{ONE.replace('1. a3 a6', '')}\n{TWO}".encode(), ["b3 b6"], 1),
}
CASES = [pytest.param((DATA / name).read_bytes(), *found, id=name) for name, found in FILES.items()]
CASES += [pytest.param(*found, id=name) for name, found in TEXTS.items()]
# All commands read games by the same module: the openings and the board go through all cases, the others through these.
SOME = CASES[: len(FILES)] + [
    pytest.param(*TEXTS[name], id=name)
    for name in (
        "UTF-16",
        "Windows-1252",
        "gzip",
        "figurines and dashes",
        "unknown start",
        "moves after the result",
        "tags only",
    )
]


def line(game: chess.pgn.Game) -> str:
    """Write the moves of a game up to a null move."""
    board, sans = game.board(), []
    for move in game.mainline_moves():
        if not move:
            break
        sans.append(board.san_and_push(move))
    return " ".join(sans)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tasks run in this process, and find and evaluate nothing."""

    @contextlib.contextmanager
    def open_pool(task: Callable[[Any], Any], cluster: object, processes: int, **_: object) -> Iterator[Here]:
        yield Here(task)

    monkeypatch.setattr("knightadder.puzzles.command.open_pool", open_pool)
    monkeypatch.setattr("knightadder.puzzles.puzzle_maker.find_puzzles", lambda *_: Findings([]))
    monkeypatch.setattr("knightadder.puzzles.puzzle_maker.Engine", lambda **_: None)
    monkeypatch.setattr("knightadder.annotate.command.open_pool", open_pool)
    monkeypatch.setattr(
        "knightadder.annotate.workers.BlockEvaluator.__call__",
        lambda _, block: json.dumps([[], [None] * len(block), None]).encode(),
    )


def told(printed: str, file: Path, end: str) -> int:
    """Count the games that are told to be left out, each by its place."""
    lines = [line for line in printed.splitlines() if end in line]
    place = re.compile(rf"knightadder: \S*{re.escape(file.name)}, game \d+, line \d+(?: \(.*\))?, {end}: \S.*")
    assert all(place.fullmatch(line) for line in lines)
    return len(lines)


@pytest.mark.parametrize(("content", "lines", "broken"), CASES)
def test_openings_of_a_match(tmp_path: Path, content: bytes, lines: list[str], broken: int) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(content)
    book = load_book(file, order="sequential")
    found, faults = [], []
    for number in range(len(book)):
        try:
            opening = book.opening(number)
        except PositionError as error:
            assert re.match(rf"{re.escape(str(file))}, game \d+, line \d+: \S", str(error)) and "\n" not in str(error)
            faults.append(error)
        else:
            assert "0000" not in opening.moves
            found.append(chess.Board(opening.fen).variation_san([chess.Move.from_uci(name) for name in opening.moves]))
    assert [re.sub(r"\d+\.+ ?", "", text) for text in found] == lines
    assert len(faults) == broken


@pytest.mark.parametrize(("content", "lines", "broken"), CASES)
def test_the_board(content: bytes, lines: list[str], broken: int) -> None:
    count = 0
    found, faults = [], 0
    with contextlib.suppress(MessageError):
        count = len(load_pgn(content).titles)
    for index in range(max(count, len(lines) + broken)):
        try:
            loaded = load_pgn(content, index)
        except MessageError:
            faults += 1
        else:
            # The board shows what is sound of a broken game, and says what is wrong.
            is_broken = loaded.problem is not None or not loaded.tree.game.variations
            faults += is_broken
            found += [] if is_broken else [line(loaded.tree.game)]
    assert found == lines
    assert faults == broken


@pytest.mark.parametrize(("content", "lines", "broken"), SOME)
def test_book_index_and_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, lines: list[str], broken: int
) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(content)
    cli.main(["book", "index", str(file), "-o", str(tmp_path / "games.sqlite")])
    printed = capsys.readouterr()
    counts = printed.out + printed.err.splitlines()[-1] if printed.err else printed.out
    added, known, unfinished = (
        sum(map(int, re.findall(rf"(\d+) {name}", counts)))
        for name in ("games? added", "already there", "without a result")
    )
    assert added + known + unfinished == len(lines)
    assert told(printed.err, file, "is left out") == broken
    cli.main(["book", "make", str(file), "-o", str(tmp_path / "games.bin")])
    assert told(capsys.readouterr().err, file, "is left out") == broken


@pytest.mark.parametrize(("content", "lines", "broken"), SOME)
def test_puzzles(
    tmp_path: Path, pools: None, capsys: pytest.CaptureFixture[str], content: bytes, lines: list[str], broken: int
) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(content)
    assert cli.main(["puzzles", str(file), "--out", str(tmp_path / "out.csv")]) == 0
    printed = capsys.readouterr().err
    assert f"0 puzzles from {counted(len(lines), 'game')}" in printed
    assert told(printed, file, "is left out") == broken


@pytest.mark.parametrize(("content", "lines", "broken"), SOME)
def test_datagen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, lines: list[str], broken: int
) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(content)
    assert cli.main(["datagen", str(tmp_path / "data"), "--from-pgn", str(file)]) == 0
    printed = capsys.readouterr()
    assert f"0 games, 0 moves, {counted(len(lines) + broken, 'game')} left out" in printed.out  # they have no scores
    assert told(printed.err, file, "is left out") == broken


@pytest.mark.parametrize(("content", "lines", "broken"), SOME)
def test_annotate(
    tmp_path: Path,
    pools: None,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    lines: list[str],
    broken: int,
) -> None:
    """Each game is written again, with its moves; python-chess reads them as we do."""
    file, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    file.write_bytes(content)
    cli.main(["annotate", str(file), "--out", str(out)])
    assert told(capsys.readouterr().err, file, "is not annotated") == broken
    if not broken:
        stream = io.StringIO(out.read_text("utf-8"))
        games = list(iter(lambda: chess.pgn.read_game(stream), None))
        assert [line(game) for game in games] == lines
        assert not any(game.errors for game in games)


@pytest.mark.parametrize(
    "command",
    [
        ["annotate", "{file}", "--out", "{out}.pgn"],
        ["book", "index", "{file}", "-o", "{out}.sqlite"],
        ["book", "make", "{file}", "-o", "{out}.bin"],
        ["datagen", "{out}", "--from-pgn", "{file}"],
        ["puzzles", "{file}", "--out", "{out}.csv"],
        ["tune", "wdl", "{file}"],
    ],
)
def test_what_is_left_out_of_a_position_is_said(
    tmp_path: Path, pools: None, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    file, out = tmp_path / "games.pgn", tmp_path / "out"
    file.write_text('[FEN "4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1"]\n\n1. O-O-O *\n')
    cli.main([word.format(file=file, out=out) for word in command])
    assert "games.pgn, game 1, line 1: impossible castling rights Kkq left out\n" in capsys.readouterr().err
