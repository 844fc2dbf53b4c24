"""What a tab can do, told over its WebSocket, with a stand-in for the engine."""

import asyncio
import io
import random
from functools import partial

import chess
import chess.pgn
import pytest
from board_tab import PATIENCE, open_tab
from random_messages import random_message
from stand_in_engine import StandInEngine, material

from knightadder.engine.errors import EngineError
from knightadder.web import session
from knightadder.web.clock import ChessClock
from knightadder.web.played_game import PlayedGame
from knightadder.web.tab_engine import TabEngine

# --- the position --------------------------------------------------------------------------------------------------


def test_the_start_position_is_shown_with_its_legal_moves(tab):
    shown = tab.position
    assert shown["fen"] == chess.STARTING_FEN
    assert shown["pieces"]["e1"] == "wK" and shown["pieces"]["d8"] == "bQ"
    moves = {uci for targets in shown["legal"].values() for uci in targets.values()}
    assert moves == {move.uci() for move in chess.Board().legal_moves}


def test_a_move_is_played_by_san_or_uci_and_can_be_visited_again(tab):
    tab.play("e4").play("e7e5")
    assert tab.sans == ["e4", "e5"]
    assert tab.position["last"] == ["e7", "e5"]
    assert tab.position["opening"] == {"eco": "C20", "name": "King's Pawn Game"}
    tab.ask("go_to", node=tab.tree.nodes()[1]["id"])
    assert tab.position["san"] == "e4"


