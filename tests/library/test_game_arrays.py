"""Games by the thousand: records, arrays and tables have what python-chess finds in the same files."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.engine
import chess.pgn
import numpy as np
import pytest

import knightadder
from knightadder.engine.errors import OptionError, PositionError, PositionWarning
from knightadder.extras import install_command
from tests.random_pgn import random_file

GAMES = """\
[Event "one"]
[White "Müller"]
[WhiteElo "2100"]
[Result "1-0"]

1. e4 {[%eval 0.3] [%clk 0:03:00]} e5 {[%eval #-3] [%clk 0:02:59.5]} 2. Nf3! {good} Nc6 1-0

[Event "two"]
[WhiteElo "99999999999999"]
[BlackElo "?"]
[FEN "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 9"]

9. O-O O-O 1/2-1/2

[Event "broken"]

1. e4 e4 *
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(GAMES, "utf-8")
    return path


@pytest.fixture
def games(file: Path) -> knightadder.Games:
    return knightadder.read_games(file, broken="ignore")


@pytest.fixture(scope="module")
def random_games(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[chess.pgn.Game]]:
    path = tmp_path_factory.mktemp("games") / "random.pgn"
    path.write_bytes(random_file(Random(5), 60, damage=0, odd=False))
    stream = io.StringIO(path.read_text("utf-8"))
    games = [game for game in iter(lambda: chess.pgn.read_game(stream), None) if game.next()]
    return path, games


def test_a_game(games: knightadder.Games) -> None:
    first, second = games
    assert (first.number, first.line, second.number, second.line) == (1, 1, 2, 8)
    assert first.place == f"{first.file}, game 1, line 1"
    assert first.tags == {"Event": "one", "White": "Müller", "WhiteElo": "2100", "Result": "1-0"}
    assert (first.result, second.result, first.plies) == ("1-0", "1/2-1/2", 4)
    assert first.uci == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert second.moves == [chess.Move.from_uci("e1g1"), chess.Move.from_uci("e8g8")]
    assert first.clocks == [180, 179.5, None, None]
    assert first.evals == [chess.engine.Cp(30), chess.engine.Mate(-3), None, None]
    assert first.comments == ["", "[%eval 0.3] [%clk 0:03:00]", "[%eval #-3] [%clk 0:02:59.5]", "good", ""]
    assert first.nags == [set(), set(), set(), {1}, set()]
    assert [board.fullmove_number for board in second.boards()] == [9, 9, 10]
    assert (first.chess960, second.chess960) == (False, True)
    assert all(type(game.chess960) is bool for game in games)  # not NumPy's, which JSON cannot write
    assert first.text == GAMES.split("\n\n[Event", 1)[0]
    assert isinstance(first.game(), chess.pgn.Game)
    assert str(second) == f"<GameRecord {second.place}: 2 plies, 1/2-1/2>"


@pytest.mark.parametrize("move", ["Nf3", "♘f3"])  # each of the two readers reads one of them
def test_a_change_to_what_a_record_returns_does_not_change_the_record(tmp_path: Path, move: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(f'[White "Anna"]\n\n1. {move}! {{good}} *\n', "utf-8")
    [record] = knightadder.read_games(path)
    game = record.game()
    game.headers["White"] = record.headers["White"] = "Bob"
    game.next().comment = "bad"
    record.tags["White"] = record.comments[1] = "Bob"
    record.nags[1].clear()
    game.add_variation(chess.Move.from_uci("e2e4"))
    game.promote_to_main(chess.Move.from_uci("e2e4"))
    assert (record.tags, record.headers["White"]) == ({"White": "Anna"}, "Anna")
    assert (record.comments, record.nags) == (["", "good"], [set(), {1}])
    assert [move.uci() for move in record.game().mainline_moves()] == ["g1f3"]


def test_boards_and_packed_positions(random_games: tuple[Path, list[chess.pgn.Game]]) -> None:
    path, wanted = random_games
    for record, game in zip(knightadder.read_games([path], broken="ignore"), wanted, strict=True):
        boards = [game.board()]
        for move in game.mainline_moves():
            boards.append(boards[-1].copy())
            boards[-1].push(move)
        assert list(record.boards()) == boards
        assert record.game().end().board() == boards[-1]
        fens = [board.fen(en_passant="legal") for board in boards[:-1]]
        assert knightadder.unpack_fens(record.positions()) == fens


def test_broken_games(file: Path) -> None:
    message = r"games.pgn, game 3, line 15, is left out: illegal san: 'e4'"
    with pytest.warns(PositionWarning, match=message) as caught:
        assert len(list(knightadder.read_games(str(file)))) == 2
    assert caught[0].filename == __file__
    with pytest.raises(PositionError, match=message):
        list(knightadder.read_games(file, broken="raise"))
    with pytest.raises(ValueError, match="broken must be 'warn', 'raise' or 'ignore', not 'tell'"):
        knightadder.read_games(file, broken="tell")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"cannot read nothing\.pgn: No such file"):
        list(knightadder.read_games("nothing.pgn"))
    for progress in (False, True):
        with pytest.raises(OptionError, match=r"^cannot read x+"):
            list(knightadder.read_games("x" * 300, progress=progress))


def test_files_are_read_anew(games: knightadder.Games) -> None:
    assert len(list(games)) == len(list(games)) == 2


def test_arrays(random_games: tuple[Path, list[chess.pgn.Game]]) -> None:
    path, games = random_games
    arrays = knightadder.read_games([path, path], broken="ignore").to_arrays()
    number = 0
    for index, game in enumerate(games * 2):
        score = 0
        for ply, node in enumerate(game.mainline()):
            position = arrays.positions[number]
            assert knightadder.unpack_fens(arrays.positions[number : number + 1]) == [
                node.parent.board().fen(en_passant="legal")
            ]
            result = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}[game.headers["Result"]]
            assert (position["result"], position["score"]) == (result, score)
            code = int(arrays.moves[number])
            assert chess.Move(code & 63, code >> 6 & 63, code >> 12 or None) == node.move
            assert (arrays.games[number], arrays.plies[number]) == (index, ply)
            assert arrays.clocks[number] == pytest.approx(np.nan if node.clock() is None else node.clock(), nan_ok=True)
            found = node.eval()
            score = 0 if found is None else int(arrays.scores[number])
            if found is None:
                assert arrays.scores[number] == -32_768
            elif (mate := found.white().mate()) is None:
                assert score == found.white().score()
            else:
                # It is the mating side's turn or not: the plies to mate are odd or even.
                assert (32_000 - abs(score), score > 0) == (2 * abs(mate) - (node.turn() == (mate > 0)), mate > 0)
            number += 1
    assert number == len(arrays.positions) == len(arrays.games)


def test_arrays_of_nothing(tmp_path: Path) -> None:
    file = tmp_path / "empty.pgn"
    file.touch()
    games = knightadder.read_games(file)
    assert len(games.to_arrays().positions) == 0
    assert len(games.to_frame()) == len(games.to_frame("positions", fen=True)) == games.to_arrow().num_rows == 0
    assert "White" in games.to_frame() and "ply" in games.to_arrow("positions").column_names


WANTED_GAMES = {
    "game": [0, 1],
    "White": ["Müller", None],
    "WhiteElo": [2100, None],
    "plies": [4, 2],
    "moves": ["e2e4 e7e5 g1f3 b8c6", "e1g1 e8g8"],
    "clocks": [[180, 179.5, None, None], [None, None]],
    "scores": [[30, -32_000 + 6, None, None], [None, None]],
}
WANTED_POSITIONS = {
    "game": [0, 0, 0, 0, 1, 1],
    "ply": [0, 1, 2, 3, 0, 1],
    "WhiteElo": [2100] * 4 + [None] * 2,
    "move": ["e2e4", "e7e5", "g1f3", "b8c6", "e1g1", "e8g8"],
    "clock": [180, 179.5, None, None, None, None],
    "cp": [30, None, None, None, None, None],
    "mate": [None, -3, None, None, None, None],
}


def plain(value: Any) -> Any:
    """Give a value of a pandas table without NaN."""
    if isinstance(value, float) and np.isnan(value):
        return None
    return [plain(each) for each in value] if isinstance(value, list | np.ndarray) else value


def test_tables(games: knightadder.Games, tmp_path: Path) -> None:
    import pandas
    from pyarrow import parquet

    frame, table = games.to_frame(tags=["White", "WhiteElo"]), games.to_arrow(tags=["White", "WhiteElo"])
    assert {name: [plain(value) for value in frame[name]] for name in frame} == WANTED_GAMES
    assert table.to_pydict() == WANTED_GAMES
    assert [name for name in games.to_frame() if name[0].isupper()] == list(games.to_arrow().column_names[1:16])

    frame = games.to_frame("positions", tags=["WhiteElo"], fen=True)
    table = games.to_arrow("positions", tags=["WhiteElo"], fen=True)
    positions, arrays = table.to_pydict(), games.to_arrays()
    for found in ({name: [plain(value) for value in frame[name]] for name in frame}, positions):
        assert found.pop("fen") == knightadder.unpack_fens(arrays.positions)
        assert b"".join(found.pop("position")) == arrays.positions.tobytes()
        assert found == WANTED_POSITIONS

    for rows in ("games", "positions"):
        games.to_parquet(tmp_path / "games.parquet", rows)
        assert parquet.read_table(tmp_path / "games.parquet").equals(games.to_arrow(rows))
    assert len(pandas.read_parquet(tmp_path / "games.parquet")) == 6


def test_a_first_game_without_moves_of_both_sides_keeps_its_index(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text('[White "A"]\n\n1. -- e5 *\n\n[White "B"]\n\n1. e4 *\n', "utf-8")
    frame = knightadder.read_games(file).to_frame()
    assert frame[["game", "White", "plies"]].to_numpy().tolist() == [[0, "A", 0], [1, "B", 1]]


def test_tables_that_cannot_be_made(games: knightadder.Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="rows must be 'games' or 'positions', not 'moves'"):
        games.to_frame("moves")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fen is only for rows='positions'"):
        games.to_frame(fen=True)
    for tags in ("White", [1]):  # not a column for each letter
        with pytest.raises(TypeError, match="tags must be several names, not"):
            games.to_frame(tags=tags)  # type: ignore[arg-type]
    for rows, name in (("games", "plies"), ("positions", "game")):  # it would replace the tag, or the tag it
        with pytest.raises(ValueError, match=f"tags must not contain '{name}', because each table has a column"):
            games.to_arrow(rows, tags=["White", name])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"cannot write .*games\.parquet"):
        games.to_parquet(tmp_path / "no" / "games.parquet")
    for library in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
        monkeypatch.setitem(sys.modules, f"{library}.parquet", None)
    with pytest.raises(OptionError) as caught:
        games.to_frame()
    assert str(caught.value) == f"to_frame needs pandas: {install_command('notebook')}"
    with pytest.raises(OptionError) as caught:
        games.to_parquet(tmp_path / "games.parquet")
    assert str(caught.value) == f"to_parquet needs PyArrow: {install_command('parquet')}"


def test_what_is_no_path_is_refused(file: Path) -> None:
    with file.open() as opened:
        for files in (opened, None, 5, b"games.pgn"):
            with pytest.raises(TypeError, match=r"^files must be one path or several, not "):
                knightadder.read_games(files)  # type: ignore[arg-type]
    for name in (None, 5, b"games.pgn"):
        with pytest.raises(TypeError, match=rf"^files must be paths, not {name!r}$"):
            knightadder.read_games([file, name])  # type: ignore[list-item]


def test_progress_is_shown(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightadder.progress._LINE_SECONDS", 0)
    list(knightadder.read_games([file, file], broken="ignore", progress=True))
    lines = capsys.readouterr().err.splitlines()
    size = file.stat().st_size
    assert lines[-1].startswith(f"{2 * size} bytes/{2 * size} bytes  6 games")
