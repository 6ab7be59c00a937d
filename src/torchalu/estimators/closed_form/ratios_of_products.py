"""Ratios of two sums of products with real constants in both, such as f*(c + u)/(c - v)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import MANY_ROWS, MOST_ROWS, NOTHING, screened
from torchalu.estimators.least_squares import beyond, largest, orthonormal, triangular
from torchalu.estimators.structures import Structure, Term, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 6
_MOST_PRODUCTS = 28
_ROWS_A_PRODUCT = 2
_SHORTEST, _LONGEST = 4, 7
_RATED_AGAIN = 40
_KEPT = 3
_REWEIGHTINGS = 4
_EXACT = 1e-22
_RIDGE = 1e-13
_INDEPENDENT = 1e-8
_GAIN = 0.99
_CHANCE = 8.0
_SMALLEST = 1e-3

_Choice = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the products above, and of those below."""


class _Rows(NamedTuple):
    """Products, the target, and roots of weights.

    Attributes:
        products: as the columns multiplied.
        values: of them, a column each.
        y: the target.
        root: of the weight of each row.
    """

    products: list[tuple[int, ...]]
    values: np.ndarray
    y: np.ndarray
    root: np.ndarray


class _Ratio(NamedTuple):
    """The products of both sums, by their numbers, and the mean square that the ratio leaves."""

    square: float
    above: tuple[int, ...]
    below: tuple[int, ...]


