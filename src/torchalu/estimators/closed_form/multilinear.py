"""Products of two or three sums of many columns: multilinear least squares."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from torchalu.estimators.closed_form.products import as_factor
from torchalu.estimators.least_squares import to_integers
from torchalu.estimators.structures import Structure, make_structure, make_term
from torchalu.estimators.table import CanonicalTable

_STEPS = 80
_ROWS_AN_UNKNOWN = 8
_MOST_UNKNOWNS = {2: 600, 3: 120}
_SOLVED = 1e-16


def multilinear_structures(
    table: CanonicalTable, generator: np.random.Generator, restarts: int
) -> Iterator[Structure]:
    """Products of two or of three sums of columns, by Levenberg-Marquardt on all sums at once.

    Minimizes `sum weight (y - prod_f (u_f . x + u_f0))**2` over real u. For two sums that has
    2 (columns + 1) unknowns where the quadratic form has (columns + 1)**2 / 2, so it reaches
    tables of hundreds of columns. Random starts run on a part of the rows, eight an unknown; the
    best of them goes on with up to 40 an unknown, under both noise models. A start that leaves no
    residual ends the search.

    Args:
        table: the rows to learn from.
        generator: where the starts come from.
        restarts: number of starts.
    """
    for sums, most in _MOST_UNKNOWNS.items():
        unknowns = sums * (table.features + 1)
        if table.features < 2 or len(table.y) < 1.5 * unknowns or unknowns > most:
            continue
        part = _Multilinear(table.thin(_ROWS_AN_UNKNOWN * unknowns), None, sums)
        starts = (generator.normal(size=(sums, table.features + 1)) for _ in range(restarts))
        best, least = part.best(starts)
        yield from _rounded(part.coefficients(best))
        if least < _SOLVED:
            return
        whole = table.thin(5 * _ROWS_AN_UNKNOWN * unknowns)
        for weight in whole.views:
            problem = _Multilinear(whole, weight, sums)
            yield from _rounded(problem.coefficients(problem.descend(best)[0]))


def _rounded(coefficients: np.ndarray) -> Iterator[Structure]:
    """Products of sums with small integers in the proportion of the coefficients."""
    proposals = [to_integers(row)[:3] for row in coefficients]
    for choice in product(*proposals):
        yield make_structure([make_term(map(as_factor, choice))], offset=False)


class _Multilinear:
    """The least-squares problem, in units in which columns and target are of size one."""

    def __init__(self, table: CanonicalTable, weight: np.ndarray | None, sums: int) -> None:
        weight = table.weight if weight is None else weight
        self.sums = sums
        self.unit = float(np.abs(table.X).max()) or 1.0
        self.X = np.column_stack([table.X / self.unit, np.ones(len(table.y))])
        self.y = table.y / table.scale
        self.root = np.sqrt(weight / weight.sum())

    def coefficients(self, state: np.ndarray) -> np.ndarray:
        """A row a sum, in the table's units; the constant last."""
        units = np.append(np.full(self.X.shape[1] - 1, self.unit), 1.0)
        return state / units

    def best(self, starts: Iterator[np.ndarray]) -> tuple[np.ndarray, float]:
        """The best end of several descents, none after one that leaves no residual."""
        best, least = np.zeros((self.sums, self.X.shape[1])), np.inf
        for start in starts:
            found, cost = self.descend(start / np.sqrt(self.X.shape[1]))
            if cost < least:
                best, least = found, cost
            if least < _SOLVED:
                break
        return best, least

    def descend(self, state: np.ndarray) -> tuple[np.ndarray, float]:
        """Levenberg and Marquardt's descent: where it ends, and the mean squared error there."""
        damping, residual = 1e-2, self._residual(state)
        cost = float(residual @ residual)
        for _ in range(_STEPS):
            gram, gradient = self._normal_equations(state, residual)
            step, damping = self._step(state, cost, gram, gradient, damping)
            if step is None:
                break
            state = state + step
            residual = self._residual(state)
            before, cost = cost, float(residual @ residual)
            if before - cost < 1e-6 * before or cost < 1e-24:
                break
        return state, cost

    def _residual(self, state: np.ndarray) -> np.ndarray:
        """Weighted residuals; their squares add up to the mean squared error."""
        return (self.y - prod(self.X @ row for row in state)) * self.root

    def _normal_equations(
        self, state: np.ndarray, residual: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        values = [self.X @ row for row in state]
        weighted = self.X * self.root[:, None]
        others = [prod(values[:f] + values[f + 1 :]) for f in range(self.sums)]
        jacobian = np.hstack([weighted * np.reshape(other, (-1, 1)) for other in others])
        return jacobian.T @ jacobian, jacobian.T @ residual

    def _step(
        self,
        state: np.ndarray,
        cost: float,
        gram: np.ndarray,
        gradient: np.ndarray,
        damping: float,
    ) -> tuple[np.ndarray | None, float]:
        """A step that lowers the cost, and the damping for the next; None if there is none."""
        diagonal = np.diag(np.diag(gram) + 1e-12)
        for _ in range(8):
            try:
                step = np.linalg.solve(gram + damping * diagonal, gradient).reshape(state.shape)
            except np.linalg.LinAlgError:
                return None, damping
            residual = self._residual(state + step)
            if residual @ residual < cost:
                return step, max(damping / 5, 1e-10)
            damping *= 5
        return None, damping
