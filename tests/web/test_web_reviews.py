"""Games that are evaluated: every position with full nodes, and reviewed as `annotate` does, which is the oracle."""

import dataclasses

import chess
import chess.engine
import chess.pgn
import pytest
from board_tab import open_tab
from game_texts import read_game
from stand_in_engine import StandInEngine, annotated, material

from knightadder.pgn.games import text_of
from knightadder.web.messages import FULL_NODES

SCHOLAR = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 { x } 3. Bc4 Nf6 4. Qxf7# 1-0'
# Two sides that give away what they have, and a game that ends by repetition.
LONG = """\
[FEN "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]
[SetUp "1"]

1... d5 2. Qg4 Bxg4 3. Bb5+ Qd7 $5 4. exd5 Qxb5 5. Nc3 (5. d3) 5... Qxd5 6. Nxd5 Kd8 7. Nxc7 Kxc7 1/2-1/2
"""
pytestmark = pytest.mark.usefixtures("material_engine")

REPEATED = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2"


def written(game):
    """Write a game, without the evaluation of its first position, which only the board keeps."""
    again = read_game(text_of(game))
    again.set_eval(None)
    return text_of(again)


def nags(tab):
    return {node["san"]: node["nags"] for node in tab.tree.nodes() if node["nags"]}


@pytest.mark.parametrize("pgn", [SCHOLAR, LONG])
def test_a_game_is_reviewed_as_annotate_does(tab, pgn):
    game, summary = annotated(pgn)
    tab.ask("load_pgn", pgn=pgn).evaluate()
    assert written(tab.tree.game()) == written(game)
    assert [node.nags & {2, 4, 6} for node in game.mainline()].count(set()) < game.end().ply() - 1  # some are marked
    assert tab.position["summary"]["white"] == dataclasses.asdict(summary.white_side)
    assert tab.position["summary"]["black"] == dataclasses.asdict(summary.black_side)
    if pgn == SCHOLAR:
        assert tab.position["summary"]["opening"] == {"eco": summary.eco, "name": summary.opening}


def test_what_the_page_has_is_what_the_server_has(tab):
    tab.ask("load_pgn", pgn=LONG).evaluate()
    reloaded = tab.tree.pgn()
    unlike = {"id": 0, "parent": 0, "verdict": None}  # for a verdict a search is needed
    nodes = [node | unlike for node in tab.tree.nodes()]
    tab.ask("load_pgn", pgn=reloaded)
    assert [node | unlike for node in tab.tree.nodes()] == nodes
    assert tab.position["summary"] is None
    tab.evaluate()
    assert tab.tree.pgn() == reloaded and tab.position["summary"] is not None


def test_a_game_that_is_drawn_ends_level(engine, tab):
    tab.ask("load_pgn", pgn=REPEATED).evaluate()
    assert tab.tree.nodes()[-1]["score"]["text"] == "+0.00" and len(engine.searches) == 8
    engine.searches.clear()
    tab.ask("go_to", node=tab.tree.nodes()[-1]["id"]).play("e4")  # nobody has claimed it
    tab.evaluate()
    assert engine.searches == [tab.position["fen"]]


def test_no_position_keeps_what_a_short_analysis_has_left(engine, tab):
    tab.play("e4").play("e5")
    tab.send("analyse", on=True)
    tab.until("lines")
    tab.ask("analyse", on=False)
    assert tab.tree.nodes()[-1]["score"] and engine.nodes < FULL_NODES
    engine.searches.clear()
    tab.evaluate()
    assert len(engine.searches) == 2  # the position before was searched enough, to judge the move
    tab.evaluate()
    assert len(engine.searches) == 2  # nothing is missing


@pytest.mark.parametrize(("lines", "kept"), [(1, True), (2, False)])
def test_a_longer_analysis_is_kept(engine, tab, lines, kept):
    tab.play("e4").play("e5")
    engine.nodes = FULL_NODES
    tab.send("analyse", on=True, lines=lines)
    tab.until("lines")
    tab.ask("analyse", on=False)
    engine.searches.clear()
    tab.evaluate()
    assert (tab.position["fen"] not in engine.searches) is kept


