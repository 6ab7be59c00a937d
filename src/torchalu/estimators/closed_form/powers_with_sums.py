"""Products of powers of columns and of one or two short sums: least squares on logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations

import numpy as np

from torchalu.estimators.closed_form.powers import rounded
from torchalu.estimators.least_squares import Subset, largest, solve
from torchalu.estimators.structures import (
    Factor,
    Structure,
    Term,
    make_factor,
    make_structure,
    make_term,
)
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 16
_MOST_COLUMNS_OF_PAIRS = 9
_MOST_ROWS = 1000
_DENOMINATORS = (1, 2, 3, 4)  # with finer ones a sum can pass for another
_KEPT = 12
_CHUNK = 500
_ALIKE = 1e-10
_LEAST_LEFT = 1e-14


def powers_with_sums_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Products such as a b / (a + b) or sqrt(a + b) / sqrt(a - b).

    The logarithm of each sum and difference of two columns, or of one and 1, is one more column of
    the least squares for log\\|y\\| = log\\|c\\| + p . log\\|x\\| + q log\\|x_i + s x_j\\|, and the
    fits that leave the least are rounded. So are those with two such sums; where these make a
    difference of squares, it is tried too. Tables of more than 16 columns have too many sums, and
    are left out; of more than nine, those of two sums are of the nine on which the target depends
    most.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(_MOST_ROWS)
    rows = table.y != 0
    if table.features > _MOST_COLUMNS or rows.sum() < 4:
        return
    X, y = table.X[rows], table.y[rows]
    bases = [_Base({int(j): 1}) for j in np.flatnonzero(np.all(X != 0, axis=0))]
    columns = len(bases)
    bases += _sums(X)
    near = {*table.screened(_MOST_COLUMNS_OF_PAIRS)}
    singles = range(columns, len(bases))
    pairs = combinations([k for k in singles if near >= {*bases[k].coefficients}], 2)
    choices = [np.array([*zip(singles)], dtype=int), np.array([*pairs], dtype=int)]
    vectors = np.array([np.log(np.abs(base.values(X))) for base in bases]).reshape(-1, len(y)).T
    target = np.log(np.abs(y))
    for weight in table.views:
        relative = weight[rows] * y**2
        gram = _gram(np.column_stack([vectors, target]), relative)
        for chosen in chain.from_iterable(_best(gram, columns, sums, len(y)) for sums in choices):
            design = np.column_stack([vectors[:, chosen], np.ones(len(y))])
            fit = solve(design, target, relative)
            if fit is not None:
                *powers, constant = fit.coefficients
                subset = Subset(chosen, np.array(powers), constant)
                for term in _products(subset, bases):
                    yield make_structure([term], offset=False)
                    yield from _as_difference_of_squares(term)


@dataclass(frozen=True)
class _Base:
    """A column, a sum or difference of two, or of one and 1.

    Args:
        coefficients: of the columns.
        constant: 0, 1 or -1.
    """

    coefficients: dict[int, int]
    constant: int = 0

    def values(self, X: np.ndarray) -> np.ndarray:
        """The sum on each row."""
        return X[:, [*self.coefficients]] @ [*self.coefficients.values()] + self.constant

    def turned(self) -> _Base:
        """The sum times -1."""
        return _Base({j: -k for j, k in self.coefficients.items()}, -self.constant)

    def raised(self, power: Fraction) -> Factor | None:
        """The sum raised to a power."""
        return make_factor(self.coefficients, self.constant, power)


def _products(subset: Subset, bases: list[_Base]) -> Iterator[Term]:
    """The products of powers that are near those that were fitted."""
    for powers in rounded(subset, _DENOMINATORS):
        factors = zip(subset.columns, powers, strict=True)
        term = make_term(bases[place].raised(power) for place, power in factors)
        if term is not None:
            yield term


def _as_difference_of_squares(term: Term) -> Iterator[Structure]:
    """A product with a power of (a - b) (a + b) as that power of a difference of two terms."""
    sums = [factor for factor in term.factors if not factor.is_column]
    powers = {factor.power for factor in sums}
    if len(sums) != 2 or len(powers) != 1:
        return
    (power,) = powers
    (a, b), (c, d) = ([k for _, k in _summands(factor)] for factor in sums)
    if [j for j, _ in _summands(sums[0])] != [j for j, _ in _summands(sums[1])] or a * d != -b * c:
        return
    rest = [replace(f, power=f.power / power) for f in term.factors if f.is_column]
    squares = [None if j is None else make_factor({j: 1}, 0, 2) for j, _ in _summands(sums[0])]
    terms = [make_term([*rest, square]) for square in squares]
    yield make_structure(terms, None in terms, power)


def _summands(factor: Factor) -> list[tuple[int | None, int]]:
    """The columns of a sum of two and their coefficients; a constant is of no column."""
    constant = [(None, factor.constant)] if factor.constant else []
    return [*factor.coefficients, *constant]


def _sums(X: np.ndarray) -> list[_Base]:
    """All sums and differences of two columns, and of each with 1, that are 0 on no row.

    Those that are below 0 on all rows are turned, so that they have roots.
    """
    columns = range(X.shape[1])
    sums = [_Base({i: 1, j: sign}) for i, j in combinations(columns, 2) for sign in (1, -1)]
    sums += [_Base({j: 1}, sign) for j in columns for sign in (1, -1)]
    values = [one.values(X) for one in sums]
    return [
        one.turned() if np.all(of_one < 0) else one
        for one, of_one in zip(sums, values, strict=True)
        if np.all(of_one != 0)
    ]


def _gram(vectors: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Correlations of some vectors; 0 with one that is constant."""
    scaled = vectors / largest(vectors)
    centered = (scaled - weight @ scaled / weight.sum()) * np.sqrt(weight / weight.max())[:, None]
    sizes = np.sqrt(np.einsum("ij,ij->j", centered, centered))
    flat = sizes <= _ALIKE * math.sqrt(len(vectors))
    unit = np.where(flat, 0.0, centered / np.where(flat, 1.0, sizes))
    return unit.T @ unit


