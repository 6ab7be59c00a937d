"""Products of powers: least squares on logarithms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from torchalu.estimators.least_squares import Subset, sparse_fits
from torchalu.estimators.structures import Structure, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

DENOMINATORS = (1, 2, 3, 4, 5, 10)
_NEAREST_DENOMINATOR = 5
LARGEST_DENOMINATOR = 100
_EXACT = 1e-9
LARGEST_POWER = 8
_MOST_ROWS = 4000


def power_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Products of powers of columns, from log\\|y\\| = log\\|c\\| + p . log\\|x\\|.

    Columns and targets that are 0 somewhere have no logarithm there: such columns are left out,
    such rows too. Signs follow from the powers, which are rounded to whole numbers, halves, thirds,
    quarters, fifths and tenths, and taken as other fractions where they are these to nine digits; a
    structure that is undefined for some row is dropped when it is fitted.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(max(_MOST_ROWS, 40 * table.features))
    rows = table.y != 0
    usable = np.flatnonzero(np.all(table.X[rows] != 0, axis=0))
    if rows.sum() < 2 or not len(usable):
        return
    logs = np.log(np.abs(table.X[np.ix_(rows, usable)]))
    target = np.log(np.abs(table.y[rows]))
    for weight in table.views:
        relative = weight[rows] * table.y[rows] ** 2
        for subset in sparse_fits(logs, target, relative, sizes=6):
            for powers in rounded(subset):
                pairs = zip(subset.columns, powers, strict=True)
                term = monomial({int(usable[j]): p for j, p in pairs})
                if term is not None:
                    yield make_structure([term], offset=False)


def rounded(
    subset: Subset, denominators: tuple[int, ...] = DENOMINATORS
) -> Iterator[tuple[Fraction, ...]]:
    """The powers, all rounded to multiples of one over each denominator, or each to the nearest.

    Where they are fractions to nine digits, of denominators up to 100, these too.

    Args:
        subset: columns with the powers that were fitted.
        denominators: ascending; the nearest are those up to 5.
    """
    values = [float(p) for p in subset.coefficients]
    proposals = [
        tuple(Fraction(round(p * denominator), denominator) for p in values)
        for denominator in denominators
    ]
    nearest = min(denominators[-1], _NEAREST_DENOMINATOR)
    proposals.append(tuple(Fraction(p).limit_denominator(nearest) for p in values))
    exact = tuple(Fraction(p).limit_denominator(LARGEST_DENOMINATOR) for p in values)
    if all(abs(float(q) - p) < _EXACT for p, q in zip(values, exact, strict=True)):
        proposals.append(exact)
    for powers in dict.fromkeys(proposals):
        if all(abs(p) <= LARGEST_POWER for p in powers):
            yield powers
