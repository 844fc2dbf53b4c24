"""The subcommand `drills`: repertoires, and where games leave them."""

import io
import sys
from pathlib import Path

import chess
import pytest
from game_texts import after

from knightadder import cli
from knightadder.drills.box import Choice, DrillBox
from knightadder.drills.drill import Drill
from knightadder.drills.repertoire import read_repertoire

REPERTOIRE = """[Event "my white repertoire"]

1. e4 {the best move [%cal Ge2e4]} e5 (1... c5 2. Nf3 (2. Nc3) 2... d6 3. d4) 2. Nf3 (2. Qh5 $2 Nc6 3. Bc4)
2... Nc6 3. Bb5 *

[Event "a transposition"]

1. Nf3 (1. Nf3 d5) e5 2. e4 *

[Event "broken"]

1. e4 e5 2. Ke3 *
"""
GAMES = """[White "Anna"]
[Black "Bert"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1-0

[White "ANNA"]
[Black "Carl"]
[Result "1/2-1/2"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 1/2-1/2

[White "Anna"]
[Black "Carl"]
[Result "0-1"]

1. e4 c6 2. d4 d5 0-1

[White "Anna"]
[Black "Carl"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0

[White "Anna"]
[Black "Dora"]
[Result "1-0"]

1. e4 Nc6 2. Nf3 e5 3. Bb5 1-0

[White "Bert"]
[Black "Anna"]
[Result "1-0"]

1. e4 c6 1-0
"""


