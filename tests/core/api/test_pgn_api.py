"""The core's reader of games: python-chess finds the same in what it has written, and no damage makes it go astray."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import chess.pgn
import chess.polyglot
import pytest

from knightadder.pgn.bulk import GameBlock, read_blocks
from knightadder.pgn.game_records import GameRecord
from tests.random_pgn import random_file


def blocks(file: Path, content: bytes) -> list[GameBlock]:
    file.write_bytes(content)
    return [found for found in read_blocks(file) if isinstance(found, GameBlock)]


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_games_of_python_chess(tmp_path: Path) -> None:
    content = random_file(Random(2), 5, damage=0, odd=False)
    stream = io.StringIO(content.decode())
    games = [game for game in iter(lambda: chess.pgn.read_game(stream), None) if game.next()]
    found = blocks(tmp_path / "games.pgn", content)
    records = [GameRecord(block, index, "") for block in found for index in range(len(block.games))]
    assert len(records) == len(games)
    for record, game in zip(records, games, strict=True):
        nodes = list(game.mainline())
        assert record.moves == [node.move for node in nodes]
        assert record.clocks == [node.clock() for node in nodes]
        assert record.nags == [game.nags, *(node.nags for node in nodes)]
        assert record.positions()["fullmove"].tolist() == [node.parent.board().fullmove_number for node in nodes]


def test_keys_are_polyglots(tmp_path: Path) -> None:
    content = random_file(Random(3), 40, damage=0, odd=False)
    for block in blocks(tmp_path / "games.pgn", content):
        for index in range(len(block.games)):
            record = GameRecord(block, index, "")
            wanted = []
            for board, _ in zip(record.boards(), record.moves, strict=False):
                board.ep_square = board.ep_square if board.has_legal_en_passant() else None
                wanted.append(chess.polyglot.zobrist_hash(board))
            assert record.keys().tolist() == wanted


@pytest.mark.boundscheck
def test_damaged_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All games but the damaged ones are found, wherever a block ends; bounds are checked in a second run."""
    for seed in range(8):
        monkeypatch.setattr("knightadder.pgn.game_files._BLOCK", (60, 1 << 20)[seed % 2])
        for block in blocks(tmp_path / "games.pgn", random_file(Random(seed), 20, damage=0.7)):
            assert (block.games["start"] < block.games["end"]).all()
            for index in range(len(block.games)):
                assert GameRecord(block, index, "").positions().shape == (block.games[index]["moves"],)


@pytest.mark.boundscheck
@pytest.mark.parametrize(
    "text", ["", "1", "1.", "1. e", "1. e4 {[%clk ", "1. e4 {[%eval #", "[", '[A "', '[FEN "8', "1. O-O-"]
)
def test_the_end_of_a_text(tmp_path: Path, text: str) -> None:
    assert not blocks(tmp_path / "games.pgn", text.encode())


@pytest.mark.boundscheck
@pytest.mark.parametrize("part", ["{}", "$1 ", "! ", "{[%clk 1:2:3]}"])
def test_the_densest_texts_fit(tmp_path: Path, part: str) -> None:
    [block] = blocks(tmp_path / "games.pgn", f"1. e4 {part * 10_000} *".encode())
    assert len(block.notes) == 10_000
    [block] = blocks(tmp_path / "games.pgn", b'[A""]\n' * 10_000 + b"1. e4 *")
    assert len(block.tags) == 10_000
    found = blocks(tmp_path / "games.pgn", b"1. e4 *\n\n" * 10_000)
    assert sum(len(block.games) for block in found) == 10_000
