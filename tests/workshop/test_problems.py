"""Problems in EPD: what is read, what is refused, and what solves them."""

from pathlib import Path

import chess
import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.problems import parse_problem, read_problems, split_epd

DATA = Path(__file__).parents[1] / "data"
FREE_KING = "7k/8/8/8/8/8/6P1/K7 w - -"
MATE_IN_TWO = "k7/8/2K5/8/8/8/8/7R w - -"


def _moves(*names):
    return frozenset(chess.Move.from_uci(name) for name in names)


def test_what_is_left_out_of_a_position_is_told(tmp_path) -> None:
    file = tmp_path / "a.epd"
    file.write_text("4k3/8/8/8/8/8/8/R3K3 w KQkq - bm Ra8+;\n4k3/8/8/8/8/8/8/R3K3 w Q - bm Ra8+;\n")
    problems, complaints = read_problems(file)
    assert [problem.board.epd() for problem in problems] == ["4k3/8/8/8/8/8/8/R3K3 w Q -"] * 2
    assert complaints == [f"{file}, line 1: impossible castling rights Kkq left out"]


def test_best_moves_moves_to_avoid_and_the_name():
    problem = parse_problem(f'{FREE_KING} bm g4 Kb2; am g3; id "a; name";', "line 1")
    assert problem.name == "a; name"
    assert problem.board.fen() == "7k/8/8/8/8/8/6P1/K7 w - - 0 1"
    assert problem.best == _moves("g2g4", "a1b2")
    assert problem.avoid == _moves("g2g3")
    assert (problem.mate, problem.points, problem.maximum) == (None, {}, 0)
    assert problem.wanted == "Kb2 g4 not g3"


@pytest.mark.parametrize(
    "line",
    [
        f"{FREE_KING} bm g4",
        f"  {FREE_KING}   bm g4 ;",
        f"{FREE_KING} bm g2-g4!;",
        f"{FREE_KING} bm bm g4;",
        f"{FREE_KING} bm g4, g4; ce 35;",
        f"{FREE_KING} 0 1 bm g4;",
        f"{FREE_KING} 0 1; bm g4;",
        f'{FREE_KING} acd 12; bm g4; pv g4 Kg7 nonsense; c0 "f5=strong; a=b"; id "";',
    ],
)
def test_the_ways_to_write_a_best_move(line):
    problem = parse_problem(line, "line 7")
    assert (problem.name, problem.best, problem.avoid, problem.mate) == ("line 7", _moves("g2g4"), frozenset(), None)
    assert problem.points == {}


def test_the_counters_of_a_full_fen_are_kept():
    assert parse_problem(f"{FREE_KING} 12 40 bm g4;", "").board.fen().endswith(" 12 40")


@pytest.mark.parametrize(
    ("line", "fen", "rest"),
    [
        (f"{FREE_KING} bm g4;", f"{FREE_KING} 0 1", " bm g4;"),
        (f"  {FREE_KING} 12 40; bm g4;", f"{FREE_KING} 12 40", "; bm g4;"),
        (f"{FREE_KING} 12 40", f"{FREE_KING} 12 40", ""),
        (f"{FREE_KING} 12 40x", f"{FREE_KING} 0 1", " 12 40x"),
    ],
)
def test_a_line_is_a_position_and_operations(line, fen, rest):
    assert split_epd(line) == (fen, rest)


@pytest.mark.parametrize(
    ("rest", "counters"),
    [
        ("hmvc 12; fmvn 40; bm g4;", "12 40"),
        ("bm g4; fmvn 40;", "0 40"),
        ("bm g4; hmvc 12", "12 1"),
        ("3 5 hmvc 12; fmvn 40; bm g4;", "3 5"),  # a full FEN says it first
        ('bm g4; hmvc x; fmvn ""; id "hmvc 7;";', "0 1"),
    ],
)
def test_counters_as_operations(rest, counters):
    assert split_epd(f"{FREE_KING} {rest}")[0] == f"{FREE_KING} {counters}"
    assert parse_problem(f"{FREE_KING} {rest}", "").board.fen() == f"{FREE_KING} {counters}"


def test_tabs_separate_fields():
    line = f'{FREE_KING} bm g4; id "a name"; hmvc 12; fmvn 40;'
    tabs = parse_problem(line.replace("a name", "a_name").replace(" ", "\t"), "")
    spaces = parse_problem(line.replace("a name", "a_name"), "")
    assert (tabs.board.fen(), tabs.name, tabs.best) == (spaces.board.fen(), "a_name", spaces.best)
    assert tabs.board.fen().endswith(" 12 40")


def test_impossible_castling_rights_and_en_passant_squares_are_left_out():
    problem = parse_problem("4k3/8/8/8/8/8/8/R3K3 w KQkq e6 bm O-O-O;", "")
    assert problem.board.fen() == "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"
    assert problem.best == _moves("e1c1")


def test_points_as_moves_and_values():
    problem = parse_problem(f'{FREE_KING} bm g4; c8 "100 40 3"; c9 "g2g4 g2g3 a1b2";', "")
    assert problem.points == {chess.Move.from_uci("g2g4"): 100, chess.Move.from_uci("g2g3"): 40, _b2(): 3}
    assert problem.maximum == 100


@pytest.mark.parametrize("text", ["g4=10, g3=4, Kb2=3", "g4=10 g3=4 Kb2=3,"])
def test_points_as_a_comment(text):
    problem = parse_problem(f'{FREE_KING} bm g4; c0 "{text}";', "")
    assert {problem.board.san(move): value for move, value in problem.points.items()} == {"g4": 10, "g3": 4, "Kb2": 3}