def test_castling_is_offered_on_the_goal_and_on_the_rook(tab):
    tab.ask("load_fen", fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    targets = tab.position["legal"]["e1"]
    assert targets["g1"] == targets["h1"] == "e1g1"
    assert targets["c1"] == targets["a1"] == "e1c1"
    tab.play("e1g1")
    assert tab.position["last"] == ["e1", "g1"] and tab.sans == ["O-O"]


# --- the game ------------------------------------------------------------------------------------------------------


def test_a_move_is_taken_back_with_its_answer(engine, tab):
    engine.script = ["e5", "Nc6"]
    tab.ask("new_game", color="white").play("e4", "e5").play("Nf3", "Nc6")
    tab.ask("take_back")
    assert tab.sans == ["e4", "e5"] and tab.position["legal"]["g1"]
    tab.ask("take_back")
    assert tab.sans == []
    tab.ask("take_back")
    assert "no move of yours" in tab.error["text"]


def test_a_move_is_taken_back_while_the_engine_thinks(engine, tab):
    engine.endless = True
    tab.ask("new_game", color="white").play("e4")
    assert tab.position["legal"] == {}
    tab.ask("take_back")
    assert tab.sans == [] and tab.position["legal"]["e2"] and not engine.running


def test_a_lost_game_goes_on_from_the_move_taken_back(engine, tab):
    engine.script = ["e5", "Qh4#"]
    tab.ask("new_game", color="white").play("f3", "e5").play("g4", "Qh4#")
    assert tab.game["game"]["result"] == "0-1"
    tab.ask("take_back")
    assert tab.game["game"]["running"] and tab.sans == ["f3", "e5"] and '[Result "*"]' in tab.tree.pgn()


def test_a_game_goes_on_after_its_review_without_the_lines_of_the_review(engine, tab):
    engine.script = ["e5", "Qh4#"]
    tab.ask("new_game", color="white").play("f3", "e5").play("g4", "Qh4#")
    assert tab.position["at_tip"]
    engine.worth = material  # which sees the mate after 2. g4
    tab.evaluate()
    tab.ask("go_to", node=0)
    assert not tab.position["at_tip"]
    tab.ask("take_back")
    assert tab.sans == ["f3", "e5"] and tab.position["at_tip"] and tab.position["san"] == "e5"
    engine.script = ["Nc6"]
    tab.play("Nh3", "Nc6")
    assert [move.uci() for move in tab.tree.game().mainline_moves()] == ["f2f3", "e7e5", "g1h3", "b8c6"]


def test_the_user_moves_only_on_his_turn_and_at_the_end(engine, tab):
    engine.endless = True
    tab.ask("new_game", color="white").play("e4").play("e5")
    assert tab.error["text"] == "it is not your move"
    tab.newest.pop("error")
    tab.ask("play", node=tab.tree.nodes()[0]["id"], move="d4")
    assert tab.error["text"] == "it is not your move" and tab.sans == ["e4"]


# A game without an end in sight: White's rook goes to and fro, and Black has pawn moves.
_ROOK = ["Rb1", "Rc1", "Rd1", "Rc1", "Rb1", "Rc1", "Rd1", "Rc1", "Rb1"]
_PAWNS = [f"{file}6" for file in "abcdefgh"] + ["a5"]


@pytest.mark.parametrize(
    ("cp", "number", "moves", "accepted"),
    [(0, 40, 3, False), (-50, 40, 9, True), (300, 40, 9, False), (-50, 3, 9, False)],
)
def test_a_draw_is_agreed_with_an_engine_that_has_not_been_ahead_for_long(server, cp, number, moves, accepted):
    server.make_engine = lambda: StandInEngine(_PAWNS, cp=cp)
    with open_tab(server) as tab:
        tab.ask("load_fen", fen=f"4k3/pppppppp/8/8/8/8/8/R3K2R w KQ - 0 {number}")
        tab.ask("new_game", color="white", start="here")
        for move, answer in list(zip(_ROOK, _PAWNS, strict=True))[:moves]:
            tab.play(move, answer)
        tab.ask("offer_draw")
        assert (tab.game["game"]["reason"] == "Draw agreed") is accepted
        assert accepted or "declines" in tab.notice["text"]


def test_the_engine_offers_a_draw_in_a_level_game(server):
    server.make_engine = lambda: StandInEngine(_PAWNS, cp=10)
    with open_tab(server) as tab:
        tab.ask("load_fen", fen="4k3/pppppppp/8/8/8/8/8/R3K2R w KQ - 0 40")
        tab.ask("new_game", color="white", start="here")
        offers = [tab.play(*both).game["game"]["draw_offered"] for both in list(zip(_ROOK, _PAWNS, strict=True))[:8]]
        assert offers == [False] * 7 + [True]
        tab.ask("offer_draw")
        assert tab.game["game"]["reason"] == "Draw agreed"


def test_a_third_repetition_ends_the_game(engine, tab):
    engine.script = ["Nf6", "Ng8", "Nf6", "Ng8"]
    tab.ask("new_game", color="white")
    tab.play("Nf3", "Nf6").play("Ng1", "Ng8").play("Nf3", "Nf6").play("Ng1", "Ng8")
    assert (tab.game["game"]["result"], tab.game["game"]["reason"]) == ("½-½", "Threefold repetition")


def test_a_game_from_the_position_on_the_board_keeps_its_moves(engine, tab):
    engine.script = ["Nf6"]
    tab.play("e4").play("e5").ask("new_game", color="white", start="here").play("Nf3", "Nf6")
    assert tab.sans == ["e4", "e5", "Nf3", "Nf6"]
    tab.ask("take_back").ask("take_back")
    assert tab.sans == ["e4", "e5"] and "no move of yours" in tab.error["text"]


def test_a_clock_runs_and_is_kept_in_the_game(engine, tab):
    engine.script = ["e5"]
    tab.send("new_game", color="white", initial=3600, increment=2)
    tab.until("game", lambda message: message["game"] and message["game"]["clock"]["running"] == "white")
    tab.play("e4", "e5")
    assert tab.game["game"]["clock"]["running"] == "white"
    assert all(tab.tree.pgn().count(command) == 2 for command in ("[%clk", "[%emt"))
    assert '[TimeControl "3600+2"]' in tab.tree.pgn()


def test_a_clock_that_runs_out_ends_the_game(engine, tab):
    engine.endless = True
    tab.send("new_game", color="black", initial=1)
    over = tab.until("game", lambda message: message["game"] and not message["game"]["running"])
    assert (over["game"]["result"], over["game"]["reason"]) == ("0-1", "White ran out of time")
    tab.settle()
    assert '[Result "0-1"]' in tab.tree.pgn()
    assert not engine.running


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "play", "node": 0, "move": "e4"},
        {"kind": "offer_draw"},
    ],
    ids=lambda message: message["kind"],
)
def test_the_flag_may_fall_while_a_search_is_stopped(tab, monkeypatch, message):
    now = 0
    monkeypatch.setattr(session, "ChessClock", partial(ChessClock, now=lambda: now))
    tab.send("new_game", color="white", initial=1)
    tab.until("game", lambda message: message["game"] and message["game"]["clock"]["running"] == "white")
    stop = TabEngine.stop

    async def stop_late(worker):
        nonlocal now
        await stop(worker)
        now = 1
        await asyncio.sleep(1)  # until after the flag, since the session looks at the clock each second

    with monkeypatch.context() as patch:
        patch.setattr(PlayedGame, "accepts_draw", lambda game, board: True)
        patch.setattr(TabEngine, "stop", stop_late)
        tab.ask(**message)
    tab.settle()
    game = tab.game["game"]
    assert (game["result"], game["reason"]) == ("0-1", "White ran out of time")
    assert game["clock"]["running"] is None and tab.sans == []


