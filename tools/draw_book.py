"""Draw the pictures of the book (docs/how-it-works) into docs/images, some from searches of its small engine."""

import argparse
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
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


PICTURES = {"threads.svg": draw_threads}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where to (default: docs/images)")
    folder = parser.parse_args().folder
    for name, draw in PICTURES.items():
        (folder / name).write_text(str(draw()), encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
