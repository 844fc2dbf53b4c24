"""One game: how it begins, goes on and ends, and what happens to moves whose fate is unknown."""

import threading
from concurrent.futures import ThreadPoolExecutor

import chess
import pytest
import requests
from fake_lichess import FakeLichess, Faults
from lichess_players import PATIENCE, Chooser, StillClock, Thinker, TickingClock, choice
from waiting import eventually

from knightadder.engine.errors import EngineError
from knightadder.lichess.game_play import GamePlay
from knightadder.lichess.timing import Lag


class Scripted(Chooser):
    """Plays the moves given, and then any."""

    moves = ()

    def choose(self, board):
        return (
            chess.Move.from_uci(self.moves[len(self.asked) - 1])
            if len(self.asked) <= len(self.moves)
            else choice(board)
        )


def scripted(*moves):
    return type("Scripted", (Scripted,), {"moves": moves})


def answers(*moves):
    """Let the opponent play these moves or actions, one a turn, and then nothing."""
    rest = list(moves)

    def opponent(board, random):
        action = rest.pop(0) if rest else None
        return board.parse_uci(action) if isinstance(action, str) and action != "resign" else action

    return opponent


def posted(server, game_id, action):
    return [request for request in server.requests if request.startswith(f"POST /api/bot/game/{game_id}/{action}")]


@pytest.fixture
def delivered(monkeypatch):
    """Give the events that have been delivered to games so far."""
    deliver, events = GamePlay._deliver, []

    def note(play, event, connection):
        deliver(play, event, connection)
        events.append(event)

    monkeypatch.setattr(GamePlay, "_deliver", note)
    return events


@pytest.mark.parametrize("colour", chess.COLORS)
def test_a_game_is_played_to_its_end(start_bot, colour):
    with FakeLichess() as server:
        game_id = server.challenge(colour, most_plies=30)
        running = start_bot(server, games=1)
        running.wait()
    game = server.games[game_id]
    assert game.over and len(posted(server, game_id, "move")) == 15
    assert server.violations == []
    assert [board.move_stack[-1:] for board, _ in running.engines[0].asked[1:]] == [
        [chess.Move.from_uci(move)] for move in game.moves[(2 if colour else 3) - 1 : 29 : 2]
    ]


def test_greeting_and_goodbye_are_said_once(start_bot):
    with FakeLichess(Faults(drop=0.5)) as server:
        game_id = server.challenge()
        start_bot(server, games=1, greeting="Hi {opponent}, I am {me} {x}", goodbye="Bye").wait()
    assert server.games[game_id].chat == ["Hi Rival, I am Adder {x}", "Bye"]


@pytest.mark.parametrize("castling", ["b1a1", "b1g1"])
def test_chess960_is_castled_as_king_takes_rook(start_bot, castling):
    fen = "1k6/8/8/8/8/8/8/RK4R1 w GA - 0 1"
    with FakeLichess() as server:
        game_id = server.challenge(fen=fen, variant="chess960", most_plies=4)
        start_bot(server, scripted(castling), games=1).wait()
    assert server.games[game_id].moves[0] == castling
    assert server.violations == []


@pytest.mark.parametrize("colour", chess.COLORS)
def test_from_a_position_in_which_black_begins(start_bot, colour):
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
    with FakeLichess() as server:
        game_id = server.challenge(colour, fen=fen, variant="fromPosition", most_plies=9)
        running = start_bot(server, scripted("e8g8" if colour == chess.BLACK else "e1g1"), games=1)
        running.wait()
    assert server.games[game_id].over and server.violations == []
    assert running.engines[0].asked[0][0].turn == colour


def test_the_clock_and_the_overhead_reach_the_engine(start_bot):
    with FakeLichess() as server:
        server.challenge(most_plies=8)
        running = start_bot(server, games=1, clock=TickingClock(), move_overhead=150, ponder=True, nodes=1000)
        running.wait()
    engine = running.engines[0]
    first, *others = [limit for _, limit in engine.asked]
    assert first.time == 5.0 and first.nodes == 1000
    assert all(0 < limit.white_clock < 180 and limit.black_clock == 180 and limit.white_inc == 2 for limit in others)
    # Each move takes a quarter of a second at least, by that clock.
    overheads = [setting["Move Overhead"] for setting in engine.settings]
    assert overheads[0] == 150 and overheads[-1] > 250
    assert engine.pondered == [False, True, True, True]


