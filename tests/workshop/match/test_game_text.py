"""Games as PGN, read by python-chess."""

import gzip
import io
import os

import chess.pgn
import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.game_text import PgnFile, game_text
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.referee import Forfeit, MatchGame, PlayedMove
from knightadder.workshop.match.search_info import parse_info
from knightadder.workshop.match.time_control import Allowance, TimeControl
from knightadder.workshop.opening_book import BookLine

WHITE, BLACK = (Competitor(name, ("x",), allowance=Allowance(TimeControl(8, 0.08))) for name in "AB")


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
    return MatchGame(BookLine(moves=("e2e4", "e7e5"), name="Open"), moves=moves, reason="draw by repetition", **more)


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
    game = _read(game_text(Fixture(0, "A", "B"), _game(fault=Forfeit(True, kind, ""), white_points=0.0), WHITE, BLACK))
    assert (game.headers["Termination"], game.headers["Result"]) == (termination, "0-1")


def test_engines_of_different_limits():
    other = Competitor("B", ("x",), allowance=Allowance(nodes=7))
    headers = _read(game_text(Fixture(0, "A", "B"), _game(), WHITE, other)).headers
    assert (headers["WhiteTimeControl"], headers["BlackTimeControl"]) == ("8+0.08", "N=7")


def test_a_position_of_chess960():
    fen = "rk1r4/pp1p4/8/8/8/8/PP1P4/RK1R4 w DAda - 0 1"
    game = MatchGame(BookLine(fen), moves=[PlayedMove("b1d1", 0.1, None)], reason="x")
    read = _read(game_text(Fixture(0, "A", "B"), game, WHITE, BLACK, chess960=True))
    assert read.headers["Variant"] == "Chess960"
    assert read.board().fen() == fen.replace("DAda", "KQkq")
    assert read.end().board().king(chess.WHITE) == chess.G1


def test_a_game_without_moves_is_a_game():
    game = MatchGame(BookLine(), reason="White loses by fault (crash): {odd}")
    assert list(_read(game_text(Fixture(0, "A", "B"), game, WHITE, BLACK)).mainline_moves()) == []


# --- the file ------------------------------------------------------------------------------------------------------

FIXTURES = [Fixture(0, "A", "B"), Fixture(0, "B", "A")]
GAME = game_text(FIXTURES[0], _game(), WHITE, BLACK)
FOREIGN = '[Event "A against me"]\n\n1. e4'


def _append(file, *texts):
    """Append games; gives what was reported."""
    heard = []
    with PgnFile(file, FIXTURES, heard.append) as games:
        for text in texts:
            with games.appended(text):
                pass
    return heard


def test_a_file_without_games_does_not_stay(tmp_path):
    assert _append(tmp_path / "new.pgn") == []
    assert list(tmp_path.iterdir()) == []


def _count(file):
    with file.open() as stream:
        count = 0
        while game := chess.pgn.read_game(stream):
            assert not game.errors
            count += 1
    return count


def test_games_are_appended(tmp_path):
    file = tmp_path / "games.pgn"
    for number in range(2):
        assert _append(file, game_text(Fixture(number, "A", "B"), _game(), WHITE, BLACK)) == []
    with file.open() as stream:
        rounds = []
        while game := chess.pgn.read_game(stream):
            rounds.append(game.headers["Round"])
    assert rounds == ["1", "2"]
    with pytest.raises(OptionError, match="cannot use"):
        PgnFile(tmp_path, FIXTURES)
    assert list(tmp_path.iterdir()) == [file]


def test_without_a_file_no_games_are_kept():
    assert _append(None, GAME) == []


def test_a_game_whose_result_cannot_be_kept_is_taken_back(tmp_path):
    file = tmp_path / "games.pgn"
    _append(file, GAME)
    before = file.read_bytes()
    with PgnFile(file, FIXTURES) as games, pytest.raises(OptionError), games.appended(GAME):
        raise OptionError
    assert file.read_bytes() == before


@pytest.mark.parametrize("before", ["", f"{GAME}\n\n"])
@pytest.mark.parametrize("cut", range(1, len(GAME) + 1, 7))
def test_half_a_game_at_the_end_is_removed(tmp_path, before, cut):
    file = tmp_path / "games.pgn"
    file.write_text(before + GAME[:-cut])
    half = cut < len(GAME)
    assert _append(file) == ([f"{file} ended with an incomplete game, which was removed"] if half else [])
    assert file.read_text() == before


def test_a_game_without_the_empty_line_after_it_is_whole(tmp_path):
    file = tmp_path / "games.pgn"
    for end in ("", "\n", "\n\n"):
        file.write_text(GAME + end)
        assert _append(file, GAME) == []
        assert _count(file) == 2


def test_a_game_whose_result_stands_on_a_line_of_its_own_is_whole(tmp_path):
    file = tmp_path / "games.pgn"
    wrapped = "\n".join(GAME.rsplit(" ", 1))
    assert wrapped.splitlines()[-1] in {"1-0", "0-1", "1/2-1/2", "*"}
    file.write_text(f"{GAME}\n\n{wrapped}\n\n")
    assert _append(file, GAME) == []
    assert file.read_text() == f"{GAME}\n\n{wrapped}\n\n{GAME}\n\n"


@pytest.mark.parametrize("in_the_log", [False, True])
def test_a_last_game_that_the_log_lacks_is_removed_because_it_is_played_again(tmp_path, in_the_log):
    """With the number of a game in the log, it belongs to another match of the same engines, and stays."""
    file = tmp_path / "games.pgn"
    text = f"{GAME}\n\n"
    last = GAME if in_the_log else game_text(Fixture(1, "A", "B"), _game(), WHITE, BLACK)
    file.write_text(f"{text}{last}\n\n")
    with PgnFile(file, FIXTURES, played={FIXTURES[0]}, logged=len(text)):
        pass
    assert _count(file) == (2 if in_the_log else 1)


@pytest.mark.parametrize(
    "text", [FOREIGN, f"\ufeff{FOREIGN}", f"% made by hand\n\n{FOREIGN}", f"{GAME}\n\n{FOREIGN}", FOREIGN + "\n"]
)
def test_what_others_wrote_stays(tmp_path, text):
    file = tmp_path / "games.pgn"
    file.write_text(text, "utf-8")
    assert _append(file, GAME) == []
    assert file.read_text("utf-8").startswith(text + "\n")
    assert file.read_text("utf-8").endswith(f"\n\n{GAME}\n\n")


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"a,b\n1,2\n",
        b"[tool]\nx = 1\n",
        bytes(99),
        gzip.compress(GAME.encode()),
        f"\ufeff{GAME}".encode("utf-16-le"),
    ],
)
def test_nothing_is_appended_to_a_file_without_games(tmp_path, data):
    file = tmp_path / "games.pgn"
    file.write_bytes(data)
    with pytest.raises(OptionError) as error:
        _append(file, GAME)
    assert str(error.value) == f"{file} is not a PGN file, so no games are appended to it: choose a different name"
    assert file.read_bytes() == data


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".GZ"])
def test_a_name_that_promises_compression_is_refused(tmp_path, suffix):
    file = tmp_path / f"games.pgn{suffix}"
    with pytest.raises(OptionError) as error:
        _append(file, GAME)
    assert str(error.value) == f"cannot write {file}: the output is not compressed, so give a name without {suffix}"
    assert not file.exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name")
def test_games_may_go_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert _append(pipe, GAME) == []
    assert os.read(reader, 1 << 16).decode() == f"{GAME}\n\n"
    os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]
