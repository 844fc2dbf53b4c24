"""Chunks of games: the same from the same numbers, begun as the settings say, each move legal by python-chess."""

from __future__ import annotations

from dataclasses import replace

import chess
import numpy as np
import pytest

from knightadder.core.board import packed
from knightadder.core.board.viriformat import HEADER
from knightadder.engine.errors import OptionError
from knightadder.workshop.datagen import self_player as module
from knightadder.workshop.datagen.reader import EVERYTHING, Reader
from knightadder.workshop.datagen.self_player import GameSettings, SelfPlayer
from knightadder.workshop.opening_book import OpeningBook, numbered

QUICK = GameSettings(nodes=30, megabytes=1, games=8)


@pytest.fixture(scope="module")
def player():
    return SelfPlayer(QUICK)


def _replay(words):
    """Split a chunk into games, and replay them by python-chess; gives their first boards and all records."""
    records = Reader().read(words, EVERYTHING)
    boards, at, count = [], 0, 0
    while at < len(words):
        end = at + HEADER + int(np.argmin(words[at + HEADER :] != 0))
        begin = words[at : at + HEADER].view(packed.PACKED)[0]
        board = chess.Board(packed.record_fen(begin, chess960=True), chess960=True)
        boards.append(board.copy())
        for word in words[at + HEADER : end].tolist():
            record = records[count]
            assert packed.record_fen(record, chess960=True) == board.fen(shredder=True, en_passant="legal")
            assert record["score"] == np.array([word >> 16], np.uint16).view(np.int16)[0]
            assert record["result"] == begin["result"]
            promotion = word >> 12 & 3 if word >> 14 & 3 == 3 else None
            move = chess.Move(word & 63, word >> 6 & 63, None if promotion is None else promotion + chess.KNIGHT)
            assert move in board.legal_moves
            board.push(move)
            count += 1
        at = end + 1
    assert count == len(records)
    return boards, records


def test_a_chunk_depends_on_nothing_but_its_number_and_the_settings(player):
    first, second = player.play_chunk(3), player.play_chunk(4)
    assert player.play_chunk(3).tobytes() == first.tobytes()
    assert SelfPlayer(QUICK).play_chunk(4).tobytes() == second.tobytes()
    assert second.tobytes() != first.tobytes()
    assert SelfPlayer(replace(QUICK, seed=2)).play_chunk(3).tobytes() != first.tobytes()


def test_games_are_whole(player):
    lengths = []
    boards, records = _replay(player.play_chunk(0, lengths.append))
    assert len(boards) == len(lengths) == QUICK.games
    assert sum(lengths) == len(records)
    assert {board.ply() for board in boards} == {8, 9}
    assert len({board.epd() for board in boards}) == QUICK.games


def _home_ranks(board):
    """Say how Black's and White's pieces stand, which have not moved yet."""
    ranks = board.board_fen().split("/")
    return ranks[0], ranks[-1].lower()


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_share_of_the_games_is_double_chess960(share):
    settings = replace(QUICK, nodes=5, random_plies=0, chess960=share, games=50)
    boards, _ = _replay(SelfPlayer(settings).play_chunk(0))
    boards = [board for board in boards if board.ply() == 0]  # the others begin after a random move
    assert len(boards) > 15
    usual = [board for board in boards if _home_ranks(board) == ("rnbqkbnr", "rnbqkbnr")]
    assert len(boards) - len(usual) == pytest.approx(len(boards) * share, abs=7 if 0 < share < 1 else 1)
    others = [board for board in boards if board not in usual]
    for color in range(2):
        assert len({_home_ranks(board)[color] for board in others}) >= len(others) * 2 // 3
    assert sum(_home_ranks(board)[0] == _home_ranks(board)[1] for board in others) <= 1
    for board in others:
        for rank, home in zip(_home_ranks(board), (chess.BB_RANK_8, chess.BB_RANK_1), strict=True):
            start = chess.Board(f"{rank}/pppppppp/8/8/8/8/PPPPPPPP/{rank.upper()} w KQkq - 0 1", chess960=True)
            assert start.chess960_pos() is not None
            assert start.castling_rights & home == board.castling_rights & home


def test_a_game_that_will_not_end_is_a_draw(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 5)
    lengths = []
    _, records = _replay(SelfPlayer(QUICK).play_chunk(0, lengths.append))
    assert set(lengths) == {5}
    assert set(records["result"].tolist()) == {1}


def test_openings_that_are_decided_are_thrown_away():
    book = OpeningBook(numbered(["k7/8/8/8/8/8/8/KQQ5 w - -", chess.STARTING_FEN]), "epd", "two")
    settings = replace(QUICK, games=4, random_plies=0, chess960=0.0, book=book)
    boards, _ = _replay(SelfPlayer(settings).play_chunk(0))
    assert {len(board.piece_map()) for board in boards} == {32}


def test_the_history_of_the_opening_counts(monkeypatch):
    """An opening that has come to the same position three times is over."""
    monkeypatch.setattr(module, "MOST_TRIES", 5)
    book = OpeningBook(numbered(["x\tNf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"]), "tsv", "one")
    player = SelfPlayer(replace(QUICK, games=1, random_plies=0, chess960=0.0, book=book))
    with pytest.raises(OptionError, match=r"^none of 5 openings is suitable for a game: try a different book"):
        player.play_chunk(0)


def test_a_book_without_a_fair_opening(monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIES", 3)
    book = OpeningBook(numbered(["k7/8/8/8/8/8/8/KQQ5 w - -"]), "epd", "won")
    with pytest.raises(OptionError, match=r"^none of 3 openings is suitable for a game: try a different book"):
        SelfPlayer(replace(QUICK, chess960=0.0, random_plies=0, book=book)).play_chunk(0)
