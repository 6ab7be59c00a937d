"""Ratios of sums of columns: the null vector of [x, 1, -y x, -y]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torchalu.estimators.closed_form.library import MANY_ROWS
from torchalu.estimators.least_squares import to_integers, triangular
from torchalu.estimators.structures import (
    Structure,
    Term,
    make_factor,
    make_structure,
    make_term,
    monomial,
)
from torchalu.estimators.table import CanonicalTable

_REWEIGHTINGS = 4
_MOST_COLUMNS = 120
_LEAST_T = 4.0
_MOST_ROWS = 2000
_ROWS_A_COLUMN = 20
_LARGEST = 1e140
_MOST_CONSTANTS = 10


def ratio_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Ratios of sums of columns.

    Where y (v . x + v0) = u . x + u0, the vector (u, u0, v, v0) is a null vector of
    [x, 1, -y x, -y]. The right singular vector of the smallest singular value, with unit columns,
    is found again with the rows divided by the last denominator, which makes the residual that of
    y itself (Sanathanan and Koerner). Entries without significance are then dropped one after the
    other, and what is left is rounded at every stage. Of 30 rows or more the ratio of up to ten
    columns is yielded with real constants too.

    Args:
        table: the rows to learn from.
    """
    table = table.thin(max(_MOST_ROWS, _ROWS_A_COLUMN * table.features))
    rows, columns = table.X.shape
    if columns > _MOST_COLUMNS or rows < 2 * columns + 4:
        return
    ones = np.ones((rows, 1))
    matrix = np.hstack([table.X, ones, -table.y[:, None] * table.X, -table.y[:, None]])
    if np.abs(matrix).max() > _LARGEST:
        return
    many = rows >= MANY_ROWS
    seen: set[Structure] = set()
    for weight in table.views:
        for kept, vector in _elimination(matrix, weight, columns):
            full = np.zeros(matrix.shape[1])
            full[kept] = vector
            found = [*_rounded(full, columns), *(_real(full, columns) if many else ())]
            for structure in found:
                if structure not in seen:
                    seen.add(structure)
                    yield structure


def _elimination(
    matrix: np.ndarray, weight: np.ndarray, columns: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Null vectors of ever fewer columns: (which columns, their entries)."""
    kept = np.arange(matrix.shape[1])
    denominator = np.ones(len(matrix))
    for _ in range(_REWEIGHTINGS):
        vector = _null_vector(_triangle(matrix, weight, denominator))
        denominator = _denominator(matrix, vector, columns)
    triangle = _triangle(matrix, weight, denominator)
    while len(kept) >= 2:
        vector = _null_vector(triangle[:, kept])
        if len(kept) <= 12 or len(kept) == matrix.shape[1]:
            yield kept, vector
        t = _significance(triangle[:, kept], vector, len(matrix))
        weak = np.flatnonzero(t < _LEAST_T)
        if len(weak) > 6 and len(weak) < len(kept):
            drop = weak[np.argsort(t[weak])][: len(weak) // 2]
        else:
            if not len(weak) and len(kept) > 12:
                yield kept, vector
            if len(kept) > 12 and not len(weak):
                return
            drop = np.array([int(t.argmin())])
        kept = np.delete(kept, drop)


def _triangle(matrix: np.ndarray, weight: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The R of the weighted rows: all that the small singular vectors depend on."""
    scaled = matrix * (np.sqrt(weight / weight.mean()) / denominator)[:, None]
    return triangular(scaled)


def _null_vector(triangle: np.ndarray) -> np.ndarray:
    """The right singular vector of the smallest singular value, for columns of unit norm."""
    norm = np.sqrt((triangle**2).sum(axis=0))
    norm[norm == 0] = 1.0
    _, _, vectors = np.linalg.svd(triangle / norm, full_matrices=False)
    return vectors[-1] / norm


def _denominator(matrix: np.ndarray, vector: np.ndarray, columns: int) -> np.ndarray:
    """Size of v . x + v0 on each row, kept away from 0 and of mean 1."""
    features = np.column_stack([matrix[:, :columns], np.ones(len(matrix))])
    size = np.abs(features @ vector[columns + 1 :])
    middle = float(np.median(size)) or 1.0
    return np.maximum(size / middle, 1e-2)


def _significance(triangle: np.ndarray, vector: np.ndarray, rows: int) -> np.ndarray:
    """Distance of each entry from 0 in standard errors, the largest entry taken as given."""
    norm = np.sqrt((triangle**2).sum(axis=0))
    norm[norm == 0] = 1.0
    scaled = triangle / norm
    entries = vector * norm
    reference = int(np.abs(entries).argmax())
    others = np.delete(np.arange(len(entries)), reference)
    residual = scaled @ entries
    variance = max(float(residual @ residual), 1e-26) / max(rows - len(others), 1)
    inverse = np.linalg.pinv(scaled[:, others].T @ scaled[:, others], rcond=1e-13, hermitian=True)
    errors = np.sqrt(variance * np.maximum(np.diag(inverse), 1e-300))
    t = np.full(len(entries), np.inf)
    t[others] = np.abs(entries[others]) / errors
    return t


def _rounded(vector: np.ndarray, columns: int) -> Iterator[Structure]:
    """Ratios with small integers; the numerator also with a real constant a column."""
    above, below = vector[: columns + 1], vector[columns + 1 :]
    for low in to_integers(below):
        bottom = make_factor(dict(enumerate(low[:-1])), low[-1], -1)
        if bottom is None:
            continue
        for high in to_integers(above):
            top = make_factor(dict(enumerate(high[:-1])), high[-1])
            yield make_structure([make_term([top, bottom])], offset=False)
        numerator = np.flatnonzero(above[:-1])
        if 2 <= len(numerator) <= 4:
            terms = [make_term([make_factor({int(j): 1}), bottom]) for j in numerator]
            yield make_structure(terms, offset=False)


def _real(vector: np.ndarray, columns: int) -> Iterator[Structure]:
    """The ratio with a real constant a column above and below."""
    above, below = (
        np.flatnonzero(v).tolist() for v in (vector[: columns + 1], vector[columns + 1 :])
    )
    if min(len(above), len(below)) > 1 and len(above) + len(below) <= _MOST_CONSTANTS:
        bottom = [_column(j, columns) for j in below]
        terms = [_column(j, columns) for j in above if j < columns]
        yield make_structure(terms, columns in above, below=bottom)


def _column(index: int, columns: int) -> Term:
    """A column, or 1 behind the last one."""
    return monomial({index: 1} if index < columns else {}) or Term(())
