"""Sums of products over the root of another, such as (x - v*t)/sqrt(1 - v**2/c**2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, permutations
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import MANY_ROWS, NOTHING
from torchalu.estimators.closed_form.quotients import (
    RATED_AGAIN,
    SHORTEST,
    Choice,
    Quotient,
    Target,
    best_choices,
    best_quotients,
    grown,
    mean_square,
)
from torchalu.estimators.least_squares import largest
from torchalu.estimators.structures import Structure, Term, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_ROWS = 400
_MOST_COLUMNS = 6
_MOST_PRODUCTS = 45
_ROWS_A_PRODUCT = 2
_FEWEST_ROWS = 12
_LONGEST = 6
_KEPT = 8
_SMALL = 0.01
_LARGEST = 1e140

_ABOVE = [(), (1,), (1, 1), (2,), (1, -1), (1, 1, -2), (1, 1, 1)]
_BELOW = [(), (2,), (2, 2), (2, -2), (1,), (1, 1), (2, -1)]
"""The powers of the columns of each kind of product, in the order in which they are taken."""

_Powers = dict[int, int]
"""The power of each column of a product."""


class _Products(NamedTuple):
    """Products of powers of columns, and their values, a column each."""

    powers: list[_Powers]
    values: np.ndarray


class _Search(NamedTuple):
    """What quotients are made of, and what they are to be.

    Attributes:
        above: products of the sum above.
        below: products of the sum under the root.
        target: the square of what the sum over the root is to be.
    """

    above: _Products
    below: _Products
    target: Target

    def square(self, above: tuple[int, ...], below: tuple[int, ...], times: int) -> float:
        """The mean square that one quotient leaves of the target."""
        values = self.above.values
        i, j = np.array(list(combinations_with_replacement(above, 2))).T
        under = self.below.values[:, below]
        return mean_square(values[:, i] * values[:, j], under, self.target, times)

    def key(self, above: tuple[int, ...], below: tuple[int, ...]) -> tuple[tuple, int]:
        """The same for quotients that differ by a common factor, and the size of all powers."""
        tops = [self.above.powers[i] for i in above]
        bottoms = [self.below.powers[i] for i in below]
        columns = sorted({column for one in (*tops, *bottoms) for column in one})
        twice = np.array([[2 * one.get(c, 0) for c in columns] for one in tops])
        under = np.array([[one.get(c, 0) for c in columns] for one in bottoms])
        least = np.vstack([twice, under]).min(axis=0, initial=10)
        rows = [sorted(map(tuple, (part - least).tolist())) for part in (twice, under)]
        return (*columns, *map(tuple, rows)), int(np.abs(twice).sum() + np.abs(under).sum())


def sum_over_root_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Products and sums of them over the root of a sum of products, with real constants in both.

    Where y = N/sqrt(D), the equation y**2 D = N**2 is linear in the constants of D and in those of
    the products of two of N's. So y**2 is a quotient of sums of products, as `quotients` rates
    them: all choices of one product for N and two for D, then of two and two, then the best ones
    with one product more.

    N is looked for among columns, their products and ratios, D among squares of these and columns,
    as many kinds as make no more than 45 products each, nor more than half as many as there are
    rows, of the six columns that go best with the target. Of fewer than 30 rows only exact
    quotients are yielded.

    Args:
        table: the rows to learn from.
    """
    screened = table.screened(_MOST_COLUMNS)
    table = table.thin(_MOST_ROWS)
    if len(table.y) < _FEWEST_ROWS:
        return
    varying = [j for j in screened if np.ptp(table.X[:, j]) > 0]
    most = min(_MOST_PRODUCTS, len(table.y) // _ROWS_A_PRODUCT)
    above, below = (_tabulated(table, varying, most, kinds) for kinds in (_ABOVE, _BELOW))
    if min(len(above.powers), len(below.powers)) < 2:
        return
    y = table.y / table.scale
    slope = 2 * np.maximum(np.abs(y), _SMALL)
    for weight in replace(table, y=y).views:
        target = Target(y**2, np.sqrt(weight), slope)
        for quotient in _best(_Search(above, below, target)):
            if len(y) >= MANY_ROWS or quotient.square <= NOTHING:
                yield _structure(above, below, quotient)


def _structure(above: _Products, below: _Products, quotient: Quotient) -> Structure:
    """A quotient as a structure."""
    tops = [monomial(above.powers[i]) for i in quotient.above]
    bottoms = [monomial(below.powers[i]) or Term(()) for i in quotient.below]
    return make_structure(tops, None in tops, below=bottoms, root_below=True)


def _tabulated(
    table: CanonicalTable,
    columns: Sequence[int],
    most: int,
    kinds: Sequence[tuple[int, ...]],
) -> _Products:
    """Products of each kind that there is room for, those that are finite and not 0 throughout.

    Columns of both signs are not divided by: a few rows near 0 would outweigh all others.
    """
    signed = (table.X.min(axis=0) < 0) & (table.X.max(axis=0) > 0)
    chosen: dict[tuple[tuple[int, int], ...], None] = {}
    for kind in kinds:
        listed = (sorted(zip(one, kind, strict=True)) for one in permutations(columns, len(kind)))
        more = {tuple(one): None for one in listed if not any(signed[j] and p < 0 for j, p in one)}
        if len(chosen) + len(more) <= most:
            chosen |= more
    powers = [dict(one) for one in chosen]
    values = np.stack([(monomial(one) or Term(())).values(table.X) for one in powers], axis=1)
    usable = np.all(np.abs(values) < _LARGEST, axis=0) & np.any(values, axis=0)
    kept = values[:, usable]
    return _Products([powers[i] for i in np.flatnonzero(usable)], kept / largest(kept))


def _best(search: _Search) -> Iterator[Quotient]:
    """The best quotients of each number of products."""

    def longer(length: int, best: list[Quotient]) -> list[Choice]:
        found = grown(best, len(search.above.powers), len(search.below.powers))
        if length == SHORTEST:
            found += _choices(search, 2)
        return _without_multiples(search, found)

    start, count = _choices(search, 1), len(search.target.y)
    yield from best_quotients(start, search.square, longer, count, _LONGEST, _KEPT)


def _choices(search: _Search, size: int) -> list[Choice]:
    """The best choices of so many products above and two below."""
    values = search.above.values
    count = values.shape[1]
    i, j = np.triu_indices(count)
    number = np.zeros((count, count), dtype=int)
    number[i, j] = np.arange(len(i))
    chosen = np.array(list(combinations(range(count), size)), dtype=int)
    first, second = np.triu_indices(size)
    found = best_choices(
        values[:, i] * values[:, j],
        search.below.values,
        number[chosen[:, first], chosen[:, second]],
        search.target,
        8 * RATED_AGAIN,
    )
    choices = [(tuple(chosen[a].tolist()), pair) for a, pair in found]
    return _without_multiples(search, choices)[:RATED_AGAIN]


def _without_multiples(search: _Search, choices: list[Choice]) -> list[Choice]:
    """Of choices that differ by a common factor the simplest, in the order of the first."""
    simplest: dict[tuple, tuple[int, Choice]] = {}
    for one in choices:
        key, size = search.key(*one)
        if key not in simplest or size < simplest[key][0]:
            simplest[key] = size, one
    return [one for _, one in simplest.values()]
