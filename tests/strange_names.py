"""Names of files that are not UTF-8."""

from __future__ import annotations

from pathlib import Path


def strange_file(folder: Path, content: str) -> tuple[Path, str]:
    """Make a PGN file whose name is not UTF-8, and give its name as the program shows it.
    A system that has only names in UTF-8, such as macOS, gets a usual name.
    """
    try:
        file, shown = folder / "caf\udce9.pgn", r"caf\udce9.pgn"
        file.write_text(content, "utf-8")
    except OSError:
        file, shown = folder / "café.pgn", "café.pgn"
        file.write_text(content, "utf-8")
    return file, shown
