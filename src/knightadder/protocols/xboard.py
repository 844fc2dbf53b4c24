"""The Chess Engine Communication Protocol (CECP), version 2: a conversation with an interface such as XBoard.

The engine itself keeps the game, the clocks and its side, and knows when it has to move. Where the protocol leaves a
choice, this engine behaves as follows:

- ``protover`` and unknown commands are answered at once, even while the core is still loading; ``feature done=1``
  reports the end of loading. All other commands wait for that, in order. ``quit`` ends a search without a move, but
  commands that wait for the core are carried out first.
- While the engine thinks about its move, ``ping``, ``bk``, options, ``memory``, ``cores`` and ``egtpath`` wait for that
  move, as the protocol demands of ``ping``. Commands that change the game (``force``, ``new``, ``setboard``, ``undo``,
  ...) end the search, and no move is played. The others, except ``ping``, interrupt pondering and analysis, which then
  continue.
- ``ping`` also waits until the memory of the hash table is filled, unless only ``quit`` follows.
- Draws by rule are claimed after a move of either side. Even then, ``go`` is obeyed if there is a legal move.
- ``draw`` is answered with the engine's next move, because only the search shows the value of the position.
- At the end of input, commands already received are carried out. A search for a move is then stopped, and its move
  is sent before the engine exits.
- A command that cannot be understood or carried out is answered with one ``Error`` line, and changes nothing.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TextIO

from knightadder.engine import settlement
from knightadder.engine.errors import EngineError
from knightadder.engine.loader import Loader
from knightadder.engine.options import Options
from knightadder.protocols.castling import looks_like_move
from knightadder.protocols.conversation import Command, Connection, Conversation, Handler, Needs, speak
from knightadder.protocols.xboard_player import XBoardPlayer
from knightadder.protocols.xboard_search import SearchDone
from knightadder.protocols.xboard_text import FEATURES, OFFERED, declare_option
from knightadder.text import one_line

# Commands that the player carries out.
_PLAYER_COMMANDS: dict[str, tuple[Needs, Callable[[XBoardPlayer, str], None]]] = {
    "post": (Needs.ENGINE, XBoardPlayer.post),
    "nopost": (Needs.ENGINE, XBoardPlayer.nopost),
    "hard": (Needs.ENGINE, XBoardPlayer.hard),
    "easy": (Needs.ENGINE, XBoardPlayer.easy),
    "level": (Needs.ENGINE, XBoardPlayer.level),
    "st": (Needs.ENGINE, XBoardPlayer.st),
    "sd": (Needs.ENGINE, XBoardPlayer.sd),
    "time": (Needs.ENGINE, XBoardPlayer.time),
    "otim": (Needs.ENGINE, XBoardPlayer.otim),
    "new": (Needs.ENGINE, XBoardPlayer.new),
    "variant": (Needs.ENGINE, XBoardPlayer.variant),
    "setboard": (Needs.ENGINE, XBoardPlayer.setboard),
    "undo": (Needs.ENGINE, XBoardPlayer.undo),
    "remove": (Needs.ENGINE, XBoardPlayer.remove),
    "force": (Needs.ENGINE, XBoardPlayer.force),
    "result": (Needs.ENGINE, XBoardPlayer.result),
    "go": (Needs.ENGINE, XBoardPlayer.go),
    "playother": (Needs.ENGINE, XBoardPlayer.playother),
    "white": (Needs.ENGINE, XBoardPlayer.white),
    "black": (Needs.ENGINE, XBoardPlayer.black),
    "usermove": (Needs.ENGINE, XBoardPlayer.usermove),
    "?": (Needs.ENGINE, XBoardPlayer.move_now),
    "draw": (Needs.ENGINE, XBoardPlayer.draw),
    "analyze": (Needs.ENGINE, XBoardPlayer.analyze),
    "exit": (Needs.ENGINE, XBoardPlayer.exit),
    ".": (Needs.ENGINE, XBoardPlayer.status),
    "hint": (Needs.ENGINE, XBoardPlayer.hint),
    "memory": (Needs.IDLE_ENGINE, XBoardPlayer.memory),
    "cores": (Needs.IDLE_ENGINE, XBoardPlayer.cores),
    "egtpath": (Needs.IDLE_ENGINE, XBoardPlayer.egtpath),
    "option": (Needs.IDLE_ENGINE, XBoardPlayer.option),
    "bk": (Needs.IDLE_ENGINE, XBoardPlayer.book),
}
# Commands that change nothing.
_IGNORED = ("xboard", "accepted", "random", "computer", "name", "rating", "ics", "nps")


class XBoard(Conversation):
    """One conversation in CECP."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._loaded_player: XBoardPlayer | None = None
        self._features_open = False
        self._comments = False  # whether the interface accepts lines that begin with #
        self._shown_step: str | None = None

        self._known: dict[str, Handler] = {
            name: (needs, partial(self._let_player, run)) for name, (needs, run) in _PLAYER_COMMANDS.items()
        }
        self._known.update(dict.fromkeys(_IGNORED, (Needs.NOTHING, lambda text: None)))
        self._known.update(
            {
                "protover": (Needs.NOTHING, self._protover),
                "rejected": (Needs.NOTHING, self._rejected),
                "quit": (Needs.NOTHING, self._quit),
                "ping": (Needs.ITS_TURN, self._ping),
            }
        )

    @property
    def _player(self) -> XBoardPlayer:
        if self._loaded_player is None:
            raise EngineError("the engine is not loaded yet")
        return self._loaded_player

    def _let_player(self, run: Callable[[XBoardPlayer, str], None], text: str) -> None:
        run(self._player, text)

    # --- Commands: when they are carried out ------------------------------------------------------------------------

    def _find_command(self, line: str) -> Command | None:
        words = line.removeprefix("\ufeff").split(maxsplit=1)
        if not words:
            return None
        name, text = words[0], words[1].strip() if len(words) > 1 else ""
        handler = self._known.get(name)
        if handler is None and not text and looks_like_move(name):
            handler, text = self._known["usermove"], name
        if handler is None:
            self._output.write(f"Error (unknown command): {one_line(line)}")
            return None
        return Command(name, text, line, *handler)

    def _must_wait(self, command: Command, others_wait: bool) -> bool:
        if self._player.thinking:
            return command.needs >= Needs.ITS_TURN
        return others_wait or self._awaits_readiness(command)

    def _asks_whether_ready(self, command: Command) -> bool:
        return command.name == "ping"

    def _tell_of_wait(self, command: Command) -> None:
        """Say nothing: the interface knows from the protocol which commands wait for the move."""

    def _carry_out(self, command: Command) -> None:
        if command.needs is not Needs.IDLE_ENGINE:
            super()._carry_out(command)
            return
        interrupted = self._player.interrupt()  # stops pondering or analysis
        super()._carry_out(command)
        self._player.resume(interrupted)

    def _complain(self, command: Command, error: Exception) -> None:
        reason = str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
        self._output.write(f"Error ({one_line(reason)}): {one_line(command.line)}")

    def _hear(self, event: object) -> None:
        if isinstance(event, SearchDone):
            self._player.finish(event)
        else:
            super()._hear(event)

    def _tick(self) -> None:
        self._show_progress()
        if not self._input_ended or self._status is not None:
            return
        player = self._loaded_player
        if player is not None and player.thinking and not self._leaving:
            player.move_now()
        elif not self._waiting or (player is not None and player.thinking):
            self._status = self._status_at_end

    # --- Loading ----------------------------------------------------------------------------------------------------

    def _engine_loaded(self, problem: str | None) -> None:
        self._loaded_player = XBoardPlayer(
            self._engine, self._output, self._events, self._carry_out_waiting, self._comment
        )
        self._end_features()
        if problem:
            self._comment(problem)
        self._carry_out_waiting()

    def _loading_failed(self, error: EngineError) -> None:
        self._output.write(f"tellusererror {one_line(str(error))}")

    def _show_progress(self) -> None:
        """Report each step of compiling, for the log of the interface."""
        step = self._connection.loader.progress
        if self._comments and self._connection.engine is None and step is not None and step != self._shown_step:
            self._shown_step = step
            self._comment(step)

    # --- Commands that need no engine -------------------------------------------------------------------------------

    def _protover(self, text: str) -> None:
        options = [f"option={declare_option(option)}" for option in (*OFFERED.values(), *settlement.OPTIONS)]
        self._output.write("\n".join(f"feature {feature}" for feature in ("done=0", *FEATURES, *options)))
        self._features_open = True
        self._comments = True
        self._end_features()

    def _end_features(self) -> None:
        """Tell the interface that the engine is ready. The interface has been waiting for this."""
        if self._features_open and self._loaded_player is not None:
            self._features_open = False
            self._output.write("feature done=1")

    def _rejected(self, text: str) -> None:
        if text == "debug":
            self._comments = False

    def _comment(self, text: str) -> None:
        """Write a comment. Interfaces show comments only in their logs, if at all."""
        if self._comments:
            self._output.write(f"# {one_line(text)}")

    # --- Commands that need no player -------------------------------------------------------------------------------

    def _ping(self, text: str) -> None:
        self._output.write(f"pong {one_line(text)}".rstrip())


def main(options: Options | None = None) -> int:
    """Speak CECP on standard input and output with an engine that has these options; return the exit status."""

    def converse(lines: Iterable[bytes], output: TextIO, loader: Loader) -> XBoard:
        return XBoard(Connection(lines, output, loader))

    return speak(converse, options)
