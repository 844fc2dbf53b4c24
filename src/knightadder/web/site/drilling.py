"""The page of drills: its routes, and a drill as JSON with the data for judging moves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import chess
from starlette.requests import Request
from starlette.routing import Route

from knightadder.foreign import whole_or_none
from knightadder.text import counted
from knightadder.web.site.asked import answering, is_elsewhere, mark_of, time_since
from knightadder.web.views import View, board_view, lines_pgn, moves_view

if TYPE_CHECKING:
    from knightadder.drills.box import Choice, DrillBox, Grade
    from knightadder.drills.drill import Drill

_GRADES: dict[str, Grade] = {"again": "again", "hard": "hard", "good": "good"}
_SIDES = {"white": True, "black": False}
_UNITS = ((timedelta(days=365), "year"), (timedelta(days=1), "day"), (timedelta(hours=1), "hour"))


def drill_routes(box: DrillBox | None) -> list[Route]:
    """Return the routes of the drills, if there are any.

    ``/drills`` describes the drills, ``/drills/next`` gives the next drill, and ``POST
    /drills/N?turn=...&grade=...&files=...`` records the answer to drill N, unless this turn of the drill has been
    answered, or the drill belongs to a different file (``elsewhere``). Each may answer with a ``problem``, a message
    for the user, instead.
    """
    if box is None:
        return []
    mark = mark_of(box.file)

    def groups(_: Request) -> View:
        found = box.groups()
        return {
            "groups": [
                {
                    "kind": each.kind,
                    "side": "white" if each.white else "black",
                    "theme": each.theme,
                    "opening": each.opening,
                    "new": each.new,
                    "due": each.due,
                }
                for each in found
            ]
        }

    def following(request: Request) -> View:
        after = whole_or_none(request.query_params.get("after", "")) or 0
        asked = box.next(_choice(request.query_params), after)
        if asked.number is None or asked.drill is None:
            return {"drill": None, "wait": asked.next_due and waiting(asked.next_due)}
        about = {"number": asked.number, "turn": asked.turn, "files": mark}
        return {"drill": {**about, **drill_view(asked.drill)}, "wait": None}

    def answer(request: Request) -> View:
        if is_elsewhere(request, mark):
            return {"elsewhere": True}
        grade = _GRADES.get(request.query_params.get("grade", ""))
        if grade is None:
            return {"problem": "the grade must be again, hard or good"}
        turn = request.query_params.get("turn", "")
        due = box.answer(request.path_params["number"], turn, grade, time_since(request))
        return {"wait": due and waiting(due)}

    return [
        Route("/drills", answering(groups)),
        Route("/drills/next", answering(following)),
        Route("/drills/{number:int}", answering(answer), methods=["POST"]),
    ]


def _choice(wanted: Mapping[str, str]) -> Choice:
    from knightadder.drills.box import Choice

    return Choice(
        wanted.get("kind", ""), _SIDES.get(wanted.get("side", "")), wanted.get("theme", ""), wanted.get("opening", "")
    )


def waiting(until: datetime) -> str:
    """Return the time left until a moment, in words."""
    left = until - datetime.now(UTC)
    for unit, name in _UNITS:
        if left >= unit:
            return f"in {counted(round(left / unit), name)}"
    return f"in {counted(max(1, round(left / timedelta(minutes=1))), 'minute')}"


def drill_view(drill: Drill) -> View:
    """Describe a drill: its position, and each right move with its line and the position after it."""
    board = drill.board()
    good = {}
    lines = [_legal(board, line) for line in drill.good]
    for moves in lines:
        after = board.copy()
        after.push(moves[0])
        good[board.uci(moves[0])] = {"after": board_view(after), "line": board.variation_san(moves)}
    played = _legal(board, [drill.played]) if drill.played else []
    return {
        "kind": drill.kind,
        "side": "white" if board.turn else "black",
        "position": {**board_view(board), **moves_view(board), "fen": board.fen()},
        "good": good,
        "played": board.uci(played[0]) if played else None,
        "san": board.san(played[0]) if played else None,
        "theme": drill.theme,
        "opening": drill.opening,
        "before": drill.before,
        "about": drill.about,
        "link": drill.link if drill.link.startswith(("http://", "https://")) else "",
        "comment": drill.comment,
        "pgn": lines_pgn("Drill", board, [*lines, *([played] if played else [])]),
    }


def _legal(board: chess.Board, line: list[str] | tuple[str, ...]) -> list[chess.Move]:
    """Return the moves of a line up to the first illegal one."""
    board, moves = board.copy(stack=False), list[chess.Move]()
    for text in line:
        try:
            moves.append(board.push_uci(text))
        except ValueError:
            break
    return moves
