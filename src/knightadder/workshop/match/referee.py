"""Plays one game between two engines: runs the clocks, enforces the rules, and adjudicates decided games."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter

import chess
import chess.syzygy

from knightadder.engine.errors import OptionError
from knightadder.engine.settlement import stayed_within
from knightadder.rules import outcome_of
from knightadder.text import one_line
from knightadder.uci.client import EngineSilentError, UciClient, UciError
from knightadder.workshop.match.search_info import MATE_SIGN, InfoLine, check_best_move, check_pv, last_info, parse_info
from knightadder.workshop.match.time_control import PATIENCE, Allowance, SideClock
from knightadder.workshop.opening_book import BookLine

FAULTS = ("time", "illegal", "crash", "silent")

_DRAWS = {
    chess.Termination.STALEMATE: "draw by stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "draw by insufficient material",
    chess.Termination.FIFTY_MOVES: "draw by the fifty-move rule",
    chess.Termination.THREEFOLD_REPETITION: "draw by repetition",
}

# Maximum number of warnings to keep for a game, because engines repeat errors at every move. All warnings are counted.
_WARNINGS_KEPT = 5


@dataclass(frozen=True, slots=True)
class DrawRule:
    """The rule by which a game is adjudicated a draw: both engines' scores have stayed near zero for some moves."""

    move_number: int = 40  # the rule applies from this full move on
    move_count: int = 8  # number of moves of each side without a pawn move, capture or greater score
    score: int = 10  # greatest absolute score, in centipawns


@dataclass(frozen=True, slots=True)
class ResignRule:
    """The rule by which a game is adjudicated lost: the loser's score was at most -`score` for `move_count` moves."""

    move_count: int = 5
    score: int = 800  # in centipawns
    two_sided: bool = True  # whether the winner's scores must also be at least `score`


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a match in addition to the rules of chess."""

    draw: DrawRule | None = None
    resign: ResignRule | None = None
    max_moves: int | None = None  # after this full move, the game is a draw
    tablebases: str | None = None  # folder of the Syzygy tables that decide games
    chess960: bool = False
    patience: float = PATIENCE  # seconds to get ready, and seconds beyond its time until a silent engine is killed
    pv_check: str = "last"  # principal variations to check: the last of each move, all, or none


@dataclass(frozen=True, slots=True)
class ChessPlayer:
    """An engine in a game: its connection, its limits, and whether it deliberately plays weaker moves."""

    client: UciClient
    allowance: Allowance
    weakened: bool = False


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A breach of the rules that lost a game: the engine's colour, one of `FAULTS`, and a description."""

    white: bool
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class PvWarning:
    """A warning about inconsistent output of an engine: colour, kind, the line, and the position as a UCI command."""

    white: bool
    kind: str
    line: str
    position: str


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move of a game: in UCI notation, its time in seconds, and the engine's last ``info`` line."""

    uci: str
    seconds: float
    info: InfoLine | None


