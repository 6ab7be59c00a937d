"""A table of numbers to learn from: features, target and weights, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from torchalu.tasks.table_cells import MAX_MAGNITUDE, TableError, numbers

__all__ = [
    "MAX_FEATURES",
    "MAX_MAGNITUDE",
    "Table",
    "TableError",
    "check_table",
    "coarsest_dtype",
    "too_wide",
]

MAX_FEATURES = 500
"""Widest table that the trainer takes."""

_MIN_MAGNITUDE = 1e-100
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of finite float64 numbers: features, one target and, if wanted, weights.

    Every value is checked when the table is made, so whoever is handed a `Table` need not look
    again. Rows are counted from 1 in messages, columns are named.

    Args:
        X: the features, a row a sample; anything that NumPy turns into numbers. Kept as a copy.
        y: the target.
        names: the features' names, one a column, all different; `x0`, `x1`, ... by default.
        target: the target's name, none of the features'.
        sample_weight: how much each row counts: finite, not negative, not all zero.
        dtype: the coarsest type of number that the values were in before; X and y say so
            themselves where they still are. No formula can be more exact than it.

    Shape:
        X: (rows, features); y: (rows,); sample_weight: (rows,).

    Raises:
        TableError: for a wrong shape, a value that is not a finite number, a magnitude beyond
            `MAX_MAGNITUDE`, more than `MAX_FEATURES` features, or names that are not unique.

    Example:
        >>> table = Table([[1, 2], [3, 4], [5, 6]], [2, 12, 30], names=["a", "b"], target="area")
        >>> table.X.shape, table.feature_names, table.target
        ((3, 2), ('a', 'b'), 'area')
        >>> Table([[1.0], [float("nan")]], [1, 2])
        Traceback (most recent call last):
        ...
        torchalu.tasks.table_cells.TableError: column 'x0', row 2: nan is not a number (NaN);
        allowed: finite numbers up to 1e+100 in magnitude; fill the value in, or remove the row
    """

    X: Float64[np.ndarray, "rows features"]
    y: Float64[np.ndarray, " rows"]
    names: Sequence[str] | None = None
    target: str = "y"
    sample_weight: Float64[np.ndarray, " rows"] | None = None
    dtype: np.dtype = _FLOAT64

    def __post_init__(self) -> None:
        X, y = (
            values if np.ma.isMaskedArray(values) else np.asarray(values)
            for values in (self.X, self.y)
        )
        _check_shapes(X, y, self.target)
        names = _check_names(self.names, X.shape[1], self.target)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "dtype", coarsest_dtype([self.dtype, X.dtype, y.dtype]))
        object.__setattr__(self, "X", numbers(X, names))
        object.__setattr__(self, "y", numbers(y[:, None], (self.target,))[:, 0])
        if self.sample_weight is not None:
            if np.ma.is_masked(self.sample_weight):
                raise TableError("sample_weight has masked entries; remove these rows, or give 0")
            weight = _check_weight(np.asarray(self.sample_weight), len(y))
            object.__setattr__(self, "sample_weight", weight)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names, also where none were given."""
        return tuple(self.names or ())

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    def take(self, rows: Any) -> Table:
        """The table of some rows.

        Args:
            rows: what NumPy takes as an index of rows: a mask, a slice, or their numbers.

        Example:
            >>> table = Table([[1], [2], [3]], [1, 4, 9])
            >>> table.take([0, 2]).y
            array([1., 9.])
        """
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return Table(self.X[rows], self.y[rows], self.names, self.target, weight, self.dtype)


def coarsest_dtype(dtypes: Iterable[np.dtype]) -> np.dtype:
    """The coarsest of some types of number, where float64 and whole numbers are the finest.

    Example:
        >>> coarsest_dtype([np.dtype("int8"), np.dtype("float32"), np.dtype("float64")])
        dtype('float32')
    """
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    return min([_FLOAT64, *floats], key=lambda dtype: dtype.itemsize)


def check_table(
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    target: str = "y",
    sample_weight: Any = None,
    *,
    enough_rows: bool = True,
    dtype: np.dtype = _FLOAT64,
) -> Table:
    """Makes a table that a formula can be learned from, or says why none can.

    On top of what every `Table` guarantees: two rows or more, at least as many rows as features,
    a target that varies, no column whose values are all tiny, and no two features with the same
    values (any formula in one of them would hold as well in the other).

    Args:
        X: the features, as in `Table`.
        y: the target.
        names: the features' names.
        target: the target's name.
        sample_weight: how much each row counts.
        enough_rows: False lets a table with fewer rows than features pass.
        dtype: the coarsest type of number that the values were in before.

    Returns:
        The table.

    Shape:
        X: (rows, features); y: (rows,); sample_weight: (rows,).

    Raises:
        TableError: if the table is malformed or nothing can be learned from it.

    Example:
        >>> check_table([[1, 1], [2, 2], [3, 3]], [1, 4, 9], names=["a", "b"])
        Traceback (most recent call last):
        ...
        torchalu.tasks.table_cells.TableError: columns 'a' and 'b' hold the same values in all 3
        rows, so no data can tell them apart; leave one of them out
    """
    table = Table(X, y, names, target, sample_weight, dtype)
    rows, features = table.X.shape
    if rows == 1:
        raise TableError(
            "the table has 1 row (n_samples=1); allowed: 2 rows or more; add rows, "
            "for one point lies on every formula"
        )
    if enough_rows and rows < features:
        raise TableError(
            f"the table has fewer rows ({rows}) than feature columns ({features}), so many "
            "formulas fit it equally well; add rows, or choose fewer features"
        )
    if np.all(table.y == table.y[0]):
        raise TableError(
            f"target column {target!r} is {table.y[0]:g} in all {rows} rows; allowed: a target "
            "that varies; there is nothing to learn from a constant: choose another target"
        )
    for name, column in zip((*table.feature_names, target), (*table.X.T, table.y), strict=True):
        _check_not_tiny(name, column)
    _check_identical(table)
    return table


def _check_shapes(X: np.ndarray, y: np.ndarray, target: str) -> None:
    """Raises unless `X` is a matrix and `y` has one value for each of its rows."""
    if X.ndim != 2:
        raise TableError(
            f"X has shape {X.shape}; allowed: two dimensions, (rows, features). Reshape your data: "
            "X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row"
        )
    if y.ndim != 1:
        raise TableError(
            f"target {target!r} has shape {y.shape}; allowed: one dimension, (rows,); "
            "pass one column, for instance y.ravel()"
        )
    if X.shape[0] == 0:
        raise TableError("the table has no rows (0 sample(s)); add rows")
    if X.shape[1] == 0:
        raise TableError(
            f"the table has no features: 0 feature(s) (shape={X.shape}) while a minimum of 1 is "
            "required; add a column to learn from"
        )
    if X.shape[1] > MAX_FEATURES:
        raise TableError(too_wide(X.shape[1]))
    if len(X) != len(y):
        raise TableError(
            f"X has {len(X)} rows and target {target!r} has {len(y)}: inconsistent numbers of "
            "samples; allowed: as many of one as of the other"
        )


def too_wide(features: int) -> str:
    """What to say of a table with too many features."""
    return (
        f"the table has {features} feature columns; allowed: up to {MAX_FEATURES}, the widest "
        "that the trainer takes; choose the columns that can matter (features, or --features)"
    )


def _check_names(names: Sequence[str] | None, count: int, target: str) -> tuple[str, ...]:
    """The features' names, or the default ones; raises where they clash."""
    if names is None:
        return tuple(f"x{index}" for index in range(count))
    names = tuple(names)
    if any(not isinstance(name, str) for name in names) or len(names) != count:
        raise TableError(f"names is {names!r}; allowed: {count} strings, one for each column of X")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise TableError(
                f"two columns are called {name!r} (columns {names.index(name) + 1} and "
                f"{index + 1}); allowed: each name once; rename one of them"
            )
    if target in names:
        raise TableError(
            f"target {target!r} is among the features {list(names)!r}; a formula of the target in "
            "itself says nothing: take it out of the features"
        )
    return names