@pytest.fixture
def drills(tmp_path, monkeypatch):
    """Give the function that runs the command in a new folder, with its file of drills."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "white.pgn").write_text(REPERTOIRE, "utf-8")
    (tmp_path / "games.pgn").write_text(GAMES, "utf-8")
    return lambda *arguments: cli.main(["drills", *arguments, "--drills-file", "drills.sqlite"])


def test_a_repertoire_with_variations_becomes_drills(drills, tmp_path, capsys):
    assert drills("repertoire", "white.pgn", "--side", "white") == 0
    said = capsys.readouterr()
    assert "drills.sqlite: the repertoire of White has 6 positions, 6 of them new" in said.out
    assert "white.pgn, game 3, line 10, is left out: illegal san: 'Ke3'" in said.err
    box = DrillBox(tmp_path / "drills.sqlite")
    expected = {"": "e4 Nf3", "e4 e5": "Nf3", "e4 c5": "Nf3 Nc3", "e4 c5 Nf3 d6": "d4", "e4 e5 Nf3 Nc6": "Bb5"}
    # After 1. Nf3 e5, the repertoire has 2. e4.
    expected |= {"Nf3 e5": "e4"}
    found = box.repertoires()[True]
    for line, moves in expected.items():
        board = after(line)
        key = board.fen().rsplit(" ", 2)[0]
        assert found.pop(key) == tuple(board.parse_san(move).uci() for move in moves.split()), line
    assert found == {}
    first = box.next(Choice(kind="repertoire")).drill
    assert (first.comment, first.good[0]) == ("the best move", ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5"))


def test_a_repertoire_comes_from_standard_input(drills, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(REPERTOIRE.encode())))
    assert drills("repertoire", "-", "--side", "white") == 0
    said = capsys.readouterr()
    assert "the repertoire of White has 6 positions, 6 of them new" in said.out
    assert "standard input, game 3, line 10, is left out: illegal san: 'Ke3'" in said.err


def test_the_first_comment_on_a_move_may_stand_in_a_later_game(tmp_path):
    file = tmp_path / "study.pgn"
    games = ("1. e4 e5 2. Nf3 *", "1. e4 {the best} e5 2. Nc3 {slower} *", "1. e4 {later} e5 2. Nf3 {faster} *")
    file.write_text("\n\n".join(games), "utf-8")
    first, second = read_repertoire([(file.name, file)], white=True)
    assert first.comment == "the best"
    assert second.good == (("g1f3",), ("b1c3",))
    assert second.comment == "faster"  # the one on the move that is shown


def test_a_comment_may_stand_at_a_move_that_is_there_twice(tmp_path):
    file = tmp_path / "study.pgn"
    file.write_text("1. e4 (1. d4 {not shown}) (1. e4 {the best} e5) 1... c5 *", "utf-8")
    [drill] = read_repertoire([(file.name, file)], white=True)
    assert (drill.good, drill.comment) == ((("e2e4",), ("d2d4",)), "the best")


def test_a_position_without_an_opening_is_named_by_its_start(tmp_path):
    file = tmp_path / "study.pgn"
    file.write_text('1. e4 *\n\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 2. e5 *\n', "utf-8")
    named = [drill.opening for drill in read_repertoire([(file.name, file)], white=True)]
    assert named == ["Start position", "From a set-up position", "From a set-up position"]


def test_a_shown_line_is_short_and_ends_with_a_move_of_the_side(tmp_path):
    file = tmp_path / "study.pgn"
    file.write_text("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O *\n\n1. d4 d5 *\n\n1. c4 -- 2. g3 *\n", "utf-8")
    first, *others = read_repertoire([(file.name, file)], white=True)
    assert [" ".join(line) for line in first.good] == ["e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4", "d2d4", "c2c4"]
    assert [len(drill.before.split()) for drill in others] == [3, 6, 9, 12]  # no position after a null move
    first, *_ = read_repertoire([(file.name, file)], white=False)
    assert [" ".join(line) for line in first.good] == ["e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"]


def test_moves_before_a_drill_are_numbered_from_its_first_position(tmp_path):
    file = tmp_path / "study.pgn"
    file.write_text('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 9"]\n\n9... Kd7 10. e4 Kd6 11. e5+ *\n', "utf-8")
    found = read_repertoire([(file.name, file)], white=True)
    assert [drill.before for drill in found] == ["9...Kd7", "9...Kd7 10. e4 Kd6"]


def test_a_deep_repertoire_is_not_replayed_from_the_start_for_each_position(tmp_path, monkeypatch):
    pushed = 0
    push = chess.Board.push

    def count(board, move):
        nonlocal pushed
        pushed += 1
        push(board, move)

    monkeypatch.setattr(chess.Board, "push", count)
    counts = []
    for rounds in (25, 50):
        file = tmp_path / f"{rounds}.pgn"
        file.write_text(f"{'Nf3 Nf6 Ng1 Ng8 ' * rounds} *\n", "utf-8")
        assert [drill.before for drill in read_repertoire([(file.name, file)], white=True)] == ["", "1. Nf3 Nf6"]
        counts.append(pushed)
        pushed = 0
    assert counts[1] < 2.5 * counts[0]


def test_where_games_left_the_repertoire(drills, capsys):
    assert drills("left", "games.pgn", "--player", "Anna") == 2
    assert (
        "there is no repertoire in drills.sqlite: `knightadder drills repertoire` adds one" in capsys.readouterr().err
    )
    assert not Path("drills.sqlite").exists()
    drills("repertoire", "white.pgn", "--side", "white")
    capsys.readouterr()
    assert drills("left", "games.pgn", "games.pgn", "--player", "Anna") == 0  # a copy of a game does not count
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    # 1. e4 Nc6 2. Nf3 e5 transposes to the repertoire.
    assert ["2", "75 %", "1. e4 e5 2. Nf3 Nc6", "Bc4 (2)", "Bb5"] in lines
    assert ["1", "0 %", "1. e4", "c6"] in lines
    assert len([line for line in lines if line]) == 2


def test_a_first_move_of_the_opponents_without_an_answer(drills, tmp_path, capsys):
    (tmp_path / "black.pgn").write_text("1. e4 c5 (1... c6) *", "utf-8")
    drills("repertoire", "black.pgn", "--side", "black")
    texts = ("1. d4 d5 2. c4 e6 3. Nc3 0-1", "1. d4 Nf6 1-0", "1. e4 c6 1-0", "1. e4 e5 0-1")
    elsewhere = '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 2. e5 1-0'
    games = [*(f"\n{text}" for text in texts), elsewhere]
    (tmp_path / "games.pgn").write_text("".join(f'[Black "Anna"]\n{game}\n\n' for game in games), "utf-8")
    capsys.readouterr()
    assert drills("left", "games.pgn", "--player", "Anna") == 0
    out = capsys.readouterr().out
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    assert "4 games of Anna reached a repertoire." in out
    assert ["1", "100 %", "1. e4", "e5", "c5, c6"] in lines
    assert ["2", "50 %", "the start", "d4 (2)"] in lines


def test_what_there_is_to_train(drills, capsys):
    assert drills("list") == 0
    assert "There are no drills in drills.sqlite." in capsys.readouterr().out
    assert not Path("drills.sqlite").exists()
    drills("repertoire", "white.pgn", "--side", "white")
    capsys.readouterr()
    mistakes = [
        Drill("mistake", after(line).fen(), (("b1c3",),), theme, opening)
        for line, theme, opening in (
            ("e4 c5", "Hung a piece", "Sicilian Defense"),
            ("e4 c5 a3 a6", "Allowed a fork", "Sicilian Defense"),
            ("d4 d5", "Allowed a fork", "Queen's Pawn Game"),
        )
    ]
    DrillBox(Path("drills.sqlite")).add(mistakes)

    def rows(*options):
        assert drills("list", *options) == 0
        first, *lines = capsys.readouterr().out.splitlines()
        assert first == "9 drills: 0 due, 9 new"
        return [tuple(cell.strip() for cell in line.split("│")[1:-1]) for line in lines if "│" in line]

    assert rows() == [("Mistake", "White", "3", "0", "3"), ("Repertoire", "White", "6", "0", "6")]
    assert rows("--themes") == [
        ("Mistake", "White", "Allowed a fork", "2", "0", "2"),
        ("Mistake", "White", "Hung a piece", "1", "0", "1"),
        ("Repertoire", "White", "Repertoire", "6", "0", "6"),
    ]
    assert rows("--openings")[:2] == [
        ("Mistake", "White", "Sicilian Defense", "2", "0", "2"),
        ("Mistake", "White", "Queen's Pawn Game", "1", "0", "1"),
    ]
    assert rows("--themes", "--openings")[0] == (
        "Mistake",
        "White",
        "Allowed a fork",
        "Queen's Pawn Game",
        "1",
        "0",
        "1",
    )


def test_what_cannot_be_done_is_a_line(drills, tmp_path, capsys):
    assert drills("repertoire", "games.pgn", "nothing.pgn", "--side", "black") == 2
    assert "cannot read nothing.pgn" in capsys.readouterr().err
    (tmp_path / "empty.pgn").touch()
    assert drills("repertoire", "empty.pgn", "--side", "black") == 2
    assert "there is no move of Black in empty.pgn" in capsys.readouterr().err
    assert drills("repertoire", "games.pgn", "--side", "white") == 0
    capsys.readouterr()
    assert drills("left", "games.pgn", "--player", "Emil") == 2
    assert "game of Emil in games.pgn; most games are of Anna; Carl; Bert; Dora\n" in capsys.readouterr().err
    (tmp_path / "drills.sqlite").write_text("mine")
    assert drills("list") == 2
    assert "cannot use the drills in drills.sqlite" in capsys.readouterr().err
    assert (tmp_path / "drills.sqlite").read_text() == "mine"
