"""Squares of a sum that are, looked at closely, products of two different sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torchalu.estimators.least_squares import beyond
from torchalu.estimators.structures import Structure, Term, make_factor, make_structure, make_term
from torchalu.estimators.table import CanonicalTable

_STARTS = 64
_MOST_FLIPS = 1000
_KEPT = 4


def split_structures(
    term: Term, table: CanonicalTable, weight: np.ndarray, generator: np.random.Generator
) -> Iterator[Structure]:
    """Products of two sums that a squared sum may stand for.

    For inputs of narrow range a product (u . x)(v . x) is nearly the square of (s . x) / 2 with
    s = u + v, from which it differs by another square::

        4 (u . x) (v . x) = (s . x)**2 - (d . x)**2,   d = u - v

    Where s is odd, d is 1 or -1. The residual r of the squared sum is therefore explained best by
    the d that maximizes d' M d with M = -sum weight r x x', found by flips and exchanges of signs
    from the leading eigenvectors of M and from random starts.

    Args:
        term: the squared sum.
        table: the rows to learn from.
        weight: weight of the rows.
        generator: where the random starts come from.
    """
    if len(term.factors) != 1 or term.factors[0].power != 2 or term.factors[0].constant:
        return
    coefficients = dict(term.factors[0].coefficients)
    odd = np.array([j for j, k in coefficients.items() if k % 2])
    if len(odd) < 2 or any(abs(k) > 2 for k in coefficients.values()):
        return
    matrix = _alignment(term, table, weight, odd)
    for signs in _best_signs(matrix, generator):
        left, right = dict(coefficients), dict(coefficients)
        for j, sign in zip(odd.tolist(), signs, strict=True):
            left[j] += sign
            right[j] -= sign
        first = make_factor({j: k // 2 for j, k in left.items()})
        second = make_factor({j: k // 2 for j, k in right.items()})
        yield make_structure([make_term([first, second])], offset=False)


def _alignment(
    term: Term, table: CanonicalTable, weight: np.ndarray, odd: np.ndarray
) -> np.ndarray:
    """The matrix M: how the squared sum's residual goes with products of columns."""
    root = np.sqrt(weight / weight.sum())
    known = np.column_stack([np.ones(len(table.y)), table.X, term.values(table.X)])
    basis, _ = np.linalg.qr(known * root[:, None])
    aimed = table.y * root
    residual = beyond(basis, aimed) * root
    columns = table.X[:, odd] - table.X[:, odd].mean(axis=0)
    matrix = -(columns * residual[:, None]).T @ columns
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _best_signs(matrix: np.ndarray, generator: np.random.Generator) -> list[tuple[int, ...]]:
    """The best local maxima of d' M d over signs, the first sign positive."""
    size = len(matrix)
    _, vectors = np.linalg.eigh(matrix)
    starts = [np.where(vectors[:, -k] >= 0, 1.0, -1.0) for k in range(1, min(4, size) + 1)]
    starts += [generator.choice([-1.0, 1.0], size) for _ in range(_STARTS)]
    found: dict[tuple[int, ...], float] = {}
    for start in starts:
        signs = _climb(matrix, start)
        signs = signs * signs[0]
        found[tuple(int(s) for s in signs)] = float(signs @ matrix @ signs)
    return sorted(found, key=lambda signs: (-found[signs], signs))[:_KEPT]


def _climb(matrix: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Flips one sign or two at a time as long as d' M d grows."""
    for _ in range(_MOST_FLIPS):
        single = -signs * (matrix @ signs)
        pair = single[:, None] + single[None, :] + 2 * matrix * np.outer(signs, signs)
        np.fill_diagonal(pair, single)
        i, j = np.unravel_index(int(pair.argmax()), pair.shape)
        if pair[i, j] <= 1e-12 * np.abs(matrix).max():
            return signs
        signs = signs.copy()
        signs[i] *= -1
        if i != j:
            signs[j] *= -1
    return signs