def test_points_for_a_promotion():
    problem = parse_problem('7k/P7/8/8/8/8/8/K7 w - - c0 "a8=Q+=10, a8=R+=9, Kb2=1";', "")
    assert {problem.board.san(move): value for move, value in problem.points.items()} == {
        "a8=Q+": 10,
        "a8=R+": 9,
        "Kb2": 1,
    }
    assert problem.best == _moves("a7a8q")


@pytest.mark.parametrize("operation", ["dm 3;", "ce +M3;", "ce M3", "bm Rh7; ce +M3;"])
def test_a_forced_mate(operation):
    assert parse_problem(f"{MATE_IN_TWO} {operation}", "").mate == 3


def test_castling_of_chess960():
    line = "1k6/8/8/8/8/8/8/1KR5 w C - bm O-O;"
    with pytest.raises(ValueError, match="illegal san"):
        parse_problem(line, "")
    assert parse_problem(line, "", chess960=True).best == _moves("b1c1")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "not a position"),
        ("8/8/8/8 w - - bm e4;", "expected 8 rows"),
        ("8/8/8/8/8/8/8/8 w - - bm e4;", "not playable"),
        ("7k/8/8/8/8/8/6P1/8 w - - bm g4;", "not playable"),
        ("7k/7Q/8/8/8/8/8/K7 w - - bm Qg7;", "not playable"),
        (f"{FREE_KING}", "no solution"),
        (f"{FREE_KING} bm ; ce 30; id g4;", "no solution"),
        (f"{FREE_KING} dm 0;", "no solution"),
        (f"{FREE_KING} bm Qg4;", "illegal san"),
        (f"{FREE_KING} am g5;", "illegal san"),
        (f'{FREE_KING} bm g4; c8 "1 2"; c9 "g2g4";', "c8 and c9"),
        (f'{FREE_KING} bm g4; c8 "1"; c9 "g2g5";', "c8 and c9"),
        (f'{FREE_KING} bm g4; c8 "x"; c9 "g2g4";', "c8 and c9"),
        (f'{FREE_KING} bm g4; c0 "g5=4";', "illegal san"),
        (f'{FREE_KING} bm g4; c0 "g4={"9" * 5000}";', "too large"),
        (f"{FREE_KING} dm {'9' * 5000};", "no solution"),
    ],
)
def test_a_bad_line_is_refused_with_a_reason(line, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        parse_problem(line, "")
    assert "\n" not in str(caught.value)


def test_other_engines_solve_positions_that_this_one_refuses():
    line = "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - bm e4;"
    assert parse_problem(line, "").best == _moves("e2e4")
    with pytest.raises(ValueError, match="more pieces than promotions allow"):
        parse_problem(line, "", own_engine=True)


# --- judging answers -----------------------------------------------------------------------------------------------


def _b2():
    return chess.Move.from_uci("a1b2")


@pytest.mark.parametrize(
    ("operations", "solving"),
    [
        ("bm g4 g3;", {"g4", "g3"}),
        ("am g4 g3;", {"Kb2", "Kb1", "Ka2"}),
        ("bm g4 g3; am g3;", {"g4"}),
        ("dm 2;", set()),
    ],
)
def test_the_moves_that_solve(operations, solving):
    problem = parse_problem(f"{FREE_KING} {operations}", "")
    board = problem.board
    assert {board.san(move) for move in board.legal_moves if problem.solved_by(move)} == solving
    assert not problem.solved_by(None)


@pytest.mark.parametrize(
    ("announced", "solved"), [(1, True), (2, True), (3, False), (0, False), (-1, False), (None, False)]
)
def test_a_mate_announced_in_time_solves_whatever_the_move(announced, solved):
    for operations in ("dm 2;", "bm Rh7; dm 2;"):
        assert (
            parse_problem(f"{MATE_IN_TWO} {operations}", "").solved_by(chess.Move.from_uci("h1h2"), announced) is solved
        )
    without = parse_problem(f"{MATE_IN_TWO} bm Rh7;", "")
    assert not without.solved_by(chess.Move.from_uci("h1h2"), announced)


# --- files ---------------------------------------------------------------------------------------------------------


def test_a_file_with_bad_lines(tmp_path):
    file = tmp_path / "suite.epd"
    text = f"\ufeff# a comment\n\n{FREE_KING} bm g4;\n{FREE_KING} bm g5;\n  \n{FREE_KING} am g4;\n"
    file.write_text(text, encoding="utf-8")
    problems, complaints = read_problems(file)
    assert [problem.name for problem in problems] == ["line 3", "line 6"]
    assert len(complaints) == 1
    assert complaints[0].startswith(f"{file}, line 4: illegal san: 'g5'")


def test_a_file_in_another_encoding_is_read(tmp_path):
    file = tmp_path / "suite.epd"
    file.write_bytes(f'{FREE_KING} bm g4; id "Gr\xfcnfeld";'.encode("latin-1"))
    problems, complaints = read_problems(file)
    assert (len(problems), complaints) == (1, [])


def test_a_missing_file(tmp_path):
    with pytest.raises(OptionError, match=r"^cannot read .*nothing\.epd: "):
        read_problems(tmp_path / "nothing.epd")


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_the_mate_suites_are_read_as_python_chess_reads_them(moves):
    file = DATA / f"mate-in-{moves}.epd"
    problems, complaints = read_problems(file)
    lines = file.read_text("utf-8").splitlines()
    assert complaints == []
    assert len(problems) == len(lines) == 30
    for problem, line in zip(problems, lines, strict=True):
        # python-chess takes only numbers after `ce`.
        board, operations = chess.Board.from_epd(line.partition(" ce ")[0])
        assert (problem.board, problem.best, problem.mate) == (board, frozenset(operations["bm"]), moves)
