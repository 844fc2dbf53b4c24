"""Writes a report as one HTML file, which includes its plots, boards, styles and script."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

import chess
import chess.svg

from knightadder import __version__
from knightadder.report import figures
from knightadder.report.averages import Mean
from knightadder.report.figures import (
    FEW_GAMES,
    FEW_MOVES,
    FEW_OF_AN_OPENING,
    TROUBLE,
    WON,
    WORSE,
    MistakePuzzle,
    OpeningResults,
    PlayerGame,
    Quality,
    Results,
)
from knightadder.report.plots import kinds_plot, quality_plot, results_plot, trend_plot
from knightadder.review.coach import KINDS
from knightadder.review.move_table import AnnotatedMove
from knightadder.text import counted

_SHOWN_OPENINGS, _SHOWN_SPOTS, _SHOWN_GAMES = 12, 3, 5
_COLOURS = {True: "White", False: "Black"}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>How {player} plays</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>How {player} plays</h1>
<p class="soft">{about}</p>
{sections}
</main>
</body>
</html>
"""
_SOLVER = """<p>These are positions from {player}'s own games in which one or two moves were clearly better than the one
that was played. Click a piece, then the square where it goes.</p>
<noscript><p>The board needs JavaScript.</p></noscript>
<div class="solver">
<div class="board" aria-label="Board"></div>
<div>
<p class="soft"><span class="number"></span>, <span class="solved"></span></p>
<p class="task"></p>
<p class="said" aria-live="polite"></p>
<p class="choice"></p>
<p class="line"></p>
<div class="bar">
<button type="button" class="previous">Previous</button>
<button type="button" class="next">Next</button>
<button type="button" class="again">Again</button>
<button type="button" class="solution">Show the solution</button>
</div>
</div>
</div>
<script type="application/json" id="puzzle-data">{data}</script>
<script>
{script}
</script>"""


def write_page(player: str, games: Sequence[PlayerGame], about: Mapping[str, Any], most_puzzles: int) -> str:
    """Return the page as HTML; there must be at least one game.
    `about` contains the ``limit`` of the searches, the command of an external ``engine`` (or None), and the ``files``.
    """
    puzzles = figures.puzzles(games, most_puzzles)
    cards = [
        _section("Results", _results(games)),
        _section("Accuracy by phase", _phases(games)),
        _section("Accuracy by time left", _times(games)),
        _section("Where points are lost", _kinds(games)),
        _section("Won positions and worse positions", _turning(games)),
        _section("Accuracy from game to game", _trend(games)),
    ]
    sections = [
        '<div class="cards">',
        *cards,
        "</div>",
        _section("Openings", _openings(games)),
        _section("Puzzles from these games", _puzzles(player, puzzles), "puzzles"),
        _section("How this was measured", _method(about)),
    ]
    style = _file("page.css") + (_piece_styles() if puzzles else "")
    return _PAGE.format(player=escape(player), style=style, about=_about(games, about), sections="\n".join(sections))


def _section(title: str, content: str, kind: str = "") -> str:
    return f'<section class="{kind}">\n<h2>{title}</h2>\n{content}\n</section>' if content else ""


def _file(name: str) -> str:
    return resources.files("knightadder").joinpath("report", name).read_text("utf-8")


# --- words ---------------------------------------------------------------------------------------------------------


def _games(count: int) -> str:
    return counted(count, "game")


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _with_margin(mean: Mean | None, factor: float = 1.0, digits: int = 1) -> str:
    """Return an average as text, with half the width of its 95 % interval."""
    if mean is None:
        return "-"
    margin = "" if mean.margin is None else f" ± {factor * mean.margin:.{digits}f}"
    return f"{factor * mean.value:.{digits}f}{margin}"


def _points(value: float) -> str:
    """Return a number of points as text, such as ``½ point``, ``1 point`` or ``2½ points``."""
    number = "½" if value == 1 / 2 else f"{value:g}".replace(".5", "½")
    return f"{number} point{'' if 0 < value <= 1 else 's'}"


