"""Weighted least squares, and which of many columns it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular

NOISE_FLOOR = 1e-11
"""Relative residual below which a difference is rounding, not information."""

_LONGEST_PURSUIT = 12
_ROUNDING = 1e-12
_GEQRF, _TRTRI = get_lapack_funcs(("geqrf", "trtri"), dtype=np.float64)


@dataclass(frozen=True)
class Solution:
    """Least-squares coefficients, with the inverse of their information matrix."""

    coefficients: np.ndarray
    unit_variance: np.ndarray
    residual: np.ndarray


def solve(design: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Solution | None:
    """Minimizes `sum weight (target - design c)**2`; None where the columns are dependent.

    Returns:
        The coefficients c, the diagonal of `(design' weight design)**-1`, and the residuals.
    """
    if design.shape[1] == 0:
        empty = np.zeros(0)
        return Solution(empty, empty, target)
    root = np.sqrt(weight)
    table = np.empty((len(target), design.shape[1] + 1), order="F")
    scaled, aimed = table[:, :-1], table[:, -1]
    np.multiply(design, root[:, None], out=scaled)
    np.multiply(target, root, out=aimed)
    norm = np.sqrt(np.einsum("ij,ij->j", scaled, scaled))
    if not (norm.min() > 0 and norm.max() < math.inf):
        return None
    scaled /= norm
    triangle = triangular(table)
    r, projected = triangle[: len(norm), :-1], triangle[: len(norm), -1]
    if len(r) < len(norm) or not np.isfinite(triangle).all():
        return None
    if np.abs(r.diagonal()).min() < 1e-10:
        return None
    inverse, _ = _TRTRI(r)
    coefficients = inverse @ projected
    residual = aimed - scaled @ coefficients
    coefficients += inverse @ (inverse.T @ (scaled.T @ residual))
    coefficients /= norm
    unit_variance = (inverse**2).sum(axis=1) / norm**2
    return Solution(coefficients, unit_variance, target - design @ coefficients)


@dataclass(frozen=True)
class Subset:
    """Some columns, and the least-squares fit of the target on them with a constant."""

    columns: tuple[int, ...]
    coefficients: np.ndarray
    constant: float


def sparse_fits(
    features: np.ndarray, target: np.ndarray, weight: np.ndarray, sizes: int = 3
) -> list[Subset]:
    """The subsets of columns that explain a target linearly, smallest first.

    With more rows than columns the columns are ordered by their t statistic in the whole fit, with
    fewer by orthogonal matching pursuit. Of the prefixes of that order the one with the best
    information criterion is returned, for a mild and for a strong penalty, and `sizes` - 1 ones
    shorter than it.
    """
    rows, columns = features.shape
    units = largest(features)
    height = float(largest(target[:, None])[0])
    table = _compressed(features / units, target / height, weight / weight.max())
    if not np.all(np.isfinite(table)) or not np.any(table[:, -2]):
        return []
    centered, residual = _center(table)
    order = _order_by_t(centered, residual) if rows > columns + 2 else None
    if order is None:
        limit = min(columns, max(1, rows // 3), _LONGEST_PURSUIT)
        order = pursue(centered, residual, limit)
    wanted = _prefix_sizes(centered[:, order], residual, rows, sizes)
    subsets = [_fit_subset(table, order[:size]) for size in wanted]
    return [_in_units(s, height, units) for s in subsets if s is not None]


def largest(columns: np.ndarray) -> np.ndarray:
    """The largest magnitude in each column, 1 where there is none above 0.

    Args:
        columns: a vector each.
    """
    magnitude = np.abs(columns).max(axis=0, initial=0.0)
    return np.where(magnitude > 0, magnitude, 1.0)


def _in_units(subset: Subset, height: float, units: np.ndarray) -> Subset:
    """A fit of scaled columns in the units of the columns themselves."""
    coefficients = subset.coefficients * height / units[list(subset.columns)]
    return Subset(subset.columns, coefficients, subset.constant * height)


def _compressed(features: np.ndarray, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[features, 1, target] times the root weight, as its triangle R where that is shorter.

    Least squares depends on the rows through R alone.
    """
    table = np.column_stack([features, np.ones(len(target)), target]) * np.sqrt(weight)[:, None]
    return triangular(table) if len(table) > table.shape[1] else table


