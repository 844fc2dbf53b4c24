"""A picture of an SPSA run: the value of each parameter over time."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from knightadder.workshop.run_figures import save_figure
from knightadder.workshop.tune.spsa import Spsa

_COLUMNS = 5
_DOTS_PER_INCH = 100


def draw(spsa: Spsa, file: Path) -> None:
    """Draw the path of each parameter in a separate panel, with a line at the start value, as a PNG file."""
    columns = min(_COLUMNS, len(spsa.tunables))
    lines = -(-len(spsa.tunables) // columns)
    figure = Figure((2.6 * columns, 1.7 * lines + 0.5), layout="constrained")
    figure.suptitle(f"SPSA, {spsa.done} of {spsa.total} pairs of games", fontsize=10)
    all_axes = figure.subplots(lines, columns, squeeze=False, sharex=True).ravel()
    path = spsa.path if spsa.path[-1][0] == spsa.done else [*spsa.path, (spsa.done, spsa.theta)]
    numbers = [number for number, _ in path]
    for place, (axes, tunable) in enumerate(zip(all_axes, spsa.tunables, strict=False)):
        axes.axhline(tunable.start, color="0.6", linewidth=0.8)
        axes.plot(numbers, [theta[place] for _, theta in path])
        # Each panel shows at least one perturbation above and below, so that noise does not look like a trend.
        shown = [theta[place] for _, theta in path]
        axes.set_ylim(min(*shown, tunable.start - tunable.c_end), max(*shown, tunable.start + tunable.c_end))
        axes.set_xlim(0, spsa.total)
        axes.set_title(tunable.name, fontsize=8)
        # Only the lowest panel of each column labels its x-axis.
        axes.tick_params(labelsize=7, labelbottom=place + columns >= len(spsa.tunables))
    for axes in all_axes[len(spsa.tunables) :]:
        axes.set_axis_off()
    save_figure(figure, file, _DOTS_PER_INCH)
