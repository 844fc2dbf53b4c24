"""Draws the evaluations of a game: White's win percentage after each move, and the marks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from knightadder.files import writing
from knightadder.review.accuracy import win_percent
from knightadder.review.judgement import Judgement
from knightadder.review.review import Review

_COLOURS = {
    Judgement.BRILLIANT: "#0e9a93",
    Judgement.GREAT: "#2f74c9",
    Judgement.INACCURACY: "#e0a030",
    Judgement.MISTAKE: "#e06a20",
    Judgement.BLUNDER: "#c02020",
}


def draw(review: Review, headers: Mapping[str, str], first_ply: int, file: Path) -> None:
    """Draw a game into a file, ``.svg`` or ``.png``; `first_ply` is the number of plies before its first position."""
    known = [
        (ply, win_percent(review.scale(each.score.white()))) for ply, each in enumerate(review.evaluations) if each
    ]
    # The unit of the x-axis is a full move: the position after White's move 10 is at 9.5, after Black's move 10 at 10.
    moves = [(first_ply + ply) / 2 for ply, _ in known]
    wins = [win for _, win in known]
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.fill_between(moves, 0, wins, color="#f4f4f0")
    axes.fill_between(moves, wins, 100, color="#404040")
    axes.axhline(50, color="#909090", linewidth=0.8)
    axes.plot(moves, wins, color="#3a76b0", linewidth=1.2)
    for judgement, colour in _COLOURS.items():
        marked = {number + 1 for number, each in enumerate(review.judgements) if each is judgement}
        points = [(move, win) for move, (ply, win) in zip(moves, known, strict=True) if ply in marked]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=colour, markersize=4, label=judgement.mark)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(ylim=(0, 100), ylabel="White's win %", xlabel="Move")
    if moves:
        axes.set_xlim(moves[0], max(moves[-1], moves[0] + 0.5))
    title = " - ".join(headers.get(name, "?") for name in ("White", "Black"))
    axes.set_title(f"{title}  {headers.get('Result', '*')}", parse_math=False, fontsize=10)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    # Names may be in any script: letters that the font lacks become boxes. The fixed salt makes files reproducible.
    with writing(file), warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "knightadder"}):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(file, dpi=120, metadata={"Date": None} if file.suffix == ".svg" else None)
