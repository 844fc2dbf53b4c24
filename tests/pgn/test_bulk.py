"""The quick reader finds the same games, moves and faults as the careful one, wherever a block of a file ends."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from random import Random

import chess.pgn
import pytest

from knightadder.engine.errors import OptionError
from knightadder.pgn.bulk import GameBlock, read_blocks
from knightadder.pgn.game_files import decoded
from knightadder.pgn.game_records import GameRecord, read_records
from knightadder.pgn.games import BrokenGame, GameText, PgnGame, moves_of, parse, read_texts, result_of
from knightadder.pgn.splitting import split_lines
from knightadder.rules import POINTS
from tests.random_pgn import random_file

DATA = Path(__file__).parents[1] / "data" / "pgn"
CHUNKS = (50, 300, 2000, 1 << 20)  # bytes that are read at once

TAGS = '[Event "?"]\n[White "{}"]\n\n'
# What the quick reader may be wrong about: a boundary of what it reads, or of what the careful one refuses.
TEXTS = {
    "two games in a line": '1. e4 * [Event "?"]\n\n1. d4 *\n',
    "a tag right after the result": '1. e4 *\n[Event "?"]\n\n1. d4 *\n',
    "no empty line after the result": "1. e4 *\n1. d4 *\n",
    "an empty line of blanks after the result": "1. e4 *\n  \n1. d4 *\n",
    "a comment after the result": "1. e4 * {so}\n\n1. d4 *\n",
    "a comment before the moves": TAGS + "{so} 1. e4 *\n",
    "an empty line after the comment": TAGS + "{so}\n\n1. e4 *\n",
    "an empty line in the moves": TAGS + "1. e4\n\ne5 *\n",
    "an empty line in a comment": TAGS + "1. e4 {so\n\n} e5 *\n",
    "a tag in a comment": TAGS + '1. e4 {so\n[White "x"]\n} e5 *\n\n1. d4 *\n',
    "a comment without an end": TAGS + '1. e4 {so\n\n[White "x"]\n\n1. d4 *\n',
    "a command at the beginning of a line": TAGS + "1. e4 {so\n[%clk 0:00:01]} e5 *\n",
    "an escaped line": TAGS + "1. e4\n% e5\n1... c5 *\n",
    "a percent sign in a comment": TAGS + "1. e4 {\n% so} e5 *\n",
    "a remark": TAGS + "1. e4 ; so\n1... e5 *\n",
    "the same tag twice": '[White "a"]\n[White "b"]\n\n1. e4 *\n',
    "a bad value": '[White "a"b"]\n[Black "a\\b"]\n\n1. e4 *\n',
    "no moves": TAGS + "*\n\n" + TAGS + "1. d4 *\n",
    "only a null move": "1. -- *\n\n1. d4 *\n",
    "a null move in zeros": "1. e4 0000 *\n",
    "castling in zeros": "1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. 0-0 0-0 *\n",
    "move numbers of any kind": "1.e4 1...e5 2 Nf3 2. ... Nc6 17. Bb5 *\n",
    "a result in a variation": "1. e4 (1. d4 1-0) e5 (1... c5 *) 2. Nf3 1-0\n",
    "a fault in a variation": "1. e4 (1. Ke2) e5 *\n",
    "a variation that goes wrong later": "1. e4 (1. d4 d5 (1... e5 2. d5 (2. e5) e4) 2. c4 Kd7 3. c5 Ke8) e5 *\n",
    "a variation before the first move": "(1. e4) 1. d4 *\n",
    "a variation before its first move": "1. d4 ((1. e4)) d5 *\n",
    "an empty variation": "1. d4 () {so} d5 {and so} *\n",
    "a sign before a variation's first move": "1. d4 d5 (1...! e5) 2. c4 (2. $3 e4) *\n",
    "an open variation": "1. d4 (1. e4 *\n",
    "a closing parenthesis too many": "1. d4 (1. e4)) *\n",
    "ambiguous": (
        '[FEN "4k3/8/8/8/8/8/8/R3K2R w - - 0 1"]\n\n1. Rf1 *\n\n[FEN "R3k3/8/8/8/8/8/4K3/7R w - - 0 1"]\n\n1. Rh8 *\n'
    ),
    "a pin makes it unambiguous": '[FEN "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1"]\n\n1. Ne2 *\n',
    "pawns": '[FEN "2n1k3/1P1p4/8/4P3/8/8/8/4K3 b - - 0 1"]\n\n1... d5 2. exd6 Kd7 3. bxc8=N Kc6 *\n',
    "a promotion without a piece": '[FEN "4k3/1P6/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. b8 *\n',
    "a promotion without a sign": '[FEN "4k3/1P6/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. b8R+ *\n',
    "a promotion to a king": '[FEN "4k3/1P6/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. b8=K *\n',
    "a piece that promotes": "1. Nf3=Q *\n",
    "pawns captured without a file": "1. e4 d5 2. xd5 *\n\n1. e4 d5 2. ed5 *\n\n1. e4 d5 2. d5 *\n",
    "too much is said": "1. Ng1f3 e7e5 2. Nf3xe5 *\n\n1. e2e4 *\n",
    "checks that are none": "1. e4+ e5# 2. Nf3++ *\n",
    "signs": "1. e4! e5? 2. Nf3!! Nc6?? 3. Bb5!? a6?! 4. Ba4!!! *\n\n1. e4 ! e5 $1 $139 2. Nf3 $1234 *\n",
    "other signs": "1. e4 += e5 +- 2. Nf3 N *\n",
    "results": "1. e4 1-0\n\n1. e4 0-1\n\n1. e4 1/2-1/2\n\n1. e4 1/2\n\n1. e4 1:0\n\n1. e4 *",
    "a result that goes on": "1. e4 1-01\n\n1. e4 *x\n\n1. e4*\n",
    "two results": "1. e4 1-0 0-1\n",
    "contradicting results": '[Result "0-1"]\n\n1. e4 1-0\n\n[Result "*"]\n\n1. e4 1-0\n',
    "other variants": (
        '[Variant "Standard"]\n\n1. e4 *\n\n[Variant "Atomic"]\n\n1. e4 *\n\n[Variant "no such"]\n\n1. e4 *\n'
    ),
    "Chess960": (
        '[Variant "chess960"]\n[FEN "bnrkrqnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKRQNB w KQkq - 0 1"]\n\n1. a3 a6 *\n'
    ),
    "castling of Chess960": '[FEN "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"]\n\n1. O-O-O O-O *\n',
    "castling through check": '[FEN "4k3/8/8/8/8/5r2/8/4K2R w K - 0 1"]\n\n1. O-O *\n',
    "bad positions": (
        '[FEN "4k3/8/8/8/8/8/8/R3K3 w KQ e6 0 1"]\n\n1. O-O-O *\n\n[FEN "x"]\n\n1. e4 *\n\n[FEN ""]\n\n1. e4 *\n'
    ),
    "white space of other kinds": "1. e4\u00a0e5 *\n\n1. d4\x0bd5 *\n\n1. c4\td5 *\n",
    "lonely carriage returns": "1. e4 {a\rb} e5 *\n\n1. d4\rd5 *\n\n1. c4\r\nc5 *\r\n",
    "marks of byte order": '\ufeff1. e4 *\n\n\ufeff[White "\ufeffa"]\n\n1. e4 {a\n\ufeffb} *\n',
    "clocks": (
        "1. e4 {[%clk 0:01:02]} e5 {[%clk 999:2:3.456]} 2. d4 {[%clk 12]} "
        "d5 {[%clk  0:01:02]} 3. c4 {[%clk\n0:01:02]} *\n"
    ),
    "two clocks": (
        "1. e4 {[%clk 0:01]} {[%clk 0:00:02] [%clk 0:00:03]} (1. d4 {[%clk 0:00:04]}) e5 (1... c5) {[%clk 0:00:05]} *\n"
    ),
    "evaluations": (
        "1. e4 {[%eval 0.29]} e5 {[%eval -1.]} 2. d4 {[%eval .5,20]} "
        "d5 {[%eval #-3]} 3. c4 {[%eval #4,7]} c5 {[%eval 1.234]} 4. a3 {[%eval]} *\n"
    ),
    "an evaluation of mate": "1. f3 e5 2. g4 Qh4# {[%eval #0]} 0-1\n\n1. e4 g5 2. d4 f6 3. Qh5# {[%eval #-0]} 1-0\n",
    "a command that does not end": "1. e4 {[%clk 0:00:0\u00a0 [%eval #2,20]} e5 {[%clk 0:00:0 [%eval 0.5]} *\n",
    "a command with odd white space": "1. e4 {[%clk\u00a00:00:01]} e5 {[%eval\u00a00.5]} 2. d4 {[%csl\u00a0Ga1]} *\n",
    "commands of other names": (
        "1. e4 {[%xlk 0:01:02]} e5 {[%cxk 0:01:02]} 2. d4 {[%clx 0:01:02]} d5 {[%clkx 0:01:02]} "
        "3. c4 {[%xval 0.5]} c5 {[%exal 0.5]} 4. a3 {[%evxl 0.5]} a6 {[%evax 0.5]} 5. h3 {[%evalx 0.5]} *\n"
    ),
    "commands before the first move": "{[%clk 0:00:01] [%eval 1.0]} 1. e4 *\n",
    "UTF-8 in parts": "1. e4 {é} e5 {ü\n} 2. d4 {\n—} *\n",
}


def found_carefully(content: bytes) -> list[GameText]:
    lines = decoded(io.BytesIO(content))
    return [GameText(number, line, text) for number, (line, text, _) in enumerate(split_lines(lines), 1)]


def read_carefully(texts: list[GameText]) -> list[tuple[GameText, PgnGame | BrokenGame]]:
    found: list[tuple[GameText, PgnGame | BrokenGame]] = []
    for text in texts:
        try:
            game = parse(text)
        except BrokenGame as fault:
            found.append((text, fault))
        else:
            found += [(text, game)] if game is not None else []
    return found


def assert_same(record: GameRecord, text: GameText, game: PgnGame) -> None:
    """Compare a game of the quick reader with the careful one's, and with what python-chess finds in its comments."""
    assert record.source == text
    assert record.moves == moves_of(game)
    assert record.uci == [move.uci() for move in record.moves]
    assert (record.result, record.notes, record.board()) == (result_of(game), game.notes, game.board())
    assert record.positions()["result"].tolist() == [2 * POINTS.get(record.result, 0.5)] * record.plies
    assert record.board().chess960 == game.board().chess960
    defaults = chess.pgn.Game().headers
    assert {**defaults, "Result": game.headers["Result"], **record.tags} == {**game.headers}
    nodes = [game, *game.mainline()][: record.plies + 1]
    assert record.comments == [node.comment for node in nodes]
    assert record.nags == [node.nags for node in nodes]
    clocks = [node.clock() for node in nodes[1:] if isinstance(node, chess.pgn.ChildNode)]
    assert record.clocks == [clock if clock is None else pytest.approx(clock, abs=0.001) for clock in clocks]
    evals = [node.eval() for node in nodes[1:]]
    assert record.evals == [None if score is None else score.white() for score in evals]