def test_a_short_analysis_changes_nothing_that_has_been_evaluated(engine, tab):
    tab.play("e4").play("e5").evaluate()
    before = tab.tree.pgn()
    engine.worth = lambda board, move: 700
    for nodes, text in ((FULL_NODES - 1, "+0.00"), (FULL_NODES, "+7.00")):
        engine.nodes = nodes
        tab.send("analyse", on=True)
        tab.until("lines")
        tab.ask("analyse", on=False)
        assert tab.tree.nodes()[-1]["score"]["text"] == text
        assert (tab.tree.pgn() == before) is (nodes < FULL_NODES)


def test_evaluations_of_a_file_are_searched_again_but_not_lost_to_a_short_analysis(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 { [%eval 3.14] } e5 { [%eval -3.14,30] } *")
    tab.ask("go_to", node=tab.tree.nodes()[1]["id"]).send("analyse", on=True)
    tab.until("lines")
    tab.ask("analyse", on=False)
    assert [node["score"] and node["score"]["text"] for node in tab.tree.nodes()] == ["+0.00", "+3.14", "-3.14"]
    tab.evaluate()
    assert [node["score"]["text"] for node in tab.tree.nodes()] == ["+0.00"] * 3


def test_evaluations_of_a_file_stay_where_the_line_is_evaluated_with_fewer_nodes(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 { [%eval 3.14] } e5 { [%eval -3.14,30] } *")
    tab.evaluate(nodes=50_000)
    assert tab.position["summary"]
    assert [node["score"]["text"] for node in tab.tree.nodes()] == ["+0.00", "+3.14", "-3.14"]
    tab.evaluate()
    assert [node["score"]["text"] for node in tab.tree.nodes()] == ["+0.00"] * 3


class Tiring(StandInEngine):
    """An engine whose searches go on until they are stopped after so many of them."""

    def __init__(self, most):
        super().__init__(worth=material)
        self.most = most

    def stream(self, board, limit=None, **more):
        self.endless = len(self.searches) >= self.most
        return super().stream(board, limit, **more)


def test_an_evaluation_is_stopped_and_goes_on_where_it_was(server):
    engine = Tiring(2)
    server.make_engine = lambda: engine
    with open_tab(server) as tab:
        tab.ask("load_pgn", pgn=SCHOLAR).send("evaluate")
        tab.until("progress", lambda message: message["done"] == 2)
        tab.evaluate(on=False)
        assert not engine.running and tab.position["summary"] is None and nags(tab) == {}
        assert "WhiteAccuracy" not in tab.tree.headers
        seen, engine.most = engine.searches[:2], 100
        engine.searches.clear()
        tab.evaluate()
        assert len(engine.searches) == 5 and not set(seen) & set(engine.searches)
        assert written(tab.tree.game()) == written(annotated(SCHOLAR)[0])


def test_another_action_stops_an_evaluation(server):
    engine = Tiring(0)
    server.make_engine = lambda: engine
    with open_tab(server) as tab:
        tab.play("e4").send("evaluate")
        assert tab.until("progress") == {"type": "progress", "done": 0, "all": 2}
        tab.send("play", node=tab.position["node"], move="e5")
        tab.until("progress", lambda message: message["done"] == message["all"])
        assert tab.settle().sans == ["e4", "e5"] and not engine.running


def test_the_line_on_the_board_is_evaluated(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 e5 (1... Nf6 2. Qg4 Nxg4) 2. Nf3 *")
    qg4 = next(node["id"] for node in tab.tree.nodes() if node["san"] == "Qg4")
    tab.ask("go_to", node=qg4)
    headers = dict(tab.tree.headers)
    tab.evaluate()
    assert len(engine.searches) == 5  # the start, e4, Nf6, Qg4, Nxg4
    assert nags(tab) == {"Qg4": [4]} and tab.position["summary"]["white"]["blunders"] == 1
    assert tab.tree.headers == headers  # they are the main line's
    tab.ask("go_to", node=0)
    assert tab.position["summary"] is None
    tab.evaluate()
    assert len(engine.searches) == 7 and tab.position["summary"]["white"]["blunders"] == 0
    assert tab.tree.headers["WhiteAccuracy"] == "100.0" and tab.tree.headers["ECO"] == "C40"
    tab.ask("promote", node=qg4)
    assert tab.position["summary"]["white"]["blunders"] == 1 and tab.position["summary"]["opening"]["eco"] == "B02"
    assert tab.tree.headers["WhiteAccuracy"] != "100.0" and tab.tree.headers["ECO"] == "B02"


def test_the_headers_tell_of_no_other_game(tab):
    tab.ask("load_pgn", pgn='[ECO "Z99"]\n[WhiteAccuracy "12.3"]\n\n1. a3 a6 2. h3 h6 *').evaluate()
    assert tab.tree.headers["ECO"] == "Z99" and tab.tree.headers["WhiteAccuracy"] == "100.0"
    tab.ask("go_to", node=tab.tree.nodes()[-1]["id"]).play("a4")
    assert tab.tree.headers["ECO"] == "Z99" and tab.tree.headers["WhiteAccuracy"] == "12.3"
    assert "BlackAccuracy" not in tab.tree.headers and tab.position["summary"] is None
    tab.ask("delete", node=tab.position["node"])
    assert tab.tree.headers["WhiteAccuracy"] == "100.0" and tab.position["summary"] is not None


def test_marks_follow_a_longer_analysis_but_those_of_the_user_stay(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 Nf6 2. Qg4 Nxg4 3. h3 d6 $5 *")
    tab.evaluate()
    assert nags(tab) == {"Qg4": [4], "d6": [5]}
    qg4 = next(node for node in tab.tree.nodes() if node["san"] == "Qg4")
    engine.worth, engine.nodes = (lambda board, move: 0), 10**6
    tab.ask("go_to", node=qg4["id"]).send("analyse", on=True)
    tab.until("lines", lambda message: message["node"] == qg4["id"])
    tab.ask("analyse", on=False)
    assert nags(tab) == {"d6": [5]}


def test_a_great_move_stays_marked_in_a_longer_analysis_of_the_position_before_it(engine, tab):
    engine.worth = lambda board, move: 0 if move.uci() == "g1f3" else -500
    tab.ask("load_pgn", pgn="1. Nf3 *").evaluate()
    assert nags(tab) == {"Nf3": [1]}
    engine.nodes = 10**6
    tab.ask("go_to", node=0).send("analyse", on=True)
    tab.until("lines", lambda message: message["node"] == 0)
    tab.ask("analyse", on=False)
    assert nags(tab) == {"Nf3": [1]}


def test_moves_are_marked_while_they_are_analysed_and_said_is_what_was_best(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 Nf6 2. Qg4 h6 3. Qf3 $6 d6 *")
    qg4, h6 = tab.tree.nodes()[3:5]
    engine.nodes = FULL_NODES
    tab.ask("go_to", node=h6["id"]).send("analyse", on=True)
    tab.until("lines", lambda message: message["node"] == h6["id"])
    tab.send("go_to", node=qg4["id"])
    tab.until("lines", lambda message: message["node"] == qg4["id"])
    tab.ask("analyse", on=False)
    assert nags(tab) == {"Qg4": [4], "h6": [4], "Qf3": [6]}
    rows = {row["san"]: row for row in tab.tree.nodes()}
    assert [san for san in rows if rows[san]["missed"]] == ["h6", "Qf3"]
    verdict = {"word": "blunder", "good": False, "best": "Nxg4", "best_score": "-9.00", "score": "+1.00"}
    assert rows["h6"]["verdict"].items() >= verdict.items() and rows["h6"]["verdict"]["loss"] > 50
    assert rows["Qf3"]["verdict"] is None  # it is not the engine's mark


def test_a_mark_that_the_user_removes_is_not_set_again_by_a_search(engine, tab):
    tab.ask("load_pgn", pgn="1. e4 Nf6 2. Qg4 h6 *").evaluate()
    qg4, h6 = [next(row for row in tab.tree.nodes() if row["san"] == san) for san in ("Qg4", "h6")]
    assert nags(tab) == {"Qg4": [4], "h6": [4]}
    tab.ask("remark", node=qg4["id"], comment="", nags=[])
    tab.ask("remark", node=h6["id"], comment="", nags=[4, 14])  # another sign leaves the engine's judgement
    assert tab.tree.rows[h6["id"]]["verdict"]["word"] == "blunder"
    tab.evaluate()
    engine.nodes = FULL_NODES
    tab.ask("go_to", node=qg4["id"]).send("analyse", on=True)
    tab.until("lines", lambda message: message["node"] == qg4["id"])
    tab.ask("analyse", on=False)
    assert nags(tab) == {"h6": [4, 14]}
    tab.ask("undo").ask("undo").evaluate()
    assert nags(tab)["Qg4"] == [4]


def test_comments_marks_and_the_order_of_variations_are_changed_and_undone(tab):
    tab.ask("load_pgn", pgn="1. e4 { [%eval 0.3] old } e5 (1... c5) (1... e6) *")
    before = tab.tree.pgn()
    e4, e5, c5, e6 = (row["id"] for row in tab.tree.nodes()[1:])
    tab.ask("remark", node=e4, comment="new {words}\n[%cal Gd2d4]", nags=[3, 14])
    assert tab.tree.rows[e4]["comment"] == "[%eval 0.3] new (words) [ %cal Gd2d4]" and nags(tab) == {"e4": [3, 14]}
    tab.ask("reorder", node=e6, up=True).ask("reorder", node=e5, up=False)
    assert tab.sans == ["e4", "e6", "e5", "c5"] and tab.game["game"] is None
    tab.ask("reorder", node=c5, up=False)
    assert tab.error["text"] == "this variation cannot be moved any further"
    assert [row["san"] for row in tab.tree.nodes()[1:]] == [node.san() for node in _all_nodes(tab.tree.game())]
    tab.ask("undo").ask("undo").ask("undo")
    assert tab.tree.pgn() == before and tab.history == {
        "type": "history",
        "undo": "the loaded game",
        "redo": "the comment",
    }


def test_a_loaded_game_can_be_given_marks_whatever_its_comments_are(tab):
    words = " ".join(["word"] * 4000)
    tab.ask("load_pgn", pgn=f"1. e4 $0 $8 {{ {words} }} *")
    e4 = tab.tree.nodes()[1]
    tab.ask("remark", node=e4["id"], comment=e4["comment"], nags=[*e4["nags"], 1])
    assert nags(tab) == {"e4": [1, 8]} and tab.tree.rows[e4["id"]]["comment"] == words


def _all_nodes(game):
    for node in game.variations:
        yield node
        yield from _all_nodes(node)


def test_the_effort_of_an_evaluation_is_chosen(engine, tab):
    limits = []
    original = engine.stream

    def stream(board, limit=None, **more):
        limits.append(limit)
        return original(board, limit, **more)

    engine.stream = stream
    tab.play("e4").evaluate(nodes=5_000)
    tab.evaluate(nodes=4_000)  # for which nothing is missing
    tab.evaluate(seconds=0.5)
    tab.evaluate(seconds=0.2)
    assert limits == [chess.engine.Limit(nodes=5_000)] * 2 + [chess.engine.Limit(time=0.5)] * 2


def test_the_threat_is_analysed_and_is_no_evaluation(engine, tab):
    tab.play("e4").send("analyse", on=True, threat=True)
    lines = tab.until("lines")
    assert lines["threat"] and lines["turn"] == "white" and lines["lines"][0]["nodes"] == engine.nodes
    tab.ask("analyse", on=False)
    assert tab.tree.nodes()[-1]["score"] is None and engine.searches[-1].split()[1] == "w"


def test_a_position_without_moves(tab):
    tab.evaluate()
    counts = ("brilliant", "great", "inaccuracies", "mistakes", "blunders", "missed")
    assert tab.position["summary"] == {
        "white": dict.fromkeys(("accuracy", "centipawn_loss")) | dict.fromkeys(counts, 0),
        "black": dict.fromkeys(("accuracy", "centipawn_loss")) | dict.fromkeys(counts, 0),
        "opening": None,
    }


def test_better_lines_are_left_out_of_a_game_that_is_full(tab, monkeypatch):
    tab.ask("load_pgn", pgn=SCHOLAR)
    monkeypatch.setattr("knightadder.web.reviews.MAX_NODES", len(tab.tree.nodes()))
    tab.evaluate()
    assert len(tab.sans) == 7 and nags(tab)
