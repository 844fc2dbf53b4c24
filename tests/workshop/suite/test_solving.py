"""The engine solves suites of positions, within a number of nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from chess.engine import Limit

from knightadder.library.many import analyse_many
from knightadder.workshop.problems import read_problems

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    ("name", "nodes", "least"),
    [
        ("bratko-kopec", 100_000, 16),  # a change of the search may cost one or two of the 18 that it solves
        ("mate-in-1", 2_000, 30),
        ("mate-in-2", 30_000, 28),
        ("mate-in-3", 100_000, 28),
    ],
)
def test_most_positions_of_a_suite_are_solved(name: str, nodes: int, least: int) -> None:
    problems, complaints = read_problems(DATA / f"{name}.epd")
    found = analyse_many([problem.board for problem in problems], Limit(nodes=nodes), hash_mb=4)
    solved = [
        problem.solved_by(analysis.best_move, analysis.best.score.relative.mate())
        for problem, analysis in zip(problems, found, strict=True)
    ]
    assert complaints == []
    assert sum(solved) >= least
