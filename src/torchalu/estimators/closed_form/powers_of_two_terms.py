"""Products of powers and of any power of a sum of two products, such as z/(z**2 + R**2)**(3/2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

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
from torchalu.estimators.closed_form.powers import LARGEST_POWER
from torchalu.estimators.structures import Structure, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_TRIED = 4
_LARGEST_UNDER_NOISE = 4  # with larger ones a power can pass for a ratio of sums
_NEAR = 2.0
_UNKNOWN = 2.0
_LARGEST_EXPONENT = 300.0
_SUREST = 30.0


def powers_of_two_terms_structures(
    table: CanonicalTable, generator: np.random.Generator
) -> Iterator[Structure]:
    r"""Products of powers times any power of 1 + c prod_j x_j**d_j, such as (1 + r/a)**(-2)/r.

    In log\|y\| = log\|c_0\| + a . log\|x\| + q log(1 + c prod_j x_j**d_j) the powers a, d and q and
    the constant c are learned at once, for either sign of c from eight random d, beside which a and
    q are those of least squares. Then all powers are rounded one by one, q last, or first to each
    of the four nearest halves within three standard errors. The target has one sign, and so has
    each column. Of fewer than 30 rows only formulas that explain them to nine digits are taken, and
    so are powers q above the fourth.

    Args:
        table: the rows to learn from.
        generator: where starts come from.

    Source:
        Marquardt 1963.
    """
    table = table.thin(MOST_ROWS)
    columns = one_signed_columns(table)
    if not columns or abs(np.sign(table.y).sum()) < len(table.y):
        return
    if 2 * len(columns) + 3 >= len(table.y):
        return
    logs = np.log(np.abs(table.X[:, columns]))
    root = np.sqrt(table.views[1] / table.scale**2) * np.abs(table.y)
    least = EXACT**2 * float(root @ root)
    logs, target = logs - logs.mean(axis=0), np.log(np.abs(table.y)) * root
    learned = []
    for sign in (1, -1):
        problem = _Product(logs, root, target, sign)
        best = problem.best(problem.starts(generator), least)
        if best is not None:
            learned.append((problem, best))
            if best.error < least:
                break
    smallest = min((best.error for _, best in learned), default=0.0)
    for problem, best in learned:
        if best.error > max(_NEAR * smallest, least):
            continue
        for fractions, fit in problem.all_rounded(best):
            structure, exact = _structure(fractions, columns), fit.error < least
            surely = len(table.y) >= FEWEST_ROWS and abs(fractions[1]) <= _LARGEST_UNDER_NOISE
            if structure is not None and (exact or surely):
                yield structure
            if exact:
                return


def _structure(fractions: np.ndarray, columns: list[int]) -> Structure | None:
    """The product as a power of a sum of two terms; None where it is none."""
    power, before, within = fractions[1], *np.split(fractions[2:], 2)
    if power == 0 or not np.any(within):
        return None
    outside = [one / power for one in before]
    inside = [one + more for one, more in zip(outside, within, strict=True)]
    terms = [monomial(dict(zip(columns, one, strict=True))) for one in (outside, inside)]
    return make_structure(terms, None in terms, power)


class _Bend(NamedTuple):
    """What is added to 1 in the sum, and what its size changes with.

    Attributes:
        term: c prod_j x_j**d_j, a value a row.
        of_size: by how much its logarithm changes with g.
        logs: by how much with each d.
    """

    term: np.ndarray
    of_size: float
    logs: np.ndarray


@dataclass(frozen=True)
class _Product(LearnedPowers):
    """The logarithm of a product, of which a number g for c, q, the a and the d are learned.

    Where c is above 0, g is its logarithm. Where it is below, c prod_j x_j**d_j has the magnitude
    1/(1 + exp(-g)) on the row where it is largest, so that no g and d make the sum 0.

    Args:
        logs: of the columns, less their means.
        root: of the weights.
        target: times that root.
        sign: of c.
    """

    logs: np.ndarray
    root: np.ndarray
    target: np.ndarray
    sign: int

    def all_rounded(self, fit: PowerFit) -> Iterator[tuple[np.ndarray, PowerFit]]:
        """All but g as fractions, for each q that may be meant."""
        real = np.arange(len(fit.powers)) == 0
        error = self.errors(fit, np.ones(len(fit.powers), dtype=bool))[1]
        halves = [Fraction(k, 2) for k in range(-2 * LARGEST_POWER, 2 * LARGEST_POWER + 1)]
        near = [q for q in halves if abs(float(q) - fit.powers[1]) <= REACHES[0] * error]
        near.sort(key=lambda q: abs(float(q) - fit.powers[1]))
        near = near[:_TRIED] if error < _UNKNOWN else []
        for given in ({}, *({(1,): q} for q in near)):
            for reach in REACHES:
                found = self.rounded(fit, reach, real, given, last=(1,))
                if found is not None:
                    yield found

    def starts(self, generator: np.random.Generator) -> Iterator[np.ndarray]:
        """Random d, and the rest as least squares have it."""
        for _ in range(STARTS):
            within = SPREAD * generator.standard_normal(self.logs.shape[1])
            of_power = np.log1p(self._bend(0.0, within).term)
            design = np.column_stack([of_power, self.logs, np.ones(len(of_power))])
            power, *before, _ = np.linalg.lstsq(design * self.root[:, None], self.target)[0]
            yield np.array([0.0, power, *before, *within])

    def evaluate(self, powers: np.ndarray) -> PowerFit | None:
        """The best constant before the product; None where that is too large to be a number."""
        size, power, before, within = self._split(powers)
        of_power = np.log1p(self._bend(size, within).term)
        left = self.target - (self.logs @ before + power * of_power) * self.root
        constant = (self.root @ left) / (self.root @ self.root)
        residual = left - constant * self.root
        error = float(residual @ residual)
        return PowerFit(powers, np.array([constant]), residual, error) if error < np.inf else None

    def derivatives(self, fit: PowerFit) -> tuple[np.ndarray, np.ndarray]:
        """By how much the logarithm changes with its constant, and with what is learned."""
        size, power, _, within = self._split(fit.powers)
        bend = self._bend(size, within)
        of_log = power * bend.term / (1 + bend.term)
        columns = [of_log * bend.of_size, np.log1p(bend.term), *self.logs.T]
        of_powers = np.column_stack([*columns, *(of_log * bend.logs.T)])
        return self.root[:, None], of_powers * self.root[:, None]

    def _split(self, powers: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
        """The number g, the power q, the a and the d."""
        within = 2 + self.logs.shape[1]
        return float(powers[0]), float(powers[1]), powers[2:within], powers[within:]

    def _bend(self, size: float, within: np.ndarray) -> _Bend:
        """The second term of the sum."""
        logs, of_size = self.logs, 1.0
        if self.sign < 0:
            logs = logs - logs[np.argmax(logs @ within)]
            of_size = 1 / (1 + math.exp(min(size, _SUREST)))
            size = math.log1p(-of_size)
        exponents = np.minimum(logs @ within + size, _LARGEST_EXPONENT)
        return _Bend(self.sign * np.exp(exponents), of_size, logs)
