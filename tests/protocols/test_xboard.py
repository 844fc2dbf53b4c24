"""XBoard's protocol against an engine that only pretends to think: what is said when."""

import shlex
from collections.abc import Iterator

import chess
import pytest
from loop_talk import TIMEOUT, LineWriter, SlowLoading, break_core, loader_of
from xboard_talk import FakeEngine, Talk, line, loaded

from knightadder import __version__
from knightadder.engine.info import CurrentMove, Message
from knightadder.engine.limits import Limits
from knightadder.engine.loader import load_engine
from knightadder.engine.options import Options
from knightadder.protocols import xboard_player
from knightadder.protocols.uci_conversation import Uci


class Clock:
    """The time as the player sees it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def talk() -> Iterator[Talk]:
    yield from loaded()


# --- Hello ----------------------------------------------------------------------------------------------------------


def test_features_are_framed_and_can_be_read(talk: Talk) -> None:
    lines = talk.ask("xboard", "protover 2", "accepted done", "accepted ping")
    assert lines[0] == "feature done=0"
    assert lines[-1] == "feature done=1"
    pairs = [word.partition("=") for line in lines for word in shlex.split(line.removeprefix("feature "))]
    features = {name: value for name, _, value in pairs if name not in ("option", "done")}
    assert features["myname"] == f"Knightadder {__version__}"
    assert features["variants"] == "normal,fischerandom"
    for name in ("ping", "setboard", "usermove", "playother", "analyze", "draw", "time", "memory", "smp", "debug"):
        assert features[name] == "1"
    for name in ("san", "colors", "sigint", "sigterm", "nps", "pause"):
        assert features[name] == "0"
    assert features["egt"] == "syzygy"
    options = [value for name, _, value in pairs if name == "option"]
    assert {"Move Overhead -spin 20 0 5000", "Resign Moves -spin 4 0 100", "Clear Hash -button"} <= set(options)
    assert {"EvalFile -string <built-in>", "BookFile -string "} <= set(options)


def test_what_is_no_command_is_answered_in_one_line_and_changes_nothing(talk: Talk) -> None:
    for text in ("edit", "castle long", "depth 3", "sETBOARD x", "e2", "pong 3"):
        assert talk.ask(text) == [f"Error (unknown command): {text}"]
    assert talk.ask("random", "computer", "name GNU Chess", "ics -", "rejected san") == []
    assert talk.ask("variant crazyhouse") == ["Error (unsupported variant): variant crazyhouse"]
    assert talk.ask(b"\xff\xfe caf\xe9\n") == ["Error (unknown command): \\udcff\\udcfe caf\\udce9"]
    assert talk.ask("x" * 100_000) == [f"Error (unknown command): {'x' * 300}..."]
    assert talk.ask(b"\r\n", b"\n", b" \t\n", b"\xef\xbb\xbfnopost\r\n") == []
    assert talk.ask(f"usermove {'e' * 100_000}") == [f"Illegal move: {'e' * 300}..."]
    assert talk.ask("force", b"usermove e2e4\r\n", "usermove e7e5") == []


def test_the_book_is_answered_with_indented_lines_and_an_empty_one(talk: Talk) -> None:
    assert talk.ask("bk") == [" The book has no move here.", ""]
    talk.engine.book = {"e2e4": 60, "d2d4": 30}
    assert talk.ask("bk") == [" e2e4 60", " d2d4 30", ""]


# --- Playing --------------------------------------------------------------------------------------------------------


def test_after_new_the_engine_plays_black_and_answers_each_move(talk: Talk) -> None:
    assert talk.think("new", "e2e4") == []  # a bare move
    assert talk.answer("e7e5") == ["move e7e5"]
    assert talk.think("usermove g1f3") == []
    assert talk.engine.board.fen() == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    assert talk.answer("b8c6") == ["move b8c6"]
    assert "new_game" in talk.engine.calls


def test_go_plays_the_side_on_move_and_playother_the_other_one(talk: Talk) -> None:
    talk.think("new", "force", "usermove e2e4", "usermove e7e5", "go")
    assert talk.engine.board.turn == chess.WHITE
    assert talk.ask("go", "go") == []  # it does already
    assert talk.answer("g1f3") == ["move g1f3"]
    talk.ask("force", "usermove b8c6", "playother")
    assert talk.engine.searches == 1
    talk.think("usermove f1b5")
    assert talk.answer("a7a6") == ["move a7a6"]


def test_moves_in_san(talk: Talk) -> None:
    assert talk.think("new", "hard", "usermove Nf3") == []
    talk.answer("d7d5", ponder="e2e4")  # and it ponders
    assert talk.ask("usermove Nd2") == ["Illegal move: Nd2"]
    talk.ask("force", "usermove e4", "usermove dxe4", "usermove Nfg1", "usermove e3", "usermove a3", "usermove exf2+")
    assert talk.ask("usermove Ke2", "usermove fxg1=N+") == []
    assert talk.engine.board.peek() == chess.Move.from_uci("f2g1n")


def test_castling_of_chess960_among_moves_in_san(talk: Talk) -> None:
    talk.ask("variant fischerandom", "force", "setboard 4k3/8/8/8/8/8/4P3/1R2K1R1 w GB - 0 1")
    assert talk.ask("usermove e4", "usermove Kd7", "usermove O-O", "usermove Ke6") == []
    assert talk.engine.board.fen() == "8/8/4k3/8/4P3/8/8/1R3RK1 w - - 3 3"


@pytest.mark.parametrize("text", ["e2e5", "e7e5", "e1e2", "O-O", "xyz", "", "@@@@", "--", "e5", "Nd2", "N"])
def test_illegal_moves_are_named_and_change_nothing(talk: Talk, text: str) -> None:
    assert talk.ask("new", f"usermove {text}") == [f"Illegal move: {text}"]
    talk.think("usermove e2e4")
    assert talk.answer("e7e5") == ["move e7e5"]


def test_a_move_while_the_engine_thinks_is_out_of_turn(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.ask("usermove d2d4") == ["Illegal move (not your turn): d2d4"]
    assert talk.answer("e7e5") == ["move e7e5"]


def test_a_search_that_cannot_be_started_is_answered_with_a_legal_move(talk: Talk) -> None:
    talk.engine.fails = True
    talk.send("new", "usermove e2e4")
    assert talk.read() == "tellusererror RuntimeError: broken"
    move = talk.read()
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci(move.removeprefix("move "))
    talk.think("usermove d2d4")
    board.push_uci("d2d4")
    reply = board.uci(list(board.legal_moves)[-1])
    assert talk.answer(reply) == [f"move {reply}"]


def test_an_analysis_that_cannot_be_started_leaves_the_game_as_it_was(talk: Talk) -> None:
    talk.engine.fails = True
    assert talk.ask("new", "analyze") == ["Error (RuntimeError: broken): analyze"]
    talk.think("exit", "new", "usermove e2e4")
    assert talk.answer("e7e5") == ["move e7e5"]


def test_pondering_that_cannot_be_started_does_not_end_the_game(talk: Talk) -> None:
    talk.think("new", "hard", "usermove e2e4")
    talk.engine.fails = True
    assert talk.answer("e7e5", ponder="g1f3") == [
        "move e7e5",
        "Hint: g1f3",
        "tellusererror RuntimeError: broken",
    ]
    assert talk.engine.board.peek().uci() == "e7e5"
    talk.think("usermove d2d4")
    assert talk.answer("e5d4") == ["move e5d4"]


def test_an_analysis_that_cannot_go_on_after_an_option_does_not_end_the_conversation(talk: Talk) -> None:
    talk.ask("new", "analyze")
    talk.engine.fails = True
    assert talk.ask("memory 32") == ["tellusererror RuntimeError: broken"]
    talk.think("exit", "new", "usermove e2e4")
    assert talk.answer("e7e5") == ["move e7e5"]


def test_move_now_ends_the_search_with_its_move(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    talk.send("?")
    assert talk.read().startswith("move ")
    assert talk.ask("?") == []


@pytest.mark.parametrize("command", ["force", "new", "result 1-0 {White wins}", "variant fischerandom", "setboard 8"])
def test_what_ends_a_search_leaves_no_move_behind(talk: Talk, command: str) -> None:
    talk.think("new", "usermove e2e4")
    assert [answer for answer in talk.ask(command) if answer.startswith("move")] == []
    assert "stop" in talk.engine.calls
    talk.send("ping 7")
    assert talk.read_until("pong")[-1] == "pong 7"


def test_limits_come_from_the_commands(talk: Talk) -> None:
    talk.think("new", "level 40 5 0", "time 20000", "otim 10000", "usermove e2e4")
    assert talk.engine.limits == Limits(wtime=100_000, btime=200_000, movestogo=40)
    talk.answer("e7e5")
    talk.think("time 15000", "usermove g1f3")
    assert talk.engine.limits == Limits(wtime=100_000, btime=150_000, movestogo=39)
    talk.think("force", "st 2", "sd 5", "go")
    assert talk.engine.limits == Limits(movetime=2000, depth=5)
    talk.think("new", "usermove e2e4")
    assert talk.engine.limits == Limits(movetime=2000)


@pytest.mark.parametrize("text", ["level 1", "st x", "sd x", "time x", "otim", "memory x", "cores 0", "memory 0"])
def test_bad_numbers_are_errors(talk: Talk, text: str) -> None:
    [answer] = talk.ask(text)
    assert answer.startswith("Error (")
    assert answer.endswith(f"): {text}")


def test_endless_white_space_is_read_as_soon_as_a_little(talk: Talk) -> None:
    for text in ("level 1{}x", "level 1 1{}", "level 1 1{}1{}1", "st{}x", "option Hash{}=1", "usermove{}x"):
        assert len(talk.ask(text.replace("{}", " " * 1_000_000))) == 1


def test_moves_can_be_taken_back(talk: Talk) -> None:
    assert talk.ask("new", "undo", "remove") == [
        "Error (no move to take back): undo",
        "Error (no move to take back): remove",
    ]
    talk.think("usermove e2e4")
    talk.answer("e7e5")
    assert talk.ask("remove") == []
    assert talk.engine.board.fen() == chess.STARTING_FEN
    talk.think("usermove d2d4")
    assert talk.ask("force", "undo") == []
    assert talk.engine.board.fen() == chess.STARTING_FEN


def test_after_an_illegal_position_no_move_is_legal_until_the_next_position(talk: Talk) -> None:
    talk.ask("new", "force", "rejected debug")
    assert talk.ask("setboard 8/8/8/8/8/8/8/8 w - - 0 1") == ["tellusererror Illegal position"]
    assert talk.ask("usermove e2e4", "go", "analyze", "undo") == [
        "Illegal move: e2e4",
        "Error (illegal position): go",
        "Error (illegal position): analyze",
        "Error (no move to take back): undo",
    ]
    assert talk.ask("setboard 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "usermove e2e4") == []


def test_colors_of_old_interfaces(talk: Talk) -> None:
    talk.think("new", "force", "usermove e2e4", "white", "time 100", "otim 100", "black", "go")
    assert talk.engine.board.turn == chess.BLACK
    assert talk.answer("e7e5") == ["move e7e5"]
    talk.ask("white")  # to play Black
    talk.think("usermove g1f3")


# --- The order of answers -------------------------------------------------------------------------------------------


def test_a_ping_waits_for_the_move(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.ask("ping 17") == []
    assert talk.answer("e7e5") == ["move e7e5", "pong 17"]


def test_a_ping_waits_until_the_engine_is_ready_and_what_follows_waits_behind_it(talk: Talk) -> None:
    talk.engine.ready = False
    assert talk.ask("ping 1", "usermove e2e5", "ping 2") == []
    talk.engine.ready = True
    assert talk.read_until("pong 2") == ["pong 1", "Illegal move: e2e5", "pong 2"]


def test_a_command_that_ends_a_search_comes_before_those_that_wait_behind_it(talk: Talk) -> None:
    talk.engine.ready = False
    assert talk.ask("ping 1", "go", "new", "usermove e2e4") == []
    talk.engine.ready = True
    assert talk.read() == "pong 1"
    talk.engine.wait_for_search(2)
    assert talk.answer("e7e5") == ["move e7e5"]


def test_the_end_of_input_waits_until_the_engine_is_ready(talk: Talk) -> None:
    talk.engine.ready = False
    talk.send("ping 1", "usermove e2e5")
    talk.end_input()
    talk.wait_until_input_ended()
    talk.engine.ready = True
    assert talk.wait_for_end() == ["pong 1", "Illegal move: e2e5"]


def test_options_wait_for_the_move(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.ask("memory 64", "cores 2", "option Move Overhead=100", "option OwnBook=1", "ping 1") == []
    assert talk.engine.options.hash_mb == 16
    assert talk.answer("e7e5") == ["move e7e5", "pong 1"]
    options = talk.engine.options
    assert (options.hash_mb, options.threads, options.move_overhead, options.own_book) == (64, 2, 100, True)


def test_memory_and_cores_are_limits(talk: Talk) -> None:
    assert talk.ask("memory 999999999999", f"cores {'9' * 5000}") == []
    assert (talk.engine.options.hash_mb, talk.engine.options.threads) == (33_554_432, 512)


def test_the_path_of_tablebases_is_set_once_although_it_comes_before_every_game(talk: Talk) -> None:
    talk.ask("egtpath syzygy a", "egtpath syzygy a", "new", "egtpath syzygy a", "egtpath syzygy b", "egtpath syzygy b")
    assert [call for call in talk.engine.calls if call.startswith("Syzygy")] == ["SyzygyPath=a", "SyzygyPath=b"]


def test_what_the_engine_says_of_a_position_or_a_path_is_a_comment(talk: Talk) -> None:
    talk.ask("protover 2", "force")
    assert talk.ask("setboard 4k3/8/8/8/8/8/8/4K3 w K - 0 1") == ["# something left out"]
    assert talk.ask("egtpath syzygy a") == ["# tables of a"]


def test_options(talk: Talk) -> None:
    assert talk.ask("option Clear Hash", "option BookFile=a b", "option OwnBook=1", "egtpath syzygy c d") == []
    assert talk.engine.calls[-4:] == ["Clear Hash=None", "BookFile=a b", "OwnBook=true", "SyzygyPath=c d"]
    assert talk.ask("egtpath nalimov somewhere") == []
    assert talk.engine.calls[-1] == "SyzygyPath=c d"
    assert talk.ask("option Contempt=3", "option UCI_Chess960=1", "option Skill Level=21") == [
        "Error (unknown option: Contempt): option Contempt=3",
        "Error (unknown option: UCI_Chess960): option UCI_Chess960=1",
        "Error (option Skill Level: 21 is not between 0 and 20): option Skill Level=21",
    ]


# --- Ends of games ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "move", "result"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", "1-0 {White mates}"),
        ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", "a8a1", "0-1 {Black mates}"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", "1/2-1/2 {Stalemate}"),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", "a1a2", "1/2-1/2 {Draw by fifty-move rule}"),
        ("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1", "e1d2", "1/2-1/2 {Draw by insufficient material}"),
    ],
)
def test_the_end_of_the_game_is_told_after_a_move_of_either_side(talk: Talk, fen: str, move: str, result: str) -> None:
    talk.think("new", "force", f"setboard {fen}", "go")
    assert talk.answer(move) == [f"move {move}", result]
    assert talk.ask("new", "force", f"setboard {fen}", "playother", f"usermove {move}") == [result]
    assert talk.engine.searches == 1
    assert talk.ask("new", "force", f"setboard {fen}", f"usermove {move}") == []


def test_a_threefold_repetition_is_claimed(talk: Talk) -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"]
    talk.ask("new", "force", *(f"usermove {move}" for move in [*moves, *moves[:3]]))
    talk.think("go")
    assert talk.answer("f6g8") == ["move f6g8", "1/2-1/2 {Draw by repetition}"]
    talk.ask("force", "undo", "playother")
    assert talk.ask("usermove f6g8") == ["1/2-1/2 {Draw by repetition}"]
    # Who does not agree may go on: there are moves.
    talk.think("go")
    assert talk.answer("e2e4") == ["move e2e4"]


def play_on(talk: Talk, scores: list[int], first: int = 60, draws: int = 0) -> list[list[str]]:
    """Let the engine make a move at each of these scores, from a move number on; give what it says.

    The opponent offers a draw at the first moves, at so many as `draws` says.
    """
    fen = "r3k3/pppppppp/8/8/8/8/PPPPPPPP/4K2R w - - 0 {}"
    talk.ask("new", "force", "setboard " + fen.format(first))
    pawns = iter(f"{file}{rank}{file}{rank + 1}" for rank in (2, 3) for file in "abcdefg")
    replies = iter(f"{file}{rank}{file}{rank - 1}" for rank in (7, 6) for file in "abcdefg")
    said = []
    for number, cp in enumerate(scores):
        talk.think("go" if number == 0 else f"usermove {next(replies)}")
        if number < draws:
            talk.ask("draw")
        said.append(talk.answer(next(pawns), cp=cp))
    return said


def test_the_engine_resigns_after_some_bad_moves(talk: Talk) -> None:
    said = play_on(talk, [-1000] * 4)
    assert [len(lines) for lines in said] == [1, 1, 1, 1]
    assert [lines[0].split()[0] for lines in said] == ["move", "move", "move", "resign"]
    talk.ask("new", "option Resign Score=0")
    assert play_on(talk, [-1000] * 5)[-1][0].startswith("move")
    talk.ask("new", "option Resign Score=300", "option Resign Moves=1")
    assert play_on(talk, [-300]) == [["resign"]]


def test_an_interface_that_ignores_resigning_gets_its_move(talk: Talk) -> None:
    play_on(talk, [-1000] * 4)
    talk.think("go")
    assert talk.answer("h2h3", cp=-1000) == ["move h2h3"]


def test_a_new_game_begins_without_the_scores_of_the_last(talk: Talk) -> None:
    play_on(talk, [-1000] * 3)
    assert play_on(talk, [-1000])[0][0].startswith("move ")


def test_a_level_game_is_offered_as_a_draw_before_the_move(talk: Talk) -> None:
    said = play_on(talk, [5, -5] * 5)
    assert [lines[0] == "offer draw" for lines in said] == [False] * 7 + [True] + [False] * 2
    assert said[7][1].startswith("move ")
    assert play_on(talk, [11] * 8)[-1][0].startswith("move ")
    assert play_on(talk, [5] * 8, first=27)[-1][0].startswith("move ")
    assert play_on(talk, [5] * 8, first=28)[-1][0] == "offer draw"


def test_an_offered_draw_is_accepted_if_the_engine_stands_no_better(talk: Talk) -> None:
    talk.ask("option Resign Moves=0")
    said = play_on(talk, [-100] * 9, draws=9)
    assert [lines[0] == "offer draw" for lines in said] == [False] * 7 + [True, True]
    assert play_on(talk, [-100] * 8, draws=7)[-1][0].startswith("move ")  # declined by the moves before
    assert play_on(talk, [50] * 9, draws=9)[-1][0].startswith("move ")
    talk.ask("option Draw Score=0")
    assert play_on(talk, [-500] * 9, draws=9)[-1][0].startswith("move ")


# --- Pondering --------------------------------------------------------------------------------------------------------


def ponder(talk: Talk) -> None:
    """Reach a position in which the engine ponders on g1f3."""
    talk.think("new", "hard", "level 0 1 0", "time 6000", "otim 6000", "usermove e2e4")
    assert talk.answer("e7e5", ponder="g1f3") == ["move e7e5", "Hint: g1f3"]
    assert talk.engine.limits.ponder
    assert talk.engine.board.fen() == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"


def test_the_expected_move_is_a_ponder_hit(talk: Talk) -> None:
    ponder(talk)
    assert talk.ask("ping 9", "usermove e4e5") == ["pong 9", "Illegal move: e4e5"]
    assert talk.ask("time 6000", "otim 5900", "usermove g1f3") == []
    assert talk.engine.searches == 2
    assert talk.engine.calls[-1] == "ponderhit"
    assert talk.ask("ping 5", "usermove a2a3") == ["Illegal move (not your turn): a2a3"]
    assert talk.answer("b8c6") == ["move b8c6", "pong 5"]
    talk.think("usermove f1b5")
    assert talk.engine.board.fen().startswith("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b")


@pytest.mark.parametrize(
    ("time", "move", "limits"),
    [
        (6000, "d2d4", Limits(wtime=59_000, btime=60_000)),
        (3000, "g1f3", Limits(wtime=59_000, btime=30_000)),  # the clock shows less than thought
    ],
)
def test_what_was_not_expected_starts_another_search(talk: Talk, time: int, move: str, limits: Limits) -> None:
    ponder(talk)
    assert talk.think(f"time {time}", "otim 5900", f"usermove {move}") == []
    assert "ponderhit" not in talk.engine.calls
    assert talk.engine.limits == limits
    assert talk.answer("a7a6") == ["move a7a6"]


def test_playother_ponders_on_the_expected_move(talk: Talk) -> None:
    talk.think("new", "easy", "usermove e2e4")
    talk.answer("e7e5", ponder="g1f3")
    assert talk.think("hard", "playother") == ["Hint: g1f3"]
    assert talk.engine.limits.ponder and talk.engine.board.peek().uci() == "g1f3"


def test_options_interrupt_pondering(talk: Talk) -> None:
    ponder(talk)
    assert talk.think("memory 32") == ["Hint: g1f3"]
    assert talk.engine.options.hash_mb == 32
    assert talk.engine.limits.ponder
    talk.ask("usermove g1f3")
    assert talk.engine.calls[-1] == "ponderhit"


def test_pondering_begins_in_silence(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xboard_player, "_SILENCE", 1000)
    ponder(talk)
    talk.ask("post")
    talk.engine.on_info(line(20, ["b8c6"]))
    assert talk.ask() == []
    monkeypatch.setattr(xboard_player, "_SILENCE", 0)
    talk.engine.on_info(line(20, ["b8c6"]))
    assert talk.ask() == ["7 20 56 1234 b8c6"]


@pytest.mark.parametrize("command", ["easy", "force", "result *", "undo"])
def test_what_ends_pondering(talk: Talk, command: str) -> None:
    ponder(talk)
    assert talk.ask(command, "ping 3") == ["pong 3"]
    assert talk.engine.calls[-1] == "stop"
    assert talk.engine.searches == 2


def test_no_pondering_unless_asked_for_nor_after_the_end(talk: Talk) -> None:
    talk.think("new", "easy", "usermove e2e4")
    assert talk.answer("e7e5", ponder="g1f3") == ["move e7e5"]
    assert talk.engine.searches == 1
    talk.think("hard", "force", "setboard 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "go")
    assert talk.answer("a1a8", ponder="g8h8") == ["move a1a8", "1-0 {White mates}"]
    assert talk.engine.searches == 2


def test_the_engine_counts_down_a_clock_that_it_is_not_told(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(xboard_player, "time", clock)
    talk.think("new", "level 2 1 0", "usermove e2e4")
    assert talk.engine.limits.btime == 60_000
    clock.now += 5
    talk.answer("e7e5")
    talk.think("usermove g1f3")
    assert talk.engine.limits.btime == 55_000
    clock.now += 5
    talk.answer("b8c6")
    talk.think("usermove f1b5")
    assert talk.engine.limits.btime == 110_000  # the next period has begun


def test_a_search_without_a_move_is_told_and_ends(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    talk.engine.find_nothing()
    assert talk.ask("ping 7") == ["tellusererror EngineError: no move was found", "pong 7"]


def test_what_was_expected_is_forgotten_when_a_move_is_taken_back(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    talk.answer("e7e5", ponder="g1f3")
    assert talk.ask("force", "undo", "usermove e7e6", "hint") == []


def test_a_hint_is_the_expected_move(talk: Talk) -> None:
    assert talk.ask("hint") == []
    talk.think("new", "usermove e2e4")
    assert talk.ask("hint") == []
    talk.answer("e7e5", ponder="g1f3")
    assert talk.ask("hint") == ["Hint: g1f3"]
    talk.think("usermove d2d4")
    assert talk.ask("hint") == []


# --- Thinking aloud and analysis --------------------------------------------------------------------------------------


def test_thinking_is_shown_only_after_post(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    talk.engine.on_info(line(20, ["e7e5", "g1f3"]))
    assert talk.ask("post") == []
    talk.engine.on_info(line(20, ["e7e5", "g1f3"]))
    assert talk.ask() == ["7 20 56 1234 e7e5 g1f3"]
    assert talk.ask("nopost") == []
    talk.engine.on_info(line())
    assert talk.ask() == []


def test_messages_are_comments_if_those_are_welcome(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.ask("protover 2")[-1] == "feature done=1"
    talk.engine.on_info(Message("two\nlines"))
    assert talk.ask() == ["# two lines"]
    talk.ask("rejected debug")
    talk.engine.on_info(Message("two\nlines"))
    assert talk.ask() == []


def test_analysis_goes_on_and_starts_again_with_every_change(talk: Talk) -> None:
    talk.think("new", "force", "post", "analyze")
    assert talk.engine.limits == Limits(infinite=True)
    assert talk.engine.options.analyse_mode
    talk.engine.on_info(line(20, ["e2e4"]))
    assert talk.ask("ping 1") == ["7 20 56 1234 e2e4", "pong 1"]
    number = 1
    for command, fen in [
        ("usermove e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        ("undo", chess.STARTING_FEN),
        ("setboard 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("memory 8", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("white", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("new", chess.STARTING_FEN),
    ]:
        assert talk.think(command) == []
        number += 1
        assert (talk.engine.searches, talk.engine.limits.infinite) == (number, True)
        assert talk.engine.board.fen() == fen
    assert talk.ask("usermove e2e5") == ["Illegal move: e2e5"]
    assert talk.ask("exit", "ping 2") == ["pong 2"]
    assert not talk.engine.options.analyse_mode
    assert talk.ask("usermove e2e4", "usermove e7e5") == []
    assert talk.engine.searches == number


def test_analysis_goes_on_after_an_illegal_position(talk: Talk) -> None:
    talk.think("new", "analyze")
    assert talk.ask("rejected debug", "setboard nonsense") == ["tellusererror Illegal position"]
    talk.think("setboard 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert (talk.engine.searches, talk.engine.limits.infinite) == (2, True)


def test_go_leaves_analysis(talk: Talk) -> None:
    talk.think("new", "analyze")
    talk.think("go")
    assert not talk.engine.limits.infinite
    assert not talk.engine.options.analyse_mode
    assert talk.answer("e2e4") == ["move e2e4"]


def test_a_dot_asks_how_far_the_analysis_has_come(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.ask(".", "force", ".") == []
    talk.think("new", "analyze")
    [status] = talk.ask(".")
    assert status.split()[0] == "stat01:"
    assert status.split()[2:] == ["0", "0", "19", "20"]
    talk.engine.on_info(line(20, ["e2e4", "e7e5"]))
    [status] = talk.ask(".")
    assert status.split()[2:] == ["1234", "7", "19", "20", "e2e4"]
    talk.engine.on_info(CurrentMove(8, "g1f3", 5, 5000, 1, 0, 3000))
    [status] = talk.ask(".")
    assert status.split()[2:] == ["5000", "8", "15", "20", "g1f3"]
    assert talk.ask("hint") == ["Hint: e2e4"]


# --- Chess960 ---------------------------------------------------------------------------------------------------------


CASTLING960 = "r3kr2/pppppppp/8/8/8/8/PPPPPPPP/R3KR2 w FAfa - 0 1"


def test_castling_in_chess960_is_written_with_letters(talk: Talk) -> None:
    talk.ask("new", "variant fischerandom", "force", f"setboard {CASTLING960}", "post", "hard")
    assert talk.engine.options.chess960
    talk.think("usermove O-O", "go")
    talk.engine.on_info(line(0, ["e8a8", "a2a3"]))
    assert talk.ask() == ["7 0 56 1234 O-O-O a2a3"]
    assert talk.answer("e8f8", ponder="a2a3") == ["move O-O", "Hint: a2a3"]
    talk.ask("new")
    assert not talk.engine.options.chess960


def test_expected_castling_is_recognised(talk: Talk) -> None:
    talk.think("new", "variant fischerandom", "force", f"setboard {CASTLING960}", "hard", "usermove a2a3", "go")
    talk.answer("e8f8", ponder="e1a1")
    assert talk.engine.limits.ponder
    assert talk.ask("usermove O-O-O") == []
    assert talk.engine.calls[-1] == "ponderhit"


# --- Coming and going -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["analyze", "quit", "force"])
def test_the_end_of_input_ends_all_else(command: str) -> None:
    talk = Talk()
    talk.send("new", command)
    talk.end_input()
    assert talk.wait_for_end() == []
    assert talk.status == 0


def test_quit_while_thinking_says_no_move(talk: Talk) -> None:
    talk.think("new", "usermove e2e4")
    assert talk.leave() == []
    assert talk.status == 0
    assert talk.engine.calls[-1] == "close"


class SlowTalk(SlowLoading, Talk):
    """A conversation whose engine is loaded when the test says so."""


@pytest.fixture
def loading() -> Iterator[SlowTalk]:
    talk = SlowTalk()
    yield talk
    talk.may_finish.set()
    talk.leave()


def test_why_there_is_no_network_is_told_when_the_engine_is_loaded(loading: SlowTalk) -> None:
    loading.engine.problem = "the network is lost"
    loading.ask("xboard", "protover 2", "accepted debug")
    loading.may_finish.set()
    assert loading.read_until("# ")[-1] == "# the network is lost"


def test_features_are_told_while_the_engine_is_loaded_and_done_when_it_is(loading: SlowTalk) -> None:
    lines = loading.ask("xboard", "protover 2", "new", "force", "ping 1")
    assert lines[0] == "feature done=0"
    assert not [line for line in lines if line.startswith(("feature done=1", "pong", "Error"))]
    assert loading.started.wait(TIMEOUT)
    loading.report("compiling 1/2: search")
    assert loading.read() == "# compiling 1/2: search"
    loading.may_finish.set()
    assert [loading.read(), loading.read()] == ["feature done=1", "pong 1"]


def test_leaving_does_not_wait_for_loading() -> None:
    talk = SlowTalk()
    assert talk.started.wait(TIMEOUT)
    talk.send("xboard", "quit", "ping 1")
    talk.ends_while_loading()


def test_what_waits_for_loading_is_carried_out_before_quit() -> None:
    talk = SlowTalk()
    assert talk.started.wait(TIMEOUT)
    talk.send("new", "ping 1", "usermove e2e5", "usermove e2e4", "quit", "ping 2")
    talk.wait_until_input_ended()
    talk.may_finish.set()
    assert talk.wait_for_end() == ["pong 1", "Illegal move: e2e5"]
    assert talk.status == 0
    talk.end_input()


def test_a_failure_to_load_is_said_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_core(monkeypatch)
    talk = Talk(load_engine)
    assert talk.wait_for_end() == ["tellusererror the engine cannot be loaded: ImportError: no numba here"]
    assert talk.status == 1
    assert "ImportError" in capsys.readouterr().err
    talk.end_input()


# --- While the core is compiled -------------------------------------------------------------------------------------


def test_a_move_waits_for_the_compiler(loading: SlowTalk) -> None:
    assert loading.started.wait(TIMEOUT)
    loading.report("compiling 1/2")
    loading.send("new", "memory 64", "level 0 100000 0", "usermove e2e4", "ping 1")
    loading.may_finish.set()
    loading.engine.wait_for_search(1)
    assert loading.engine.options.hash_mb == 64
    assert loading.engine.limits.btime is not None
    assert 0 < loading.engine.limits.btime <= 100_000 * 60_000
    assert loading.answer("e7e5")[-2:] == ["move e7e5", "pong 1"]


# --- From UCI ---------------------------------------------------------------------------------------------------------


def speak_uci(*lines: bytes) -> list[str]:
    """Send lines to a UCI loop, and give what it answers."""
    engine = FakeEngine(Options())
    output = LineWriter()
    uci = Uci(iter(lines), output, loader_of(engine))
    assert uci.run() == 0
    uci.close()
    answers = []
    while not output.written.empty():
        answers.append(output.written.get())
    return answers


def test_xboard_as_the_first_command_changes_the_protocol() -> None:
    answers = speak_uci(b"\n", b"xboard\r\n", b"protover 2\n", b"new\n", b"usermove e2e4\n", b"ping 2\n")
    assert "feature done=1" in answers
    assert answers[-2].startswith("move ")
    assert answers[-1] == "pong 2"


def test_later_it_is_an_unknown_command() -> None:
    assert sorted(speak_uci(b"isready\n", b"xboard\n")) == ["info string unknown command: xboard", "readyok"]