def _best(gram: np.ndarray, columns: int, choices: np.ndarray, rows: int) -> list[tuple[int, ...]]:
    """The sums and columns with the least information criterion.

    To the sums of each choice one column after the other is added, always the one that then
    explains most of what is left of the target: an elimination with pivots, of many choices at
    once.

    Args:
        gram: correlations of columns, sums and the target.
        columns: how many there are.
        choices: places of the sums that are chosen together.
        rows: that the correlations are of.

    Shape:
        gram: (columns + sums + 1, columns + sums + 1); choices: (choices, sums of each).

    Returns:
        Places of those that are taken, ascending.
    """
    if not len(choices):
        return []
    given = choices.shape[1]
    costs, taken = [], []
    for start in range(0, len(choices), _CHUNK):
        sums = choices[start : start + _CHUNK]
        each = np.arange(len(sums))
        places = np.hstack([sums, np.broadcast_to(np.arange(columns), (len(sums), columns))])
        own, aimed = gram[places[:, :, None], places[:, None, :]], gram[places, -1]
        left, pivots = np.ones(len(sums)), []
        for size in range(1, min(given + columns, rows - 2) + 1):
            spread = np.einsum("ijj->ij", own)
            gain = np.where(spread > _ALIKE, aimed**2 / np.maximum(spread, _ALIKE), -1.0)
            pivot = gain.argmax(axis=1) if size > given else np.full(len(sums), size - 1)
            explained = gain[each, pivot]
            left = np.where(explained < 0, math.inf, left - explained)
            across = own[each, :, pivot] / np.maximum(spread[each, pivot], _ALIKE)[:, None]
            aimed = aimed - across * aimed[each, pivot][:, None]
            own = own - across[:, :, None] * own[each, pivot][:, None, :]
            pivots.append(places[each, pivot])
            if size >= given:
                costs.append(rows * np.log(np.maximum(left, _LEAST_LEFT)) + size * np.log(rows))
                taken += map(tuple, np.sort(np.array(pivots), axis=0).T.tolist())
    if not costs:
        return []
    cost = np.concatenate(costs)
    order = np.argsort(cost, kind="stable")[:_KEPT]
    return [taken[k] for k in order if cost[k] < math.inf]
