"""Play by endgame tablebases: ranks and scores of moves, lines to mate, and what an engine makes of it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.syzygy
import numpy as np
import pytest
from searcher import TIMEOUT, Searcher

from knightadder.core.tables import new_tables
from knightadder.engine import running_search
from knightadder.engine.core_scores import TABLEBASE_WIN as WIN
from knightadder.engine.engine import Engine
from knightadder.engine.game import Game
from knightadder.engine.info import Message, Score
from knightadder.engine.limits import Limits
from knightadder.engine.notation import to_uci
from knightadder.engine.tablebases.play import Ranking, play_out, rank_moves
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases

ROOK_ENDING = "8/8/8/4k3/8/8/8/R3K3 w - - {} 90"
PAWN_ENDING = "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1"
WON_PAWN = "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"
FOUR_MEN = "8/8/8/4k3/8/8/3r4/KQ6 w - - 0 1"  # the queen wins the rook


@pytest.fixture(scope="module")
def tables() -> np.record:
    return new_tables()


@pytest.fixture(scope="module")
def tablebases(tables: np.record) -> Tablebases:
    return Tablebases(tables)


def ranking(tablebases: Tablebases, tables: np.record, fen: str, *moves: str, fifty_moves: bool = True) -> Ranking:
    game = Game(tables)
    game.set_up(fen, moves)
    found = rank_moves(tablebases, game, game.legal_moves(), fifty_moves)
    assert found is not None
    return found


def named(found: Ranking) -> dict[str, int]:
    return {to_uci(move): score for move, score in zip(found.moves, found.scores, strict=True)}


def values_by_python_chess(fen: str) -> dict[str, int]:
    board = chess.Board(fen)
    values = {}
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        for move in board.legal_moves:
            board.push(move)
            values[move.uci()] = -reference.probe_wdl(board)
            board.pop()
    return values


@pytest.mark.parametrize("fen", [PAWN_ENDING, WON_PAWN, "8/8/8/3qk3/8/4K3/8/8 w - - 0 1"])
def test_moves_rank_and_score_as_their_values_are(tablebases: Tablebases, tables: np.record, fen: str) -> None:
    found = ranking(tablebases, tables, fen)
    values = values_by_python_chess(fen)
    assert named(found) == {name: WIN * value // 2 for name, value in values.items()}
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert len(set(found.ranks)) == len(set(values.values()))
    assert found.by_distance


def test_only_the_first_ranks_are_kept(tablebases: Tablebases, tables: np.record) -> None:
    found = ranking(tablebases, tables, WON_PAWN)
    winning = found.ranks.count(found.ranks[0])
    assert 0 < winning < len(found.moves)
    for count in (1, winning):
        assert len(found.first(count).moves) == winning
    assert found.first(winning + 1) == found.first(100) == found
    assert set(found.first(1).scores) == {WIN}


@pytest.mark.parametrize("fen", [ROOK_ENDING.format(0), "8/8/3k4/8/8/3K4/8/2B1N3 w - - 0 1"])
def test_against_a_bare_king_the_nearest_mate_comes_first(tablebases: Tablebases, tables: np.record, fen: str) -> None:
    found = ranking(tablebases, tables, fen)
    board = chess.Board(fen)
    distances = []
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        for move in found.moves:
            board.push_uci(to_uci(move))
            distances.append(reference.probe_dtz(board) or -999)
            board.pop()
    assert distances == sorted(distances, reverse=True)
    assert set(found.first(1).scores) == {WIN}


def test_near_the_fifty_move_rule_the_shortest_way_comes_first(tablebases: Tablebases, tables: np.record) -> None:
    board = chess.Board(ROOK_ENDING.format(0))
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        shortest = reference.probe_dtz(board)
        near = ranking(tablebases, tables, ROOK_ENDING.format(99 - shortest))
        board.push_uci(to_uci(near.moves[0]))
        assert -reference.probe_dtz(board) == shortest - 1
    assert near.scores[0] == WIN
    # Too late to win, but the better side may hope, unless the rule does not count.
    late = ranking(tablebases, tables, ROOK_ENDING.format(98))
    assert 0 < late.scores[0] < 10
    assert ranking(tablebases, tables, ROOK_ENDING.format(98), fifty_moves=False).scores[0] == WIN


def test_after_a_repetition_the_shortest_way_comes_first(tablebases: Tablebases, tables: np.record) -> None:
    fen, there_and_back = "8/1k6/8/8/4P3/4K3/8/8 w - - 0 1", ("e3d3", "b7a7", "d3e3", "a7b7")
    assert len({rank for rank in ranking(tablebases, tables, fen).ranks if rank > 0}) == 1
    found = ranking(tablebases, tables, fen, *there_and_back)
    assert len({rank for rank in found.ranks if rank > 0}) > 1
    assert found.scores[0] == WIN


def test_the_losing_side_counts_on_the_fifty_move_rule(tablebases: Tablebases, tables: np.record) -> None:
    lost = "8/8/8/4k3/8/8/8/R3K3 b - - {} 90"
    assert set(ranking(tablebases, tables, lost.format(0)).scores) == {-WIN}
    found = ranking(tablebases, tables, lost.format(80))
    assert -10 < found.scores[0] < 0


def test_wdl_tables_alone(tmp_path: Path, tables: np.record) -> None:
    for file in SHIPPED.glob("*.rtbw"):
        shutil.copy(file, tmp_path)
    found = ranking(Tablebases(tables, [tmp_path]), tables, WON_PAWN)
    assert not found.by_distance
    assert {name: score // WIN for name, score in named(found).items()} == {
        name: value // 2 for name, value in values_by_python_chess(WON_PAWN).items()
    }


def test_an_unknown_position_has_no_ranking(tablebases: Tablebases, tables: np.record) -> None:
    game = Game(tables)
    for fen in (FOUR_MEN, "4k3/8/8/8/8/8/8/4K2R w K - 0 1"):
        game.set_up(fen)
        assert rank_moves(tablebases, game, game.legal_moves()) is None


@pytest.mark.parametrize("fen", [WON_PAWN, ROOK_ENDING.format(0), "8/8/8/4k3/8/8/8/R3K3 b - - 0 1"])
def test_a_decided_line_is_played_out_to_mate(tablebases: Tablebases, tables: np.record, fen: str) -> None:
    game = Game(tables)
    game.set_up(fen)
    first = ranking(tablebases, tables, fen).moves[0]
    line = play_out(tablebases, game, [first])
    board = chess.Board(fen)
    for move in line:
        assert not board.can_claim_fifty_moves()
        board.push_uci(to_uci(move))
    assert line[0] == first
    assert board.is_checkmate()
    assert game.fen() == fen


def test_a_drawn_line_stays_as_it_is(tablebases: Tablebases, tables: np.record) -> None:
    game = Game(tables)
    game.set_up(PAWN_ENDING)
    moves = [game.find("e1d1")]
    assert play_out(tablebases, game, moves) == tuple(moves)


# --- the engine ---------------------------------------------------------------------------------------------------


def test_an_engine_knows_three_men_from_the_start(searcher: Searcher) -> None:
    info = searcher.search(Limits(depth=5), PAWN_ENDING).infos[-1]
    assert info.score == Score(cp=0)
    assert info.tbhits > 0
    info = searcher.search(Limits(depth=5), WON_PAWN).infos[-1]
    assert info.score == Score(cp=20_000)
    board = chess.Board(WON_PAWN)
    for move in info.pv:
        board.push_uci(move)
    assert board.is_checkmate()


def test_search_asks_about_positions_to_come(searcher: Searcher) -> None:
    info = searcher.search(Limits(depth=6), FOUR_MEN).infos[-1]
    assert info.score.cp is not None
    assert 19_900 < info.score.cp < 20_000
    assert info.tbhits > 0
    board = chess.Board(FOUR_MEN)
    for move in info.pv:
        board.push_uci(move)
    assert board.is_checkmate()


def test_several_lines_come_in_the_order_of_the_tables(searcher: Searcher) -> None:
    searcher.engine.set_option("MultiPV", "12")
    infos = searcher.search(Limits(depth=5), WON_PAWN).infos
    last = [info for info in infos if info.depth == 5]
    values = values_by_python_chess(WON_PAWN)
    assert len(last) == len(values)
    assert [info.score.cp for info in last] == sorted((10_000 * value for value in values.values()), reverse=True)
    assert {info.pv[0]: info.score.cp for info in last} == {name: 10_000 * value for name, value in values.items()}


def test_after_a_stop_no_line_is_played_out(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop_and_play_out(tablebases: Tablebases, game: Game, moves: Sequence[int]) -> tuple[int, ...]:
        nonlocal played
        played += 1
        searcher.engine.stop()
        return play_out(tablebases, game, moves)

    played = 0
    monkeypatch.setattr(running_search, "play_out", stop_and_play_out)
    searcher.engine.set_option("MultiPV", "10")
    listener = searcher.search(Limits(infinite=True), ROOK_ENDING.format(0))
    assert played == 1
    assert [info.multipv for info in listener.infos[-10:]] == list(range(1, 11))
    assert len(listener.infos[-10].pv) > 10  # the end that was known already


@pytest.mark.parametrize("nodes", [1, 10, 65, 300])
@pytest.mark.parametrize("fen", ["8/8/3k4/8/K7/8/8/3r4 b - - 17 31", "1K6/p7/1k6/8/8/8/8/8 b - - 5 3", WON_PAWN])
def test_the_expected_reply_is_that_of_the_line_to_mate(searcher: Searcher, fen: str, nodes: int) -> None:
    listener = searcher.search(Limits(nodes=nodes), fen)
    assert listener.result is not None
    assert [listener.result.best_move, listener.result.ponder] == list(listener.infos[-1].pv[:2])


@pytest.mark.parametrize("option", [("SyzygyProbeLimit", "0"), ("SyzygyProbeLimit", "2"), ("Skill Level", "3")])
def test_when_tables_are_not_asked(searcher: Searcher, option: tuple[str, str]) -> None:
    searcher.engine.set_option(*option)
    assert searcher.search(Limits(depth=4), WON_PAWN).infos[-1].tbhits == 0


def test_the_fifty_move_rule_may_be_ignored(searcher: Searcher) -> None:
    fen = ROOK_ENDING.format(95)
    assert searcher.search(Limits(depth=3), fen).infos[-1].score == Score(cp=2)
    searcher.engine.set_option("Syzygy50MoveRule", "false")
    assert searcher.search(Limits(depth=3), fen).infos[-1].score == Score(cp=20_000)


def test_the_path_of_tables(engine: Engine, tmp_path: Path) -> None:
    empty, damaged, missing = tmp_path / "empty", tmp_path / "damaged", tmp_path / "missing"
    empty.mkdir()
    damaged.mkdir()
    (damaged / "KQvK.rtbw").write_bytes(b"")
    lines = engine.set_option("SyzygyPath", os.pathsep.join(map(str, (empty, damaged, missing))))
    # What comes with the engine serves where the user's is damaged.
    assert lines[0] == "Syzygy tablebases: 6 WDL and 6 DTZ tables, up to 4 men"
    assert [line.split(": ")[0] for line in lines[1:]] == [str(damaged / "KQvK.rtbw"), f"cannot read {missing}"]
    assert len(engine.set_option("SyzygyPath", "")) == 1


def test_how_to_verify_a_folder_is_told_once(tmp_path: Path) -> None:
    engine = Engine()
    first, second = tmp_path / "my tables", tmp_path / "others"
    for folder, name in ((first, "KQvK.rtbw"), (second, "KRvK.rtbw")):
        folder.mkdir()
        shutil.copy(SHIPPED / name, folder)
    assert engine.set_option("SyzygyPath", str(first))[1:] == [
        f"to check whole files for damage: knightadder tablebases verify {shlex.quote(str(first))}"
    ]
    assert engine.set_option("SyzygyPath", os.pathsep.join(map(str, (first, second))))[1:] == [
        f"to check whole files for damage: knightadder tablebases verify {shlex.quote(str(second))}"
    ]
    assert len(engine.set_option("SyzygyPath", str(first))) == 1
    assert len(engine.set_option("SyzygyPath", "")) == 1


def test_the_command_that_verifies_a_folder_is_for_the_shell_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my tables"
    folder.mkdir()
    shutil.copy(SHIPPED / "KQvK.rtbw", folder)
    engine = Engine()
    monkeypatch.setattr(sys, "platform", "win32")
    lines = engine.set_option("SyzygyPath", str(folder))
    assert lines[1] == f'to check whole files for damage: knightadder tablebases verify "{folder}"'
    engine.close()


def test_a_table_that_changes_between_two_searches_is_reported(searcher: Searcher, tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "KPvK.rtbz", tmp_path)
    searcher.engine.set_option("SyzygyPath", str(tmp_path))
    (tmp_path / "KPvK.rtbz").write_bytes(b"")
    reports = searcher.search(Limits(depth=3), WON_PAWN).reports
    assert [news.text for news in reports if isinstance(news, Message)] == [
        f"{tmp_path / 'KPvK.rtbz'}: the file has changed and is no longer used"
    ]
    assert not any(isinstance(news, Message) for news in searcher.search(Limits(depth=3), WON_PAWN).reports)


@pytest.mark.parametrize("fen", ["8/8/8/4k3/8/8/8/R3K3 w - - 0 1", "8/8/3k4/8/8/3K4/8/2B1N3 w - - 0 1"])
def test_a_lone_king_is_mated_by_the_tables(searcher: Searcher, fen: str) -> None:
    # Depth 1 knows nothing of how to mate; the tables see to it that each circle is left.
    board = chess.Board(fen)
    moves: list[str] = []
    searcher.engine.new_game()
    start = board.fen()
    # A draw that only White's next move could bring about is none.
    while not (board.is_game_over() or board.is_repetition() or board.is_fifty_moves()):
        searcher.engine.set_position(start, moves)
        result = searcher.go(Limits(depth=1)).result
        assert searcher.engine.wait(TIMEOUT)
        assert result.best_move is not None
        moves.append(result.best_move)
        board.push_uci(result.best_move)
    assert board.is_checkmate()