@dataclass(slots=True)
class MatchGame:
    """A finished game. `warning_counts` are the numbers of all warnings, by colour and kind."""

    opening: BookLine
    white_points: float = 0.5
    reason: str = ""
    fault: Forfeit | None = None
    moves: list[PlayedMove] = field(default_factory=list)  # moves after the opening
    warnings: list[PvWarning] = field(default_factory=list)  # the first warnings
    warning_counts: Counter[tuple[bool, str]] = field(default_factory=Counter)
    lowest: dict[bool, float] = field(default_factory=dict)  # least time left after a move, in seconds, by colour

    @property
    def result(self) -> str:
        """Result as in PGN."""
        return {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[self.white_points]


def play_game(white: ChessPlayer, black: ChessPlayer, opening: BookLine, rules: Rules) -> MatchGame:
    """Play and return a game between engines that are ready and whose options are set.
    An engine that breaks the rules loses; this raises no error. After a crash or a timeout, the engine no longer runs.
    """
    return _Table(white, black, opening, rules).play()


class _FaultError(Exception):
    """Raised to end a game because the engine to move is at fault."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class _Table:
    def __init__(self, white: ChessPlayer, black: ChessPlayer, opening: BookLine, rules: Rules) -> None:
        self._players = {chess.WHITE: white, chess.BLACK: black}
        self._clocks = {colour: SideClock(player.allowance) for colour, player in self._players.items()}
        self._rules = rules
        self._board = opening.board(rules.chess960)
        self._game = MatchGame(opening)
        # Each move is appended, so that the command is not built anew.
        self._position = f"position fen {opening.fen}"
        if opening.moves:
            self._position += " moves " + " ".join(opening.moves)
        self._has_moves = bool(opening.moves)
        # For each colour, the scores of its moves from its point of view.
        self._scores: dict[chess.Color, list[int | None]] = {chess.WHITE: [], chess.BLACK: []}
        self._last: InfoLine | None = None
        self._quiet = 0  # plies in a row with scores near zero

    def play(self) -> MatchGame:
        game, board = self._game, self._board
        turn = board.turn
        try:
            for turn in (chess.WHITE, chess.BLACK):
                # Both engines get ready before any clock runs.
                self._players[turn].client.new_game(self._rules.patience)
            result = None
            while result is None:
                turn = board.turn
                self._move(turn)
                result = rule_result(board) or self._adjudicate()
            game.white_points, game.reason = result
        except EngineSilentError as error:
            self._lose(turn, "silent", error)
        except UciError as error:
            self._lose(turn, "crash", error)
        except _FaultError as error:
            self._lose(turn, error.kind, error)
        return game

    def _lose(self, turn: chess.Color, kind: str, error: Exception) -> None:
        self._game.fault = Forfeit(turn, kind, str(error))
        self._game.white_points = 0.0 if turn else 1.0
        self._game.reason = f"{'White' if turn else 'Black'} loses by fault ({kind}): {error}"

    def _move(self, turn: chess.Color) -> None:
        player, clock = self._players[turn], self._clocks[turn]
        allowed = clock.allowed
        readings = ""
        if player.allowance.time_control is not None:  # otherwise, many engines would plan by their opponent's clock
            readings = self._clocks[chess.WHITE].reading("w") + self._clocks[chess.BLACK].reading("b")
        command = f"go{readings}{clock.own()}"
        patience = (allowed or 0.0) + self._rules.patience
        start = perf_counter()
        player.client.send(self._position, command)
        lines = player.client.read_until("bestmove", patience)
        seconds = perf_counter() - start

        words = lines[-1].split()
        text = words[1] if len(words) > 1 else ""
        info = last_info(lines)
        try:
            move = self._board.parse_uci(text)
        except ValueError:
            move = chess.Move.null()
        if not move:
            raise _FaultError("illegal", f"{one_line(lines[-1], 80)} in {self._board.fen()}")
        if self._rules.pv_check != "none":
            self._check(turn, text, lines, info)

        left = clock.charge(seconds, info.nodes if info else 0)
        if left is not None:
            self._game.lowest[turn] = min(left, self._game.lowest.get(turn, left))
        played = self._board.uci(move)
        self._board.push(move)
        self._game.moves.append(PlayedMove(played, seconds, info))
        self._position += f" {played}" if self._has_moves else f" moves {played}"
        self._has_moves = True
        self._scores[turn].append(None if info is None else info.value())
        self._last = info
        if left is not None and left < -player.allowance.margin:
            raise _FaultError("time", f"the flag fell {-left:.3f} s before the move")

    def _check(self, turn: chess.Color, best: str, lines: list[str], info: InfoLine | None) -> None:
        """Warn of inconsistent output of the engine."""
        if self._rules.pv_check == "all":
            checked = [each for each in map(parse_info, lines) if each is not None]
        else:
            checked = [] if info is None else [info]
        for each in checked:
            kind = check_pv(self._board, each) if each.pv else None
            if kind:
                self._warn(turn, kind, each.line)
        kind = None if self._players[turn].weakened else check_best_move(best, lines)
        if kind:
            self._warn(turn, kind, lines[-1])
        last = self._last
        if info and last:
            own, other = info.score.mate, last.score.mate
            if own and other and (own > 0) == (other > 0):
                self._warn(turn, MATE_SIGN, f"{last.line} / {info.line}")

    def _warn(self, turn: chess.Color, kind: str, line: str) -> None:
        self._game.warning_counts[turn, kind] += 1
        if len(self._game.warnings) < _WARNINGS_KEPT:
            self._game.warnings.append(PvWarning(turn, kind, line, self._position))

    # --- adjudication --------------------------------------------------------------------------------------------

    def _adjudicate(self) -> tuple[float, str] | None:
        """Return White's points and the reason if tablebases or scores decide the game, else None."""
        board = self._board
        score = self._scores[not board.turn][-1]
        draw, resign = self._rules.draw, self._rules.resign
        # The tables' values are valid only if the halfmove clock is zero.
        if self._rules.tablebases and board.halfmove_clock == 0:
            wdl = open_tablebases(self._rules.tablebases).get_wdl(board)
            if wdl is not None:
                points = {2: 1.0, -2: 0.0}.get(wdl if board.turn else -wdl, 0.5)
                won = {1.0: "White wins", 0.0: "Black wins", 0.5: "draw"}[points]
                return points, f"{won} by adjudication: tablebases"
        if resign:
            loser = self._beaten(resign)
            if loser is not None:
                return (0.0 if loser else 1.0), f"{'Black' if loser else 'White'} wins by adjudication"
        if draw:
            near = score is not None and abs(score) <= draw.score and board.halfmove_clock > 0
            self._quiet = self._quiet + 1 if near else 0
            # If White is to move, the last full move is complete.
            completed = board.fullmove_number - (1 if board.turn else 0)
            if self._quiet >= 2 * draw.move_count and completed >= draw.move_number:
                return 0.5, "draw by adjudication"
        if self._rules.max_moves and board.fullmove_number > self._rules.max_moves:
            return 0.5, "draw by adjudication: too many moves"
        return None

    def _beaten(self, rule: ResignRule) -> chess.Color | None:
        """Return the colour that has lost by its scores, else None."""
        count = rule.move_count
        # A move without a score counts as zero.
        scores = {colour: [score or 0 for score in given[-count:]] for colour, given in self._scores.items()}
        mover = not self._board.turn
        for loser in (mover, not mover):
            agreed = not rule.two_sided or stayed_within(scores[not loser], count, rule.score, math.inf)
            if agreed and stayed_within(scores[loser], count, -math.inf, -rule.score):
                return loser
        return None


@cache
def open_tablebases(folder: str) -> chess.syzygy.Tablebase:
    """Return the Syzygy tables of a folder, which stay open; OptionError if there are none."""
    try:
        tables = chess.syzygy.open_tablebase(folder)
    except OSError as error:
        raise OptionError(f"--syzygy {folder}: {error.strerror}") from None
    if not tables.wdl:
        raise OptionError(f"--syzygy {folder}: the folder contains no Syzygy tables")
    return tables


def rule_result(board: chess.Board) -> tuple[float, str] | None:
    """Return White's points and the reason if the rules of chess end the game, else None."""
    outcome = outcome_of(board)
    if outcome is None:
        return None
    if outcome.winner is not None:
        return (1.0, "White mates") if outcome.winner else (0.0, "Black mates")
    return 0.5, _DRAWS[outcome.termination]
