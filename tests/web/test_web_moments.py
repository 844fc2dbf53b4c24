"""The moments that decided a game, as the server tells them."""

import pytest

pytestmark = pytest.mark.usefixtures("material_engine")


def lost_game(engine, tab):
    """Play a game in which White loses a pawn, then a knight, and resigns."""
    engine.script = ["d5", "dxe4", "Nf6", "exf3"]
    tab.ask("new_game", color="white")
    for move, answer in (("e4", "d5"), ("Nf3", "dxe4"), ("a3", "Nf6"), ("a4", "exf3")):
        tab.play(move, answer)
    tab.ask("resign")


def moments(tab):
    tab.send("moments")
    tab.until("game", lambda message: message["game"]["moments"] is not None)
    return tab.settle().game["game"]["moments"]


def tried(tab, moment, move):
    tab.send("retry", node=moment["node"], move=move)
    return tab.until("retried")


def test_bad_moves_of_the_user_are_found_and_tried_again(engine, tab):
    lost_game(engine, tab)
    assert tab.game["game"]["moments"] is None
    found = moments(tab)
    assert [moment["played"] for moment in found] == ["2. Nf3??", "4. a4??"]
    first = found[0]
    assert first["kind"] and first["explanation"].endswith(".") and first["percents"][0] > first["percents"][1]
    assert first["line"].startswith("2. exd5") and first["best"] == ["e4", "d5"]
    assert all(not node["nags"] for node in tab.tree.nodes()), "the marks would tell the solution"
    assert tried(tab, first, "Nf3") | {"after": 0} == {
        "type": "retried",
        "node": first["node"],
        "san": "Nf3",
        "good": False,
        "repeated": True,
        "after": 0,
    }
    assert not tried(tab, first, "d4")["good"]
    answer = tried(tab, first, "e4d5")
    assert answer["good"] and answer["san"] == "exd5" and answer["after"]["pieces"]["d5"] == "wP"
    assert tab.sans == ["e4", "d5", "Nf3", "dxe4", "a3", "Nf6", "a4", "exf3"], "a try is no move of the game"


def test_moments_are_there_after_a_game_only(engine, tab):
    assert tab.ask("moments").error["text"] == "there is no finished game"
    lost_game(engine, tab)
    start = tab.tree.nodes()[0]["id"]
    assert "no better move to find" in tab.ask("retry", node=start, move="e4").error["text"]
    moments(tab)
    tab.ask("take_back")
    assert tab.game["game"]["running"] and tab.game["game"]["moments"] is None
    assert tab.ask("moments").error["text"] == "there is no finished game"


def test_a_search_for_moments_is_stopped_and_goes_on(engine, tab):
    lost_game(engine, tab)
    engine.endless = True
    engine.began.clear()
    tab.send("moments")
    assert engine.began.wait(60)
    tab.ask("evaluate", on=False)
    assert tab.progress["done"] == tab.progress["all"] and tab.game["game"]["moments"] is None
    engine.endless = False
    assert len(moments(tab)) == 2
