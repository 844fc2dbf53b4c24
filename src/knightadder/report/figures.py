"""The figures of a report, computed from all games of a player."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import chess.pgn
import numpy as np

from knightadder.foreign import rating_or_none
from knightadder.pgn.games import known_value, result_of
from knightadder.report.averages import Mean, mean, performance, share
from knightadder.report.study import Mistake, StudiedGame
from knightadder.review.clocks import control_of, move_times
from knightadder.review.move_table import AnnotatedMove
from knightadder.review.phase import PHASES
from knightadder.rules import POINTS

# Minimum numbers of games and of moves for a meaningful figure.
FEW_GAMES, FEW_MOVES = 10, 100
FEW_OF_AN_OPENING = 5

WON, WORSE = 75.0, 25.0  # win percentages of a won and a much worse position: +3 and -3 pawns for Stockfish
_OPENING_PLIES = 30  # number of plies that count as a game's opening
_LEAST_LOST = 0.1  # an opening goes wrong in a position only if at least this many expected points are lost there
# Before openings are compared, this many games with the player's average score are added to each.
_PRIOR_GAMES = 4
# How often results are dealt anew to openings, and the share of deals that counts as rare. Smaller differences of two
# figures are rounding errors.
_DEALS, _RARE, _EQUAL = 2000, 0.05, 1e-9
# Words of servers about the end of a game: on time, or otherwise.
_ON_TIME = re.compile(r"\b(forfeits|loses|lost|wins|won) on time\b|\b(ran|runs) out of time\b", re.I)
_OTHERWISE = re.compile(r"\b(resigns|resigned|checkmated|forfeits)\b", re.I)
_GOOD = 5.0  # a move solves a puzzle if it lowers the win percentage by less than this
_MOST_GOOD = 2  # maximum number of moves that solve a puzzle
_LEAST_GAIN = 10.0  # minimum difference in win percentage between a puzzle's solution and the move played

#: Groups of moves by the share of the initial time that is left: the group's lowest share, and its name for the user.
TIME_LEFT = (
    (0.5, "more than half"),
    (0.2, "a half to a fifth"),
    (0.1, "a fifth to a tenth"),
    (0.0, "less than a tenth"),
)
TROUBLE = TIME_LEFT[-1][1]


@dataclass(frozen=True, slots=True)
class PlayerMove:
    """A move of the player, and the group of `TIME_LEFT` to which it belongs; None if the time is unknown."""

    move: AnnotatedMove
    time_left: str | None


@dataclass(frozen=True, slots=True)
class PlayerGame:
    """A game of the player."""

    white: bool  # whether the player has White
    points: float | None  # the player's score; None if the result is unknown
    opponent: str
    opponent_rating: int | None
    date: str  # the known parts of the date
    link: str  # the address of the game, or empty
    opening: str  # the opening's family: its name up to the colon
    accuracy: float | None  # the player's accuracy in the game
    moves: tuple[PlayerMove, ...]  # the player's moves that have an evaluation
    mistakes: tuple[Mistake, ...]  # the player's mistakes and blunders
    lost_on_time: bool | None  # None if unknown
    chess960: bool

    @property
    def opponent_and_date(self) -> str:
        """The opponent's name and, if it is known, the date."""
        return f"{self.opponent}, {self.date}" if self.date else self.opponent


@dataclass(frozen=True, slots=True)
class Results:
    """The results of the games whose result is known."""

    games: int
    wins: int
    draws: int
    losses: int
    share: Mean | None  # points per game
    performance: int | None  # performance rating by Elo's formula
    rated: int  # number of games with the opponent's rating
    accuracy: Mean | None  # accuracy per game

    @property
    def points(self) -> float:
        """The points scored."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a group of the player's moves."""

    accuracy: Mean | None  # accuracy per move
    lost: Mean | None  # expected points lost per move
    lost_a_game: float  # expected points lost with these moves, divided by the number of games
    blunders: int  # number of moves marked ??

    @property
    def moves(self) -> int:
        """Number of moves."""
        return self.accuracy.count if self.accuracy else 0


