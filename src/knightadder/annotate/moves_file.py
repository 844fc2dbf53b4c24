"""Writes the moves of annotated games as a table: CSV, JSON or Parquet."""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from knightadder.engine.errors import OptionError
from knightadder.extras import needed_by
from knightadder.files import replacing
from knightadder.library.frames import Cell
from knightadder.review.move_table import AnnotatedMove
from knightadder.review.summary import Row as GameRow

Row: TypeAlias = Mapping[str, Cell]

FORMATS = (".csv", ".json", ".parquet")
# The columns: the number of the game in its file, its players, and the attributes of `AnnotatedMove`.
COLUMNS = {"game": "int", "white": "str", "black": "str"} | {
    field.name: str(field.type).partition(" ")[0] for field in fields(AnnotatedMove)
}
_ROWS = 50_000  # rows in each group of a Parquet file


def check_moves_file(file: Path) -> None:
    """Raise OptionError if the format of a file is unknown, or needs a library that is not installed."""
    suffix = file.suffix.lower()
    if suffix not in FORMATS:
        raise OptionError(f"--moves {file}: expected a name that ends in .csv, .json or .parquet")
    if suffix == ".parquet":
        with needed_by("--moves with a name that ends in .parquet", "parquet"):
            import pyarrow.parquet  # noqa: F401


@contextlib.contextmanager
def writing_moves(file: Path, force: bool) -> Iterator[Callable[[GameRow, Iterable[AnnotatedMove]], None]]:
    """Yield a function that writes the moves of a game, given its row; at the end, the table replaces `file`. Without
    `force`, a file with different content is not replaced.
    """
    with replacing(file, force=force) as beside, _WRITERS[file.suffix.lower()](beside) as write:

        def write_game(game: GameRow, moves: Iterable[AnnotatedMove]) -> None:
            for move in moves:
                write({"game": game.game, "white": game.white, "black": game.black, **move.to_dict()})

        yield write_game


@contextlib.contextmanager
def _csv(file: Path) -> Iterator[Callable[[Row], None]]:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        yield writer.writerow


@contextlib.contextmanager
def _json(file: Path) -> Iterator[Callable[[Row], None]]:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        before = "[\n"

        def write(row: Row) -> None:
            nonlocal before
            stream.write(before + json.dumps(row, ensure_ascii=False))
            before = ",\n"

        yield write
        stream.write("[]\n" if before == "[\n" else "\n]\n")


@contextlib.contextmanager
def _parquet(file: Path) -> Iterator[Callable[[Row], None]]:
    import pyarrow
    from pyarrow import parquet

    types = {"int": pyarrow.int32(), "float": pyarrow.float64(), "str": pyarrow.string()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    rows: list[Any] = []
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:

        def flush() -> None:
            if rows:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows.clear()

        def write(row: Row) -> None:
            rows.append(row)
            if len(rows) >= _ROWS:
                flush()

        yield write
        flush()


_WRITERS = {".csv": _csv, ".json": _json, ".parquet": _parquet}
