"""Pictures with a panel a case: histograms of gates, loss surfaces, counts over a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from torchalu.report.panels import OPERATIONS, WIDTH, check_columns, in_order
from torchalu.report.style import INK, in_letters, polish, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SOLVED, _UNSOLVED = "#0072B2", "#E69F00"


def draw_gates(outcomes: pl.DataFrame, *, title: str = "") -> Figure:
    """Histograms of the gate's value: an operation a row, a model a column.

    At 1 the gate takes the sum, at 0 the product. Solved runs stand below those that are not.

    Args:
        outcomes: a row a run: model, operation, gate, solved.
        title: a line above.

    Returns:
        The figure.

    Raises:
        ValueError: if the table lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> run = {"model": "NALU (shared)", "operation": "mul", "gate": 0.1, "solved": True}
        >>> len(draw_gates(pl.DataFrame([run])).axes)
        1
    """
    check_columns(outcomes, ["model", "operation", "gate", "solved"])
    models = outcomes["model"].unique(maintain_order=True).to_list()
    operations = in_order(outcomes["operation"])
    figure = require_matplotlib()(
        figsize=(WIDTH, 1.2 + 1.9 * len(operations)), layout="constrained"
    )
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    grid = figure.subplots(len(operations), len(models), sharex=True, sharey=True, squeeze=False)
    edges = np.linspace(0, 1, 21)
    for row, operation in enumerate(operations):
        for column, model in enumerate(models):
            axes = grid[row, column]
            runs = outcomes.filter(
                (pl.col("model") == model)
                & (pl.col("operation") == operation)
                & pl.col("gate").is_finite()
            )
            parts = [runs.filter(kept)["gate"].to_numpy() for kept in _solved_or_not()]
            axes.hist(
                parts, edges,
                stacked=True, color=[_SOLVED, _UNSOLVED], label=["solved", "not solved"],
            )  # fmt: skip
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["mul\n0", ".25", ".5", ".75", "add\n1"])
            if row == 0:
                axes.set_title(in_letters(model), fontsize=11, color=INK)
            if column == 0:
                axes.set_ylabel(f"{OPERATIONS.get(operation, operation)}: runs", color=INK)
            polish(axes)
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _solved_or_not() -> tuple[pl.Expr, pl.Expr]:
    """The conditions of the two parts of a histogram."""
    return pl.col("solved"), ~pl.col("solved")


def draw_surfaces(surface: pl.DataFrame, *, title: str = "") -> Figure:
    """The loss over two weights, a panel an epsilon, with a line at every half power of ten.

    Args:
        surface: a row a point: eps, w1, w2, loss. The points of an eps form a grid.
        title: a line above.

    Returns:
        The figure; a star marks the solution, both weights 1.

    Raises:
        ValueError: if the table lacks a column, has no row, or has points missing in the grid.
        ImportError: if matplotlib is missing.

    Example:
        >>> points = [(1.0, a, b, a + b + 0.1) for a in (0.0, 1.0) for b in (0.0, 1.0)]
        >>> table = pl.DataFrame(points, ["eps", "w1", "w2", "loss"], orient="row")
        >>> draw_surfaces(table).axes[0].get_title()
        'ε = 1'
    """
    check_columns(surface, ["eps", "w1", "w2", "loss"])
    epsilons = surface["eps"].unique().sort().to_list()
    figure = require_matplotlib()(figsize=(WIDTH, 3.7), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, len(epsilons), sharex=True, sharey=True, squeeze=False)[0]
    finite = surface.filter(pl.col("loss").is_finite() & (pl.col("loss") > 0))["loss"].log10()
    low, high = np.floor(finite.quantile(0.02) or -1), np.ceil(finite.quantile(0.98) or 1)
    drawn = None
    for axes, epsilon in zip(panels, epsilons, strict=True):
        rows = surface.filter(pl.col("eps") == epsilon).sort("w2", "w1")
        w1, w2 = rows["w1"].unique().sort().to_numpy(), rows["w2"].unique().sort().to_numpy()
        if rows.height != len(w1) * len(w2):
            raise ValueError(
                f"eps {epsilon:g} has {rows.height} points, not the {len(w1)} x {len(w2)} of "
                "a grid; run the experiment again"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            height = np.log10(rows["loss"].to_numpy().reshape(len(w2), len(w1)))
        height = np.clip(height, low, high)
        drawn = axes.pcolormesh(
            w1, w2, height, vmin=low, vmax=high, cmap="cividis", shading="gouraud", rasterized=True
        )
        axes.contour(
            w1,
            w2,
            height,
            np.arange(low + 0.5, high, 0.5),
            colors="white",
            linewidths=0.6,
            linestyles="-",
        )
        axes.plot(1, 1, "*", color="#D55E00", ms=13, mec="white", clip_on=False, zorder=5)
        axes.set_title(_epsilon(epsilon), fontsize=11, color=INK)
        axes.set_xlabel("$w_1$", color=INK)
        axes.tick_params(colors=INK)
    panels[0].set_ylabel("$w_2$", color=INK)
    assert drawn is not None  # a table that is not empty has an epsilon
    bar = figure.colorbar(drawn, ax=list(panels), label="RMS loss", extend="both", pad=0.01)
    exponents = np.arange(low, high + 1, max(1, round((high - low) / 6)))
    bar.set_ticks(exponents, labels=[f"$10^{{{int(e)}}}$" for e in exponents])
    return figure


def _epsilon(value: float) -> str:
    """The panel's title; small values as powers of ten."""
    if value >= 1e-3:
        return f"ε = {value:g}"
    return f"ε = $10^{{{round(np.log10(value))}}}$"


