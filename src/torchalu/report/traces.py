"""Where signals are in the state of a Neural GPU, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from torchalu.report.panels import WIDTH, check_columns
from torchalu.report.style import INK, polish, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_READABLE = 0.8  # of a correlation
_SHOWN = 6  # digits
_HEIGHT = 3.6


def draw_traces(places: pl.DataFrame, *, title: str = "") -> Figure:
    """The positions at which signals can be read, against the step.

    Args:
        places: a row a signal, digit and step: `position`, `correlation`.
        title: a line above.

    Returns:
        The figure, a panel a signal, steps from above to below; a color for each of some digits. A
        dot is the position whose correlation is strongest, where it is above 0.8, and the darker
        the closer to 1.

    Raises:
        ValueError: if the table lacks a column, or has no row.
        ImportError: if matplotlib is missing.

    Example:
        >>> rows = {"signal": ["carry"] * 2, "digit": [3, 3], "step": [0, 1], "position": [4, 3]}
        >>> rows |= {"correlation": [0.5, 0.99]}
        >>> [axes.get_title() for axes in draw_traces(pl.DataFrame(rows)).axes]
        ['carry']
    """
    check_columns(places, ["signal", "digit", "step", "position", "correlation"])
    signals = places["signal"].unique(maintain_order=True).to_list()
    digits = places["digit"].unique().sort().to_list()
    last = len(digits) - 1
    shown = sorted({digits[round(k * last / (_SHOWN - 1))] for k in range(_SHOWN)})
    figure = require_matplotlib()(figsize=(WIDTH, _HEIGHT), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    panels = figure.subplots(1, len(signals), sharex=True, sharey=True, squeeze=False)[0]
    colors = _colors(len(shown))
    for axes, signal in zip(panels, signals, strict=True):
        for digit, color in zip(shown, colors, strict=True):
            rows = places.filter(
                (pl.col("signal") == signal)
                & (pl.col("digit") == digit)
                & (pl.col("correlation") > _READABLE)
            ).sort("step")
            strength = (rows["correlation"].to_numpy().clip(max=1) - _READABLE) / (1 - _READABLE)
            axes.scatter(
                rows["position"].to_numpy(), rows["step"].to_numpy(), s=14, lw=0,
                color=[(*color, 0.25 + 0.75 * float(value)) for value in strength],
            )  # fmt: skip
            axes.plot([], [], "o", ms=4, color=color, label=f"digit {digit}")
        axes.set_title(signal, fontsize=11, color=INK)
        axes.set_xlabel("position", color=INK)
        polish(axes)
    panels[0].set_ylabel("step", color=INK)
    panels[0].invert_yaxis()
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=_SHOWN, frameon=False)
    return figure


def _colors(count: int) -> list[tuple[float, ...]]:
    """As many colors, from dark to light."""
    from matplotlib import colormaps

    steps = [0.1 + 0.75 * k / max(1, count - 1) for k in range(count)]
    return [tuple(colormaps["viridis"](step)[:3]) for step in steps]
