"""Which products make the best quotient of two sums with real constants in both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.library import NOTHING
from torchalu.estimators.least_squares import beyond, orthonormal, triangular

RATED_AGAIN = 40
"""Choices of each length whose rows are divided by the sum below."""

Choice = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the products above, and of those below."""

SHORTEST = 3
"""Products of the shortest quotients: one over a sum of two."""

_REWEIGHTINGS = 4
_EXACT = 1e-22
_CHANCE = 8.0
_RIDGE = 1e-13
_INDEPENDENT = 1e-8
_GAIN = 0.99
_SMALLEST = 1e-3


class Quotient(NamedTuple):
    """The products of both sums, by their numbers, and the mean square that the quotient leaves."""

    square: float
    above: tuple[int, ...]
    below: tuple[int, ...]


class Target(NamedTuple):
    """What a quotient is to be.

    Attributes:
        y: its value on each row.
        root: of the weight of each row.
        slope: by how much y changes with what was measured, whose noise is the same on all rows
            but for their weights.

    Shape:
        y, root, slope: (rows,).
    """

    y: np.ndarray
    root: np.ndarray
    slope: np.ndarray


def best_choices(
    over: np.ndarray,
    under: np.ndarray,
    above: np.ndarray,
    target: Target,
    most: int,
) -> list[tuple[int, tuple[int, int]]]:
    """The best choices of products above and two below, with rows as they are.

    Where y = N/D with N = sum_k c_k T_k and D = e_1 S_1 + e_2 S_2, each choice is rated by the
    least, over all constants, of::

        sum_rows weight ((y D - N) / slope)**2 / sum_rows weight D**2

    which is the mean square of the noise: that of y D is D times that of y. c follows from e, and
    the least over e is an eigenvalue of two small matrices. Both products below are needed: one
    alone leaves more.

    Args:
        over: the values of the products T, a column each.
        under: those of the products S.
        above: choices of T, by their numbers.
        target: what the quotient is to be.
        most: choices that are returned.

    Shape:
        over: (rows, products); under: (rows, others); above: (choices, size).

    Returns:
        The row of `above`, and the numbers of both products S, the best choice first.

    Source:
        Taubin 1991.
    """
    tops, bottoms = over * target.root[:, None], _of_unit_norm(under * target.root[:, None])
    tops = _of_unit_norm(tops / target.slope[:, None])
    times = bottoms * (target.y / target.slope)[:, None]
    plain, cross, timesy = tops.T @ tops, tops.T @ times, times.T @ times
    inner = plain[above[:, :, None], above[:, None, :]] + _RIDGE * np.eye(above.shape[1])
    left = timesy - np.swapaxes(cross[above], 1, 2) @ np.linalg.solve(inner, cross[above])
    i, j = np.triu_indices(under.shape[1], 1)
    one, other, both = left[:, i, i], left[:, j, j], left[:, i, j]
    share = (bottoms.T @ bottoms)[i, j]
    independent = 1 - share**2
    middle = (one + other - 2 * both * share) / 2
    last = np.maximum(one * other - both**2, 0.0)
    with np.errstate(all="ignore"):
        least = last / (middle + np.sqrt(np.maximum(middle**2 - independent * last, 0.0)))
    needed = (independent > _INDEPENDENT) & (least < _GAIN * np.minimum(one, other))
    least = np.where(needed, least, np.inf).ravel()
    best = np.argpartition(least, min(most, least.size) - 1)[:most]
    best = best[np.argsort(least[best], kind="stable")]
    found = [divmod(int(n), len(i)) for n in best if np.isfinite(least[n])]
    return [(a, (int(i[b]), int(j[b]))) for a, b in found]


def _of_unit_norm(columns: np.ndarray) -> np.ndarray:
    return columns / np.sqrt((columns**2).sum(axis=0))


def mean_square(above: np.ndarray, below: np.ndarray, target: Target, times: int) -> float:
    """The mean square that the best quotient of some products leaves, as `best_choices` has it.

    The rows are divided by the sum below, as it was found before, so many times less one. Where
    that is 0 between rows, and the quotient not exact, it is infinity.

    Args:
        above: the values of the products above, a column each.
        below: those of the products below.
        target: what the quotient is to be.
        times: that the constants are looked for.

    Shape:
        above: (rows, products); below: (rows, others).

    Source:
        Sanathanan & Koerner 1963 for dividing the rows.
    """
    total, square = np.ones_like(target.y), np.inf
    for _ in range(times):
        scale, slope = (target.root / total)[:, None], target.slope[:, None]
        bottom = below * scale
        tops = orthonormal(above * (scale / slope))
        left = beyond(tops, bottom * (target.y[:, None] / slope))
        norms = triangular(bottom)
        if np.abs(np.diag(norms)).min() <= _INDEPENDENT * np.abs(norms).max():
            return np.inf
        quotient = triangular(left) @ np.linalg.inv(norms)
        _, sizes, vectors = np.linalg.svd(quotient)
        square = float(sizes[-1] ** 2)
        total = below @ np.linalg.solve(norms, vectors[-1])
        size = np.abs(total)
        if total.min() * total.max() <= _INDEPENDENT * size.max() ** 2 and square > NOTHING:
            return np.inf
        total = np.maximum(size / size.mean(), _SMALLEST)
    return square


def best_quotients(
    choices: list[Choice],
    square: Callable[[tuple[int, ...], tuple[int, ...], int], float],
    longer: Callable[[int, list[Quotient]], list[Choice]],
    rows: int,
    longest: int,
    kept: int,
) -> Iterator[Quotient]:
    """The best quotients of each length, until one leaves nothing or as much as a shorter one.

    The choices of each length are rated once, and the best of them again with the rows divided by
    the sum below.

    Args:
        choices: those of three products.
        square: the mean square that a choice leaves, as `mean_square` has it of its products.
        longer: the choices of one product more than some number, from the best with that number.
        rows: how many there are.
        longest: number of products.
        kept: quotients of each length.
    """
    most = np.inf
    for length in range(SHORTEST, longest + 1):
        best: list[Quotient] = []
        for times, count in ((1, RATED_AGAIN), (_REWEIGHTINGS, kept)):
            rated = [Quotient(square(*one, times), *one) for one in choices]
            best = sorted(one for one in rated if np.isfinite(one.square))[:count]
            choices = [(one.above, one.below) for one in best]
        best = [one for one in best if one.square < most]
        yield from best
        if length == longest or (best and best[0].square < _EXACT):
            return
        if best:
            most = best[0].square * math.exp(-_CHANCE / rows)
        elif most < np.inf:  # else all shorter ones are infinite between rows, and these may not be
            return
        choices = longer(length, best)


def grown(quotients: list[Quotient], above: int, below: int) -> list[Choice]:
    """Each quotient with one product more above or below, each once.

    Args:
        quotients: to be grown.
        above: number of products to choose from above.
        below: the same below.
    """
    found: dict[Choice, None] = {}
    for _, tops, bottoms in quotients:
        for more in set(range(above)).difference(tops):
            found[tuple(sorted((*tops, more))), bottoms] = None
        for more in set(range(below)).difference(bottoms):
            found[tops, tuple(sorted((*bottoms, more)))] = None
    return list(found)
