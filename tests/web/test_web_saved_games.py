"""The user's games: what is kept, by which rules, and what is said if it cannot be kept."""

import contextlib
import json
import sqlite3
import threading
from unittest.mock import Mock
from urllib.request import Request, urlopen

import pytest
from board_server import BoardServer
from board_tab import get, open_tab
from stand_in_engine import StandInEngine
from waiting import eventually

from knightadder import cli
from knightadder.web import keeper
from knightadder.web.messages import MessageError
from knightadder.web.saved_games import SavedGames

GAMES = """[Event "Blitz"]
[White "Müller"]
[Black "Ben"]
[Date "2026.03.01"]
[Result "1-0"]

1. e4 1-0

[White "Carl"]
[Black "Dora"]

1. d4 *
"""


@pytest.fixture
def saved(tmp_path):
    return SavedGames(tmp_path / "new" / "games.sqlite")


@pytest.fixture
def server(saved):
    with BoardServer(saved=saved).running() as server:
        server.make_engine = StandInEngine
        yield server


def titles(saved, wanted=""):
    return [(game.white, game.black, game.result) for game in saved.find(wanted, 0, 10)[0]]


def ask(server, path, method="GET", body=None):
    request = Request(f"http://{server.host}{path}", body, {"Cookie": server.cookie, "Origin": f"http://{server.host}"})
    request.method = method
    with urlopen(request) as answer:
        return json.loads(answer.read())


def test_a_game_that_was_changed_elsewhere_is_not_overwritten(saved):
    first = saved.put("1. e4 *", {"White": "A"})
    second = saved.put("1. e4 e5 *", {"White": "A"}, first)
    assert second.number == first.number and titles(saved) == [("A", "?", "?")]
    other = saved.put("1. e4 c5 *", {"White": "B"}, first)  # in a second tab, which opened it before
    assert other.number != first.number
    assert [saved.get(each.number)[0] for each in (second, other)] == ["1. e4 e5 *\n", "1. e4 c5 *\n"]
    assert saved.put("1. e4 c5 *", {"White": "B"}, once=True) == other
    saved.delete(other.number)
    assert saved.get(other.number) is None
    again = saved.put("1. e4 c6 *", {"White": "B"}, other)
    saved.delete(other.number, deleted=False)
    assert {saved.get(each.number)[0] for each in (again, other)} == {"1. e4 c6 *\n", "1. e4 c5 *\n"}


def test_a_game_in_a_new_file_is_not_taken_for_an_old_one(saved):
    place = saved.put("1. e4 *", {})
    saved.file.unlink()
    other = saved.put("1. d4 *", {})
    assert saved.put("1. e4 e5 *", {}, place).number != other.number
    assert sorted(saved.all()) == ["1. d4 *\n", "1. e4 e5 *\n"]


def test_files_are_added_searched_and_saved(server, saved):
    assert ask(server, "/games", "POST", GAMES.encode("latin-1")) == {"new": 2, "known": 0}
    assert ask(server, "/games", "POST", GAMES.encode("utf-8")) == {"new": 0, "known": 2}
    assert "has no game" in ask(server, "/games", "POST", b"")["problem"]
    assert ask(server, "/games?search=M%C3%9CL+2026")["total"] == 1
    [found] = ask(server, "/games?search=carl")["games"]
    assert (found["white"], found["black"]) == ("Carl", "Dora")
    assert ask(server, f"/games/{found['number']}?deleted=1", "POST") == {}
    assert titles(saved) == [("Müller", "Ben", "1-0")]
    assert "no such game" in ask(server, "/games/77?deleted=1", "POST")["problem"]
    with open_tab(server) as tab:
        number = saved.find("", 0, 1)[0][0].number
        tab.ask("open_saved", number=number)
        assert tab.sans == ["e4"] and tab.tree.headers["White"] == "Müller"
        tab.ask("play", node=tab.tree.nodes()[-1]["id"], move="e5").ask("save_game")
        assert "1. e4 e5" in saved.get(number)[0]
        tab.ask("open_saved", number=found["number"])
        assert tab.error["text"] == "that game is no longer in your games"