def test_a_move_that_comes_after_the_flag_is_refused(tab):
    tab.send("new_game", color="white", initial=1)
    tab.until("game", lambda message: message["game"] and not message["game"]["running"])
    tab.ask("play", node=tab.position["node"], move="e4", in_game=True)
    assert "your move came after the end of the game" in tab.error["text"]
    assert tab.sans == [] and tab.game["game"]["reason"] == "White ran out of time"
    tab.play("e4")  # the user has seen the end, and analyses
    assert tab.sans == ["e4"]


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "new_game", "color": "white"},
        {"kind": "analyse", "on": True},
        {"kind": "evaluate"},
        {"kind": "load_fen", "fen": chess.STARTING_FEN},
        {"kind": "load_pgn", "pgn": "1. e4"},
        {"kind": "delete", "node": 0},
        {"kind": "promote", "node": 0},
        {"kind": "play_line", "node": 0, "moves": ["e2e4"]},
    ],
    ids=lambda message: message["kind"],
)
def test_a_running_game_is_neither_analysed_nor_lost(tab, message):
    tab.ask("new_game", color="white").ask(**message)
    assert "while the game is running" in tab.error["text"]
    assert tab.game["game"]["running"] and tab.sans == []


# --- analysing -----------------------------------------------------------------------------------------------------


def test_the_analysis_follows_the_board(engine, tab):
    tab.send("analyse", on=True)
    tab.until("lines")
    tab.send("play", node=tab.position["node"], move="d4")
    message = tab.until("lines", lambda message: message["node"] != 0)
    assert message["turn"] == "black" and engine.searches[-1].startswith("rnbqkbnr/pppppppp/8/8/3P4")


def test_the_analysis_goes_on_after_a_refusal(engine, tab):
    tab.send("analyse", on=True)
    tab.until("lines")
    engine.began.clear()
    tab.ask("delete", node=0)
    assert tab.error["text"] == "the start position cannot be deleted"
    assert engine.began.wait(PATIENCE)


def test_the_line_is_evaluated_for_the_graph(engine, tab):
    tab.play("e4").play("e5").ask("go_to", node=0)
    tab.evaluate()
    assert [fen.split()[0] for fen in engine.searches] == [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR",
    ]  # from the beginning
    assert all(node["score"] for node in tab.tree.nodes())
    assert tab.tree.pgn().count("[%eval") == 3
    searches = len(engine.searches)
    tab.evaluate()
    assert len(engine.searches) == searches  # nothing is evaluated twice


def test_ends_of_games_are_in_the_graph_as_well(tab):
    tab.ask("load_pgn", pgn="1. f3 e5 2. g4 Qh4# 0-1").evaluate()
    assert tab.tree.nodes()[-1]["score"] == {"text": "#", "chances": 0.0}


def test_no_search_where_the_game_is_over(engine, tab):
    tab.ask("load_fen", fen="R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1").ask("analyse", on=True)
    assert engine.searches == [] and tab.position["outcome"]


# --- the tree ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pgn", "complaint"),
    [
        ("", "no game"),
        ("some words", "not PGN"),
        ('[Variant "Atomic"]\n\n1. e4 *', "atomic is not supported"),
        ('[Variant "Nonsense"]\n\n1. e4 *', "cannot be read"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[SetUp "1"]\n\n*', "illegal position"),
        ('[FEN "nonsense"]\n[SetUp "1"]\n\n*', "cannot be read"),
        (f'[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 {"9" * 4300}"]\n[SetUp "1"]\n\n*', "up to 9999"),
    ],
)
def test_what_is_no_game_is_refused(tab, pgn, complaint):
    tab.play("e4").ask("load_pgn", pgn=pgn)
    assert complaint in tab.error["text"] and tab.sans == ["e4"]


