"""A product of powers beside a constant, and roots and reciprocals of such a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from torchalu.estimators.closed_form.power_of_sum import POWERS, best_described
from torchalu.estimators.closed_form.powers import rounded
from torchalu.estimators.least_squares import sparse_fits
from torchalu.estimators.structures import Structure, Term, monomial
from torchalu.estimators.table import CanonicalTable

_MOST_COLUMNS = 9
_MOST_ROWS = 1000
_FEWEST_ROWS = 30
_EXACT = 1e-9
_DISTANCES = np.geomspace(1e-8, 100.0, 51)  # of the constant from the target, in its ranges
_STEPS = 30
_HALVINGS = 10


def power_with_offset_structures(table: CanonicalTable) -> Iterator[Structure]:
    r"""Products of powers beside a constant, such as 2 + 3 a**1.7, and powers of such sums.

    Where y = (c_0 + c prod_j x_j**p_j)**q, log\|y**(1/q) - c_0\| is linear in the logarithms of the
    columns. The constant is looked for on either side of the target, at 51 distances from 1e-8 to
    100 of its ranges; from the best of these Gauss and Newton's method goes on, in which c, c_0 and
    all powers change together. Of the columns those matter that explain the logarithm; their powers
    are rounded as those of a product alone. Columns that are 0 on a row, or have both signs, are
    left out. Of fewer than 30 rows only sums that explain them to nine digits are taken.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(_MOST_ROWS)
    signs = np.abs(np.sign(table.X).sum(axis=0))
    columns = [j for j in table.screened(_MOST_COLUMNS) if signs[j] == len(table.y)]
    if not columns:
        return
    for power in (Fraction(1), *POWERS):
        raised = table if power == 1 else table.raised(float(1 / power))
        if raised is None or not len(columns) + 2 < len(raised.y):
            continue
        terms = [term for weight in raised.views for term in _terms(raised, columns, weight)]
        structures = [Structure((term,), True, power) for term in dict.fromkeys(terms)]
        for structure in best_described(structures, raised):
            yield replace(structure, offset=False)


def _terms(table: CanonicalTable, columns: list[int], weight: np.ndarray) -> Iterator[Term]:
    """The products that may stand beside a constant, for one kind of noise."""
    logs = np.log(np.abs(table.X[:, columns]))
    found = _constant(logs - logs.mean(axis=0), table.y, weight)
    if found is None:
        return
    constant, share = found
    if len(table.y) < _FEWEST_ROWS and share > _EXACT:
        return
    product = np.abs(table.y - constant)
    if not np.all(product > 0):
        return
    for subset in sparse_fits(logs, np.log(product), weight * product**2, sizes=6):
        for powers in rounded(subset):
            pairs = zip(subset.columns, powers, strict=True)
            term = monomial({columns[j]: p for j, p in pairs})
            if term is not None:
                yield term


def _constant(
    logs: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> tuple[float, float] | None:
    """What is to be taken off the target, and the root mean square that is then unexplained.

    The latter is a share of the target's own.
    """
    design = np.column_stack([logs, np.ones(len(target))])
    weight = weight / weight.sum()
    best: tuple[float, float, np.ndarray] | None = None
    for sign in (1.0, -1.0):
        signed = sign * target
        for distance in _DISTANCES * np.ptp(target):
            constant = signed.min() - distance
            product = signed - constant
            if not np.all(product > 0):
                continue
            rows = weight * product**2
            powers = _least(design, np.log(product), rows)
            error = float(rows @ (np.log(product) - design @ powers) ** 2)
            if best is None or error < best[0]:
                start = np.concatenate([[sign * constant, sign * np.exp(powers[-1])], powers[:-1]])
                best = error, sign, start
    return None if best is None else _refined(logs, target, weight, best[2])


def _refined(
    logs: np.ndarray, target: np.ndarray, weight: np.ndarray, start: np.ndarray
) -> tuple[float, float]:
    """Gauss and Newton's method with halved steps, from a constant, a coefficient and powers."""
    total = float(weight @ target**2)

    def residual(values: np.ndarray) -> np.ndarray:
        return target - values[0] - values[1] * np.exp(logs @ values[2:])

    values, left = start, residual(start)
    error = float(weight @ left**2)
    for _ in range(_STEPS):
        product = np.exp(logs @ values[2:])
        design = np.column_stack(
            [np.ones_like(product), product, values[1] * product[:, None] * logs]
        )
        step = _least(design, left, weight)
        for halving in range(_HALVINGS):
            tried = values + step * 0.5**halving
            own = residual(tried)
            if float(weight @ own**2) < error:
                break
        else:
            break
        values, left, error = tried, own, float(weight @ own**2)
    return float(values[0]), float(np.sqrt(error / total))


def _least(design: np.ndarray, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted least squares, the smallest where columns are dependent."""
    root = np.sqrt(weight)
    scale = np.maximum(np.abs(design).max(axis=0), np.finfo(float).tiny)
    return np.linalg.lstsq(design / scale * root[:, None], target * root)[0] / scale
