"""Errors on series that are longer than those of the training, with bands over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 4.2
_LEAST = 1e-6  # an axis with logarithms has no 0
_MOST = 1000.0


def draw_extrapolation(
    summary: pl.DataFrame, label: str = "model", *, measure: str = "mae", title: str = ""
) -> Figure:
    """The error against the length of the series, both on logarithmic axes.

    Lines are medians over the seeds, bands reach from the best seed to the worst, rings are
    published. Errors below 1e-6 are drawn there; what is not finite is left out, and the picture
    ends at a thousand times the middle one of the errors at the greatest length.

    Args:
        summary: a row a task, label and length: `median_...`, `best_...`, `worst_...` and
            `published_...` of the measure, the last null where nothing was published.
        label: the column that lines are told apart by.
        measure: the end of these columns' names.
        title: a line above.

    Returns:
        The figure, a panel a task, and what the lines are below.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"task": ["sum"] * 2, "model": ["NAU"] * 2, "length": [10, 1000]}
        >>> rows |= {f"{part}_mae": [0.1, 1.0] for part in ("median", "best", "worst", "published")}
        >>> [axes.get_title() for axes in draw_extrapolation(pl.DataFrame(rows)).axes]
        ['sum']
    """
    parts = [f"{part}_{measure}" for part in ("median", "best", "worst", "published")]
    check_columns(summary, ["task", label, "length", *parts])
    tasks = summary["task"].unique(maintain_order=True).to_list()
    names = [str(name) for name in summary[label].unique(maintain_order=True)]
    figure = require_matplotlib()(figsize=(WIDTH, _HEIGHT), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, len(tasks), squeeze=False).flatten()
    for axes, task in zip(panels, tasks, strict=True):
        for name, (color, marker) in styles(names).items():
            own = (pl.col("task") == task) & (pl.col(label).cast(pl.String) == name)
            line = summary.filter(own).sort("length")
            at = line["length"].to_numpy()
            middle, low, high, published = (_drawable(line[part]) for part in parts)
            axes.fill_between(at, low, high, color=color, alpha=0.15, lw=0)
            axes.plot(at, middle, color=color, marker=marker, ms=5, lw=1.1, label=name)
            axes.plot(at, published, color=color, marker="o", ms=9, mfc="none", lw=0)
        rows = summary.filter(pl.col("task") == task)
        lengths = rows["length"].unique().sort().to_list()
        axes.set_xscale("log")
        axes.set_yscale("log")
        _cut(axes, _drawable(rows.filter(length=lengths[-1])[parts[0]]))
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.minorticks_off()
        axes.set_xlabel("length", color=INK)
        axes.set_title(task, fontsize=11, color=INK)
        polish(axes)
    panels[0].set_ylabel(f"{measure.upper()}, median of the seeds", color=INK)
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _cut(axes: Axes, farthest: np.ndarray) -> None:
    """End the picture where errors are beyond what tells the others apart."""
    finite = farthest[np.isfinite(farthest)]
    if len(finite):
        axes.set_ylim(top=min(axes.get_ylim()[1], _MOST * float(np.median(finite))))


def _drawable(values: pl.Series) -> np.ndarray:
    """Errors as a logarithmic axis takes them; NaN leaves a gap."""
    numbers = values.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(float)
    return np.where(np.isfinite(numbers), np.maximum(numbers, _LEAST), np.nan)
