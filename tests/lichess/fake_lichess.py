"""A server on this machine that speaks Lichess's bot API, keeps real games by python-chess, and fails on demand."""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from random import Random

import chess

TOKEN = "lip_secret"
BOT = {"id": "adder", "username": "Adder", "title": "BOT"}

_KEEP_ALIVE = 0.5  # seconds between empty lines; Lichess takes some six
_PATIENCE = 120  # seconds that an answer is held at most
_DROP = object()  # in a stream's queue: break the connection
_END = object()  # ... end it properly


def random_mover(board: chess.Board, random: Random):
    """Play any legal move."""
    return random.choice(list(board.legal_moves))


class Faults:
    """What goes wrong and when, drawn for each occasion by its name, so that the order of threads changes nothing.

    Parameters
    ----------
    seed : int
        Another gives other faults.
    rates : dict
        The probability of each fault by name.
    """

    def __init__(self, seed=0, **rates):
        self._seed, self._rates = seed, rates
        self.happened = Counter()

    def strike(self, occasion, *names):
        """Draw one of these faults, or none, and count it."""
        draw = Random(f"{self._seed} {occasion}").random()
        for name in names:
            draw -= self._rates.get(name, 0)
            if draw < 0:
                self.happened[name] += 1
                return name
        return None


class Game:
    """A game between the bot and an opponent that answers at once."""

    def __init__(self, game_id, colour, fen, variant, opponent, most_plies, random, speed="blitz"):
        self.id, self.colour, self.fen, self.variant, self.speed = game_id, colour, fen, variant, speed
        self.opponent, self.most_plies, self.random = opponent, most_plies, random
        self.board = chess.Board(fen or chess.STARTING_FEN, chess960=variant == "chess960")
        self.status, self.winner = "started", None
        self.streams: list[SimpleQueue] = []
        self.opened = 0
        self.extra: dict = {}  # draw and takeback offers
        self.moves: list[str] = []
        self.attempts = Counter()
        self.chat: list[str] = []
        self.clocks = 180_000, 180_000

    def full(self):
        """Give the event that begins a stream."""
        me = {"id": BOT["id"], "name": BOT["username"], "title": "BOT", "rating": 2000}
        other = {"id": "rival", "name": "Rival", "rating": 1900}
        white, black = (me, other) if self.colour == chess.WHITE else (other, me)
        return {
            "type": "gameFull",
            "id": self.id,
            "variant": {"key": self.variant, "name": self.variant},
            "speed": self.speed,
            "perf": {"name": "Blitz"},
            "rated": False,
            "createdAt": 1_700_000_000_000,
            "clock": {"initial": 180_000, "increment": 2000},
            "white": white,
            "black": black,
            "initialFen": self.fen or "startpos",
            "state": self.state(),
        }

    def state(self):
        """Give the event of a change."""
        wtime, btime = self.clocks
        state = {
            "type": "gameState",
            "moves": " ".join(self.moves),
            "wtime": wtime,
            "btime": btime,
            "winc": 2000,
            "binc": 2000,
            "status": self.status,
            **self.extra,
        }
        return state if self.winner is None else {**state, "winner": chess.COLOR_NAMES[self.winner]}

    def publish(self, event, twice=False):
        """Send an event to those who watch."""
        for stream in self.streams:
            for _ in range(1 + twice):
                stream.put(event)

    def hang_up(self, how=_DROP):
        """Break or end all connections."""
        for stream in self.streams:
            stream.put(how)

    @property
    def over(self):
        return self.status != "started"

    def push(self, move):
        """Make a move that is legal; the game may be over with it."""
        self.moves.append(self.board.uci(move))
        self.board.push(move)
        outcome = self.board.outcome()
        if outcome:
            self.status = "mate" if outcome.termination == chess.Termination.CHECKMATE else "draw"
            self.winner = outcome.winner
        elif len(self.moves) >= self.most_plies:
            self.status = "draw"

    def end(self, status, winner=None):
        """End the game and tell so."""
        self.status, self.winner = status, winner
        self.publish(self.state())
        self.hang_up(_END)


