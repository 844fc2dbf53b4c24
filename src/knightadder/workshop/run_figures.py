"""Figures about runs, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from knightadder.files import replacing


def save_figure(figure: Figure, file: Path, dots_per_inch: int, **options: Any) -> None:
    """Write a figure as a PNG file, completely or not at all; OptionError if that fails."""
    with replacing(file) as beside:
        figure.savefig(beside, dpi=dots_per_inch, format="png", **options)


def draw_losses(
    file: Path, title: str, unit: str, places: Sequence[float], curves: Mapping[str, Sequence[float]], **axis: Any
) -> None:
    """Draw the curve of each named loss over the progress of a run, counted in `unit`; OptionError if that fails."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel=unit, ylabel="mean squared error", title=title, **axis)
    for name, curve in curves.items():
        axes.plot(places, curve, label=name)
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    save_figure(figure, file, 110)
