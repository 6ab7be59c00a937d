"""Sums of few products of powers, chosen from a library of products of up to three columns."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from torchalu.estimators.structures import Structure, Term, make_structure, monomial
from torchalu.estimators.table import CanonicalTable

_POWERS = tuple(Fraction(p) for p in ("1", "2", "1/2", "-1", "-2"))
_MOST_TERMS = 1200
_MOST_ROWS = 1000
_LARGEST = 1e140
_PAIRS_KEPT = 12
_LARGEST_SUM = 5
_EXCHANGES = 4


def library_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Sums of one to five products of powers.

    Every single product and every pair is tried (the sums of squares that a pair leaves follow from
    the correlations alone); longer sums grow from the best pair, with each product in turn
    exchanged for the best of all others until nothing improves.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(_MOST_ROWS)
    terms, values = _library(table)
    if len(terms) < 2 or len(table.y) < 4:
        return
    for weight in table.views:
        centered, target = _center(values, table.y, weight)
        correlation = centered.T @ target
        for index in np.argsort(-np.abs(correlation), kind="stable")[:_PAIRS_KEPT]:
            yield make_structure([terms[int(index)]], offset=False)
        pairs = _best_pairs(centered, correlation)
        for pair in pairs:
            yield make_structure([terms[i] for i in pair], offset=False)
        chosen = list(pairs[0]) if pairs else []
        while chosen and len(chosen) < min(_LARGEST_SUM, len(table.y) // 5):
            chosen = _exchange(centered, target, [*chosen, -1])
            yield make_structure([terms[i] for i in chosen], offset=False)


def _library(table: CanonicalTable) -> tuple[list[Term], np.ndarray]:
    """Products of powers of up to three columns that are finite on all rows, and their values."""
    columns = _screened(table)
    powers = {j: [p for p in _POWERS if _defined(table.X[:, j], p)] for j in columns}
    chosen = [{j: p} for j in columns for p in powers[j]]
    for i, j in combinations(columns, 2):
        chosen += [{i: p, j: q} for p in powers[i] for q in powers[j]]
    whole = {j: [p for p in powers[j] if abs(p) == 1] for j in columns}
    for i, j, k in combinations(columns, 3):
        triples = [(p, q, r) for p in whole[i] for q in whole[j] for r in whole[k]]
        chosen += [{i: p, j: q, k: r} for p, q, r in triples]
    terms = [term for term in map(monomial, chosen[:_MOST_TERMS]) if term is not None]
    raised = {(j, p): _column_power(table.X[:, j], p) for j in columns for p in powers[j]}
    values = (
        np.stack(
            [np.prod([raised[j, p] for j, p in c.items()], axis=0) for c in chosen[:_MOST_TERMS]],
            axis=1,
        )
        if chosen
        else np.zeros((len(table.y), 0))
    )
    finite = np.all(np.abs(values) < _LARGEST, axis=0) & (np.ptp(values, axis=0) > 0)
    return [terms[i] for i in np.flatnonzero(finite)], values[:, finite]


def _column_power(column: np.ndarray, power: Fraction) -> np.ndarray:
    """A power of a column."""
    with np.errstate(all="ignore"):
        return column ** float(power) if power.denominator != 1 else column ** float(int(power))


def _defined(column: np.ndarray, power: Fraction) -> bool:
    """Whether a power of a column is real and finite on all rows."""
    if power < 0 and np.any(column == 0):
        return False
    return power.denominator == 1 or not np.any(column < 0)


def _screened(table: CanonicalTable) -> list[int]:
    """The columns that go into the library: all, or those that follow the target's ranks best."""
    most = 9
    if table.features <= most:
        return list(range(table.features))
    ranks = np.argsort(np.argsort(table.X, axis=0, kind="stable"), axis=0).astype(float)
    target = np.argsort(np.argsort(table.y, kind="stable")).astype(float)
    ranks -= ranks.mean(axis=0)
    target -= target.mean()
    strength = np.abs(ranks.T @ target)
    return sorted(int(j) for j in np.argsort(-strength, kind="stable")[:most])


def _center(values: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted, without their means, and of unit norm."""
    root = np.sqrt(weight)
    total = weight.sum()
    centered = (values - (weight @ values) / total) * root[:, None]
    norm = np.sqrt((centered**2).sum(axis=0))
    target = (y - weight @ y / total) * root
    length = float(np.sqrt(target @ target)) or 1.0
    return centered / np.where(norm == 0, 1.0, norm), target / length


def _best_pairs(centered: np.ndarray, correlation: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of columns that explain most of the target together."""
    gram = centered.T @ centered
    square = correlation**2
    independent = 1.0 - gram**2
    explained = square[:, None] + square[None, :] - 2 * gram * np.outer(correlation, correlation)
    with np.errstate(all="ignore"):
        explained = np.where(independent > 1e-8, explained / independent, -1.0)
    explained[np.tril_indices(len(gram))] = -1.0
    count = min(_PAIRS_KEPT, explained.size)
    best = np.argpartition(-explained, count - 1, axis=None)[:count]
    best = best[np.argsort(-explained.ravel()[best], kind="stable")]
    found = [(int(i), int(j)) for i, j in zip(*np.unravel_index(best, gram.shape), strict=True)]
    return [pair for pair in found if explained[pair] > 0]


def _exchange(centered: np.ndarray, target: np.ndarray, chosen: list[int]) -> list[int]:
    """Replaces each product in turn by the best one beside the others; -1 stands for none yet."""
    for _ in range(_EXCHANGES):
        before = list(chosen)
        for place in reversed(range(len(chosen))):
            others = [c for i, c in enumerate(chosen) if i != place and c >= 0]
            basis, _ = np.linalg.qr(centered[:, others])
            left = centered - basis @ (basis.T @ centered)
            norm = np.sqrt((left**2).sum(axis=0))
            residual = target - basis @ (basis.T @ target)
            usable = norm > 1e-6
            usable[others] = False
            gain = np.where(usable, np.abs(left.T @ residual) / np.where(usable, norm, 1.0), -1.0)
            chosen[place] = int(gain.argmax())
        if chosen == before:
            break
    return chosen
