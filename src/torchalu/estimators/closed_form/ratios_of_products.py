"""Ratios of two sums of products with real constants in both, such as f*(c + u)/(c - v)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import MANY_ROWS, MOST_ROWS, NOTHING
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

_MOST_COLUMNS = 6
_MOST_PRODUCTS = 28
_ROWS_A_PRODUCT = 2
_LONGEST = 7
_KEPT = 3


class _Rows(NamedTuple):
    """Products, the target, and roots of weights.

    Attributes:
        products: as the columns multiplied.
        values: of them, a column each.
        target: what the ratio is to be.
    """

    products: list[tuple[int, ...]]
    values: np.ndarray
    target: Target


def ratio_of_products_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Ratios of sums of products, both with real constants, that below of two products or more.

    Where y = N/D with N = sum_k c_k T_k and D = sum_k e_k S_k, the equation y D - N = 0 is linear
    in all constants, and noise of y has D times its size there. So each choice of products is
    rated by the least of::

        sum_rows weight (y D - N)**2 / sum_rows weight D**2

    which is the mean square of that noise (see `quotients`). Products of two columns and squares,
    and those of three columns where there is room, are tried, one above and two below, two and two,
    then three and two and two and three; the best are rated again with the rows divided by the D
    that was found, time and again, and grow by one product above or below at a time, as long as
    that explains more than chance would.

    Of fewer than 30 rows only exact ones are yielded: others follow the errors of few measurements
    well, and are far off outside.

    Args:
        table: the rows to learn from.
    """
    screened = table.screened(_MOST_COLUMNS)
    table = table.thin(MOST_ROWS)
    table = replace(table, y=table.y / table.scale)
    varying = [j for j in screened if np.ptp(table.X[:, j]) > 0]
    most = min(_MOST_PRODUCTS, len(table.y) // _ROWS_A_PRODUCT)
    columns = {one: _term(one).values(table.X) for one in _products(varying, most)}
    chosen = [one for one, column in columns.items() if np.any(column)]
    if not SHORTEST <= len(chosen) <= most:
        return
    values = np.stack([columns[one] for one in chosen], axis=1)
    for root in map(np.sqrt, table.views):
        target = Target(table.y, root, np.ones_like(root))
        for ratio in _best(_Rows(chosen, values / largest(values), target)):
            if len(table.y) >= MANY_ROWS or ratio.square <= NOTHING:
                above, below = ([_term(chosen[i]) for i in sums] for sums in ratio[1:])
                terms = [term for term in above if term.factors]
                yield make_structure(terms, len(terms) < len(above), below=below)


def _products(columns: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """As the columns multiplied: 1, products of up to two, and of three if there is room."""
    found = [one for n in range(3) for one in combinations_with_replacement(columns, n)]
    for more in (combinations(columns, 3), combinations_with_replacement(columns, 3)):
        both = dict.fromkeys([*found, *more])
        if len(both) <= most:
            found = list(both)
    return found


def _term(product: tuple[int, ...]) -> Term:
    """The product as a term."""
    return monomial({j: product.count(j) for j in product}) or Term(())


def _best(rows: _Rows) -> Iterator[Quotient]:
    """The best ratios of each number of products."""

    def longer(length: int, best: list[Quotient]) -> list[Choice]:
        if length == SHORTEST + 1:
            return [*_choices(rows, 3), *_inverse_choices(rows, 3)]
        found = grown(best, len(rows.products), len(rows.products))
        if length == SHORTEST:
            found = list(dict.fromkeys([*found, *_choices(rows, 2)]))
        return [one for one in found if not _common(rows, *one)]

    def square(above: tuple[int, ...], below: tuple[int, ...], times: int) -> float:
        return mean_square(rows.values[:, above], rows.values[:, below], rows.target, times)

    start, count = _choices(rows, 1), len(rows.target.y)
    yield from best_quotients(start, square, longer, count, _LONGEST, _KEPT)


def _inverse_choices(rows: _Rows, size: int) -> list[Choice]:
    """The best choices of two products above and so many below: those of 1/y the other way up."""
    y = rows.target.y
    if np.any(y == 0):
        return []
    inverse = rows._replace(target=rows.target._replace(y=1 / y, root=rows.target.root * y**2))
    return [(above, below) for below, above in _choices(inverse, size)]


def _choices(rows: _Rows, size: int) -> list[Choice]:
    """The best choices of so many products above and two below, with rows as they are.

    Both products below are needed: one alone leaves more.
    """
    count = len(rows.products)
    above = np.array(list(combinations(range(count), size)), dtype=int)
    found = best_choices(rows.values, rows.values, above, rows.target, 4 * RATED_AGAIN)
    choices = [(tuple(above[a].tolist()), pair) for a, pair in found]
    return [one for one in choices if not _common(rows, *one)][:RATED_AGAIN]


def _common(rows: _Rows, above: tuple[int, ...], below: tuple[int, ...]) -> bool:
    """Whether all products have a column in common, which cancels."""
    sets = [set(rows.products[i]) for i in (*above, *below)]
    return bool(set.intersection(*sets))
