"""The bot as a whole, on a server that fails."""

import functools
import re
import threading

import chess
import pytest
from fake_lichess import FakeLichess, Faults, random_mover
from lichess_players import Thinker, choice
from waiting import eventually

from knightadder.engine.errors import EngineError
from knightadder.lichess.api_errors import Refused
from knightadder.lichess.bot_api import Lichess


def test_twenty_games_with_every_fault_lose_no_move_and_send_none_twice(start_bot):
    faults = Faults(
        seed=1,
        # requests that are not carried out, or whose answer is lost
        too_many=0.02,
        error=0.03,
        refuse=0.03,
        lost=0.05,
        bad_gateway=0.03,
        # streams of games
        drop=0.06,
        end=0.03,
        twice=0.05,
        garbled=0.03,
        forget=0.02,
        ends_at_once=0.05,
        # the stream of events
        event_twice=0.1,
        event_lost=0.1,
        event_garbled=0.1,
    )
    with FakeLichess(faults) as server:
        running = start_bot(server, games=20, concurrency=8)

        def next_challenge(*_):
            number = len(server.prepared)
            if number < 20:
                server.challenge(colour=number % 2 == 0, most_plies=20 + number % 5)

        server.on_finish = next_challenge
        next_challenge()
        next_challenge()
        running.wait()

    assert running.failure is None
    assert server.violations == []
    assert len(server.games) == 20
    for game in server.games.values():
        assert game.status in ("draw", "mate")
        board = chess.Board()
        for uci in game.moves:
            if board.turn == game.colour:
                assert uci == choice(board).uci()
            board.push_uci(uci)
    assert faults.happened.total() > 80
    assert set(faults.happened) == {
        "too_many", "error", "refuse", "lost", "bad_gateway", "drop", "end", "twice", "garbled", "forget",
        "ends_at_once", "event_twice", "event_lost", "event_garbled",
    }  # fmt: skip


def test_challenges_that_do_not_suit_are_declined_with_the_reason(start_bot):
    with FakeLichess(Faults(lost=0.5, error=0.3)) as server:
        running = start_bot(server, speeds=("blitz",), variants=("standard", "chess960"), modes=("casual",))
        fast = server.challenge(speed="bullet")
        odd = server.challenge(variant="antichess")
        serious = server.challenge(rated=True)
        eventually(lambda: len(server.declined) == 3)
        running.bot.interrupt()
        running.wait()
    assert server.declined == {fast: "tooFast", odd: "variant", serious: "casual"}
    assert server.games == {}


def is_accepted(server, game_id, clock=None):
    """Wait for the answer to a challenge; move the clock on meanwhile, if one is given."""

    def is_answered():
        if clock:
            clock.move_on(0.5)
        return game_id in server.games or game_id in server.declined

    eventually(is_answered)
    return game_id in server.games


def test_only_so_many_games_at_once(start_bot):
    def opponent(board, random):
        return random_mover(board, random) if board.fullmove_number < 3 else None

    with FakeLichess() as server:
        first = server.challenge(opponent=opponent)
        running = start_bot(server, concurrency=1)
        eventually(lambda: first in server.games and len(server.games[first].moves) == 5)  # too many for an abort
        second = server.challenge()
        assert not is_accepted(server, second, running.clock)
        assert server.declined == {second: "later"}
        third = server.challenge(most_plies=4)
        server.act(server.games[first], "resign")
        assert is_accepted(server, third)
        running.bot.interrupt()
        running.wait()


def test_a_rematch_is_played_although_the_bot_still_says_goodbye(start_bot):
    with FakeLichess() as server:
        server.on_finish = lambda game: server.challenge(most_plies=4) if len(server.games) < 10 else None
        running = start_bot(server, concurrency=1, games=10, goodbye="Thank you")
        server.challenge(most_plies=4)
        running.wait()
    assert (len(server.games), server.declined) == (10, {})


def test_a_correspondence_game_takes_no_place_of_the_others(start_bot):
    with FakeLichess() as server:
        slow = {"speed": "correspondence", "opponent": lambda *_: None}
        running = start_bot(server, concurrency=1, speeds=("blitz", "correspondence"))
        first = server.challenge(**slow)
        assert is_accepted(server, first)
        assert not is_accepted(server, server.challenge(**slow), running.clock)
        assert is_accepted(server, server.challenge(most_plies=4))
        server.act(server.games[first], "resign")
        running.bot.interrupt()
        running.wait()


def test_a_game_begins_although_the_answer_about_a_challenge_does_not_come(start_bot):
    with FakeLichess() as server:
        server.held["game0001"] = threading.Event()
        running = start_bot(server, concurrency=2)
        held = server.challenge(variant="antichess")
        eventually(lambda: f"POST /api/challenge/{held}/decline" in server.requests)
        played = server.challenge(most_plies=4)
        server.start(played)
        eventually(lambda: server.games[played].over)
        assert server.declined == {}
        server.held[held].set()
        running.bot.interrupt()
        running.wait()
    assert server.declined == {held: "variant"}


