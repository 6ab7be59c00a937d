"""The cells of a table as numbers, with an error for each cell that is none."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from jaxtyping import Float64

MAX_MAGNITUDE = 1e100
"""Largest magnitude allowed: the product of three such values is still finite in float64."""

_NO_TEXT = "leave the column out of the features, or write it as numbers"
_NO_DATE = "leave the column out of the features, or turn it into a number such as days since start"
_FILL = "fill the value in, or remove the row"
_RESCALE = "products of larger ones overflow: rescale the column, for instance in other units"
_TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_WHOLE = 2**53
_PANDAS_TEMPORAL = ("Period", "Interval")
_MISSING = ("NoneType", "NAType", "NaTType")


class TableError(ValueError):
    """A table that nothing can be learned from, with the column, the row and the remedy."""


def numbers(values: np.ndarray, names: tuple[str, ...]) -> Float64[np.ndarray, "rows columns"]:
    """A copy as float64; raises at the first value that is no usable number."""
    if values.dtype.kind in "mM":
        raise _bad(names[0], 0, str(values[0, 0]), "is a date or a time span", _NO_DATE)
    if values.dtype.kind == "c":
        raise _bad(names[0], 0, values[0, 0], "is complex", "Complex data not supported: use reals")
    for column, name in enumerate(names):
        _check_mask(name, values[:, column])
        check_whole(name, values[:, column])
    if values.dtype.kind in "USO":
        values = _from_objects(values, names)
    cells = np.array(values, dtype=np.float64, order="C")
    fine = np.abs(cells) <= MAX_MAGNITUDE
    if not fine.all():
        column = int(np.argmin(fine.all(axis=0)))
        row = int(np.argmin(fine[:, column]))
        raise _bad_number(names[column], row, cells[row, column])
    return cells


def check_column(name: str, values: np.ndarray) -> None:
    """Raises at the first value that is a date, text, missing, masked, NaN or infinite.

    So it does at the first whole number that float64 cannot hold. Objects that are none of these,
    complex numbers and large ones pass.

    Args:
        name: the column's name.
        values: the column, of any dtype.

    Shape:
        values: (rows,).

    Raises:
        TableError: naming the column, the row and the remedy.

    Example:
        >>> check_column("age", np.array([31, "many"], dtype=object))
        Traceback (most recent call last):
        ...
        torchalu.tasks.table_cells.TableError: column 'age', row 2: 'many' is not a number; allowed:
        finite numbers up to 1e+100 in magnitude; leave the column out of the features, or write it
        as numbers
    """
    if values.dtype.kind in "mM" and len(values):
        raise _bad(name, 0, str(values[0]), "is a date or a time span", _NO_DATE)
    _check_mask(name, values)
    if values.dtype.kind in "USO":
        _check_objects(name, values)
    check_whole(name, values)
    if values.dtype.kind == "c":
        return
    try:
        cells = values.astype(np.float64)
    except (TypeError, ValueError):
        return
    finite = np.isfinite(cells)
    if not finite.all():
        row = int(np.argmin(finite))
        raise _bad_number(name, row, cells[row])


def check_whole(name: str, values: np.ndarray, rows: Sequence[int] | None = None) -> None:
    """Raises at the first whole number that float64 would round.

    Args:
        name: the column's name.
        values: the column, of any dtype; what is no whole number passes, and so does one that is
            too large for any table.
        rows: the rows that the values are in; the first ones if left out.

    Raises:
        TableError: naming the column, the row and the remedy.

    Example:
        >>> check_whole("t", np.array([2**53, 2**53 + 1]))
        Traceback (most recent call last):
        ...
        torchalu.tasks.table_cells.TableError: column 't', row 2: 9007199254740993 has more digits
        than float64 holds; allowed: finite numbers up to 1e+100 in magnitude; subtract a common
        start, or round it
    """
    if values.dtype.kind not in "iuO":
        return
    places = range(len(values))
    if values.dtype.kind in "iu":
        places = np.flatnonzero((values > _WHOLE) | (values < -_WHOLE)).tolist()
    for place in places:
        value = values[place].item() if values.dtype.kind in "iu" else values[place]
        whole = isinstance(value, int) and _WHOLE < abs(value) <= MAX_MAGNITUDE
        if whole and int(float(value)) != value:
            row = place if rows is None else rows[place]
            remedy = "subtract a common start, or round it"
            raise _bad(name, row, value, "has more digits than float64 holds", remedy)


def _check_mask(name: str, values: np.ndarray) -> None:
    """Raises at the first cell of a masked array that is masked."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        row = int(np.argmax(np.ma.getmaskarray(values)))
        raise _bad(name, row, "--", "is masked", _FILL)


def _from_objects(
    values: np.ndarray, names: tuple[str, ...]
) -> Float64[np.ndarray, "rows columns"]:
    """Objects and strings as numbers; raises at the first that is none."""
    for column, name in enumerate(names):
        _check_objects(name, values[:, column])
        for row, value in enumerate(values[:, column]):
            try:
                float(value)
            except (TypeError, ValueError):
                raise _bad(name, row, value, "is not a number", _NO_TEXT) from None
    return values.astype(np.float64)


def _check_objects(name: str, values: np.ndarray) -> None:
    """Raises at the first object that is missing, a date, or text that is no number."""
    for row, value in enumerate(values):
        if type(value).__name__ in _MISSING:
            raise _bad(name, row, value, "is a missing value", _FILL)
        if isinstance(value, _TEMPORAL) or type(value).__name__ in _PANDAS_TEMPORAL:
            raise _bad(name, row, str(value), "is a date or a time span", _NO_DATE)
        if isinstance(value, int | Fraction) and abs(value) > sys.float_info.max:
            raise _bad(name, row, value, "is too large", _RESCALE)
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                raise _bad(name, row, value, "is not a number", _NO_TEXT) from None


def _bad(name: str, row: int, value: object, what: str, remedy: str) -> TableError:
    """The error for one cell."""
    if isinstance(value, int | Fraction) and abs(value) > MAX_MAGNITUDE:
        shown = f"{Decimal(math.trunc(value)):.3e}"  # not every digit of it
    else:
        shown = repr(value.item() if isinstance(value, np.generic) else value)
    return TableError(
        f"column {name!r}, row {row + 1}: {shown} {what}; allowed: finite numbers up to "
        f"{MAX_MAGNITUDE:g} in magnitude; {remedy}"
    )


def _bad_number(name: str, row: int, value: float) -> TableError:
    """The error for a number that is not finite or too large."""
    if np.isnan(value):
        return _bad(name, row, value, "is not a number (NaN)", _FILL)
    if np.isinf(value):
        return _bad(name, row, value, "is infinity", "correct the value, or remove the row")
    return _bad(name, row, value, "is too large", _RESCALE)
