"""An index of games for the opening explorer."""

from pathlib import Path

from knightadder.cli import main

GAMES = """\
[Event "Spring Open"]
[White "Anna"]
[Black "Ben"]
[WhiteElo "2400"]
[BlackElo "2300"]
[Date "2001.??.??"]
[TimeControl "180+2"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Be7 1-0

[White "Carla"]
[BlackElo "2501"]
[Date "1999.??.??"]
[Result "1/2-1/2"]

1. Nf3 e5 2. e4 Nc6 3. Bb5 Nf6 4. O-O 1/2-1/2

[Result "0-1"]

1. e4 e5 2. Bc4 0-1

[Variant "Chess960"]
[SetUp "1"]
[FEN "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"]
[Result "1/2-1/2"]

1. O-O-O O-O 1/2-1/2
"""


def make_index(folder: Path, text: str = GAMES, *options: object) -> Path:
    """Index games in a folder, and give the file."""
    games, out = folder / "games.pgn", folder / "games.sqlite"
    games.write_text(text, "utf-8")
    assert main(["book", "index", str(games), "--out", str(out), *map(str, options)]) == 0
    return out
