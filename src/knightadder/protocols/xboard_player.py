"""The commands of XBoard about the game: the engine plays a side, ponders, analyses, or only follows the game.

Each public method that takes a text is a command, and the text is its arguments. All commands need the engine. Commands
that change its options need an idle engine.
"""

import queue
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from knightadder.engine.errors import EngineError, PositionError
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.options import OPTIONS
from knightadder.engine.settlement import Settlement
from knightadder.protocols.castling import write_moves
from knightadder.protocols.lines import Output
from knightadder.protocols.xboard_clock import GameClocks
from knightadder.protocols.xboard_game import XBoardGame
from knightadder.protocols.xboard_search import Aim, SearchDone, XBoardSearch
from knightadder.protocols.xboard_text import OFFERED, format_ending, format_thinking, option_value, parse_option
from knightadder.text import one_line

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

_WHITE, _BLACK = 0, 1
# Seconds of silence at the start of pondering. An interface may mistake output between the engine's move and the
# answer to its ping for an analysis of that move.
_SILENCE = 0.2

_MAXIMA = {option.name: option.max for option in OPTIONS if option.max is not None}


class _Mode(Enum):
    FORCE = "the engine plays neither side"
    PLAY = "the engine plays one side"
    ANALYSE = "the engine analyses the position"


