"""The kinds of picture that a reproduction needs, each drawn from a table of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from torchalu.report.style import INK, in_letters, polish, require_matplotlib, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["linear", "log", "even"]

WIDTH = 9.0
"""Inches; at 900 pixels a point of type is 1.4 pixels."""

MEASURES = (
    ("success rate", "solved_rate", "solved_low", "solved_high"),
    ("solved at iteration step", "solved_at_mean", "solved_at_low", "solved_at_high"),
    ("sparsity error", "sparsity_error_mean", "sparsity_error_low", "sparsity_error_high"),
)
"""The three panels: title, column, and the columns of its interval."""

OPERATIONS = {"add": "+", "sub": "−", "mul": "×", "div": "÷", "square": "z²", "root": "√z"}
_OURS, _PUBLISHED = "#0072B2", "#D55E00"
_LOG_RATIO = 30.0
_FEW_SEEDS = 5


def draw_sweep(
    summary: pl.DataFrame, varied: str, label: str, *, scale: Scale = "even", title: str = ""
) -> Figure:
    """Success rate, step at which it is solved, and sparsity error against what is varied.

    A color and a marker a model, 95% intervals as bars. A model without a solved seed has no
    point in the second panel. Rates of fewer than five seeds have no bars, which would span half
    of the panel; its title tells how many seeds there are.

    Args:
        summary: a row a model and value, with the columns of `evaluate.summarize`, `seeds` not
            needed.
        varied: the column that goes along the axis.
        label: what to call it there.
        scale: "linear" or "log" for numbers, "even" for equal steps from each value to the next.
        title: a line above.

    Returns:
        The figure, three panels side by side and the models below.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"model": "NMU", "size": 2}
        >>> row |= {column: 0.5 for _, *columns in MEASURES for column in columns}
        >>> figure = draw_sweep(pl.DataFrame([row]), "size", "hidden size")
        >>> [axes.get_title() for axes in figure.axes]
        ['success rate', 'solved at iteration step', 'sparsity error']
    """
    needed = ["model", varied, *(name for _, *names in MEASURES for name in names)]
    check_columns(summary, needed)
    figure = require_matplotlib()(figsize=(WIDTH, 3.6 if title else 3.4), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, 3, sharex=True)
    models = summary["model"].unique(maintain_order=True).to_list()
    ticks = summary[varied].unique(maintain_order=True).to_list()
    places = {
        value: index if scale == "even" else float(value) for index, value in enumerate(ticks)
    }
    step = _step([places[value] for value in ticks], len(models), scale)
    seeds = _few_seeds(summary)
    for axes, (name, *columns) in zip(panels, MEASURES, strict=True):
        if seeds and name == "success rate":
            name, columns = f"{name}, {seeds}", columns[:1] * 3
        for index, (model, style) in enumerate(styles(models).items()):
            rows = summary.filter(pl.col("model") == model)
            x = np.array([places[value] for value in rows[varied]])
            off = (index - (len(models) - 1) / 2) * step
            x = x * np.exp(off) if scale == "log" else x + off
            _draw_points(axes, x, rows, columns, style, in_letters(model))
        _scale_across(axes, scale, ticks)
        axes.set_title(name, fontsize=11, color=INK)
        polish(axes)
    _scale_up(panels, summary)
    panels[1].set_xlabel(label, color=INK)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=min(len(models), 6), frameon=False)
    return figure


def check_columns(table: pl.DataFrame, needed: Sequence[str]) -> None:
    """Raises a ValueError if a table has no row or lacks one of the columns."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ValueError(
            f"the table lacks {', '.join(missing)}; it has {', '.join(table.columns)}; "
            "make it with `torchalu run`"
        )
    if table.is_empty():
        raise ValueError("the table has no row; run the experiment first")


def in_order(operations: pl.Series) -> list[str]:
    """The operations that there are, sums first."""
    known = list(OPERATIONS)
    present = operations.unique(maintain_order=True).to_list()
    return sorted(present, key=lambda name: known.index(name) if name in known else len(known))


def _few_seeds(summary: pl.DataFrame) -> str:
    """How many seeds there are, if they are too few for intervals of a rate; else nothing."""
    if "seeds" not in summary.columns or summary["seeds"].max() >= _FEW_SEEDS:  # type: ignore
        return ""
    counts = summary["seeds"].unique().sort().to_list()
    most = f"{counts[-1]} seed{'s' if counts[-1] > 1 else ''}"
    return most if len(counts) == 1 else f"{counts[0]} to {most}"


def _step(places: list[float], models: int, scale: Scale) -> float:
    """How far apart the models stand at one value, so that their bars do not hide each other."""
    if len(places) < 2:
        return 0.08
    at = np.sort(np.log(places) if scale == "log" else np.asarray(places, float))
    return min(min(0.16, 0.6 / models) * float(np.median(np.diff(at))), 0.02 * float(np.ptp(at)))


