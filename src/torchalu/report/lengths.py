"""Whole strings right against their length, as tables of learned algorithms have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEASURES = ("rate", "rate_low", "rate_high")
_COLUMNS, _HEIGHT = 3, 2.4
_NEAR = 0.08  # parts of an axis, which a number of two digits takes


def draw_lengths(summary: pl.DataFrame, label: str = "model", *, title: str = "") -> Figure:
    """The share of strings that are right as a whole, against their length.

    Args:
        summary: a row a task, label and length: `rate`, `rate_low`, `rate_high`.
        label: the column that lines are told apart by.
        title: a line above.

    Returns:
        The figure, a panel a task, and what the lines are below.

    Raises:
        ValueError: if the summary lacks a column, has no row, or has a length below 1.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"task": ["badd"] * 2, "model": ["improved"] * 2, "length": [20, 2000]}
        >>> rows |= {"rate": [1.0, 0.9], "rate_low": [0.9, 0.8], "rate_high": [1.0, 0.95]}
        >>> [axes.get_title() for axes in draw_lengths(pl.DataFrame(rows)).axes]
        ['badd']
    """
    check_columns(summary, ["task", label, "length", *_MEASURES])
    least = min(summary["length"].to_list())
    if least < 1:
        raise ValueError(f"length has {least}; allowed: 1 or more, on a logarithmic axis")
    tasks = summary["task"].unique(maintain_order=True).to_list()
    names = [str(name) for name in summary[label].unique(maintain_order=True)]
    columns = min(_COLUMNS, len(tasks))
    rows = -(-len(tasks) // columns)
    figure = require_matplotlib()(figsize=(WIDTH, 0.8 + _HEIGHT * rows), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for axes in panels[len(tasks) :]:
        axes.remove()
    for axes, task in zip(panels, tasks, strict=False):
        for name, (color, marker) in styles(names).items():
            own = (pl.col("task") == task) & (pl.col(label).cast(pl.String) == name)
            line = summary.filter(own).sort("length")
            middle, low, high = (line[column].to_numpy() for column in _MEASURES)
            axes.errorbar(
                line["length"].to_numpy(), middle,
                np.clip([middle - low, high - middle], 0, None),
                color=color, marker=marker, ms=5, lw=0.9, elinewidth=1.1, capsize=2,
                label=name.replace("_", " "), mec="white", mew=0.5,
            )  # fmt: skip
        _scale(axes, summary.filter(pl.col("task") == task)["length"].unique().sort().to_list())
        axes.set_title(task, fontsize=11, color=INK)
    if len(names) > 1:
        handles, texts = panels[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _scale(axes: Axes, lengths: list[int]) -> None:
    """Lengths on a logarithmic axis, named where there is room; shares in percent."""
    axes.set_xscale("log")
    axes.set_xticks(lengths, _names(lengths))
    axes.minorticks_off()
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("length", color=INK)
    polish(axes)


def _names(lengths: list[int]) -> list[str]:
    """Texts of the ticks; none for a length that is near to the one before it."""
    least = (lengths[-1] / lengths[0]) ** _NEAR
    names, before = [], 0.0
    for length in lengths:
        far = length >= before * least
        names.append(str(length) if far else "")
        before = length if far else before
    return names
