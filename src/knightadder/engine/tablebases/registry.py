"""Syzygy tablebases: the files in some folders, and the record through which compiled code probes them."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from knightadder.core.api import tablebase_values as syzygy_api
from knightadder.core.syzygy import index as syzygy_index
from knightadder.core.syzygy import probe as syzygy
from knightadder.core.syzygy.probe import MATERIAL_PLACES, SYZYGY_TABLE, TABLEBASES
from knightadder.engine.game import Game, array_of
from knightadder.engine.tablebases.file import (
    DTZ,
    WDL,
    SyzygyFile,
    TableError,
    allow_open_files,
    material_key,
    material_of_name,
)
from knightadder.native.records import new_record

#: The folder of the tables that are part of the package: three men, and bishop and knight against a king.
SHIPPED = Path(__file__).parents[2] / "data" / "syzygy"


class Tablebases:
    """The tables in some folders: win, draw or loss (WDL), and distance to zeroing (DTZ).

    If several files have the same name, such as ``KRPvKN.rtbw``, the first one counts. `record` is the TABLEBASES
    record for compiled code, at `address`. It contains addresses in the mapped files, so it is valid only as long as
    this object exists. `paths` are the files in use, by name. `largest` is the maximum number of men in the WDL tables;
    0 without tables. `problems` has a line for each unreadable folder and each ignored file. Files must not become
    shorter during a probe; see `drop_changed`.
    """

    def __init__(self, tables: np.record, folders: Iterable[Path | str] = (SHIPPED,)) -> None:
        self._tables = tables
        self._game: Game | None = None
        self.paths: dict[str, Path] = {}
        self.problems: list[str] = []
        self.record = new_record(TABLEBASES)
        self.address = int(array_of(self.record).ctypes.data)
        self.largest = 0
        syzygy_index.fill_tables(self.record)
        self.record.places["wdl"] = self.record.places["dtz"] = -1
        self._files: dict[str, SyzygyFile] = {}
        for folder in folders:
            self._add_folder(Path(folder))

    @property
    def names(self) -> list[str]:
        """The names of the WDL tables, such as ``KRPvKN``."""
        return sorted(name.removesuffix(WDL) for name in self._files if name.endswith(WDL))

    @property
    def dtz_names(self) -> list[str]:
        """The names of the DTZ tables."""
        return sorted(name.removesuffix(DTZ) for name in self._files if name.endswith(DTZ))

    def wdl(self, position: Game | str) -> int | None:
        """Return the WDL value of a game or FEN for the side to move, assuming a fifty-move count of 0.

        2 is a win, 1 a win that the fifty-move rule makes a draw, 0 a draw, -1 a loss that the rule makes a draw, and
        -2 a loss. The value is None if there are castling rights, or if a table is missing or damaged. An illegal FEN
        raises a `PositionError`.
        """
        value, known = syzygy_api.find_wdl(self._tables, self.record, self._game_of(position).record, 0)
        return int(value) if known else None

    def dtz(self, position: Game | str) -> int | None:
        """Return the number of plies to the next capture or pawn move with best play, or None if unknown; see `wdl`.

        The number is positive for a win of the side to move, negative for a loss, and 0 for a draw. It is 100 larger if
        the fifty-move rule makes the result a draw. The true distance may be a ply longer.
        """
        value, known = syzygy_api.find_dtz(self._tables, self.record, self._game_of(position).record, 0)
        return int(value) if known else None

    def wdl_after(self, game: Game, move: int) -> int | None:
        """Return the WDL value of a legal move, in the core's encoding, for the side that makes it; see `wdl`. It is 0
        if the move ends the game by the fifty-move rule or threefold repetition.
        """
        value, known = syzygy_api.find_wdl_after(self._tables, self.record, game.record, move)
        return int(value) if known else None

    def dtz_after(self, game: Game, move: int) -> int | None:
        """Return the DTZ of a legal move, counted from before the move, for the side that makes it; see `dtz`. A mate
        is 1. A move that ends the game by the fifty-move rule or threefold repetition is 0.
        """
        value, known = syzygy_api.find_dtz_after(self._tables, self.record, game.record, move)
        return int(value) if known else None

    def drop_changed(self) -> list[str]:
        """Stop using files whose size has changed; return a line for each of them. Call this only while nothing is
        probed: on most systems, reading a missing part of a mapped file ends the process.
        """
        changed = [name for name, file in self._files.items() if file.changed]
        for name in changed:
            self._register(self.paths[name], -1)
            del self._files[name]
        return [f"{self.paths.pop(name)}: the file has changed and is no longer used" for name in changed]

    def _game_of(self, position: Game | str) -> Game:
        if isinstance(position, Game):
            return position
        if self._game is None:
            self._game = Game(self._tables)
        self._game.set_up(position)
        return self._game

    def _add_folder(self, folder: Path) -> None:
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix in (WDL, DTZ))
        except OSError as error:
            self.problems.append(f"cannot read {folder}: {error.strerror or error}")
            return
        allow_open_files(len(self._files) + len(paths))
        for path in paths:
            if path.name in self._files or material_of_name(path.stem) is None:
                continue
            number = len(self._files)
            table = self.record.tables[number]
            try:
                file = SyzygyFile(path, table)
            except TableError as error:
                self.record.tables[number] = np.zeros((), SYZYGY_TABLE)
                self.problems.append(f"{path}: {error}")
                continue
            self._files[path.name] = file
            self.paths[path.name] = path
            self._register(path, number)

    def _register(self, path: Path, number: int) -> None:
        material = material_of_name(path.stem)
        assert material is not None
        kind = "wdl" if path.suffix == WDL else "dtz"
        for white, black in (material, material[::-1]):
            key = np.uint64(material_key(white, black))
            place = int(key) * int(syzygy.PLACE_FACTOR) % (1 << 64) >> int(syzygy.PLACE_SHIFT)
            while self.record.places[place].key not in (0, key):
                place = (place + 1) % MATERIAL_PLACES
            self.record.places[place].key = key
            self.record.places[place][kind] = number
        if path.suffix == WDL:
            self.record.largest = self.largest = max(self.largest, len(path.stem) - 1)
