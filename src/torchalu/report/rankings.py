"""Pictures of many activations, one below the other: accuracies, and correlations of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OURS, _PUBLISHED = "#0072B2", "#D55E00"
_KINDS = {"paired": ("#D55E00", "o", -0.17), "unpaired": ("#0072B2", "s", 0.17)}
_LINE = 0.24  # inches for an activation
_ABOUT = 1.3  # inches for what is around a panel
_FAR = 8  # times the range of the middle half: what lies further below it would hide the rest


def draw_ranking(summary: pl.DataFrame, panel: str | None = None, *, title: str = "") -> Figure:
    """Mean accuracies with 95% intervals, the most accurate first; published ones where there are.

    An accuracy far below the others, which would push these together, is written at the edge.

    Args:
        summary: a row an activation, with the columns of `evaluate.compare` and label; with
            `published_accuracy` and `published_standard_error`, or without.
        panel: the column that tells the panels apart; one panel if left out.
        title: a line above.

    Returns:
        The figure, a panel beside the other, each in its own order.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"dataset": "mnist", "label": "ReLU", "mean": 0.9, "low": 0.8, "high": 1.0}
        >>> [axes.get_title() for axes in draw_ranking(pl.DataFrame([row]), "dataset").axes]
        ['mnist']
    """
    check_columns(summary, ["label", "mean", "low", "high", *([panel] if panel else [])])
    parts = summary.partition_by(panel, maintain_order=True) if panel else [summary]
    lines = max(part.height for part in parts)
    figure = require_matplotlib()(figsize=(WIDTH, _ABOUT + _LINE * lines), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    grid = figure.subplots(1, len(parts), squeeze=False).ravel()
    for axes, part in zip(grid, parts, strict=True):
        _draw_means(axes, part.sort("mean", descending=True))
        axes.set_title(str(part[panel][0]) if panel else "", fontsize=11, color=INK)
        axes.set_xlabel("test accuracy", color=INK)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g}%")
        polish(axes)
    handles = max(
        (axes.get_legend_handles_labels() for axes in grid), key=lambda each: len(each[0])
    )
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def draw_correlations(summary: pl.DataFrame, *, title: str = "") -> Figure:
    """Correlations of features before an activation: within its pairs, and of all others.

    A point is the mean over seeds of the mean correlation, a thick line reaches from the lower to
    the upper quartile of all correlations, a thin one from the 5th to the 95th percentile.

    Args:
        summary: a row an activation, layer and kind: label, layer, kind, mean, q05, q25, q75, q95.
        title: a line above.

    Returns:
        The figure, a panel a layer.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"label": "ReLU", "layer": 1, "kind": "paired", "mean": -0.1}
        >>> row |= {"q05": -0.5, "q25": -0.2, "q75": 0.0, "q95": 0.3}
        >>> [axes.get_title() for axes in draw_correlations(pl.DataFrame([row])).axes]
        ['layer 1']
    """
    ends = ("q05", "q25", "q75", "q95")
    check_columns(summary, ["label", "layer", "kind", "mean", *ends])
    labels = summary["label"].unique(maintain_order=True).to_list()
    layers = summary["layer"].unique().sort().to_list()
    height = _ABOUT + 1.5 * _LINE * len(labels)
    figure = require_matplotlib()(figsize=(WIDTH, height), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    grid = figure.subplots(1, len(layers), sharex=True, sharey=True, squeeze=False).ravel()
    for axes, layer in zip(grid, layers, strict=True):
        for kind, (color, marker, off) in _KINDS.items():
            rows = summary.filter(pl.col("layer") == layer, pl.col("kind") == kind)
            y = np.array([labels.index(label) for label in rows["label"]]) + off
            mean, *bounds = (
                rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("mean", *ends)
            )
            axes.hlines(y, bounds[0], bounds[3], color=color, lw=0.9)
            axes.hlines(y, bounds[1], bounds[2], color=color, lw=3.0, alpha=0.6)
            axes.plot(mean, y, marker, color=color, ms=5, mec="white", mew=0.5, label=kind)
        axes.set_title(f"layer {layer}", fontsize=11, color=INK)
        axes.set_xlabel("correlation", color=INK)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        polish(axes)
    handles = grid[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _draw_means(axes: Axes, rows: pl.DataFrame) -> None:
    """Our means and intervals, and the published means and standard errors."""
    y = np.arange(rows.height)
    mean = rows["mean"].to_numpy()
    low, high = (
        rows.select(pl.coalesce(pl.col(name).cast(pl.Float64), "mean")).to_series().to_numpy()
        for name in ("low", "high")
    )
    near = _near(mean)
    axes.errorbar(
        mean[near], y[near], xerr=[(mean - low)[near], (high - mean)[near]],
        fmt="o", color=_OURS, ms=5, elinewidth=1.3, capsize=2, label="ours, 95% interval",
    )  # fmt: skip
    _write_far(axes, mean, y, ~near, _OURS)
    if "published_accuracy" in rows.columns and rows["published_accuracy"].is_not_null().any():
        theirs, error = (
            rows[f"published_{name}"].cast(pl.Float64).fill_null(np.nan).to_numpy()
            for name in ("accuracy", "standard_error")
        )
        near = _near(theirs)
        axes.errorbar(
            theirs[near], y[near], xerr=error[near], fmt="s", color=_PUBLISHED, mfc="white", ms=4.5,
            elinewidth=1.1, capsize=2, label="published, standard error",
        )  # fmt: skip
        _write_far(axes, theirs, y, ~near & ~np.isnan(theirs), _PUBLISHED)
    axes.set_yticks(y, rows["label"].to_list())
    axes.set_ylim(rows.height - 0.4, -0.6)


def _near(accuracies: np.ndarray) -> np.ndarray:
    """Which accuracies do not lie far below the middle half of them."""
    lower, upper = np.nanquantile(accuracies, [0.25, 0.75])
    return accuracies >= lower - _FAR * (upper - lower)


def _write_far(axes: Axes, means: np.ndarray, y: np.ndarray, far: np.ndarray, color: str) -> None:
    """Accuracies that are beyond the axis, in figures."""
    for mean, at in zip(means[far], y[far], strict=True):
        axes.text(
            0.02, at, f"← {100 * mean:.1f}%", transform=axes.get_yaxis_transform(),
            color=color, va="center", fontsize=9,
        )  # fmt: skip
