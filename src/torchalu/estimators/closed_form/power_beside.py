"""Roots and reciprocals of sums of products, beside a constant or a power of a column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import (
    MANY_ROWS,
    MOST_ROWS,
    NOTHING,
    Library,
    is_defined,
    tabulate,
)
from torchalu.estimators.closed_form.sum_library import MOST_COLUMNS, Powers, simple_products
from torchalu.estimators.least_squares import beyond, largest, orthonormal, products
from torchalu.estimators.structures import Structure, Term, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_BESIDE = tuple(Fraction(p) for p in ("1", "-1", "2", "-2", "1/2"))
_FEW_COLUMNS = 3
_KEPT = 6
_RATED_AGAIN = 40
_REWEIGHTINGS = 5
_INDEPENDENT = 1e-8
_RIDGE = 1e-12


class _Choice(NamedTuple):
    """The products R of a sum, N and B, and the squares that they leave."""

    squares: float
    products: list[Powers]
    above: Powers
    beside: Powers

    def structure(self, power: Fraction) -> Structure:
        """The power of the sum divided by N, whose first term is 1 / N."""
        terms = [monomial(_times(one, self.above, -1)) for one in ({}, *self.products)]
        return make_structure(terms, True, power, [_term(self.beside)])


def power_beside_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Roots and reciprocals beside a constant or a column, as sqrt(a**2 + b**2) + c.

    Where B, 1 or a power of a column, stands beside the root of a sum s of products R, or beside a
    ratio of N, 1 or a column, to such a sum, an equation holds that is linear in constants and
    products of two of them::

        y = d B + sqrt(s)                y**2 = s + 2 d B y - d**2 B**2
        y = d B + k N / (1 + s)          y = k N + d B - y s + d B s

    So each choice of B, of N and of R is rated by the sum of squares that least squares leaves of
    its equation: one R or two, powers of a column and products or ratios of two; where N is a
    column one R, which may be N times such a product. The second equation has 1 + s times the noise
    of y; the best are rated again with the equation divided by what 1 + s was found to be, time and
    again (Sanathanan and Koerner's iteration).

    Of fewer than 30 rows only exact ones are yielded: a reciprocal beside a constant, which has
    three constants, follows the errors of few measurements well, and is far off outside.

    Args:
        table: the rows to learn from.

    Source:
        Sanathanan & Koerner 1963.
    """
    columns = table.screened(MOST_COLUMNS)
    table = table.thin(MOST_ROWS)
    table = replace(table, y=table.y / table.scale)
    simple = [one for kind in simple_products(table, columns) for one in kind]
    library = _library(table, simple)
    lines: list[Powers] = [{}, *({column: Fraction(1)} for column in columns)]
    beside = _beside(table, columns)
    of_one = [({}, library)]
    of_columns = [
        (n, _library(table, [*simple, *(_times(one, n, 1) for one in simple)])) for n in lines[1:]
    ]
    for root in map(np.sqrt, table.views):
        for count in (1, 2):
            roots = [one for b in beside for one in _roots(table, library, b, root, count)]
            yield from (one.structure(Fraction(1, 2)) for one in _first(roots, len(table.y)))
        for above, count in ((of_one, 1), (of_one, 2), (of_columns, 1)):
            ratios = [
                one
                for n, factors in above
                for b in beside
                for one in _ratios(table, factors, n, b, root, count)
            ]
            ratios = [_reweighted(table, one, root) for one in _least(ratios, _RATED_AGAIN)]
            yield from (one.structure(Fraction(-1)) for one in _first(ratios, len(table.y)))


def _beside(table: CanonicalTable, columns: list[int]) -> list[Powers]:
    """A constant and the columns; other powers of these too where they are no more than three."""
    powers = _BESIDE if len(columns) <= _FEW_COLUMNS else _BESIDE[:1]
    return [{}, *({j: p} for p in powers for j in columns if is_defined(table.X[:, j], p))]


def _library(table: CanonicalTable, chosen: list[Powers]) -> Library:
    """Products, each once, in units of their largest magnitudes."""
    distinct = {frozenset(one.items()): one for one in chosen if one}
    library = tabulate(table.X, list(distinct.values()))
    return library._replace(values=library.values / largest(library.values))


def _least(choices: list[_Choice], count: int) -> list[_Choice]:
    """So many that leave least."""
    return sorted(choices, key=attrgetter("squares"))[:count]


def _first(choices: list[_Choice], rows: int) -> list[_Choice]:
    """Those that leave least; of few rows only those that leave nothing."""
    best = _least(choices, _KEPT)
    return [one for one in best if rows >= MANY_ROWS or one.squares <= NOTHING * rows]


