"""Outcomes and summaries as CSV, and outcomes read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from torchalu.train import write_atomic


def write_tables(tables: dict[str, pl.DataFrame], folder: Path) -> list[Path]:
    """Writes each table as CSV, floats with all their digits.

    Args:
        tables: by file name without suffix.
        folder: where to; it is created if it is not there.

    Returns:
        The files.

    Raises:
        OSError: if one cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     path, = write_tables({"one": pl.DataFrame({"third": [1 / 3]})}, Path(name))
        ...     path.read_text()
        'third\\n0.3333333333333333\\n'
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        write_atomic(folder / f"{name}.csv", csv_text(table))
    return [folder / f"{name}.csv" for name in tables]


def read_outcomes(path: Path, like: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The outcomes in a file, with the types of others of the same study.

    Args:
        path: of the file, as `csv_text` wrote it.
        like: outcomes whose columns have the types.
        keys: columns that have to be there.

    Raises:
        ValueError: if the file cannot be read, is cut off, lacks a key, or has one twice.
    """
    lists = {name: kind for name, kind in like.schema.items() if isinstance(kind, pl.List)}
    typed = {name: kind for name, kind in like.schema.items() if kind != pl.Null}
    plain = {**typed, **dict.fromkeys(lists, pl.String())}
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is cut off")
        rows = pl.read_csv(path, schema_overrides=plain, infer_schema_length=None)
        rows = rows.with_columns(
            _parsed(rows[name], kind) for name, kind in lists.items() if name in rows
        )
    except (pl.exceptions.PolarsError, ValueError, TypeError, RecursionError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(
            f"{str(path)!r} is no table of this study's outcomes ({why}); restore it, or name "
            "another folder"
        ) from error
    missing = [key for key in keys if key not in rows.columns]
    if missing:
        raise ValueError(
            f"{str(path)!r} lacks the columns {missing}; restore it, or name another folder"
        )
    twice = rows.filter(rows.select(keys).is_duplicated())
    if twice.height:
        raise ValueError(
            f"{str(path)!r} has {twice.height} lines for what is one outcome each, such as "
            f"{twice.select(keys).row(0, named=True)}; restore it, or name another folder"
        )
    return rows


def _parsed(column: pl.Series, kind: pl.List) -> pl.Series:
    """A column of JSON as one of lists; unlike Polars, Python reads NaN and Infinity."""
    rows = [None if cell is None else json.loads(cell) for cell in column]
    if not all(row is None or isinstance(row, list) for row in rows):
        raise ValueError(f"the column {column.name!r} has what is no list")
    known = kind.inner != pl.Null  # else all lists of the other outcomes are empty
    return pl.Series(column.name, rows, dtype=kind if known else None)


def csv_text(table: pl.DataFrame) -> str:
    """A table as CSV, which knows no lists: they become JSON; floats have all their digits.

    Args:
        table: of numbers, words, and lists of them.

    Example:
        >>> csv_text(pl.DataFrame({"losses": [[0.5, 0.25]]}))
        'losses\\n"[0.5, 0.25]"\\n'
    """
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    flat = table.with_columns(
        pl.Series(name, [None if row is None else json.dumps(row) for row in table[name].to_list()])
        for name in lists
    )
    return flat.write_csv()