def check(file: Path) -> int:
    """Read a file by both readers, and return how many games the core has read."""
    content = file.read_bytes()
    texts = found_carefully(content)
    assert list(read_texts(file)) == texts
    records = list(read_records(file))
    wanted = read_carefully(texts)
    assert len(records) == len(wanted)
    for record, (text, game) in zip(records, wanted, strict=True):
        if isinstance(game, BrokenGame):
            assert isinstance(record, tuple)
            assert (record[0], str(record[1])) == (text, str(game))
        else:
            assert isinstance(record, GameRecord)
            assert_same(record, text, game)
    return sum(len(found.games) for found in read_blocks(file) if isinstance(found, GameBlock))


@pytest.fixture(autouse=True)
def quiet() -> None:
    logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)


@pytest.mark.parametrize("seed", range(10))
def test_random_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = Random(seed)
    monkeypatch.setattr("knightadder.pgn.game_files._BLOCK", CHUNKS[seed % len(CHUNKS)])
    file = tmp_path / "games.pgn"
    file.write_bytes(random_file(random, 30))
    assert check(file) >= 10


@pytest.mark.parametrize("chunk", CHUNKS)
def test_files_of_programs_are_read_by_the_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr("knightadder.pgn.game_files._BLOCK", chunk)
    file = tmp_path / "games.pgn"
    file.write_bytes(random_file(Random(1), 40, damage=0, odd=False))
    assert check(file) >= 36  # not those without a move


