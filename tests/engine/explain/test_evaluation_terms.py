"""The terms that a value is made of, and the table of them."""

from __future__ import annotations

import chess
import pytest

from knightadder.core.evaluation.terms import TERMS
from knightadder.core.tables import new_tables
from knightadder.engine.explain.breakdown import Breakdown, Tapered, Term, break_down
from knightadder.engine.explain.table import evaluation_table
from knightadder.engine.game import Game

TABLES = new_tables()
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
FENS = [chess.STARTING_FEN, KIWIPETE, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"]


def broken_down(fen: str) -> tuple[Breakdown, int]:
    """Give the terms of a position and its value from White's view."""
    game = Game(TABLES)
    game.set_up(fen)
    return break_down(game.trace(), TABLES.terms), game.evaluate() * (1 - 2 * game.side_to_move)


@pytest.mark.parametrize("fen", FENS[:3])  # in the last one the ending has a say
def test_the_terms_make_the_value(fen: str) -> None:
    terms, value = broken_down(fen)
    assert abs(terms.value - value) <= 1


@pytest.mark.parametrize("fen", FENS)
def test_the_mirrored_position_has_the_terms_of_the_other_side(fen: str) -> None:
    terms, _ = broken_down(fen)
    mirrored, _ = broken_down(chess.Board(fen).mirror().fen())
    assert [(term.name, term.white, term.black) for term in terms.terms] == [
        (term.name, term.black, term.white) for term in mirrored.terms
    ]
    assert mirrored.value == -terms.value
    assert (mirrored.phase, mirrored.scale) == (terms.phase, terms.scale)


def test_terms_are_named_and_grouped_as_declared() -> None:
    terms, _ = broken_down(KIWIPETE)
    declared = {(term.group, term.name.replace("_", " ")) for term in TERMS}
    assert {(term.group, term.name) for term in terms.terms} <= declared
    assert len(terms.terms) > 10
    [queen] = [term for term in broken_down("3qk3/8/8/8/8/8/8/4K3 w - - 0 1")[0].terms if term.name == "piece value"]
    assert queen.white == Tapered(0, 0)
    assert queen.black.middle_game > 500 and queen.total == Tapered(0, 0) - queen.black


@pytest.mark.parametrize(
    ("fen", "phase"), [(chess.STARTING_FEN, 1.0), ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0.0), (FENS[2], 4 / 24)]
)
def test_the_phase_is_what_is_left_of_the_pieces(fen: str, phase: float) -> None:
    assert broken_down(fen)[0].phase == phase


def test_the_table_shows_groups_terms_and_the_blend() -> None:
    terms = (
        Term("pawns", "isolated", Tapered(-10, -20), Tapered(0, 0)),
        Term("pawns", "passed", Tapered(5, 100), Tapered(3, 50)),
        Term("king", "shelter", Tapered(30, 0), Tapered(31, 0)),
    )
    value = Breakdown(terms, 0.5, 0.75)
    assert value.white == Tapered(25, 80) and value.black == Tapered(34, 50)
    assert value.value == -9 * 0.5 + 30 * 0.75 * 0.5
    lines = evaluation_table(value).splitlines()
    assert [line.split() for line in lines[3:8]] == [
        ["pawns", "-0.05", "0.80", "0.03", "0.50", "-0.08", "0.30"],
        ["isolated", "-0.10", "-0.20", "0.00", "0.00", "-0.10", "-0.20"],
        ["passed", "0.05", "1.00", "0.03", "0.50", "0.02", "0.50"],
        ["king", "0.30", "0.00", "0.31", "0.00", "-0.01", "0.00"],
        ["shelter", "0.30", "0.00", "0.31", "0.00", "-0.01", "0.00"],
    ]
    assert lines[-2].split()[0] == "Total"
    assert lines[-1] == "Phase 12 of 24, end game scaled by 48/64: +0.07"
