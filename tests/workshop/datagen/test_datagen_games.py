"""Games for data: the same from the same numbers, and every record what python-chess says of the game."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest

from knightadder.core.board import packed
from knightadder.core.entries import packing
from knightadder.core.entries.datagen import CHECKMATE, DRAWN, KEPT
from knightadder.engine.errors import OptionError, PositionError
from knightadder.engine.game import Game
from knightadder.workshop.datagen import games as module
from knightadder.workshop.datagen.games import Player, Settings
from knightadder.workshop.openings import Book
from knightadder.workshop.selfplay import (
    DRAW,
    LOSS,
    WIN,
    adjudicate,
)

QUICK = Settings(nodes=30, megabytes=1, games=8)


@pytest.fixture(scope="module")
def player():
    return Player(QUICK)


@pytest.fixture
def calls(monkeypatch):
    """Note all moves played: nodes, ply, outcome, and the position before, with its score."""
    noted, real = [], module.play_move

    def play_move(tables, worker, nodes, ply, records, index):
        before = packing.pack_game(worker, ply)
        outcome = real(tables, worker, nodes, ply, records, index)
        noted.append((nodes, ply, outcome, before, int(records["score"][index])))
        return outcome

    monkeypatch.setattr(module, "play_move", play_move)
    return noted


def test_a_chunk_depends_on_nothing_but_its_number_and_the_settings(player):
    first, second = player.play_chunk(3), player.play_chunk(4)
    assert player.play_chunk(3).tobytes() == first.tobytes()
    assert Player(QUICK).play_chunk(4).tobytes() == second.tobytes()
    assert second.tobytes() != first.tobytes()
    assert Player(Settings(nodes=30, megabytes=1, games=8, seed=2)).play_chunk(3).tobytes() != first.tobytes()


def _games(calls):
    """Split the moves into games, each after the search that found its opening good."""
    games = []
    for call in calls:
        if call[0] == QUICK.nodes * module.VERIFY:
            verified = call
        elif not games or (call[1] == verified[1] and call[3].tobytes() == verified[3].tobytes()):
            games.append((verified, [call]))
        else:
            games[-1][1].append(call)
    return games


def test_records_are_those_of_the_games(player, calls):
    lengths = []
    records = player.play_chunk(0, lengths.append)
    games = _games(calls)
    assert len(games) == len(lengths) == QUICK.games
    assert sum(lengths) == len(records) > 100
    start, results = 0, set()
    for length, (verified, moves) in zip(lengths, games, strict=True):
        assert verified[1] in (8, 9)
        assert abs(verified[4]) <= module.LEVEL
        assert [ply for _, ply, *_ in moves] == list(range(verified[1], verified[1] + len(moves)))
        result = _result(moves)
        results.add(result)
        expected = []
        for _, _, outcome, before, score in moves:
            if outcome == KEPT:
                record = before.copy()
                record["score"], record["result"] = score, result - LOSS
                expected.append(record)
        found = records[start : start + length]
        assert found.tobytes() == np.concatenate(expected).tobytes()
        start += length
    assert {WIN, LOSS} <= results


def _result(moves):
    """Say how a game must have ended, and see that it ended no sooner and no later."""
    boards = [chess.Board(packed.record_fen(before[0])) for *_, before, _ in moves]
    *_, (_, ply, outcome, _, _) = moves
    over = outcome in (CHECKMATE, DRAWN)
    scores = [score for *_, score in (moves[:-1] if over else moves)]
    first = moves[0][1]
    for count in range(len(scores)):
        assert adjudicate(scores[:count], first + count) is None
    last = boards[-1]
    assert not any(board.is_game_over() for board in boards[:-1])
    if outcome == CHECKMATE:
        assert last.is_checkmate()
        return LOSS if last.turn else WIN
    if outcome == DRAWN:
        keys = [board.epd() for board in boards]
        threefold = keys.count(keys[-1]) >= 3
        assert last.is_stalemate() or last.is_insufficient_material() or last.is_fifty_moves() or threefold
        return DRAW
    result = adjudicate(scores, ply + 1)
    if result is None:
        assert len(scores) == module.LONGEST
        return DRAW
    return result


def test_records_are_legal_and_quiet(player):
    for record in player.play_chunk(1):
        board = chess.Board(packed.record_fen(record))
        assert board.is_valid()
        assert not board.is_check()
        assert abs(int(record["score"])) < 2000
        assert record["result"] in (0, 1, 2)


def test_positions_of_a_game_follow_each_other(player):
    lengths = []
    records = player.play_chunk(2, lengths.append)
    starts = np.cumsum([0, *lengths])
    for start, end in itertools.pairwise(starts):
        game = records[start:end]
        assert len(set(game["result"].tolist())) <= 1
        plies = game["fullmove"].astype(int) * 2 + (game["stm_ep"] >> 7)
        assert (np.diff(plies) > 0).all()
        men = [int(occupied).bit_count() for occupied in game["occupied"]]
        assert men == sorted(men, reverse=True)


def test_a_game_that_will_not_end_is_a_draw(player, calls, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 5)
    records = player.play_chunk(0)
    assert {len(moves) for _, moves in _games(calls)} == {5}
    assert set(records["result"].tolist()) == {1}


@pytest.fixture
def two_openings():
    book = Book(["rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", chess.STARTING_FEN], "epd", "two")
    return Player(Settings(nodes=30, megabytes=1, games=4, random_plies=0, book=book))


def test_unlevel_openings_are_thrown_away(two_openings, calls):
    two_openings.play_chunk(0)
    verified = [call for call in calls if call[0] == 300]
    queens = {int(call[3]["occupied"][0]).bit_count() for call in verified}
    assert queens == {31, 32}
    for _, moves in _games(calls):
        assert int(moves[0][3]["occupied"][0]).bit_count() == 32
        assert moves[0][1] <= 1


def test_the_history_of_the_opening_counts(monkeypatch):
    """A game whose opening repeats a position twice is drawn when it comes again."""
    there_and_back = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"
    book = Book([f"x\t{there_and_back}"], "tsv", "one")
    player = Player(Settings(nodes=30, megabytes=1, games=1, random_plies=0, book=book))
    drawn = []
    real = Game.drawn.fget
    monkeypatch.setattr(Game, "drawn", property(lambda game: drawn.append(real(game)) or drawn[-1]))

    class EnoughError(Exception):
        pass

    class Chance:
        tries = 0

        def randrange(self, count):
            self.tries += 1
            if self.tries > 4:
                raise EnoughError
            return count - 1

    chance = Chance()
    with pytest.raises(EnoughError):
        while not player._choose_opening(chance):
            pass
        pytest.fail("a drawn opening was taken")
    assert set(drawn) == {True}


def test_a_bad_opening_of_the_book(player):
    bad = Player(Settings(nodes=30, megabytes=1, games=1, book=Book(["nonsense"], "epd", "bad")))
    with pytest.raises(PositionError, match=r"^bad: not a position: nonsense$"):
        bad.play_chunk(0)


def test_a_book_without_a_level_opening(monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIES", 3)
    book = Book(["rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"], "epd", "one")
    player = Player(Settings(nodes=30, megabytes=1, games=1, random_plies=0, book=book))
    with pytest.raises(OptionError, match=r"^none of 3 openings in a row is level$"):
        player.play_chunk(0)