class XBoardPlayer:
    """Carries out the commands of an XBoard interface to play and to analyse. Nothing else may use the engine.

    The engine's thread puts a `SearchDone` into the queue of events, which must be passed to `finish`. `on_move` is
    called when the engine has finished its search for a move and is idle. `comment` writes a comment, in any thread.
    """

    def __init__(
        self,
        engine: "Engine",
        output: Output,
        events: "queue.SimpleQueue[object]",
        on_move: Callable[[], None],
        comment: Callable[[str], None],
    ) -> None:
        self._engine, self._output, self._events = engine, output, events
        self._on_move, self._comment = on_move, comment
        self._game = XBoardGame(engine)
        self._clock = GameClocks()
        self._settlement = Settlement()
        self._mode = _Mode.PLAY
        self._side = _BLACK
        self._search: XBoardSearch | None = None
        self._turn_since = 0.0
        self._ponders = self._posts = self._draw_offered = False
        self._reply: tuple[int, str] | None = None  # the expected move, and the number of plies before it

    # --- Searches ---------------------------------------------------------------------------------------------------

    @property
    def thinking(self) -> bool:
        """Whether the engine is searching for its own move."""
        return self._search is not None and self._search.aim is Aim.MOVE

    def finish(self, done: SearchDone) -> None:
        """Handle the end of a search: play its move, or resign. Only a search for a move ends by itself."""
        if done.search is not self._search:
            return
        self._engine.wait()
        self._search = None
        try:
            lines, reply = self._settle(done.search, done.result)
        except Exception as error:  # any answer is better than losing on time
            lines, reply = [_problem(error)], None
        self._output.write("\n".join(lines))
        self._on_move()
        if self._ponders and reply is not None:
            self._start_unasked(Aim.PONDER, reply)

    def interrupt(self) -> XBoardSearch | None:
        """Stop any search and ignore its result; `resume` may start it again."""
        search, self._search = self._search, None
        if search is None:
            return None
        thinking = search.aim is Aim.MOVE
        search.aborted = True
        self._engine.stop()
        self._engine.wait()
        self._game.sync()
        if thinking:
            self._on_move()
        return search

    def resume(self, search: XBoardSearch | None) -> None:
        """Continue the interrupted pondering or analysis."""
        if search is not None:
            self._start_unasked(search.aim, search.expected)

    def _start_unasked(self, aim: Aim, expected: str | None) -> None:
        """Start an analysis, or pondering on the expected move. No command can be answered with an error here."""
        try:
            if aim is Aim.ANALYSIS:
                self._analyse()
            elif aim is Aim.PONDER and expected is not None:
                self._ponder(expected)
        except Exception as error:  # the game must go on
            self._game.sync()
            self._output.write(_problem(error))

    def _limits(self, ponder: bool = False) -> Limits:
        return self._clock.limits(self._side, self._game.moves_made(self._side), ponder)

    def _start(self, aim: Aim, limits: Limits, expected: str | None = None) -> None:
        engine = self._engine
        placement, moves = engine.fen().split()[0], len(engine.legal_moves())
        search = XBoardSearch(aim, limits, expected, placement, moves, engine.options.chess960)
        # The engine's threads write the analysis. The result comes through the queue, so that the engine is idle
        # before the interface can react.
        try:
            engine.go(
                limits,
                lambda news: self._show(search, news),
                lambda result: self._events.put(SearchDone(search, result)),
            )
        except Exception as error:
            if aim is not Aim.MOVE:
                raise
            # The interface waits for a move, and any move is better than none.
            self._output.write(_problem(error))
            self._events.put(SearchDone(search, Result(engine.legal_moves()[0], None, None)))
        self._search = search  # set last: if the search cannot be started, the engine stays idle

    def _think(self) -> None:
        self._turn_since = time.monotonic()
        if self._game.legal:
            self._start(Aim.MOVE, self._limits())
        else:
            self._announce_ending()

    def _ponder(self, expected: str) -> None:
        self._game.sync(expected)
        self._output.write(f"Hint: {self._write(expected)}")  # tells the interface which move the analysis assumes
        self._start(Aim.PONDER, self._limits(ponder=True), expected)

    def _analyse(self) -> None:
        if not self._game.illegal:
            self._start(Aim.ANALYSIS, Limits(infinite=True))

    def _show(self, search: XBoardSearch, news: Info | CurrentMove | Message) -> None:
        """Write the engine's report. The engine's threads call this."""
        if isinstance(news, Message):
            self._comment(news.text)
            return
        search.latest = news
        if isinstance(news, Info) and news.pv:
            moves = search.write(news.pv)
            if news.multipv == 1:
                search.best = moves[0]
            silent = search.aim is Aim.PONDER and time.monotonic() - search.started < _SILENCE
            if self._posts and not silent and not search.aborted:
                self._output.write(format_thinking(news, moves))

    def _settle(self, search: XBoardSearch, result: Result) -> tuple[list[str], str | None]:
        """Return the lines to write at the end of a search, and the move to ponder on."""
        game, settlement, move = self._game, self._settlement, result.best_move
        if move is None:
            raise EngineError("no move was found")
        if result.info is not None:
            settlement.note(result.info.score, game.move_number)
        if settlement.resigns():
            settlement.reset()  # otherwise an interface that ignores resigning would be told at every move
            game.sync()
            return ["resign"], None
        lines = []
        if settlement.offers_draw() or (self._draw_offered and settlement.accepts_draw()):
            lines.append("offer draw")
        self._draw_offered = False
        lines.extend(f"move {written}" for written in search.write([move]))
        game.push(move)
        self._clock.spend((time.monotonic() - self._turn_since) * 1000, game.moves_made(self._side))
        if game.ending is not None:
            lines.append(format_ending(game.ending, game.side_to_move))
        self._reply = None if result.ponder is None else (game.plies, result.ponder)
        return lines, None if game.ending else result.ponder

    def _announce_ending(self) -> None:
        if self._game.ending is not None:
            self._output.write(format_ending(self._game.ending, self._game.side_to_move))

    def _write(self, move: str) -> str:
        """Convert a move in the game's position to the protocol's notation."""
        return write_moves([move], self._game.placement)[0] if self._engine.options.chess960 else move

    # --- Commands: how to play --------------------------------------------------------------------------------------

    def post(self, text: str) -> None:
        """Show the analysis from now on."""
        self._posts = True

    def nopost(self, text: str) -> None:
        """Stop showing the analysis."""
        self._posts = False

    def hard(self, text: str) -> None:
        """Ponder from the engine's next move on."""
        self._ponders = True

    def easy(self, text: str) -> None:
        """Stop pondering."""
        self._ponders = False
        if self._search is not None and self._search.aim is Aim.PONDER:
            self.interrupt()

    def level(self, text: str) -> None:
        """Set the time control."""
        self._clock.set_level(text)

    def st(self, text: str) -> None:
        """Set an exact time for each move."""
        self._clock.set_move_time(text)

    def sd(self, text: str) -> None:
        """Set a depth."""
        self._clock.set_depth(text)

    def time(self, text: str) -> None:
        """Set the engine's clock."""
        self._clock.set_own(text)

    def otim(self, text: str) -> None:
        """Set the opponent's clock."""
        self._clock.set_opponent(text)

    def memory(self, text: str) -> None:
        """Set the size of the hash table."""
        self._set_number("Hash", text)

    def cores(self, text: str) -> None:
        """Set the number of threads."""
        self._set_number("Threads", text)

    def egtpath(self, text: str) -> None:
        """Set the folders of one kind of tablebase. Before every game XBoard sends a default, which may be missing."""
        kind, _, path = text.partition(" ")
        if kind.lower() != "syzygy" or path.strip() == self._engine.options.syzygy_path:
            return
        for line in self._engine.set_option("SyzygyPath", path.strip()):
            self._comment(line)

    def option(self, text: str) -> None:
        """Set an option of the engine, or an option about resigning and draw offers."""
        name, value = parse_option(text)
        option = OFFERED.get(name.lower())
        if option is None:
            self._settlement.set(name, value)
        else:
            self._engine.set_option(name, option_value(option, value))

    def _set_number(self, name: str, text: str) -> None:
        """Set an option to a number that the interface means as an upper limit."""
        if text.isdecimal():
            largest = _MAXIMA[name]  # int() rejects thousands of digits
            text = str(min(int(text), largest) if len(text) < 20 else largest)
        self._engine.set_option(name, text)

    # --- Commands: the game -----------------------------------------------------------------------------------------

    def new(self, text: str) -> None:
        """Begin a game with the engine as Black; in analysis, analyse the start position."""
        self.interrupt()
        self._engine.new_game()
        self._game.restart()
        self._clock.reset()
        if self._mode is not _Mode.ANALYSE:
            self._mode, self._side = _Mode.PLAY, _BLACK
        self._go_on()

    def variant(self, text: str) -> None:
        """Switch the rules of Chess960 on or off."""
        if text not in ("normal", "fischerandom"):
            raise EngineError("unsupported variant")
        self.interrupt()
        self._game.restart(chess960=text == "fischerandom")
        self._go_on()

    def setboard(self, text: str) -> None:
        """Set up a position."""
        self.interrupt()
        try:
            for note in self._game.set_up(text):
                self._comment(note)
        except PositionError as error:
            self._comment(str(error))
            self._output.write("tellusererror Illegal position")
        self._go_on()

    def undo(self, text: str) -> None:
        """Take back a move."""
        self._take_back(1)

    def remove(self, text: str) -> None:
        """Take back one move of each side."""
        self._take_back(2)

    def _take_back(self, plies: int) -> None:
        if self._game.illegal or self._game.plies < plies:
            raise EngineError("no move to take back")
        self.interrupt()
        self._game.undo(plies)
        self._go_on()

    def _go_on(self) -> None:
        """Forget the scores, so no draw offer is accepted, and the expected reply. In analysis mode, analyse."""
        self._settlement.reset()
        self._reply = None
        if self._mode is _Mode.ANALYSE:
            self._analyse()

    def force(self, text: str) -> None:
        """Follow the game without playing."""
        self.interrupt()
        self._change_mode(_Mode.FORCE)

    def result(self, text: str) -> None:
        """Stop playing: the game is over."""
        if self._mode is _Mode.PLAY:
            self.force(text)

    def go(self, text: str) -> None:
        """Play the side to move."""
        self._must_be_legal()
        if self.thinking:
            return
        self.interrupt()
        self._change_mode(_Mode.PLAY)
        self._side = self._game.side_to_move
        self._think()

    def playother(self, text: str) -> None:
        """Play the side that is not to move."""
        self._must_be_legal()
        self.interrupt()
        self._change_mode(_Mode.PLAY)
        self._side = 1 - self._game.side_to_move
        if self._ponders and self._reply is not None and self._reply[0] == self._game.plies:
            self._ponder(self._reply[1])

    def white(self, text: str) -> None:
        """Play Black; an obsolete command, because the position decides whose turn it is."""
        self._change_side(_BLACK)

    def black(self, text: str) -> None:
        """Play White; an obsolete command, because the position decides whose turn it is."""
        self._change_side(_WHITE)

    def _change_side(self, side: int) -> None:
        self.interrupt()
        self._side = side
        self._go_on()

    def move_now(self, text: str = "") -> None:
        """Stop thinking and move."""
        if self.thinking:
            self._engine.stop()

    def draw(self, text: str) -> None:
        """Consider the opponent's draw offer."""
        self._draw_offered = True

    def usermove(self, text: str) -> None:
        """Play a move of the opponent, or of either side, and answer it if it is the engine's turn."""
        game, search = self._game, self._search
        if self.thinking:
            self._output.write(f"Illegal move (not your turn): {one_line(text)}")
            return
        move = game.find(text)
        if move is None:
            self._output.write(f"Illegal move: {one_line(text)}")
            return
        if search is not None and search.expected == move and search.limits.may_become(self._limits(), self._side):
            self._turn_since = time.monotonic()
            search.aim = Aim.MOVE
            game.push(move, silent=True)
            self._engine.ponderhit()
            return
        self.interrupt()
        game.push(move)
        if self._mode is _Mode.ANALYSE:
            self._analyse()
        elif self._mode is _Mode.PLAY:
            if game.ending is not None:
                self._announce_ending()
            elif game.side_to_move == self._side:
                self._think()

    def _must_be_legal(self) -> None:
        if self._game.illegal:
            raise EngineError("illegal position")

    def _change_mode(self, mode: _Mode) -> None:
        if _Mode.ANALYSE in (mode, self._mode):
            self._engine.set_option("UCI_AnalyseMode", str(mode is _Mode.ANALYSE).lower())
        self._mode = mode

    # --- Commands: analysis -----------------------------------------------------------------------------------------

    def analyze(self, text: str) -> None:
        """Analyse the position, and every later position of the game."""
        self._must_be_legal()
        self.interrupt()
        self._change_mode(_Mode.ANALYSE)
        self._analyse()

    def exit(self, text: str) -> None:
        """Stop analysing."""
        if self._mode is _Mode.ANALYSE:
            self.force(text)

    def status(self, text: str) -> None:
        """Report the progress of the analysis."""
        if self._search is not None and self._search.aim is Aim.ANALYSIS:
            self._output.write(self._search.status())

    def book(self, text: str) -> None:
        """List the moves of the opening book, the highest weight first."""
        weights = {} if self._game.illegal else self._engine.book_moves()
        lines = [f" {self._write(move)} {weight}" for move, weight in weights.items()]
        # An empty line ends the list.
        self._output.write("\n".join(lines or [" The book has no move here."]) + "\n")

    def hint(self, text: str) -> None:
        """Suggest a move, if one is known."""
        search, move = self._search, None
        if search is not None and search.aim is Aim.ANALYSIS:
            move = search.best
        elif self._reply is not None and self._reply[0] == self._game.plies:
            move = self._write(self._reply[1])
        if move is not None:
            self._output.write(f"Hint: {move}")


def _problem(error: Exception) -> str:
    """Return the line that lets the interface show an error to its user."""
    return f"tellusererror {one_line(f'{type(error).__name__}: {error}')}"
