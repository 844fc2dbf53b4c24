"""Files of puzzles: written, and read again by this program and by others."""

import csv
import io

import chess
import chess.pgn
import pytest

from knightadder.puzzles.output import COLUMNS, text_of
from knightadder.puzzles.puzzle import Puzzle, Solution
from knightadder.puzzles.reading import read_puzzles
from knightadder.workshop.problems import parse_problem

FORK = Solution(
    "2q1k3/8/8/5N2/8/8/6PP/7K w - - 1 2",
    tuple(map(chess.Move.from_uci, ("f5d6", "e8d7", "d6c8"))),
    "1q2k3/8/8/5N2/8/8/6PP/7K b - - 0 1",
    chess.Move.from_uci("b8c8"),
)
PUZZLES = [
    Puzzle(
        FORK,
        FORK.id,
        ("advantage", "fork", "short"),
        1450,
        "games.pgn?game=7/black#2",
        ("Slav_Defense", "Slav_Defense_Other_variations"),
    ),
    Puzzle(
        Solution(
            "6k1/5ppp/8/8/8/1r6/5PPP/3R2K1 w - - 1 2",
            (chess.Move.from_uci("d1d8"),),
            "6k1/5ppp/8/8/8/r7/5PPP/3R2K1 b - - 0 1",
            chess.Move.from_uci("a3b3"),
        ),
        "mate",
        ("mate", "mateIn1"),
        1200,
        "https://lichess.org/abcdefgh/black#2",
    ),
]


