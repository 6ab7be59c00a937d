"""The real constants of a structure: least squares, two kinds of noise, Student-t intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from torchalu.estimators.least_squares import NOISE_FLOOR, Solution, largest, products, solve
from torchalu.estimators.simple_numbers import Simple
from torchalu.estimators.structures import Structure, raise_to
from torchalu.estimators.table import CanonicalTable


class Multiple(NamedTuple):
    """A constant that is a simple multiple of another, which is free.

    Attributes:
        of: place of the other.
        ratio: to it.
    """

    of: int
    ratio: Fraction


Fixed = tuple[Simple | Multiple | None, ...]
"""For each constant the simple value that it has, of what it is a multiple, or None if free."""

_SMALLEST_FITTED = 1e-5
_SMALL = 0.01
_ITERATIONS = 4
_STARTS = 3


@dataclass(frozen=True)
class ConstantFit:
    """The constants of a structure, how sure they are, and how well they explain the table.

    Args:
        values: a constant a term, then the offset if there is one.
        errors: their standard errors, 0 where the value is fixed; of a multiple the other's times
            the ratio.
        noise: "constant" where residuals have one size, "proportional" where they grow with the
            formula's value.
        freedom: degrees of freedom of the residuals.
        nats: negative logarithm of the likelihood of all rows.
        error: root mean square of the residuals in the held-out rows, of all where none is.
    """

    values: np.ndarray
    errors: np.ndarray
    noise: str
    freedom: float
    nats: float
    error: float

    def interval(self, index: int, level: float = 0.95) -> tuple[float, float]:
        """The Student-t interval of one constant, and what rounding may have changed."""
        quantile = float(scipy.stats.t.ppf(0.5 + level / 2, max(self.freedom, 1.0)))
        width = quantile * self.errors[index] + NOISE_FLOOR * abs(self.values[index])
        return float(self.values[index] - width), float(self.values[index] + width)


@np.errstate(all="ignore")
def fit_constants(
    structure: Structure,
    table: CanonicalTable,
    fixed: Fixed | None = None,
    hopeless: float = math.inf,
) -> ConstantFit | None:
    """Fits the constants on the rows that are not held out and rates them on all rows.

    Residuals r of size proportional to the formula's value f are as frequent in measurements as
    residuals of one size, so both are tried and the likelier is kept::

        constant:      var r = s**2        proportional:  var r = s**2 max(f**2, (1e-5 rms y)**2)

    The second is solved by least squares reweighted four times with 1 / f**2. Where the structure
    is a power of a sum, f = s**q, the sum s is fitted to the target that f's slope carries back,
    s + (y - f) / f', four times too (Fisher's scoring). Rows where f is 0 say nothing of s, since
    the slope is infinite or 0 there; they count in how well the fit explains the table. Where terms
    stand beside the power, f = s**q + b, s and b are fitted together, from a start that is exact
    where the data are: with q = 1/2, y**2 = s + 2 y b - b**2, and with q = -1, y s = 1 + b s. Where
    terms stand below, f = s / t, the start has s = y t, divided by the t found before; where a root
    is taken of them, f = s / t**(1/2), it has s**2 = y**2 t, divided by y t.

    Args:
        structure: the discrete part.
        table: the table, with its held-out rows marked.
        fixed: a simple value for each constant, of which other one it is a multiple, or None where
            it is to be fitted; one of those below has a value, since a common factor cancels, and
            is 1 if left out.
        hopeless: nats from which on a fit is not worth refining.

    Returns:
        The better fit, or None where the structure has no finite value on some row, where its
        terms are linearly dependent, or where it has no fewer constants than the table has rows.
        Of a negative power of a sum terms may be infinite where the target is 0, and anywhere if
        other terms stand beside it.

    Source:
        Nelder & Wedderburn 1972 for powers of sums; Sanathanan & Koerner 1963 for where ratios and
        reciprocals beside terms start from.
    """
    design = structure.design(table.X)
    inside = len(structure.summands)
    infinite = ~np.isfinite(design)
    if np.any(infinite[:, inside:]):
        return None
    if np.any(infinite) and not _may_be_infinite(structure, table.y[np.any(infinite, axis=1)]):
        return None
    given = unit_constants(structure) if fixed is None else fixed
    known = np.array([float(value) if isinstance(value, Simple) else 0.0 for value in given])
    basis = _basis(given)
    if basis.shape[1] >= min(table.inner.sum(), table.count):
        return None
    problem = _Problem(design, known, basis, table, structure)
    once = {"constant": 0, "proportional": 1}
    fits = [problem.fit(noise, iterations) for noise, iterations in once.items()]
    if any(fit is not None and fit.nats < hopeless for fit in fits):
        if structure.power != 1 or structure.below:
            fits[0] = problem.fit("constant", _ITERATIONS)
        fits[1] = problem.fit("proportional", _ITERATIONS)
    usable = [fit for fit in fits if fit is not None and math.isfinite(fit.nats)]
    if not usable:
        return None
    best = min(usable, key=lambda fit: fit.nats)
    values, errors = known + basis @ best.values, np.abs(basis) @ best.errors
    return ConstantFit(values, errors, best.noise, best.freedom, best.nats, best.error)


def _basis(given: Fixed) -> np.ndarray:
    """By how much each constant changes with each free one.

    Shape:
        returns (constants, free).
    """
    free = [place for place, value in enumerate(given) if value is None]
    basis = np.zeros((len(given), len(free)))
    for place, value in enumerate(given):
        if value is None:
            basis[place, free.index(place)] = 1.0
        elif isinstance(value, Multiple):
            basis[place, free.index(value.of)] = float(value.ratio)
    return basis


def unit_constants(structure: Structure, place: int = 0, sign: int = 1) -> Fixed:
    """All constants free; of those below one, in whose unit the others are.

    Args:
        structure: whose they are.
        place: of the one below.
        sign: of its value, 1 or -1.
    """
    above = len(structure.multiplied) - len(structure.below)
    below = (Fraction(sign) if k == place else None for k in range(len(structure.below)))
    return (*(None,) * above, *below)


def _may_be_infinite(structure: Structure, targets: np.ndarray) -> bool:
    """Whether the sum may be infinite where the target has some values."""
    return structure.power < 0 and (bool(structure.beside) or not np.any(targets))


@dataclass(frozen=True)
class _Problem:
    """What constants multiply, those of the sum first; how they follow from those to be fitted.

    Args:
        design: a column a constant.
        known: the constants that have values, 0 for the others.
        basis: by how much each constant changes with each of those to be fitted.
        table: the rows.
        structure: what the constants are of.
    """

    design: np.ndarray
    known: np.ndarray
    basis: np.ndarray
    table: CanonicalTable
    structure: Structure

    @property
    def inside(self) -> int:
        """How many of the constants are of the sum."""
        return len(self.structure.summands)

    @property
    def power(self) -> Fraction:
        """That the sum is raised to."""
        return self.structure.power

    def fit(self, noise: str, iterations: int) -> ConstantFit | None:
        """Least squares with variances and slopes at the target, then at the fitted values."""
        solution = self._solve(self._start, self.table.y, noise)
        for _ in range(iterations if self.basis.size else 0):
            if solution is None:
                return None
            total, fitted = self._values(solution)
            solution = self._solve(total, fitted, noise)
        return None if solution is None else self._rate(solution, noise)

    @cached_property
    def _start(self) -> np.ndarray:
        """What the sum, or the one below, is where the formula is the target.

        Beside other terms it is what an equation says of it that is linear in all constants and
        products of two of them.
        """
        y = self.table.y
        if self.structure.root_below:
            return self._start_root_below()
        if self.structure.below:
            return self._start_below()
        if self.power == 1:
            return y
        summands, beside = self.design[:, : self.inside], self.design[:, self.inside :]
        if beside.shape[1] == 0:
            return raise_to(y, 1 / self.power)
        rows = self.table.inner & np.all(np.isfinite(summands), axis=1)
        root = np.sqrt(self.table.weight)
        if self.power != -1:
            columns = np.hstack([beside * y[:, None], summands, products(beside, beside)])
            twice = self._least(columns, y**2, rows, root)[: beside.shape[1]]
            return (y - beside @ twice / 2) ** 2
        first, others = summands[:, -1:], summands[:, :-1]
        ones = np.ones_like(first)
        columns = np.hstack([-others * y[:, None], ones, products(summands, beside)])
        total = ones[:, 0]
        for _ in range(_STARTS):
            ratios = self._least(columns, y * first[:, 0], rows, root / np.abs(total))
            total = summands @ np.append(ratios[: others.shape[1]], 1.0)
        scale = self._least(np.column_stack([1 / total, beside]), y, rows, root)[0]
        return total / scale

    def _start_below(self) -> np.ndarray:
        """The sum below that solves the equation 0 = s - y t, divided by the t found before."""
        total = np.ones_like(self.table.y)
        for _ in range(_STARTS):
            solution = self._solve(total, self.table.y, "constant")
            if solution is None:
                break
            total, _ = self._values(solution)
        return total

    def _start_root_below(self) -> np.ndarray:
        """The t that solves the equation 0 = s**2 - y**2 t, divided by y and the t found before.

        One of its constants has a value; s**2 is a sum of products of two terms.
        """
        y, inside = self.table.y, self.inside
        above, below = self.design[:, :inside], self.design[:, inside:]
        unit = int(np.flatnonzero(self.known[inside:])[0])
        first = below[:, unit] * self.known[inside + unit]
        others = np.delete(below, unit, axis=1)
        squares = products(above, above)[:, np.flatnonzero(np.tri(inside).T)]
        columns = np.hstack([squares, -others * y[:, None] ** 2])
        root = np.sqrt(self.table.weight) / np.maximum(np.abs(y), _SMALL * self.table.scale)
        total = np.ones_like(y)
        for _ in range(_STARTS):
            rows = root / np.abs(total)
            constants = self._least(columns, first * y**2, self.table.inner, rows)
            total = first + others @ constants[squares.shape[1] :]
        return total

    def _least(
        self, columns: np.ndarray, target: np.ndarray, rows: np.ndarray, root: np.ndarray
    ) -> np.ndarray:
        """Least squares of some rows, the smallest where columns are dependent; NaN of infinity."""
        root = root[rows]
        columns, target = columns[rows] * root[:, None], target[rows] * root
        if not np.all(np.isfinite(columns)) or not np.all(np.isfinite(target)):
            return np.full(columns.shape[1], np.nan)
        return np.linalg.lstsq(columns / largest(columns), target)[0] / largest(columns)

    def _solve(self, total: np.ndarray, fitted: np.ndarray, noise: str) -> Solution | None:
        """Least squares of the formula as it is, linear in its constants, near a sum and values."""
        rows, weight = self.table.inner, self.table.weight
        if noise == "proportional":
            weight = weight / self._variance(fitted)
        design, aim = self.design, self.table.y
        if self.structure.below:
            power = 0.5 if self.structure.root_below else 1.0
            inside = np.arange(design.shape[1]) < self.inside
            above, below = 1.0 / self._divisor(total), -power * fitted / total
            design = design * np.where(inside, above[:, None], below[:, None])
            aim = aim - power * fitted
            if not np.isfinite(design[rows]).all():
                return None
        elif self.power != 1:
            value = raise_to(total, self.power)
            slope = float(self.power) * value / total
            silent = value == 0
            inside = np.where(silent[:, None], 0.0, design[:, : self.inside] * slope[:, None])
            design = np.hstack([inside, design[:, self.inside :]])
            aim = aim - value + np.where(silent, 0.0, slope * total)
            if self.power > 0:
                rows = rows & ~silent
            if not (np.isfinite(aim[rows]).all() and np.isfinite(design[rows]).all()):
                return None
        design = design[rows]
        return solve(design @ self.basis, aim[rows] - design @ self.known, weight[rows])

    def _values(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """The sum and the formula; of a ratio the sum below and the formula."""
        constants = self.known + self.basis @ solution.coefficients
        total = self.design[:, : self.inside] @ constants[: self.inside]
        other = self.design[:, self.inside :] @ constants[self.inside :]
        if self.structure.below:
            return other, total / self._divisor(other)
        return total, raise_to(total, self.power) + other

    def _divisor(self, below: np.ndarray) -> np.ndarray:
        """What the sum is divided by: the sum below, or its root."""
        return np.sqrt(below) if self.structure.root_below else below

    def _variance(self, fitted: np.ndarray) -> np.ndarray:
        return np.maximum(fitted**2, (_SMALLEST_FITTED * self.table.scale) ** 2)

    def _rate(self, solution: Solution, noise: str) -> ConstantFit:
        table, (_, fitted) = self.table, self._values(solution)
        proportional = noise == "proportional"
        variance = self._variance(fitted) if proportional else np.ones(len(fitted))
        squares = table.weight * (table.y - fitted) ** 2 / variance
        free = self.basis.shape[1]
        freedom = float(table.weight[table.inner].sum()) - free
        unit = squares[table.inner].sum() / freedom if freedom > 0 else math.inf
        floor = table.floor if proportional else table.floor * table.scale
        deviation = max(math.sqrt(squares.sum() / max(table.count - free, 1.0)), floor)
        nats = table.count * math.log(deviation) + 0.5 * float(table.weight @ np.log(variance))
        held = ~table.inner if not table.inner.all() else table.inner
        residual = table.y - fitted
        error = math.sqrt(table.weight[held] @ residual[held] ** 2 / table.weight[held].sum())
        errors = np.sqrt(unit * solution.unit_variance)
        return ConstantFit(solution.coefficients, errors, noise, freedom, nats, error)