def test_games_against_the_engine_are_saved_with_each_move(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white")
        assert saved.find("", 0, 10)[1] == 0  # it has no moves yet
        tab.play("e4", "a5")
        tab.ask("resign")
        tab.ask("save_game")  # waits for what is written before
    later = SavedGames(saved.file)  # as after a restart
    [game] = later.find("you", 0, 10)[0]
    assert game.result == "0-1"
    assert "1. e4" in later.get(game.number)[0] and "a5" in later.get(game.number)[0]


def test_a_game_that_comes_back_at_a_new_server_keeps_its_place_and_goes_on_there(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white")
        tab.play("e4", "a5")
        tab.ask("draw", node=tab.position["node"], shapes=["Gd2d4"])
        tab.ask("save_game")  # waits for what is written before
        place, pgn = tab.newest["place"]["place"], tab.tree.pgn()
    with open_tab(server) as tab:  # a new session, as after a restart
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, path=[0, 0])
        assert tab.newest["games"]["place"] == place
        tab.ask("save_game")
        tab.ask("new_game", color="white", start="here")
        tab.play("d4", "a4").ask("save_game")
        [game] = saved.find("", 0, 10)[0]
        assert "[%cal Gd2d4]" in saved.get(game.number)[0] and "2. d4 a4" in saved.get(game.number)[0]
        tab.ask("resign").ask("new_game", color="white", start="here").play("h4", "a3").ask("save_game")
        assert saved.find("", 0, 10)[1] == 2  # the finished game is not replaced


@pytest.mark.parametrize("known", ["nothing", "the first move", "all moves"])
def test_a_save_that_the_page_has_not_learned_of_makes_no_second_game(server, saved, known):
    """As if the server had been killed after a save, before its last messages had reached the page."""
    with open_tab(server) as tab:
        place = tab.ask("new_game", color="white").newest["games"]["place"]
        tab.play("e4", "a5").ask("save_game")  # waits for what is written before
        if known != "nothing":
            place = tab.newest["place"]["place"]
        pgn = tab.tree.pgn()
        tab.play("d4", "a4").ask("save_game")
        if known == "all moves":
            pgn = tab.tree.pgn()
    with open_tab(server) as tab:  # a new session, as after a restart
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, path=[0, 0, 0, 0])
        assert tab.sans == ["e4", "a5", "d4", "a4"] and tab.position["san"] == "a4"
        tab.ask("new_game", color="white", start="here").play("h4", "a3").ask("save_game")
    [game] = saved.find("", 0, 10)[0]
    assert "2. d4" in saved.get(game.number)[0] and "3. h4" in saved.get(game.number)[0]


def test_the_end_of_a_game_that_the_page_has_not_learned_of_comes_back(server, saved):
    with open_tab(server) as tab:
        place = tab.ask("new_game", color="white").newest["games"]["place"]
        pgn = tab.play("e4", "a5").tree.pgn()
        tab.ask("resign").ask("save_game")
    with open_tab(server) as tab:
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, path=[0])
        assert tab.sans == ["e4", "a5"] and tab.position["san"] == "e4" and tab.tree.headers["Result"] == "0-1"
    assert titles(saved) == [("You", "Knightadder", "0-1")]


