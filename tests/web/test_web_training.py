"""What the server says of puzzles."""

import json
import urllib.error
import urllib.request

import chess
import pytest
from board_server import BoardServer
from board_tab import PATIENCE

from knightadder import cli
from knightadder.engine.errors import OptionError
from knightadder.puzzles.puzzle import Puzzle, Solution
from knightadder.puzzles.source import read_source
from knightadder.puzzles.user_progress import PuzzleProgress
from knightadder.web.site.training import puzzle_view

BEFORE, FEN = "3r2k1/5ppp/8/8/8/8/3R1PPP/4R1K1 b - - 0 1", "3r2k1/5pp1/7p/8/8/8/3R1PPP/4R1K1 w - - 0 2"


def _puzzle(fen, moves, **about):
    solution = Solution(fen, tuple(map(chess.Move.from_uci, moves.split())), **about)
    return Puzzle(solution, "name", ("fork", "short"), 1500, "games.pgn?game=1#2")


def test_each_step_has_the_position_the_move_and_what_comes_after():
    puzzle = _puzzle(FEN, "d2d8 g8h7 e1e8", previous_fen=BEFORE, previous=chess.Move.from_uci("h7h6"))
    view = puzzle_view(puzzle)
    first, second = view["steps"]
    assert view["side"] == "white" and view["solution"] == "2. Rxd8+ Kh7 3. Ree8"
    assert (view["id"], view["rating"], view["game"]) == ("name", 1500, puzzle.game)
    assert [theme["words"] for theme in view["themes"]] == ["Fork", "Two moves"]
    assert first["position"]["fen"] == FEN
    assert first["position"]["last"] == ["h7", "h6"]
    assert first["move"] == "d2d8" and first["mates"] == {}
    assert first["position"]["legal"]["d2"]["d8"] == "d2d8"
    assert first["after"]["check"] == "g8"
    assert second["position"]["last"] == ["g8", "h7"]
    assert second["move"] == "e1e8"


def test_other_mates_are_told():
    view = puzzle_view(_puzzle("6k1/P4ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8"))
    (step,) = view["steps"]
    assert step["mates"].keys() == {"d1d8", "a7a8q", "a7a8r"}
    assert step["mates"]["a7a8q"]["pieces"]["a8"] == "wQ"
    assert step["position"]["last"] is None
    assert step["position"]["promotions"] == ["a7a8"]


def test_castling_is_named_as_the_page_names_it():
    standard = puzzle_view(_puzzle("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1"))
    assert standard["steps"][0]["move"] == standard["steps"][0]["position"]["legal"]["e1"]["c1"] == "e1c1"
    other = puzzle_view(_puzzle("3k4/8/8/8/8/8/8/1R2K3 w B - 0 1", "e1b1", chess960=True))
    assert other["steps"][0]["move"] == other["steps"][0]["position"]["legal"]["e1"]["b1"] == "e1b1"


@pytest.fixture
def asking(tmp_path):
    """Give a function that asks a server of three puzzles, and the user's progress."""
    puzzles = [
        Puzzle(_puzzle(FEN, "d2d8").solution, "one", ("fork",), 1500),
        Puzzle(_puzzle(BEFORE, "d8d2").solution, "two", ("fork", "mateIn2"), 2100),
        Puzzle(_puzzle(FEN, "e1e8").solution, "three", ("pin",), 1950),
    ]
    progress = PuzzleProgress(tmp_path / "puzzles.sqlite")
    with BoardServer(puzzles, progress=progress).running() as server:

        def ask(path, method="GET"):
            headers = {"Cookie": server.cookie, "Origin": f"http://{server.host}"}
            request = urllib.request.Request(f"http://{server.host}{path}", method=method, headers=headers)
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read().decode()
            return json.loads(text) if text.startswith("{") else text

        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://{server.host}/puzzles/1", timeout=PATIENCE)
        yield ask, progress


def test_the_server_gives_puzzles_by_number(asking):
    ask, _ = asking
    assert "<title>Knightadder: puzzles" in ask("/")
    assert "<title>Knightadder<" in ask("/index.html")
    second = ask("/puzzles/2")
    assert (second["number"], second["count"], second["side"]) == (2, 3, "black")
    assert ask("/puzzles/2?id=two") == second
    for number in (0, 4, "2?id=one"):
        assert ask(f"/puzzles/{number}") == {"problem": "There is no such puzzle"}


def test_the_next_puzzle_is_one_of_the_choice_that_has_not_been_answered(asking):
    ask, _ = asking
    assert [ask(f"/puzzles/next?after={number}")["number"] for number in range(4)] == [1, 2, 3, 1]
    assert ask("/puzzles/next?after=1&theme=pin")["id"] == "three"
    assert ask("/puzzles/next?level=1900-2000")["id"] == "three"
    assert ask("/puzzles/next?level=mine")["id"] == "one"
    assert ask("/puzzles/next?level=harder")["id"] == "three"  # 1800 is the middle; the range grows until one is found
    assert ask("/puzzles/1?solved=yes", "POST")["change"] > 0
    assert ask("/puzzles/next?theme=fork")["id"] == "two"
    ask("/puzzles/2?solved=no", "POST")
    again = ask("/puzzles/next?theme=fork")
    assert (again["id"], again["answered"]) == ("one", True)  # there is no other one left
    assert ask("/puzzles/1?solved=no", "POST")["change"] is None
    for other in ("1?id=two", "9?id=one"):  # the page showed a puzzle of a different file
        assert ask(f"/puzzles/{other}&solved=yes", "POST")["standing"]["tried"] == 2
    assert ask("/puzzles/3?id=three&solved=yes&ago=99999999999", "POST")["standing"]["tried"] == 3
    assert "There is no such puzzle in the file" in ask("/puzzles/next?theme=zugzwang")["problem"]


def test_an_answer_is_for_its_own_files(asking):
    ask, progress = asking
    assert ask("/puzzles/1?id=one&solved=yes&files=0123456789abcdef", "POST") == {"elsewhere": True}
    assert progress.standing().tried == 0
    assert ask(f"/puzzles/1?id=one&solved=yes&files={ask('/puzzles/1')['files']}", "POST")["standing"]["tried"] == 1


def test_a_game_that_is_not_there_is_told(asking, tmp_path):
    ask, _ = asking
    assert ask("/puzzles/1/game") == {"problem": "The file of the game was not found"}
    games = tmp_path / "games.pgn"
    games.write_text("1. e4 *")
    assert read_source(tmp_path / "elsewhere" / "games.pgn", 1, tmp_path) == "1. e4 *"
    with pytest.raises(OptionError, match=f"there is no game 2 in {games}"):
        read_source(games, 2, tmp_path)


def test_answers_that_cannot_be_kept_are_told(asking):
    ask, progress = asking
    progress.file.write_text("damaged")
    assert "cannot use the answers to puzzles in" in ask("/puzzles/1?solved=yes", "POST")["problem"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read {file}: No such file or directory"),
        ("PuzzleId,FEN,Moves\n", "there is no puzzle in {file}"),
        ("PuzzleId,FEN,Moves\na,nothing,e2e4 e7e5\n", "there is no puzzle in {file}"),
    ],
)
def test_a_file_without_puzzles_is_refused(tmp_path, capsys, text, message):
    file = tmp_path / "puzzles.csv"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert cli.main(["play", "--no-browser", "--puzzles", str(file)]) == 2
    assert f"knightadder: {message.format(file=file)}\n" in capsys.readouterr().err
