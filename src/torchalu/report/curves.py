"""Digits that match while networks are trained, on numbers as trained on and on larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEASURES = ("mean", "low", "high")


def draw_curves(summary: pl.DataFrame, *, title: str = "") -> Figure:
    """The share of matching digits of each model against the steps taken, with its band.

    Args:
        summary: a row a model, number of digits and step, and `sees_numbers`, whether a recurrent
            network reads the numbers: `mean`, and the band's `low` and `high`.
        title: a line above.

    Returns:
        The figure, a panel for numbers of so many digits, and the models below. Where a model has
        lines with and without the numbers, two rows of panels: above those without. All models
        that have but one line are in both.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"model": ["LSTM"] * 2, "digits": [2, 3], "step": [1000, 1000]}
        >>> rows |= {"sees_numbers": [True] * 2, "mean": [0.9, 0.2]}
        >>> rows |= {"low": [0.8, 0.1], "high": [1.0, 0.3]}
        >>> [axes.get_title() for axes in draw_curves(pl.DataFrame(rows)).axes]
        ['2 digits', '3 digits']
    """
    check_columns(summary, ["model", "sees_numbers", "digits", "step", *_MEASURES])
    sizes = summary["digits"].unique().sort().to_list()
    rows = _rows(summary)
    height = 1.2 + 2.6 * len(rows)
    figure = require_matplotlib()(figsize=(WIDTH, height), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(len(rows), len(sizes), sharex=True, sharey=True, squeeze=False)
    models = summary["model"].unique(maintain_order=True).to_list()
    for across, (label, lines) in zip(panels, rows.items(), strict=True):
        for axes, digits in zip(across, sizes, strict=True):
            _draw(axes, lines.filter(digits=digits), models)
        across[0].set_ylabel(label, color=INK)
    for axes, digits in zip(panels[0], sizes, strict=True):
        axes.set_title(f"{digits} digits", fontsize=11, color=INK)
    for axes in panels[-1]:
        axes.set_xlabel("step", color=INK)
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=min(len(models), 4), frameon=False)
    return figure


def _rows(summary: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The lines of each row of panels, by what stands beside it."""
    kinds = pl.col("sees_numbers").n_unique().over("model")
    if summary.filter(kinds > 1).is_empty():
        return {"matching digits": summary}
    return {
        f"matching digits,\n{name}": summary.filter((pl.col("sees_numbers") == sees) | (kinds == 1))
        for name, sees in (("symbols are read", False), ("numbers are read, too", True))
    }


def _draw(axes: Axes, lines: pl.DataFrame, models: list[str]) -> None:
    """The lines of a panel with their bands."""
    for model, (color, marker) in styles(models).items():
        line = lines.filter(model=model).sort("step")
        x = line["step"].to_numpy()
        mean, low, high = (line[name].cast(pl.Float64).to_numpy() for name in _MEASURES)
        axes.fill_between(x, low, high, color=color, alpha=0.05, lw=0)
        axes.plot(
            x, mean, color=color, marker=marker, ms=3.5, lw=1.2, label=model,
            mec="white", mew=0.4,
        )  # fmt: skip
    _scale(axes)


def _scale(axes: Axes) -> None:
    """Steps from 0, shares in percent."""
    axes.set_xlim(left=0)
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    polish(axes)
