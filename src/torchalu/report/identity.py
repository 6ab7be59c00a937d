"""Errors of networks that are to give back a number, against the number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = ("error", "error_low", "error_high")
_COLUMNS, _HEIGHT = 4, 1.6
_TRAINED = 5  # numbers up to here were trained on


def draw_identity(summary: pl.DataFrame) -> Figure:
    """The mean error on each number, with its interval.

    Args:
        summary: a row a model and number: `model`, `number`, `error`, `error_low`, `error_high`.

    Returns:
        The figure, a panel a model, with what was trained on shaded. Errors much greater than that
        of always answering 0 are beyond its edge.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"model": ["ReLU"] * 2, "number": [-20, 20], "error": [18.0, 0.5]}
        >>> rows |= {"error_low": [16.0, 0.1], "error_high": [20.0, 0.9]}
        >>> [axes.get_title() for axes in draw_identity(pl.DataFrame(rows)).axes]
        ['ReLU']
    """
    check_columns(summary, ["model", "number", *_MEASURES])
    models = summary["model"].unique(maintain_order=True).to_list()
    columns = min(_COLUMNS, len(models))
    rows = -(-len(models) // columns)
    figure = require_matplotlib()(figsize=(WIDTH, 0.5 + _HEIGHT * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    for axes in panels[len(models) :]:
        axes.remove()
    for axes in panels[max(0, len(models) - columns) : len(models)]:
        axes.tick_params(labelbottom=True)  # those with no panel below
    for axes, model in zip(panels, models, strict=False):
        line = summary.filter(pl.col("model") == model).sort("number")
        numbers = line["number"].to_numpy()
        middle, low, high = (line[name].cast(pl.Float64).to_numpy() for name in _MEASURES)
        axes.axvspan(-_TRAINED, _TRAINED, color=INK, alpha=0.08, lw=0)
        axes.fill_between(numbers, low, high, color="#0072B2", alpha=0.25, lw=0)
        axes.plot(numbers, middle, color="#0072B2", lw=1.2)
        axes.set_title(model, fontsize=10, color=INK)
        polish(axes)
    panels[0].set_ylim(0, 1.2 * float(summary["number"].to_numpy().max()))
    figure.supxlabel("number", color=INK, fontsize=10)
    figure.supylabel("mean absolute error", color=INK, fontsize=10)
    return figure