@dataclass(frozen=True, slots=True)
class Kind:
    """All mistakes of one kind: their number, the expected points lost with them, and the most expensive mistake."""

    kind: str
    count: int
    lost: float
    worst: tuple[PlayerGame, Mistake]


@dataclass(frozen=True, slots=True)
class Spot:
    """A position where an opening goes wrong."""

    fen: str
    reached: int  # number of games that reached the position
    lost: float  # expected points lost in the position, over all games
    played: AnnotatedMove  # the move that lost most
    times: int  # how often this move was played
    chess960: bool


@dataclass(frozen=True, slots=True)
class OpeningResults:
    """Results of an opening with a colour, and the position where it goes wrong."""

    opening: str
    white: bool
    results: Results
    order: float  # points per game, drawn toward the player's `average`
    average: float
    spot: Spot | None


@dataclass(frozen=True, slots=True)
class MistakePuzzle:
    """A position in which the player made a mistake, and the better moves."""

    game: PlayerGame
    mistake: Mistake
    good: tuple[tuple[chess.Move, float, tuple[chess.Move, ...]], ...]


# --- a game --------------------------------------------------------------------------------------------------------


def player_game(study: StudiedGame) -> PlayerGame:
    """Return the data of a game that a report needs."""
    white, game = study.item.white, study.game
    headers, board = game.headers, game.board()
    scored = POINTS.get(result_of(game))
    points = scored if scored is None or white else 1 - scored
    opponent = "Black" if white else "White"
    base, _ = control_of(game)
    times = move_times(game)
    if all(time.after is None for time in times):  # only the initial time is known, so there is no clock
        base = None
    colour = chess.COLOR_NAMES[white]
    moves = tuple(
        PlayerMove(move, _time_left(time.before, base))
        for move, time in zip(study.moves, times, strict=True)
        if move.colour == colour and move.accuracy is not None
    )
    play = study.review.white if white else study.review.black
    site = headers.get("Link", headers.get("Site", ""))
    opening = study.review.opening
    return PlayerGame(
        white=white,
        points=points,
        opponent=known_value(headers.get(opponent, "")) or "?",
        opponent_rating=rating_or_none(headers.get(f"{opponent}Elo")),
        date=(known_value(headers.get("UTCDate", "")) or known_value(headers.get("Date", ""))).partition(".?")[0],
        link=site if site.startswith(("http://", "https://")) else "",
        opening=opening.name.partition(":")[0] if opening else _start_of(board),
        accuracy=play.accuracy if play else None,
        moves=moves,
        mistakes=study.mistakes,
        lost_on_time=_is_lost_on_time(game) if points == 0 else False,
        chess960=board.chess960,
    )


def _is_lost_on_time(game: chess.pgn.Game) -> bool | None:
    """Return whether a decided game ended on time, from the tag Termination or from the last comment, as FICS writes
    it; None if they do not say how the game ended.
    """
    end, termination = game.end(), known_value(game.headers.get("Termination", "")).lower()
    how = termination.rpartition(" won ")[2]  # without the winner's name, which may contain the word
    if "time" in how or _ON_TIME.search(end.comment):
        return True
    return False if termination or _OTHERWISE.search(end.comment) or end.board().is_checkmate() else None


def _start_of(board: chess.Board) -> str:
    """Return a name for the opening of a game that begins with this position and whose opening has no name."""
    if board.chess960:
        return "Chess960"
    return "Unnamed" if board.fen() == chess.STARTING_FEN else "From a set-up position"


def _time_left(before: float | None, base: float | None) -> str | None:
    if before is None or not base:
        return None
    return next(words for least, words in TIME_LEFT if before / base >= least or least == 0)


# --- all games -----------------------------------------------------------------------------------------------------