def test_the_end_of_a_game_that_was_not_saved_is_saved_when_it_comes_back(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white").play("e4", "a5").ask("save_game")
        place, pgn = tab.newest["place"]["place"], tab.tree.pgn()
    ended = pgn.replace('"*"', '"0-1"').replace(" *", " 0-1")
    with open_tab(server) as tab:
        tab.ask("restore", edited={"0": ended}, places={"0": place}, began=0)
        eventually(lambda: titles(saved) == [("You", "Knightadder", "0-1")])


@pytest.mark.parametrize("saves", [0, 1])
def test_moves_that_were_not_saved_are_saved_when_the_game_comes_back(server, saved, saves):
    """As if the server had been killed before it had saved the first move, or the second one."""
    with BoardServer(saved=saved if saves else None).running() as killed:
        killed.make_engine = StandInEngine
        with open_tab(killed) as tab:
            games = tab.ask("new_game", color="white").newest["games"]
            pgn = tab.play("e4", "a5").ask("save_game").tree.pgn()
            place = tab.newest["place"]["place"] if saves else games["place"]
            assert games["began"] == 0
    with open_tab(server) as tab:
        shown = pgn.rstrip().removesuffix("*") + "2. d4 a4 *"
        tab.ask("restore", edited={"0": shown}, places={"0": place}, began=0)
        eventually(lambda: [each.number for each in saved.find("", 0, 10)[0] if "2. d4" in saved.get(each.number)[0]])
        assert tab.newest["games"]["began"] == 0
        tab.ask("go_to", node=4).ask("new_game", color="white", start="here").play("h4", "a3").ask("save_game")
    [game] = saved.find("", 0, 10)[0]
    assert "3. h4" in saved.get(game.number)[0]


@pytest.mark.parametrize("case", ["no game", "no moves", "deleted"])
def test_only_a_played_game_that_was_not_deleted_is_saved_when_it_comes_back(server, saved, case):
    with open_tab(server) as tab:
        place = tab.ask("new_game", color="white").newest["games"]["place"]
        pgn = tab.play("e4", "a5").ask("save_game").tree.pgn()
        for game in saved.find("", 0, 10)[0]:
            saved.delete(game.number)
    place = place if case == "deleted" else [0, 1]
    began = {"no game": None, "no moves": 2, "deleted": 0}[case]
    with open_tab(server) as tab:
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, began=began)
    with open_tab(server) as tab:
        tab.ask("load_pgn", pgn="1. d4 *").ask("save_game")  # waits for what is written before
    assert titles(saved) == [("?", "?", "*")]


def test_a_change_elsewhere_is_kept_beside_the_game_that_comes_back(server, saved):
    with open_tab(server) as tab:
        tab.ask("load_pgn", pgn="1. e4 e5 *").ask("save_game")
        place, pgn = tab.newest["place"]["place"], tab.tree.pgn()
        tab.ask("play", node=0, move="d4").ask("save_game")
        assert len(titles(saved)) == 1
    with open_tab(server) as tab:
        tab.ask("restore", edited={"0": pgn.replace("e5 *", "e5 2. f4 *")}, places={"0": place}).ask("save_game")
        assert tab.sans == ["e4", "e5", "f4"]
    assert len(titles(saved)) == 2


def test_a_game_that_goes_on_replaces_no_saved_variation(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white")
        tab.play("e4", "a5")
        tab.ask("save_game")  # waits for what is written before
        place = tab.newest["place"]["place"]
        pgn = tab.tree.pgn().replace("a5", "a5 ( 1... h5 {mine} )").replace("[Event", '[Annotator "me"]\n[Event', 1)
    with open_tab(server) as tab:  # a new session, as after a restart
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, path=[0, 0])
        tab.ask("save_game").ask("new_game", color="white", start="here").play("d4", "a4").ask("save_game")
    games = [saved.get(game.number)[0] for game in saved.find("", 0, 10)[0]]
    assert len(games) == 2
    assert [("h5" in game, '[Annotator "me"]' in game) for game in games] in (
        [(False, False), (True, True)],
        [(True, True), (False, False)],
    )


