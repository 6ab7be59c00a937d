"""A data frame on the terminal, as wide as the terminal is."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text


def print_frame(console: Console, title: str, frame: pl.DataFrame) -> None:
    """Prints a data frame; the last columns are left out where the terminal is too narrow.

    Args:
        console: where to.
        title: stands above.
        frame: what to print.

    Example:
        >>> frame = pl.DataFrame({"model": ["NMU", "NAU"], "solved_rate": [0.98765, None]})
        >>> print_frame(Console(width=30, color_system=None), "units", frame)
        units
        <BLANKLINE>
        model   solved_rate
        ...
        NMU          0.9877
        NAU
        <BLANKLINE>
    """
    shown = frame.width
    while shown > 1 and _width(console, _grid(frame, shown)) > console.width:
        shown -= 1
    left_out = frame.width - shown
    if left_out:
        title = f"{title} ({left_out} more columns in the file)"
    console.print(title, markup=False, highlight=False, soft_wrap=True)
    console.print(_grid(frame, shown))


def in_brief(summary: pl.DataFrame) -> pl.DataFrame:
    """The columns of a summary of successes that one looks at first; other tables as they are.

    Args:
        summary: as `torchalu.evaluate.summarize` gives it, perhaps with published numbers.

    Returns:
        What tells the rows apart, seeds, solved, its 95% interval in percent, the median step, and
        what was published of them. Where a limit is missing or NaN, so is the interval.

    Example:
        >>> rows = {"model": ["NMU"], "seeds": [100], "solved": [91], "solved_rate": [0.91]}
        >>> limits = {"solved_low": [0.838], "solved_high": [0.952], "solved_at_median": [14000.0]}
        >>> in_brief(pl.DataFrame(rows | limits)).row(0)
        ('NMU', 100, 91, '84 to 95%', 14000.0)
    """
    if "solved_rate" not in summary.columns:
        return summary
    labels = summary.columns[: summary.columns.index("seeds")]
    low, high = (
        (pl.col(name).fill_nan(None) * 100).round().cast(pl.Int64)
        for name in ("solved_low", "solved_high")
    )
    interval = pl.format("{} to {}%", low, high).alias("interval")
    short = {"solved_at_median": "median", "published_solved": "published"}
    short["published_solved_at_median"] = "its median"
    there = [pl.col(name).alias(short[name]) for name in short if name in summary.columns]
    return summary.select(*labels, "seeds", "solved", interval, *there)


def _width(console: Console, grid: Grid) -> int:
    """How wide a table would be, if no cell were broken."""
    return Measurement.get(console, console.options.update(max_width=10_000), grid).maximum


def _grid(frame: pl.DataFrame, columns: int) -> Grid:
    """The first columns as a table."""
    grid = Grid(box=box.SIMPLE_HEAD)
    for name in frame.columns[:columns]:
        grid.add_column(name, justify="left" if frame[name].dtype == pl.String else "right")
    for row in frame.iter_rows():
        grid.add_row(*(Text(_cell(value)) for value in row[:columns]))
    return grid


def _cell(value: Any) -> str:
    """A value in a few characters."""
    if value is None:
        return ""
    if not isinstance(value, float) or abs(value) >= 1e15:
        return str(value)
    return f"{value:.0f}" if value.is_integer() or abs(value) >= 1e5 else f"{value:.4g}"
