"""Sums of few products of powers, chosen from a library of products of up to four columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, product
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from torchalu.estimators.least_squares import sparse_fits
from torchalu.estimators.structures import (
    Structure,
    Term,
    make_factor,
    make_structure,
    make_term,
)
from torchalu.estimators.table import CanonicalTable

MOST_ROWS = 1000
"""A library is formed on this many rows of a longer table."""

MANY_ROWS = 30
"""Of fewer rows a ratio of sums follows the errors: only exact ones are yielded."""

NOTHING = 1e-10
"""The mean square, of a target of size 1, that an exact ratio leaves at most."""

_POWERS = tuple(Fraction(p) for p in ("1", "2", "1/2", "-1", "-2"))
_HIGHER = tuple(Fraction(p) for p in ("3", "-3", "4", "-4"))
_MOST_TERMS = 1200
_MOST_COLUMNS = 9
_CERTAIN = 3
_LARGEST = 1e140
_PAIRS_KEPT = 12
_LARGEST_SUM = 8
_ALWAYS_TRIED = 3
_STARTS = 6
_EXCHANGES = 8
_INDEPENDENT = 1e-8
_EXPLAINED = 1e-14
(_POSV,) = get_lapack_funcs(("posv",), dtype=np.float64)


class Library(NamedTuple):
    """Products of powers, and the value of each on every row.

    Attributes:
        powers: of each product the power of each of its columns.
        values: a column for each.
        sums: of columns, by the number that stands for them in `powers`.

    Shape:
        values: (rows, products).
    """

    powers: list[dict[int, Fraction]]
    values: np.ndarray
    sums: Mapping[int, Mapping[int, int]] = MappingProxyType({})

    def term(self, index: int) -> Term | None:
        """One of the products."""
        return make_term(
            make_factor(self.sums.get(base, {base: 1}), 0, power)
            for base, power in self.powers[index].items()
        )


def library_structures(
    table: CanonicalTable, library: Library | None = None
) -> Iterator[Structure]:
    """Sums of up to eight products of powers.

    Every single product and every pair is tried (the sums of squares that a pair leaves follow from
    the correlations alone). Longer sums grow from the best pairs, with each product in turn
    exchanged for the best of all others until nothing improves; of each length the best one is
    taken, without what it does not need.

    Args:
        table: the rows to learn from.
        library: as `make_library` makes it of a table with the same columns; of this one if left
            out.
    """
    library = make_library(table) if library is None else library
    term, values = cache(library.term), library.values
    table = table.thin(MOST_ROWS)
    if len(library.powers) < 2 or len(table.y) < 4:
        return
    for weight in table.views:
        centered, target = _center(values, table.y, weight)
        gram, correlation = centered.T @ centered, centered.T @ target
        for index in np.argsort(-np.abs(correlation), kind="stable")[:_PAIRS_KEPT]:
            yield make_structure([term(int(index))], offset=False)
        pairs = _best_pairs(gram, correlation)
        for pair in pairs:
            yield make_structure(map(term, pair), offset=False)
        most = min(_LARGEST_SUM, max(_ALWAYS_TRIED, len(table.y) // 5), len(table.y) - 2)
        for chosen in _longer(gram, correlation, pairs, most):
            for subset in sparse_fits(values[:, chosen], table.y, weight):
                yield make_structure([term(chosen[i]) for i in subset.columns], offset=False)
            yield make_structure(map(term, chosen), offset=False)


def make_library(table: CanonicalTable, *, higher: bool = True) -> Library:
    """Products of powers of up to four columns that are finite on all rows.

    Of the target nothing counts but the order of its values and that of their magnitudes, and these
    only where there are many columns.

    Args:
        table: the rows to learn from.
        higher: whether third and fourth powers are among them.
    """
    listed = (*_POWERS, *_HIGHER) if higher else _POWERS
    columns = table.screened(_MOST_COLUMNS)
    table = table.thin(MOST_ROWS)
    powers = {j: [p for p in listed if is_defined(table.X[:, j], p)] for j in columns}
    chosen = _exponents(powers)
    return tabulate(table.X, chosen)


def tabulate(
    X: np.ndarray,
    chosen: list[dict[int, Fraction]],
    sums: Mapping[int, Mapping[int, int]] = MappingProxyType({}),
) -> Library:
    """The products that are finite on all rows, and not the same on all.

    Args:
        X: the columns.
        chosen: of each product the power of each of its columns.
        sums: of columns, by the number that stands for them in `chosen`.

    Shape:
        X: (rows, columns).
    """
    raised = {}
    for base, power in {item for one in chosen for item in one.items()}:
        column = sum(k * X[:, j] for j, k in sums[base].items()) if base in sums else X[:, base]
        raised[base, power] = column_power(np.asarray(column), power)
    with np.errstate(all="ignore"):
        products = [reduce(np.multiply, map(raised.__getitem__, one.items())) for one in chosen]
    values = np.stack(products, axis=1) if products else np.zeros((len(X), 0))
    finite = np.all(np.abs(values) < _LARGEST, axis=0) & (np.ptp(values, axis=0) > 0)
    return Library([chosen[i] for i in np.flatnonzero(finite)], values[:, finite], sums)


def _exponents(powers: dict[int, list[Fraction]]) -> list[dict[int, Fraction]]:
    """The powers of each product of the library, the simplest products first.

    First single columns with powers up to the fourth, all products of two columns with powers up to
    the second and those of three with powers of 1 and -1; then, as long as there is room for all
    of a kind, four columns with powers of 1 and -1, three with whole powers up to the second, two
    with powers up to the fourth, four with whole powers up to the second.
    """
    small = {j: [p for p in ps if abs(p) <= 2] for j, ps in powers.items()}
    single = {j: [p for p in ps if abs(p) == 1] for j, ps in powers.items()}
    whole = {j: [p for p in ps if p.denominator == 1] for j, ps in small.items()}
    chosen: dict[tuple[tuple[int, Fraction], ...], None] = {}
    kinds = (
        *((1, powers), (2, small), (3, single)),
        *((4, single), (3, whole), (2, powers), (4, whole)),
    )
    for kind, (size, allowed) in enumerate(kinds):
        more = [
            pairs
            for columns in combinations(powers, size)
            for pairs in product(*([(j, p) for p in allowed[j]] for j in columns))
        ]
        if kind < _CERTAIN or len(chosen) + len(more) <= _MOST_TERMS:
            chosen.update(dict.fromkeys(more))
    return [dict(pairs) for pairs in list(chosen)[:_MOST_TERMS]]


def column_power(column: np.ndarray, power: Fraction) -> np.ndarray:
    """A power of a column.

    Args:
        column: one number a row.
        power: of it.
    """
    with np.errstate(all="ignore"):
        return column ** float(power) if power.denominator != 1 else column ** float(int(power))


def is_defined(column: np.ndarray, power: Fraction) -> bool:
    """Whether a power of a column is real and finite on all rows.

    Args:
        column: one number a row.
        power: of it.
    """
    if power < 0 and np.any(column == 0):
        return False
    return power.denominator == 1 or not np.any(column < 0)


def _center(values: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted, without their means, and of unit norm."""
    root = np.sqrt(weight)
    total = weight.sum()
    centered = (values - (weight @ values) / total) * root[:, None]
    norm = np.sqrt((centered**2).sum(axis=0))
    target = (y - weight @ y / total) * root
    length = float(np.sqrt(target @ target)) or 1.0
    return centered / np.where(norm == 0, 1.0, norm), target / length