def test_after_undo_to_the_game_before_it_went_on_saving_makes_no_second_entry(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white")
        tab.play("e4", "a5")
        tab.ask("save_game")  # waits for what is written before
        place, pgn = tab.newest["place"]["place"], tab.tree.pgn()
    with open_tab(server) as tab:  # a new session, as after a restart
        tab.ask("restore", edited={"0": pgn}, places={"0": place}, path=[0, 0])
        tab.ask("new_game", color="white", start="here")
        tab.play("d4", "a4").ask("resign").ask("undo").ask("save_game")
        assert tab.sans == ["e4", "a5"]
        [game] = saved.find("", 0, 10)[0]
        assert "d4" not in saved.get(game.number)[0]
        tab.ask("redo")  # brings the moves back: they are saved again
        tab.ask("save_game")
        [game] = saved.find("", 0, 10)[0]
        assert "2. d4 a4" in saved.get(game.number)[0] and game.result == "0-1"


def test_a_deleted_game_does_not_come_back_when_it_is_shown_again(server, saved):
    with open_tab(server) as tab:
        for move in ("e4", "d4"):
            tab.ask("new_game", color="white")
            tab.play(move, "a5").ask("resign")
            tab.ask("save_game")  # waits for what is written before
        first, second = sorted(game.number for game in saved.find("", 0, 10)[0])
        saved.delete(first)
        tab.ask("undo")
        assert tab.sans == ["e4", "a5"]
        tab.ask("redo").ask("save_game")
        assert [game.number for game in saved.find("", 0, 10)[0]] == [second]


def test_the_board_lives_on_without_its_games(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("knightadder.web.site.serving.make_server", lambda app: Mock())
    file = tmp_path / "text.txt"
    file.write_text("no folder")
    assert cli.main(["play", "--no-browser", "--port", "0", "--games-file", str(file / "games.sqlite")]) == 0
    err = capsys.readouterr().err
    assert f"knightadder: cannot use {file}: " in err and err.endswith("; the board keeps no games\n")


def test_a_problem_while_playing_is_told_once(server, saved):
    with open_tab(server) as tab:
        tab.ask("new_game", color="white")
        saved.file.write_text("damaged")
        tab.play("e4", "a5")
        tab.ask("save_game")
        assert tab.notice["text"].startswith("this game is not saved: cannot use the games in")
        del tab.newest["notice"]
        tab.play("d4", "a4").ask("resign")
        tab.ask("save_game")
        assert "notice" not in tab.newest
        assert tab.error["text"].startswith("cannot use the games in")
        saved.file.unlink()
        tab.ask("go_to", node=0).ask("undo").ask("redo")  # whatever shows the game again saves it
        saved.delete(0)  # waits for what is written
        tab.ask("open_saved", number=1)
        assert tab.sans == ["e4", "a5", "d4", "a4"]


def test_other_tabs_work_while_requests_for_the_games_wait(server, saved):
    released = threading.Event()
    saved.find = Mock(side_effect=lambda *_: (released.wait(), ([], 0))[1])  # as while another program locks the file
    askers = [threading.Thread(target=ask, args=(server, "/games?search=")) for _ in range(40)]
    with open_tab(server) as tab:
        try:
            for asker in askers:
                asker.start()
            eventually(lambda: saved.find.call_count == len(askers))
            tab.ask("load_pgn", pgn="1. e4 *")
        finally:
            released.set()
            for asker in askers:
                asker.join()
    assert tab.sans == ["e4"]


def test_a_tab_works_while_its_game_waits_for_the_locked_file(server, saved, monkeypatch):
    monkeypatch.setattr(keeper, "_PATIENCE", 0.1)
    with contextlib.closing(sqlite3.connect(saved.file)) as lock, open_tab(server) as tab:
        number = saved.put("1. d4 *", {}).number
        lock.execute("BEGIN EXCLUSIVE")
        tab.ask("load_pgn", pgn="1. e4 *").ask("save_game")
        assert tab.error["text"].startswith(f"another program uses the games in {saved.file}: ")
        tab.ask("play", node=tab.tree.nodes()[-1]["id"], move="e5")
        del tab.newest["error"]
        tab.ask("open_saved", number=number)
        assert tab.error["text"].startswith(f"another program uses the games in {saved.file}: ")
        assert tab.sans == ["e4", "e5"]
        lock.rollback()
        tab.until("saved")
    assert sorted(saved.all()) == ["1. d4 *\n", saved.get(number + 1)[0]]
    assert "1. e4 *" in saved.get(number + 1)[0]


@pytest.mark.parametrize("damage", ["header", "page"])
def test_damaged_games_are_not_sent_and_the_answer_says_so(server, saved, damage):
    for number in range(300):
        saved.put(f"1. e4 {{{number}}} *", {})
    content = bytearray(saved.file.read_bytes())
    start, end = (0, 100) if damage == "header" else (4096, len(content))
    content[start:end] = bytes(end - start)
    saved.file.write_bytes(content)
    answer, text = get(server, "/games.pgn")
    assert answer.status == 503
    assert text.startswith(f"cannot use the games in {saved.file}: ") and "\n" not in text


def test_text_that_is_no_game_is_refused(saved):
    with pytest.raises(MessageError, match="this file cannot be read"):
        saved.add_file(b"\x1f\x8b damaged")
