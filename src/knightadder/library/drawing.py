"""Draws boards with python-chess: as SVG with a number on each piece, or as HTML with a bar and a table beside it."""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import chess
import chess.svg

_SMALL = 240  # size of a small board in pixels
_SHORT = 12  # maximum length of a short text in characters
_RECT = "{http://www.w3.org/2000/svg}rect"


def board_with_numbers(
    board: chess.BaseBoard, numbers: Mapping[chess.Square, str], orientation: chess.Color, size: int | None
) -> str:
    """Draw a board with short texts on squares, and a side at the bottom; with no size, it fills its space."""
    svg = chess.svg.board(board, orientation=orientation, size=size)
    names = {chess.square_name(square): text for square, text in numbers.items()}
    texts = []
    for rect in ElementTree.fromstring(svg).iter(_RECT):
        for name in set(rect.get("class", "").split()) & names.keys():
            left, top, side = (float(rect.get(key, 0)) for key in ("x", "y", "width"))
            texts.append(_label(names[name], left + side / 2, top + side, side / 4))
    return svg.replace("</svg>", "".join(texts) + "</svg>")


def lines_panel(
    board: chess.BaseBoard, moves: Sequence[chess.Move], expectation: float, rows: Iterable[Iterable[str]]
) -> str:
    """Draw a small board with arrows for the first moves, a bar of White's expected points, and a table, as HTML."""
    arrows = [
        chess.svg.Arrow(move.from_square, move.to_square, color="blue" if number else "green")
        for number, move in enumerate(moves)
    ]
    arrows.reverse()  # so that the best move's arrow is drawn last, above the others
    return panel(chess.svg.board(board, arrows=arrows, size=_SMALL), _SMALL, expectation, rows)


def panel(svg: str, size: int, expectation: float, rows: Iterable[Iterable[str]]) -> str:
    """Put a board of this height, an evaluation bar and a table side by side, as HTML; see `lines_panel`."""
    percent = f"{100 * expectation:.0f}"
    cell = '<td style="text-align: left; vertical-align: top; padding: 0 0.8em 0.4em 0">{}</td>'
    table = "".join(f"<tr>{''.join(cell.format(_unbroken(text)) for text in row)}</tr>" for row in rows)
    return (
        '<div style="display: flex; gap: 0.5em; align-items: flex-start">'
        f'<div style="flex: none">{svg}</div>'
        f'<div title="White: {percent} %" style="flex: none; width: 10px; height: {size - 2}px; '
        f'border: 1px solid #888; background: linear-gradient(to top, #f4f4f0 {percent}%, #404040 {percent}%)"></div>'
        f"<table>{table}</table></div>"
    )


def _unbroken(text: str) -> str:
    """Return a text as HTML. A short text stays on one line."""
    return escape(text if len(text) > _SHORT else text.replace(" ", "\N{NO-BREAK SPACE}"))


def _label(text: str, middle: float, bottom: float, height: float) -> str:
    """Draw dark text on a light label, readable on pieces and squares of any colour."""
    width = 0.62 * height * len(text)
    return (
        f'<rect x="{middle - width / 2:g}" y="{bottom - height:g}" width="{width:g}" height="{height:g}" '
        f'rx="{height / 4:g}" fill="#fff" fill-opacity="0.85" />'
        f'<text x="{middle:g}" y="{bottom - 0.15 * height:g}" text-anchor="middle" font-family="sans-serif" '
        f'font-size="{height:g}" fill="#111">{escape(text)}</text>'
    )
