"""A table of numbers to learn from: features, target and weights, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

MAX_FEATURES = 500
"""Widest table that the trainer takes."""

MAX_MAGNITUDE = 1e100
"""Largest magnitude allowed: the product of three such values is still finite in float64."""


class TableError(ValueError):
    """A table that nothing can be learned from, with the column, the row and the remedy."""


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
        torchalu.tasks.table.TableError: column 'x0', row 2: nan is not a number; allowed: finite
        numbers up to 1e+100 in magnitude; fill the value in, or remove the row
    """

    X: Float64[np.ndarray, "rows features"]
    y: Float64[np.ndarray, " rows"]
    names: Sequence[str] | None = None
    target: str = "y"
    sample_weight: Float64[np.ndarray, " rows"] | None = None

    def __post_init__(self) -> None:
        X = np.asarray(self.X)
        y = np.asarray(self.y)
        _check_shapes(X, y, self.target)
        names = _check_names(self.names, X.shape[1], self.target)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "X", _numbers(X, names))
        object.__setattr__(self, "y", _numbers(y[:, None], (self.target,))[:, 0])
        if self.sample_weight is not None:
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
        return Table(self.X[rows], self.y[rows], self.names, self.target, weight)


def check_table(
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    target: str = "y",
    sample_weight: Any = None,
    *,
    enough_rows: bool = True,
) -> Table:
    """Makes a table that a formula can be learned from, or says why none can.

    On top of what every `Table` guarantees: two rows or more, at least as many rows as features,
    a target that varies, and no two features with the same values (any formula in one of them
    would hold as well in the other).

    Args:
        X: the features, as in `Table`.
        y: the target.
        names: the features' names.
        target: the target's name.
        sample_weight: how much each row counts.
        enough_rows: False lets a table with fewer rows than features pass.

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
        torchalu.tasks.table.TableError: columns 'a' and 'b' hold the same values in all 3 rows, so
        no data can tell them apart; leave one of them out
    """
    table = Table(X, y, names, target, sample_weight)
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
    weight = _numbers(weight[:, None], ("sample_weight",))[:, 0]
    if weight.min() < 0:
        row = int(np.argmax(weight < 0))
        raise TableError(
            f"sample_weight, row {row + 1}: {weight[row]:g} is negative; allowed: 0 or more"
        )
    if weight.max() == 0:
        raise TableError("sample_weight is 0 in every row; allowed: at least one positive weight")
    return weight


def _numbers(values: np.ndarray, names: tuple[str, ...]) -> Float64[np.ndarray, "rows columns"]:
    """A copy as float64; raises at the first value that is no usable number."""
    if values.dtype.kind in "mM":
        raise _bad(names[0], 0, values[0, 0], "is a date or a time span", _NO_DATE)
    if values.dtype.kind == "c":
        raise _bad(names[0], 0, values[0, 0], "is complex", "Complex data not supported: use reals")
    if values.dtype.kind in "USO":
        values = _from_objects(values, names)
    numbers = np.array(values, dtype=np.float64, order="C")
    fine = np.abs(numbers) <= MAX_MAGNITUDE
    if not fine.all():
        column = int(np.argmin(fine.all(axis=0)))
        row = int(np.argmin(fine[:, column]))
        raise _bad_number(names[column], row, numbers[row, column])
    return numbers


_NO_TEXT = "leave the column out of the features, or write it as numbers"
_NO_DATE = "leave the column out of the features, or turn it into a number such as days since start"


def _from_objects(
    values: np.ndarray, names: tuple[str, ...]
) -> Float64[np.ndarray, "rows columns"]:
    """Objects and strings as numbers; raises at the first that is none."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        pass
    for column, name in enumerate(names):
        for row, value in enumerate(values[:, column]):
            try:
                float(value)
            except (TypeError, ValueError):
                raise _bad(name, row, value, "is not a number", _NO_TEXT) from None
    raise AssertionError("some value refused to become a number")


def _bad(name: str, row: int, value: object, what: str, remedy: str) -> TableError:
    """The error for one cell."""
    shown = value.item() if isinstance(value, np.generic) else value
    return TableError(
        f"column {name!r}, row {row + 1}: {shown!r} {what}; allowed: finite numbers up to "
        f"{MAX_MAGNITUDE:g} in magnitude; {remedy}"
    )


def _bad_number(name: str, row: int, value: float) -> TableError:
    """The error for a number that is not finite or too large."""
    if np.isnan(value):
        return _bad(name, row, value, "is not a number", "fill the value in, or remove the row")
    if np.isinf(value):
        return _bad(name, row, value, "is infinity", "correct the value, or remove the row")
    remedy = "products of larger ones overflow: rescale the column, for instance in other units"
    return _bad(name, row, value, "is too large", remedy)


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
