"""Pictures of compared activations: accuracy against size, success against size, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POSITIVE, _NEGATIVE = "#E66100", "#0072B2"
_THICKEST = 5.0
_ERROR_FLOOR = 1e-4
_FEW_POWERS = 100
_COLORS = (
    *("#000000", "#0072B2", "#D55E00", "#009E73"),
    *("#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"),
)
_MARKERS = "osD^vPX"
_ERRORS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_ENDS = ("rate", "low", "high")


def draw_accuracies(summary: pl.DataFrame, *panel: str, title: str = "") -> Figure:
    """Test error against the number of parameters: a panel a network, a line an activation.

    Both axes are logarithmic. Bars are standard deviations over seeds. What has no parameters is
    a horizontal line.

    Args:
        summary: a row an activation and size, with the columns of `evaluate.compare`, label and
            parameters.
        *panel: the columns that tell the panels apart; all after the first are named there.
        title: a line above.

    Returns:
        The figure, the activations below.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"network": "mlp", "label": "ReLU", "parameters": 100, "mean": 0.9, "sd": 0.01}
        >>> [axes.get_title() for axes in draw_accuracies(pl.DataFrame([row]), "network").axes]
        ['MLP']
    """
    check_columns(summary, [*panel, "label", "parameters", "mean", "sd"])
    panels = summary.select(panel).unique(maintain_order=True).rows(named=True)
    labels = summary["label"].unique(maintain_order=True).to_list()
    figure = require_matplotlib()(figsize=(WIDTH, 4.8), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False).ravel()
    for axes, values in zip(grid, panels, strict=True):
        for label, style in _styles(labels).items():
            rows = summary.filter(pl.col("label") == label, **values)
            if rows["parameters"].null_count():
                error = 1 - float(rows["mean"].max())  # type: ignore
                axes.axhline(error, color=style[0], ls="--", lw=1.2, label=label)
            else:
                _draw_errors(axes, rows.sort("parameters"), style, label)
        first, *others = values.items()
        name = [str(first[1]).upper(), *(f"{key} {value}" for key, value in others)]
        axes.set_title(", ".join(name), fontsize=11, color=INK)
        axes.set_xlabel("parameters", color=INK)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _number_sizes(axes)
        polish(axes)
    low, high = grid[0].get_ylim()
    ticks = [tick for tick in _ERRORS if low <= tick <= high]
    grid[0].set_yticks(ticks, [f"{100 * tick:g}%" for tick in ticks])
    grid[0].tick_params(which="minor", labelleft=False)
    grid[0].set_ylabel("test error", color=INK)
    handles, names = _all_handles(grid)
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _number_sizes(axes: Axes) -> None:
    """Whole numbers at 1, 2 and 5 on a logarithmic axis of less than two powers of ten."""
    low, high = axes.get_xlim()
    if high < _FEW_POWERS * low:
        ticks = [step * 10**power for power in range(int(np.log10(high)) + 1) for step in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.tick_params(axis="x", which="minor", labelbottom=False)


def draw_successes(summary: pl.DataFrame, along: str, label: str, *, title: str = "") -> Figure:
    """How often something was learned, how often read off, and how accurately it is computed.

    Args:
        summary: a row an activation and size, with label, `solved_rate`, `read_rate`, their
            intervals, and `accuracy_mean`.
        along: the column that goes along the axis.
        label: what to call it there.
        title: a line above.

    Returns:
        The figure, three panels side by side and the activations below.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"label": "ReLU", "inputs": 4, "accuracy_mean": 0.9}
        >>> row |= {f"{name}_{end}": 0.5 for name in ("solved", "read") for end in _ENDS}
        >>> figure = draw_successes(pl.DataFrame([row]), "inputs", "bits")
        >>> [axes.get_title() for axes in figure.axes]
        ['read off as the parity', 'right on every input tried', 'accuracy']
    """
    measures = {
        "read off as the parity": tuple(f"read_{end}" for end in _ENDS),
        "right on every input tried": tuple(f"solved_{end}" for end in _ENDS),
        "accuracy": ("accuracy_mean",) * 3,
    }
    check_columns(
        summary, ["label", along, *(name for names in measures.values() for name in names)]
    )
    labels = summary["label"].unique(maintain_order=True).to_list()
    ticks = summary[along].unique().sort().to_list()
    figure = require_matplotlib()(figsize=(WIDTH, 3.6), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, (name, columns) in zip(panels, measures.items(), strict=True):
        for index, (unit, (color, marker)) in enumerate(_styles(labels).items()):
            rows = summary.filter(pl.col("label") == unit).sort(along)
            x = np.array([ticks.index(value) for value in rows[along]])
            middle, low, high = (rows[column].to_numpy() for column in columns)
            axes.errorbar(
                x + 0.09 * (index - (len(labels) - 1) / 2), middle,
                np.clip([middle - low, high - middle], 0, None),
                color=color, marker=marker, ms=5, lw=0.9, elinewidth=1.1, capsize=2, label=unit,
                mec="white", mew=0.5,
            )  # fmt: skip
        axes.set_title(name, fontsize=11, color=INK)
        axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
        axes.set_ylim(-0.04, 1.04)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        polish(axes)
    panels[1].set_xlabel(label, color=INK)
    handles, names = _all_handles(panels)
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_networks(weights: pl.DataFrame, *, title: str = "") -> Figure:
    """Networks as nodes and lines: as wide as the weight is large, orange if positive, else blue.

    Widths are relative to the largest weight of a layer; biases are not drawn. Where the next
    layer reads fewer features than a layer gives, lines join the neurons that the activation
    takes together.

    Args:
        weights: a row a weight: label, accuracy, layer, from (null for a bias), to, weight.
        title: a line above.

    Returns:
        The figure, a panel an activation.

    Raises:
        ValueError: if the table lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"label": "ReLU", "accuracy": 0.6, "layer": 0, "from": 0, "to": 0, "weight": 1.0}
        >>> [axes.get_title() for axes in draw_networks(pl.DataFrame([row])).axes]
        ['ReLU: 60.0%']
    """
    check_columns(weights, ["label", "accuracy", "layer", "from", "to", "weight"])
    labels = weights["label"].unique(maintain_order=True).to_list()
    figure = require_matplotlib()(figsize=(WIDTH, 3.4), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, len(labels), squeeze=False).ravel()
    for axes, label in zip(panels, labels, strict=True):
        rows = weights.filter(pl.col("label") == label, pl.col("from").is_not_null())
        axes.set_title(f"{label}: {100 * rows['accuracy'][0]:.1f}%", fontsize=11, color=INK)
        _draw_network(axes, rows)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
    return figure


def _styles(labels: list[str]) -> dict[str, tuple[str, str]]:
    """A color and a marker for each label, in turn; 56 of them differ."""
    return {
        label: (_COLORS[place % len(_COLORS)], _MARKERS[place % len(_MARKERS)])
        for place, label in enumerate(labels)
    }


def _draw_errors(axes: Axes, rows: pl.DataFrame, style: tuple[str, str], label: str) -> None:
    """One activation: means of the test error and their standard deviations."""
    if rows.is_empty():
        return
    color, marker = style
    error = np.maximum(1 - rows["mean"].to_numpy(), _ERROR_FLOOR)
    spread = rows["sd"].cast(pl.Float64).fill_null(0.0).to_numpy()
    lower = np.minimum(spread, error - _ERROR_FLOOR / 2)
    axes.errorbar(
        rows["parameters"].to_numpy(), error, [lower, spread],
        color=color, marker=marker, ms=4, lw=1.0, elinewidth=0.8, capsize=1.5, label=label,
        mec="white", mew=0.4,
    )  # fmt: skip


def _draw_network(axes: Axes, rows: pl.DataFrame) -> None:
    """Columns of nodes from left to right, and the lines between them."""
    layers = rows["layer"].unique().sort().to_list()
    for layer in layers:
        part = rows.filter(pl.col("layer") == layer)
        inputs, outputs = int(part["from"].max()) + 1, int(part["to"].max()) + 1  # type: ignore
        largest = float(part["weight"].abs().max()) or 1.0  # type: ignore
        left, right = 2 * layer, 2 * layer + 1
        for source, target, weight in part.select("from", "to", "weight").iter_rows():
            axes.plot(
                [left, right], [_height(source, inputs), _height(target, outputs)],
                color=_POSITIVE if weight > 0 else _NEGATIVE,
                lw=_THICKEST * abs(weight) / largest, solid_capstyle="round", zorder=1,
            )  # fmt: skip
        if layer != layers[-1]:
            after = rows.filter(pl.col("layer") == layer + 1)
            _join(axes, right, outputs, int(after["from"].max()) + 1)  # type: ignore
        for x, count in ((left, inputs), (right, outputs)):
            heights = [_height(place, count) for place in range(count)]
            axes.plot([x] * count, heights, "o", color=INK, ms=7, mec="white", zorder=2)
    axes.set_xlim(-0.4, 2 * len(layers) - 0.6)
    axes.set_ylim(-2.2, 2.2)


def _join(axes: Axes, x: int, before: int, after: int) -> None:
    """What the activation makes of neurons, where it takes them in groups in their order."""
    for place in range(before):
        target = place * after // before if before > after else place
        axes.plot(
            [x, x + 1], [_height(place, before), _height(target, after)],
            color=INK, lw=0.7, ls=":", zorder=0,
        )  # fmt: skip


def _height(place: int, count: int) -> float:
    """Where a node stands; the first is at the top."""
    return (count - 1) / 2 - place


def _all_handles(panels: np.ndarray) -> tuple[list, list[str]]:
    """One entry of the legend for each label, whichever panels it is in."""
    found: dict[str, object] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)