def test_a_bot_that_leaves_accepts_no_challenge_any_more(start_bot):
    with FakeLichess() as server:
        server.held["game0001"] = threading.Event()
        running = start_bot(server, Thinker, concurrency=2)
        held = server.challenge(variant="antichess")
        eventually(lambda: f"POST /api/challenge/{held}/decline" in server.requests)
        queued, played = server.challenge(), server.challenge()
        server.start(played)
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())  # so both challenges are known
        running.bot.interrupt()
        running.bot.interrupt()
        eventually(lambda: server.games[played].over)
        server.held[held].set()
        running.wait()
    assert server.declined == {held: "variant"}
    assert f"POST /api/challenge/{queued}/accept" not in server.requests


def test_an_unexpected_failure_to_accept_a_challenge_makes_room_for_the_next(start_bot, monkeypatch):
    accept = Lichess.accept

    def fail_once(self, challenge_id):
        monkeypatch.setattr(Lichess, "accept", accept)
        raise MemoryError

    monkeypatch.setattr(Lichess, "accept", fail_once)
    with FakeLichess() as server:
        running = start_bot(server, concurrency=1, games=1)
        first = server.challenge()
        eventually(lambda: Lichess.accept is accept)
        eventually(lambda: is_accepted(server, server.challenge(most_plies=4), running.clock))
        running.wait()
    assert first not in server.games


DAILY = {
    "error": "You played 100 games against other bots today, please wait before challenging another bot.",
    "ratelimit": {"key": "bot.vsBot.day", "seconds": 86398},
}
TWICE = {"error": "Rival played 100 games against other bots today, please wait until tomorrow to challenge them."}


@pytest.mark.parametrize("refusal", [(429, DAILY), (400, TWICE)])
def test_a_limit_of_games_against_bots_declines_the_challenge_and_disturbs_nothing_else(start_bot, refusal):
    with FakeLichess() as server:
        running = start_bot(server, concurrency=2)
        playing = server.challenge(opponent=lambda *_: None)
        assert is_accepted(server, playing)
        refused = f"game{len(server.prepared) + 1:04}"
        server.refusals[refused] = refusal
        assert server.challenge(title="BOT") == refused and not is_accepted(server, refused)
        assert is_accepted(server, server.challenge(most_plies=4))  # there is room for it at once
        server.act(server.games[playing], "abort")
        running.bot.interrupt()
        running.wait()
    assert server.declined == {refused: "later"}
    assert server.requests.count(f"POST /api/challenge/{refused}/accept") == 1
    assert max(running.clock.waits, default=0) < 60  # no request had to wait for a minute


def test_a_running_game_that_the_engine_cannot_play_is_left_alone(start_bot):
    with FakeLichess() as server:
        odd, played = server.challenge(variant="antichess"), server.challenge(most_plies=4)
        server.start(odd)
        running = start_bot(server, games=1)
        running.wait()
    assert server.games[played].over and not any(odd in request for request in server.requests)


def test_a_challenge_that_is_withdrawn_makes_room(start_bot):
    with FakeLichess() as server:
        server.start = lambda game_id: server.offered.pop(game_id)  # accepted, but no game comes of it
        running = start_bot(server, concurrency=1)
        first = server.challenge()
        eventually(lambda: f"POST /api/challenge/{first}/accept" in server.requests)
        server.cancel(first)
        del server.start
        second = server.challenge(most_plies=4)
        eventually(lambda: second in server.games or second in server.declined)
        running.bot.interrupt()
        running.wait()
    assert second in server.games


def test_own_challenges_and_games_that_are_not_for_bots_are_left_alone(start_bot):
    with FakeLichess() as server:
        running = start_bot(server)
        eventually(lambda: server.listeners)
        challenge = {"id": "own00001", "challenger": {"id": "adder"}, "variant": {"key": "standard"}, "speed": "blitz"}
        server.announce({"type": "challenge", "challenge": challenge})
        server.announce({"type": "gameStart", "game": {"id": "human001", "compat": {"bot": False}}})
        server.announce({"type": "somethingNew"})
        server.announce({"type": "challenge"})
        last = server.challenge(speed="correspondence")
        eventually(lambda: last in server.declined)
        running.bot.interrupt()
        running.wait()
    assert not any("own00001" in request or "human001" in request for request in server.requests)


STRANGE = [None, True, 3, 10**400, float("nan"), "", "a/../b", "\0", "x" * 1000, [], [1], {}, {"a": {"b": []}}]