class FakeLichess:
    """The server; a context manager.

    Attributes
    ----------
    violations : list of str
        What a client must never do: move out of turn, or illegally.
    requests : list of str
        All requests, such as ``POST /api/challenge/g1/accept``, in their order.
    declined : dict
        The reasons of declined challenges.
    """

    def __init__(self, faults: Faults | None = None, account=None, keep_alive=_KEEP_ALIVE):
        self.faults = faults or Faults()
        self.account = dict(account or BOT)
        self.keep_alive = keep_alive
        self.lock = threading.RLock()
        self.games: dict[str, Game] = {}
        self.offered: dict[str, dict] = {}  # challenges that nobody has answered
        self.prepared: dict[str, Callable[[], Game]] = {}
        self.declined: dict[str, str] = {}
        self.violations: list[str] = []
        self.requests: list[str] = []
        self.authorizations: set[str | None] = set()
        self.agents: set[str | None] = set()
        self.listeners: list[SimpleQueue] = []
        self.refusals: dict[str, tuple[int, dict]] = {}  # status and body of answers to accepted challenges, by id
        self.hold: threading.Event | None = None  # answers to moves wait for it
        self.held: dict[str, threading.Event] = {}  # what answers about challenges wait for, by id
        self.gate: threading.Event | None = None  # streams that are opened wait for it
        self.on_finish: Callable[[Game], None] = lambda game: None
        self._numbers = itertools.count(1)
        self._visits = Counter()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with self.lock:
            for queue in [*self.listeners, *(stream for game in self.games.values() for stream in game.streams)]:
                queue.put(_END)
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()

    # --- for tests -------------------------------------------------------------------------------------------------

    def challenge(
        self,
        colour=chess.WHITE,
        fen=None,
        variant="standard",
        speed="blitz",
        rated=False,
        title=None,
        rating=1900,
        opponent=random_mover,
        most_plies=24,
    ):
        """Challenge the bot; return the id of challenge and game."""
        with self.lock:
            game_id = f"game{next(self._numbers):04}"
            self.prepared[game_id] = lambda: Game(
                game_id, colour, fen, variant, opponent, most_plies, Random(game_id), speed
            )
            self.offered[game_id] = {
                "id": game_id,
                "status": "created",
                "challenger": {"id": "rival", "name": "Rival", "title": title, "rating": rating},
                "destUser": {"id": self.account["id"], "name": self.account["username"]},
                "variant": {"key": variant},
                "rated": rated,
                "speed": speed,
                "timeControl": {"type": "clock", "limit": 180, "increment": 2},
                **({"initialFen": fen} if fen else {}),
            }
            self.announce({"type": "challenge", "challenge": self.offered[game_id]}, game_id)
        return game_id

    def cancel(self, game_id):
        """Withdraw a challenge."""
        with self.lock:
            challenge = self.offered.pop(game_id, None) or {"id": game_id}
            self.announce({"type": "challengeCanceled", "challenge": challenge}, game_id)

    def start(self, game_id, silently=False):
        """Start the game of a challenge."""
        with self.lock:
            self.offered.pop(game_id, None)
            game = self.games[game_id] = self.prepared[game_id]()
            self.reply(game)
            if not silently:
                self.announce(_start_event(game), game_id)
        return game

    def announce(self, event, occasion=""):
        """Send an event to those who listen, with faults."""
        fault = self.faults.strike(f"{event['type']} {occasion}", "event_twice", "event_lost", "event_garbled")
        with self.lock:
            for queue in self.listeners:
                if fault == "event_lost":  # told by the next connection
                    queue.put(_DROP)
                else:
                    queue.put(b"{not json\n" if fault == "event_garbled" else event)
                    if fault == "event_twice":
                        queue.put(event)

    # --- requests --------------------------------------------------------------------------------------------------

    def pending(self):
        """Give the events that a new listener has missed."""
        challenges = [{"type": "challenge", "challenge": challenge} for challenge in self.offered.values()]
        return challenges + [_start_event(game) for game in self.games.values() if not game.over]

    def visit(self, path):
        """Count a request; the first attempts may meet a fault."""
        with self.lock:
            self._visits[path] += 1
            return f"{path} {self._visits[path]}" if self._visits[path] <= 3 else None

    def move(self, game, uci):
        """Make the bot's move, and the opponent's; return status and error."""
        with self.lock:
            if game.over:
                return 400, "Not your turn, or game already over"
            if game.board.turn != game.colour:
                self.violations.append(f"{game.id}: {uci} out of turn after {' '.join(game.moves)}")
                return 400, "Not your turn, or game already over"
            try:
                move = game.board.parse_uci(uci)
            except ValueError:
                self.violations.append(f"{game.id}: {uci} is illegal after {' '.join(game.moves)}")
                return 400, f"Piece on {uci[:2]} cannot move to {uci[2:4]}"
            game.extra = {}
            game.push(move)
            occasion = f"{game.id} {len(game.moves)}"
            first = game.attempts[len(game.moves) - 1] == 1
            if first and not game.over and self.faults.strike(f"memory {occasion}", "forget"):
                game.moves.pop()
                game.board.pop()
                game.hang_up()
                return 200, None
            fault = self.faults.strike(f"stream {occasion}", "drop", "end", "twice", "garbled")
            if fault == "drop":
                game.hang_up()
            elif fault == "end":
                game.hang_up(_END)
            elif fault == "garbled":
                game.publish(b'{"type": "gameState", "moves": \n')
            game.publish(game.state(), twice=fault == "twice")
            self.reply(game)
        return 200, None

    def reply(self, game):
        """Let the opponent move, if it is its turn."""
        if not game.over and game.board.turn != game.colour:
            action = game.opponent(game.board, game.random)
            if action == "resign":
                game.end("resign", game.colour)
            elif isinstance(action, dict):  # an offer, or an absence
                if action.get("type"):
                    game.publish(action)
                else:
                    game.extra = action
                    game.publish(game.state())
            elif action is not None:
                game.push(action)
                fault = self.faults.strike(f"reply {game.id} {len(game.moves)}", "twice")
                game.publish(game.state(), twice=bool(fault))
        if game.over:
            game.hang_up(_END)
            self.on_finish(game)

    def act(self, game, action):
        """Carry out what is not a move; return status and error."""
        with self.lock:
            if game.over:
                return 400, "Game already over"
            if action == "resign":
                game.end(
                    "aborted" if len(game.moves) < 2 else "resign", None if len(game.moves) < 2 else not game.colour
                )
            elif action == "abort":
                if len(game.moves) >= 2:
                    return 400, "This game can no longer be aborted"
                game.end("aborted")
            elif action == "draw/yes":
                offered = game.extra.get("bdraw" if game.colour == chess.WHITE else "wdraw")
                if offered or game.board.is_repetition(3):
                    game.end("draw")
            elif action == "claim-victory":
                game.end("timeout", game.colour)
            elif action == "takeback/no":
                game.extra = {}
            else:
                return 404, "Not found"
            if game.over:
                self.on_finish(game)
        return 200, None