def _check_weight(weight: np.ndarray, rows: int) -> Float64[np.ndarray, " rows"]:
    """The weights as float64; raises where they weigh nothing or less."""
    if weight.shape != (rows,):
        raise TableError(
            f"sample_weight has shape {weight.shape}; allowed: ({rows},), one weight a row"
        )
    weight = numbers(weight[:, None], ("sample_weight",))[:, 0]
    if weight.min() < 0:
        row = int(np.argmax(weight < 0))
        raise TableError(
            f"sample_weight, row {row + 1}: {weight[row]:g} is negative; allowed: 0 or more"
        )
    if weight.max() == 0:
        raise TableError("sample_weight is 0 in every row; allowed: at least one positive weight")
    return weight


def _check_not_tiny(name: str, column: np.ndarray) -> None:
    """Raises if a column's largest magnitude is too small to be squared."""
    largest = np.abs(column).max()
    if 0 < largest < _MIN_MAGNITUDE:
        raise TableError(
            f"column {name!r} is {largest:g} in magnitude at most; allowed: {_MIN_MAGNITUDE:g} or "
            "more in one row at least; squares of smaller numbers underflow to 0: rescale the "
            "column, for instance in other units"
        )


def _check_identical(table: Table) -> None:
    """Raises if two features hold the same values."""
    seen: dict[bytes, str] = {}
    for name, column in zip(table.feature_names, table.X.T, strict=True):
        key = (column + 0.0).tobytes()
        if key in seen:
            raise TableError(
                f"columns {seen[key]!r} and {name!r} hold the same values in all {table.rows} "
                "rows, so no data can tell them apart; leave one of them out"
            )
        seen[key] = name
