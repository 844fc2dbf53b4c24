"""Fits the model of wins, draws and losses (`engine/wdl.py`) to games whose moves have scores as comments.
It is a maximum likelihood fit: each position counts with the mover's score and the result of its game.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from knightadder.arguments import declare
from knightadder.engine.errors import PositionError
from knightadder.engine.wdl import FULL_MATERIAL, LEAST_MATERIAL, A, B, parameters
from knightadder.extras import needed_by
from knightadder.text import counted, tell
from knightadder.workshop.scored_games import played_out, score_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from knightadder.pgn.game_records import GameRecord

Coefficients: TypeAlias = tuple[float, ...]

WIN, DRAW, LOSS = 1, 0, -1
_BIN = 5  # centipawns; scores are rounded to this step
# Greater scores, in centipawns, are left out. Such positions are won or are fortresses, and would distort the fit.
_MOST = 1500


@dataclass
class WdlCounts:
    """Counts of positions by material, score in centipawns, and result (`WIN`, `DRAW` or `LOSS`) for the mover.
    `games` is the number of games with such positions.
    """

    games: int = 0
    counts: Counter[tuple[int, int, int]] = field(default_factory=Counter)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``wdl``."""
    command = commands.add_parser(
        "wdl",
        help="fit the model of win, draw and loss probabilities",
        description="Fit the model of win, draw and loss probabilities to games. Print the lines for engine/wdl.py.",
    )
    declare(command, "files", help="PGN file with games from `knightadder match`; - is standard input")
    command.add_argument("--player", metavar="NAME", help="use only the moves of players whose names contain this text")
    command.add_argument(
        "--degree", type=int, choices=range(4), default=3, help="degree of the model's polynomials (default: 3)"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    from knightadder.pgn.game_files import game_files

    sample = WdlCounts()
    with game_files(arguments.files) as files:
        for name, file in files:
            bad = read_games(file, sample, arguments.player, name)
            if bad:
                tell(f"{name}: {counted(bad, 'game')} left out: unreadable, unfinished or lost by a fault")
    results = {result for _, _, result in sample.counts}
    if results != {WIN, DRAW, LOSS}:
        raise PositionError("the files must contain won, drawn and lost games whose moves have scores as comments")
    a, b = fit(sample, arguments.degree)
    print(f"# {counted(sample.games, 'game')}, {counted(sum(sample.counts.values()), 'position')}")
    print(f"A = {_source(a)}")
    print(f"B = {_source(b)}")
    print("\nmaterial  wins half at  spread  (centipawns)")
    for on_board in (LEAST_MATERIAL, 30, 44, 58, FULL_MATERIAL):
        half_won, spread = parameters(on_board, a, b)
        print(f"{on_board:8}  {half_won:12.0f}  {spread:6.0f}")
    print(f"\nlog-loss of a result: {loss(sample, a, b):.5f}; with the constants in use {loss(sample, A, B):.5f}")
    return 0


# --- reading games -------------------------------------------------------------------------------------------------


def read_games(file: Path, sample: WdlCounts, player: str | None = None, name: str | None = None) -> int:
    """Add the positions of a PGN file to a sample; return the number of games that are left out.

    Games are left out if they are unreadable, have no result, or ended by a fault. Each move has a comment such as
    ``+0.35/12 0.45s``, with the mover's score in pawns. Only moves of players with `player` in their name count.
    `name` is the file's name for the user.
    """
    from knightadder.pgn.game_records import sound_records

    return sum(game is None or not _add(game, sample, player) for game in sound_records(file, name))


def _add(game: GameRecord, sample: WdlCounts, player: str | None) -> bool:
    """Add the positions of a game to a sample; return whether the game was played to a result."""
    from knightadder.rules import POINTS

    headers = game.headers
    if game.result not in POINTS or not played_out(headers):
        return False
    outcome = round(2 * POINTS[game.result] - 1)
    positions = game.positions()
    names, used = (headers.get("White", ""), headers.get("Black", "")), False
    materials, movers = _materials(positions).tolist(), (positions["stm_ep"] >> 7).tolist()
    for comment, material, black in zip(game.comments[1:], materials, movers, strict=True):
        score = score_in(comment)
        if score and score.cp is not None and abs(score.cp) <= _MOST and (player is None or player in names[black]):
            sample.counts[material, round(score.cp / _BIN) * _BIN, -outcome if black else outcome] += 1
            used = True
    sample.games += used
    return True


def _materials(positions: np.ndarray) -> np.ndarray:
    """Return the material of packed positions, counted as by `material_of_sets`."""
    import numpy as np

    halves = np.array((1, 3, 3, 5, 9, 0, 5, 0) * 2)  # by piece code; an unused half of a byte counts as a pawn
    of_byte = (halves[:, None] + halves).ravel()
    men = np.unpackbits(positions["occupied"].copy().view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64)
    return np.asarray(of_byte[positions["pieces"]].sum(axis=1) - (32 - men))


# --- fitting -------------------------------------------------------------------------------------------------------


def fit(sample: WdlCounts, degree: int) -> tuple[Coefficients, Coefficients]:
    """Return the two polynomials, as in `engine/wdl.py`, for which a sample with all three results is most likely."""
    import numpy as np

    with needed_by("tune wdl"):
        from scipy.optimize import minimize

    # The optimizer varies the values of each polynomial at some amounts of material, because the values are less
    # correlated than the coefficients. It uses their logarithms, since the values are positive.
    nodes = np.linspace(LEAST_MATERIAL, FULL_MATERIAL, degree + 1) / FULL_MATERIAL
    powers = np.vander(nodes, degree + 1)

    def polynomials(point: np.ndarray) -> tuple[Coefficients, Coefficients]:
        halves = np.exp(point.reshape(2, degree + 1))
        a, b = (np.linalg.solve(powers, half) for half in halves)
        padding = (0.0,) * (3 - degree)
        return (*padding, *a.tolist()), (*padding, *b.tolist())

    objective = _log_loss(sample)
    start = np.log(np.full(2 * (degree + 1), 200.0))
    best = minimize(lambda point: objective(*polynomials(point)), start, method="BFGS", options={"gtol": 1e-7})
    return polynomials(best.x)


def loss(sample: WdlCounts, a: Sequence[float], b: Sequence[float]) -> float:
    """Return the mean of -log(probability of the result) over the positions; see `fit` for the parameters."""
    return _log_loss(sample)(a, b)


def _log_loss(sample: WdlCounts) -> Callable[[Sequence[float], Sequence[float]], float]:
    """Return the loss as a function of both polynomials."""
    import numpy as np

    rows = np.array([(*key, count) for key, count in sample.counts.items()], np.float64)
    on_board, cp, results, counts = rows.T
    share = np.clip(on_board, LEAST_MATERIAL, FULL_MATERIAL) / FULL_MATERIAL

    def log_loss(a: Sequence[float], b: Sequence[float]) -> float:
        half_won = np.maximum(np.polyval(a, share), 1e-3)
        spread = np.maximum(np.polyval(b, share), 1.0)
        win, lost = (1 / (1 + np.exp(np.minimum((half_won - x) / spread, 500.0))) for x in (cp, -cp))
        likelihood = np.select([results == WIN, results == LOSS], [win, lost], 1 - win - lost)
        return float(-counts @ np.log(np.maximum(likelihood, 1e-12)) / counts.sum())

    return log_loss


def _source(coefficients: Coefficients) -> str:
    return f"({', '.join(f'{coefficient:.1f}' for coefficient in coefficients)})"
