"""Draw the pictures of the book (docs/how-it-works) into docs/images, some from searches of its small engine."""

import argparse
import ast
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import chess.svg

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SMALL_ENGINE = ROOT / "docs" / "small_engine"
SAVINGS = SMALL_ENGINE / "savings.json"
TECHNIQUES = ROOT / "docs" / "how-it-works" / "techniques.json"
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

    def add(self, element: str) -> None:
        """Add an element of SVG."""
        self._parts.append(element)

    def __str__(self) -> str:
        """Return the text of the SVG file."""
        return "\n".join([*self._parts, "</svg>", ""])


def draw_threads() -> Drawing:
    """The threads of the engine, and the data that they exchange."""
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


def draw_rook() -> str:
    """A rook with the squares that limit its attacks: its rank and file without the edge squares."""
    from small_engine.board import LINES, SQUARES, STRAIGHT, squares

    rook = SQUARES.index("c4")
    rank_ends, file_ends = 0xFF | 0xFF << 56, 0x8181818181818181
    inner = (
        LINES[STRAIGHT][rook]
        & ~(rank_ends & ~(0xFF << rook // 8 * 8))
        & ~(file_ends & ~(0x0101010101010101 << rook % 8))
    )
    return _board("8/8/8/8/2R5/8/8/8 w - - 0 1", marked=[SQUARES[square] for square in squares(inner)])


def draw_modules() -> Drawing:
    """The modules of the small engine with their lines of code, and which module uses which."""
    places = {"uci": (315, 20), "search": (315, 120), "evaluate": (90, 220), "board": (540, 220)}
    about = {
        "uci": "talks with the chess program",
        "search": "looks ahead",
        "evaluate": "says who stands better",
        "board": "knows the rules",
    }
    drawing = Drawing(860, 320)
    for name, (x, y) in places.items():
        text = (SMALL_ENGINE / f"{name}.py").read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level:
                to_x, to_y = places[str(node.module)]
                shift = (to_x - x) / 5
                ends = ((x + 230, y + 30), (to_x, to_y + 30)) if to_y == y else ((0.0, y + 60), (0.0, to_y))
                if to_y != y:
                    beside = 130 if name == "uci" and to_y - y > 100 else 0
                    ends = ((x + 115 + shift + beside / 2, y + 60), (to_x + 115 - shift / 4 + beside / 2, to_y))
                drawing.arrow(*ends)
        drawing.box(x, y, 230, 60, WARM if name == "search" else BOX)
        lines = sum(1 for line in text.splitlines() if line.strip())
        drawing.text(x + 115, y + 25, f"{name}.py", bold=True)
        drawing.text(x + 115, y + 46, f"{about[name]}; {lines} lines", size=12)
    drawing.text(20, 308, "An arrow leads from a module to one that it uses.", size=12, anchor="start")
    return drawing


def draw_network() -> Drawing:
    """The steps of the network, from the pieces on the board to a value."""
    drawing = Drawing(900, 300)
    for view, y in (("seen by the side to move", 40), ("seen by the other side", 165)):
        drawing.text(20, y - 8, view, size=12, anchor="start")
        for place in range(24):
            drawing.box(20 + 7 * place, y, 6, 90, WARM if place % 3 == 1 else "#fff")
        drawing.arrow((192, y + 45), (258, y + 45))
        for place in range(16):
            drawing.box(262 + 9 * place, y, 8, 90, COOL)
        drawing.arrow((410, y + 45), (476, y + 45))
        for place in range(16):
            height = (0, 40, 90, 12, 0, 66, 0, 25)[(place * (3 if y < 100 else 5)) % 8]
            drawing.box(480 + 9 * place, y + 90 - height, 8, max(height, 1), BOX)
        drawing.arrow((628, y + 45), (728, 148))
    drawing.box(730, 125, 150, 46, "#fff")
    drawing.text(805, 153, "value in centipawns", size=13)
    drawing.text(104, 275, "768 inputs: pieces on squares", size=12)
    drawing.text(104, 291, "rows of the pieces on the board", size=12)
    drawing.text(334, 275, "512 sums of the rows", size=12)
    drawing.text(334, 291, "(accumulator)", size=12)
    drawing.text(552, 275, "clipped and squared", size=12)
    drawing.text(552, 291, "(neurons)", size=12)
    drawing.text(805, 275, "weighted and added up", size=12)
    return drawing


def draw_change() -> Drawing:
    """The steps of a change, from the idea to the log."""
    drawing = Drawing(900, 230)

    def step(x: float, y: float, fill: str, *lines: str) -> None:
        drawing.box(x, y, 150, 60, fill)
        for number, line in enumerate(lines):
            drawing.text(x + 75, y + (36 if len(lines) == 1 else 26 + 20 * number), line, size=13)

    step(20, 30, BOX, "an idea", "and its reason")
    step(210, 30, BOX, "code", "and tests")
    step(400, 30, WARM, "bench")
    step(590, 30, BOX, "games until the", "test is decided")
    step(730, 140, COOL, "passed: in,", "with a row in the log")
    step(560, 140, "#fff", "failed: out,", "with a row in the log")
    step(300, 140, COOL, "in, if it is clearer", "or faster")
    for x in (170, 360):
        drawing.arrow((x, 60), (x + 38, 60))
    drawing.arrow((550, 60), (588, 60))
    drawing.text(569, 22, "other nodes", size=12)
    drawing.arrow((450, 90), (395, 138))
    drawing.text(445, 125, "same nodes", size=12, anchor="start")
    drawing.arrow((700, 90), (790, 138))
    drawing.arrow((660, 90), (640, 138))
    return drawing


def _curve(drawing: Drawing, points: Sequence[tuple[float, float]], color: str) -> None:
    """Draw a line of many points in a color."""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    drawing.add(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2"/>')


def draw_clock() -> Drawing:
    """The two time limits of each move of a game, computed by the engine's time management."""
    from knightadder.engine.limits import Limits
    from knightadder.engine.timeman import allot

    drawing = Drawing(700, 300)
    moves, clock, increment, overhead = 60, 60_000.0, 600, 10
    rows = []
    for move in range(moves):
        budget = allot(
            Limits(wtime=round(clock), btime=round(clock), winc=increment, binc=increment), 0, overhead, 2 * move
        )
        assert budget.soft is not None and budget.hard is not None
        rows.append((clock / 1000, budget.soft / 1000, budget.hard / 1000))
        clock += increment - budget.soft
    for seconds in range(0, 10, 2):
        y = 250 - 24 * seconds
        drawing.arrow((60, y), (680, y), tip=False, dashed=seconds > 0)
        drawing.text(50, y + 4, f"{seconds} s", size=12, anchor="end")
    for column, color, label in ((1, "#2a6fb0", "soft limit"), (2, "#c8742a", "hard limit")):
        shown = [(60 + 620 * move / (moves - 1), 250 - 24 * row[column]) for move, row in enumerate(rows)]
        _curve(drawing, shown, color)
        drawing.text(560, 24 + 20 * column, label, size=13, anchor="start")
        _curve(drawing, [(520, 20 + 20 * column), (550, 20 + 20 * column)], color)
    for move in range(0, moves, 10):
        drawing.text(60 + 620 * move / (moves - 1), 270, f"move {move + 1}", size=12)
    drawing.text(20, 290, "60 s and 0.6 s a move; each move takes its soft limit", size=12, anchor="start")
    return drawing


def draw_sprt() -> Drawing:
    """Sequential tests of changes that gain 10, 0 and -10 Elo, in random games."""
    from knightadder.elo_formula import score_of_elo
    from knightadder.workshop.match.statistics.sprt import Sprt

    drawing, test = Drawing(700, 300), Sprt(0, 5, model="logistic")

    def height(llr: float) -> float:
        return 140 - 35 * max(-3.4, min(3.4, llr))

    for llr, label in ((test.upper, "passed"), (0, "0"), (test.lower, "failed")):
        drawing.arrow((70, height(llr)), (680, height(llr)), tip=False, dashed=True)
        drawing.text(62, height(llr) + 4, label, size=12, anchor="end")
    for number, (elo, color) in enumerate(((10, "#2a8a4a"), (0, "#5a6472"), (-10, "#b03a2e"))):
        chance, counts, points = random.Random(7), [0] * 5, [(70.0, height(0))]
        win = score_of_elo(elo) - 0.25  # half of the games are drawn
        for pair in range(1, 6001):
            halves = sum(
                2 if luck < win else 1 if luck < win + 0.5 else 0 for luck in (chance.random(), chance.random())
            )
            counts[halves] += 1
            if pair % 50 == 0:
                llr = test.llr(counts)
                points.append((70 + 610 * pair / 6000, height(llr)))
                if not test.lower < llr < test.upper:
                    break
        _curve(drawing, points, color)
        drawing.text(
            110 + 190 * number, 24, f"a change of {elo:+} Elo" if elo else "no change", size=13, anchor="start"
        )
        _curve(drawing, [(80 + 190 * number, 20), (104 + 190 * number, 20)], color)
    for games in range(0, 13_000, 3000):
        drawing.text(70 + 610 * games / 12_000, 280, f"{games:,}", size=12)
    drawing.text(20, 296, "games", size=12, anchor="start")
    return drawing


def _saved() -> list[tuple[str, str, int, bool]]:
    """Return the measured rows: group, name, nodes, and whether the search was finished."""
    found = json.loads(SAVINGS.read_text("utf-8"))
    rows = [
        (group, name, result["nodes"], result["finished"])
        for group in ("with", "without")
        for name, result in found[group].items()
    ]
    return [*rows, ("minimax", "plain minimax", found["minimax"]["nodes"], True)]


def draw_savings() -> Drawing:
    """The number of nodes as techniques are removed one after the other, on a logarithmic scale."""
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
    """The tables of the small engine's measurements, as Markdown."""
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


def _techniques() -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the rows measured with the large engine, the strongest technique first, and the settings."""
    found = json.loads(TECHNIQUES.read_text("utf-8"))
    rows = found.pop("rows")
    everything = rows.pop("all")
    ordered = sorted(rows.items(), key=lambda row: -row[1]["elo"][0])
    return {"all": everything, **dict(ordered)}, found


def techniques_table() -> str:
    """The table of the gain by each technique of the large engine, as Markdown."""
    rows, settings = _techniques()
    look, depth = f"{settings['look']:,}", settings["depth"]
    lines = [
        f"| Without | Nodes to depth {depth} | Seconds | Depth with {look} nodes | Elo lost (95 %) | Games |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, row in rows.items():
        nodes = f"{_count(row['nodes'], row['finished'])} | {row['seconds']:.2f}"
        if name == "all":
            lines.append(f"| nothing | {nodes} | {row['depth']} | | |")
        else:
            elo, low, high = ("∞" if bound is None else bound for bound in row["elo"])
            lines.append(f"| {name} | {nodes} | {row['depth']} | {elo} [{low}, {high}] | {2 * sum(row['pairs'])} |")
    return "\n".join([*lines, ""])


def draw_techniques() -> Drawing:
    """The Elo gain by each technique of the large engine, with errors."""
    rows: dict[str, list[int]] = {name: row["elo"] for name, row in _techniques()[0].items() if name != "all"}
    most = max(high for _, _, high in rows.values())
    least = min(0, *(low for _, low, _ in rows.values()))

    def place(elo: float) -> float:
        return 250 + 520 * (elo - least) / (most - least)

    drawing = Drawing(800, 40 + 26 * len(rows))
    for number, (name, (elo, low, high)) in enumerate(rows.items()):
        y = 12 + 26 * number
        drawing.text(240, y + 15, name, anchor="end", size=13)
        drawing.box(min(place(0), place(elo)), y + 2, abs(place(elo) - place(0)), 17, WARM if low > 0 else BOX)
        drawing.arrow((place(low), y + 10), (place(high), y + 10), tip=False)
    drawing.arrow((place(0), 8), (place(0), 14 + 26 * len(rows)), tip=False, dashed=True)
    for elo in range(0, int(most) + 1, 100):
        drawing.text(place(elo), 30 + 26 * len(rows), f"{elo}", size=12)
    drawing.text(240, 30 + 26 * len(rows), "Elo", size=12, anchor="end")
    return drawing


PICTURES: dict[str, Callable[[], object]] = {
    "threads.svg": draw_threads,
    "savings.svg": draw_savings,
    "techniques.svg": draw_techniques,
    "modules.svg": draw_modules,
    "network.svg": draw_network,
    "change.svg": draw_change,
    "clock.svg": draw_clock,
    "sprt.svg": draw_sprt,
    "bishop.svg": draw_bishop,
    "knight.svg": draw_squares,
    "tree.svg": draw_tree,
    "greedy.svg": lambda: _board(
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ["h5h7", "h8h7"], ["f7"]
    ),
    "rook.svg": draw_rook,
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
    parser.add_argument("--folder", type=Path, default=IMAGES, help="folder for the pictures (default: docs/images)")
    folder = parser.parse_args().folder
    for name, draw in PICTURES.items():
        (folder / name).write_text(str(draw()), encoding="utf-8")
        print(folder / name)
    SAVINGS.with_suffix(".txt").write_text(savings_table(), encoding="utf-8")
    TECHNIQUES.with_suffix(".txt").write_text(techniques_table(), encoding="utf-8")


if __name__ == "__main__":
    main()
