"""Draw the pictures of the book (docs/how-it-works) into docs/images, some from searches of its small engine."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import chess.svg

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SAVINGS = ROOT / "docs" / "small_engine" / "savings.json"
sys.path.insert(0, str(ROOT / "docs"))

INK, LINE, PAPER, BOX, WARM, COOL = "#222", "#5a6472", "#fdfdfb", "#e8eef5", "#f6e7d3", "#dcebdc"


class Drawing:
    """A drawing in SVG."""

    def __init__(self, width: int, height: int) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
            'font-size="14">',
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker></defs>',
        ]

    def box(self, x: float, y: float, width: float, height: float, fill: str = BOX) -> None:
        """Draw a box with round corners."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{fill}" stroke="{LINE}"/>'
        )

    def text(self, x: float, y: float, text: str, size: int = 14, anchor: str = "middle", bold: bool = False) -> None:
        """Write a line of text."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{INK}"{weight}>'
            f"{escape(text)}</text>"
        )

    def arrow(self, *points: tuple[float, float], tip: bool = True, dashed: bool = False) -> None:
        """Draw a line through points, with an arrow's tip at its end."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        end = ' marker-end="url(#tip)"' if tip else ""
        self._parts.append(f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.5"{dashes}{end}/>')

    def __str__(self) -> str:
        """Give the file's text."""
        return "\n".join([*self._parts, "</svg>", ""])


def draw_threads() -> Drawing:
    """The threads of the engine, and what passes between them."""
    drawing = Drawing(900, 400)

    def thread(x: float, y: float, fill: str, name: str, *lines: str) -> None:
        drawing.box(x, y, 210, 34 + 18 * len(lines), fill)
        drawing.text(x + 105, y + 22, name, bold=True)
        for number, line in enumerate(lines):
            drawing.text(x + 105, y + 42 + 18 * number, line, size=12)

    drawing.box(20, 60, 120, 290, "#fff")
    drawing.text(80, 200, "chess")
    drawing.text(80, 220, "program")
    thread(240, 40, BOX, "input", "reads lines", "waits for the pipe")
    drawing.box(500, 48, 90, 54, "#fff")
    drawing.text(545, 72, "queue")
    drawing.text(545, 90, "of events", size=12)
    thread(670, 40, BOX, "main thread", "the loop: one event at a time", "waits for the queue")
    thread(670, 180, WARM, "search", "deepens, reports, answers", "in the core: no GIL")
    thread(670, 290, WARM, "helpers", "search the same position", "in the core: no GIL")
    thread(450, 290, BOX, "clock", "sets the stop flag", "waits for the time")
    thread(240, 180, COOL, "output", "a lock, not a thread:", "whole lines only")
    drawing.text(190, 66, "commands", size=12)
    drawing.arrow((140, 75), (238, 75))
    drawing.arrow((450, 75), (498, 75))
    drawing.arrow((590, 75), (668, 75))
    drawing.arrow((775, 110), (775, 178))
    drawing.text(782, 148, "go, stop", size=12, anchor="start")
    drawing.arrow((690, 180), (575, 104))
    drawing.text(648, 172, "result", size=12, anchor="end")
    drawing.arrow((668, 225), (452, 225))
    drawing.text(560, 217, "info lines", size=12)
    drawing.arrow((670, 105), (400, 178))
    drawing.text(478, 148, "bestmove", size=12, anchor="end")
    drawing.arrow((238, 225), (142, 225))
    drawing.text(190, 216, "answers", size=12)
    drawing.arrow((620, 288), (690, 252), dashed=True)
    drawing.text(600, 276, "stop flag", size=12, anchor="end")
    drawing.arrow((775, 288), (775, 252), dashed=True)
    drawing.text(782, 275, "table", size=12, anchor="start")
    drawing.text(20, 384, "Dashed: through shared memory, without locks.", size=12, anchor="start")
    return drawing


def draw_tree() -> Drawing:
    """The tree of a search of two plies by the small engine, with alpha-beta and captures first."""
    from small_engine.board import from_fen, name
    from small_engine.evaluate import evaluate
    from small_engine.search import MATE, Search

    drawing = Drawing(900, 330)
    root = from_fen("k7/8/7p/6P1/8/8/8/K7 w - - 0 1")
    search = Search(("alpha-beta", "captures"))
    branches = [(move, child, list(search.ordered(child, None, 1))) for move, child in search.ordered(root, None, 0)]
    width = 860 / sum(len(replies) for _, _, replies in branches)
    left, best = 20.0, -MATE
    drawing.box(400, 20, 100, 40, WARM)
    for move, _, replies in branches:
        middle = left + width * len(replies) / 2
        drawing.arrow((450, 60), (middle, 118), tip=False)
        drawing.text(middle + (middle - 450) * 0.02, 112, name(move), size=12)
        drawing.box(middle - 26, 120, 52, 34)
        value, cut = MATE, False
        for number, (reply, leaf) in enumerate(replies):
            x = left + width * (number + 0.5)
            drawing.arrow((middle, 154), (x, 240), tip=False, dashed=cut)
            drawing.text(x, 258 + 14 * (number % 2), name(reply), size=11)
            if not cut:
                value = min(value, evaluate(leaf))
                drawing.text(x, 292, f"{evaluate(leaf)}", size=12, bold=True)
            cut = value <= best
        drawing.text(middle, 142, f"≤ {value}" if cut else f"{value}", bold=True)
        best = max(best, value)
        left += width * len(replies)
    drawing.text(450, 45, f"{best}", bold=True)
    drawing.text(20, 318, "Values for White. Dashed: never visited.", size=12, anchor="start")
    return drawing


def draw_squares() -> Drawing:
    """The value of a white knight on each square."""
    from small_engine.board import KNIGHT, SQUARES
    from small_engine.evaluate import MIDDLE

    drawing = Drawing(420, 420)
    least, most = min(MIDDLE[KNIGHT]), max(MIDDLE[KNIGHT])
    for square, value in enumerate(MIDDLE[KNIGHT]):
        x, y = 20 + 48 * (square % 8), 356 - 48 * (square // 8)
        warmth = (value - least) / (most - least)
        drawing.box(
            x, y - 8, 46, 46, f"rgb({255 - int(20 * warmth)}, {255 - int(70 * warmth)}, {255 - int(150 * warmth)})"
        )
        drawing.text(x + 23, y + 12, f"{value}", size=13)
        drawing.text(x + 23, y + 30, SQUARES[square], size=9)
    return drawing


def _board(fen: str, arrows: Sequence[str] = (), marked: Sequence[str] = ()) -> str:
    """Draw a position with arrows, each given as a move, and marked squares."""
    return chess.svg.board(
        chess.Board(fen),
        size=360,
        arrows=[chess.svg.Arrow(*(chess.parse_square(part) for part in (way[:2], way[2:]))) for way in arrows],
        fill={chess.parse_square(square): "#e0a03088" for square in marked},
    )


def draw_bishop() -> str:
    """A bishop with the squares that it attacks, up to two blockers."""
    from small_engine.board import BISHOP, SQUARES, attacks, squares

    blockers = 1 << SQUARES.index("b6") | 1 << SQUARES.index("f6")
    marked = [SQUARES[square] for square in squares(attacks(BISHOP, SQUARES.index("d4"), blockers))]
    return _board("8/8/1p3p2/8/3B4/8/8/8 w - - 0 1", marked=marked)


def _saved() -> list[tuple[str, str, int, bool]]:
    """Give the rows of what was measured: the group, the name, the nodes, and whether the search was finished."""
    found = json.loads(SAVINGS.read_text("utf-8"))
    rows = [
        (group, name, result["nodes"], result["finished"])
        for group in ("with", "without")
        for name, result in found[group].items()
    ]
    return [*rows, ("minimax", "plain minimax", found["minimax"]["nodes"], True)]


def draw_savings() -> Drawing:
    """The nodes with fewer and fewer techniques, on a logarithmic scale."""
    rows = [row for row in _saved() if row[0] != "without"]
    drawing = Drawing(760, 30 + 34 * len(rows))
    for number, (group, name, nodes, finished) in enumerate(rows):
        y = 20 + 34 * number
        label = name if group == "minimax" else "all techniques" if number == 0 else f"only up to: {name}"
        width = 85 * (math.log10(nodes) - 3)
        drawing.text(200, y + 18, label, anchor="end", size=13)
        drawing.box(212, y, width, 26, WARM if group == "minimax" else BOX)
        drawing.text(222 + width, y + 18, _count(nodes, finished), anchor="start", size=13)
    return drawing


def _count(nodes: int, finished: bool) -> str:
    return f"{'' if finished else 'more than '}{nodes:,}"


def savings_table() -> str:
    """The tables of what was measured, as Markdown."""
    rows = _saved()
    least = next(nodes for group, _, nodes, _ in rows if group == "with")
    lines = ["| Techniques | Nodes | Times as many |", "|---|--:|--:|"]
    for number, (group, name, nodes, finished) in enumerate(row for row in rows if row[0] != "without"):
        label = name if group == "minimax" else "all" if number == 0 else f"up to {name}"
        lines.append(f"| {label} | {_count(nodes, finished)} | {nodes / least:.1f} |")
    lines += ["", "| Left out | Nodes | Times as many |", "|---|--:|--:|"]
    for _, name, nodes, finished in (row for row in rows if row[0] == "without"):
        lines.append(f"| {name} | {_count(nodes, finished)} | {nodes / least:.1f} |")
    return "\n".join([*lines, ""])


PICTURES: dict[str, Callable[[], object]] = {
    "threads.svg": draw_threads,
    "savings.svg": draw_savings,
    "bishop.svg": draw_bishop,
    "knight.svg": draw_squares,
    "tree.svg": draw_tree,
    "killers.svg": lambda: _board("2k5/2p5/1p6/p7/P7/1P6/2P5/2K5 w - - 0 1"),
    "horizon.svg": lambda: _board("4k3/8/3p4/4p3/8/8/8/4RK2 w - - 0 1", ["e1e5", "d6e5"]),
    "fine.svg": lambda: _board("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1"),
    "zugzwang.svg": lambda: _board("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", ["g5h6"]),
    "helped-bishop.svg": lambda: _board("8/8/8/8/3B4/8/b1K5/k7 b - - 0 1", ["d4a1"]),
    "helped-knight.svg": lambda: _board("8/8/8/8/8/1N6/n1K5/k7 b - - 0 1", ["b3a1"]),
    "perpetual.svg": lambda: _board("6k1/6p1/8/7Q/8/1q6/r7/6K1 w - - 0 1", ["h5e8", "e8h5"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where to (default: docs/images)")
    folder = parser.parse_args().folder
    for name, draw in PICTURES.items():
        (folder / name).write_text(str(draw()), encoding="utf-8")
        print(folder / name)
    SAVINGS.with_suffix(".txt").write_text(savings_table(), encoding="utf-8")


if __name__ == "__main__":
    main()