def test_null_moves_of_commentators_are_left_out(tab):
    tab.ask("load_pgn", pgn="1. e4 e5 (1... -- 2. d4) 2. Nf3 *")
    assert tab.sans == ["e4", "e5", "Nf3"]
    assert tab.notice["text"] == "Null moves cannot be analysed, so their lines end before them"
    tab.ask("load_pgn", pgn="1. e4 -- 2. d4 e5 (2... Ke4) *")
    assert tab.sans == ["e4"] and "Ke4" in tab.notice["text"] and ". Null moves" in tab.notice["text"]


def test_what_cannot_be_is_left_out_of_a_position_and_said(tab):
    tab.ask("load_fen", fen="4k3/8/8/8/8/8/8/R3K3 w KQ e6 0 1")
    assert tab.position["fen"] == "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"
    assert tab.notice["text"] == "Impossible castling right K left out. Impossible en passant square e6 left out"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("", "The FEN is short, so White is to move and neither side may castle"),
        (" b", "The FEN is short, so neither side may castle"),
        (" b Kq", None),
        (" w KQ - 3", None),
    ],
)
def test_missing_fields_of_a_fen_are_those_of_python_chess(tab, fields, told):
    fen = f"r3k2r/8/8/8/8/8/8/R3K2R{fields}"
    tab.send("check_fen", fen=fen)
    assert tab.until("fen_checked")["problem"] is None
    tab.ask("load_fen", fen=fen)
    assert tab.position["fen"] == chess.Board(fen).fen()
    assert tab.newest.get("notice", {}).get("text") == told


