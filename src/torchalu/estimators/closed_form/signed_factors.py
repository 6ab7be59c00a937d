"""Products over a sum or its root, such as x/sqrt(x**2 + y**2), that have the target's sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from torchalu.estimators.closed_form.library import MANY_ROWS
from torchalu.estimators.closed_form.power_of_sum import power_of_sum_structures
from torchalu.estimators.structures import Structure, Term, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 9
_MOST_FACTORS = 3
_ROOT = Fraction(-1, 2)


def signed_factor_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Products of columns over a sum of products or its root, with real constants in the sum.

    A target of both signs is no root of a sum, and its reciprocal is infinite between rows. But
    where its sign is on every row that of up to three columns multiplied, or the opposite, what
    remains of it after a division by these may be a power of a sum, as `power_of_sum_structures`
    finds them. Fewer than 30 rows agree in their signs too easily.

    Args:
        table: the rows to learn from.
    """
    rows = np.flatnonzero(table.y)
    signs = np.sign(table.y[rows])
    if len(rows) < MANY_ROWS or np.all(signs == signs[0]):
        return
    of_columns = np.sign(table.X[rows])
    columns = [j for j in table.screened(_MOST_COLUMNS) if np.ptp(of_columns[:, j]) == 2]
    for count in range(1, _MOST_FACTORS + 1):
        for chosen in combinations(columns, count):
            agree = signs * of_columns[:, chosen].prod(axis=1)
            if agree[0] and np.all(agree == agree[0]):
                yield from _over_powers(monomial(dict.fromkeys(chosen, 1)) or Term(()), table)


def _over_powers(factor: Term, table: CanonicalTable) -> Iterator[Structure]:
    """A product over what the target's magnitude is to be divided by."""
    table = table.of(np.flatnonzero(table.y))
    by = np.abs(factor.values(table.X))
    rest = replace(table, y=np.abs(table.y) / by, slope=table.slope / by)
    for found in power_of_sum_structures(rest):
        for constant in ([], [Term(())]):
            below = [*found.terms, *constant]
            if found.power < 0 and len(below) > 1:
                yield make_structure([factor], False, below=below, root_below=found.power == _ROOT)