def beyond(basis: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What an orthonormal basis leaves of some values.

    Args:
        basis: a column a vector.
        values: one for each row, or columns of them.

    Shape:
        basis: (rows, vectors); values: (rows,) or (rows, columns), as what is returned.
    """
    return values - basis @ (basis.T @ values)


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what some columns span.

    Args:
        columns: whose sizes may differ.
    """
    scaled = columns / largest(columns)
    vectors, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    return vectors[:, sizes > _ROUNDING * sizes[0]]


def products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Each column of one table times each of another.

    Args:
        left: of one row each.
        right: likewise.

    Shape:
        left: (rows, columns); right: (rows, others); returns (rows, columns * others).
    """
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def triangular(table: np.ndarray) -> np.ndarray:
    """The R of the table's QR decomposition."""
    factored, *_ = _GEQRF(table)
    kept = factored[: table.shape[1]]
    return np.where(_on_or_above(*kept.shape), kept, 0.0)


@lru_cache(maxsize=64)
def _on_or_above(rows: int, columns: int) -> np.ndarray:
    """Which places of a table are on or above its diagonal."""
    return ~np.tri(rows, columns, -1, dtype=bool)


def _center(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and target without their weighted mean; features of unit norm."""
    ones = table[:, -2]
    centered = table - np.outer(ones, ones @ table) / (ones @ ones)
    norm = np.sqrt((centered**2).sum(axis=0))
    flat = norm <= 1e-12 * np.sqrt((table**2).sum(axis=0))
    scaled = np.where(flat, 0.0, centered / np.where(flat, 1.0, norm))
    return scaled[:, :-2], centered[:, -1]


def _order_by_t(centered: np.ndarray, residual: np.ndarray) -> np.ndarray | None:
    """Columns by the size of their t statistic in the fit on all of them; None if dependent."""
    q, r = np.linalg.qr(centered)
    if not np.all(np.isfinite(r)) or np.abs(np.diag(r)).min() < 1e-9:
        return None
    coefficients = solve_triangular(r, q.T @ residual)
    inverse = solve_triangular(r, np.eye(len(r)))
    t = np.abs(coefficients) / np.sqrt((inverse**2).sum(axis=1))
    return np.argsort(-t, kind="stable")


def pursue(centered: np.ndarray, residual: np.ndarray, limit: int) -> np.ndarray:
    """Columns in the order in which orthogonal matching pursuit picks them.

    Args:
        centered: the columns, of norm 1 at most; one of norm below 1e-6 is not picked.
        residual: what they are to explain.
        limit: columns at most.
    """
    left, columns, chosen = residual, centered.copy(), []
    for _ in range(limit):
        norm = np.sqrt((columns**2).sum(axis=0))
        usable = norm > 1e-6
        usable[chosen] = False
        if not usable.any():
            break
        gain = np.where(usable, np.abs(columns.T @ left) / np.where(usable, norm, 1.0), -1.0)
        best = int(gain.argmax())
        direction = columns[:, best] / norm[best]
        chosen.append(best)
        left = left - direction * (direction @ left)
        columns = columns - np.outer(direction, direction @ columns)
    return np.array(chosen, dtype=int)


def _prefix_sizes(ordered: np.ndarray, residual: np.ndarray, rows: int, sizes: int) -> list[int]:
    """Sizes of the prefixes worth a closer look, smallest first."""
    q, _ = np.linalg.qr(ordered)
    total = float(residual @ residual)
    if total == 0:
        return [0]
    explained = np.concatenate([[0.0], np.cumsum((q.T @ residual) ** 2)])
    left = np.maximum((total - explained) / total, NOISE_FLOOR**2)
    k = np.arange(len(left))
    usable = k < max(2, min(len(residual), rows) - 1)
    wanted: set[int] = set()
    for penalty in (0.5 * math.log(rows + 1), 8.0):
        cost = np.where(usable, 0.5 * rows * np.log(left) + penalty * k, np.inf)
        best = int(cost.argmin())
        wanted.update(range(max(1, best - sizes + 1), best + 1))
    return sorted(wanted)


def _fit_subset(table: np.ndarray, columns: np.ndarray) -> Subset | None:
    """Least squares with a constant on some columns of a compressed table."""
    chosen = np.sort(columns)
    fit = solve(table[:, [*chosen, -2]], table[:, -1], np.ones(len(table)))
    if fit is None:
        return None
    c = fit.coefficients
    return Subset(tuple(map(int, chosen)), c[:-1], float(c[-1]))


def to_integers(values: np.ndarray, largest: int = 3) -> list[tuple[int, ...]]:
    """Small integers in the proportion of `values`, one proposal a choice of unit.

    The unit is the median of the larger values, the largest, the smallest of the larger ones, or a
    half or a third of the largest. Values that are rational multiples of one another to nine digits
    are scaled to integers whatever their size.

    Example:
        >>> to_integers(np.array([2.02, -1.99, 0.03]))
        [(1, -1, 0)]
    """
    size = np.abs(values)
    top = float(size.max(initial=0.0))
    if top == 0 or not np.isfinite(top):
        return []
    large = size[size > 0.25 * top]
    proposals: dict[tuple[int, ...], None] = {}
    for unit in (float(np.median(large)), top, float(large.min()), top / 2, top / 3):
        rounded = tuple(int(v) for v in np.round(values / unit))
        if any(rounded) and max(map(abs, rounded)) <= largest:
            divisor = math.gcd(*rounded)
            proposals.setdefault(tuple(v // divisor for v in rounded))
    exact = _rational_proportion(values / top)
    if exact is not None:
        proposals.setdefault(exact)
    return list(proposals)[:4]


def _rational_proportion(ratios: np.ndarray) -> tuple[int, ...] | None:
    """Integers in the same proportion as `ratios`, if these are rational to nine digits."""
    fractions = [Fraction(float(r)).limit_denominator(60) for r in ratios]
    if any(abs(float(f) - r) > 1e-9 for f, r in zip(fractions, ratios, strict=True)):
        return None
    common = math.lcm(*(f.denominator for f in fractions))
    integers = tuple(int(f * common) for f in fractions)
    return integers if max(map(abs, integers)) <= 10_000 else None
