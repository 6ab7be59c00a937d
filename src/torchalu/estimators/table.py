"""The table as the estimator sees it: in one order, each distinct row once, with a weight."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torchalu.estimators.least_squares import NOISE_FLOOR
from torchalu.estimators.screening import by_relevance
from torchalu.export.certificate import MOST_DEVIATIONS, ROUNDING

_SCREENED_ROWS = 400


@dataclass(frozen=True)
class CanonicalTable:
    """Distinct rows in lexicographic order, with how often each counts, and the rows held out.

    Two tables that hold the same rows in another order, or repeated instead of weighted, become
    the same canonical table, so whatever is learned from it is the same.

    Args:
        X: distinct rows of features.
        y: their target.
        weight: how many rows each stands for.
        inner: the rows that constants are learned from while candidates are compared; the others
            are held out.
        names: names of the columns.
        tolerance: relative error up to which a formula counts as exact.
        slope: by how much the target changes with what was measured, where it is a function of
            that, as `raised` makes it.

    Shape:
        X: (rows, features); y, weight, inner, slope: (rows,).
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    inner: np.ndarray
    names: tuple[str, ...]
    tolerance: float
    slope: np.ndarray | float = 1.0

    @cached_property
    def learn(self) -> CanonicalTable:
        """The table without the rows that are held out."""
        return self.of(np.flatnonzero(self.inner))

    def thin(self, rows: int) -> CanonicalTable:
        """At most so many rows, evenly spaced in the table's order."""
        if len(self.y) <= rows:
            return self
        return self.of(np.unique(np.linspace(0, len(self.y) - 1, rows).round().astype(int)))

    def screened(self, most: int) -> list[int]:
        """At most so many columns, those on which the target depends most.

        Args:
            most: columns.
        """
        if self.features <= most:
            return list(range(self.features))
        return sorted(self._by_relevance[:most])

    @cached_property
    def _by_relevance(self) -> list[int]:
        table = self.thin(_SCREENED_ROWS)
        return by_relevance(table.X, table.y)

    def raised(self, power: float) -> CanonicalTable | None:
        """The table with a power of the target; None where that is not real, finite and smooth.

        Rows where the target is 0 are left out: the power is infinite there, or its slope 0.

        The target is in units of its own scale, so that no power is huge or tiny as a whole. Noise
        s of it becomes s |power y**(power - 1)|, which `views` know of.

        Args:
            power: of the target; only -1 takes targets below 0, which no root of a sum has.
        """
        if np.any(self.y == 0):
            other = np.flatnonzero(self.y != 0)
            return self.of(other).raised(power) if len(other) else None
        if np.any(self.y < 0) and power != -1:
            return None
        unit = self.y / self.scale
        with np.errstate(all="ignore"):
            y, slope = unit**power, np.abs(power) * np.abs(unit) ** (power - 1)
        if not (np.all(np.isfinite(y)) and np.all(np.isfinite(slope)) and np.all(slope > 0)):
            return None
        return replace(self, y=y, slope=slope) if np.ptp(y) > 0 else None

    def of(self, rows: np.ndarray) -> CanonicalTable:
        """Some of the rows, none of them held out.

        Args:
            rows: their numbers.
        """
        slope = self.slope[rows] if isinstance(self.slope, np.ndarray) else self.slope
        every = np.ones(len(rows), dtype=bool)
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            inner=every,
            slope=slope,
        )

    @property
    def features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @cached_property
    def count(self) -> float:
        """Number of rows that the weights stand for."""
        return float(self.weight.sum())

    @cached_property
    def views(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the rows if noise has one size, and if it is in proportion to the target.

        In proportion means var = max(y**2, (0.01 rms y)**2).
        """
        variance = np.maximum(self.y**2, (0.01 * self.scale) ** 2)
        return self.weight / self.slope**2, self.weight / variance * self.scale**2

    @cached_property
    def scale(self) -> float:
        """Root of the weighted mean square of the target; 1 where it is 0 on all rows."""
        return float(np.sqrt(np.average(self.y**2, weights=self.weight))) or 1.0

    @cached_property
    def floor(self) -> float:
        """The relative size of residuals that only rounding errors are left of.

        It is small where the target is a small signal on a large offset.
        """
        mean = np.average(self.y, weights=self.weight)
        deviation = math.sqrt(np.average((self.y - mean) ** 2, weights=self.weight))
        return max(NOISE_FLOOR * min(1.0, MOST_DEVIATIONS * deviation / self.scale), ROUNDING)


def canonical_table(
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None,
    names: tuple[str, ...],
    tolerance: float,
) -> CanonicalTable:
    """Drops rows of weight zero, merges equal rows, and sorts; nothing is held out yet.

    Whole weights count rows: weight 3 is the same as the row three times. Other weights are
    relative; they are scaled so that they add up to the number of rows.
    """
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    if np.any(weight != np.round(weight)):
        weight = weight * (len(weight) / weight.sum())
    rows = np.column_stack([X, y]) + 0.0
    distinct, where = np.unique(rows, axis=0, return_inverse=True)
    merged = np.bincount(where.ravel(), weights=weight, minlength=len(distinct))
    inner = np.ones(len(distinct), dtype=bool)
    return CanonicalTable(distinct[:, :-1], distinct[:, -1], merged, inner, names, tolerance)


def hold_out(
    table: CanonicalTable, holdout: str, fraction: float, generator: np.random.Generator
) -> CanonicalTable:
    """Marks the rows that are held out: the outermost ones, random ones, or none.

    Outermost is far from the middle: the distance from the median in units of each column's
    spread. A table of fewer than five distinct rows keeps all of them, and so do one whose target
    would not vary on the rows that are left and, where the outermost are wanted, one whose columns
    have no more than two values each, as a truth table's.
    """
    rows = len(table.y)
    if holdout == "none" or rows < 5:
        return table
    if holdout == "outer":
        if all(len(np.unique(column)) <= 2 for column in table.X.T):
            return table
        middle = np.median(table.X, axis=0)
        spread = table.X.std(axis=0)
        spread[spread == 0] = 1.0
        distance = (((table.X - middle) / spread) ** 2).sum(axis=1)
        order = np.argsort(distance, kind="stable")
    else:
        order = generator.permutation(rows)
    held = min(max(1, round(fraction * rows)), rows - 4)
    inner = np.zeros(rows, dtype=bool)
    inner[order[: rows - held]] = True
    if np.ptp(table.y[inner]) == 0:
        return table
    return CanonicalTable(table.X, table.y, table.weight, inner, table.names, table.tolerance)
