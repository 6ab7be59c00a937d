"""Sums of products of powers whose powers are learned: least squares that is not linear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.power_of_sum import POWERS
from torchalu.estimators.closed_form.powers import DENOMINATORS, LARGEST_DENOMINATOR, LARGEST_POWER
from torchalu.estimators.structures import Structure, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 9
_MOST_ROWS = 500
_FEWEST_ROWS = 30
_MOST_TERMS = 4
_STARTS = 8
_SPREAD = 1.5
_EXACT = 1e-9  # root mean square of what is left, as a share of the target
_STEPS, _STEPS_AFTER_ROUNDING = 80, 20
_TRIALS = 12
_LONGEST_STEP = 1.0
_LEAST_GAIN, _MOST_IDLE = 1e-3, 3
_LARGEST_EXPONENT = 100.0
_REACHES = 3.0, 1.0
_ROUNDING = 1e-7
_TINY = float(np.finfo(np.float64).tiny)


def sum_of_powers_structures(
    table: CanonicalTable, generator: np.random.Generator
) -> Iterator[Structure]:
    r"""Sums of products of any powers, such as 2 + 3 a**1.7 and p**2/(2 m) + m w**2 x**2/2.

    In y**(1/q) = sum_k c_k prod_j x_j**p_kj with two, three and four terms all powers are learned
    at once, from eight starts near the slopes of log\|y\|: the constants are those of least squares
    for the powers, which Levenberg and Marquardt's method changes. The best fit is rounded a power
    at a time, the surest of the simplest ones first, to the simplest of halves, thirds, quarters,
    fifths and tenths within three standard errors, or within one, and the others are learned again.
    A term of which no power is left is the constant. With q = 1, 1/2, -1 and -1/2; of columns above
    0 on all rows, or below it. Of fewer than 30 rows only sums that explain them to nine digits are
    taken.

    Args:
        table: the rows to learn from.
        generator: where starts come from.

    Source:
        Golub & Pereyra 1973 for constants that follow from the rest; Marquardt 1963.
    """
    table = table.thin(_MOST_ROWS)
    signs = np.abs(np.sign(table.X).sum(axis=0))
    columns = [j for j in table.screened(_MOST_COLUMNS) if signs[j] == len(table.y)]
    for power in (Fraction(1), *POWERS):
        raised = table if power == 1 else table.raised(float(1 / power))
        if raised is None or not columns:
            continue
        for powers, exact in _sums(raised, columns, generator):
            if exact or len(raised.y) >= _FEWEST_ROWS:
                terms = [monomial(dict(zip(columns, one, strict=True))) for one in powers]
                yield make_structure(terms, None in terms, power)
            if exact:
                return


def _sums(
    table: CanonicalTable, columns: list[int], generator: np.random.Generator
) -> Iterator[tuple[list[list[Fraction]], bool]]:
    """The powers of sums of few terms and more, and whether these are exact to nine digits."""
    logs = np.log(np.abs(table.X[:, columns]))
    root = np.sqrt(table.views[1])
    problem = _Problem(logs - logs.mean(axis=0), root, table.y / table.scale * root)
    least = _EXACT**2 * float(problem.target @ problem.target)
    slopes = _slopes(logs, table.y)
    for terms in range(2, _MOST_TERMS + 1):
        shape = terms, len(columns)
        if terms + terms * len(columns) >= len(table.y):
            return
        best = None
        for _ in range(_STARTS):
            start = problem.evaluate(slopes + _SPREAD * generator.standard_normal(shape))
            fit = None if start is None else problem.descend(start, np.ones(shape, bool), _STEPS)
            best = min((one for one in (best, fit) if one is not None), key=_error, default=None)
            if best is not None and best.error < least:
                break
        for reach in _REACHES:
            found = None if best is None else problem.rounded(best, reach)
            if found is not None:
                powers, fit = found
                yield powers, fit.error < least


def _slopes(logs: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Those of the target's logarithm over the columns'."""
    rows = target != 0
    design = np.column_stack([logs, np.ones(len(logs))])[rows]
    return np.linalg.lstsq(design, np.log(np.abs(target[rows])))[0][:-1]


class _Fit(NamedTuple):
    """A sum, with the constants that are best for its powers.

    Attributes:
        powers: (terms, columns).
        constants: (terms,).
        products: each of them weighted, (rows, terms).
        residual: weighted, (rows,).
        error: the sum of its squares.
    """

    powers: np.ndarray
    constants: np.ndarray
    products: np.ndarray
    residual: np.ndarray
    error: float


