"""Rewards against the instruction, within the range of the training and beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib, styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = ("reward_mean", "reward_low", "reward_high")


def draw_returns(
    summary: pl.DataFrame, *, trained: tuple[int, int] = (5, 12), title: str = ""
) -> Figure:
    """The mean reward of each agent against T, its 95% interval as a band, below the best return.

    Args:
        summary: a row a model, way to act and instruction: `reward_mean`, `reward_low`,
            `reward_high`, which may be null, and `optimal_return`.
        trained: the least and the greatest T of the training, which are shaded.
        title: a line above.

    Returns:
        The figure, a panel a way to act, and the agents below.

    Raises:
        ValueError: if the summary lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"model": ["LSTM"] * 2, "actions": ["greedy"] * 2, "instruction": [8, 30]}
        >>> rows |= {"reward_mean": [1.0, 0.4], "reward_low": [0.9, 0.3]}
        >>> rows |= {"reward_high": [1.0, 0.5], "optimal_return": [1.0, 1.0]}
        >>> [axes.get_title() for axes in draw_returns(pl.DataFrame(rows)).axes]
        ['greedy actions']
    """
    check_columns(summary, ["model", "actions", "instruction", *_MEASURES, "optimal_return"])
    ways = summary["actions"].unique(maintain_order=True).to_list()
    figure = require_matplotlib()(figsize=(WIDTH, 3.8), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, len(ways), sharey=True, squeeze=False).flatten()
    models = summary["model"].unique(maintain_order=True).to_list()
    for axes, way in zip(panels, ways, strict=True):
        rows = summary.filter(pl.col("actions") == way).sort("instruction")
        best = rows.unique("instruction", keep="first", maintain_order=True)
        axes.axvspan(trained[0] - 0.5, trained[1] + 0.5, color="#000000", alpha=0.06, lw=0)
        axes.plot(
            best["instruction"].to_numpy(), best["optimal_return"].to_numpy(),
            color=INK, ls="--", lw=0.9, label="best return there is",
        )  # fmt: skip
        for model, (color, marker) in styles(models).items():
            line = rows.filter(pl.col("model") == model)
            x = line["instruction"].to_numpy()
            mean, low, high = (line[name].cast(pl.Float64).to_numpy() for name in _MEASURES)
            axes.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
            axes.plot(
                x, mean, color=color, marker=marker, ms=4, lw=0.9, label=model, mec="white", mew=0.4
            )
        axes.set_title(f"{way} actions", fontsize=11, color=INK)
        axes.set_xlabel("T, the time to arrive at", color=INK)
        axes.set_ylim(-0.04, 1.04)
        polish(axes)
    panels[0].set_ylabel("mean reward", color=INK)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
    return figure