def _read(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    puzzles, complaints = read_puzzles(file)
    return puzzles, [complaint.removeprefix(f"{file}, ") for complaint in complaints]


def _facts(puzzle):
    return puzzle.id, puzzle.solution.fen, puzzle.solution.moves, puzzle.themes, puzzle.rating


@pytest.mark.parametrize("suffix", [".csv", ".pgn", ".epd"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    puzzles, complaints = _read(tmp_path, f"puzzles{suffix}", text_of(PUZZLES, suffix))
    assert complaints == []
    if suffix == ".epd":  # without counters and without the game
        assert [puzzle.solution.board().epd() for puzzle in puzzles] == [
            puzzle.solution.board().epd() for puzzle in PUZZLES
        ]
        assert [_facts(puzzle)[2:] for puzzle in puzzles] == [_facts(puzzle)[2:] for puzzle in PUZZLES]
        return
    assert list(map(_facts, puzzles)) == list(map(_facts, PUZZLES))
    assert [(puzzle.game, puzzle.openings) for puzzle in puzzles] == [
        (puzzle.game, puzzle.openings) for puzzle in PUZZLES
    ]
    assert suffix == ".pgn" or puzzles == PUZZLES


def test_whole_games_are_no_puzzles(tmp_path):
    games = '[Result "1-0"]\n\n1. e4 e5 1-0\n\n' * 3
    puzzles, complaints = _read(tmp_path, "games.pgn", games + text_of(PUZZLES, ".pgn"))
    assert list(map(_facts, puzzles)) == list(map(_facts, PUZZLES))
    command = f"knightadder puzzles {tmp_path / 'games.pgn'}"
    assert complaints == [f"line 1: 3 whole games left out: `{command}` finds puzzles"]


def test_csv_has_the_columns_of_lichess():
    header, first, _ = csv.reader(io.StringIO(text_of(PUZZLES, ".csv")))
    assert tuple(header) == COLUMNS
    assert COLUMNS[:3] == ("PuzzleId", "FEN", "Moves") and len(COLUMNS) == 10
    row = dict(zip(header, first, strict=True))
    assert row["FEN"] == FORK.previous_fen
    assert row["Moves"] == "b8c8 f5d6 e8d7 d6c8"
    assert row["Themes"] == "advantage fork short"


def test_a_line_of_lichess_is_read(tmp_path):
    # From https://database.lichess.org/#puzzles
    text = (
        f"{','.join(COLUMNS)}\n00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,"
        "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1798,76,95,8200,crushing hangingPiece long middlegame,"
        "https://lichess.org/787zsVup/black#48,\n"
    )
    (puzzle,), complaints = _read(tmp_path, "lichess.CSV", text)
    assert not complaints
    assert puzzle.solution.previous.uci() == "f2g3"
    assert puzzle.solution.board().turn == chess.WHITE
    assert [move.uci() for _, move in puzzle.solution.steps()] == ["e6e7", "b3c1", "h6c1"]
    assert (puzzle.id, puzzle.rating) == ("00008", 1798)


def test_epd_is_a_suite():
    problem = parse_problem(text_of(PUZZLES, ".epd").splitlines()[0], "line 1")
    assert (problem.name, problem.wanted) == (FORK.id, "Nd6+")


def test_pgn_is_read_by_python_chess():
    game = chess.pgn.read_game(io.StringIO(text_of(PUZZLES, ".pgn")))
    assert not game.errors
    assert game.board().fen() == FORK.fen
    assert tuple(game.mainline_moves()) == FORK.moves
    assert game.headers["Themes"] == "advantage fork short"


@pytest.mark.parametrize("suffix", [".csv", ".pgn", ".epd"])
@pytest.mark.parametrize(("rook", "castling"), [("1R2K3", "e1b1"), ("R4K2", "f1a1")])
def test_a_puzzle_of_chess960_keeps_its_castling(tmp_path, suffix, rook, castling):
    before = chess.Board(f"2k5/8/8/8/8/8/8/{rook} b Q - 0 1", chess960=True)
    after = before.copy()
    after.push_uci("c8d8")
    moves = [chess.Move.from_uci(castling)]
    solution = Solution.of(after, moves, before.fen(), chess.Move.from_uci("c8d8"))
    (puzzle,), complaints = _read(tmp_path, f"puzzles{suffix}", text_of([Puzzle(solution, "a")], suffix))
    assert complaints == []
    assert puzzle.solution.moves == solution.moves
    assert puzzle.solution.board().epd() == after.epd()
    assert puzzle.solution.chess960


def test_both_ways_to_write_castling_are_the_same_puzzle(tmp_path):
    fen = "r3k3/8/8/8/8/8/8/4K2R b Kq - 0 1"
    rows = "".join(f",{fen},{moves}\n" for moves in ("e8c8 e1g1", "e8a8 e1h1"))
    (first, second), complaints = _read(tmp_path, "p.csv", f"PuzzleId,FEN,Moves\n{rows}")
    assert (first, complaints) == (second, [])
    assert [move.uci() for move in (first.solution.previous, *first.solution.moves)] == ["e8c8", "e1g1"]


@pytest.mark.parametrize("rating", ["", "-", "-5", "9" * 5000])
def test_a_rating_that_is_no_number_is_left_out(tmp_path, rating):
    for name, text in (
        ("p.csv", f"PuzzleId,FEN,Moves,Rating\na,{chess.STARTING_FEN},e2e4 e7e5,{rating}\n"),
        ("p.epd", f'{FORK.board().epd()} bm Nd6+; c1 "Elo {rating}";\n'),
        ("p.pgn", f'[FEN "{FORK.fen}"]\n[Rating "{rating}"]\n\n1. Nd6+ *\n'),
    ):
        (puzzle,), _ = _read(tmp_path, name, text)
        assert puzzle.rating is None


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("p.csv", "PuzzleId,FEN\na,8/8/8/8/8/8/8/8 w - - 0 1\n", "line 2: illegal position: White has 0 kings"),
        ("p.csv", f"PuzzleId,FEN\na,{FORK.fen}\n", "line 2: there is no column 'Moves'"),
        ("p.csv", f"PuzzleId,FEN,Moves\na,{FORK.fen},f5d6\n", "line 2: expected the opponent's move and a solution"),
        ("p.csv", f"PuzzleId,FEN,Moves\na,{FORK.fen},f5d6 e8e6 d6c8\n", "line 2: illegal move e8e6"),
        ("p.csv", f"PuzzleId,FEN,Moves\na,{FORK.fen}\n", "line 2: expected the opponent's move"),
        ("p.csv", f"PuzzleId,FEN,Moves\na,{FORK.fen},0000 e8d7\n", "line 2: illegal move 0000"),
        ("p.csv", f"PuzzleId,FEN,Moves\na,{FORK.fen},f5d6 0000\n", "line 2: illegal move 0000"),
        ("p.epd", f"{FORK.board().epd()} pv @@@@;\n", "line 1: illegal move 0000"),
        ("p.pgn", f'[FEN "{FORK.fen}"]\n\n1. -- *\n', "line 1: illegal move 0000"),
        ("p.csv", "PuzzleId,FEN,Moves\na\n", "line 2: illegal position: a FEN must have 4 to 6 fields, not 0"),
        ("p.epd", f'{FORK.board().epd()} id "x";\n', "line 1: there is no solution: neither pv nor bm"),
        ("p.epd", "nothing\n", "line 1: "),
        ("p.pgn", f'[FEN "{FORK.fen}"]\n\n1. Nd7 *\n', "line 1: illegal san"),
    ],
)
def test_what_is_no_puzzle_is_told(tmp_path, name, text, complaint):
    puzzles, (found,) = _read(tmp_path, name, text)
    assert puzzles == []
    assert found.startswith(complaint)
