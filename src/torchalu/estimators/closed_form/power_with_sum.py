"""Products of powers of columns and of one sum of two of them: least squares on logarithms."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from torchalu.estimators.closed_form.powers import rounded
from torchalu.estimators.least_squares import NOISE_FLOOR, Subset, sparse_fits
from torchalu.estimators.structures import Structure, Term, make_factor, make_structure, make_term
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 16
_MOST_ROWS = 1000
_DENOMINATORS = (1, 2, 3, 4)  # with finer ones a sum can pass for another
_KEPT = 12
_SIZES = 6


def power_with_sum_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Products such as a b / (a + b), from the logarithms of the columns and of one sum.

    Each sum and difference of two columns is one more column of the least squares for
    log\\|y\\| = log\\|c\\| + p . log\\|x\\| + q log\\|x_i + s x_j\\|, and the fits that leave the
    least are rounded. Tables of more than 16 columns have too many pairs, and are left out.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(_MOST_ROWS)
    rows = table.y != 0
    if table.features > _MOST_COLUMNS or rows.sum() < 4:
        return
    X, y = table.X[rows], table.y[rows]
    usable = np.flatnonzero(np.all(X != 0, axis=0)).tolist()
    logs, target = np.log(np.abs(X[:, usable])), np.log(np.abs(y))
    for weight in table.views:
        relative = weight[rows] * y**2
        fits = [
            fit
            for i, j in combinations(range(table.features), 2)
            for sign in (1, -1)
            for fit in _fits(logs, target, relative, _Pair(i, j, sign), X)
        ]
        for fit in heapq.nsmallest(_KEPT, fits, key=lambda fit: fit.cost):
            for powers in rounded(fit.subset, _DENOMINATORS):
                term = fit.pair.term(usable, fit.subset.columns, powers)
                if term is not None:
                    yield make_structure([term], offset=False)


@dataclass(frozen=True)
class _Pair:
    """A sum or difference of two columns."""

    first: int
    second: int
    sign: int

    def term(self, usable: list[int], columns: tuple[int, ...], powers: tuple) -> Term | None:
        """The product of powers; the sum is the column behind the usable ones."""
        return make_term(
            make_factor({usable[column]: 1}, 0, power)
            if column < len(usable)
            else make_factor({self.first: 1, self.second: self.sign}, 0, power)
            for column, power in zip(columns, powers, strict=True)
        )


@dataclass(frozen=True)
class _Fit:
    """Some columns and a sum of two, and the nats that they leave."""

    pair: _Pair
    subset: Subset
    cost: float


def _fits(
    logs: np.ndarray, target: np.ndarray, weight: np.ndarray, pair: _Pair, X: np.ndarray
) -> Iterator[_Fit]:
    """The fits with a sum that mention it."""
    total = X[:, pair.first] + pair.sign * X[:, pair.second]
    if not np.all(total != 0):
        return
    features = np.column_stack([logs, np.log(np.abs(total))])
    share = weight / weight.sum()
    for subset in sparse_fits(features, target, weight, sizes=_SIZES):
        if logs.shape[1] not in subset.columns:
            continue
        left = target - features[:, list(subset.columns)] @ subset.coefficients - subset.constant
        deviation = max(math.sqrt(float(share @ left**2)), NOISE_FLOOR)
        cost = len(target) * math.log(deviation) + 0.5 * math.log(len(target)) * len(subset.columns)
        yield _Fit(pair, subset, cost)
