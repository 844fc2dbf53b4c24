"""The plots of a report as SVG: narrow enough for a phone, in colours that can also be told apart in grey."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knightadder.report.figures import Kind, PlayerGame, Quality, Results
from knightadder.review.coach import KINDS

_WIDTH = 4.6  # inches
_WIN, _DRAW, _LOSS, _BAR, _LINE = "#3f7d4e", "#b9b9b3", "#a8402f", "#4a7fb5", "#1f3f60"
_WRAP = 26  # maximum length of a line of a label, in characters
_LEAST_TREND = 20  # minimum number of games for a trend


def results_plot(rows: Mapping[str, Results]) -> bytes:
    """Draw wins, draws and losses of each row as parts of a bar."""
    figure, axes = _figure(0.9 + 0.5 * len(rows))
    for place, each in enumerate(rows.values()):
        left = 0.0
        for count, colour in ((each.wins, _WIN), (each.draws, _DRAW), (each.losses, _LOSS)):
            share = 100 * count / each.games
            axes.barh(place, share, left=left, color=colour, height=0.66)
            if share >= 9:
                dark = colour != _DRAW
                axes.text(left + share / 2, place, str(count), ha="center", va="center", color="w" if dark else "k")
            left += share
    _label(axes, [f"{name} ({each.games})" for name, each in rows.items()])
    axes.set(xlim=(0, 100), xlabel="% of games: won, drawn, lost")
    return _svg(figure)


def quality_plot(rows: Mapping[str, Quality]) -> bytes:
    """Draw the accuracy of each row with its 95 % interval."""
    figure, axes = _figure(1.0 + 0.45 * len(rows))
    known = {name: each.accuracy for name, each in rows.items() if each.accuracy}
    for place, each in enumerate(known.values()):
        axes.barh(place, each.value, color=_BAR, height=0.6)
        if each.margin is not None:
            axes.errorbar(each.value, place, xerr=each.margin, color=_LINE, capsize=4, linewidth=1.5)
    _label(axes, [f"{name.capitalize()} ({each.count})" for name, each in known.items()])
    lowest = min(each.value - (each.margin or 0) for each in known.values())
    axes.set(xlim=(max(0, min(lowest - 5, 60)), 100), xlabel="accuracy % (moves in brackets)")
    return _svg(figure)


def kinds_plot(kinds: Sequence[Kind], games: int) -> bytes:
    """Draw the points lost with each kind of mistake."""
    figure, axes = _figure(0.9 + 0.5 * len(kinds))
    for place, each in enumerate(kinds):
        axes.barh(place, each.lost / games, color=_LOSS, height=0.6)
    _label(axes, [f"{KINDS[each.kind]} ({each.count})" for each in kinds])
    axes.set_xlabel("points lost per game")
    return _svg(figure)


def trend_plot(games: Sequence[PlayerGame]) -> bytes | None:
    """Draw the accuracy of each game, in the order of the files, with a running average; None for too few games."""
    values = [game.accuracy for game in games if game.accuracy is not None]
    if len(values) < _LEAST_TREND:
        return None
    window = max(5, len(values) // 8)
    averages = [sum(values[max(0, end - window) : end]) / min(window, end) for end in range(1, len(values) + 1)]
    figure, axes = _figure(2.6)
    axes.plot(range(1, len(values) + 1), values, "o", color=_BAR, markersize=3, alpha=0.6)
    axes.plot(range(window, len(values) + 1), averages[window - 1 :], color=_LINE, linewidth=2)
    axes.set(ylim=(max(0, min(values) - 5), 100), xlabel=f"game (line: average of {window})", ylabel="accuracy %")
    return _svg(figure)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=10)
    return figure, axes


def _label(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_wrapped(label) for label in labels], parse_math=False)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)


def _wrapped(label: str) -> str:
    lines = [""]
    for word in label.split():
        if lines[-1] and len(lines[-1]) + len(word) >= _WRAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _svg(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # Names may be in any script; letters that the font lacks become boxes. The fixed salt makes files reproducible.
    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "knightadder"}):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    return stream.getvalue()
