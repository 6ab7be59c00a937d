"""On which columns a target depends most, by themselves or together with another."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve
from scipy.stats import rankdata

_RIDGE = 0.1
_DROPPED = 8


def by_relevance(X: np.ndarray, y: np.ndarray) -> list[int]:
    r"""The columns in the order in which a quadratic of ranks needs them to follow the target.

    With :math:`r_j` for the ranks of a column, in units of their deviation, and :math:`q_j` for
    their square, or for the ranks of magnitudes where a column has both signs, the ranks of the
    target, and those of its magnitude, are fitted by

    .. math:: \sum_j a_j r_j + b_j q_j + \sum_{i<j} c_{ij} r_i r_j

    with a ridge. The columns of least :math:`a_j^2 + b_j^2 + \sum_i c_{ij}^2` are left out, an
    eighth of all at a time and one at least, and what remains is fitted again. So a column comes
    early that matters only by what it does to another, as each one does in x0*x1 around 0.

    Args:
        X: the columns.
        y: the target.

    Shape:
        X: (rows, columns); y: (rows,).

    Source:
        Guyon et al. 2002 for leaving out in rounds.
    """
    ranks, curves = _ranks(X), _curves(X)
    target = _ranks(np.stack([y, np.abs(y)], axis=1))
    active, left_out = np.arange(X.shape[1]), np.arange(0)
    while len(active) > 1:
        sizes = _sizes(ranks[:, active], curves[:, active], target)
        least = np.lexsort((-active, sizes))[: max(1, len(active) // _DROPPED)]
        left_out = np.concatenate([active[least[::-1]], left_out])
        active = np.delete(active, least)
    return [*active.tolist(), *left_out.tolist()]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Of each column, around 0 and in units of their deviation."""
    ranks = rankdata(values, axis=0)
    ranks -= ranks.mean(axis=0)
    return ranks / np.maximum(ranks.std(axis=0), np.finfo(float).tiny)


def _curves(X: np.ndarray) -> np.ndarray:
    """The squares of ranks, or the ranks of magnitudes where a column has both signs."""
    both = (X.min(axis=0) < 0) & (X.max(axis=0) > 0)
    return np.where(both, _ranks(np.abs(X)), _ranks(X) ** 2)


def _sizes(ranks: np.ndarray, curves: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Of each column, the sum of squares of the coefficients of all terms that it is in.

    However many terms there are, their coefficients follow from one number a row.
    """
    rows = len(target)
    plain, square = ranks @ ranks.T, ranks**2
    kernel = plain + curves @ curves.T + (plain**2 - square @ square.T) / 2
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1, keepdims=True)
    dual = solve(kernel + _RIDGE * rows * np.eye(rows), target, assume_a="pos")
    pairs = np.einsum("ri,rt,rj->tij", ranks, dual, ranks, optimize=True)
    pairs[:, np.arange(pairs.shape[1]), np.arange(pairs.shape[1])] = 0.0
    alone = (ranks.T @ dual) ** 2 + (curves.T @ dual) ** 2
    return (pairs**2).sum(axis=(0, 2)) + alone.sum(axis=1)
