"""Shows the results of a match: a progress line, tables, and rows for the strength log."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from knightadder.text_table import text_table
from knightadder.workshop.match.standings import HeadToHead, Standings
from knightadder.workshop.match.statistics.elo import (
    HAS_SCIPY,
    Interval,
    elo_interval,
    likelihood_of_superiority,
    normalized_elo,
)

if TYPE_CHECKING:
    from knightadder.workshop.match.statistics.sprt import Sprt

# Explanations of the figures in the final table.
LEGEND = {
    "W-D-L": "wins, draws and losses of the first engine; the percentage is its score, a draw counting half",
    "Draws": "the share of draws among all games",
    "Colours": "the first engine's score with White and with Black, and the score of White in all games",
    "Pairs": "the number of openings, each played with both colours, in which the first engine scored "
    "0, 1/2, 1, 3/2 or 2 points (pentanomial)",
    "Elo": "the difference in strength, computed from the score, and its 95 % error, computed from the pairs; "
    "normalized Elo also takes into account how much the results vary",
    "LOS": "likelihood of superiority: how probable it is that the first engine is stronger, if the number of games "
    "was chosen before the match",
    "LLR": "log-likelihood ratio of the test, its two bounds, and the two hypotheses in Elo; the test ends when the "
    "ratio reaches a bound",
}


def elo_text(interval: Interval) -> str:
    """Return Elo with half the width of its confidence interval: ``+30.3 ± 21.9``. Without SciPy, there is no error."""
    if math.isinf(interval.low) and math.isinf(interval.high):
        return f"{interval.value:+.1f}{' ± unknown' if HAS_SCIPY else ''}"
    error = (interval.high - interval.low) / 2
    return f"{interval.value:+.1f} ± {error:.1f}"


def _llr_text(score: HeadToHead, sprt: Sprt) -> str:
    """Return the log-likelihood ratio, with the bounds and hypotheses of its test, as text."""
    return f"{_llr(score, sprt)} ({sprt.lower:.2f}, {sprt.upper:.2f}) {sprt.hypotheses} {sprt.model}"


def _llr(score: HeadToHead, sprt: Sprt) -> str:
    return f"{round(sprt.llr(score.counts), 2) + 0.0:.2f}"  # no "-0.00"


def progress_line(standings: Standings, total: int | None, sprt: Sprt | None) -> str:
    """Return a line with the state of a match; if there are several pairings, it has only the points of each engine."""
    played = f"{standings.games}/{total}" if total else str(standings.games)
    if len(standings.scores) > 1:
        totals = standings.totals()
        return f"{played}  " + ", ".join(f"{name} {points:g}/{games}" for name, (points, games) in totals.items())
    [((first, second), score)] = standings.scores.items()
    counts = score.counts
    parts = [
        f"{played}  {first} against {second}: {score}",
        f"pairs {list(counts)}",
        f"Elo {elo_text(elo_interval(counts))}",
        f"LOS {likelihood_of_superiority(counts):.1%}",
    ]
    if sprt:
        parts.append(f"LLR {_llr_text(score, sprt)}")
    return "  ".join(parts)


def tables(standings: Standings, sprt: Sprt | None = None, caption: str | None = None) -> Group:
    """Return tables of all results: pairings, ratings of three or more engines (with SciPy), faults and warnings."""
    parts: list[Table | Text]
    if len(standings.scores) == 1:
        [((first, second), score)] = standings.scores.items()
        parts = [Text(f"{first} against {second}"), _score(score, sprt)]
    else:
        parts = [_pairings(standings)]
    if len(standings.faults) > 2 and HAS_SCIPY:
        parts.append(_ratings(standings))
    parts.append(_engines(standings))
    if caption:
        parts.append(Text(caption))
    return Group(*parts)


def legend(standings: Standings, sprt: Sprt | None = None) -> Table:
    """Return a table that explains the figures of `tables`."""
    left_out = set() if len(standings.scores) == 1 else {"Draws", "Colours"}
    if not sprt:
        left_out.add("LLR")
    table = Table.grid(padding=(0, 2))
    for name, meaning in LEGEND.items():
        if name not in left_out:
            table.add_row(name, Text(meaning))
    return table


def _score(score: HeadToHead, sprt: Sprt | None) -> Table:
    counts = score.counts
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_row("Games", f"{score.games}, {score} (W-D-L), {score.share:.1%}")
    table.add_row("Draws", f"{score.draw_ratio:.1%}")
    colors = f"{score.share_with(True):.1%} with White, {score.share_with(False):.1%} with Black"
    table.add_row("Colours", f"{colors}; White {score.white_share:.1%}")
    table.add_row("Pairs", Text(f"{list(counts)} (LL, LD, DD or WL, WD, WW)"))
    table.add_row("Elo", f"{elo_text(elo_interval(counts))}, normalized {normalized_elo(counts):+.1f}")
    table.add_row("LOS", f"{likelihood_of_superiority(counts):.1%}")
    if sprt:
        table.add_row("LLR", Text(_llr_text(score, sprt)))
    return table


def _pairings(standings: Standings) -> Table:
    rows = [
        (
            f"{first} - {second}",
            score.games,
            score,
            f"{score.share:.1%}",
            list(score.counts),
            elo_text(elo_interval(score.counts)),
            f"{likelihood_of_superiority(score.counts):.1%}",
        )
        for (first, second), score in standings.scores.items()
    ]
    return text_table(("Pairing", "Games", "W-D-L", "Score", "Pairs", "Elo", "LOS"), rows)


def _ratings(standings: Standings) -> Table:
    from knightadder.workshop.match.statistics.ratings import rate  # imported late, because it needs SciPy

    rows = []
    totals = standings.totals()
    results = {pairing: score.counts for pairing, score in standings.scores.items() if sum(score.counts)}
    for rank, rating in enumerate(rate(list(standings.faults), results), 1):
        points, played = totals[rating.name]
        share = f"{points / played:.1%}" if played else "-"
        elo = f"{rating.elo:+.1f} ± {rating.error:.1f}"
        rows.append((rank, rating.name, elo, played, share))
    return text_table(("Rank", "Engine", "Elo", "Games", "Score"), rows)


def _engines(standings: Standings) -> Table:
    """Return a table of faults, warnings and the lowest clock of each engine."""
    rows = [
        (
            name,
            kinds_text(standings.faults[name]),
            kinds_text(standings.warnings[name]),
            f"{standings.lowest[name]:.3f} s" if name in standings.lowest else "-",
        )
        for name in standings.faults
    ]
    return text_table(("Engine", "Faults", "Warnings", "Lowest clock"), rows)


def kinds_text(kinds: Mapping[str, int]) -> str:
    """Return the number of faults or warnings of each kind as text: ``2 crash, 1 time``, or ``0``."""
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()) if count) or "0"


def change_row(
    standings: Standings,
    sprt: Sprt | None,
    limits: str,
    book: str,
    today: datetime.date | None = None,
    *,
    change: str | None = None,
    bench: str = "",
    verdict: str | None = None,
) -> str:
    """Return the row of a change in ``docs/strength-log.md``; `bench` is left to the user by default.
    By default, `change` names the engines, and `verdict` is the verdict of the test.
    """
    [((first, second), score)] = standings.scores.items()
    counts = score.counts
    if sprt:
        llr = f"{_llr(score, sprt)} {sprt.hypotheses} {sprt.model}"
        decided = sprt.verdict(counts) or "not decided"
    else:
        llr, decided = "none stated before", ""
    cells = [
        (today or datetime.date.today()).isoformat(),
        f"{first} against {second}" if change is None else change,
        bench,
        limits,
        book,
        str(score.games),
        str(score),
        _interval(elo_interval(counts), 1),
        llr,
        decided if verdict is None else verdict,
    ]
    return _row(cells)


def opponent_rows(standings: Standings, limits: str, book: str, today: datetime.date | None = None) -> list[str]:
    """Return the rows of a gauntlet in ``docs/strength-log.md``, one for each opponent of the first engine."""
    rows = []
    for (first, second), score in standings.scores.items():
        cells = [
            (today or datetime.date.today()).isoformat(),
            first,
            limits,
            book,
            second,
            str(score.games),
            str(score),
            f"{score.share:.1%}",
            _interval(elo_interval(score.counts), 0),
            kinds_text(standings.faults[first]),
            kinds_text(standings.faults[second]),
        ]
        rows.append(_row(cells))
    return rows


def heading(columns: Sequence[str]) -> str:
    """Return the two header lines of a Markdown table."""
    return f"{_row(columns)}\n|{'---|' * len(columns)}"


CHANGE_COLUMNS = (
    "Date",
    "Change",
    "Bench",
    "Time",
    "Book",
    "Games",
    "W-D-L",
    "Elo (95 %)",
    "LLR [hypotheses]",
    "Verdict",
)
OPPONENT_COLUMNS = (
    "Date",
    "Version",
    "Time",
    "Book",
    "Opponent",
    "Games",
    "W-D-L",
    "Score",
    "Elo (95 %)",
    "Our faults",
    "Theirs",
)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _interval(interval: Interval, digits: int) -> str:
    """Return Elo with the ends of its interval as text."""
    if math.isinf(interval.low) and math.isinf(interval.high):
        return f"{interval.value:+.{digits}f} [unknown]"
    return f"{interval.value:+.{digits}f} [{interval.low:+.{digits}f}, {interval.high:+.{digits}f}]"
