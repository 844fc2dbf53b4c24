"""What the server says of the games of an index."""

import json
from urllib.parse import quote

import chess
import pytest
from board_server import BoardServer
from board_tab import get
from explorer_index import make_index

from knightadder import Explorer, cli
from knightadder.web.site.exploring import explorer_view


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("index"))


def test_moves_and_games_of_a_position(index):
    with Explorer(index) as explorer:
        view = explorer_view(explorer, chess.Board())
    assert [(move["san"], move["games"], move["rating"]) for move in view["moves"]] == [
        ("e4", 2, 2400),
        ("Nf3", 1, None),
    ]
    assert [(game["white"], game["year"]) for game in view["games"]] == [("Anna", 2001), ("Carla", 1999), ("?", None)]
    assert json.loads(json.dumps(view)) == view and view["problem"] is None


def test_the_server_answers_by_fen(index):
    def ask(fen):
        answer, body = get(server, f"/explorer?fen={quote(fen)}")
        return json.loads(body) if answer.status == 200 else (answer.status, body)

    with Explorer(index) as explorer, BoardServer(explorer=explorer).running() as server:
        assert [move["san"] for move in ask(chess.STARTING_FEN)["moves"]] == ["e4", "Nf3"]
        chess960 = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"
        assert [(move["san"], move["move"]) for move in ask(chess960)["moves"]] == [("O-O-O", "e1b1")]
        assert ask("8/8/8/4k3/8/8/8/K7 w - - 0 1") == {"moves": [], "games": [], "problem": None}
        assert ask("no FEN") == (400, "illegal position: a FEN has 4 to 6 fields, not 2 (no FEN)")
        assert ask("")[0] == 400
        assert get(server, "/explorer", Cookie="")[0].status == 403


def test_without_an_index_the_answer_is_null(server):
    answer, body = get(server, f"/explorer?fen={quote(chess.STARTING_FEN)}")
    assert (answer.status, body) == (200, "null")


def test_a_damaged_index_is_told(index, tmp_path):
    content = index.read_bytes()
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with Explorer(damaged) as explorer, BoardServer(explorer=explorer).running() as server:
        view = json.loads(get(server, f"/explorer?fen={quote(chess.STARTING_FEN)}")[1])
    assert view["moves"] == [] and view["problem"] == f"cannot read {damaged}: database disk image is malformed"


def test_a_file_that_is_no_index_is_refused(tmp_path, capsys):
    file = tmp_path / "games.sqlite"
    arguments = ["play", "--no-browser", "--port", "0", "--explorer", str(file)]
    assert cli.main(arguments) == 2
    assert capsys.readouterr().err == f"knightadder: cannot read {file}: No such file or directory\n"
    file.write_text("[Event]")
    assert cli.main(arguments) == 2
    assert capsys.readouterr().err == (
        f"knightadder: {file} is not an index of games: make one with `knightadder book index`\n"
    )