@pytest.mark.parametrize("name", TEXTS)
def test_texts(tmp_path: Path, name: str) -> None:
    file = tmp_path / "games.pgn"
    for text in (TEXTS[name], f"{TEXTS[name]}\n{TEXTS[name]}"):
        for encoding in ("utf-8", "cp1252", "utf-16"):
            file.write_bytes(text.encode(encoding, "ignore"))
            check(file)


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.pgn")))
def test_cases(name: str) -> None:
    check(DATA / name)


def test_every_place_where_a_file_may_be_cut_off(tmp_path: Path) -> None:
    content = (
        b'[White "a"]\r\n\r\n1. e4 { [%eval 0.1] [%clk 0:00:01.5] } e5 $13 (1... c5!? 2. Nf3) 2. Nf3 1/2-1/2\r\n\r\n'
    )
    file = tmp_path / "games.pgn"
    for end in range(len(content)):
        file.write_bytes(content + content[:end])
        check(file)


def test_a_game_that_is_larger_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightadder.pgn.game_files._BLOCK", 100)
    file = tmp_path / "games.pgn"
    file.write_text("1. e4 *\n\n1. e4 {" + "so " * 10_000 + "} e5 *\n\n1. d4 *\n")
    assert check(file) == 3


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot read .*nothing.pgn: No such file"):
        list(read_records(tmp_path / "nothing.pgn"))