@pytest.mark.parametrize(
    ("fen", "complaint"),
    [
        ("nonsense", "the board must have 8 ranks, not 1"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings"),
        ("", "a FEN must have 4 to 6 fields, not 0"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 10000", "up to 9999"),
        ("4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1", "more pieces than promotions"),
    ],
)
def test_positions_that_are_none_are_refused(tab, fen, complaint):
    tab.send("check_fen", fen=fen)
    assert complaint in tab.until("fen_checked")["problem"]
    tab.ask("load_fen", fen=fen)
    assert complaint in tab.error["text"] and tab.position["fen"] == chess.STARTING_FEN


# --- the worth of each piece ---------------------------------------------------------------------------------------


def test_the_worths_wait_for_nothing(server, late_engine):
    with open_tab(server, wait=False) as tab:
        tab.ask("worths", node=0)
        assert tab.error["text"] == "the engine is not loaded"
        late_engine.arrives.set()
        tab.until("engine", lambda message: message["state"] == "ready")
        assert tab.ask("worths", node=0).worths["fen"] == chess.STARTING_FEN


# --- tabs and engines ----------------------------------------------------------------------------------------------


def test_tabs_do_not_disturb_each_other(server):
    engines = [StandInEngine(), StandInEngine()]
    server.make_engine = iter(engines).__next__
    with open_tab(server) as one, open_tab(server) as other:
        one.send("analyse", on=True)
        one.until("lines")
        other.play("d4").ask("new_game", color="white")
        one.send("play", node=0, move="e4")
        one.until("lines", lambda message: message["node"] != 0)
        assert one.sans == ["e4"] and other.sans == []
        assert engines[0].running and not engines[1].running
    assert all(engine.closed.wait(PATIENCE) for engine in engines)


def test_a_closed_tab_stops_its_search(server, engine):
    with open_tab(server) as tab:
        tab.send("analyse", on=True)
        tab.until("lines")
        assert engine.running
    assert engine.closed.wait(PATIENCE) and not engine.running


def test_an_engine_that_comes_too_late_is_closed(server, late_engine):
    with open_tab(server, wait=False):
        assert late_engine.wanted.wait(PATIENCE)
    late_engine.arrives.set()
    assert late_engine.closed.wait(PATIENCE)


def test_a_game_can_begin_before_the_engine_is_there(server, late_engine):
    late_engine.script = ["e5"]
    with open_tab(server, wait=False) as tab:
        tab.ask("new_game", color="white", initial=3600).play("e4")
        assert tab.sans == ["e4"] and tab.game["game"]["clock"]["running"] is None
        late_engine.arrives.set()
        tab.until("position", lambda message: message["san"] == "e5")
        assert tab.until("game")["game"]["clock"]["running"] == "white"


def test_an_engine_that_fails_is_told(server):
    def make():
        raise EngineError("no engine today")

    server.make_engine = make
    with open_tab(server) as tab:
        assert tab.engine == {"type": "engine", "state": "failed", "text": "no engine today"}
        tab.play("e4")
        assert tab.sans == ["e4"]
        tab.send("analyse", on=True)
        assert tab.until("error")["text"] == "no engine today"


def test_an_engine_without_its_network_is_told(server, engine):
    engine.problem = "the built-in network cannot be used; the classical evaluation is used instead"
    with open_tab(server) as tab:
        assert tab.notice["text"] == engine.problem


def test_a_tab_survives_whatever_is_said(server, engine):
    """Messages by chance: none ends the tab, starts a second search, or leaves a game that PGN cannot hold."""
    chance = random.Random(1)
    with open_tab(server) as tab:
        for _ in range(60):
            for _ in range(5):
                moves = [move for targets in tab.position["legal"].values() for move in targets.values()] or ["e2e4"]
                engine.endless = chance.random() < 0.3
                node = chance.choice([tab.position["node"], tab.position["node"], chance.randrange(30)])
                tab.send_text(random_message(chance, moves, node))
            tab.settle()
            read = chess.pgn.read_game(io.StringIO(tab.tree.pgn()))
            assert read.errors == []
            assert sum(1 for _ in read.mainline()) <= len(tab.sans)
            assert tab.position["node"] in {node["id"] for node in tab.tree.nodes()}
            assert engine.running <= 1
        tab.newest.pop("error", None)
        if tab.game["game"] and tab.game["game"]["running"]:
            tab.ask("resign")
        assert tab.ask("load_fen", fen=chess.STARTING_FEN).play("e4").sans == ["e4"]
    assert engine.closed.wait(PATIENCE)


# --- hints and shapes ----------------------------------------------------------------------------------------------


def test_a_hint_is_the_move_of_the_engine_at_full_strength(engine, tab):
    engine.script = ["e5", "Nf3", "Nc6"]
    tab.ask("new_game", color="white", elo=1400, initial=3600).play("e4", "e5")
    tab.send("hint", node=tab.position["node"])
    hint = tab.until("hint")
    assert hint["node"] == tab.position["node"] and hint["move"] == ["g1", "f3"]
    assert engine.options["UCI_LimitStrength"] is False and tab.game["game"]["clock"]["running"] == "white"
    tab.play("Bc4", "Nc6")
    assert engine.options == {"UCI_LimitStrength": True, "UCI_Elo": 1400}


def test_a_move_ends_the_search_for_a_hint(engine, tab):
    engine.script = ["e5", "Nf3", "Nc6"]
    tab.ask("new_game", color="white").play("e4", "e5")
    engine.endless = True
    tab.ask("hint", node=tab.position["node"])
    engine.began.clear()
    tab.ask("play", node=tab.position["node"], move="d4")
    assert tab.sans == ["e4", "e5", "d4"] and "hint" not in tab.newest


def test_hints_are_for_the_user_in_a_game(engine, tab):
    tab.ask("hint", node=0)
    assert tab.error["text"] == "no game is being played"
    engine.endless = True
    tab.ask("new_game", color="white").play("e4").ask("hint", node=tab.position["node"])
    assert tab.error["text"] == "you can only ask for a hint when it is your turn"


def test_shapes_are_kept_in_the_game(tab):
    tab.play("e4").ask("draw", node=1, shapes=["Gd2d4", "Rd4"])
    assert tab.tree.nodes()[1]["shapes"] == ["Rd4", "Gd2d4"]
    assert "[%csl Rd4]" in tab.tree.pgn() and "[%cal Gd2d4]" in tab.tree.pgn()
    tab.ask("draw", node=1, shapes=[])
    assert tab.tree.nodes()[1]["shapes"] == [] and "[%c" not in tab.tree.pgn()
    tab.ask("draw", node=1, shapes=["Pd2d4"])
    assert tab.error["text"].startswith("bad message")
