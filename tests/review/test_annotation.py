"""A game annotated by the library is the one that the command writes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from chess.engine import Cp, Limit, PovScore
from game_texts import read_game

from knightadder import Engine, SimpleEngine, annotate_game, cli, to_frame
from knightadder.engine.errors import EngineError, PositionError

DAMIANO = """[White "Greco"]
[Black "NN"]
[Result "1-0"]

1. e4 e5 { why not } 2. Nf3 f6 ( 2... Nc6 ) 3. Nxe5 fxe5 4. Qh5+ Ke7 5. Qxe5+ Kf7 6. Bc4+ d5 7. Bxd5+ Kg6 8. h4 h5
9. Bxb7 Bxb7 10. Qf5+ Kh6 11. d4+ g5 12. Qf7 Qe7 13. hxg5+ Qxg5 14. Rxh5# 1-0
"""
LIMIT = Limit(nodes=1000)


def test_a_game_is_annotated_as_by_the_command(tmp_path: Path) -> None:
    file, table = tmp_path / "game.pgn", tmp_path / "table.csv"
    file.write_text(DAMIANO, "utf-8")
    assert cli.main(["annotate", str(file), "--nodes", "1000", "--multipv", "2", "--summary", str(table)]) == 0
    game = read_game(DAMIANO)
    found = annotate_game(game, LIMIT, multipv=2)
    assert f"{found}\n" == (tmp_path / "game.annotated.pgn").read_text("utf-8").rstrip("\n") + "\n"
    [row] = csv.DictReader(io.StringIO(table.read_text("utf-8")))
    summary = found.to_dict()
    assert {name: "" if value is None else str(value) for name, value in summary.items()}.items() <= row.items()
    assert summary["black_blunders"] == found.black.blunders > 0
    assert str(game) == str(read_game(DAMIANO))  # it stays as it is
    assert repr(found) == "<AnnotatedGame: Greco - NN, 1-0, 27 plies>"
    assert to_frame([found])["ply"].tolist() == [*range(1, 28)]


def test_its_scores_are_those_in_the_comments() -> None:
    found = annotate_game(read_game(DAMIANO), LIMIT)
    assert len(found.scores) == 28 and found.scores[-1] is not None and found.scores[-1].is_mate()
    written = [node.eval() for node in found.game.mainline()]
    assert written[:-1] == [score.pov(chess.WHITE) and PovScore(score.white(), True) for score in found.scores[1:-1]]


def test_an_engine_of_the_callers_is_used_and_lives_on() -> None:
    with Engine(hash_mb=16, evaluation="pesto") as engine:
        first = annotate_game(read_game(DAMIANO), LIMIT, engine=engine)
        engine.analyse("startpos", Limit(nodes=5000))
        assert str(annotate_game(read_game(DAMIANO), LIMIT, engine=engine)) == str(first)
        assert str(annotate_game(read_game(DAMIANO), LIMIT)) != str(first)  # by the network
        with engine.stream("startpos"), pytest.raises(EngineError, match="is searching"):
            annotate_game(read_game(DAMIANO), LIMIT, engine=engine)


def test_another_kind_of_engine_is_refused() -> None:
    with SimpleEngine.popen_uci() as engine, pytest.raises(TypeError, match=r"engine must be a knightadder\.Engine"):
        annotate_game(read_game(DAMIANO), LIMIT, engine=engine)


def test_a_game_with_a_null_move_in_check_is_annotated() -> None:
    game = read_game('[FEN "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"]\n\n1... -- 2. Kd1 Kd7 *')
    found = annotate_game(game, LIMIT)
    assert [score is None for score in found.scores] == [False, True, False, False]
    assert found.white.accuracy is None


def test_a_game_without_moves_has_a_score() -> None:
    found = annotate_game(chess.pgn.Game(), LIMIT)
    [score] = found.scores
    assert score is not None and score.white() > Cp(-100)
    assert (found.white.accuracy, found.opening) == (None, None)


def with_move(uci: str) -> chess.pgn.Game:
    game = chess.pgn.Game()
    game.add_variation(chess.Move.from_uci(uci))
    return game


@pytest.mark.parametrize(
    ("game", "limit", "options", "error", "message"),
    [
        (DAMIANO, LIMIT, {}, TypeError, r"^game must be a chess\.pgn\.Game, not "),
        (read_game("1. e4 e4 *", broken=True), LIMIT, {}, PositionError, "^the game is broken: illegal san: 'e4'"),
        (read_game('[Variant "Atomic"]\n\n1. e4 *'), LIMIT, {}, PositionError, "illegal game: atomic is not supported"),
        (with_move("e2e5"), LIMIT, {}, PositionError, "^the game is broken: illegal move e2e5 in rnbqkbnr/"),
        (read_game(DAMIANO), None, {}, TypeError, r"^limit must be a chess\.engine\.Limit, not None"),
        (read_game(DAMIANO), Limit(), {}, ValueError, "a limit must set"),
        (read_game(DAMIANO), Limit(white_clock=1, black_clock=1), {}, ValueError, "has no clock"),
        (read_game(DAMIANO), LIMIT, {"multipv": 0}, ValueError, "multipv must be at least 1"),
    ],
)
def test_other_things_are_refused(
    game: Any, limit: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        annotate_game(game, limit, **options)
