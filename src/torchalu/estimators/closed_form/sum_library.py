"""Sums of products of powers, some of which have a sum of two columns as a factor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from torchalu.estimators.closed_form.library import (
    MOST_ROWS,
    Library,
    column_power,
    is_defined,
    library_structures,
    tabulate,
)
from torchalu.estimators.least_squares import NOISE_FLOOR, beyond, orthonormal
from torchalu.estimators.structures import Structure, Term
from torchalu.estimators.table import CanonicalTable

MOST_COLUMNS = 7
"""Products are formed of this many columns of a wider table."""

_SUM_POWERS = tuple(Fraction(p) for p in ("-1", "1/2", "-1/2", "-2"))
_COLUMN_POWERS = tuple(Fraction(p) for p in ("1", "2", "1/2", "-1"))
_KEPT = 200
_ROWS_A_COLUMN = 2
_INDEPENDENT = 1e-8

Powers = dict[int, Fraction]
"""Of each column, or sum, its power."""

Sums = dict[int, dict[int, int]]
"""By the number that stands for a sum: of each of its columns the coefficient."""


def sum_library_structures(
    table: CanonicalTable, known: Sequence[Term] = ()
) -> Iterator[Structure]:
    """Sums of products of powers, some with a sum of two columns, such as a/(b + c) + d.

    Products with such a sum are many. Those are kept that follow best what functions of single
    columns leave of the target, since of one beside such functions that is all of it, and those
    that follow best what the terms known so far leave.

    Args:
        table: the rows to learn from.
        known: terms of a sum that is near the target.
    """
    columns = table.screened(MOST_COLUMNS)
    table = table.thin(MOST_ROWS)
    single, pairs = simple_products(table, columns)
    signed = product(combinations(columns, 2), (1, -1))
    sums = {table.features + n: {i: 1, j: k} for n, ((i, j), k) in enumerate(signed)}
    beside = tabulate(table.X, [*(one for one in single if set(one.values()) <= {1, -1}), *pairs])
    kept: dict[tuple[tuple[int, Fraction], ...], None] = {}
    near = np.stack([np.ones(len(table.y)), *(term.values(table.X) for term in known)], axis=1)
    functions = _functions(table.X, tabulate(table.X, single).values)
    for root in map(np.sqrt, table.views):
        for explained in (functions, near):
            basis = orthonormal(explained * root[:, None])
            kept.update(dict.fromkeys(_best(table, sums, beside, root, basis)))
    if not kept:
        return
    chosen = [*single, *pairs, *map(dict, kept)]
    for structure in library_structures(table, tabulate(table.X, chosen, sums)):
        if not all(term.is_plain for term in structure.terms):
            yield structure


def simple_products(table: CanonicalTable, columns: list[int]) -> tuple[list[Powers], list[Powers]]:
    """Powers of single columns, and products and ratios of two of them.

    Args:
        table: the rows to learn from.
        columns: which of them.
    """
    usable = {j: [p for p in _COLUMN_POWERS if is_defined(table.X[:, j], p)] for j in columns}
    single = [{j: p} for j in columns for p in usable[j]]
    pairs = [
        {i: p, j: q}
        for i, j in combinations(columns, 2)
        for p, q in product(usable[i], usable[j])
        if {p, q} in ({1}, {1, -1})
    ]
    return single, pairs


def _functions(X: np.ndarray, single: np.ndarray) -> np.ndarray:
    """A constant and functions of single columns, the columns only where there are few rows."""
    ones = np.ones((len(X), 1))
    choices = [np.hstack([ones, functions]) for functions in (single, X, X[:, :0])]
    enough = [one for one in choices if _ROWS_A_COLUMN * one.shape[1] <= len(X)]
    return [*enough, ones][0]


def _best(
    table: CanonicalTable, sums: Sums, beside: Library, root: np.ndarray, basis: np.ndarray
) -> list[tuple[tuple[int, Fraction], ...]]:
    """The products with a sum that follow best what the basis leaves of the target."""
    left = beyond(basis, table.y / table.scale * root)
    if np.sqrt(left @ left) <= NOISE_FLOOR * np.sqrt(root @ root):
        return []
    around = [{}, *beside.powers]
    factors = np.column_stack([np.ones(len(table.y)), beside.values]) * root[:, None]
    raised, gains = [], []
    for number, coefficients in sums.items():
        total = np.asarray(sum(k * table.X[:, j] for j, k in coefficients.items()))
        for power in _SUM_POWERS:
            if is_defined(total, power):
                values = factors * column_power(total, power)[:, None]
                raised.append((number, power))
                gains.append(_gains(values / np.abs(values).max(axis=0), left, basis))
    gain = np.concatenate(gains) if gains else np.zeros(0)
    best = [
        divmod(int(i), factors.shape[1])
        for i in np.argsort(-gain, kind="stable")[:_KEPT]
        if gain[i] > 0
    ]
    return [(raised[i], *around[j].items()) for i, j in best]


def _gains(values: np.ndarray, left: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """By how much each column, besides the basis, makes the squares of what is left smaller."""
    new = beyond(basis, values)
    square = (new**2).sum(axis=0)
    usable = square > _INDEPENDENT * (values**2).sum(axis=0)
    return np.where(usable, (left @ new) ** 2 / np.where(usable, square, 1.0), -1.0)
