"""Pictures of a fit: data, formula and what lies beyond, beside a plain perceptron."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from torchalu.report.baseline import Predict
from torchalu.report.style import INK, image, polish, require_matplotlib
from torchalu.tasks import Table
from torchalu.train.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FORMULA, _MLP, _DATA = "#0072B2", "#D55E00", "#000000"
_OUTSIDE = (("#009E73", "D"), ("#CC79A7", "s"), ("#E69F00", "v"), ("#56B4E9", "P"))
_LOG_RATIO = 30.0
_TITLE_LENGTH = 84


@dataclass(frozen=True, eq=False)
class FitPicture:
    """What a picture of a fit shows.

    Args:
        table: the rows that were learned from.
        predict: the formula as a function of features (rows, columns).
        formula: the formula as text.
        baseline: the perceptron that was fitted to the same rows.
        outside: rows that were not learned from, by the name to show.
        title: a line above the picture.

    Example:
        >>> table = Table([[1.0], [2.0]], [2.0, 4.0], names=["a"])
        >>> picture = FitPicture(table, lambda X: 2 * X[:, 0], "2*a", lambda X: X[:, 0])
        >>> picture.formula
        '2*a'
    """

    table: Table
    predict: Predict
    formula: str
    baseline: Predict
    outside: Mapping[str, Table] = field(default_factory=dict)
    title: str = ""


def plot_fit(picture: FitPicture, path: str | os.PathLike[str]) -> None:
    """Draws a fit into a PNG file.

    With one feature: target against feature, the curves carried on beyond the rows that were
    learned from, and the relative residuals below. With several: predicted against true values,
    inside and outside that range. Axes are logarithmic where the values are positive and span a
    factor of 30 or more.

    Args:
        picture: what to show.
        path: the file, ending in `.png`.

    Raises:
        ValueError: if the path does not end in `.png`.
        ImportError: if matplotlib is missing.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> table = Table([[1.0], [2.0]], [2.0, 4.0], names=["a"])
        >>> picture = FitPicture(table, lambda X: 2 * X[:, 0], "2*a", lambda X: X[:, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plot_fit(picture, Path(folder) / "fit.png")
        ...     (Path(folder) / "fit.png").read_bytes()[1:4]
        b'PNG'
    """
    if not os.fspath(path).lower().endswith(".png"):
        raise ValueError(f"path is {os.fspath(path)!r}; allowed: a name that ends in .png")
    write_atomic(path, image(draw_fit(picture), "png"))


def draw_fit(picture: FitPicture) -> Figure:
    """Draws a fit and returns matplotlib's figure, to change or to save in another format.

    Args:
        picture: what to show.

    Returns:
        The figure.

    Raises:
        ImportError: if matplotlib is missing.

    Example:
        >>> table = Table([[1.0], [2.0]], [2.0, 4.0], names=["a"])
        >>> picture = FitPicture(table, lambda X: 2 * X[:, 0], "2*a", lambda X: X[:, 0])
        >>> len(draw_fit(picture).axes)
        2
    """
    figure = require_matplotlib()(figsize=(8.6, 5.6), layout="constrained")
    formula = f"{picture.table.target} = {picture.formula}"
    if len(formula) > _TITLE_LENGTH:
        formula = formula[: _TITLE_LENGTH - 1] + "…"
    title = f"{picture.title}\n{formula}" if picture.title else formula
    figure.suptitle(_plain(title), fontsize=12, color=INK)
    if picture.table.X.shape[1] == 1:
        _draw_curve(figure, picture)
    else:
        _draw_predictions(figure, picture)
    return figure


def _draw_curve(figure: Figure, picture: FitPicture) -> None:
    """One feature: the curves above, the residuals below."""
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.1])
    table = picture.table
    x = np.concatenate([table.X[:, 0], *(rows.X[:, 0] for rows in picture.outside.values())])
    y = np.concatenate([table.y, *(rows.y for rows in picture.outside.values())])
    grid = _grid(x, extend=not picture.outside)
    x_log, y_log = _spans(x), _spans(y)
    low, high = table.X.min(), table.X.max()
    for axes in (top, bottom):
        axes.axvspan(low, high, color="#000000", alpha=0.07, lw=0, label="rows learned from")
    formula, plain = picture.predict(grid[:, None]), picture.baseline(grid[:, None])
    top.plot(grid, plain, color=_MLP, lw=1.8, ls="--", label="plain MLP on the same rows")
    top.plot(grid, formula, color=_FORMULA, lw=2.2, label="formula")
    if x_log:
        top.set_xscale("log")
    if y_log and (formula > 0).all():
        top.set_yscale("log")
        top.set_ylim(y.min() / 3, max(formula.max(), y.max()) * 3)
    else:
        _limit(top, np.concatenate([y, formula]))
    for axes, of in ((top, lambda rows: rows.y), (bottom, lambda rows: _residual(picture, rows))):
        axes.plot(table.X[:, 0], of(table), "o", color=_DATA, ms=5, zorder=4, label="data")
        for (name, rows), (color, marker) in zip(
            picture.outside.items(), _cycle(len(picture.outside)), strict=True
        ):
            axes.plot(
                rows.X[:, 0],
                of(rows),
                marker,
                color=color,
                ms=6,
                zorder=4,
                mec="white",
                label=_plain(name),
            )
    bottom.margins(y=0.15)
    bottom.axhline(0, color=_FORMULA, lw=1.6)
    bottom.set_ylabel("data / formula − 1", color=INK)
    bottom.set_xlabel(_plain(table.feature_names[0]), color=INK)
    top.set_ylabel(_plain(table.target), color=INK)
    top.legend(frameon=False, fontsize=9)
    polish(top, bottom)


def _draw_predictions(figure: Figure, picture: FitPicture) -> None:
    """Several features: predicted against true, inside on the left, outside on the right."""
    left, right = figure.subplots(1, 2)
    inside, target = {"": picture.table}, _plain(picture.table.target)
    _draw_agreement(left, picture, inside)
    left.set_title("rows learned from", fontsize=11, color=INK)
    left.set_xlabel(f"{target}, true", color=INK)
    if picture.outside:
        _draw_agreement(right, picture, picture.outside)
        right.set_title("outside their range", fontsize=11, color=INK)
        right.set_xlabel(f"{target}, true", color=INK)
    else:
        beyond = stretch(picture.table, picture.predict)
        if beyond is None:
            right.text(0.5, 0.5, "the formula has no finite values there", ha="center", color=INK)
        else:
            _draw_agreement(right, picture, {"": beyond})
        right.set_title("inputs up to 3 times farther out", fontsize=11, color=INK)
        right.set_xlabel(f"{target}, by the formula", color=INK)
    left.set_ylabel(f"{target}, predicted", color=INK)
    polish(left, right)


def _draw_agreement(axes: Axes, picture: FitPicture, tables: Mapping[str, Table]) -> None:
    """Predicted against true values of some tables."""
    for (name, rows), (_, marker) in zip(tables.items(), _cycle(len(tables)), strict=True):
        marker = marker if name else "o"
        suffix = f", {_plain(name)}" if name else ""
        plain, formula = picture.baseline(rows.X), picture.predict(rows.X)
        axes.plot(
            rows.y,
            plain,
            marker,
            color=_MLP,
            mfc="none",
            ms=7,
            alpha=0.5,
            label=f"plain MLP{suffix}",
        )
        axes.plot(rows.y, formula, marker, color=_FORMULA, ms=3.5, label=f"formula{suffix}")
    y = np.concatenate([rows.y for rows in tables.values()])
    if _spans(y):
        axes.set_xscale("log")
        axes.set_yscale("log")
    low, high = y.min(), y.max()
    axes.plot([low, high], [low, high], color=_DATA, lw=1, zorder=0, label="exact")
    axes.legend(frameon=False, fontsize=9)


def _plain(text: str) -> str:
    """The text as it is, where matplotlib would take what stands between two $ for a formula."""
    return text.replace("$", r"\$")


def stretch(
    table: Table, predict: Predict, *, factor: float = 3.0, rows: int = 300
) -> Table | None:
    """Rows outside a table's range, with the formula's values as target.

    Args:
        table: gives the range of each feature.
        predict: the formula.
        factor: inputs are drawn from the range stretched so much on its outer side; ranges that
            hold 0 are stretched on both.
        rows: how many to draw; rows where the formula has no finite value are left out.

    Returns:
        The rows; None if the formula has finite values in fewer than two of them.

    Example:
        >>> table = Table([[1.0, 1.0], [2.0, 2.0]], [1.0, 4.0])
        >>> beyond = stretch(table, lambda X: X.prod(axis=1))
        >>> beyond is not None and bool(beyond.X.min() >= 2) and bool(beyond.X.max() <= 6)
        True
    """
    generator = np.random.default_rng(0)
    low, high = table.X.min(axis=0), table.X.max(axis=0)
    start = np.where(low > 0, high, factor * low)
    end = np.where(high < 0, low, factor * high)
    X = generator.uniform(np.minimum(start, end), np.maximum(start, end), (rows, len(low)))
    with np.errstate(all="ignore"):
        y = np.asarray(predict(X), dtype=np.float64)
    kept = np.isfinite(y) & (np.abs(y) < 1e99)
    if kept.sum() < 2:
        return None
    return Table(X[kept], y[kept], table.names, table.target)


def _grid(x: np.ndarray, *, extend: bool) -> np.ndarray:
    """Points along the axis: the data's range, carried on where nothing lies beyond it."""
    low, high = float(x.min()), float(x.max())
    if _spans(x):
        beyond = 3.0 if extend else 1.3
        return np.geomspace(low / beyond, high * beyond, 600)
    margin = (1.0 if extend else 0.1) * (high - low)
    start = low - margin
    return np.linspace(max(start, low / 3) if low > 0 else start, high + margin, 600)


def _spans(values: np.ndarray) -> bool:
    """Whether a logarithmic axis suits the values."""
    return bool(values.min() > 0 and values.max() / values.min() >= _LOG_RATIO)


def _limit(axes: Axes, values: np.ndarray) -> None:
    """Shows the values with a margin, however far another curve may leave."""
    low, high = np.quantile(values[np.isfinite(values)], [0.0, 0.98])
    margin = 0.12 * (high - low)
    axes.set_ylim(low - margin, high + margin)


def _residual(picture: FitPicture, rows: Table) -> np.ndarray:
    """The data relative to the formula, less 1; not a number where the formula is 0."""
    predicted = picture.predict(rows.X)
    with np.errstate(all="ignore"):
        return np.where(predicted == 0, np.nan, rows.y / predicted - 1)


def _cycle(count: int) -> list[tuple[str, str]]:
    """A color and a marker for each of some tables."""
    return [_OUTSIDE[index % len(_OUTSIDE)] for index in range(count)]