def _roots(
    table: CanonicalTable, library: Library, beside: Powers, root: np.ndarray, count: int
) -> Iterator[_Choice]:
    """Roots of sums of a constant and so many products, beside another."""
    y, b = table.y, _scaled(beside, table.X)
    ones = np.ones_like(y)
    known = np.stack([ones, b * y, b * b], axis=1)
    chosen, _, left = _best(library.values, ones[:, None], known, y**2, root, count)
    for indices, squares in zip(chosen, left, strict=True):
        yield _Choice(float(squares), [library.powers[i] for i in indices], {}, beside)


def _ratios(
    table: CanonicalTable,
    library: Library,
    above: Powers,
    beside: Powers,
    root: np.ndarray,
    count: int,
) -> Iterator[_Choice]:
    """Ratios of a product and a sum of 1 and so many others, beside another."""
    y, n, b = table.y, _scaled(above, table.X), _scaled(beside, table.X)
    known, factors = np.stack([n, b], axis=1), np.stack([y, b], axis=1)
    chosen, coefficients, _ = _best(library.values, factors, known, y, root, count)
    sums = 1.0 - np.einsum("rik,ik->ir", library.values[:, chosen], coefficients[:, :, 0])
    for indices, total in zip(chosen, sums, strict=True):
        if total.min() * total.max() > _INDEPENDENT * np.abs(total).max() ** 2:
            columns = np.hstack([known, products(library.values[:, indices], factors)])
            basis = orthonormal(columns * (root / total)[:, None])
            left = beyond(basis, y * root / total)
            powers = [library.powers[i] for i in indices]
            yield _Choice(float(left @ left), powers, above, beside)


def _reweighted(table: CanonicalTable, choice: _Choice, root: np.ndarray) -> _Choice:
    """A ratio, rated by its equation divided time and again by the sum that was found."""
    y, n, b = table.y, _scaled(choice.above, table.X), _scaled(choice.beside, table.X)
    values = np.stack([_scaled(one, table.X) for one in choice.products], axis=1)
    columns = np.column_stack([n, b, products(values, np.stack([y, b], axis=1))])
    squares, total = choice.squares, np.ones_like(y)
    for _ in range(_REWEIGHTINGS):
        if total.min() * total.max() <= _INDEPENDENT * np.abs(total).max() ** 2:
            break
        weighted, aim = columns * (root / total)[:, None], y * root / total
        units = largest(weighted)
        coefficients = np.linalg.lstsq(weighted / units, aim)[0] / units
        left = aim - weighted @ coefficients
        squares, total = float(left @ left), 1.0 - values @ coefficients[2::2]
    return choice._replace(squares=squares)


def _scaled(powers: Powers, X: np.ndarray) -> np.ndarray:
    """A product in units of its largest magnitude."""
    values = _term(powers).values(X)
    return values / largest(values)


def _term(powers: Powers) -> Term:
    """The product of powers of columns; 1 of none."""
    return monomial(powers) or Term(())


def _times(one: Powers, other: Powers, power: int) -> Powers:
    """A product times a power of another, without what cancels."""
    both = {j: one.get(j, Fraction(0)) + power * other.get(j, Fraction(0)) for j in one | other}
    return {column: power for column, power in both.items() if power}


def _best(
    values: np.ndarray,
    factors: np.ndarray,
    known: np.ndarray,
    target: np.ndarray,
    root: np.ndarray,
    count: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The choices of so many products that leave least of a target, beside known columns.

    Each product stands in the equation once times each of some factors.

    Shape:
        values: (rows, products); factors: (rows, factors); known: (rows, columns); target and root:
        (rows,); returns (choices, count), their coefficients (choices, count, factors), and what
        each choice leaves, (choices,).
    """
    basis = orthonormal(known * root[:, None])
    aim = beyond(basis, target * root)
    blocks = products(values, factors) * root[:, None]
    left = beyond(basis, blocks)
    norm = np.sqrt((left**2).sum(axis=0))
    dependent = norm <= _INDEPENDENT * np.sqrt((blocks**2).sum(axis=0))
    norm = np.where(dependent, math.inf, norm)
    left /= norm
    gram, correlation = left.T @ left, left.T @ aim
    width = factors.shape[1]
    chosen = np.array(list(combinations(range(values.shape[1]), count)), dtype=int)
    chosen = chosen.reshape(-1, count)
    places = (chosen[:, :, None] * width + np.arange(width)).reshape(len(chosen), -1)
    inner = gram[places[:, :, None], places[:, None, :]] + _RIDGE * np.eye(places.shape[1])
    explained = correlation[places]
    solved = np.linalg.solve(inner, explained[:, :, None])[:, :, 0]
    unexplained = aim @ aim - (explained * solved).sum(axis=1)
    best = np.argsort(unexplained, kind="stable")[:_RATED_AGAIN]
    coefficients = (solved / norm[places])[best].reshape(len(best), count, width)
    return chosen[best], coefficients, unexplained[best]
