"""Sums of products of powers whose powers are learned: least squares that is not linear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from torchalu.estimators.closed_form.learned_powers import (
    EXACT,
    FEWEST_ROWS,
    MOST_ROWS,
    REACHES,
    SPREAD,
    STARTS,
    LearnedPowers,
    PowerFit,
    one_signed_columns,
)
from torchalu.estimators.closed_form.power_of_sum import POWERS
from torchalu.estimators.structures import Structure, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_TERMS = 4
_LARGEST_EXPONENT = 100.0


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
    table = table.thin(MOST_ROWS)
    columns = one_signed_columns(table)
    for power in (Fraction(1), *POWERS):
        raised = table if power == 1 else table.raised(float(1 / power))
        if raised is None or not columns:
            continue
        for powers, exact in _sums(raised, columns, generator):
            if exact or len(raised.y) >= FEWEST_ROWS:
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
    problem = _Sum(logs - logs.mean(axis=0), root, table.y / table.scale * root)
    least = EXACT**2 * float(problem.target @ problem.target)
    slopes = _slopes(logs, table.y)
    for terms in range(2, _MOST_TERMS + 1):
        shape = terms, len(columns)
        if terms + terms * len(columns) >= len(table.y):
            return
        starts = (slopes + SPREAD * generator.standard_normal(shape) for _ in range(STARTS))
        best = problem.best(starts, least)
        for reach in REACHES:
            found = None if best is None else problem.rounded(best, reach)
            if found is not None:
                powers, fit = found
                yield powers.tolist(), fit.error < least


def _slopes(logs: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Those of the target's logarithm over the columns'."""
    rows = target != 0
    design = np.column_stack([logs, np.ones(len(logs))])[rows]
    return np.linalg.lstsq(design, np.log(np.abs(target[rows])))[0][:-1]


@dataclass(frozen=True)
class _Sum(LearnedPowers):
    """A sum of products of powers, a row of these each.

    Args:
        logs: of the columns, less their means.
        root: of the weights.
        target: times that root.
    """

    logs: np.ndarray
    root: np.ndarray
    target: np.ndarray

    def evaluate(self, powers: np.ndarray) -> PowerFit | None:
        """The best constants for some powers; None where a product is too large to be a number."""
        if not np.all(np.abs(self.logs @ powers.T) < _LARGEST_EXPONENT):
            return None
        products = self._products(powers)
        length = np.linalg.norm(products, axis=0)
        constants = np.linalg.lstsq(products / length, self.target)[0] / length
        residual = self.target - products @ constants
        return PowerFit(powers, constants, residual, float(residual @ residual))

    def derivatives(self, fit: PowerFit) -> tuple[np.ndarray, np.ndarray]:
        """By how much the sum changes with its constants, and with its powers."""
        products = self._products(fit.powers)
        of_powers = (products * fit.constants)[:, :, None] * self.logs[:, None, :]
        return products, of_powers.reshape(len(self.target), -1)

    def _products(self, powers: np.ndarray) -> np.ndarray:
        """Each of them weighted."""
        return np.exp(self.logs @ powers.T) * self.root[:, None]