def _rating(results: Results) -> str:
    return "-" if results.performance is None else str(results.performance)


def _about(games: Sequence[PlayerGame], about: Mapping[str, Any]) -> str:
    dates = sorted(game.date for game in games if game.date)
    when = ", " + " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else ""
    return escape(f"{_games(len(games))} from {', '.join(about['files'])}{when}.")


def _where(game: PlayerGame) -> str:
    """Return the name of a game as HTML, with a link if the game has an address."""
    name = escape(f"against {game.opponent_and_date}")
    return f'<a href="{escape(game.link)}">{name}</a>' if game.link else name


def _number(move: AnnotatedMove) -> str:
    return f"{move.number}{'.' if move.colour == 'white' else '...'} {move.san}"


def _table(columns: Sequence[str], rows: Iterable[tuple[bool, Sequence[str]]], kind: str = "") -> str:
    """Return a table as HTML. Each row has its cells as HTML, and a flag: whether it has too few games or moves."""
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = ""
    for few, cells in rows:
        faint = ' class="few"' if few else ""
        body += f"<tr{faint}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'
    )


def _image(data: bytes | None, words: str, kind: str = "plot") -> str:
    if data is None:
        return ""
    return f'<img class="{kind}" alt="{escape(words)}" src="{_address(data)}">'


