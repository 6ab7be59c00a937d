"""Sums of products that share powers of columns, and powers of such sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import MOST_ROWS, Library, library_structures, tabulate
from torchalu.estimators.closed_form.linear import linear_structures
from torchalu.estimators.closed_form.power_of_sum import POWERS, best_described
from torchalu.estimators.closed_form.products import quadratic_structures
from torchalu.estimators.least_squares import solve
from torchalu.estimators.structures import Structure, Term, make_structure, make_term, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 9
_MOST_PRODUCTS = 400
_FARTHEST = 3.0
_FEWEST_ROWS = 30
_ROWS_A_SLOPE = 3
_SURE = 3.0
_CURVED = 4.0
_LARGEST_ERROR = 0.1


class _Slopes(NamedTuple):
    """How the logarithm of a target changes with those of the columns, in the middle of the rows.

    Attributes:
        columns: those of one sign.
        values: a slope each.
        errors: their standard errors.
        spread: how far the slope of any row is from it.
        even: whether the slope is the same on all rows, as far as can be told.
    """

    columns: list[int]
    values: np.ndarray
    errors: np.ndarray
    spread: np.ndarray
    even: np.ndarray

    def of_power(self, power: Fraction) -> _Slopes:
        """Those of a power of the target."""
        size = float(abs(power))
        values, errors, spread = self.values * float(power), self.errors * size, self.spread * size
        return self._replace(values=values, errors=errors, spread=spread)

    @property
    def common(self) -> dict[int, int]:
        """The columns that every term has to the same whole power, 0 included, and that power."""
        reach = np.minimum(_SURE * self.errors, _LARGEST_ERROR)
        sure = self.even & (np.abs(self.values - np.round(self.values)) <= reach)
        return {self.columns[i]: round(self.values[i]) for i in np.flatnonzero(sure)}


def common_factor_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Sums of products of many columns, such as m/(k T) (B + a M/(e c**2)), and powers of them.

    The slopes of log\\|y\\| over the logarithms of the columns tell which powers to look for. A
    column whose slope is a whole number, the same on all rows, has that power in every term, and
    the target is divided by it. The slopes over any other column lie between the powers of it in
    the terms, where these have one sign; so the products looked for have the powers next to them,
    of all columns as many as make no more than 400 products. Fewer than 30 rows tell too little of
    slopes, and are left to other means.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(MOST_ROWS)
    slopes = _slopes(table) if len(table.y) >= _FEWEST_ROWS else None
    if slopes is None:
        return
    for power in (Fraction(1), *POWERS):
        raised = table if power == 1 else table.raised(float(1 / power))
        if raised is None:
            continue
        own = slopes.of_power(1 / power)
        common = own.common
        factor = monomial(common) or Term(())
        rest = [j for j in range(table.features) if j not in common]
        reduced = _divided(raised, factor, rest)
        if reduced is None:
            continue
        found = [library_structures(reduced, _library(reduced, rest, own))]
        if common:
            found += [linear_structures(reduced), quadratic_structures(reduced)]
        constants: list[tuple[Term, ...]] = [(), (factor,)] if factor.factors else [()]
        sums = dict.fromkeys(s.terms for s in chain.from_iterable(found) if s.terms)
        structures = [
            make_structure(
                [*(_times(term, factor, rest) for term in terms), *constant], False, power
            )
            for terms in sums
            for constant in constants
        ]
        yield from best_described(structures, raised)


def _slopes(table: CanonicalTable) -> _Slopes | None:
    """By least squares of a quadratic form in the logarithms."""
    rows = np.flatnonzero(table.y)
    X = np.abs(table.X[rows])
    signs = np.abs(np.sign(table.X).sum(axis=0))
    one_sign = [j for j in table.screened(_MOST_COLUMNS) if signs[j] == len(table.y)]
    if len(one_sign) < 2:
        return None
    logs = np.log(X[:, one_sign])
    logs -= logs.mean(axis=0)
    count = logs.shape[1]
    target = np.log(np.abs(table.y[rows]))
    first, second = _curving(logs, target)
    found = _least_squares(np.hstack([logs, logs[:, first] * logs[:, second]]), target)
    if found is None:
        return None
    values, errors = found
    curvature = np.zeros((count, count))
    curvature[first, second] = values[count:]
    curved = np.zeros((count, count), dtype=bool)
    curved[first, second] = np.abs(values[count:]) > _CURVED * errors[count:]
    return _Slopes(
        columns=one_sign,
        values=values[:count],
        errors=errors[:count],
        spread=np.abs(logs @ (curvature + curvature.T)).max(axis=0),
        even=np.asarray((curved | curved.T).sum(axis=0) == 0),
    )


def _curving(logs: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of columns whose products a quadratic form has: all that the rows are enough for.

    If they are too few for all pairs these are of the columns whose slope in a linear form is not
    0, as far as can be told; none if they are too few for those.
    """
    rows, count = logs.shape
    first, second = np.triu_indices(count)
    most = rows // _ROWS_A_SLOPE - count - 1
    linear = _least_squares(logs, target) if len(first) > most else None
    if linear is not None:
        values, errors = linear
        steep = np.abs(values) > _SURE * errors
        kept = steep[first] & steep[second]
        first, second = first[kept], second[kept]
    few = len(first) <= most
    return (first, second) if few else (first[:0], second[:0])


def _least_squares(columns: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Coefficients beside a constant, and their standard errors; None if they cannot be told."""
    ones = np.ones(len(target))
    design = np.column_stack([columns, ones])
    freedom = len(target) - design.shape[1]
    fit = solve(design, target, ones) if freedom > 0 else None
    if fit is None:
        return None
    errors = np.sqrt(float(fit.residual @ fit.residual) / freedom * fit.unit_variance)
    return fit.coefficients[:-1], errors[:-1]


def _divided(table: CanonicalTable, factor: Term, rest: list[int]) -> CanonicalTable | None:
    """Some columns, and the target divided by a product of others; None where nothing is left."""
    by = factor.values(table.X)
    y, slope = table.y / by, table.slope / np.abs(by)
    usable = np.all(np.isfinite(y) & np.isfinite(slope) & (slope > 0)) and np.ptp(y) > 0
    return replace(table, X=table.X[:, rest], y=y, slope=slope) if rest and usable else None


def _library(table: CanonicalTable, rest: list[int], slopes: _Slopes) -> Library:
    """Products with powers of each column that are near its slope."""
    own = [
        (rest.index(j), float(value), float(spread))
        for j, value, spread in zip(slopes.columns, slopes.values, slopes.spread, strict=True)
        if j in rest
    ]
    powers = {j: [round(value)] for j, value, _ in own}
    near = sorted(
        (max(abs(value - k) - spread, 0.0), abs(value - k), j, k)
        for j, value, spread in own
        for k in range(math.ceil(value - _FARTHEST), math.floor(value + _FARTHEST) + 1)
        if k != round(value)
    )
    size = 1
    for *_, j, k in near:
        size = size // len(powers[j]) * (len(powers[j]) + 1)
        if size > _MOST_PRODUCTS:
            break
        powers[j].append(k)
    chosen = [
        {j: Fraction(k) for j, k in zip(powers, choice, strict=True) if k}
        for choice in product(*powers.values())
    ]
    return tabulate(table.X, [one for one in chosen if one])


def _times(term: Term, factor: Term, rest: list[int]) -> Term | None:
    """A term of the columns that were left, times a product of others."""
    renamed = [
        replace(f, coefficients=tuple((rest[j], k) for j, k in f.coefficients))
        for f in term.factors
    ]
    return make_term([*renamed, *factor.factors])
