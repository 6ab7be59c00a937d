"""Tables from files: CSV and Parquet, with an error for each way a file can be unusable."""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl
from jaxtyping import Float64

from torchalu.tasks.table import (
    MAX_FEATURES,
    Table,
    TableError,
    check_table,
    coarsest_dtype,
    too_wide,
)
from torchalu.tasks.table_cells import MAX_MAGNITUDE, check_whole

_EXTENSIONS = (".csv", ".parquet")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_LONG_WHOLE = r"^[+-]?0*[1-9]\d{15,}$"
_BOOLEANS = {"true": 1.0, "false": 0.0}


def read_table(
    path: str | os.PathLike[str], target: str, features: Sequence[str] | None = None
) -> Table:
    """Reads a table to learn from out of a CSV or a Parquet file.

    A CSV file has a line of names, then a line a row, separated by commas, in UTF-8; its lines
    end in LF, CR LF or CR. Numbers, and `true` and `false` as 1 and 0, are taken; a cell that is
    empty, text or a date is an error that names it. Rows are counted from 1, without the line of
    names.

    Args:
        path: the file, ending in `.csv` or `.parquet`.
        target: name of the column to explain.
        features: names of the columns to explain it with; by default all the others.

    Returns:
        The table, as `check_table` guarantees it.

    Raises:
        FileNotFoundError: if there is no such file.
        TableError: if the file or what is in it cannot be used.

    Example:
        >>> from importlib import resources
        >>> kepler = resources.files("torchalu.tasks.tables") / "kepler.csv"
        >>> read_table(kepler, target="period", features=["a"]).feature_names
        ('a',)
    """
    path = _check_path(Path(path))
    source = _parquet_columns if path.suffix.lower() == ".parquet" else _csv_columns
    names, read = source(path)
    chosen = _choose(path, names, target, features)
    columns = read([names.index(name) for name in (*chosen, target)])
    arrays = [
        _to_numbers(column, name) for column, name in zip(columns, (*chosen, target), strict=True)
    ]
    dtype = coarsest_dtype(_array(column.clear()).dtype for column in columns)
    return check_table(np.stack(arrays[:-1], axis=1), arrays[-1], chosen, target, dtype=dtype)


def _check_path(path: Path) -> Path:
    """The path, if it names a file of a kind that can be read."""
    if path.suffix.lower() not in _EXTENSIONS:
        ending = repr(path.suffix) if path.suffix else "no extension"
        raise TableError(
            f"{str(path)!r} ends in {ending}; allowed: .csv or .parquet; "
            "save the table in one of these formats"
        )
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}; check the spelling and the folder")
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder; allowed: a .csv or .parquet file in it")
    if path.stat().st_size == 0:
        raise TableError(
            f"{str(path)!r} is empty; allowed: a line of column names and a line for each row"
        )
    return path


def _csv_columns(path: Path):
    """The names in a CSV file, and what reads some of its columns as text."""
    data = path.read_bytes()
    try:
        text = re.sub(r"\r\n?", "\n", data.decode("utf-8-sig")).strip("\n")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n?|\n", data[: error.start])) + 1
        raise TableError(
            f"{str(path)!r} is not UTF-8 text: byte {data[error.start]:#04x} in line {line}; "
            "save the file with the encoding UTF-8"
        ) from None
    if not text.strip():
        raise TableError(
            f"{str(path)!r} is empty; allowed: a line of column names and a line for each row"
        )
    names = _csv_names(path, text)
    if len(names) == 1 and re.search("[;\t|]", names[0]):
        raise TableError(
            f"{str(path)!r} has one column, called {names[0]!r}; allowed: columns separated by "
            "commas; save it again with the comma as separator"
        )

    def read(indices: list[int]) -> list[pl.Series]:
        try:  # all columns: of some of them polars does not say that a row has too many cells
            frame = pl.read_csv(text.encode(), infer_schema=False)
        except pl.exceptions.PolarsError as error:
            _ragged(path, text, len(names), error)
        if frame.height == 0:
            raise TableError(f"{str(path)!r} has column names but no rows; add rows")
        return [frame.to_series(index) for index in indices]

    return names, read


def _csv_names(path: Path, text: str) -> list[str]:
    """The names in the header of a CSV file."""
    reader = csv.reader(io.StringIO(text))
    with contextlib.suppress(csv.Error):
        names = [name.strip() for name in next(reader)]
        if text.count('"') % 2 == 0 or next(reader, None) is not None:
            return names
    raise TableError(
        f"{str(path)!r} is not a valid CSV file: a quotation mark in the line of names is never "
        "closed; close it, or save the file again"
    )


def _ragged(path: Path, text: str, columns: int, error: Exception) -> NoReturn:
    """Raises the error for a CSV file that does not parse, with the first line that is at fault."""
    with contextlib.suppress(csv.Error):
        for row, cells in enumerate(csv.reader(io.StringIO(text))):
            if len(cells) > columns:
                raise TableError(
                    f"{str(path)!r}, row {row}: {len(cells)} cells where the header names "
                    f"{columns} columns; allowed: one cell for each; quote cells that contain a "
                    "comma"
                ) from None
    summary = str(error).splitlines()[0]
    raise TableError(f"{str(path)!r} is not a valid CSV file: {summary}; save it again") from None


