"""What the server says of the games of an index."""

import json
import sqlite3
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
    assert [(game["white"], game["date"]) for game in view["games"]] == [
        ("Anna", "2001"),
        ("Carla", "1999"),
        ("?", None),
    ]
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
        assert ask("no FEN") == (400, "illegal position: the board must have 8 ranks, not 1 (no FEN - -)")
        assert ask("")[0] == 400
        assert get(server, "/explorer", Cookie="")[0].status == 403


def test_filters_and_the_text_of_a_game(index):
    def ask(filters):
        view = json.loads(get(server, f"/explorer?fen={quote(chess.STARTING_FEN)}&{filters}")[1])
        return view["problem"] or [game["white"] for game in view["games"]]

    with Explorer(index) as explorer, BoardServer(explorer=explorer).running() as server:
        assert ask("min_rating=2350&speeds=blitz,rapid&player=ANNA&color=white&result=1-0&until=2001") == ["Anna"]
        assert ask("since=1999&until=2000&player=&speeds=&color=black") == ["Carla"]
        assert ask("player=ben&color=white") == []
        assert ask("min_rating=strong") == "a rating must be a whole number, not 'strong'"
        assert ask("player=nobody") == f"no game of 'nobody' is in {index}"
        assert ask("speeds=fast").startswith("unknown speed 'fast'")
        answer, body = get(server, "/explorer/game?number=1")
        assert answer.status == 200 and '[White "Carla"]' in body and "1. Nf3 e5" in body
        assert [get(server, f"/explorer/game?number={number}")[0].status for number in ("9", "x", "")] == [404] * 3


def test_without_an_index_the_answer_is_null(server):
    answer, body = get(server, f"/explorer?fen={quote(chess.STARTING_FEN)}")
    assert (answer.status, body) == (200, "null")


def test_a_damaged_index_is_told(index, tmp_path):
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(index.read_bytes())
    with sqlite3.connect(damaged) as database:
        database.execute("UPDATE rare SET body = x'00'")
    database.close()
    with Explorer(damaged) as explorer, BoardServer(explorer=explorer).running() as server:
        view = json.loads(get(server, f"/explorer?fen={quote(chess.STARTING_FEN)}")[1])
    assert view["moves"] == []
    assert view["problem"] == f"{damaged} is damaged: make it again from the games with `knightadder book index`"


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