def test_no_event_ends_the_bot(start_bot):
    deep = functools.reduce(lambda inner, _: [inner], range(500), 1)
    with FakeLichess() as server:
        running = start_bot(server, min_rating=1000)
        eventually(lambda: server.listeners)
        whole = {"id": "strange1", "challenger": {"name": "Rival"}, "variant": {"key": "standard"}, "speed": "blitz"}
        for strange in [*STRANGE, deep]:
            server.announce({"type": strange})
            for kind, field in (("challenge", "challenge"), ("challengeCanceled", "challenge"), ("gameStart", "game")):
                server.announce({"type": kind, field: strange})
                server.announce({"type": kind, field: {"id": strange}})
            for name in ("challenger", "variant", "speed", "initialFen", "status"):
                server.announce({"type": "challenge", "challenge": {**whole, "id": f"odd-{len(name)}", name: strange}})
            server.announce({"type": "challenge", "challenge": {**whole, "challenger": {"rating": strange}}})
            server.announce({"type": "gameStart", "game": {"id": strange, "compat": {"bot": False}}})
        last = server.challenge(most_plies=4, rating=2000)
        eventually(lambda: last in server.games and server.games[last].over)
        running.bot.interrupt()
        running.wait()
    assert running.failure is None
    assert list(server.games) == [last]
    assert all(re.fullmatch(r"[A-Z]+ /api/[\w/-]+", request) for request in server.requests)


def test_after_an_interrupt_games_are_finished_and_none_is_begun(start_bot):
    go_on = threading.Event()

    def opponent(board, random):
        return random_mover(board, random) if go_on.is_set() else None

    with FakeLichess() as server:
        first = server.challenge(opponent=opponent, most_plies=12)
        running = start_bot(server, concurrency=3)
        eventually(lambda: first in server.games and server.games[first].moves)
        running.bot.interrupt()
        second = server.challenge()
        eventually(lambda: second in server.declined)
        go_on.set()
        with server.lock:
            server.reply(server.games[first])
        running.wait()
    assert server.declined == {second: "later"}
    assert len(server.games[first].moves) == 12


def test_the_second_interrupt_resigns(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(chess.WHITE, opponent=random_mover, most_plies=1000)
        running = start_bot(server, Hesitant)
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())
        running.bot.interrupt()
        running.bot.interrupt()
        running.wait()
    game = server.games[game_id]
    assert (game.status, game.winner) == ("resign", chess.BLACK)
    assert len(game.moves) == 4


def test_an_interrupt_resigns_at_once_if_wanted(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(most_plies=1000)
        running = start_bot(server, Hesitant, on_interrupt="resign")
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())
        running.bot.interrupt()
        running.wait()
    assert server.games[game_id].status == "resign"


@pytest.mark.parametrize("on_interrupt", ["finish", "resign"])
def test_an_interrupt_leaves_correspondence_games_to_the_next_start(start_bot, on_interrupt):
    with FakeLichess() as server:
        game_id = server.challenge(speed="correspondence", most_plies=12)
        running = start_bot(server, Hesitant, speeds=("correspondence",), on_interrupt=on_interrupt)
        eventually(lambda: running.engines and running.engines[0].thinking.is_set())
        running.bot.interrupt()
        running.wait()
        game = server.games[game_id]
        assert (game.status, len(game.moves)) == ("started", 4)
        start_bot(server, games=1).wait()
    assert (game.status, len(game.moves)) == ("draw", 12)


def test_engines_are_used_again(start_bot):
    with FakeLichess() as server:
        running = start_bot(server, games=3, concurrency=1)
        for _ in range(3):  # the next game is accepted when the one before has given its engine back
            assert is_accepted(server, server.challenge(most_plies=6))
        running.wait()
    assert [engine.games for engine in running.engines] == [3]


@pytest.mark.parametrize("error", [EngineError("not enough memory"), MemoryError()])
def test_a_game_for_which_no_engine_can_be_made_is_given_up(start_bot, error):
    def make():
        raise error

    with FakeLichess() as server:
        game_id = server.challenge()
        start_bot(server, make, games=1).wait()
    assert server.games[game_id].status in ("resign", "aborted")


def test_a_game_for_which_there_is_no_thread_is_given_up_and_the_next_is_played(start_bot, monkeypatch):
    refused = []
    start = threading.Thread.start

    def start_later(thread):
        if thread.name.startswith("player of") and not refused:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_later)
    with FakeLichess() as server:
        first = server.challenge()
        running = start_bot(server, games=2, concurrency=1)
        eventually(lambda: server.games.get(first) and server.games[first].status in ("resign", "aborted"))
        assert is_accepted(server, server.challenge(most_plies=6))
        running.wait()
    assert [engine.games for engine in running.engines] == [1]


def test_a_token_that_is_revoked_ends_the_bot(start_bot, monkeypatch):
    with FakeLichess() as server:
        running = start_bot(server)
        eventually(lambda: server.listeners)
        monkeypatch.setattr("fake_lichess.TOKEN", "another")
        server.announce({"type": "ping"})
        for queue in list(server.listeners):
            queue.put(b"nonsense\n")
        running.wait()
    assert isinstance(running.failure, Refused) and running.failure.status == 401


class Hesitant(Thinker):
    """Plays two moves at once, and thinks long about the third."""

    def choose(self, board):
        return choice(board) if len(self.asked) <= 2 else super().choose(board)
