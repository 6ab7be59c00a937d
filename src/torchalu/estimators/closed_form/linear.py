"""Sums, and powers of sums: least squares on the target or on a power of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from torchalu.estimators.least_squares import Subset, sparse_fits, to_integers
from torchalu.estimators.structures import Structure, Term, make_factor, make_structure, make_term
from torchalu.estimators.table import CanonicalTable

_POWERS = (Fraction(-1), Fraction(2), Fraction(1, 2), Fraction(-1, 2), Fraction(-2))

_FEW_COLUMNS = 20
_MOST_ROWS = 4000


def linear_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Sums of some columns: a constant each, or signs under one scale.

    Args:
        table: the rows to learn from.

    Yields:
        The constant, the sum of all columns where there are rows enough, and sums of the columns
        that least squares needs.
    """
    yield make_structure([], offset=True)
    rows, columns = table.X.shape
    if rows > 2 * columns:
        yield make_structure([_column(j) for j in range(columns)], offset=True)
    sizes = 3 if columns <= _FEW_COLUMNS else 1
    for weight in table.views:
        for subset in sparse_fits(table.X, table.y, weight, sizes):
            yield make_structure([_column(j) for j in subset.columns], offset=True)
            for term in _sums(subset, Fraction(1), with_constant=False):
                yield make_structure([term], offset=True)


def transformed_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Powers of sums, such as 1 / (a + b): least squares on a power of the target.

    Where y = (c + k . x)**p, y**(1/p) is linear.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(max(_MOST_ROWS, 40 * table.features))
    for power in _POWERS:
        raised = table.raised(float(1 / power))
        if raised is None:
            continue
        for weight in raised.views:
            for subset in sparse_fits(raised.X, raised.y, weight):
                for term in _sums(subset, power, with_constant=True):
                    yield make_structure([term], offset=False)


def _column(column: int) -> Term | None:
    """A bare column as a term."""
    return make_term([make_factor({column: 1})])


def _sums(subset: Subset, power: Fraction, *, with_constant: bool) -> Iterator[Term]:
    """Terms whose base is the sum that least squares found, rounded to small integers."""
    values = np.append(subset.coefficients, subset.constant)
    proposals = to_integers(subset.coefficients)
    integers = [(*proposal, 0) for proposal in proposals]
    if with_constant:
        integers += to_integers(values)
    for proposal in integers:
        coefficients = dict(zip(subset.columns, proposal[:-1], strict=True))
        term = make_term([make_factor(coefficients, proposal[-1], power)])
        if term is not None:
            yield term
