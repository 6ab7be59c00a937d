"""Powers of sums of products: the sums of products that a power of the target may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from torchalu.estimators.closed_form.library import library_structures
from torchalu.estimators.closed_form.linear import linear_structures
from torchalu.estimators.closed_form.products import quadratic_structures
from torchalu.estimators.structures import Structure
from torchalu.estimators.table import CanonicalTable

_POWERS = (Fraction(1, 2), Fraction(-1), Fraction(-1, 2))


def power_of_sum_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Square roots and reciprocals of sums, such as sqrt(a**2 + b**2) and 1/(1/a + b/c).

    Where y = (c_0 + sum_k c_k T_k)**q, y**(1/q) is a sum of products, which is found as those of
    the target itself are.

    Args:
        table: the rows to learn from.
    """
    for power in _POWERS:
        raised = table.raised(float(1 / power))
        if raised is None:
            continue
        sums = linear_structures, quadratic_structures, library_structures
        for structure in chain.from_iterable(find(raised) for find in sums):
            if structure.terms:
                yield replace(structure, power=power)
