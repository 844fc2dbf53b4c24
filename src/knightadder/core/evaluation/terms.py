"""The terms of the classical evaluation: their meaning, and the places of their values.

A term is a row of numbers, such as the values of a passed pawn by rank. Each number has a value for the middle game and
one for the end game, in centipawns. The values come from ``classical.json``, which `knightadder tune texel` writes.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from knightadder.native.records import record
from knightadder.native.signatures import record_type

_MAX_CENTIPAWNS = 10_000  # maximum value, so that no sum overflows its half of a packed score
VALUES_FILE = Path(__file__).with_name("classical.json")


class _Term(NamedTuple):
    """A row of values: its name, its length, its heading in lists, and its meaning."""

    name: str
    size: int
    group: str
    meaning: str


PIECE_NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")

TERMS = (
    _Term("piece_value", 5, "Material", "a piece, pawn to queen"),
    *(_Term(f"{name}_square", 64, "Piece squares", f"a {name} by its square, a8 first") for name in PIECE_NAMES),
    _Term("bishop_pair", 1, "Imbalance", "two bishops or more"),
    _Term("knight_pair", 1, "Imbalance", "two knights or more"),
    _Term("rook_pair", 1, "Imbalance", "two rooks or more"),
    _Term("piece_per_pawn", 4, "Imbalance", "a knight, bishop, rook or queen for each pawn of its side above five"),
    _Term("isolated_pawn", 2, "Pawns", "no friendly pawn on a neighbouring file; on a closed or half-open file"),
    _Term("doubled_pawn", 1, "Pawns", "a friendly pawn ahead of it on its file"),
    _Term("backward_pawn", 2, "Pawns", "can neither advance safely nor be defended; on a closed or half-open file"),
    _Term("phalanx_pawn", 8, "Pawns", "a friendly pawn beside it, by rank"),
    _Term("protected_pawn", 8, "Pawns", "a friendly pawn defends it, by rank"),
    _Term("candidate_pawn", 8, "Pawns", "may become passed by exchanges, by rank"),
    _Term("ram", 8, "Pawns", "blocked by an enemy pawn, by rank"),
    _Term("passed_pawn", 8, "Passed pawns", "no enemy pawn can stop it, by rank"),
    _Term("passed_protected", 8, "Passed pawns", "a friendly pawn defends it, by rank"),
    _Term("passed_king_near", 8, "Passed pawns", "steps of its king to the square before it, from the 4th rank on"),
    _Term("passed_king_far", 8, "Passed pawns", "steps of the enemy king to that square, from the 4th rank on"),
    _Term("passed_blocked", 8, "Passed pawns", "a piece stands before it, by rank"),
    _Term("passed_free", 8, "Passed pawns", "the squares before it are empty and not attacked by the enemy, by rank"),
    _Term("passed_safe_step", 8, "Passed pawns", "the square before it is free and safe, by rank"),
    _Term("passed_rook", 2, "Passed pawns", "a friendly or enemy rook behind it"),
    _Term("unstoppable_pawn", 1, "Passed pawns", "promotes before the enemy king, without enemy pieces, can stop it"),
    _Term(
        "king_shelter", 32, "King", "nearest friendly pawn on a file at the king: file from the edge; rank, 0 = none"
    ),
    _Term("king_storm", 32, "King", "nearest enemy pawn on such a file: file from the edge; rank, 0 = none"),
    _Term("king_storm_blocked", 8, "King", "such an enemy pawn that a friendly pawn blocks, by rank"),
    _Term(
        "king_open_file", 3, "King", "a file at the king without friendly pawns, without enemy pawns, without either"
    ),
    _Term("king_pawn_distance", 8, "King", "steps of the king to the nearest pawn"),
    _Term("castling_right", 1, "King", "a rook with which the king may still castle"),
    _Term("king_danger", 64, "King", "units of attack against the king"),
    _Term("knight_mobility", 9, "Mobility", "safe squares that a knight attacks"),
    _Term("bishop_mobility", 14, "Mobility", "safe squares that a bishop attacks"),
    _Term("rook_mobility", 15, "Mobility", "safe squares that a rook attacks"),
    _Term("queen_mobility", 28, "Mobility", "safe squares that a queen attacks"),
    _Term("knight_outpost", 2, "Knights", "out of reach of enemy pawns; without or with the defence of a pawn"),
    _Term("knight_king_distance", 8, "Knights", "steps to its king"),
    _Term("bishop_outpost", 2, "Bishops", "out of reach of enemy pawns; without or with the defence of a pawn"),
    _Term("bishop_king_distance", 8, "Bishops", "steps to its king"),
    _Term("bad_bishop", 1, "Bishops", "friendly pawns on its colour, once more for each blocked pawn on files c to f"),
    _Term("long_diagonal", 1, "Bishops", "attacks both squares of the centre on its diagonal"),
    _Term("trapped_bishop", 1, "Bishops", "took a rook pawn and is shut in by a pawn"),
    _Term("minor_behind_pawn", 2, "Pieces", "a knight or bishop directly behind a pawn"),
    _Term("rook_file", 2, "Rooks", "on a half-open or open file"),
    _Term("rook_seventh", 1, "Rooks", "on the 7th rank, with enemy pawns there or the enemy king on the 8th"),
    _Term("trapped_rook", 1, "Rooks", "has hardly any squares, shut in by its king"),
    _Term("queen_lined_up", 1, "Queens", "only one piece stands between it and an enemy bishop or rook on its line"),
    _Term("threat_by_pawn", 6, "Threats", "a safe pawn attacks a piece, pawn to king"),
    _Term("threat_by_minor", 6, "Threats", "a knight or bishop attacks a weak pawn or any piece"),
    _Term("threat_by_rook", 6, "Threats", "a rook attacks a weak piece or a queen"),
    _Term("threat_by_king", 1, "Threats", "the king attacks a weak piece"),
    _Term("hanging", 1, "Threats", "an attacked piece without defence"),
    _Term("threat_by_push", 1, "Threats", "a pawn can safely step to a square from which it attacks a piece"),
    _Term("restricted", 1, "Threats", "squares that both sides attack and the enemy does not defend well"),
    _Term("space", 1, "Space", "safe squares behind the pawns, times the squared number of pieces, in 128ths"),
    _Term("centre_control", 1, "Centre", "squares of the centre that are attacked"),
    _Term("centre_pawn", 1, "Centre", "pawns in the centre"),
    _Term("tempo", 1, "Tempo", "the move"),
)

SIZES = {term.name: term.size for term in TERMS}
# Index of each term's first value among all values. The indexes are typed, because Numba would compile a function again
# for each literal argument.
START: dict[str, np.int64] = {}
TERM_VALUES = 0  # number of values of all terms
for _term in TERMS:
    START[_term.name] = np.int64(TERM_VALUES)
    TERM_VALUES += _term.size

TRACE = record(  # counts that make up the classical value of a position
    ("counts", np.int16, (2, TERM_VALUES)),  # by side and value: how often the value counts
    ("phase", np.int64),  # 24 = middle game only, 0 = end game only
    ("scale", np.int64),  # the share of the end-game half that counts, in 64ths
)
Trace = record_type(TRACE)


def read_values(path=VALUES_FILE):
    """Return the values of all terms from a JSON file, as int64 of shape (`TERM_VALUES`, 2).

    Under each term's name, the file has a list of pairs of a middle-game and an end-game value in centipawns. A term
    that is missing, unknown or of the wrong length raises a `ValueError`.
    """
    try:
        return values_in(json.loads(Path(path).read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def values_in(rows):
    """Return the values of all terms from the parsed JSON of a file; see `read_values`."""
    values = np.zeros((TERM_VALUES, 2), np.int64)
    if not isinstance(rows, dict):
        raise ValueError("expected an object of terms")
    if wrong := sorted(rows.keys() ^ START.keys()):
        raise ValueError(f"terms that are missing or unknown: {', '.join(wrong):.300}")
    for term in TERMS:
        row = np.asarray(rows[term.name])
        if row.shape != (term.size, 2) or row.dtype.kind != "i":
            raise ValueError(f"{term.name}: expected {term.size} pairs of whole numbers")
        if (abs(row) > _MAX_CENTIPAWNS).any():
            raise ValueError(f"{term.name}: expected numbers up to {_MAX_CENTIPAWNS}")
        values[START[term.name] : START[term.name] + term.size] = row
    return values


def write_values(values, path):
    """Write the values of all terms to a file, one term per line, as `read_values` reads them."""
    lines = []
    for term in TERMS:
        start = START[term.name]
        pairs = ", ".join(f"[{middle}, {end}]" for middle, end in values[start : start + term.size].tolist())
        lines.append(f'  "{term.name}": [{pairs}]')
    Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