def _error(fit: _Fit) -> float:
    """What a fit leaves unexplained."""
    return fit.error


@dataclass(frozen=True)
class _Problem:
    """What is to be explained.

    Args:
        logs: of the columns, less their means.
        root: of the weights.
        target: times that root.
    """

    logs: np.ndarray
    root: np.ndarray
    target: np.ndarray

    def evaluate(self, powers: np.ndarray) -> _Fit | None:
        """The best constants for some powers; None where a product is too large to be a number."""
        exponents = self.logs @ powers.T
        if not np.all(np.abs(exponents) < _LARGEST_EXPONENT):
            return None
        products = np.exp(exponents) * self.root[:, None]
        length = np.linalg.norm(products, axis=0)
        constants = np.linalg.lstsq(products / length, self.target)[0] / length
        residual = self.target - products @ constants
        return _Fit(powers, constants, products, residual, float(residual @ residual))

    def slopes(self, fit: _Fit, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much the sum changes with its constants and free powers, and by how much of it.

        The columns of the first have length 1; the second are the lengths that they had.
        """
        of_powers = (fit.products * fit.constants)[:, :, None] * self.logs[:, None, :]
        columns = [fit.products, of_powers.reshape(len(self.target), -1)[:, free.ravel()]]
        slopes = np.hstack(columns)
        length = np.maximum(np.linalg.norm(slopes, axis=0), _TINY)
        return slopes / length, length

    def descend(self, fit: _Fit, free: np.ndarray, steps: int) -> _Fit:
        """Levenberg and Marquardt's method, in the powers that are free."""
        damping, idle = 1e-2, 0
        for _ in range(steps):
            slopes, length = self.slopes(fit, free)
            square, slope = slopes.T @ slopes, slopes.T @ fit.residual
            for _ in range(_TRIALS):
                damped = square + damping * np.eye(len(square))
                step = np.zeros(free.shape)
                step[free] = (np.linalg.solve(damped, slope) / length)[len(fit.constants) :]
                step *= min(1.0, _LONGEST_STEP / max(np.abs(step).max(), _TINY))
                tried = self.evaluate(fit.powers + step)
                if tried is not None and tried.error < fit.error:
                    break
                damping *= 4
            else:
                return fit
            idle = idle + 1 if fit.error - tried.error < _LEAST_GAIN * fit.error else 0
            fit, damping = tried, max(damping / 5, 1e-14)
            if fit.error == 0 or idle == _MOST_IDLE:
                break
        return fit

    def errors(self, fit: _Fit, free: np.ndarray) -> np.ndarray:
        """Standard errors of the free powers, 0 of the others."""
        slopes, length = self.slopes(fit, free)
        freedom = max(len(self.target) - slopes.shape[1], 1)
        variance = np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=1e-13, hermitian=True))
        own = np.sqrt(np.maximum(variance, 0.0) * fit.error / freedom) / length
        errors = np.zeros(free.shape)
        errors[free] = own[len(fit.constants) :]
        return errors

    def rounded(self, fit: _Fit, reach: float) -> tuple[list[list[Fraction]], _Fit] | None:
        """All powers as fractions within so many standard errors, and the sum with these.

        None where one is too large.
        """
        free: np.ndarray = np.ones(fit.powers.shape, dtype=bool)
        fractions = [[Fraction(0) for _ in row] for row in fit.powers]
        while free.any():
            near = reach * self.errors(fit, free) + _ROUNDING
            simple = {
                (int(k), int(j)): _simple_power(float(fit.powers[k, j]), float(near[k, j]))
                for k, j in np.argwhere(free)
            }
            k, j = min(simple, key=lambda place: (simple[place].denominator, near[place]))
            if abs(simple[k, j]) > LARGEST_POWER:
                return None
            fractions[k][j] = simple[k, j]
            free[k, j] = False
            powers = fit.powers.copy()
            powers[k, j] = float(simple[k, j])
            start = self.evaluate(powers)
            if start is None:
                return None
            fit = self.descend(start, free, _STEPS_AFTER_ROUNDING) if free.any() else start
        return fractions, fit


def _simple_power(value: float, reach: float) -> Fraction:
    """The simplest fraction within reach, or the nearest tenth."""
    near = [Fraction(round(value * denominator), denominator) for denominator in DENOMINATORS]
    if reach < 2 * _ROUNDING:
        near.append(Fraction(value).limit_denominator(LARGEST_DENOMINATOR))
    return next((one for one in near if abs(float(one) - value) <= reach), near[-1])
