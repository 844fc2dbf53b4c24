"""A table of games, with the quality of play in each game."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TextIO

from rich.table import Table

from knightadder.pgn.games import known_value
from knightadder.review.accuracy import SideAccuracy
from knightadder.review.judgement import Judgement
from knightadder.review.review import Review
from knightadder.text_table import add_cells, text_table


@dataclass(frozen=True, slots=True)
class Side:
    """A side's play in a game: its accuracy, its average centipawn loss, and how often it got each mark.

    Missed chances are bad moves immediately after the opponent's mistake or blunder. Accuracy and loss are ``None`` if
    unknown.
    """

    accuracy: float | None
    centipawn_loss: int | None
    brilliant: int
    great: int
    inaccuracies: int
    mistakes: int
    blunders: int
    missed: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: a game's number and first line in its file, headers and length, and each side's play.
    Missing headers are empty. `fault` is the reason why the game was not annotated.
    """

    game: int
    line: int
    event: str
    date: str
    round: str
    white: str
    black: str
    result: str
    eco: str
    opening: str
    plies: int
    white_side: Side | None = None
    black_side: Side | None = None
    fault: str | None = None


def row(
    number: int,
    line: int,
    headers: Mapping[str, str],
    review: Review | None = None,
    fault: str | None = None,
) -> Row:
    """Return the row of a game, with its review, or with `fault`, the reason why there is no review."""
    told = {
        name.lower(): known_value(headers.get(name, ""))
        for name in ("Event", "Date", "Round", "White", "Black", "Result", "ECO", "Opening")
    }
    return Row(
        game=number,
        line=line,
        **told,
        plies=len(review.judgements) if review else 0,
        white_side=_side(review, True, review.white) if review else None,
        black_side=_side(review, False, review.black) if review else None,
        fault=fault,
    )


def _side(review: Review, white: bool, play: SideAccuracy | None) -> Side:
    counts = [*(review.count(white, judgement) for judgement in Judgement), review.count_missed(white)]
    return Side(
        round(play.accuracy, 1) if play else None,
        play.centipawn_loss if play else None,
        *counts,
    )


# --- files ---------------------------------------------------------------------------------------------------------


def write_csv(rows: Sequence[Row], stream: TextIO) -> None:
    """Write the table as comma-separated values, with the column names in the first line."""
    sides = [field.name for field in fields(Side)]
    names = [field.name for field in fields(Row) if field.name not in ("white_side", "black_side", "fault")]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*names, *(f"{colour}_{name}" for colour in ("white", "black") for name in sides), "fault"])
    for each in rows:
        cells: list[Any] = [getattr(each, name) for name in names]
        for side in (each.white_side, each.black_side):
            cells += [getattr(side, name) if side else None for name in sides]
        writer.writerow([*cells, each.fault])


def write_json(rows: Sequence[Row], about: Mapping[str, Any], stream: TextIO) -> None:
    """Write the table, and data about the whole run, as JSON."""
    json.dump({**about, "games": [asdict(each) for each in rows]}, stream, indent=1, ensure_ascii=False)
    stream.write("\n")


# --- terminal ------------------------------------------------------------------------------------------------------

_COUNTS = ("brilliant", "great", "inaccuracies", "mistakes", "blunders", "missed")


def players_table(rows: Sequence[Row], most: int = 20) -> Table:
    """Return a table of the averages of at most `most` players, those with the most games first."""
    played: dict[str, list[Side]] = {}
    for each in rows:
        for name, side in ((each.white, each.white_side), (each.black, each.black_side)):
            if side:
                played.setdefault(name or "?", []).append(side)
    table = text_table(("Player", "Games", "Accuracy", "Centipawn loss", *(each.mark for each in Judgement), "Missed"))
    for name, sides in sorted(played.items(), key=lambda item: -len(item[1]))[:most]:
        accuracies = [side.accuracy for side in sides if side.accuracy is not None]
        losses = [side.centipawn_loss for side in sides if side.centipawn_loss is not None]
        cells = [
            name,
            len(sides),
            f"{sum(accuracies) / len(accuracies):.1f}" if accuracies else "-",
            f"{sum(losses) / len(losses):.1f}" if losses else "-",
            *(sum(getattr(side, count) for side in sides) for count in _COUNTS),
        ]
        add_cells(table, cells)
    if len(played) > most:
        table.caption = f"and {len(played) - most} more"
    return table
