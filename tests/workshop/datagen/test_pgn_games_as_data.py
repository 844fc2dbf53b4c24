"""Games of PGN files as data: what python-chess plays comes back, with the scores of the comments."""

from __future__ import annotations

import gzip
import io
import random
import sys

import chess
import chess.pgn
import pytest

from knightadder import cli
from knightadder.core.board import packed
from knightadder.workshop.datagen import merge, pgn_games
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.pgn_games import SETTINGS, AddedGames, add_file
from knightadder.workshop.datagen.reader import EVERYTHING, Filter, Reader

NO_SCORE = -32_768

GAME = """\
[Event "test"]
[Result "0-1"]

1. f3 {book} e5 {+0.31/12 0.052s n=20011} 2. g4 {-1.20/8 0.1s} Qh4# {+M1/9 0.1s, Black mates} 0-1
"""


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path / "games")
    with parts.open(SETTINGS):
        yield parts


def _add(parts, text, name="some.pgn"):
    file = parts.folder.parent / name
    file.write_text(text, encoding="utf-8")
    return add_file(parts, file)


def _read(parts, wanted=EVERYTHING):
    (words,) = parts.read()
    return Reader().read(words, wanted)


def test_a_game_begins_with_its_first_score(parts):
    assert _add(parts, GAME) == AddedGames(1, 3, 0)
    records = _read(parts)
    board, fens = chess.Board(), []
    for san in ("f3", "e5", "g4", "Qh4#"):
        fens.append(board.fen(en_passant="legal"))
        board.push_san(san)
    assert [packed.record_fen(record) for record in records] == fens[1:]
    assert records["score"].tolist() == [-31, -120, -31_999]
    assert records["result"].tolist() == [packed.LOSS] * 3


@pytest.mark.parametrize(
    ("comment", "score"),
    [
        ("+0.31/12 0.052s n=20011", 31),
        ("-12.50/3", -1250),
        ("0.00/1 0.1s", 0),
        ("+M7/20 1s", 31_993),  # mate on the seventh ply
        ("-M8/20 1s", -31_992),
        ("M1/20", 31_999),
        ("+999.99/30", 30_000),
        ("book", NO_SCORE),
        ("0.052s", NO_SCORE),
        ("", NO_SCORE),
        ("+0.31", NO_SCORE),
    ],
)
def test_scores(parts, comment, score):
    """White's second move has the comment, Black's the same."""
    text = GAME.replace("+0.31/12", "+0.00/12").replace("-1.20/8 0.1s", comment).replace("+M1/9 0.1s", comment)
    _add(parts, text)
    minus = score if score == NO_SCORE else -score
    assert _read(parts)["score"].tolist() == [0, score, minus]


def _random_pgn(chance, chess960):
    board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
    game = chess.pgn.Game()
    game.setup(board)
    game.headers["Result"] = chance.choice(("1-0", "0-1", "1/2-1/2"))
    node, expected = game, []
    for _ in range(120):
        legal = list(board.legal_moves)
        if not legal:
            break
        rare = [m for m in legal if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
        move = chance.choice(rare or legal)
        pawns = chance.randrange(-500, 500)
        expected.append((board.fen(shredder=True, en_passant="legal"), pawns if board.turn else -pawns, bool(rare)))
        board.push(move)
        node = node.add_variation(move, comment=f"{pawns / 100:+.2f}/9 0.1s")
    return str(game), expected


@pytest.mark.parametrize("chess960", [False, True])
def test_random_games(parts, chess960):
    chance = random.Random(71)
    games = [_random_pgn(chance, chess960) for _ in range(12)]
    expected = [ply for _, plies in games for ply in plies]
    assert _add(parts, "\n\n".join(text for text, _ in games)) == AddedGames(12, len(expected), 0)
    records = _read(parts)
    assert [(packed.record_fen(record, chess960=True), int(record["score"])) for record in records] == [
        (fen, score) for fen, score, _ in expected
    ]
    assert sum(rare for *_, rare in expected) > 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0-1", "*"),
        ('[Event "test"]', '[Termination "time forfeit"]'),
        ("2. g4", "2. g5"),
        ("2. g4", "2. --"),
        ("/", ":"),
    ],
)
def test_games_of_no_use_are_left_out(parts, old, new):
    assert _add(parts, GAME.replace(old, new)) == AddedGames(0, 0, 1)
    assert parts.chunks == {}
    assert _add(parts, GAME + "\n" + GAME.replace(old, new), "more.pgn") == AddedGames(1, 3, 1)


def test_a_compressed_file(parts):
    file = parts.folder.parent / "some.pgn.gz"
    file.write_bytes(gzip.compress(GAME.encode("utf-16")))
    assert add_file(parts, file) == AddedGames(1, 3, 0)


def test_games_from_standard_input(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GAME.encode())))
    assert cli.main(["datagen", "games", "--from-pgn", "-"]) == 0
    assert capsys.readouterr().out.startswith("standard input: 1 game, 3 moves, 0 games left out\n")


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pgn").write_text(GAME)
    (tmp_path / "b.pgn").write_text(GAME + "\n" + GAME.replace("0-1", "*"))
    assert cli.main(["datagen", "games", "--from-pgn", "a.pgn"]) == 0
    assert capsys.readouterr().out == "a.pgn: 1 game, 3 moves, 0 games left out\ngames: 1 chunk, 3 positions\n"
    assert cli.main(["datagen", "games", "--from-pgn", "a.pgn", "b.pgn", "--merge", "data.bin"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "a.pgn: its games are already in the folder",
        "b.pgn: 1 game, 3 moves, 1 game left out",
        "games: 2 chunks, 6 positions",
    ]
    parts = Parts(tmp_path / "games")
    parts.load()
    (words, _) = parts.read()
    assert (tmp_path / "data.bin").stat().st_size == 32 * len(Reader().read(words, Filter()))
    with monkeypatch.context() as patch:
        patch.setattr(merge, "write_shuffled", _interrupt)
        assert cli.main(["datagen", "games", "--merge", "data.bin", "--force"]) == 130
    said = "games has 2 chunks of games; the same command continues from there\n"
    assert said in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(pgn_games, "_convert", _interrupt)
        (tmp_path / "c.pgn").write_text(GAME + "\n" + GAME)
        assert cli.main(["datagen", "games", "--from-pgn", "c.pgn"]) == 130
    assert said in capsys.readouterr().err
    # Games of the engine against itself go elsewhere.
    assert cli.main(["datagen", "games", "--positions", "9"]) == 2
    assert "games belongs to a run with other settings (nodes, hash, seed," in capsys.readouterr().err


def test_restart_forgets_the_games_of_the_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pgn").write_text(GAME)
    with Parts(tmp_path / "games").open({"nodes": 5}):
        pass
    assert cli.main(["datagen", "games", "--from-pgn", "a.pgn"]) == 2
    assert capsys.readouterr().err.endswith(" give --restart to forget it\n")
    for _ in range(2):
        assert cli.main(["datagen", "games", "--from-pgn", "a.pgn", "--restart"]) == 0
        assert capsys.readouterr().out.endswith("games: 1 chunk, 3 positions\n")


def _interrupt(*_):
    raise KeyboardInterrupt
