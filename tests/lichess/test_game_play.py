"""One game: how it begins, goes on and ends, and what happens to moves whose fate is unknown."""

import threading

import chess
import pytest
from fake_lichess import FakeLichess, Faults
from lichess_players import Chooser, HurriedClock, Thinker, choice


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


def until(condition):
    """Wait for something that other threads bring about."""
    while not condition():
        threading.Event().wait(0.001)


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


def test_a_connection_made_anew_is_no_reason_to_greet_again(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers())
        running = start_bot(server, games=1, greeting="Hi")
        until(lambda: game_id in server.games and server.games[game_id].moves)
        game = server.games[game_id]
        game.hang_up()
        until(lambda: game.opened == 2)
        server.act(game, "abort")
        running.wait()
    assert game.chat == ["Hi"]


def test_silence_can_be_kept(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge()
        start_bot(server, games=1, greeting="", goodbye="").wait()
    assert server.games[game_id].chat == []


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
        clock = HurriedClock(rate=10_000)  # so that some time passes between news and search
        running = start_bot(server, games=1, clock=clock, move_overhead=150, ponder=True, nodes=1000)
        running.wait()
    engine = running.engines[0]
    first, *others = [limit for _, limit in engine.asked]
    assert first.time == 5.0 and first.nodes == 1000
    assert all(0 < limit.white_clock < 180 and limit.black_clock == 180 and limit.white_inc == 2 for limit in others)
    assert engine.settings[0]["Move Overhead"] >= 150
    assert engine.pondered == [False, True, True, True]


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


def test_an_answer_that_comes_too_late_is_like_a_lost_one(start_bot):
    with FakeLichess() as server:
        server.hold = threading.Event()
        game_id = server.challenge(opponent=answers("e7e5"))
        running = start_bot(server, scripted("e2e4", "g1f3"), games=1, timeouts=(10.0, 0.3, 20.0))
        game = None
        while not (
            game and game.opened > 1 and len(game.moves) > 2
        ):  # the second move follows without an answer to the first
            game = server.games.get(game_id)
            threading.Event().wait(0.001)
        server.hold.set()
        running.bot.interrupt()
        running.bot.interrupt()
        running.wait()
    assert game.moves[:3] == ["e2e4", "e7e5", "g1f3"]
    assert server.violations == []


def test_a_move_that_the_server_forgets_is_made_again(start_bot):
    with FakeLichess(Faults(forget=0.5)) as server:
        game_id = server.challenge(most_plies=20)
        start_bot(server, games=1).wait()
    assert server.faults.happened["forget"] > 2
    assert server.violations == [] and len(server.games[game_id].moves) == 20


def test_old_news_do_not_count_when_a_moves_fate_is_unknown(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers())
        make_move = server.move

        def move_and_say_that_it_is_not_made(game, uci):
            before = game.state()
            make_move(game, uci)
            game.publish(before)
            threading.Event().wait(0.05)  # time to read it
            return 500, "Something went wrong"

        server.move = move_and_say_that_it_is_not_made
        running = start_bot(server, games=1)
        until(lambda: game_id in server.games and server.games[game_id].opened == 2)
        server.act(server.games[game_id], "abort")
        running.wait()
    assert server.violations == []
    assert len(posted(server, game_id, "move")) == 1


def test_news_from_before_a_move_that_come_after_it_do_not_repeat_it(start_bot):
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers())
        running = start_bot(server, Thinker, games=1)
        until(lambda: running.engines and running.engines[0].thinking.is_set())
        game = server.games[game_id]
        server.gate = threading.Event()
        game.hang_up()
        until(lambda: game.opened == 2)  # what it will tell is settled: no move has been made
        running.engines[0].stopped.set()
        until(lambda: len(game.moves) == 1)
        server.gate.set()
        until(lambda: game.opened == 3)
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
        until(lambda: running.engines and running.engines[0].thinking.is_set())
        server.games[game_id].end("resign", chess.WHITE)
        running.wait()
    assert posted(server, game_id, "move") == []


@pytest.mark.parametrize("colour", chess.COLORS)
def test_a_game_is_aborted_if_the_opponent_does_not_start(start_bot, colour):
    with FakeLichess() as server:
        game_id = server.challenge(colour, opponent=answers())
        start_bot(server, games=1, clock=HurriedClock(rate=100), abort_after=3.0).wait()
    assert server.games[game_id].status == "aborted"


def test_victory_is_claimed_when_the_opponent_has_gone(start_bot):
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8}
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", gone))
        start_bot(server, games=1, clock=HurriedClock(rate=100), abort_after=80_000.0).wait()
    game = server.games[game_id]
    assert (game.status, game.winner, len(game.moves)) == ("timeout", chess.WHITE, 3)


def test_nothing_is_claimed_from_an_opponent_who_is_back(start_bot):
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 80_000}
    with FakeLichess() as server:
        game_id = server.challenge(opponent=answers("e7e5", gone))
        running = start_bot(server, games=1, abort_after=80_000.0)
        until(lambda: game_id in server.games and len(server.games[game_id].moves) == 3)
        game = server.games[game_id]
        game.publish({"type": "opponentGone", "gone": False})
        game.push(game.board.parse_uci("b8c6"))
        game.publish(game.state())
        until(lambda: len(game.moves) >= 5)
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
        until(lambda: offers)
        game = server.games[game_id]
        if status == "resign":
            server.act(game, "resign")
        running.wait()
    assert game.status == status
    assert len(posted(server, game_id, "draw/yes")) == (status == "draw")


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
        until(lambda: posted(server, game_id, "takeback/no"))
        server.act(server.games[game_id], "resign")
        running.wait()
    assert len(posted(server, game_id, "takeback")) == 1


def test_a_game_that_does_not_exist_is_left(start_bot):
    with FakeLichess() as server:
        running = start_bot(server, games=1)
        server.announce({"type": "gameStart", "game": {"id": "nowhere1"}})
        while not running.bot.games_played:
            server.announce({"type": "gameStart", "game": {"id": "nowhere1"}})
            threading.Event().wait(0.01)
        running.wait()
    assert running.bot.games_played == 1


def test_an_engine_that_fails_loses_its_game_only(start_bot):
    failures = []

    class Broken(Chooser):
        def choose(self, board):
            if not failures and len(self.asked) == 3:
                from knightadder.engine.errors import EngineError

                failures.append(board)
                raise EngineError("out of order")
            return super().choose(board)

    with FakeLichess() as server:
        first = server.challenge()
        server.on_finish = lambda game: game.id == first and server.challenge()
        start_bot(server, Broken, games=2, concurrency=2).wait()
    assert server.games[first].status == "resign"
    assert server.games["game0002"].status in ("draw", "mate")
