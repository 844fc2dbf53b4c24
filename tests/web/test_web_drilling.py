"""What the server says of drills."""

import json
import urllib.error
import urllib.request

import pytest
from board_server import BoardServer
from board_tab import PATIENCE

from knightadder import cli
from knightadder.drills.box import DrillBox
from knightadder.drills.drill import Drill
from knightadder.web.site.drilling import drill_view

CASTLING = "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1"
MISTAKE = Drill(
    "mistake",
    "4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1",
    (("e4c5", "e8d8", "c5b7"), ("e4f6",)),
    "Did not take a loose piece",
    "Réti Opening",
    played="h2h3",
    about="Against Bert",
    link="javascript:alert(1)",
)


@pytest.fixture
def box(tmp_path):
    box = DrillBox(tmp_path / "drills.sqlite")
    box.add([MISTAKE])
    return box


def test_a_drill_is_described_with_its_right_moves():
    view = drill_view(MISTAKE)
    assert (view["side"], view["played"], view["san"]) == ("white", "h2h3", "h3")
    assert view["position"]["legal"]["e4"]["c5"] == "e4c5"
    assert view["good"].keys() == {"e4c5", "e4f6"}
    assert view["good"]["e4c5"]["line"] == "1. Nxc5 Kd8 2. Nb7+"
    assert view["good"]["e4c5"]["after"]["pieces"]["c5"] == "wN"
    assert view["link"] == ""


def test_castling_is_named_as_the_page_names_it():
    for fen, move, chess960 in ((CASTLING, "e1c1", False), ("3k4/8/8/8/8/8/8/1R2K3 w B - 0 1", "e1b1", True)):
        view = drill_view(Drill("repertoire", fen, ((move,),), "Repertoire", "Unnamed", chess960))
        assert view["good"].keys() == {view["position"]["legal"]["e1"]["c1"]} == {move}


def test_drills_are_asked_and_answered(box):
    with BoardServer(drills=box).running() as server:

        def ask(path, method="GET", origin=f"http://{server.host}"):
            headers = {"Cookie": server.cookie, **({"Origin": origin} if origin else {})}
            request = urllib.request.Request(f"http://{server.host}{path}", method=method, headers=headers)
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.read().decode()

        assert "<title>Knightadder: drills" in ask("/")
        [group] = json.loads(ask("/drills"))["groups"]
        assert (group["kind"], group["side"], group["theme"], group["new"]) == ("mistake", "white", MISTAKE.theme, 1)
        drill = json.loads(ask("/drills/next"))["drill"]
        assert drill["position"]["fen"] == MISTAKE.fen
        answer = f"/drills/{drill['number']}?turn={drill['turn']}&ago=60&grade=good"
        for origin in (None, "http://127.0.0.1:1"):  # only the page itself may change anything
            with pytest.raises(urllib.error.HTTPError, match="403"):
                ask(answer, "POST", origin)
        assert box.groups()[0].new == 1
        assert json.loads(ask(answer, "POST")) == {"wait": "in 9 minutes"}
        assert json.loads(ask(answer, "POST")) == {"wait": None}  # it has been counted
        assert box.groups()[0].new == 0
        assert json.loads(ask(f"{answer}x", "POST")) == {"problem": "the grade must be again, hard or good"}
        assert json.loads(ask("/drills/77?grade=good", "POST")) == {"wait": None}
        assert json.loads(ask("/drills/next?opening=Other")) == {"drill": None, "wait": None}
        box.file.write_text("damaged")
        assert "cannot use the drills in" in json.loads(ask("/drills/next"))["problem"]


def test_the_board_lives_on_without_its_drills(tmp_path, capsys, monkeypatch):
    made = []

    class Server:
        def run(self, sockets):
            made.append(sockets)

    monkeypatch.setattr("knightadder.web.site.serving.make_server", lambda app: Server())
    file = tmp_path / "text.txt"
    file.write_text("no folder")
    assert cli.main(["play", "--no-browser", "--port", "0", "--drills-file", str(file / "drills.sqlite")]) == 0
    assert made
    err = capsys.readouterr().err
    assert f"knightadder: cannot use {file}: " in err and err.endswith("; the board starts without drills\n")