def draw_counts(counts: pl.DataFrame, across: str, *, title: str = "") -> Figure:
    """Solved seeds over a grid: a panel an operation, a model a row, what is varied across.

    Args:
        counts: a row a model, operation and value: model, operation, solved, seeds, and `across`.
        across: the column that goes along the axis.
        title: a line above.

    Returns:
        The figure; each cell has its number of solved seeds, its color the part of all.

    Raises:
        ValueError: if the table lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> row = {"model": "NMU", "operation": "mul", "range": "U[1, 2]"}
        >>> figure = draw_counts(pl.DataFrame([row | {"solved": 20, "seeds": 25}]), "range")
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['20']
    """
    check_columns(counts, ["model", "operation", "solved", "seeds", across])
    models = counts["model"].unique(maintain_order=True).to_list()
    operations = in_order(counts["operation"])
    values = counts[across].unique(maintain_order=True).to_list()
    columns = min(2, len(operations))
    lines = -(-len(operations) // columns)
    figure = require_matplotlib()(
        figsize=(WIDTH, 1.4 + lines * (0.4 + 0.27 * len(models))), layout="constrained"
    )
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, operation in zip(grid, operations, strict=False):
        rows = counts.filter(pl.col("operation") == operation)
        _draw_cells(axes, rows, across, models, values)
        axes.set_title(OPERATIONS.get(operation, operation), fontsize=12, color=INK)
        axes.set_xticks(range(len(values)), [str(value) for value in values], rotation=90)
        axes.set_yticks(range(len(models)), [in_letters(model) for model in models])
        axes.tick_params(colors=INK, labelsize=8, length=0)
        axes.spines[:].set_visible(False)
    for axes in grid[len(operations) :]:
        axes.set_visible(False)
    return figure


def _draw_cells(axes: Axes, rows: pl.DataFrame, across: str, models: list, values: list) -> None:
    """A colored cell with its number for each model and value."""
    rate = np.full((len(models), len(values)), np.nan)
    for row in rows.iter_rows(named=True):
        place = models.index(row["model"]), values.index(row[across])
        rate[place] = row["solved"] / row["seeds"]
        axes.text(
            place[1], place[0], str(row["solved"]),
            ha="center", va="center", fontsize=8, color="white" if rate[place] > 0.5 else "black",
        )  # fmt: skip
    axes.imshow(rate, vmin=0, vmax=1, cmap="Blues", aspect="auto")
