"""Boards as SVG images, drawn by python-chess, with a number on each piece or a table beside them."""

from collections.abc import Iterable, Mapping
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import chess
import chess.svg

_SMALL = 240  # pixels
_RECT = "{http://www.w3.org/2000/svg}rect"


def board_with_numbers(
    board: chess.BaseBoard, numbers: Mapping[chess.Square, str], orientation: chess.Color, size: int | None
) -> str:
    """Draw a board with short texts at the lower edge of squares.

    Parameters
    ----------
    board : chess.BaseBoard
        The pieces.
    numbers : mapping
        The texts by square.
    orientation : chess.Color
        The side at the bottom.
    size : int or None
        Width and height in pixels; ``None`` to fill the space that there is.
    """
    svg = chess.svg.board(board, orientation=orientation, size=size)
    names = {chess.square_name(square): text for square, text in numbers.items()}
    texts = []
    for rect in ElementTree.fromstring(svg).iter(_RECT):
        for name in set(rect.get("class", "").split()) & names.keys():
            left, top, side = (float(rect.get(key, 0)) for key in ("x", "y", "width"))
            texts.append(_label(names[name], left + side / 2, top + side, side / 4))
    return svg.replace("</svg>", "".join(texts) + "</svg>")


def board_with_table(board: chess.BaseBoard, move: chess.Move | None, rows: Iterable[Iterable[str]]) -> str:
    """Draw a small board with an arrow for a move, and a table beside it, as HTML.

    Parameters
    ----------
    board : chess.BaseBoard
        The pieces.
    move : chess.Move or None
        The move.
    rows : iterable of iterable of str
        The cells of the table by row.
    """
    arrows = [chess.svg.Arrow(move.from_square, move.to_square)] if move else []
    svg = chess.svg.board(board, arrows=arrows, size=_SMALL)
    cell = '<td style="text-align: left; white-space: nowrap">{}</td>'
    table = "".join(f"<tr>{''.join(cell.format(escape(text)) for text in row)}</tr>" for row in rows)
    return (
        '<div style="display: flex; gap: 1em; align-items: flex-start">'
        f'<div style="flex: none">{svg}</div><table>{table}</table></div>'
    )


def _label(text: str, middle: float, bottom: float, height: float) -> str:
    """Draw dark text on a light label, readable on pieces and squares of any colour."""
    width = 0.62 * height * len(text)
    return (
        f'<rect x="{middle - width / 2:g}" y="{bottom - height:g}" width="{width:g}" height="{height:g}" '
        f'rx="{height / 4:g}" fill="#fff" fill-opacity="0.85" />'
        f'<text x="{middle:g}" y="{bottom - 0.15 * height:g}" text-anchor="middle" font-family="sans-serif" '
        f'font-size="{height:g}" fill="#111">{escape(text)}</text>'
    )
