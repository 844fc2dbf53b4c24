"""Syzygy tablebases: the files found in folders, and the record through which compiled code probes them."""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np

from knightadder.core.api import tablebases as syzygy_api
from knightadder.core.syzygy import index as syzygy_index
from knightadder.core.syzygy import probe as syzygy
from knightadder.core.syzygy.probe import MATERIAL_PLACES, SYZYGY_TABLE, TABLEBASES
from knightadder.engine.game import Game
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

#: The tables with three men, which are part of the package.
SHIPPED = Path(__file__).parents[2] / "data" / "syzygy"


class Tablebases:
    """The tables in some folders, for win, draw or loss (WDL) and the distance to zeroing (DTZ).

    Parameters
    ----------
    tables : record
        The core's read-only tables.
    folders : iterable of path
        Where files such as ``KRPvKN.rtbw`` and ``KRPvKN.rtbz`` are; of files with the same name the first counts.

    Attributes
    ----------
    record : record
        The TABLEBASES record, for compiled code. It holds addresses in the mapped files and is valid only as long
        as this object exists.
    paths : dict of str to Path
        The files in use, by names such as ``KRPvKN.rtbw``.
    problems : list of str
        A line for each folder that cannot be read, and for each file that cannot be used and is ignored.

    Notes
    -----
    The files must not become shorter during a probe; see `drop_changed`.
    """

    def __init__(self, tables: np.record, folders: Iterable[Path | str] = (SHIPPED,)) -> None:
        self._tables = tables
        self._game: Game | None = None
        self.paths: dict[str, Path] = {}
        self.problems: list[str] = []
        self.record = new_record(TABLEBASES)
        syzygy_index.fill_tables(self.record)
        self.record.places["wdl"] = self.record.places["dtz"] = -1
        self._files: dict[str, SyzygyFile] = {}
        for folder in folders:
            self._add_folder(Path(folder))

    @property
    def address(self) -> int:
        """The address of the record in memory."""
        return int(cast(np.ndarray, self.record.base).ctypes.data)

    @property
    def largest(self) -> int:
        """The largest number of men, kings included, in the WDL tables; 0 without tables."""
        return int(self.record.largest)

    @property
    def names(self) -> list[str]:
        """The names of the WDL tables, such as ``KRPvKN``."""
        return sorted(name.removesuffix(WDL) for name in self._files if name.endswith(WDL))

    @property
    def dtz_names(self) -> list[str]:
        """The names of the DTZ tables."""
        return sorted(name.removesuffix(DTZ) for name in self._files if name.endswith(DTZ))

    def wdl(self, position: Game | str) -> int | None:
        """Return the WDL value of a position, with the fifty-move count taken as 0.

        Parameters
        ----------
        position : Game or str
            A game, or a FEN.

        Returns
        -------
        int or None
            For the side to move: 2 a win, 1 a win that the fifty-move rule makes a draw, 0 a draw, -1 a loss that it
            makes a draw, -2 a loss; None if there are castling rights, or a table is missing or damaged.

        Raises
        ------
        PositionError
            If the FEN is illegal.
        """
        value, known = syzygy_api.find_wdl(self._tables, self.record, self._game_of(position).record, 0)
        return int(value) if known else None

    def dtz(self, position: Game | str) -> int | None:
        """Return the plies to the next capture or pawn move with best play; see `wdl` for the position.

        Returns
        -------
        int or None
            Positive for a win and negative for a loss of the side to move, 0 for a draw, with 100 plies more where the
            fifty-move rule makes it one; the distance may be a ply longer. None if the position's value is unknown.
        """
        value, known = syzygy_api.find_dtz(self._tables, self.record, self._game_of(position).record, 0)
        return int(value) if known else None

    def wdl_after(self, game: Game, move: int) -> int | None:
        """Return the WDL value of a legal move, given in the core's encoding, for the side that makes it.

        Returns
        -------
        int or None
            As for `wdl`, but 0 if the fifty-move rule or a threefold repetition then ends the game.
        """
        value, known = syzygy_api.find_wdl_after(self._tables, self.record, game.record, move)
        return int(value) if known else None

    def dtz_after(self, game: Game, move: int) -> int | None:
        """Return the plies to the next capture or pawn move, counting from and including a legal move.

        Returns
        -------
        int or None
            For the side that makes the move, as for `dtz`; 1 for a mate, 0 if the fifty-move rule or a threefold
            repetition then ends the game.
        """
        value, known = syzygy_api.find_dtz_after(self._tables, self.record, game.record, move)
        return int(value) if known else None

    def drop_changed(self) -> list[str]:
        """Stop using files whose size has changed; call it only while nothing is probed.

        On most systems, reading a missing part of a mapped file ends the process.

        Returns
        -------
        list of str
            A line for each such file.
        """
        changed = [name for name, file in self._files.items() if file.changed]
        for name in changed:
            self._register(self.paths[name], -1)
            del self._files[name]
        return [f"{self.paths.pop(name)}: has been changed, and is not used any more" for name in changed]

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
            self.problems.append(f"{folder}: {error.strerror or 'cannot be read'}")
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
            self.record.largest = max(self.largest, len(path.stem) - 1)
