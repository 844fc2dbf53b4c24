"""What the server says of puzzles."""

import json
import urllib.error
import urllib.request

import chess
import pytest
from board_server import BoardServer
from board_tab import PATIENCE

from knightadder import cli
from knightadder.puzzles.puzzle import Puzzle, Solution
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
    assert (view["id"], view["rating"], view["themes"], view["game"]) == ("name", 1500, ["fork", "short"], puzzle.game)
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


def test_the_server_gives_puzzles_by_number():
    puzzles = [_puzzle(FEN, "d2d8"), _puzzle(BEFORE, "d8d2")]
    with BoardServer(puzzles).running() as server:

        def ask(path):
            request = urllib.request.Request(f"http://{server.host}{path}", headers={"Cookie": server.cookie})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.read().decode()

        assert "<title>Knightadder: puzzles" in ask("/")
        assert "<title>Knightadder<" in ask("/index.html")
        second = json.loads(ask("/puzzles/2"))
        assert (second["number"], second["count"], second["side"]) == (2, 2, "black")
        for number in ("0", "3"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                ask(f"/puzzles/{number}")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://{server.host}/puzzles/1", timeout=PATIENCE)


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