def _start_event(game):
    return {
        "type": "gameStart",
        "game": {
            "id": game.id,
            "gameId": game.id,
            "fullId": game.id + "abcd",
            "color": chess.COLOR_NAMES[game.colour],
            "opponent": {"id": "rival", "username": "Rival"},
            "speed": game.speed,
            "variant": {"key": game.variant},
            "compat": {"bot": True, "board": True},
        },
    }


def _handler(lichess: FakeLichess):
    """Make the class that answers for this server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def do_GET(self):
            self._note()
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._answer(401, {"error": "No such token"})
            elif self.path == "/api/account":
                if not self._fails():
                    self._answer(200, lichess.account)
            elif self.path == "/api/stream/event":
                if not self._fails("ends_at_once"):
                    queue = SimpleQueue()
                    with lichess.lock:
                        for event in lichess.pending():
                            queue.put(event)
                        lichess.listeners.append(queue)
                    self._stream(queue, lichess.listeners)
            elif self.path.startswith("/api/bot/game/stream/"):
                game = lichess.games.get(self.path.rsplit("/", 1)[1])
                if game is None:
                    self._answer(404, {"error": "Not found"})
                elif not self._fails("ends_at_once"):
                    queue = SimpleQueue()
                    with lichess.lock:
                        game.opened += 1
                        queue.put(game.full())
                        if game.over:
                            queue.put(_END)
                        game.streams.append(queue)
                    self._stream(queue, game.streams)
            else:
                self._answer(404, {"error": "Not found"})

        def do_POST(self):
            self._note()
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            form = json.loads(body) if body else {}
            parts = self.path.partition("?")[0].strip("/").split("/")
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._answer(401, {"error": "No such token"})
            elif parts[:2] == ["api", "challenge"]:
                self._on_challenge(parts[2], parts[3], form)
            elif parts == ["api", "bot", "account", "upgrade"]:
                lichess.account["title"] = "BOT"
                self._answer(200, {"ok": True})
            elif parts[:3] == ["api", "bot", "game"] and parts[3] in lichess.games:
                self._on_game(lichess.games[parts[3]], "/".join(parts[4:]), form)
            else:
                self._answer(404, {"error": "Not found"})

        def _on_challenge(self, game_id, action, form):
            if game_id in lichess.held:
                lichess.held[game_id].wait(_PATIENCE)
            if self._fails():
                return
            with lichess.lock:
                if game_id not in lichess.offered:
                    self._answer(404, {"error": "Challenge not found"})
                    return
                if action == "accept" and game_id in lichess.refusals:
                    self._answer(*lichess.refusals[game_id])
                    return
                if action == "accept":
                    lichess.start(game_id)
                else:
                    del lichess.offered[game_id]
                    lichess.declined[game_id] = form["reason"]
            self._answer_or_lose(200, None, f"{action} {game_id}")

        def _on_game(self, game, action, form):
            if action.startswith("move/"):
                ply = len(game.moves)
                game.attempts[ply] += 1
                occasion = f"{game.id} {ply} {game.attempts[ply]}" if game.attempts[ply] <= 3 else None
                if self._fails(occasion=occasion):
                    return
                status, error = lichess.move(game, action.removeprefix("move/"))
                if lichess.hold:
                    lichess.hold.wait(_PATIENCE)
                self._answer_or_lose(status, error, occasion)
            elif self._fails():
                pass
            elif action == "chat":
                game.chat.append(form["text"])
                self._answer(200, {"ok": True})
            else:
                self._answer_or_lose(*lichess.act(game, action), f"{action} {game.id}")

        # --- answers -----------------------------------------------------------------------------------------------

        def _note(self):
            lichess.requests.append(f"{self.command} {self.path}")
            lichess.authorizations.add(self.headers["Authorization"])
            lichess.agents.add(self.headers["User-Agent"])

        def _fails(self, *others, occasion=""):
            """Answer with a fault ahead of doing anything, if one strikes."""
            occasion = occasion if occasion != "" else lichess.visit(self.path)
            fault = occasion and lichess.faults.strike(
                f"before {occasion}", "too_many", "error", "slow", "refuse", *others
            )
            if fault == "too_many":
                self._answer(429, {"error": "Too many requests. Try again later."})
            elif fault == "error":
                self._answer(500, {"error": "Something went wrong"})
            elif fault == "slow":  # a server in between has waited too long
                self._answer(408, {"error": "Request timeout"})
            elif fault == "refuse":  # no answer at all
                self._hang_up()
            elif fault == "ends_at_once":
                self._stream_start()
                self._write(b"0\r\n\r\n")
                self.close_connection = True
            return bool(fault)

        def _answer_or_lose(self, status, error, occasion):
            """Answer what was done, unless that is lost."""
            fault = occasion and status == 200 and lichess.faults.strike(f"after {occasion}", "lost", "bad_gateway")
            if fault == "lost":
                self._hang_up()
            elif fault == "bad_gateway":
                self._answer(502, {"error": "Bad gateway"})
            else:
                self._answer(status, {"error": error} if error else {"ok": True})

        def _answer(self, status, value):
            body = json.dumps(value).encode()
            head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self._write(head.encode() + body)

        def _hang_up(self):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def _stream_start(self):
            self._write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"
                b"Connection: close\r\n\r\n"
            )

        def _stream(self, queue, place):
            self._stream_start()
            self.close_connection = True
            if lichess.gate:
                lichess.gate.wait(_PATIENCE)
            try:
                while True:
                    try:
                        event = queue.get(timeout=lichess.keep_alive)
                    except Empty:
                        event = b"\n"
                    if event is _DROP:
                        self._hang_up()
                        return
                    if event is _END:
                        self._write(b"0\r\n\r\n")
                        return
                    line = event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
                    self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            except OSError:  # the client has gone
                pass
            finally:
                with lichess.lock:
                    place.remove(queue)

        def _write(self, data):
            try:
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

    return Handler
