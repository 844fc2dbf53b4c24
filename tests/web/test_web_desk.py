"""Undo and redo, the games of a file, and what comes back after a restart, told over the WebSocket."""

import random

import chess
import pytest
from board_tab import PATIENCE, open_tab
from random_messages import random_message
from stand_in_engine import StandInEngine, material

from knightadder.web.desk import Desk
from knightadder.web.gametree import GameTree
from knightadder.web.messages import MAX_PGN

FILE = "".join(f'[White "{name}"]\n[Black "B"]\n\n{moves} *\n\n' for name, moves in (("A", "1. e4"), ("C", "1. d4 d5")))


def _state(tab):
    """Give all that undo brings back: the game with its marks and shapes, and what is shown."""
    return tab.tree.pgn(), tab.position["fen"]


def _file(tab):
    return [f"{title['white']} - {title['black']}" for title in tab.games["titles"]], tab.games["index"]


def _node(tab, san):
    return next(node["id"] for node in tab.tree.nodes() if node["san"] == san)


EDITS = {
    "a move": lambda tab: tab.play("Nc3"),
    "a line": lambda tab: tab.ask("play_line", node=0, moves=["e2e4", "c7c5", "g1f3"]),
    "a deleted move": lambda tab: tab.ask("delete", node=_node(tab, "e4")),
    "a deleted variation": lambda tab: tab.ask("delete", node=_node(tab, "c5")),
    "a main line": lambda tab: tab.ask("promote", node=_node(tab, "Nc3")),
    "a drawing": lambda tab: tab.ask("draw", node=_node(tab, "e5"), shapes=["Gd2d4", "Rd4"]),
    "a drawing that is removed": lambda tab: tab.ask("draw", node=0, shapes=[]),
    "a position": lambda tab: tab.ask("load_fen", fen="4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
    "another game": lambda tab: tab.ask("load_pgn", pgn=FILE),
    "a new game": lambda tab: tab.ask("new_game", color="white", start="here").ask("resign"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_each_edit_is_undone_and_redone(tab, edit):
    tab.ask("load_pgn", pgn="{ [%csl Ga1] } 1. e4 $1 (1. d4 d5 $2) e5 (1... c5 2. Nc3 (2. f4)) 2. Nf3 { fine } *")
    tab.ask("go_to", node=_node(tab, "e5"))
    before = _state(tab)
    edit(tab)
    after = _state(tab)
    assert after != before and tab.history["undo"] and tab.history["redo"] is None
    for _ in range(2):
        tab.ask("undo")
        assert _state(tab) == before and tab.history["redo"]
        tab.ask("redo")
        assert _state(tab) == after and tab.history["redo"] is None
    assert "error" not in tab.newest


def test_edits_are_undone_one_by_one_and_named(tab):
    for move in ("e4", "e5", "Nf3"):
        tab.play(move)
    assert tab.history["undo"] == "the move Nf3"
    tab.ask("undo").ask("undo")
    assert tab.sans == ["e4"] and tab.history == {"type": "history", "undo": "the move e4", "redo": "the move e5"}
    tab.play("c5")
    assert tab.history["redo"] is None and tab.sans == ["e4", "c5"]
    tab.ask("undo").ask("undo")
    assert tab.sans == [] and tab.history["undo"] is None
    tab.ask("undo")
    assert tab.error["text"] == "there is nothing to undo or redo"


def test_to_look_at_a_move_is_no_edit(tab):
    tab.play("e4").play("e5").ask("go_to", node=0).play("e4")
    assert tab.history["undo"] == "the move e5"


def test_an_evaluation_is_undone_but_its_scores_stay(engine, tab):
    engine.worth = material
    tab.ask("load_pgn", pgn="1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0")
    sans = tab.sans
    tab.evaluate()
    assert tab.position["summary"] and len(tab.sans) > len(sans)
    marked = tab.sans
    tab.ask("undo")
    assert tab.position["summary"] is None and tab.sans == sans and not any(node["nags"] for node in tab.tree.nodes())
    assert all(node["score"] for node in tab.tree.nodes())
    tab.ask("redo")
    assert tab.position["summary"] and tab.sans == marked


def test_no_edit_is_undone_in_a_game(engine, tab):
    engine.script = ["e5"]
    tab.play("d4").ask("new_game", color="white")
    assert tab.history["undo"] is None
    tab.play("e4", "e5").ask("undo")
    assert "while the game is running" in tab.error["text"] and tab.sans == ["e4", "e5"]
    tab.ask("resign").ask("undo")
    assert tab.sans == ["d4"] and tab.game["game"] is None
    tab.ask("redo")
    assert tab.sans == ["e4", "e5"] and tab.game["game"]["result"] == "0-1"


def test_a_drawing_in_a_game_is_undone_by_hand_only(engine, tab):
    engine.script = ["e5"]
    tab.ask("new_game", color="white").ask("draw", node=0, shapes=["Ge2e4"]).play("e4", "e5").ask("resign")
    assert tab.history["undo"] == "the new game" and tab.tree.nodes()[0]["shapes"] == ["Ge2e4"]


def test_moves_that_are_taken_back_leave_nothing_to_undo(engine, tab):
    engine.script = ["e5"]
    tab.ask("new_game", color="white").play("e4", "e5").ask("take_back").ask("resign")
    assert tab.history["undo"] == "the new game" and tab.sans == []


def test_undoing_brings_back_a_finished_game_whose_moves_are_taken_back(engine, tab):
    engine.script = ["e5"]
    tab.ask("new_game", color="white", initial=60).play("e4", "e5").ask("resign").play("Nf3")
    tab.ask("remark", node=_node(tab, "e4"), comment="Too sharp", nags=[]).ask("take_back")
    assert tab.game["game"]["running"] and tab.sans == [] and tab.position["at_tip"]
    tab.ask("resign").ask("undo")
    assert tab.game["game"]["result"] == "0-1" and "Too sharp" in tab.tree.pgn()
    assert tab.sans == ["e4", "e5", "Nf3"]
    tab.ask("redo")
    assert tab.sans == []


def test_a_game_that_is_deleted_comes_back_with_its_result(engine, tab):
    engine.script = ["e5"]
    tab.ask("new_game", color="white").play("e4", "e5").ask("resign").ask("delete", node=_node(tab, "e4"))
    assert tab.game["game"] is None
    tab.ask("undo")
    assert tab.game["game"]["result"] == "0-1" and tab.sans == ["e4", "e5"]


def test_old_boards_are_forgotten_when_there_is_too_much(monkeypatch):
    from knightadder.web import desk as module

    monkeypatch.setattr(module, "_MOST_MOVES", 3)
    desk = Desk(GameTree())
    for _ in range(10):
        desk = Desk(GameTree()).follow(desk, "the new board")
    for _ in range(3):
        desk = desk.back()
    assert desk.names() == (None, "the new board")


def test_any_edits_are_undone_and_redone_in_turn(server, engine):
    """Edits by chance, then all of them undone and redone: each time the game is what it was."""
    chance = random.Random(2)
    with open_tab(server) as tab:
        tab.ask("load_pgn", pgn="1. e4 e5 (1... c5 2. Nf3 (2. f4)) 2. Nf3 Nc6 (2... d6) *")
        states = [tab.tree.pgn()]
        while len(states) < 60:
            moves = [move for targets in tab.position["legal"].values() for move in targets.values()] or ["e2e4"]
            text = random_message(chance, moves, chance.choice([tab.position["node"], chance.randrange(60)]))
            if any(kind in text for kind in ("new_game", "evaluate", "analyse", "undo", "redo")):
                continue
            tab.newest.pop("error", None)
            tab.send_text(text)
            tab.settle()
            if tab.tree.pgn() != states[-1] or ("load_" in text and "error" not in tab.newest):
                states.append(tab.tree.pgn())
        for step, there in (("undo", states[-2::-1]), ("redo", states[1:]), ("undo", states[-2::-1])):
            for pgn in there:
                tab.ask(step)
                assert tab.tree.pgn() == pgn


# --- the games of a file -------------------------------------------------------------------------------------------


def test_undoing_leads_from_any_game_of_a_file_to_what_was_there_before(tab):
    tab.play("Nf3").ask("load_pgn", pgn=FILE).ask("choose_game", index=1)
    assert tab.history["undo"] == "the loaded game"
    tab.ask("undo")
    assert tab.sans == ["Nf3"] and tab.games["titles"] == []
    tab.ask("redo")
    assert tab.sans == ["d4", "d5"] and tab.games["index"] == 1
    tab.ask("choose_game", index=0)
    assert tab.sans == ["e4"]


def test_a_game_that_the_file_has_not_is_refused(tab):
    tab.ask("load_pgn", pgn=FILE).ask("choose_game", index=2)
    assert tab.error == {"type": "error", "about": "choose_game", "text": "this PGN has only 2 games"}
    assert tab.sans == ["e4"] and tab.games["index"] == 0


# --- after a restart -----------------------------------------------------------------------------------------------


def test_the_file_its_edits_and_the_position_come_back_after_a_restart(tab):
    edited = {"0": '[White "A"]\n\n1. e4 (1. c4 {[%csl Ga1]}) c5 *', "1": "1. d4 d5 2. c4 *"}
    tab.ask("restore", pgn=FILE, index=0, edited=edited, path=[1, 0, 0])
    assert tab.sans == ["e4", "c5", "c4"] and tab.position["san"] == "c4"
    assert _file(tab) == (["A - B", "C - B"], 0) and tab.history["undo"] is None
    tab.ask("choose_game", index=1)
    assert tab.sans == ["d4", "d5", "c4"]


def test_a_game_of_the_file_that_was_not_edited_comes_back(tab):
    tab.ask("restore", pgn=FILE, index=1, path=[0])
    assert tab.sans == ["d4", "d5"] and tab.position["san"] == "d4"


def test_a_game_larger_than_a_file_may_be_comes_back(tab):
    comment = "x" * MAX_PGN
    tab.ask("restore", edited={"0": f"1. e4 {{{comment}}} e5 *"})
    assert tab.sans == ["e4", "e5"] and tab.tree.nodes()[1]["comment"] == comment
    assert tab.games["titles"] == []


@pytest.mark.parametrize(
    "message", [{}, {"edited": {"0": "nothing"}}, {"edited": {"x": "1. e4"}}, {"pgn": FILE, "index": 2}], ids=str
)
def test_what_cannot_come_back_changes_nothing(tab, message):
    tab.play("e4").ask("restore", **message)
    assert tab.error["about"] == "restore" and tab.sans == ["e4"]


def test_an_engine_goes_on_analysing_after_an_edit_is_undone(server):
    engine = StandInEngine()
    server.make_engine = lambda: engine
    with open_tab(server) as tab:
        tab.play("e4").send("analyse", on=True)
        tab.until("lines")
        tab.send("undo")
        tab.until("lines", lambda message: message["node"] == 0)
        assert engine.searches[-1] == chess.STARTING_FEN and engine.running == 1
    assert engine.closed.wait(PATIENCE)
