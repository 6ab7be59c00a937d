"""Covertype in a package of PyPI, as a table of text."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Int16

from torchalu.cli.fetch import Source, members, pip
from torchalu.tasks import COVERTYPE, DataError
from torchalu.tasks.covertype import AREAS, MEASURES, SOILS

_TABLE = "skmultiflow/data/datasets/covtype.csv"


def source() -> Source:
    """The package."""
    return pip(
        "scikit-multiflow==0.4.1",
        "17842a0719992871f66f2edd475c3cf947be73d16595cb28d9ec26a79cfc58de",
        read_text,
        COVERTYPE.check,
        *("--python-version", "3.7", "--implementation", "cp", "--abi", "cp37m"),
        *("--platform", "manylinux1_x86_64"),
    )


def read_text(archive: Path) -> dict[str, bytes]:
    """The table, as `load_covertype` reads it.

    Args:
        archive: a zip file.

    Raises:
        DataError: it is none, or the table is missing or of another form.
    """
    ((_, content),) = members(archive, [_TABLE])
    try:
        frame = pl.read_csv(content, infer_schema=False).cast(pl.Int16)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{_TABLE} is no table of numbers: {error}; nothing was written") from None
    columns = MEASURES + AREAS + SOILS + 1
    if frame.width != columns or frame.null_count().sum_horizontal().item():
        raise DataError(
            f"{_TABLE} has {frame.width} columns or gaps; {columns} without gaps are due: nothing "
            "was written"
        )
    buffer = io.BytesIO()
    np.save(buffer, _numbered(frame.to_numpy()), allow_pickle=False)
    (name,) = COVERTYPE.sums
    return {name: buffer.getvalue()}


def _numbered(table: Int16[np.ndarray, "patches 55"]) -> Int16[np.ndarray, "patches 13"]:
    """Measures, then the numbers of the area and the soil that are marked, and of the cover."""
    measures, areas, soils, covers = np.split(table, np.cumsum([MEASURES, AREAS, SOILS]), axis=1)
    for name, marks in (("areas", areas), ("soils", soils)):
        if not ((marks == 0) | (marks == 1)).all() or (marks.sum(1) != 1).any():
            raise DataError(f"{_TABLE} has {name} that are not one of a row: nothing was written")
    numbers = areas.argmax(1), soils.argmax(1), covers[:, 0] - 1
    return np.ascontiguousarray(np.column_stack((measures, *numbers)), "<i2")