def ratio_of_products_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Ratios of two sums of two products or more, both with real constants.

    Where y = N/D with N = sum_k c_k T_k and D = sum_k e_k S_k, the equation y D - N = 0 is linear
    in all constants, and noise of y has D times its size there. So each choice of products is
    rated by the least of::

        sum_rows weight (y D - N)**2 / sum_rows weight D**2

    which is the mean square of that noise: c follows from e, and the least over e is an eigenvalue
    of two small matrices. Products of two columns and squares, and those of three columns where
    there is room, are tried, two above and two below, then three and two and two and three; the
    best are rated again with the rows divided by the D that was found, time and again, and grow by
    one product above or below at a time, as long as that explains more than chance would.

    Of fewer than 30 rows only exact ones are yielded: others follow the errors of few measurements
    well, and are far off outside.

    Args:
        table: the rows to learn from.

    Source:
        Taubin 1991 for the quotient; Sanathanan & Koerner 1963 for dividing the rows.
    """
    table = table.thin(MOST_ROWS)
    table = replace(table, y=table.y / table.scale)
    varying = [j for j in screened(table, _MOST_COLUMNS) if np.ptp(table.X[:, j]) > 0]
    most = min(_MOST_PRODUCTS, len(table.y) // _ROWS_A_PRODUCT)
    columns = {one: _term(one).values(table.X) for one in _products(varying, most)}
    chosen = [one for one, column in columns.items() if np.any(column)]
    if not _SHORTEST <= len(chosen) <= most:
        return
    values = np.stack([columns[one] for one in chosen], axis=1)
    for root in map(np.sqrt, table.views):
        for ratio in _best(_Rows(chosen, values / largest(values), table.y, root)):
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


def _best(rows: _Rows) -> Iterator[_Ratio]:
    """The best ratios of each number of products, until one leaves nothing or as much as before."""
    choices, most = _choices(rows, 2), np.inf
    for length in range(_SHORTEST, _LONGEST + 1):
        best = [one for one in _rated(rows, choices) if one.square < most]
        yield from best
        if not best or best[0].square < _EXACT:
            return
        most = best[0].square * math.exp(-_CHANCE / len(rows.y))
        if length == _SHORTEST:
            choices = [*_choices(rows, 3), *_inverse_choices(rows, 3)]
        else:
            choices = _grown(rows, best)


def _inverse_choices(rows: _Rows, size: int) -> list[_Choice]:
    """The best choices of two products above and so many below: those of 1/y the other way up."""
    if np.any(rows.y == 0):
        return []
    inverse = rows._replace(y=1 / rows.y, root=rows.root * rows.y**2)
    return [(above, below) for below, above in _choices(inverse, size)]


def _choices(rows: _Rows, size: int) -> list[_Choice]:
    """The best choices of so many products above and two below, with rows as they are.

    Both products below are needed: one alone leaves more.
    """
    columns = rows.values * rows.root[:, None]
    columns /= np.sqrt((columns**2).sum(axis=0))
    triangle = triangular(np.hstack([columns, columns * rows.y[:, None]]))
    count = len(rows.products)
    gram = triangle.T @ triangle
    plain, cross, timesy = gram[:count, :count], gram[:count, count:], gram[count:, count:]
    above = np.array(list(combinations(range(count), size)), dtype=int)
    inner = plain[above[:, :, None], above[:, None, :]] + _RIDGE * np.eye(size)
    left = timesy - np.swapaxes(cross[above], 1, 2) @ np.linalg.solve(inner, cross[above])
    i, j = np.triu_indices(count, 1)
    first, second, both = left[:, i, i], left[:, j, j], left[:, i, j]
    share = plain[i, j]
    independent = 1 - share**2
    middle = (first + second - 2 * both * share) / 2
    last = np.maximum(first * second - both**2, 0.0)
    with np.errstate(all="ignore"):
        least = last / (middle + np.sqrt(np.maximum(middle**2 - independent * last, 0.0)))
    needed = (independent > _INDEPENDENT) & (least < _GAIN * np.minimum(first, second))
    least = np.where(needed, least, np.inf).ravel()
    best = np.argpartition(least, min(4 * _RATED_AGAIN, least.size) - 1)[: 4 * _RATED_AGAIN]
    best = best[np.argsort(least[best], kind="stable")]
    found = [divmod(int(n), len(i)) for n in best if np.isfinite(least[n])]
    choices = [(tuple(above[a].tolist()), (int(i[b]), int(j[b]))) for a, b in found]
    return [one for one in choices if not _common(rows, *one)][:_RATED_AGAIN]


def _grown(rows: _Rows, ratios: list[_Ratio]) -> list[_Choice]:
    """Each ratio with one product more above or below, each once."""
    found: dict[_Choice, None] = {}
    for _, above, below in ratios:
        for more in range(len(rows.products)):
            if more not in above:
                found[tuple(sorted((*above, more))), below] = None
            if more not in below:
                found[above, tuple(sorted((*below, more)))] = None
    return [one for one in found if not _common(rows, *one)]


def _rated(rows: _Rows, choices: list[_Choice]) -> list[_Ratio]:
    """The best of some choices, rated once, and of these again with the rows divided."""
    for times, kept in ((1, _RATED_AGAIN), (_REWEIGHTINGS, _KEPT)):
        ratios = [_Ratio(_square(rows, *one, times), *one) for one in choices]
        best = sorted(one for one in ratios if np.isfinite(one.square))[:kept]
        choices = [(one.above, one.below) for one in best]
    return best


def _common(rows: _Rows, above: tuple[int, ...], below: tuple[int, ...]) -> bool:
    """Whether all products have a column in common, which cancels."""
    sets = [set(rows.products[i]) for i in (*above, *below)]
    return bool(set.intersection(*sets))


def _square(rows: _Rows, above: tuple[int, ...], below: tuple[int, ...], times: int) -> float:
    """The mean square that a ratio leaves.

    The rows are divided by the sum below, as it was found before, so many times less one. Where
    that is 0 between rows, and the ratio not exact, it is infinity.
    """
    total, square = np.ones_like(rows.y), np.inf
    for _ in range(times):
        scaled = rows.values * (rows.root / total)[:, None]
        bottom = scaled[:, below]
        left = beyond(orthonormal(scaled[:, above]), bottom * rows.y[:, None])
        norms = triangular(bottom)
        if np.abs(np.diag(norms)).min() <= _INDEPENDENT * np.abs(norms).max():
            return np.inf
        quotient = triangular(left) @ np.linalg.inv(norms)
        _, sizes, vectors = np.linalg.svd(quotient)
        square = float(sizes[-1] ** 2)
        total = rows.values[:, below] @ np.linalg.solve(norms, vectors[-1])
        size = np.abs(total)
        if total.min() * total.max() <= _INDEPENDENT * size.max() ** 2 and square > NOTHING:
            return np.inf
        total = np.maximum(size / size.mean(), _SMALLEST)
    return square