def _parquet_columns(path: Path):
    """The names in a Parquet file, and what reads some of its columns."""
    with _valid_parquet(path):
        names = list(pl.read_parquet_schema(path))

    def read(indices: list[int]) -> list[pl.Series]:
        with _valid_parquet(path):
            frame = pl.read_parquet(path, columns=[names[index] for index in sorted(set(indices))])
        if frame.height == 0:
            raise TableError(f"{str(path)!r} has column names but no rows; add rows")
        return [frame[names[index]] for index in indices]

    return names, read


@contextlib.contextmanager
def _valid_parquet(path: Path) -> Iterator[None]:
    """Raises for what polars cannot read."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        summary = str(error).splitlines()[0]
        raise TableError(
            f"{str(path)!r} is not a valid Parquet file: {summary}; save it again"
        ) from None


def _choose(
    path: Path, names: list[str], target: str, features: Sequence[str] | None
) -> tuple[str, ...]:
    """The features' names, checked against the names in the file."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise TableError(
                f"{str(path)!r} has two columns called {name!r} (columns {seen[name] + 1} and "
                f"{index + 1}); allowed: each name once; rename one of them"
            )
        seen[name] = index
    _check_present(names, target, "target")
    if features is None:
        chosen = tuple(name for name in names if name != target)
        if "" in chosen:
            raise TableError(
                f"column {names.index('') + 1} of {str(path)!r} has no name; give it one, or say "
                "which columns are features (features, or --features)"
            )
    else:
        chosen = tuple(features)
        for index, name in enumerate(chosen):
            _check_present(names, name, "feature")
            if name in chosen[:index]:
                raise TableError(f"feature {name!r} is named twice; allowed: each column once")
    if target in chosen:
        raise TableError(
            f"target {target!r} is among the features {list(chosen)!r}; a formula of the target "
            "in itself says nothing: take it out of the features"
        )
    if not chosen:
        raise TableError(
            f"{str(path)!r} leaves no features to explain {target!r} with; add a column"
        )
    if len(chosen) > MAX_FEATURES:
        raise TableError(too_wide(len(chosen)))
    return chosen


def _check_present(names: list[str], name: str, role: str) -> None:
    """Raises if the file has no such column, with the nearest one."""
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    shown = ", ".join(repr(known) for known in names[:12]) + (", ..." if len(names) > 12 else "")
    raise TableError(
        f"no column called {name!r} ({role}); did you mean {near[0]!r}? The columns are: {shown}"
    )


def _to_numbers(column: pl.Series, name: str) -> Float64[np.ndarray, " rows"]:
    """A column as float64; raises at the first cell that is no number."""
    if column.dtype == pl.String or isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        return _parse(column.cast(pl.String), name)
    if column.dtype.is_temporal():
        raise _bad_cell(name, 0, str(column[0]), "is a date or a time span", _NO_DATE)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise _bad_cell(name, 0, None, f"is of type {column.dtype}", _NO_TEXT)
    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise _bad_cell(name, row, None, "is missing", _FILL)
    check_whole(name, _array(column))
    return column.cast(pl.Float64).to_numpy()


def _array(column: pl.Series) -> np.ndarray:
    """The column's values; whole numbers of 128 bits, which NumPy has not, as objects."""
    if str(column.dtype) in ("Int128", "UInt128"):
        return np.array(column.to_list(), dtype=object)
    return column.to_numpy()


_NO_TEXT = "leave the column out of the features (--features), or write it as numbers"
_NO_DATE = (
    "leave the column out of the features (--features), or turn it into a number such as days "
    "since the start"
)
_FILL = "fill the cell in, or remove the row"


def _parse(column: pl.Series, name: str) -> Float64[np.ndarray, " rows"]:
    """Text as numbers, or as truth values."""
    stripped = column.str.strip_chars()
    if column.null_count() == 0:
        truth = [_BOOLEANS.get(value.lower()) for value in stripped.unique().to_list()]
        if None not in truth:
            return (stripped.str.to_lowercase() == "true").cast(pl.Float64).to_numpy()
    numbers = stripped.cast(pl.Float64, strict=False)
    if numbers.null_count() == 0:
        long = stripped.str.contains(_LONG_WHOLE) & (numbers.abs() <= MAX_MAGNITUDE)
        rows = long.arg_true().to_list()
        digits = stripped.str.replace(r"^([+-]?)0+", "${1}")
        check_whole(name, np.array([int(digits[row]) for row in rows], dtype=object), rows)
        return numbers.to_numpy()
    row = int(numbers.is_null().arg_max() or 0)
    value = stripped[row]
    if not value:
        raise _bad_cell(name, row, value, "is missing", _FILL)
    if _THOUSANDS.fullmatch(value):
        what = "has a comma, which may separate thousands or decimals"
        raise _bad_cell(name, row, value, what, "remove it, or write a decimal point")
    if _DECIMAL_COMMA.fullmatch(value):
        raise _bad_cell(name, row, value, "has a decimal comma", "write a decimal point")
    if _DATE.match(value):
        raise _bad_cell(name, row, value, "is a date or a time", _NO_DATE)
    if numbers.null_count() < len(numbers):
        what = "is text in a column that mixes numbers and text"
        raise _bad_cell(name, row, value, what, "correct the cell, or remove the row")
    raise _bad_cell(name, row, value, "is text", _NO_TEXT)


def _bad_cell(name: str, row: int, value: str | None, what: str, remedy: str) -> TableError:
    """The error for one cell."""
    shown = repr(value) if value else "the cell"
    return TableError(
        f"column {name!r}, row {row + 1}: {shown} {what}; allowed: numbers, true and false; "
        f"{remedy}"
    )
