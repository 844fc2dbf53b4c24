"""Perft suites in EPD form: one position per line, followed by ``;D1 20 ;D2 400 ...``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@dataclass(frozen=True, slots=True)
class PerftRow:
    """A position, with castling rights as in X-FEN or Shredder-FEN, and its number of leaf nodes by depth in plies."""

    fen: str
    counts: dict[int, int]


def parse_perft_row(line: str) -> PerftRow:
    """Return the row in a line ``FEN ;D1 n ;D2 n ...``; ValueError if a field after the FEN is wrong."""
    fen, *fields = (field.strip() for field in line.split(";"))
    counts = {}
    for field in fields:
        name, nodes = field.split()
        if not name.startswith("D"):
            raise ValueError(f"not a perft field: {field!r}")
        counts[int(name[1:])] = int(nodes)
    return PerftRow(fen, counts)


def read_perft_suite(path: Path) -> list[PerftRow]:
    """Return the rows of an EPD file in order, without empty lines."""
    return [parse_perft_row(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