def _draw_points(
    axes: Axes,
    x: np.ndarray,
    rows: pl.DataFrame,
    columns: Sequence[str],
    style: tuple[str, str],
    label: str,
) -> None:
    """A model's means with their intervals, joined by a thin line."""
    mean, low, high = (rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in columns)
    color, marker = style
    shown = np.isfinite(mean)
    low, high = np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)
    bars = np.clip([mean - low, high - mean], 0, None)[:, shown]
    axes.errorbar(
        x[shown], mean[shown], bars,
        color=color, marker=marker, ms=5, lw=0.9, elinewidth=1.1, capsize=2, label=label,
        mec="white", mew=0.5,
    )  # fmt: skip


def _scale_across(axes: Axes, scale: Scale, ticks: list) -> None:
    """The axis of what is varied."""
    if scale == "log":
        axes.set_xscale("log")
    if scale != "even":
        return
    texts = [f"{tick:g}" if isinstance(tick, float) else str(tick) for tick in ticks]
    crowded = sum(map(len, texts)) > 34
    axes.set_xticks(
        range(len(ticks)), texts,
        rotation=90 if crowded else 0, fontsize=8 if crowded else 10,
    )  # fmt: skip


def _scale_up(panels: Sequence[Axes], summary: pl.DataFrame) -> None:
    """The axes of the three measures: percent; steps, logarithmic if they span much; from 0."""
    success, steps, sparsity = panels
    success.set_ylim(-0.04, 1.04)
    success.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    taken = summary["solved_at_mean"].cast(pl.Float64).drop_nulls().drop_nans()
    if taken.is_empty():
        for axes in (steps, sparsity):
            axes.set_yticks([])
            axes.text(
                0.5, 0.5, "no seed solved it", color=INK, ha="center", transform=axes.transAxes
            )
        return
    if taken.min() > 0 and taken.max() / taken.min() >= _LOG_RATIO:  # type: ignore
        steps.set_yscale("log")
    else:
        steps.set_ylim(bottom=0)
        steps.yaxis.set_major_formatter(_millions)
    errors = summary["sparsity_error_high"].cast(pl.Float64).drop_nulls().drop_nans()
    top = errors.max() if len(errors) and errors.max() else 0.5
    sparsity.set_ylim(-0.04 * top, 1.08 * top)  # type: ignore


def _millions(steps: float, _: float) -> str:
    """A number of steps, short."""
    if steps >= 1e6:
        return f"{steps / 1e6:g}M"
    return f"{steps / 1e3:g}k" if steps >= 1e3 else f"{steps:g}"


def draw_rates(summary: pl.DataFrame, *, title: str = "") -> Figure:
    """Success rates with their Wilson intervals beside the published ones: a row a model.

    Args:
        summary: a row a model and operation: model, operation, solved_rate, solved_low,
            solved_high, and published_rate, published_low, published_high, null where nothing was
            published.
        title: a line above.

    Returns:
        The figure, a panel an operation.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"model": "NMU", "operation": "mul", "solved_rate": 0.9, "solved_low": 0.8}
        >>> row |= {"solved_high": 0.95, "published_rate": 0.98, "published_low": 0.93}
        >>> figure = draw_rates(pl.DataFrame([row | {"published_high": 0.99}]))
        >>> len(figure.axes)
        1
    """
    ours = ("solved_rate", "solved_low", "solved_high")
    theirs = ("published_rate", "published_low", "published_high")
    check_columns(summary, ["model", "operation", *ours, *theirs])
    models = summary["model"].unique(maintain_order=True).to_list()
    operations = in_order(summary["operation"])
    columns = min(len(operations), 3)
    lines = -(-len(operations) // columns)
    figure = require_matplotlib()(
        figsize=(WIDTH, 0.9 + lines * (0.7 + 0.3 * len(models))), layout="constrained"
    )
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    off = 0.15 if summary["published_rate"].is_not_null().any() else 0.0
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, operation in zip(grid, operations, strict=False):
        rows = summary.filter(pl.col("operation") == operation)
        y = np.array([models.index(model) for model in rows["model"]], float)
        _draw_rate(axes, rows, ours, y - off, (_OURS, "o", _OURS, "ours"))
        if off:
            _draw_rate(axes, rows, theirs, y + off, (_PUBLISHED, "s", "white", "published"))
        axes.set_title(OPERATIONS.get(operation, operation), fontsize=12, color=INK)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100%"])
        axes.set_xlim(-0.05, 1.05)
        axes.set_yticks(range(len(models)), [in_letters(model) for model in models])
        axes.set_ylim(len(models) - 0.4, -0.6)
        polish(axes)
    for axes in grid[len(operations) :]:
        axes.set_visible(False)
    handles = grid[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _draw_rate(
    axes: Axes,
    rows: pl.DataFrame,
    columns: Sequence[str],
    y: np.ndarray,
    style: tuple[str, str, str, str],
) -> None:
    """Rates along the axis, with their intervals."""
    rate, low, high = (rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in columns)
    color, marker, face, label = style
    shown = np.isfinite(rate)
    bars = np.clip([rate - low, high - rate], 0, None)[:, shown]
    axes.errorbar(
        rate[shown], y[shown], xerr=bars,
        fmt=marker, color=color, mfc=face, ms=5, elinewidth=1.3, capsize=2, label=label,
    )  # fmt: skip
