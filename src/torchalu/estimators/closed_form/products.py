"""Products of sums and sums of products of two columns: quadratic least squares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torchalu.estimators.least_squares import Subset, sparse_fits, to_integers
from torchalu.estimators.structures import (
    Factor,
    Structure,
    make_factor,
    make_structure,
    make_term,
    monomial,
)
from torchalu.estimators.table import CanonicalTable

_MOST_QUADRATIC = 700


def quadratic_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Sums of products of two columns, and the product of two sums that they may be.

    The target is fitted by y = (x, 1) H (x, 1)' with a symmetric matrix H. A product of two sums
    (u, u0) and (v, v0) has H = (u v' + v u') / 2, whose two eigenvalues of opposite sign give u and
    v back. Tables with fewer than 1.5 rows a coefficient, or with more than 700 coefficients, are
    left to other means.

    Args:
        table: the rows to learn from.
    """
    columns = table.features
    pairs = [(i, j) for i in range(columns) for j in range(i, columns)]
    if columns + len(pairs) > min(_MOST_QUADRATIC, len(table.y) / 1.5):
        return
    first = np.array([i for i, _ in pairs])
    second = np.array([j for _, j in pairs])
    features = np.column_stack([table.X, table.X[:, first] * table.X[:, second]])
    members = [(j,) for j in range(columns)] + pairs
    for weight in table.views:
        for subset in sparse_fits(features, table.y, weight):
            yield _sum_of_products(subset, members)
            yield from _factorized(_matrix(subset, members, columns))


def _sum_of_products(subset: Subset, members: list[tuple[int, ...]]) -> Structure:
    """One term a product, a constant each."""
    terms = []
    for index in subset.columns:
        powers: dict[int, int] = {}
        for column in members[index]:
            powers[column] = powers.get(column, 0) + 1
        terms.append(monomial(powers))
    return make_structure(terms, offset=True)


def _matrix(subset: Subset, members: list[tuple[int, ...]], columns: int) -> np.ndarray:
    """The symmetric matrix of the quadratic form."""
    matrix = np.zeros((columns + 1, columns + 1))
    matrix[columns, columns] = subset.constant
    for index, value in zip(subset.columns, subset.coefficients, strict=True):
        i, j = (*members[index], columns)[:2]
        matrix[i, j] += value / 2
        matrix[j, i] += value / 2
    return matrix


def _factorized(matrix: np.ndarray) -> Iterator[Structure]:
    """Products of two sums, if the quadratic form is near one, with and without constants."""
    for constants in (True, False):
        form = matrix if constants else matrix[:-1, :-1]
        values, vectors = np.linalg.eigh(form)
        low, high = float(values[0]), float(values[-1])
        plus = np.sqrt(max(high, 0.0)) * vectors[:, -1]
        minus = np.sqrt(max(-low, 0.0)) * vectors[:, 0]
        if not constants:
            plus, minus = np.append(plus, 0.0), np.append(minus, 0.0)
        yield from round_product(plus + minus, plus - minus)


def round_product(u: np.ndarray, v: np.ndarray) -> Iterator[Structure]:
    """Products of two sums with small integers in the proportion of `u` and of `v`.

    Args:
        u: coefficients of the columns, then the constant.
        v: those of the other sum.
    """
    for left in to_integers(u):
        for right in to_integers(v):
            term = make_term([as_factor(left), as_factor(right)])
            if term is not None:
                yield make_structure([term], offset=False)


def as_factor(integers: tuple[int, ...]) -> Factor | None:
    """A sum from its coefficients and its constant."""
    return make_factor(dict(enumerate(integers[:-1])), integers[-1])