def test_the_engine_is_told_of_an_overhead_that_has_changed_much(start_bot, monkeypatch):
    readings = [100, 3000, 2000, 1400, 100, 110, 130]  # at each of the bot's moves
    with FakeLichess() as server:
        game_id = server.challenge(most_plies=2 * len(readings))

        def overhead_ms(lag):
            game = server.games.get(game_id)
            return readings[len(game.moves) // 2 if game else 0]

        monkeypatch.setattr(Lag, "overhead_ms", overhead_ms)
        running = start_bot(server, games=1)
        running.wait()
    told = [setting["Move Overhead"] for setting in running.engines[0].settings if "Move Overhead" in setting]
    assert told == [100, 3000, 1400, 100, 130]


# --- moves whose fate is unknown -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["lost", "bad_gateway", "error", "refuse", "too_many"])
def test_a_move_is_made_once_whatever_becomes_of_the_answer(start_bot, fault):
    with FakeLichess(Faults(**{fault: 0.3})) as server:
        game_id = server.challenge(most_plies=20)
        running = start_bot(server, games=1)
        running.wait()
    game = server.games[game_id]
    assert server.faults.happened[fault] > 2
    assert server.violations == [] and len(game.moves) == 20
    assert len(running.engines[0].asked) == 10  # nor is a move thought about twice
    expected = 10 if fault in ("lost", "bad_gateway") else 10 + sum(n - 1 for n in game.attempts.values())
    assert len(posted(server, game_id, "move")) == expected


def test_an_answer_that_comes_too_late_is_like_a_lost_one(start_bot, monkeypatch):
    send, made, hold = requests.Session.send, threading.Semaphore(0), threading.Event()

    with FakeLichess() as server, ThreadPoolExecutor() as pool:

        def time_out(session, request, **kwargs):
            """Send a request to move, and stop waiting for the answer as soon as the server has carried it out."""
            if "/move/" not in request.url:
                return send(session, request, **kwargs)
            pool.submit(send, session, request, **kwargs)
            assert made.acquire(timeout=PATIENCE)
            raise requests.ReadTimeout

        def move(game, uci):
            result = FakeLichess.move(server, game, uci)
            made.release()
            return result

        monkeypatch.setattr(requests.Session, "send", time_out)
        server.move, server.hold = move, hold
        game_id = server.challenge(opponent=answers("e7e5"))
        running = start_bot(server, scripted("e2e4", "g1f3"), games=1)
        eventually(
            lambda: game_id in server.games and len(server.games[game_id].moves) == 3
        )  # no answer to the first yet
        game = server.games[game_id]
        opened = game.opened
        hold.set()
        eventually(lambda: game.opened == 3)  # the answer to the second is not waited for either
        server.act(game, "resign")
        running.wait()
    assert opened >= 2
    assert game.moves == ["e2e4", "e7e5", "g1f3"]
    assert server.violations == []
    assert len(posted(server, game_id, "move")) == 2


def test_a_move_that_the_server_forgets_is_made_again(start_bot):
    with FakeLichess(Faults(forget=0.5)) as server:
        game_id = server.challenge(most_plies=20)
        start_bot(server, games=1).wait()
    assert server.faults.happened["forget"] > 2
    assert server.violations == [] and len(server.games[game_id].moves) == 20


def test_old_news_do_not_count_when_a_moves_fate_is_unknown(start_bot, delivered):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers())
        make_move = server.move

        def move_and_say_that_it_is_not_made(game, uci):
            before = game.state()
            make_move(game, uci)
            game.publish(before)
            eventually(lambda: delivered[-1:] == [before])
            return 500, "Something went wrong"

        server.move = move_and_say_that_it_is_not_made
        running = start_bot(server, games=1)
        eventually(lambda: game_id in server.games and server.games[game_id].opened == 2)
        server.act(server.games[game_id], "abort")
        running.wait()
    assert server.violations == []
    assert len(posted(server, game_id, "move")) == 1


def test_news_from_before_a_move_that_come_after_it_do_not_repeat_it(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers())
        running = start_bot(server, Thinker, games=1)
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())
        game = server.games[game_id]
        server.gate = threading.Event()
        game.hang_up()
        eventually(lambda: game.opened == 2)  # what it will tell is settled: no move has been made
        running.engines[0].stopped.set()
        eventually(lambda: len(game.moves) == 1)
        server.gate.set()
        eventually(lambda: game.opened == 3)
        server.act(game, "abort")
        running.wait()
    assert server.violations == []
    assert len(posted(server, game_id, "move")) == 1


