"""What results look like: one short line of text, and a board with a table in Jupyter."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import chess
import chess.engine
import pytest
from chess.engine import Cp, Limit, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound, Info, Score
from knightadder.library.arrays import evaluate_many
from knightadder.library.board_engine import Engine
from knightadder.library.frames import to_frame
from knightadder.library.positions import evaluate
from knightadder.library.results import Analysis, Line, PlayResult, line_of
from knightadder.library.scores import score_text

PV = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7", "f1e1", "b7b5"]
SVG = "{http://www.w3.org/2000/svg}"


def line(*moves: str, rank: int = 1, fen: str = chess.STARTING_FEN, score: Cp | Mate = Cp(35)) -> Line:  # noqa: B008
    turn = chess.Board(fen).turn
    pv = tuple(map(chess.Move.from_uci, moves))
    wdl = PovWdl(Wdl(0, 1000, 0), turn)
    return Line(rank, 12, 20, PovScore(score, turn), Bound.EXACT, wdl, 1, 1, 0, 0, 0.0, pv, fen)


ANALYSIS = Analysis((line(*PV), line("d2d4", rank=2, score=Cp(20))), chess.Move.from_uci("e2e4"), None)
MATED = line(fen="rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", score=Mate(-0))
TO_MATE = line("h8g8", fen="7k/8/6K1/8/8/8/8/Q7 b - - 0 1", score=Mate(-1))
CASTLING = line("f1h1", fen="4k3/8/8/8/8/8/8/5K1R w K - 0 1")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (line("e2e4", "e7e5"), "<Line 1: +0.35, depth 12, 1. e4 e5>"),
        (line(*PV), "<Line 1: +0.35, depth 12, 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 …>"),
        (TO_MATE, "<Line 1: #1, depth 12, 1...Kg8>"),
        (MATED, "<Line 1: #, depth 12, no move>"),
        (ANALYSIS, "<Analysis: e4, +0.35, depth 12, 2 lines>"),
        (Analysis((MATED,), None, None), "<Analysis: no move, #, depth 12, 1 line>"),
        (Analysis((), None, None), "<Analysis: no line>"),
        (PlayResult(chess.Move.from_uci("e2e4"), None, line(*PV)), "<PlayResult: e4, +0.35, depth 12>"),
    ],
)
def test_results_are_one_short_line(result: object, text: str) -> None:
    assert repr(result) == text


def test_a_line_has_the_seconds_and_the_side_of_the_report() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K3 b - - 0 1"
    info = Info(5, 7, 1, Score(cp=-480), Bound.EXACT, (0, 20, 980), 900, 600, 0, 0, 1500, ("e8d7",))
    told = line_of(info, fen)
    assert (told.time, told.score, told.wdl) == (1.5, PovScore(Cp(-480), False), PovWdl(Wdl(0, 20, 980), False))
    ended = replace(info, wdl=None, pv=())  # the engine gives no chances if the game is over
    assert line_of(replace(ended, score=Score(mate=0)), fen).wdl == PovWdl(Wdl(0, 0, 1000), False)
    assert line_of(replace(ended, score=Score(cp=0)), fen).wdl == PovWdl(Wdl(0, 1000, 0), False)


def test_an_evaluation_is_one_short_line() -> None:
    value = evaluate(chess.Board(), "classical")
    assert repr(value) == f"<Evaluation: {value.centipawns / 100:+.2f}, classical, {chess.STARTING_FEN}>"


def test_scores_are_from_whites_view() -> None:
    scores = PovScore(Cp(-35), chess.BLACK), PovScore(Cp(0), chess.BLACK), PovScore(Mate(3), chess.BLACK)
    assert [score_text(score) for score in scores] == ["+0.35", "+0.00", "#-3"]


@pytest.mark.parametrize(
    ("result", "rows"),
    [
        (
            ANALYSIS,
            [
                ["+0.35", "depth 12", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 …"],
                ["+0.20", "depth 12", "1. d4"],
            ],
        ),
        (line("e2e4"), [["+0.35", "depth 12", "1. e4"]]),
        (PlayResult(chess.Move.from_uci("h8g8"), None, TO_MATE), [["#1", "depth 12", "1...Kg8"]]),
        (CASTLING, [["+0.35", "depth 12", "1. O-O"]]),
        (MATED, [["#", "depth 12", ""]]),
    ],
)
def test_jupyter_shows_the_board_beside_the_lines(result: Analysis | Line | PlayResult, rows: list[list[str]]) -> None:
    html = ElementTree.fromstring(result._repr_html_())
    texts = [["".join(cell.itertext()) for cell in row.iter("td")] for row in html.iter("tr")]
    assert [[text.replace("\N{NO-BREAK SPACE}", " ") for text in row] for row in texts] == rows
    [svg] = html.iter(f"{SVG}svg")
    best = result.best if isinstance(result, Analysis) else result if isinstance(result, Line) else result.line
    board = chess.Board(best.fen)
    pieces = [use for use in svg.iter(f"{SVG}use") if re.search("white|black", str(use.attrib))]
    assert len(pieces) == len(board.piece_map())
    arrows = [shape for shape in svg.iter() if "arrow" in shape.get("class", "")]
    moves = [each.move for each in (result.lines if isinstance(result, Analysis) else [best]) if each.move]
    assert len(arrows) == 2 * len(moves)  # shaft and head
    colours = [shape.get("fill") for shape in arrows if shape.tag.endswith("polygon")]
    assert colours == ["#003088"] * (len(moves) - 1) + ["#15781B"] * bool(moves)  # blue, and green for the best


@pytest.mark.parametrize(("wdl", "percent"), [(Wdl(1000, 0, 0), 100), (Wdl(0, 1000, 0), 50), (Wdl(100, 200, 700), 20)])
@pytest.mark.parametrize("turn", chess.COLORS)
def test_the_bar_shows_whites_chances(wdl: Wdl, percent: int, turn: chess.Color) -> None:
    position = chess.STARTING_FEN if turn else chess.STARTING_FEN.replace(" w ", " b ")
    html = replace(line(fen=position), wdl=PovWdl(wdl, turn))._repr_html_()
    white = percent if turn else 100 - percent
    assert f"White: {white} %" in html and f"#f4f4f0 {white}%, #404040 {white}%" in html


def test_moves_are_written_up_to_an_illegal_one() -> None:
    assert line("e2e4", "e7e5").san == "1. e4 e5"
    assert line("e2e4", "e2e4", "g1f3").san == "1. e4"
    assert CASTLING.san == "1. O-O" and MATED.san == ""


def test_a_line_is_plain_values_from_whites_view() -> None:
    plain = line(*PV[:3]).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {
        "fen": chess.STARTING_FEN, "rank": 1, "depth": 12, "seldepth": 20, "score": "+0.35", "cp": 35, "mate": None,
        "bound": "exact", "wins": 0, "draws": 1000, "losses": 0, "nodes": 1, "nps": 1, "hashfull": 0, "tbhits": 0,
        "time": 0.0, "move": "e2e4", "pv": "e2e4 e7e5 g1f3", "san": "1. e4 e5 2. Nf3",
    }  # fmt: skip
    black = replace(
        line("e7e5", fen=chess.STARTING_FEN.replace(" w ", " b ")), bound=Bound.LOWER, wdl=PovWdl(Wdl(1, 2, 997), False)
    ).to_dict()
    wanted = {"score": "-0.35", "cp": -35, "mate": None, "bound": "upper", "wins": 997, "draws": 2, "losses": 1}
    assert wanted.items() <= black.items()
    assert {"score": "#1", "cp": None, "mate": 1}.items() <= TO_MATE.to_dict().items()
    assert {"score": "#", "mate": 0, "move": None, "pv": "", "san": ""}.items() <= MATED.to_dict().items()


def test_an_analysis_and_a_move_are_plain_values() -> None:
    assert ANALYSIS.to_dict() == {
        "fen": chess.STARTING_FEN,
        "best_move": "e2e4",
        "ponder": None,
        "lines": [each.to_dict() for each in ANALYSIS.lines],
    }
    played = PlayResult(chess.Move.from_uci("e2e4"), chess.Move.from_uci("e7e5"), line(*PV)).to_dict()
    assert played == {**line(*PV).to_dict(), "move": "e2e4", "ponder": "e7e5"}
    without_lines = Analysis((), None, None)  # as `analyse_many` may give for an illegal position
    assert without_lines.to_dict() == {"fen": None, "best_move": None, "ponder": None, "lines": []}
    assert without_lines._repr_html_() is None


def test_lines_are_infos_of_python_chess() -> None:
    with Engine() as engine:
        analysis = engine.analyse("startpos", Limit(depth=3), multipv=2)
    with chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "knightadder"], timeout=200) as uci:
        theirs = uci.analyse(chess.Board(), Limit(depth=3), multipv=2)
    ours = analysis.to_info()
    assert len(ours) == len(theirs) == 2
    for mine, other in zip(ours, theirs, strict=True):
        timed = {"time", "nps", "wdl", "string"}  # the engine gives no chances over UCI unless it is told to
        for key in mine.keys() | other.keys() - timed:
            if key not in timed:
                assert mine[key] == other[key], key  # type: ignore[literal-required]
        assert mine["wdl"].relative.expectation() > 0


# --- tables --------------------------------------------------------------------------------------------------------


def test_tables_of_one_and_of_many() -> None:
    frame = ANALYSIS.to_frame()
    assert frame.to_dict("records") == [each.to_dict() for each in ANALYSIS.lines]
    many = to_frame([ANALYSIS, Analysis((MATED,), None, None)])
    assert list(many.columns) == ["position", *frame.columns]
    assert many["position"].tolist() == [0, 0, 1]
    assert many["san"].tolist() == [ANALYSIS.lines[0].san, "1. d4", ""]
    values = to_frame(evaluate(fen, "pesto") for fen in ("startpos", TO_MATE.fen))
    assert values["cp"].tolist() == evaluate_many(["startpos", TO_MATE.fen], "pesto").tolist()
    assert values["turn"].tolist() == ["white", "black"] and values["in_check"].tolist() == [False, True]
    assert to_frame(ANALYSIS).equals(to_frame([ANALYSIS]))
    assert len(to_frame([])) == 0 and len(line("e2e4").to_frame()) == 1


@pytest.mark.parametrize("wrong", [5, [ANALYSIS, 5], "analysis"])
def test_other_things_are_no_results(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^(expected several results|result [01] is not a result of the library)"):
        to_frame(wrong)
