"""Games as PGN, read by python-chess."""

import io

import chess.pgn
import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.clock import Limits, TimeControl
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.pgn import append_game, game_text
from knightadder.workshop.match.referee import Fault, Game, PlayedMove
from knightadder.workshop.match.search_info import parse_info
from knightadder.workshop.openings import Opening

WHITE, BLACK = (Competitor(name, ("x",), limits=Limits(TimeControl(8, 0.08))) for name in "AB")


def _read(text):
    stream = io.StringIO(text)
    game = chess.pgn.read_game(stream)
    assert not game.errors
    assert chess.pgn.read_game(stream) is None
    return game


def _game(**more):
    moves = [
        PlayedMove("g1f3", 0.0521, parse_info("info depth 12 nodes 20011 score cp 31 pv g1f3")),
        PlayedMove("b8c6", 1.5, None),
    ]
    return Game(Opening(moves=("e2e4", "e7e5"), name="Open"), moves=moves, reason="draw by repetition", **more)


def test_moves_comments_and_headers():
    game = _read(game_text(Fixture(4, "A", "B"), _game(), WHITE, BLACK))
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert [node.comment for node in game.mainline()] == [
        "book",
        "book",
        "+0.31/12 0.052s n=20011",
        "1.500s, draw by repetition",
    ]
    headers = game.headers
    assert (headers["White"], headers["Black"], headers["Result"], headers["Round"]) == ("A", "B", "1/2-1/2", "5")
    assert (headers["TimeControl"], headers["Termination"], headers["Opening"]) == ("8+0.08", "normal", "Open")
    assert "FEN" not in headers


@pytest.mark.parametrize(
    ("kind", "termination"), [("time", "time forfeit"), ("illegal", "rules infraction"), ("crash", "abandoned")]
)
def test_terminations(kind, termination):
    game = _read(game_text(Fixture(0, "A", "B"), _game(fault=Fault(True, kind, ""), white_points=0.0), WHITE, BLACK))
    assert (game.headers["Termination"], game.headers["Result"]) == (termination, "0-1")


def test_engines_of_different_limits():
    other = Competitor("B", ("x",), limits=Limits(nodes=7))
    headers = _read(game_text(Fixture(0, "A", "B"), _game(), WHITE, other)).headers
    assert (headers["WhiteTimeControl"], headers["BlackTimeControl"]) == ("8+0.08", "N=7")


def test_a_position_of_chess960():
    fen = "rk1r4/pp1p4/8/8/8/8/PP1P4/RK1R4 w DAda - 0 1"
    game = Game(Opening(fen), moves=[PlayedMove("b1d1", 0.1, None)], reason="x")
    read = _read(game_text(Fixture(0, "A", "B"), game, WHITE, BLACK, chess960=True))
    assert read.headers["Variant"] == "Chess960"
    assert read.board().fen() == fen.replace("DAda", "KQkq")
    assert read.end().board().king(chess.WHITE) == chess.G1


def test_a_game_without_moves_is_a_game():
    game = Game(Opening(), reason="White loses by fault (crash): {odd}")
    assert list(_read(game_text(Fixture(0, "A", "B"), game, WHITE, BLACK)).mainline_moves()) == []


def test_games_are_appended(tmp_path):
    file = tmp_path / "games.pgn"
    for number in range(2):
        append_game(file, game_text(Fixture(number, "A", "B"), _game(), WHITE, BLACK))
    with file.open() as stream:
        rounds = []
        while game := chess.pgn.read_game(stream):
            rounds.append(game.headers["Round"])
    assert rounds == ["1", "2"]
    with pytest.raises(OptionError, match="cannot write"):
        append_game(tmp_path, "x")