def test_a_game_is_given_up_if_no_move_is_taken(start_bot):
    with FakeLichess() as server:
        server.move = lambda game, uci: (400, "No")
        game_id = server.challenge()
        start_bot(server, games=1).wait()
    assert server.games[game_id].status == "aborted"
    assert len(posted(server, game_id, "move")) == 3


def test_a_game_that_is_under_way_is_taken_up(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", "b8c6", "f8c5", "resign"))
        game = server.start(game_id, silently=True)
        server.move(game, "e2e4")
        start_bot(server, games=1).wait()
    assert game.status == "resign" and game.winner == chess.WHITE
    assert game.chat == ["Good game, Rival!"]


# --- ends ----------------------------------------------------------------------------------------------------------


def test_the_opponents_resignation_ends_the_search(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge()
        running = start_bot(server, Thinker, games=1)
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())
        server.games[game_id].end("resign", chess.WHITE)
        running.wait()
    assert posted(server, game_id, "move") == []


@pytest.mark.parametrize("colour", chess.COLORS)
def test_a_game_is_aborted_if_the_opponent_does_not_start(start_bot, colour):
    clock = StillClock()
    with FakeLichess() as server:
        game_id = server.challenge(colour, opponent=answers())
        running = start_bot(server, games=1, clock=clock, abort_after=33.0)
        eventually(lambda: 33.0 in clock.patience)
        clock.move_on(33.0)
        running.wait()
    assert server.games[game_id].status == "aborted"


def test_in_correspondence_the_opponent_has_time_to_start(start_bot):
    clock = StillClock()
    with FakeLichess() as server:
        game = server.start(server.challenge(opponent=answers(), speed="correspondence"), silently=True)
        running = start_bot(server, games=1, clock=clock, abort_after=33.0)
        eventually(lambda: len(game.moves) == 1)
        game.end("resign", chess.WHITE)
        running.wait()
    assert 33.0 not in clock.patience


def test_victory_is_claimed_when_the_opponent_has_gone(start_bot):
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8}
    clock = StillClock()
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", gone))
        running = start_bot(server, games=1, clock=clock)
        eventually(lambda: 8.0 in clock.patience)
        clock.move_on(8.0)
        running.wait()
    game = server.games[game_id]
    assert (game.status, game.winner, len(game.moves)) == ("timeout", chess.WHITE, 3)


STRANGE = [None, True, 3, -1, 10**400, float("nan"), float("inf"), "", "text", [], [1], {}, {"a": {"b": []}}]


def test_no_event_ends_a_game(start_bot):
    names = ("moves", "wtime", "btime", "winc", "binc", "status", "winner", "wdraw", "btakeback", "type")
    with FakeLichess() as server:
        go_on = []
        game_id = server.challenge(opponent=lambda board, _: choice(board) if go_on else None, most_plies=10)
        running = start_bot(server, games=1)
        eventually(lambda: game_id in server.games and server.games[game_id].moves)
        game = server.games[game_id]
        for strange in STRANGE:
            for event in (
                {"type": strange},
                {"type": "gameState", "moves": strange},
                {"type": "opponentGone", "gone": True, "claimWinInSeconds": strange},
                {"type": "chatLine", "username": strange, "text": strange},
            ):
                game.publish(event)
        for name in names:
            # The first makes the bot open the stream anew, and what comes after it is out of date.
            game.publish({**game.state(), name: [1]})
        go_on.append(True)
        with server.lock:
            server.reply(game)
        running.wait()
    assert running.failure is None
    assert (game.status, len(game.moves)) == ("draw", 10)
    assert server.violations == []
    assert posted(server, game_id, "claim-victory") == []


def test_nothing_is_claimed_from_an_opponent_who_is_back(start_bot):
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8}
    clock = StillClock()
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", gone))
        running = start_bot(server, games=1, clock=clock)
        eventually(lambda: 8.0 in clock.patience)
        game = server.games[game_id]
        game.publish({"type": "opponentGone", "gone": False})
        eventually(lambda: None in clock.patience[clock.patience.index(8.0) :])  # it waits for the opponent only
        clock.move_on(8.0)
        server.act(game, "resign")
        running.wait()
    assert posted(server, game_id, "claim-victory") == []


def test_the_bot_resigns_when_it_is_lost(start_bot):
    with FakeLichess(Faults(lost=0.5)) as server:
        game_id = server.challenge(most_plies=60)
        start_bot(server, lambda: Chooser(score=-2000), games=1, resign_moves=3).wait()
    game = server.games[game_id]
    assert (game.status, game.winner, len(game.moves)) == ("resign", chess.BLACK, 4)


