"""The game in which a puzzle was found, in a PGN file on this machine."""

from __future__ import annotations

import re
from pathlib import Path

from knightadder.engine.errors import OptionError
from knightadder.foreign import whole_or_none
from knightadder.pgn.game_files import without_compression
from knightadder.pgn.games import read_texts

# The place of a puzzle, as `puzzle_maker` writes it: the file, the game's number, and the ply of the position.
_PLACE = re.compile(r"(.+)\?game=([0-9]+)(?:/black)?#([0-9]+)")


def source_of(place: str) -> tuple[Path, int, int] | None:
    """Return the file, the game's number and the ply from a puzzle's place; None if the place is not in a PGN file."""
    found = _PLACE.fullmatch(place)
    if found is None or without_compression(Path(found[1])).suffix.lower() != ".pgn":
        return None
    number, ply = whole_or_none(found[2]), whole_or_none(found[3])
    return None if number is None or ply is None else (Path(found[1]), number, ply)


def read_source(file: Path, number: int, folder: Path) -> str:
    """Return the PGN of a game in a file, or in `folder` if the file was moved there; OptionError if it is missing."""
    place = next((each for each in (file, folder / file, folder / file.name) if each.is_file()), file)
    for text in read_texts(place):
        if text.number == number:
            return text.text
    raise OptionError(f"there is no game {number} in {place}")