def results(games: Sequence[PlayerGame]) -> Results:
    """Return the results of games."""
    scored = [(game.points, game.opponent_rating) for game in games if game.points is not None]
    points = [point for point, _ in scored]
    rated = [(point, rating) for point, rating in scored if rating is not None]
    return Results(
        games=len(points),
        wins=points.count(1.0),
        draws=points.count(0.5),
        losses=points.count(0.0),
        share=share(points),
        performance=performance(rated),
        rated=len(rated),
        accuracy=mean([game.accuracy] for game in games if game.accuracy is not None),
    )


def _qualities(games: Sequence[PlayerGame], key: Callable[[PlayerMove], str | None]) -> dict[str, Quality]:
    """Return the quality of each group of the player's moves; `key` returns a move's group, or None to leave it out."""
    groups: dict[str, list[list[AnnotatedMove]]] = defaultdict(list)
    for game in games:
        own: dict[str, list[AnnotatedMove]] = defaultdict(list)
        for each in game.moves:
            if (name := key(each)) is not None:
                own[name].append(each.move)
        for name, moves in own.items():
            groups[name].append(moves)
    return {name: _quality(moves, len(games)) for name, moves in groups.items()}


def _quality(games: Sequence[Sequence[AnnotatedMove]], count: int) -> Quality:
    lost = [[move.points_lost or 0.0 for move in moves] for moves in games]
    return Quality(
        accuracy=mean([move.accuracy or 0.0 for move in moves] for moves in games),
        lost=mean(lost),
        lost_a_game=sum(map(sum, lost)) / count,
        blunders=sum(move.mark == "??" for moves in games for move in moves),
    )


def by_phase(games: Sequence[PlayerGame]) -> dict[str, Quality]:
    """Return the quality of the moves of each phase, in the order of the phases."""
    found = _qualities(games, lambda each: each.move.phase)
    return {phase: found[phase] for phase in PHASES if phase in found}


def by_time_left(games: Sequence[PlayerGame]) -> dict[str, Quality]:
    """Return the quality of the moves in each group of `TIME_LEFT`, in the games that have clocks."""
    timed = [game for game in games if any(each.time_left for each in game.moves)]
    found = _qualities(timed, lambda each: each.time_left)
    return {words: found[words] for _, words in TIME_LEFT if words in found}


def kinds(games: Iterable[PlayerGame]) -> list[Kind]:
    """Add up mistakes by kind, the most expensive kind first."""
    groups: dict[str, list[tuple[PlayerGame, Mistake]]] = defaultdict(list)
    for game in games:
        for mistake in game.mistakes:
            if mistake.move.fault:
                groups[mistake.move.fault].append((game, mistake))
    found = [Kind(kind, len(group), sum(map(_lost, group)), max(group, key=_lost)) for kind, group in groups.items()]
    return sorted(found, key=lambda kind: -kind.lost)


def _lost(each: tuple[PlayerGame, Mistake]) -> float:
    return each[1].move.points_lost or 0.0


def conversion(games: Iterable[PlayerGame]) -> tuple[Results, list[tuple[PlayerGame, AnnotatedMove]]]:
    """Return the results of games in which the player once had a won position, and a list of the games not won.
    The list gives each game with the move before which the player's position was best.
    """
    reached = [(game, max(game.moves, key=_chance).move) for game in games if game.moves and game.points is not None]
    won = [(game, move) for game, move in reached if (move.win_before or 0) >= WON]
    missed = [(game, move) for game, move in won if game.points != 1]
    return results([game for game, _ in won]), sorted(missed, key=lambda each: -(each[1].win_before or 0))


def holding(games: Iterable[PlayerGame]) -> Results:
    """Return the results of games in which the player once had a much worse position."""
    return results([game for game in games if game.moves and _chance(min(game.moves, key=_chance)) <= WORSE])


def _chance(each: PlayerMove) -> float:
    return each.move.win_before or 0.0


# --- openings ------------------------------------------------------------------------------------------------------