FORTY = "4k3/8/8/8/8/8/4P3/4K3 {} - - 0 40"


def test_a_draw_is_offered_when_the_game_is_level(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(fen=FORTY.format("w"), variant="fromPosition", most_plies=20)
        start_bot(server, lambda: Chooser(score=0), games=1).wait()
    offers = ["offeringDraw=true" in request for request in posted(server, game_id, "move")]
    assert offers[:8] == [False] * 7 + [True]
    assert sum(offers) == 1


@pytest.mark.parametrize(("score", "status"), [(0, "draw"), (300, "resign")])
def test_an_offered_draw_is_taken_when_nothing_is_better(start_bot, score, status):
    offers = 0

    def opponent(board, random):
        nonlocal offers
        if board.fullmove_number < 50:
            return choice(board)
        offers += 1
        return {"bdraw": True} if offers == 1 else "resign"

    with FakeLichess() as server:
        game_id = server.challenge(fen=FORTY.format("w"), variant="fromPosition", opponent=opponent, most_plies=200)
        running = start_bot(server, lambda: Chooser(score=score), games=1)
        eventually(lambda: offers)
        game = server.games[game_id]
        if status == "resign":
            server.act(game, "resign")
        running.wait()
    assert game.status == status
    assert len(posted(server, game_id, "draw/yes")) == (status == "draw")


def test_a_draw_that_is_offered_while_the_bot_thinks_is_taken(start_bot, delivered):
    with FakeLichess() as server:

        class Offered(Chooser):
            def choose(self, board):
                if board.fullmove_number == 50:
                    game = server.games[game_id]
                    game.extra = {"bdraw": True}
                    game.publish(game.state())
                    eventually(lambda: game.state() in delivered)
                return super().choose(board)

        game_id = server.challenge(fen=FORTY.format("w"), variant="fromPosition", most_plies=200)
        start_bot(server, lambda: Offered(score=0), games=1).wait()
    assert (server.games[game_id].status, len(server.games[game_id].moves)) == ("draw", 20)
    assert len(posted(server, game_id, "draw/yes")) == 1


def test_a_third_repetition_is_claimed_when_nothing_is_better(start_bot):
    there, back = (
        answers("g8f6", "f6g8", "g8f6", "f6g8", "g8f6", "f6g8"),
        scripted("g1f3", "f3g1", "g1f3", "f3g1", "g1f3"),
    )
    with FakeLichess() as server:
        game_id = server.challenge(opponent=there)
        start_bot(server, lambda: back(score=-5), games=1).wait()
    game = server.games[game_id]
    assert (game.status, len(game.moves)) == ("draw", 8)
    assert server.violations == []


def test_moves_are_not_taken_back(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", {"btakeback": True}))
        running = start_bot(server, games=1)
        eventually(lambda: posted(server, game_id, "takeback/no"))
        server.act(server.games[game_id], "resign")
        running.wait()
    assert len(posted(server, game_id, "takeback")) == 1


def test_a_game_that_does_not_exist_is_left(start_bot):
    with FakeLichess() as server:
        running = start_bot(server, games=1)
        eventually(lambda: server.listeners)
        server.announce({"type": "gameStart", "game": {"id": "nowhere1"}})
        running.wait()
    assert running.bot.games_played == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (EngineError("out of order"), "out of order"),
        (RuntimeError("out of order"), "given up: RuntimeError('out of order')"),
        (AssertionError(), "given up: AssertionError()"),
    ],
)
def test_an_engine_that_fails_loses_its_game_only(start_bot, caplog, fault, reason):
    class Broken(Chooser):
        def choose(self, board):
            if board.root().fen() == FORTY.format("w") and len(board.move_stack) >= 4:
                raise fault
            return super().choose(board)

    ended = []

    def wait_for_failure(board, random):
        return choice(board) if ended else None

    def on_finish(game):
        ended.append(game.id)
        if game.id == failing and other in server.games:
            server.reply(server.games[other])

    with FakeLichess() as server:
        other = server.challenge(opponent=wait_for_failure)
        failing = server.challenge(fen=FORTY.format("w"), variant="fromPosition")
        server.on_finish = on_finish
        start_bot(server, Broken, games=2, concurrency=2).wait()
    assert ended == [failing, other]
    assert server.games[failing].status == "resign"
    assert server.games[other].status in ("draw", "mate")
    [told] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert told.getMessage() == f"game {failing}: {reason}"
    assert bool(told.exc_info) == (not isinstance(fault, EngineError))  # the traceback of an unexpected error