def _best_pairs(gram: np.ndarray, correlation: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of columns that explain most of the target together."""
    square = correlation**2
    independent = 1.0 - gram**2
    explained = square[:, None] + square[None, :] - 2 * gram * np.outer(correlation, correlation)
    with np.errstate(all="ignore"):
        explained = np.where(independent > _INDEPENDENT, explained / independent, -1.0)
    explained[np.tril_indices(len(gram))] = -1.0
    count = min(_PAIRS_KEPT, explained.size)
    best = np.argpartition(-explained, count - 1, axis=None)[:count]
    best = best[np.argsort(-explained.ravel()[best], kind="stable")]
    found = [(int(i), int(j)) for i, j in zip(*np.unravel_index(best, gram.shape), strict=True)]
    return [pair for pair in found if explained[pair] > 0]


def _longer(
    gram: np.ndarray, correlation: np.ndarray, pairs: list[tuple[int, int]], most: int
) -> Iterator[list[int]]:
    """The best sum of each length from three on that grows from one of the pairs."""
    sums = [list(pair) for pair in pairs[:_STARTS]]
    for size in range(3, most + 1):
        sums = [_exchange(gram, correlation, [*chosen, -1]) for chosen in sums]
        sums = [chosen for chosen in sums if len(chosen) == size]
        if not sums:
            return
        left = [_unexplained(gram, correlation, chosen) for chosen in sums]
        yield sums[int(np.argmin(left))]
        if min(left) < _EXPLAINED:
            return


def _unexplained(gram: np.ndarray, correlation: np.ndarray, chosen: list[int]) -> float:
    """The share of the target's variance that some columns leave."""
    coefficients = _solve(gram[np.ix_(chosen, chosen)], correlation[chosen])
    return float(1.0 - correlation[chosen] @ coefficients)


def _solve(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """gram**-1 right by Cholesky's decomposition; by the pseudoinverse where there is none."""
    _, solution, info = _POSV(gram, right)
    return solution if info == 0 else np.linalg.pinv(gram, hermitian=True) @ right


def _exchange(gram: np.ndarray, correlation: np.ndarray, chosen: list[int]) -> list[int]:
    """Replaces each product in turn by the best one beside the others; -1 stands for none yet.

    What a product explains beside others follows from the correlations: of that of the target with
    what the others leave of the product. Where no product is left that does not follow from the
    others, the place is given up.
    """
    for _ in range(_EXCHANGES):
        before = list(chosen)
        for place in reversed(range(len(chosen))):
            others = [c for i, c in enumerate(chosen) if i != place and c >= 0]
            beside = gram[others]
            projected = _solve(beside[:, others], beside)
            left = 1.0 - np.einsum("ij,ij->j", projected, beside)
            usable = left > _INDEPENDENT
            usable[others] = False
            if not usable.any():
                return others
            explained = (correlation - correlation[others] @ projected) ** 2
            gain = np.where(usable, explained / np.where(usable, left, 1.0), -1.0)
            chosen[place] = int(gain.argmax())
        if chosen == before:
            break
    return chosen