def openings(games: Sequence[PlayerGame]) -> list[OpeningResults]:
    """Return the results of each opening with each colour, sorted by number of games, greatest first."""
    average = results(games).share
    groups: dict[tuple[str, bool, bool], list[PlayerGame]] = defaultdict(list)
    for game in games:
        groups[game.opening, game.white, game.chess960].append(game)
    found = []
    for (opening, white, _), group in groups.items():
        told = results(group)
        known = average.value if average else 0.5
        order = _drawn(told.points, told.games, known)
        found.append(OpeningResults(opening, white, told, order, known, _spot(group)))
    return sorted(found, key=lambda each: (-each.results.games, each.opening, each.white))


def _drawn(points: Any, games: Any, average: float) -> Any:
    """Return points per game, drawn toward the player's average; of numbers or arrays."""
    return (points + average * _PRIOR_GAMES) / (games + _PRIOR_GAMES)


def differ(rows: Sequence[OpeningResults]) -> bool:
    """Return whether the best and the worst of these openings (at least two) differ by more than chance.

    The results are dealt to the openings anew, many times. The openings differ if the best and the worst are then
    rarely so far apart. This test takes into account that these two are the extremes of perhaps many openings.
    """
    told = [row.results for row in rows]
    points = np.concatenate([[1.0] * each.wins + [0.5] * each.draws + [0.0] * each.losses for each in told])
    games = np.array([each.games for each in told])
    starts = np.cumsum(games) - games
    distance = np.ptp([row.order for row in rows]) - _EQUAL
    chance = np.random.default_rng(1)
    reached = 1  # the results as they are
    for _ in range(_DEALS):
        chance.shuffle(points)
        reached += np.ptp(_drawn(np.add.reduceat(points, starts), games, rows[0].average)) >= distance
    return bool(reached < _RARE * (_DEALS + 1))


def _spot(games: Sequence[PlayerGame]) -> Spot | None:
    """Return the position in which these games lost most points in the opening; None if the loss is small."""
    reached: dict[str, list[AnnotatedMove]] = defaultdict(list)
    for game in games:
        own = {each.move.fen.rsplit(" ", 2)[0]: each.move for each in game.moves if each.move.ply <= _OPENING_PLIES}
        for position, move in own.items():
            reached[position].append(move)
    if not reached:
        return None
    moves = max(reached.values(), key=lambda moves: sum(move.points_lost or 0 for move in moves))
    lost = sum(move.points_lost or 0 for move in moves)
    if lost < _LEAST_LOST:
        return None
    by_move: Mapping[str, float] = _sums((move.uci, move.points_lost or 0) for move in moves)
    worst = max(by_move, key=lambda uci: by_move[uci])
    played = max((move for move in moves if move.uci == worst), key=lambda move: move.points_lost or 0)
    return Spot(played.fen, len(moves), lost, played, Counter(move.uci for move in moves)[worst], games[0].chess960)


def _sums(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for name, value in pairs:
        sums[name] += value
    return sums


# --- puzzles -------------------------------------------------------------------------------------------------------


def puzzles(games: Iterable[PlayerGame], most: int) -> list[MistakePuzzle]:
    """Choose the player's mistakes that have a clear solution, the most expensive first.

    A solution is clear if at most two moves are good, and the move played is not one of them. A second search, for the
    five best moves, must confirm the mistake. Positions that are lost anyway are left out.
    """
    found: dict[str, MistakePuzzle] = {}
    everything = ((game, mistake) for game in games for mistake in game.mistakes)
    for game, mistake in sorted(everything, key=_lost, reverse=True):
        if not mistake.choices:
            continue
        best = max(win for _, win, _ in mistake.choices)
        good = tuple(choice for choice in mistake.choices if choice[1] > best - _GOOD)
        listed = {choice[0].uci(): choice[1] for choice in mistake.choices}
        if (
            len(good) <= _MOST_GOOD
            and len(good) < len(mistake.choices)
            and best > WORSE
            and best - listed.get(mistake.move.uci, mistake.move.win_after or 0.0) >= _LEAST_GAIN
        ):
            found.setdefault(mistake.move.fen.rsplit(" ", 2)[0], MistakePuzzle(game, mistake, good))
    return list(found.values())[:most]
