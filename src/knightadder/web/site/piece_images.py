"""The images of the pieces: python-chess's set, and two sets of our own."""

from __future__ import annotations

import chess
import chess.svg
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_PIECES = {f"{'w' if s.isupper() else 'b'}{s.upper()}": chess.Piece.from_symbol(s) for s in "KQRBNPkqrbnp"}
_FEET = "M11 39 V36 Q11 33 14.5 33 H30.5 Q34 33 34 36 V39 Z"
# The plain set on a square of 45 by 45: the outline of each piece without its foot, and the lines inside it.
_OUTLINES = {
    "P": (
        "M22.5 9 a6 6 0 0 1 3.6 10.8 h3 v3.2 h-3.2 q.7 6 6.1 10 h-19 q5.4-4 6.1-10 h-3.2 v-3.2 h3 a6 6 0 0 1 3.6-10.8z"
    ),
    "N": (
        "M32 33 H13 q.5-6.5 7-11.5 q-3.5 0-6 3.2 q-1.7 2-3.5 1.3 L8 22.5 q2-7.5 8.5-12 L16.8 6 l4.7 3.2 "
        "q11 1.3 11 14.8 q0 4.5-.5 9z"
    ),
    "B": (
        "M22.5 5 a2.6 2.6 0 0 1 1.7 4.6 q7.8 6 7.8 13 q0 4-3.5 6.9 l1 3.5 h-14 l1-3.5 q-3.5-2.9-3.5-6.9 "
        "q0-7 7.8-13 a2.6 2.6 0 0 1 1.7-4.6z"
    ),
    "R": "M12 8 h5 v3.5 h3.3 V8 h4.4 v3.5 H28 V8 h5 v8.5 l-3.5 3 L31 33 H14 l1.5-13.5-3.5-3z",
    "Q": "M7 13 l6.2 7.5 L15 8.5 l5 11 2.5-12.5 2.5 12.5 5-11 1.8 12 L38 13 l-5 20 H12z",
    "K": (
        "M21 4 h3 v3 h3 v3 h-3 v4.5 q3-3 6.5-3 q6.5 0 6.5 7 q0 6-6 14.5 h-17 Q8 24.5 8 18.5 q0-7 6.5-7 "
        "q3.5 0 6.5 3 V10 h-3 V7 h3z"
    ),
}
_INSIDE = {
    "N": "M17.5 15.5 h.1",
    "B": "M22.5 15.5 v8 M18.5 19.5 h8",
    "R": "M16 20 h13",
    "Q": "M13.5 28.5 h18",
    "K": "M22.5 15 v6.5",
}
_COLOURS = {"w": ("#fdfdfb", "#2b2f2d"), "b": ("#33383b", "#0f1112")}  # colours of the area and the outline
_INNER = {"w": "#2b2f2d", "b": "#e9ecea"}


def piece_routes() -> list[Route]:
    """Return the routes of the images: ``/pieces/wK.svg``, and ``/pieces/plain/wK.svg`` in another set."""
    return [Route("/pieces/{name}.svg", _respond), Route("/pieces/{style}/{name}.svg", _respond)]


async def _respond(request: Request) -> Response:
    draw = _SETS.get(request.path_params.get("style", "classic"))
    name = request.path_params["name"]
    if draw is None or name not in _PIECES:
        return PlainTextResponse("no such piece", status_code=404)
    return Response(draw(name), media_type="image/svg+xml")


def _classic(name: str) -> str:
    return chess.svg.piece(_PIECES[name])


def _plain(name: str) -> str:
    side, letter = name[0], name[1]
    area, outline = _COLOURS[side]
    inside = f'<path d="{_INSIDE[letter]}" fill="none" stroke="{_INNER[side]}"/>' if letter in _INSIDE else ""
    return _svg(f'<path d="{_OUTLINES[letter]} {_FEET}" fill="{area}" stroke="{outline}"/>{inside}')


def _letter(name: str) -> str:
    side, letter = name[0], name[1]
    area, outline = _COLOURS[side]
    return _svg(
        f'<circle cx="22.5" cy="22.5" r="17" fill="{area}" stroke="{outline}"/>'
        f'<text x="22.5" y="30.5" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="23" '
        f'fill="{_INNER[side]}">{letter}</text>'
    )


def _svg(content: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45"><g stroke-width="1.8" stroke-linejoin="round" '
        f'stroke-linecap="round">{content}</g></svg>'
    )


_SETS = {"classic": _classic, "plain": _plain, "letters": _letter}
