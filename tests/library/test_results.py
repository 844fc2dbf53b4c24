"""What results look like: one short line of text, and a board with a table in Jupyter."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import chess
import pytest
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound
from knightadder.library.positions import evaluate
from knightadder.library.results import Analysis, Line, PlayResult
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
        (line("e2e4", "e7e5"), "<Line 1: +0.35, depth 12, e2e4 e7e5>"),
        (line(*PV), "<Line 1: +0.35, depth 12, e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 …>"),
        (TO_MATE, "<Line 1: #1, depth 12, h8g8>"),
        (MATED, "<Line 1: #0, depth 12, no move>"),
        (ANALYSIS, "<Analysis: e2e4, +0.35, depth 12, 2 lines>"),
        (Analysis((MATED,), None, None), "<Analysis: no move, #0, depth 12, 1 line>"),
        (PlayResult(chess.Move.from_uci("e2e4"), None, line(*PV)), "<PlayResult: e2e4, +0.35, depth 12>"),
    ],
)
def test_results_are_one_short_line(result: object, text: str) -> None:
    assert repr(result) == text


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
        (MATED, [["#0", "depth 12", ""]]),
    ],
)
def test_jupyter_shows_the_board_beside_the_lines(result: Analysis | Line | PlayResult, rows: list[list[str]]) -> None:
    html = ElementTree.fromstring(result._repr_html_())
    assert [["".join(cell.itertext()) for cell in row.iter("td")] for row in html.iter("tr")] == rows
    [svg] = html.iter(f"{SVG}svg")
    best = result.best if isinstance(result, Analysis) else result if isinstance(result, Line) else result.line
    board = chess.Board(best.fen)
    pieces = [use for use in svg.iter(f"{SVG}use") if re.search("white|black", str(use.attrib))]
    assert len(pieces) == len(board.piece_map())
    arrows = [shape for shape in svg.iter() if "arrow" in shape.get("class", "")]
    assert len(arrows) == (2 if best.pv else 0)  # shaft and head