def _address(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


# --- sections ------------------------------------------------------------------------------------------------------


def _results(games: Sequence[PlayerGame]) -> str:
    rows = {
        "All": figures.results(games),
        **{name: figures.results([game for game in games if game.white == white]) for white, name in _COLOURS.items()},
    }
    rows = {name: each for name, each in rows.items() if each.games}
    if not rows:
        return "<p>No game has a result.</p>"
    total = rows["All"]
    assert total.share is not None
    words = f"{_points(total.points)} from {_games(total.games)}: {_percent(total.share.value)}"
    if total.share.margin is not None and total.games >= FEW_GAMES:
        words += f" ± {_percent(total.share.margin)}"
    words += "."
    if total.performance is not None:
        rated = f"{_games(total.rated)} against opponents with a rating"
        words += f" The performance in the {rated} is {total.performance}."
    table = _table(
        ("", "Won, drawn, lost", "Score %", "Performance", "Accuracy %"),
        (
            (
                each.games < FEW_GAMES,
                (
                    name,
                    f"{each.wins}, {each.draws}, {each.losses}",
                    _with_margin(each.share, 100, 0),
                    _rating(each),
                    _with_margin(each.accuracy),
                ),
            )
            for name, each in rows.items()
        ),
    )
    few = _few([name for name, each in rows.items() if each.games < FEW_GAMES], f"{FEW_GAMES} games")
    return f"<p>{words}</p>{_image(results_plot(rows), words)}{table}{few}"


def _few(names: Sequence[str], least: str) -> str:
    """Return a sentence about the rows that have too few games or moves."""
    if not names:
        return ""
    return f'<p class="soft">Too few to compare (fewer than {least}): {escape(", ".join(names))}.</p>'


def _quality_table(rows: Mapping[str, Quality]) -> str:
    table = _table(
        ("", "Moves", "Accuracy %", "Points lost per game", "?? per 100 moves"),
        (
            (
                each.moves < FEW_MOVES,
                (
                    name.capitalize(),
                    str(each.moves),
                    _with_margin(each.accuracy),
                    f"{each.lost_a_game:.2f}",
                    f"{100 * each.blunders / each.moves:.1f}",
                ),
            )
            for name, each in rows.items()
        ),
    )
    return table + _few([name for name, each in rows.items() if each.moves < FEW_MOVES], f"{FEW_MOVES} moves")


def _weakest(rows: Mapping[str, Quality]) -> str:
    """Return a sentence about the least accurate row, if its interval does not overlap the interval of the best row."""
    known = {name: each.accuracy for name, each in rows.items() if each.accuracy and each.moves >= FEW_MOVES}
    if len(known) < 2:
        return "There are too few moves to compare."
    worst, best = min(known, key=lambda name: known[name].value), max(known, key=lambda name: known[name].value)
    low, high = known[worst], known[best]
    margins = [math.inf if each.margin is None else each.margin for each in (low, high)]
    if high.value - low.value > sum(margins):
        return f"The least accurate: {worst} ({low.value:.1f} %). The most accurate: {best} ({high.value:.1f} %)."
    return "The differences are within the uncertainty: these games do not show a real difference."


def _phases(games: Sequence[PlayerGame]) -> str:
    rows = figures.by_phase(games)
    if not rows:
        return ""
    words = _weakest(rows)
    return f"<p>{words}</p>{_image(quality_plot(rows), words)}{_quality_table(rows)}"


def _times(games: Sequence[PlayerGame]) -> str:
    rows = figures.by_time_left(games)
    timed = sum(any(each.time_left for each in game.moves) for game in games)
    if not rows:
        return (
            "<p>The games have no clocks ([%clk] and the tag TimeControl in seconds), so the time left is unknown.</p>"
        )
    lost = sum(game.lost_on_time is True for game in games)
    unknown = sum(game.lost_on_time is None for game in games)
    words = f"{timed} of {_games(len(games))} {'has' if timed == 1 else 'have'} clocks. {_weakest(rows)}"
    trouble = rows.get(TROUBLE)
    share = trouble.moves / sum(each.moves for each in rows.values()) if trouble else 0
    words += f" Time trouble: {_percent(share)} of the moves were made with less than a tenth of the time left; "
    words += f"{_games(lost)} {'was' if lost == 1 else 'were'} lost on time."
    if unknown:
        words += f" Of {_games(unknown)} that {'was' if unknown == 1 else 'were'} lost, the files do not say how."
    return f"<p>{words}</p>{_image(quality_plot(rows), words)}{_quality_table(rows)}"


def _kinds(games: Sequence[PlayerGame]) -> str:
    rows = figures.kinds(games)
    if not rows:
        return "<p>There is no move marked ? or ??.</p>"
    count, lost = sum(each.count for each in rows), sum(each.lost for each in rows)
    words = (
        f"{counted(count, 'mistake')} (marked ? or ??) in {_games(len(games))} lost {lost / len(games):.2f} expected "
        f"points per game. The most expensive kind: {KINDS[rows[0].kind][0].lower()}{KINDS[rows[0].kind][1:]}."
    )
    table = _table(
        ("Kind", "Number", "Points lost", "Worst"),
        (
            (
                False,
                (
                    KINDS[each.kind],
                    str(each.count),
                    f"{each.lost:.1f}",
                    f"{escape(_number(each.worst[1].move))} {_where(each.worst[0])}. "
                    f"{escape(each.worst[1].move.explanation or '')}",
                ),
            )
            for each in rows
        ),
        "worded",
    )
    return f"<p>{words}</p>{_image(kinds_plot(rows, len(games)), words)}{table}"


def _turning(games: Sequence[PlayerGame]) -> str:
    (won, missed), worse = figures.conversion(games), figures.holding(games)
    parts = []
    for each, least, words in (
        (won, WON, f"had a won position (Win% of at least {WON:.0f}) at some move"),
        (worse, WORSE, f"had a much worse position (Win% of at most {WORSE:.0f}) at some move"),
    ):
        if not each.games:
            parts.append(f"<p>No game {words}.</p>")
            continue
        scored = f"{each.wins} won, {each.draws} drawn, {each.losses} lost"
        assert each.share is not None
        rate = (
            f"Converted: {_percent(each.wins / each.games)}."
            if least == WON
            else f"Points saved: {_percent(each.share.value)}."
        )
        few = f" Fewer than {FEW_GAMES} games say little." if each.games < FEW_GAMES else ""
        parts.append(f"<p>{_games(each.games)} {words}: {scored}. <strong>{rate}</strong>{few}</p>")
    if missed:
        items = "".join(
            f"<li>{escape(f'{move.win_before:.0f} %')} before {escape(_number(move))}, "
            f"{'drawn' if game.points else 'lost'} {_where(game)}</li>"
            for game, move in missed[:_SHOWN_GAMES]
        )
        parts.append(f"<h3>Won positions that were not won in the end</h3><ul>{items}</ul>")
    return "".join(parts)


def _trend(games: Sequence[PlayerGame]) -> str:
    picture = trend_plot(games)
    words = "Accuracy of each game, in the order of the files."
    return f"<p>{words}</p>{_image(picture, words)}" if picture else ""


def _openings(games: Sequence[PlayerGame]) -> str:
    rows = [each for each in figures.openings(games) if each.results.games]
    if not rows:
        return ""
    table = _table(
        ("Opening", "As", "Games", "Score %", "Performance", "Accuracy %"),
        (
            (
                each.results.games < FEW_OF_AN_OPENING,
                (
                    escape(each.opening),
                    _COLOURS[each.white],
                    str(each.results.games),
                    _with_margin(each.results.share, 100, 0),
                    _rating(each.results),
                    _with_margin(each.results.accuracy),
                ),
            )
            for each in rows[:_SHOWN_OPENINGS]
        ),
        "named",
    )
    more = len(rows) - _SHOWN_OPENINGS
    rest = (
        f'<p class="soft">{counted(more, "more opening")}, with at most '
        f"{_games(rows[_SHOWN_OPENINGS].results.games)} each.</p>"
        if more > 0
        else ""
    )
    enough = sorted((each for each in rows if each.results.games >= FEW_OF_AN_OPENING), key=lambda each: each.order)
    if len(enough) < 2:
        said = (
            f"<p>Fewer than two openings have at least {FEW_OF_AN_OPENING} games, so no opening is called strong or "
            "weak.</p>"
        )
        worst = enough or rows[:_SHOWN_SPOTS]
    else:
        strong, weak = enough[-1], enough[0]
        difference = f"The difference {'is more than' if figures.differ(enough) else 'may be'} chance."
        said = f"<p>Strongest: {_named(strong)}. Weakest: {_named(weak)}. {difference}</p>"
        worst = enough[:_SHOWN_SPOTS]
    spots = "".join(_spot(each) for each in worst if each.spot)
    where = "Where points were lost in the opening" if len(enough) < 2 else "Where the weakest openings go wrong"
    return f"{said}{table}{rest}" + (f'<h3>{where}</h3><div class="pair">{spots}</div>' if spots else "")


def _named(each: OpeningResults) -> str:
    share = each.results.share
    scored = f", {_percent(share.value)} in {_games(each.results.games)}" if share else ""
    return escape(f"{each.opening} as {_COLOURS[each.white]}{scored}")


def _spot(each: OpeningResults) -> str:
    """Return a diagram of where an opening goes wrong, with the move played in red and the better move in green."""
    spot = each.spot
    assert spot is not None
    board = chess.Board(spot.fen, chess960=spot.chess960)
    arrows = [_arrow(board, spot.played.san, "#b03020cc")]
    better = ""
    if spot.played.best and spot.played.best != spot.played.san:
        arrows.append(_arrow(board, spot.played.best, "#2d7a3fcc"))
        better = f"; the engine plays {spot.played.best}"
    words = (
        f"Reached in {_games(spot.reached)}. {_number(spot.played)} was played "
        f"{'once' if spot.times == 1 else f'{spot.times} times'}{better}. "
        f"Lost here: {spot.lost:.2f} expected points in all."
    )
    picture = chess.svg.board(board, orientation=each.white, arrows=arrows, coordinates=False)
    name = escape(f"{each.opening} as {_COLOURS[each.white]}")
    return f"<div><h3>{name}</h3>{_image(str(picture).encode(), words, 'diagram')}<p>{escape(words)}</p></div>"


def _arrow(board: chess.Board, san: str, colour: str) -> chess.svg.Arrow:
    move = board.parse_san(san)
    return chess.svg.Arrow(move.from_square, move.to_square, color=colour)


def _method(about: Mapping[str, Any]) -> str:
    [(name, value)] = about["limit"].items()
    amount = {"nodes": f"{value} nodes", "depth": f"a depth of {value}", "time": f"{value:g} seconds"}[name]
    engine = about["engine"]
    who = f"{engine} (by Knightadder {__version__})" if engine else f"Knightadder {__version__}"
    return (
        f"<ul><li>Each position was evaluated by {escape(who)} with {amount}. A different engine or limit gives "
        "different figures, so compare only reports with the same engine and limit.</li>"
        "<li>Win% and accuracy are computed with Lichess's formulas (lichess.org/page/accuracy). The accuracy in a "
        "phase, or with some time left, is the average over the moves; the accuracy of a game is computed as on "
        "Lichess.</li>"
        "<li>Expected points lost are the drop in Win% by the player's moves, as a share of a point.</li>"
        "<li>± is half of the 95 % interval, computed from the spread between games. Where two intervals overlap, "
        "the difference may be chance. For the interval of a score, two wins and two losses are added.</li>"
        "<li>The performance is the rating for which Elo's formula expects the points scored against the rated "
        "opponents. If all these games were won, or all lost, there is no performance.</li>"
        "<li>The time left depends on the phase: moves with much time left are mostly opening moves.</li>"
        "<li>In the order of the openings, the score of an opening with few games is drawn toward the player's "
        "average. The strongest and the weakest differ by more than chance if random exchanges of results between the "
        "openings rarely (in 5 %) make the best and the worst so different.</li>"
        "<li>The phases are as on Lichess: they depend on the number of remaining pieces, on sparse back ranks, and "
        "on how mixed the pieces of both sides are.</li>"
        "<li>The kind of a mistake is derived only from the engine's best lines before and after it. A named kind is "
        "certain, but some mistakes have no proven kind and are in the last group.</li></ul>"
    )


# --- puzzles -------------------------------------------------------------------------------------------------------


def _puzzles(player: str, puzzles: Sequence[MistakePuzzle]) -> str:
    if not puzzles:
        return ""
    data = json.dumps([_puzzle(each) for each in puzzles]).replace("<", "\\u003c")
    return _SOLVER.format(player=escape(player), data=data, script=_file("page.js"))


def _puzzle(puzzle: MistakePuzzle) -> dict[str, Any]:
    move, game = puzzle.mistake.move, puzzle.game
    board = chess.Board(move.fen, chess960=game.chess960)
    kind = KINDS[move.fault or "other"]
    good = []
    for first, _, line in sorted(puzzle.good, key=lambda choice: -choice[1]):
        end = board.copy(stack=False)
        end.push(first)
        good.append(
            {"uci": first.uci(), "san": board.san(first), "line": board.variation_san(line), "after": end.fen()}
        )
    return {
        "fen": move.fen,
        "white": board.turn == chess.WHITE,
        "played": move.san,
        "before": round(max(win for _, win, _ in puzzle.good)),
        "after": round(move.win_after or 0),
        "task": f"Against {game.opponent_and_date}, move {move.number}. What went wrong: {kind[0].lower()}{kind[1:]}.",
        "explanation": move.explanation,
        "legal": [{"uci": each.uci(), "san": board.san(each)} for each in board.legal_moves],
        "good": good,
    }


def _piece_styles() -> str:
    styles = []
    for symbol, picture in chess.svg.PIECES.items():
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45">{picture}</svg>'
        name = f"{'w' if symbol.isupper() else 'b'}{symbol.lower()}"
        styles.append(f'.piece-{name} {{ background-image: url("{_address(svg.encode())}") !important }}')
    return "\n".join(styles)
